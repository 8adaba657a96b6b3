//! The one step: decide, record, evolve. Shell, simulator and audit all take it.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, Draft, Entry, EntryKind, Meta, Outcome, Position, StreamId, Version, digest};
use uuid::Uuid;

use super::{
    Code, Decider, Decoded, DecodedEvents, Facts, Invariant, Known, Marks, Recorded, Stored, StoredError, Touches,
    Verdict,
};
use crate::vocab::Fact;

/// A command with where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<D: Decider> {
    pub command: D::Command,
    /// The same id again gets the first answer.
    pub id: Uuid,
    /// Who asks: `uid:0`, `agent:machine/0`, `provider:cloud`, `supervisor/machines`, `schedule`.
    pub principal: String,
    /// The entry that led to this one; none for what comes from outside.
    pub cause: Option<Position>,
    /// What the command rests on: what its issuer cited.
    pub cites: Vec<Cite>,
}

/// One entity: its stream, and the fold of the stream's events.
#[derive(Clone, Debug)]
pub struct Entity<D: Decider> {
    stream: StreamId,
    state: D,
    version: Version,
    /// The last event of each side.
    marks: Marks,
    /// The last entry that this entity knows of.
    position: Position,
    /// Who was told last that nothing had to be done, and why: the same again is only counted.
    last_nothing: Option<(String, String)>,
}

impl<D: Decider> Entity<D> {
    /// An entity that nothing has happened to.
    pub fn new(stream: StreamId) -> Self {
        Self {
            stream,
            state: D::default(),
            version: Version::ZERO,
            marks: Marks::default(),
            position: Position::ZERO,
            last_nothing: None,
        }
    }

    /// Its stream.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Its state.
    pub fn state(&self) -> &D {
        &self.state
    }

    /// The version of its last event.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The position of its last entry.
    pub fn position(&self) -> Position {
        self.position
    }

    /// What it answers to a command, without anything having happened.
    pub fn decide(&self, command: &D::Command, known: &Known<'_, D::View>) -> Verdict<D> {
        let facts = Facts {
            stream: &self.stream,
            next: self.version.next(),
            now: known.now,
            policy: &known.policy.document,
            view: known.view,
            journal: known.journal,
        };
        self.state.decide(command, &facts)
    }

    /// A verdict as it goes into the journal.
    ///
    /// # Errors
    /// If a stored form is larger than a body may be.
    pub fn draft(
        &self,
        request: &Request<D>,
        known: &Known<'_, D::View>,
        verdict: &Verdict<D>,
    ) -> Result<Draft, StoredError> {
        debug_assert!(
            self.breaks(verdict).is_none(),
            "{}: {verdict:?} breaks: {:?}",
            self.stream,
            self.breaks(verdict)
        );
        let command = request.command.store()?;
        let (outcome, code, recorded, events) = match verdict {
            Ok(decision) => {
                let outcome = if decision.events.is_empty() { Outcome::Nothing } else { Outcome::Done };
                let reason = &decision.reason;
                (outcome, reason.code(), Recorded::<D>::Decided(reason.clone()), decision.events.as_slice())
            }
            Err(rejection) => (Outcome::Refused, rejection.code(), Recorded::<D>::Refused(rejection.clone()), &[][..]),
        };
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome,
            code: code.to_owned(),
            time_ms: known.now.0,
            command_id: request.id,
            command_hash: digest(&command.bytes),
            cause: request.cause,
            principal: request.principal.clone(),
            policy: known.policy.reference.clone(),
            view: known.view_at,
            cites: self.cites(request, events),
        };
        Ok(Draft {
            stream: self.stream.clone(),
            expected: self.version,
            meta,
            command,
            facts: known.stored().store()?,
            verdict: recorded.store()?,
            events: events.iter().map(Stored::store).collect::<Result<_, _>>()?,
        })
    }

    /// What would not hold any more behind a decision.
    fn breaks(&self, verdict: &Verdict<D>) -> Option<&'static Invariant<D>> {
        let events = verdict.as_ref().map_or(&[][..], |decision| decision.events.as_slice());
        if D::INVARIANTS.is_empty() || events.is_empty() {
            return None;
        }
        let mut behind = self.state.clone();
        for (event, index) in events.iter().zip(1..) {
            behind.evolve(self.version.plus(index), event);
        }
        Invariant::broken(D::INVARIANTS, &self.state, &behind)
    }

    /// What a decision rests on: what its command cites, and the events of its own that these events go on from.
    fn cites(&self, request: &Request<D>, events: &[D::Event]) -> Vec<Cite> {
        let mut cites: BTreeSet<Cite> = request.cites.iter().cloned().collect();
        for touched in events.iter().map(|event| self.state.goes_on_from(event)) {
            let facts = match touched {
                Touches::All => &[Fact::Life][..],
                Touches::Some(facts) => facts,
            };
            let followed = facts.iter().filter_map(|fact| self.marks.of(fact.followed()?));
            cites.extend(followed.map(|version| Cite::new(self.stream.clone(), version)));
        }
        cites.into_iter().take(Draft::CITES_MAX).collect()
    }

    /// Whether this draft only says once more what the last entry said: that nothing has to be done, to the same asker,
    /// for the same reason.
    pub fn repeats_nothing(&self, draft: &Draft) -> bool {
        draft.meta.outcome == Outcome::Nothing
            && self
                .last_nothing
                .as_ref()
                .is_some_and(|(principal, code)| *principal == draft.meta.principal && *code == draft.meta.code)
    }

    /// Takes in an entry of this stream, in order. Entries that were taken in before are passed over.
    ///
    /// # Errors
    /// If an event cannot be decoded; the entity is then as it was.
    pub fn take_in(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.take_in_decoded(&Decoded::new(entry, &DecodedEvents::default()))
    }

    /// As [`Entity::take_in`], for an entry that others take in, too.
    ///
    /// # Errors
    /// As [`Entity::take_in`].
    pub fn take_in_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        debug_assert_eq!(entry.header.stream, self.stream, "an entry of another stream");
        if entry.header.position <= self.position {
            return Ok(());
        }
        let events = entry.events::<D::Event>()?;
        for (event, index) in events.iter().zip(0..) {
            let at = entry.header.first_version.plus(index);
            self.state.evolve(at, event);
            self.marks.note(at, D::touches(event));
            self.version = at;
        }
        self.position = entry.header.position;
        let meta = &entry.header.meta;
        self.last_nothing = (meta.outcome == Outcome::Nothing).then(|| (meta.principal.clone(), meta.code.clone()));
        Ok(())
    }
}
