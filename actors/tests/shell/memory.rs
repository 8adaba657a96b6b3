//! What stays in memory (A11, A12).

use std::sync::Arc;

use crate::support::{Bench, after_ms, ask, attachment, machine_of, on_a_system, stats, told};

#[test]
fn idle_actors_leave_memory_and_come_back() {
    on_a_system(async {
        let mut bench = Bench::new();
        bench.limits.actors_max = 10;
        let node = bench.start().await;
        for number in 0..200 {
            let (to, command) = attachment(&format!("m{number}"));
            told(&node, ask(&to, command, &format!("{number}"))).await.unwrap();
            assert!(stats(&node).await.actors <= 11, "{:?}", stats(&node).await);
        }
        let (to, command) = attachment("m0");
        let again = told(&node, ask(&to, command, "again")).await.unwrap();
        // Nobody declared the machine yet, so the attachment waits as it was declared.
        assert_eq!(again.code, "already-as-declared", "it knows what it was: {again:?}");
    });
}

#[test]
fn actors_that_were_in_a_group_leave_memory_too() {
    on_a_system(async {
        let mut bench = Bench::new();
        bench.limits.actors_max = 10;
        let node = bench.start().await;
        for round in 0..2 {
            let commands = (0..100)
                .map(|number| {
                    let (to, command) = attachment(&format!("m{number}"));
                    (to.parse().unwrap(), command)
                })
                .collect();
            let origin = ask("machine/m", machine_of("a"), &format!("group {round}")).origin;
            let group = bailiwick_actors::shell::AskGroup { commands, origin, content: [0; 16] };
            assert!(node.registry.send(group).await.unwrap().unwrap().done);
            after_ms(1).await;
            assert!(stats(&node).await.actors <= 11, "{:?}", stats(&node).await);
        }
    });
}

#[test]
fn entities_that_wait_for_a_due_time_are_woken_from_the_journal() {
    on_a_system(async {
        let mut bench = Bench::new();
        bench.limits.actors_max = 5;
        let node = bench.start().await;
        let failing = crate::support::Mood::Failing(bailiwick_actors::vocab::FaultCode::Unavailable);
        bench.provider("a").set(failing);
        for number in 0..50 {
            told(&node, ask(&format!("machine/m{number}"), machine_of("a"), &format!("{number}"))).await.unwrap();
        }
        after_ms(100).await;
        assert!(stats(&node).await.actors <= 6, "{:?}", stats(&node).await);
        bench.provider("a").set(crate::support::Mood::Willing);
        after_ms(30_000).await;
        assert_eq!(bench.provider("a").state().instances.len(), 50);
    });
}

#[test]
fn nothing_is_left_of_a_thousand_systems() {
    let bench_journals: Vec<_> = (0..1_000)
        .map(|_| {
            on_a_system(async {
                let bench = Bench::new();
                let node = bench.start().await;
                told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
                after_ms(10).await;
                let provider = bench.provider("a").clone();
                assert!(Arc::strong_count(&provider) > 2);
                drop(node);
                provider
            })
        })
        .collect();
    assert!(bench_journals.iter().all(|provider| Arc::strong_count(provider) == 1));
}
