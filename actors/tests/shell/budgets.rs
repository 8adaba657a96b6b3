//! Call budgets: what waits for its turn is told, changes its mind for nothing, and holds up nothing of another kind.

use bailiwick_actors::{
    machine,
    ports::CallBudget,
    shell::{AnyCommand, BudgetSeen, Running},
};

use crate::{
    calls::declare,
    support::{Bench, after_ms, ask, codes, on_a_system, stream, told},
};

/// A node that may call provider `a` once a second, for one machine each.
fn one_a_second() -> Bench {
    let mut bench = Bench::new();
    bench.budgets = [("a".parse().unwrap(), CallBudget::new(1.0, Some(1), Some(1)).unwrap())].into();
    bench
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("m{number:03}")).collect()
}

fn seen(node: &Running) -> BudgetSeen {
    node.services.budgets.seen().pop().expect("provider a has a budget")
}

#[test]
fn a_flood_goes_out_call_by_call_and_a_removal_and_a_list_in_between() {
    on_a_system(async {
        let bench = one_a_second();
        let node = bench.start().await;
        declare(&node, &names(1), "a").await;
        after_ms(5_000).await;
        assert_eq!(codes(&bench.journal, "machine/m000").last().unwrap(), "instance-made");

        declare(&node, &names(100)[1..], "a").await;
        after_ms(3_500).await;
        told(&node, ask("machine/m000", AnyCommand::from(machine::Command::Remove), "go")).await.unwrap();
        after_ms(2_000).await;
        assert_eq!(bench.provider("a").calls_of("delete"), 1, "it is next, whatever came before it");

        // From here on a list every five seconds, and a create in each of the others.
        let before = (bench.provider("a").calls_of("create"), seen(&node).calls);
        after_ms(50_000).await;
        assert_eq!(bench.provider("a").calls_of("create") - before.0, 40);
        assert_eq!(seen(&node).calls - before.1, 50);
        assert!(bench.provider("a").state().calls.iter().all(|(_, items)| items.len() == 1));
    });
}

#[test]
fn who_waits_is_told_and_what_is_not_wanted_any_more_never_goes_out() {
    on_a_system(async {
        let bench = one_a_second();
        let node = bench.start().await;
        declare(&node, &names(3), "a").await;
        declare(&node, &["free".to_owned()], "b").await;
        after_ms(10).await;
        assert_eq!(bench.provider("b").calls_of("create"), 1, "who has no budget waits for nobody");
        let told_now = seen(&node);
        assert_eq!(told_now.streams, ["machine/m000", "machine/m001", "machine/m002"].map(stream).into());
        assert_eq!(
            (told_now.calls, told_now.waiting, told_now.next_in_ms),
            (0, 2, 990),
            "a list, and the first create"
        );

        told(&node, ask("machine/m002", AnyCommand::from(machine::Command::Remove), "go")).await.unwrap();
        after_ms(8_000).await;
        let state = bench.provider("a").state();
        let made: Vec<_> = state.calls.iter().filter(|(operation, _)| *operation == "create").collect();
        assert_eq!(made.iter().map(|(_, items)| items[0].as_str()).collect::<Vec<_>>(), ["m000", "m001"]);
        drop(state);
        assert!(seen(&node).streams.is_empty());
    });
}
