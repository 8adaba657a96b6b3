//! Deciding one entry again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bailiwick_journal::{Body, Draft, Entry, Journal, Position, StreamId, digest};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Divergence, What,
    added::ADDED,
    lineage::Lineage,
    views::{LaggingView, ViewFault},
};
use crate::{
    contract::{
        Broken, Decider, Entity, Known, PolicyInForce, Recorded, Request, Stored, StoredError, StoredFacts, Verdict,
    },
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, provider, replica_set,
    supervisor::{self, machine_sets, machines, replica_sets, storage},
    vocab::{Call, Timestamp},
    volume, volume_attachment,
};

/// What a decision is decided again with, beside the entry itself.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The settings that the entry cites; none if they could not be found (which the one who looked reports).
    pub policy: Option<&'a Arc<PolicyInForce>>,
}

/// Decides the entries of some streams again, in order.
pub trait Redecide {
    /// Decides the entry again, reports what differs, and takes in what is recorded.
    fn redecide(&mut self, entry: &Entry, context: Context<'_>, found: &mut Vec<Divergence>) -> Redecided;

    /// Takes in an entry that nobody decided (a note).
    fn pass(&mut self, entry: &Entry);
}

/// Whether an entry could be decided again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redecided {
    Decided,
    /// The stream could not be followed up to here, which was reported before.
    Skipped,
}

/// The deciders that a replay uses: by stream (`supervisor/machines`), or else by kind (`machine`).
pub struct Deciders<'j>(BTreeMap<String, Box<dyn Redecide + 'j>>);

impl fmt::Debug for Deciders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<'j> Deciders<'j> {
    /// Those of this release.
    pub fn product(journal: &'j dyn Journal) -> Self {
        let supervisor = |name: &str| format!("supervisor/{name}");
        let documents = |deciders: Self, kind: document::Kind| {
            deciders.with(kind.as_str(), Redecider::<document::State>::new(journal))
        };
        let all = document::Kind::ALL.into_iter().fold(Self(BTreeMap::new()), documents);
        let all = ADDED.all().into_iter().fold(all, |mut deciders, kind| {
            deciders.0.insert(kind.name.to_owned(), (kind.kind)(journal));
            deciders.0.insert(supervisor(kind.name), (kind.supervisor)(journal));
            deciders
        });
        all.with(machine::State::KIND, Redecider::<machine::State>::new(journal))
            .with(volume::State::KIND, Redecider::<volume::State>::new(journal))
            .with(volume_attachment::State::KIND, Redecider::<volume_attachment::State>::new(journal))
            .with(filesystem::State::KIND, Redecider::<filesystem::State>::new(journal))
            .with(filesystem_attachment::State::KIND, Redecider::<filesystem_attachment::State>::new(journal))
            .with(policy::State::KIND, Redecider::<policy::State>::new(journal))
            .with(provider::State::KIND, Redecider::<provider::State>::new(journal))
            .with(replica_set::State::KIND, Redecider::<replica_set::State>::new(journal))
            .with(member::State::KIND, Redecider::<member::State>::new(journal))
            .with(machine_set::State::KIND, Redecider::<machine_set::State>::new(journal))
            .with(machine_deployment::State::KIND, Redecider::<machine_deployment::State>::new(journal))
            .with(machine_class::State::KIND, Redecider::<machine_class::State>::new(journal))
            .with(&supervisor(machines::View::NAME), Redecider::<machines::State>::of_supervisor(journal))
            .with(&supervisor(storage::View::NAME), Redecider::<storage::State>::of_supervisor(journal))
            .with(&supervisor(replica_sets::View::NAME), Redecider::<replica_sets::State>::of_supervisor(journal))
            .with(&supervisor(machine_sets::View::NAME), Redecider::<machine_sets::State>::of_supervisor(journal))
    }

    /// The same with another decider for a kind or stream.
    #[must_use]
    pub fn with(mut self, kind_or_stream: &str, decider: impl Redecide + 'j) -> Self {
        self.0.insert(kind_or_stream.to_owned(), Box::new(decider));
        self
    }

    pub(super) fn of(&mut self, stream: &StreamId) -> Option<&mut (dyn Redecide + 'j)> {
        let key = if self.0.contains_key(stream.as_str()) { stream.as_str() } else { stream.kind() };
        self.0.get_mut(key).map(|decider| decider.as_mut() as &mut (dyn Redecide + 'j))
    }
}

/// How a command's id follows from what led to it: stream, view position, the stream's last entry, command hash.
type IdRule = fn(&StreamId, Position, Position, [u8; 16]) -> Uuid;

/// Decides the entries of one kind again.
#[derive(Debug)]
pub struct Redecider<'j, D: Decider> {
    lineage: Lineage,
    entities: BTreeMap<StreamId, Entity<D>>,
    view: LaggingView<'j, D::View>,
    id_rule: Option<IdRule>,
    /// Streams with an event that could not be read: their states are not known any more.
    lost: BTreeSet<StreamId>,
    broken: Broken,
}

impl<'j, D: Decider> Redecider<'j, D> {
    /// A decider whose commands come from others.
    pub fn new(journal: &'j dyn Journal) -> Self {
        let view = LaggingView::new(journal);
        let (entities, lost, broken) = (BTreeMap::new(), BTreeSet::new(), Broken::default());
        Self { lineage: Lineage::of(journal), entities, view, id_rule: None, lost, broken }
    }

    /// A supervisor, which gives itself its commands.
    pub fn of_supervisor(journal: &'j dyn Journal) -> Self {
        Self { id_rule: Some(supervisor::decision_id), ..Self::new(journal) }
    }
}

impl<D: Decider> Redecide for Redecider<'_, D> {
    fn redecide(&mut self, entry: &Entry, context: Context<'_>, found: &mut Vec<Divergence>) -> Redecided {
        let stream = &entry.header.stream;
        if self.lost.contains(stream) {
            return Redecided::Skipped;
        }
        if !self.entities.contains_key(stream) {
            self.entities.insert(stream.clone(), Entity::new(stream.clone()));
        }
        let entity = self.entities.get_mut(stream).expect("it was just put there");
        let mut audit = Audit { entry, found, journal: self.lineage.at(entry.header.position), id_rule: self.id_rule };
        let view = audit.view(entity, &mut self.view);
        if let (Some(policy), true) = (context.policy, view) {
            audit.decide(entity, policy, self.view.view());
        }
        // Whatever was found: the history goes on from what is recorded.
        if let Err(error) = entity.take_in(entry) {
            audit.say(What::Undecodable, format!("an event cannot be read: {error}"));
            self.lost.insert(stream.clone());
        } else if !entry.events.is_empty() {
            audit.invariants(entity.state(), &mut self.broken);
        }
        Redecided::Decided
    }

    fn pass(&mut self, entry: &Entry) {
        let stream = &entry.header.stream;
        let entity = self.entities.entry(stream.clone()).or_insert_with(|| Entity::new(stream.clone()));
        if entity.take_in(entry).is_err() {
            self.lost.insert(stream.clone());
        }
    }
}

/// One entry under audit.
struct Audit<'a> {
    entry: &'a Entry,
    found: &'a mut Vec<Divergence>,
    journal: Uuid,
    id_rule: Option<IdRule>,
}

impl Audit<'_> {
    fn say(&mut self, what: What, text: impl Into<String>) {
        self.found.push(Divergence::new(&self.entry.header, what, text));
    }

    /// Tells what does not hold any more behind the entry.
    fn invariants<D: Decider>(&mut self, state: &D, known: &mut Broken) {
        for one in known.look(&self.entry.header.stream, state) {
            let (says, name) = (one.says, one.name);
            self.say(What::Invariant, format!("it does not hold any more that {says} ({}/{name})", D::KIND));
        }
    }

    /// Brings the view to where the entry says it stood; false if it cannot be there.
    fn view<D: Decider>(&mut self, entity: &Entity<D>, view: &mut LaggingView<'_, D::View>) -> bool {
        let header = &self.entry.header;
        let cited = match (view.is_looked_at(), header.meta.view) {
            (false, None) => return true,
            (false, Some(cited)) => {
                self.say(What::View, format!("it cites a view at {cited}, but looks at none"));
                return true;
            }
            (true, None) => {
                self.say(What::View, "it looks at a view, but cites none");
                return false;
            }
            (true, Some(cited)) => cited,
        };
        if cited >= header.position {
            self.say(What::View, format!("it cites a view at {cited}, which was not written yet"));
            return false;
        }
        if cited < entity.position() {
            let text = format!("it cites a view at {cited}, before its own last decision at {}", entity.position());
            self.say(What::View, text);
            return false;
        }
        let text = match view.advance(cited) {
            Ok(()) => return true,
            Err(ViewFault::Back { from }) => format!("its view goes back from {from} to {cited}"),
            Err(ViewFault::Undecodable { position, problem }) => {
                format!("its view cannot be folded: entry {position}: {problem}")
            }
            Err(ViewFault::Unreadable(error)) => format!("its view cannot be read: {error}"),
        };
        self.say(What::View, text);
        false
    }

    /// Decides again, and compares everything.
    fn decide<D: Decider>(&mut self, entity: &Entity<D>, policy: &Arc<PolicyInForce>, view: &D::View) {
        let Entry { header, command, facts, .. } = self.entry;
        let meta = &header.meta;
        if entity.version().next() != header.first_version {
            let text =
                format!("the stream is at version {}, the entry begins at {}", entity.version(), header.first_version);
            self.say(What::Version, text);
        }
        if digest(&command.bytes) != meta.command_hash {
            self.say(What::Command, "the command is not the one whose hash is recorded");
        }
        if let (Some(rule), Some(cited)) = (self.id_rule, meta.view)
            && rule(&header.stream, cited, entity.position(), meta.command_hash) != meta.command_id
        {
            self.say(What::CommandId, "the command's id does not follow from stream, view and command");
        }
        let (command, journal) = match (D::Command::load(command), StoredFacts::load(facts)) {
            (Ok(command), Ok(StoredFacts { journal })) => (command, journal),
            (Err(error), _) => return self.say(What::Undecodable, format!("the command cannot be read: {error}")),
            (_, Err(error)) => return self.say(What::Undecodable, format!("the facts cannot be read: {error}")),
        };
        if journal != self.journal {
            self.say(What::Facts, format!("it was decided for journal {journal}, this is {}", self.journal));
        }
        let now = Timestamp(meta.time_ms);
        let known = Known { now, policy: policy.clone(), view, view_at: meta.view, journal };
        let request = Request {
            command,
            id: meta.command_id,
            principal: meta.principal.clone(),
            cause: meta.cause,
            cites: meta.cites.clone(),
        };
        let verdict = catch_unwind(AssertUnwindSafe(|| entity.decide(&request.command, &known)));
        let Ok(verdict) = verdict else {
            return self.say(What::Broken, "the decider panicked on this entry");
        };
        match entity.draft(&request, &known, &verdict) {
            Ok(draft) => self.compare::<D>(&draft, &verdict),
            Err(error) => self.say(What::Broken, format!("the decision has no stored form: {error}")),
        }
    }

    fn compare<D: Decider>(&mut self, draft: &Draft, verdict: &Verdict<D>) {
        let Entry { header, facts, verdict: recorded, events, .. } = self.entry;
        let meta = &header.meta;
        if !same::<StoredFacts>(facts, &draft.facts) {
            self.say(What::Facts, "the facts differ from those that are recorded");
        }
        // What it was asked with is cited as it is recorded; what is its own follows from its events.
        if let Some(missing) = draft.meta.cites.iter().find(|cite| !meta.cites.contains(cite)) {
            self.say(What::Cites, format!("it follows from {missing}, but does not cite it"));
        }
        let answer_same = meta.outcome == draft.meta.outcome
            && meta.code == draft.meta.code
            && same::<Recorded<D>>(recorded, &draft.verdict);
        let pairs_same = events.iter().zip(&draft.events).all(|(left, right)| same::<D::Event>(left, right));
        let (what, text) = match (answer_same, pairs_same, events.len().cmp(&draft.events.len())) {
            (true, true, std::cmp::Ordering::Equal) => return,
            (false, ..) => {
                let text = format!("recorded is {}, decided again is {}", answer(meta), answer(&draft.meta));
                (What::Verdict, text)
            }
            (true, _, std::cmp::Ordering::Less) => {
                let text =
                    format!("only {} of the {} events that follow are recorded", events.len(), draft.events.len());
                (What::MissingEvent, text)
            }
            (true, _, std::cmp::Ordering::Greater) => {
                let text = format!("{} events are recorded, {} follow", events.len(), draft.events.len());
                (What::SurplusEvent, text)
            }
            (true, false, std::cmp::Ordering::Equal) => {
                (What::Events, "the events differ from those that are recorded".into())
            }
        };
        let recorded = self.recorded::<D>();
        let redecided = match verdict {
            Ok(decision) => shown(&draft.meta, &decision.reason, &decision.events),
            Err(rejection) => shown(&draft.meta, rejection, &[] as &[D::Event]),
        };
        let calls = |events: &[D::Event]| events.iter().filter_map(D::calls_for).collect::<Vec<Call>>();
        let before: Vec<D::Event> = self.entry.events.iter().filter_map(|body| D::Event::load(body).ok()).collect();
        let now = verdict.as_ref().map_or(&[][..], |decision| &decision.events);
        let found = Divergence::new(header, what, text).between(recorded, redecided);
        self.found.push(found.calling(&calls(&before), &calls(now)));
    }

    fn recorded<D: Decider>(&self) -> Value {
        let Entry { header, verdict, events, .. } = self.entry;
        let events: Vec<Value> = events.iter().map(|body| readable(D::Event::load(body))).collect();
        match Recorded::<D>::load(verdict) {
            Ok(Recorded::Decided(reason)) => shown(&header.meta, &reason, &events),
            Ok(Recorded::Refused(rejection)) => shown(&header.meta, &rejection, &events),
            Err(error) => shown(&header.meta, &format!("unreadable: {error}"), &events),
        }
    }
}

/// Whether two stored forms say the same: byte for byte, or, where one is of an older form, when read.
fn same<T: Stored>(recorded: &Body, redecided: &Body) -> bool {
    if recorded.schema == redecided.schema {
        return recorded.bytes == redecided.bytes;
    }
    matches!((T::load(recorded), T::load(redecided)), (Ok(left), Ok(right)) if left == right)
}

fn answer(meta: &bailiwick_journal::Meta) -> String {
    format!("{} ({})", meta.outcome.code(), meta.code)
}

fn shown(meta: &bailiwick_journal::Meta, verdict: &impl serde::Serialize, events: &[impl serde::Serialize]) -> Value {
    json!({ "outcome": meta.outcome.code(), "code": meta.code, "verdict": verdict, "events": events })
}

fn readable<T: serde::Serialize>(loaded: Result<T, StoredError>) -> Value {
    match loaded {
        Ok(value) => serde_json::to_value(value).unwrap_or(Value::Null),
        Err(error) => Value::String(format!("unreadable: {error}")),
    }
}
