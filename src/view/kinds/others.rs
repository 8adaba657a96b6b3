//! Replica sets and their members, policies, documents.

use bailiwick_actors::{
    contract::{Fold, Folded},
    document::{self, Kind},
    member, policy, provider, replica_set,
    vocab::{Life, Timestamp},
};
use bailiwick_journal::StreamId;
use serde_json::Value;

use super::{Portrait, Shown};
use crate::view::{
    Fleet,
    declared::{self, of},
    describe::json,
    diff::facts,
    documents::document_row,
    members::{member_row, members_of},
    policies::as_declared,
    portrait::Row,
    providers::provider_row,
    replica_sets::replica_set_row,
    rows::policy_row,
    told::Told,
    unmet::Unmet,
    why_not_sets::{of_member, of_replica_set},
};

impl Shown for replica_set::State {
    const STATUSES: &'static [&'static str] = &["not-begun", "looking", "settled", "degraded", "changing", "waiting"];
    const GOALS: &'static [&'static str] = &["ready", "at-its-number", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.replica_sets)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn is_protected(&self) -> bool {
        self.protected
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::ReplicaSet(Box::new(replica_set_row(fleet, stream.name(), folded)));
        let spec = of(folded.state.spec.as_ref(), declared::replica_set);
        Portrait { members: members_of(fleet, stream.name(), &folded.state), ..Portrait::of(row, spec) }
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::replica_set(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    /// Since when it is read as it is.
    fn since(&self, fleet: &Fleet, stream: &StreamId) -> Option<Timestamp> {
        fleet.looks(stream.name()).map(|looks| looks.changed)
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        of_replica_set(fleet, stream.name(), goal)
    }
}

impl Shown for member::State {
    const STATUSES: &'static [&'static str] = &["declared", "joining", "learner", "voter", "leaving", "stranger"];
    const GOALS: &'static [&'static str] = &["ready", "voting", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.members)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Member(Box::new(member_row(fleet, stream.name(), folded)));
        Portrait::of(row, json(&folded.state.seat))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::member(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        of_member(fleet, stream.name(), goal)
    }
}

impl Shown for policy::State {
    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.policies)
    }

    fn life(&self) -> Life {
        Life::Alive
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Policy(policy_row(fleet, stream.name(), folded));
        Portrait::of(row, as_declared(&folded.state.document))
    }

    fn facts(&self, _fleet: &Fleet, _stream: &StreamId) -> Told {
        facts::policy(self)
    }

    fn status_then(&self) -> String {
        format!("revision {}", self.revision)
    }
}

impl Shown for provider::State {
    const STATUSES: &'static [&'static str] = &["in-service", "held"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.providers)
    }

    fn life(&self) -> Life {
        Life::Alive
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Provider(Box::new(provider_row(fleet, stream.name(), folded)));
        Portrait::of(row, Value::Null)
    }

    fn facts(&self, _fleet: &Fleet, _stream: &StreamId) -> Told {
        facts::provider(self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn since(&self, _fleet: &Fleet, _stream: &StreamId) -> Option<Timestamp> {
        self.hold.as_ref().map(|hold| hold.since)
    }
}

impl Shown for document::State {
    fn fold<'f>(fleet: &'f Fleet, kind: &str) -> Option<&'f Fold<Self>> {
        fleet.documents.of(Kind::of(kind)?)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let kind = Kind::of(stream.kind()).expect("it was found as one");
        let mut row = document_row(fleet, kind, stream.name(), folded);
        // Here it is what is declared.
        let says = std::mem::take(&mut row.says);
        Portrait::of(Row::Document(row), says)
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::document(fleet, stream, self)
    }

    fn status_then(&self) -> String {
        self.status()
    }
}
