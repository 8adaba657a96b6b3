//! Call budgets: whatever goes wrong, no second of the simulated time has more calls to a provider than its budget allows,
//! crashes and restarts of the node included. The campaign of `seeds.rs` holds every one of its seeds to it.

use bailiwick::{
    actors::ports::CallBudget,
    providers::simulated::Dice,
    simulation::{Report, Simulation},
};

use crate::seeds::bad_day;

/// The same, with a budget for its provider: from one call in five seconds to more than anybody asks for.
pub fn budgeted(mut simulation: Simulation) -> Simulation {
    let mut dice = Dice::named(simulation.seed, "call budget");
    let per_second = [0.2, 0.5, 1.0, 5.0, 100.0][dice.below(5) as usize];
    let burst = [1, 2, 10][dice.below(3) as usize];
    let items = (dice.below(4) == 0).then_some(1);
    let budget = CallBudget::new(per_second, Some(burst), items).expect("a budget");
    simulation.budgets = simulation.providers.iter().map(|provider| (provider.clone(), budget)).collect();
    simulation
}

/// The first time at which a provider was called more often than its budget allows, in words.
///
/// Looked at are all windows from one call to another, those of one second among them. What happens within one
/// millisecond is at one moment here, so a window is taken for one millisecond longer than it looks.
pub fn over_budget(report: &Report, budget: &CallBudget) -> Option<String> {
    report.called_ms.iter().find_map(|(provider, called)| {
        called.iter().enumerate().find_map(|(first, from)| {
            let within = |(count, to): (usize, &u64)| {
                let refilled = (to - from + 1) as f64 * budget.per_second() / 1_000.0;
                let most = f64::from(budget.burst()) + refilled;
                (most < (count + 1) as f64).then(|| {
                    format!("{} calls to {provider} from {from} to {to} ms: its budget is {budget}", count + 1)
                })
            };
            called[first..].iter().enumerate().find_map(within)
        })
    })
}

/// The same days without a budget break it: the check sees what it is to see.
#[test]
fn a_node_that_keeps_to_no_budget_is_noticed() {
    let strict = CallBudget::new(0.2, Some(1), None).expect("a budget");
    for seed in 0..3 {
        let report = bad_day(seed).run().unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
        assert!(report.called_ms["simulated"].len() > 50, "seed {seed}");
        assert!(over_budget(&report, &strict).is_some(), "seed {seed}");
    }
}
