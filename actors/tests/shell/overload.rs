//! More than can be done (A4, A5, A10).

use std::{cell::RefCell, rc::Rc};

use bailiwick_actors::shell::AskError;

use crate::support::{Bench, after_ms, ask, attachment, on_a_system, stats, told};

#[test]
fn a_journal_that_does_not_answer_costs_bounded_memory_and_callers_are_told() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.journal.hold();
        let answers = Rc::new(RefCell::new(Vec::new()));
        for number in 0..100_000u32 {
            let (registry, answers) = (node.registry.clone(), answers.clone());
            actix::spawn(async move {
                let (to, command) = attachment(&format!("m{number}"));
                let answer = registry.send(ask(&to, command, &format!("{number}"))).await.unwrap();
                answers.borrow_mut().push((number, answer));
            });
        }
        after_ms(1).await;
        let asks_max = bench.limits.asks_max;
        let stats = stats(&node).await;
        assert_eq!(stats.asks, asks_max);
        assert!(stats.actors <= asks_max + 10, "{}", stats.actors);
        assert!(bench.journal.held() <= asks_max);
        assert_eq!(answers.borrow().len(), 100_000 - asks_max, "all others were refused at once");
        assert!(answers.borrow().iter().all(|(_, answer)| *answer == Err(AskError::Overloaded)));
        answers.borrow_mut().clear();
        bench.journal.release();
        after_ms(1).await;
        let answers = answers.borrow();
        assert_eq!(answers.len(), asks_max);
        let mut taken: Vec<_> =
            answers.iter().map(|(number, answer)| (*number, answer.as_ref().unwrap().position.unwrap())).collect();
        taken.sort();
        assert!(taken.windows(2).all(|pair| pair[0].1 < pair[1].1), "recorded in the order of asking");
    });
}

#[test]
fn one_busy_entity_does_not_starve_another() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let (busy, command) = attachment("busy");
        let flood: Vec<_> = (0..3_000)
            .map(|number| node.registry.send(ask(&busy, command.clone(), &format!("flood {number}"))))
            .collect();
        let (other, command) = attachment("other");
        let answer = told(&node, ask(&other, command, "other")).await.unwrap();
        let before = answer.position.unwrap().0;
        for answer in flood {
            assert!(answer.await.unwrap().is_ok());
        }
        assert!(before < bench.journal.entries().len() as u64 - 100, "it was answered while the flood went on");
    });
}
