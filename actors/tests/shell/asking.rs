//! Before a machine is given up its provider is asked about its instance: nobody is left out, however many there are.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::Name;

use crate::{
    calls::declare,
    support::{Bench, after_ms, on_a_system},
};

const MINUTE_MS: u64 = 60_000;

/// Of how many machines each call asked since the calls before these were made, and of which.
fn asked(bench: &Bench, before: usize) -> (Vec<usize>, BTreeSet<String>) {
    let state = bench.provider("a").state();
    let calls = state.calls[before..].iter().filter(|(operation, _)| *operation == "lookup");
    let items: Vec<&Vec<String>> = calls.map(|(_, items)| items).collect();
    (items.iter().map(|items| items.len()).collect(), items.into_iter().flatten().cloned().collect())
}

#[test]
fn each_machine_is_asked_about_in_every_round_whatever_is_said_of_those_before_it() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let names: Vec<String> = (0..120).map(|number| format!("m{number:03}")).collect();
        declare(&node, &names, "a").await;
        after_ms(MINUTE_MS).await;
        let made: BTreeSet<String> = {
            let mut state = bench.provider("a").state();
            // Of more than one call holds it can never be told whether they are there.
            state.untold = names[..60].iter().map(|name| name.parse::<Name>().unwrap()).collect();
            state.instances.keys().map(ToString::to_string).collect()
        };
        assert_eq!(made.len(), 120);

        // Nothing joins, and the time of all is over at once.
        let before = bench.provider("a").state().calls.len();
        after_ms(20 * MINUTE_MS).await;
        let (calls, machines) = asked(&bench, before);
        assert!(made.is_subset(&machines), "{} of {} were asked about", machines.len(), made.len());
        assert_eq!(calls[..3], [50, 50, 20], "one round");
    });
}
