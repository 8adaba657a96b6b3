//! Providers that operators hold or have held, and what waits for them.

use bailiwick_actors::{
    contract::Folded,
    provider::{Hold, State},
    vocab::Timestamp,
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Fleet, alike::Trouble, effort::stream, unmet::Unmet};
use crate::words::count;

/// A provider that an operator holds, or has held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRow {
    pub name: String,
    /// `held` or `in-service`.
    pub status: &'static str,
    /// Why it is held.
    pub held: Option<String>,
    /// By whom.
    pub held_by: Option<String>,
    pub held_since_ms: Option<u64>,
    /// When the hold ends by itself; none if an operator ends it.
    pub held_until_ms: Option<u64>,
    /// The objects for which a call to it has to be made, and does not begin.
    pub waiting: Vec<String>,
    pub age_ms: u64,
    pub detail: Option<String>,
    pub version: u64,
    pub changed_ms: u64,
}

/// The providers that are held or were, by name.
pub fn providers(fleet: &Fleet) -> Vec<ProviderRow> {
    fleet.providers.iter().map(|(name, folded)| provider_row(fleet, name, folded)).collect()
}

pub(super) fn provider_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> ProviderRow {
    let hold = folded.state.hold.as_ref();
    ProviderRow {
        name: name.to_owned(),
        status: folded.state.status(),
        held: hold.map(|hold| hold.reason.clone()),
        held_by: hold.and_then(|_| fleet.holder(name)).map(str::to_owned),
        held_since_ms: hold.map(|hold| hold.since.0),
        held_until_ms: hold.and_then(|hold| hold.until).map(|until| until.0),
        waiting: hold.map(|_| fleet.asking(name)).into_iter().flatten().map(|stream| stream.to_string()).collect(),
        age_ms: fleet.age_ms(&stream::<State>(name)),
        detail: hold.map(|hold| Wait::of(fleet, name, hold).text()),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

/// A call that does not begin because its provider is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    provider: String,
    by: Option<String>,
    reason: String,
    since: Timestamp,
    /// When the hold ends by itself.
    pub until: Option<Timestamp>,
}

/// Whether an entity waits for the end of the hold on its provider.
pub(super) fn wait(fleet: &Fleet, entity: &StreamId) -> Option<Wait> {
    // Nearly always nobody holds one, and this is asked for every entity.
    if !fleet.providers.iter().any(|(_, folded)| folded.state.hold.is_some()) {
        return None;
    }
    let provider = fleet.asks(entity)?;
    let hold = fleet.providers.get(provider.as_str())?.hold.as_ref()?;
    Some(Wait::of(fleet, provider.as_str(), hold))
}

impl Wait {
    fn of(fleet: &Fleet, provider: &str, hold: &Hold) -> Self {
        Self {
            provider: provider.to_owned(),
            by: fleet.holder(provider).map(str::to_owned),
            reason: hold.reason.clone(),
            since: hold.since,
            until: hold.until,
        }
    }

    /// The same in words.
    pub fn text(&self) -> String {
        let Self { provider, by, reason, since, until } = self;
        let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
        format!("provider {provider} is held{by} since {since}{until}: {reason}")
    }

    /// As what is missing.
    pub fn unmet(&self) -> Unmet {
        let command = format!("bailiwick unhold provider/{}", self.provider);
        Unmet::of_operator("the end of the hold on its provider", self.text(), command).looked_at(self.until)
    }
}

/// The providers that are held: a hold is easily forgotten.
pub(super) fn held(fleet: &Fleet) -> impl Iterator<Item = Trouble> {
    let held = fleet.providers.iter().filter_map(|(name, folded)| Some((name, folded.state.hold.as_ref()?)));
    held.map(|(name, hold)| {
        let waits = match fleet.asking(name).len() {
            0 => "nothing waits for it".to_owned(),
            1 => "1 object waits for it".to_owned(),
            many => format!("{} wait for it", count(many, "object")),
        };
        let by = fleet.holder(name).map(|by| format!(" by {by}")).unwrap_or_default();
        Trouble {
            entity: stream::<State>(name).to_string(),
            status: "held",
            why: format!("held{by} ({}): no call to it begins, {waits}", hold.reason),
            since_ms: hold.since.0,
            next_try_ms: hold.until.map(|until| until.0),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bailiwick_actors::{provider::Command, testing::Desk};
    use bailiwick_journal::{Journal, LocalJournal, disk::SimulatedDisk};
    use uuid::Uuid;

    use super::*;
    use crate::view::{pending, status, upcoming, why_not};

    #[test]
    fn who_waits_for_a_held_provider_is_told_by_whom_since_and_until_when() {
        let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 1_000).expect("new");
        let journal: Arc<dyn Journal> = Arc::new(journal);
        let mut desk = Desk::new(journal.clone());
        desk.declare_machine("early");
        desk.settle();
        let until = desk.now.after(3_600_000);
        let held = desk.ask_provider("desk", Command::Hold { reason: "new disks".into(), until: Some(until) });
        desk.declare_machine("web");
        let fleet = Fleet::at_head(&*journal).expect("a fleet");

        let (by, since) = (&held.header.meta.principal, Timestamp(held.header.meta.time_ms));
        let text = format!("provider desk is held by {by} since {since} until {until}: new disks");
        let web: StreamId = "machine/web".parse().expect("a stream");
        assert_eq!(wait(&fleet, &"machine/early".parse().expect("a stream")), None, "nothing is to be asked for it");
        let missing = why_not(&fleet, &web, "ready").and_then(|told| told.unmet).expect("something is missing");
        assert_eq!((missing.because.as_str(), missing.next_look_ms), (text.as_str(), Some(until.0)));
        assert_eq!(missing.satisfied_by, "`bailiwick unhold provider/desk`");
        assert!(pending(&fleet).iter().any(|open| open.entity == "machine/web" && open.why == text));
        let told = status(&fleet);
        let trouble = told.trouble.iter().find(|trouble| trouble.entity == "provider/desk").expect("it is told");
        assert_eq!(trouble.why, format!("held by {by} (new disks): no call to it begins, 1 object waits for it"));
        assert!(upcoming(&fleet, 9).iter().any(|due| due.entity == "provider/desk" && due.due_ms == until.0));
        let row = &providers(&fleet)[0];
        assert_eq!((row.status, row.waiting.as_slice()), ("held", ["machine/web".to_owned()].as_slice()));

        desk.ask_provider("desk", Command::Unhold);
        let fleet = Fleet::at_head(&*journal).expect("a fleet");
        assert_eq!(wait(&fleet, &web), None);
        let row = &providers(&fleet)[0];
        assert_eq!((row.status, &row.held, &row.held_by, row.waiting.len()), ("in-service", &None, &None, 0));
    }
}
