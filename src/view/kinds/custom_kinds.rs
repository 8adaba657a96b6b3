//! Kinds that this program has registered.

use bailiwick_actors::{
    contract::{Fold, Folded},
    custom::{Kept, Resource},
    vocab::{Effort, Life},
};
use bailiwick_journal::StreamId;

use super::{Portrait, Shown};
use crate::{
    custom_kind::CustomKind,
    view::{
        Fleet,
        describe::json,
        diff::facts,
        effort::{effort_detail, stream},
        portrait::{CustomRow, Row},
        told::Told,
        unmet::Unmet,
        why_not::{A_REQUEST, NO_REQUEST, THE_END, declared, effort_unmet},
    },
};

fn row<K: CustomKind>(fleet: &Fleet, name: &str, folded: &Folded<K>) -> CustomRow {
    let state = &folded.state;
    let effort = state.kept().effort();
    CustomRow {
        name: name.to_owned(),
        status: CustomKind::status(state),
        life: Resource::life(state).to_string(),
        ready: state.is_ready(),
        provider: state.provider().map(ToString::to_string).unwrap_or_default(),
        cells: K::COLUMNS.iter().copied().zip(state.cells()).collect(),
        age_ms: fleet.age_ms(&stream::<K>(name)),
        next_try_ms: effort.and_then(Effort::next_attempt).map(|at| at.0),
        detail: effort.and_then(|effort| effort_detail(effort, fleet.time)).or_else(|| state.waits_for()),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

impl<K: CustomKind> Shown for K {
    const STATUSES: &'static [&'static str] = <K as CustomKind>::STATUSES;
    const GOALS: &'static [&'static str] = &["ready", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        fleet.custom.of::<K>()
    }

    fn life(&self) -> Life {
        Resource::life(self)
    }

    fn effort(&self) -> Option<&Effort> {
        self.kept().effort()
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Custom(Box::new(row(fleet, stream.name(), folded)));
        Portrait::of(row, json(&folded.state.spec()))
    }

    fn facts(&self, _fleet: &Fleet, _stream: &StreamId) -> Told {
        facts::custom(self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(CustomKind::status(self))
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        let state = &fleet.custom.of::<K>()?.folded(stream.name())?.state;
        Some(match (goal, Resource::life(state)) {
            ("removed", Life::Undeclared | Life::Removed) => None,
            ("removed", Life::Alive) => Some(Unmet::new(A_REQUEST, NO_REQUEST, format!("`bailiwick delete {stream}`"))),
            ("removed", _) => Some(unmet(state, stream, THE_END)),
            (_, Life::Alive) if state.is_ready() => None,
            (_, Life::Alive) => Some(unmet(state, stream, "what its provider makes")),
            (_, life) => declared(life),
        })
    }
}

/// What it waits for: its provider, or what its own kind says.
fn unmet<K: CustomKind>(state: &K, stream: &StreamId, what: &'static str) -> Unmet {
    let Some(effort) = state.kept().effort() else {
        let because = state.waits_for().unwrap_or_else(|| format!("it is {}", CustomKind::status(state)));
        return Unmet::new(
            what,
            because,
            format!("a change of what it depends on; `bailiwick why {stream}` shows that"),
        );
    };
    let doing = if matches!(state.kept(), Kept::Undoing { .. }) { "deleting it" } else { "creating it" };
    let again = format!("`bailiwick retry {stream}`");
    effort_unmet(what, doing, effort, again).looked_at(effort.next_attempt())
}
