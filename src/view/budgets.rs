//! What waits for the call budget of its provider: known while the node runs, and of no moment of the past.

use bailiwick_actors::{ports::CallBudget, shell::BudgetSeen, vocab::Timestamp};
use bailiwick_journal::StreamId;

use super::{Fleet, unmet::Unmet};
use crate::words::period;

/// The budgets of a node's providers, as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    pub seen: Vec<BudgetSeen>,
    pub at: Timestamp,
}

/// An order that has not gone out because its provider is called as often as it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    provider: String,
    budget: CallBudget,
    next_in_ms: u64,
    /// When the next call to the provider goes out; others may be before this one.
    pub next_at: Timestamp,
}

impl Budgets {
    fn wait(&self, entity: &StreamId) -> Option<Wait> {
        let seen = self.seen.iter().find(|seen| seen.streams.contains(entity))?;
        let (budget, next_in_ms) = (seen.budget, seen.next_in_ms);
        Some(Wait { provider: seen.provider.to_string(), budget, next_in_ms, next_at: self.at.after(next_in_ms) })
    }
}

/// Whether an entity waits for the budget of its provider.
pub(super) fn wait(fleet: &Fleet, entity: &StreamId) -> Option<Wait> {
    // Nearly always nobody has one, and this is asked for every entity.
    if fleet.budgets.seen.is_empty() { None } else { fleet.budgets.wait(entity) }
}

impl Wait {
    /// The same in words.
    pub fn text(&self) -> String {
        let Self { provider, budget, next_in_ms, .. } = self;
        let next = match next_in_ms {
            0 => "now".to_owned(),
            ms => format!("in {}", period(*ms)),
        };
        format!("waits for the budget of provider {provider} ({budget}); next call {next}")
    }

    /// As what is missing.
    pub fn unmet(&self) -> Unmet {
        let by = format!("its turn, or a larger `budget` of {} in providers.yaml", self.provider);
        Unmet::new("a call to its provider", format!("it {}", self.text()), by).looked_at(Some(self.next_at))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bailiwick_actors::{ports::CallBudget, testing::Desk};
    use bailiwick_journal::{Journal, LocalJournal, disk::SimulatedDisk};
    use uuid::Uuid;

    use super::*;
    use crate::view::{Load, metrics, pending, status, why_not};

    #[test]
    fn who_waits_for_a_budget_is_told_so_and_when_the_next_call_goes_out() {
        let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 1_000).expect("new");
        let journal: Arc<dyn Journal> = Arc::new(journal);
        Desk::new(journal.clone()).declare_machine("web");
        let mut fleet = Fleet::at_head(&*journal).unwrap();
        let web: StreamId = "machine/web".parse().unwrap();
        let seen = BudgetSeen {
            provider: "cloud".parse().unwrap(),
            budget: CallBudget::new(0.2, Some(2), None).unwrap(),
            calls: 7,
            waiting: 1,
            next_in_ms: 3_000,
            streams: [web.clone()].into(),
        };
        fleet.budgets = Budgets { seen: vec![seen], at: fleet.time };

        let next = fleet.time.after(3_000);
        let text = "waits for the budget of provider cloud (0.2 calls a second, 2 at once); next call in 3s";
        let told = &status(&fleet).progress[0];
        assert_eq!((told.entity.as_str(), told.why.as_str()), ("machine/web", text));
        assert_eq!((told.next_try_ms, pending(&fleet)[0].why.as_str()), (Some(next.0), text));
        let missing = why_not(&fleet, &web, "ready").unwrap().unmet.unwrap();
        assert_eq!((missing.precondition, missing.because), ("a call to its provider", format!("it {text}")));
        assert_eq!(missing.satisfied_by, "its turn, or a larger `budget` of cloud in providers.yaml");
        assert_eq!((missing.next_look_ms, missing.next_look_in_ms), (Some(next.0), Some(3_000)));
        let lines = metrics(&fleet, &Load::default());
        for line in ["calls_total{provider=\"cloud\"} 7", "calls_waiting{provider=\"cloud\"} 1"] {
            assert!(lines.contains(&format!("bailiwick_provider_{line}")), "{lines}");
        }
    }
}
