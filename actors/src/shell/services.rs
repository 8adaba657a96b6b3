//! What all actors of one node share.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    rc::Rc,
    sync::Arc,
};

use bailiwick_journal::{AppendError, Appended, Draft, Intake, Journal, Position, StreamId, Subscription};
use tokio::{sync::watch, time::Instant};
use uuid::Uuid;

use super::{
    AnyProvider,
    budgets::Budgets,
    call_times::CallTimes,
    growth::{Follower, Growth},
    holds::Holds,
    taken_over::TakenOver,
};
use crate::{
    contract::{Broken, Decider, DecodedEvents, Known, NoView, PolicyInForce},
    ports::{
        CallBudget, Clock, Enrolment, FilesystemProvider, MachineProvider, MachineScope, ReplicaSetEngine, Secrets,
        VolumeProvider,
    },
    vocab::{Fault, FaultCode, Name, Timestamp},
};

/// Entries whose decoded events are kept: what one takes in, the others take in soon after.
const DECODED_MAX: usize = 256;

/// The providers by name.
#[derive(Clone, Default)]
pub struct Providers {
    pub machines: BTreeMap<Name, Arc<dyn MachineProvider>>,
    pub volumes: BTreeMap<Name, Arc<dyn VolumeProvider>>,
    /// Those on volumes are made and mounted by the one named `managed`.
    pub filesystems: BTreeMap<Name, Arc<dyn FilesystemProvider>>,
    /// Storage that is made inside of machines; these names stand before those of volumes and filesystems.
    pub in_machines: BTreeMap<Name, Arc<dyn MachineScope>>,
    /// What keeps replica sets, by the name of the engine.
    pub replica_sets: BTreeMap<Name, Arc<dyn ReplicaSetEngine>>,
    /// Those of kinds that a program has added, by kind and name.
    pub added: BTreeMap<(&'static str, Name), AnyProvider>,
    /// Where the secrets are that machine classes name; none if there are none.
    pub secrets: Option<Arc<dyn Secrets>>,
    /// What draws the tokens that agents join with; none if agents need none.
    pub enrolment: Option<Arc<dyn Enrolment>>,
    /// How often some of them may be called; the others, as often as there is something to say.
    pub budgets: BTreeMap<Name, CallBudget>,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers")
            .field("machines", &self.machines.keys())
            .field("volumes", &self.volumes.keys())
            .field("filesystems", &self.filesystems.keys())
            .field("in_machines", &self.in_machines.keys())
            .field("replica_sets", &self.replica_sets.keys())
            .field("added", &self.added.keys())
            .finish()
    }
}

/// Who is asked, as far as calls go out apart from one another: a provider, and the machine inside of which it works.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// None if nobody is named who could do it.
    pub provider: Option<Name>,
    /// None if the provider works outside of machines.
    pub machine: Option<Name>,
}

impl Providers {
    /// The source of a call.
    pub fn source(&self, provider: Option<&Name>, machine: Option<&Name>) -> Source {
        let is_inside = provider.is_some_and(|provider| self.in_machines.contains_key(provider));
        Source { provider: provider.cloned(), machine: machine.filter(|_| is_inside).cloned() }
    }

    /// Who makes volumes for a source.
    pub fn volumes_of(&self, source: &Source) -> Option<Arc<dyn VolumeProvider>> {
        let provider = source.provider.as_ref()?;
        match (self.in_machines.get(provider), &source.machine) {
            (Some(scope), Some(machine)) => scope.volumes(machine),
            (Some(_), None) => None,
            (None, _) => self.volumes.get(provider).cloned(),
        }
    }

    /// Who makes filesystems for a source.
    pub fn filesystems_of(&self, source: &Source) -> Option<Arc<dyn FilesystemProvider>> {
        let provider = source.provider.as_ref()?;
        match (self.in_machines.get(provider), &source.machine) {
            (Some(scope), Some(machine)) => scope.filesystems(machine),
            (Some(_), None) => None,
            (None, _) => self.filesystems.get(provider).cloned(),
        }
    }

    /// Why nobody answers for a source. What works inside of machines waits for one: that something is attached nowhere now
    /// says nothing about its provider.
    pub fn nobody(&self, source: &Source) -> Fault {
        let inside = source.provider.as_ref().filter(|provider| self.in_machines.contains_key(*provider));
        match (inside, &source.machine) {
            (Some(provider), None) => {
                let text = format!(
                    "provider {provider} creates storage inside machines, but this storage is attached to no machine"
                );
                Fault::new(FaultCode::Unavailable, text)
            }
            (Some(provider), Some(machine)) => {
                Fault::new(FaultCode::Unavailable, format!("provider {provider} does not reach machine {machine}"))
            }
            (None, _) => none(source.provider.as_ref()),
        }
    }
}

/// There is no provider of that name.
pub(super) fn none(name: Option<&Name>) -> Fault {
    let name = name.map_or("none", Name::as_str);
    Fault::new(FaultCode::InvalidArgument, format!("this node has no provider named {name}"))
}

/// Bounds, so that memory is bounded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Commands that may wait for an answer at one time; more are refused. Default 4,096.
    pub asks_max: usize,
    /// Entity actors that may be in memory while idle. Default 10,000.
    pub actors_max: usize,
    /// Provider calls that may be under way at one time, for each provider. Default 8.
    pub calls_max: usize,
    /// Items in one bulk call. Default 100.
    pub bulk_max: usize,
    /// Crashes of one actor within [`Limits::CRASH_WINDOW_MS`] after which it is quarantined. Default 5.
    pub crashes_max: usize,
}

impl Limits {
    /// The window in which crashes are counted.
    pub const CRASH_WINDOW_MS: u64 = 60_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self { asks_max: 4_096, actors_max: 10_000, calls_max: 8, bulk_max: 100, crashes_max: 5 }
    }
}

/// What all actors of one node share. They live on one thread.
pub struct Services {
    pub journal: Arc<dyn Journal>,
    pub clock: Arc<dyn Clock>,
    pub providers: Providers,
    /// The budgets of the providers, and who waits for them.
    pub budgets: Budgets,
    /// The providers that are held.
    pub holds: Holds,
    /// How long their calls take.
    pub call_times: CallTimes,
    pub limits: Limits,
    /// What another journal made, and this one knows of.
    pub(crate) taken_over: TakenOver,
    policy: RefCell<Arc<PolicyInForce>>,
    /// The last answer of `now`, and when it was given by the monotonic clock.
    last_time: Cell<(Timestamp, Instant)>,
    /// The last durable position, told by the journal's own thread.
    growth: Growth,
    _subscription: Subscription,
    /// Provider calls under way.
    pub calls: Cell<usize>,
    failed: watch::Sender<Option<String>>,
    /// The decoded events of the newest entries: the entity and the supervisors that take one in decode it once.
    decoded: RefCell<BTreeMap<Position, Rc<DecodedEvents>>>,
    /// Decisions that were only counted, because they said once more that nothing had to be done.
    pub only_counted: Cell<u64>,
    broken: RefCell<Broken>,
    /// How often something came not to hold, by kind and name of the invariant.
    broken_counts: RefCell<BTreeMap<(&'static str, &'static str), u64>>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("providers", &self.providers).field("limits", &self.limits).finish()
    }
}

impl Services {
    /// Puts the shared things together.
    pub fn new(
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        providers: Providers,
        limits: Limits,
        policy: PolicyInForce,
        taken_over: TakenOver,
        held: BTreeSet<Name>,
    ) -> Self {
        let last_time = Cell::new((Timestamp(journal.head().time_ms), Instant::now()));
        let growth = Growth::new(journal.head().position);
        let told = growth.clone();
        let subscription = journal.on_append(Box::new(move |head| told.tell(head.position)));
        Self {
            journal,
            clock,
            budgets: Budgets::new(&providers.budgets),
            holds: Holds::new(held),
            call_times: CallTimes::default(),
            providers,
            limits,
            taken_over,
            policy: RefCell::new(Arc::new(policy)),
            last_time,
            growth,
            _subscription: subscription,
            calls: Cell::new(0),
            failed: watch::Sender::new(None),
            decoded: RefCell::new(BTreeMap::new()),
            only_counted: Cell::new(0),
            broken: RefCell::default(),
            broken_counts: RefCell::default(),
        }
    }

    /// Looks whether all that has to hold of an object does; what does not is counted, and logged once.
    pub(crate) fn check_invariants<D: Decider>(&self, stream: &StreamId, state: &D) {
        for one in self.broken.borrow_mut().look(stream, state) {
            *self.broken_counts.borrow_mut().entry((D::KIND, one.name)).or_default() += 1;
            tracing::error!(%stream, invariant = one.name, "it does not hold that {}", one.says);
        }
    }

    /// How often something came not to hold since the node started.
    pub(super) fn broken_counts(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.broken_counts.borrow().clone()
    }

    /// Now; never before an earlier answer, nor before the journal's last entry.
    ///
    /// A wall clock that was set back does not make time stand still until it has caught up: nothing that waits would
    /// become due. Time goes on from where it was.
    pub fn now(&self) -> Timestamp {
        let (last, at) = self.last_time.get();
        let gone_by = u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let steady = Timestamp(last.0.saturating_add(gone_by));
        let wall = self.clock.now();
        if wall > steady {
            self.last_time.set((wall, Instant::now()));
            return wall;
        }
        // The base stays, so that parts of a millisecond are not lost with every call.
        steady
    }

    /// The policy revision in force.
    pub fn policy(&self) -> Arc<PolicyInForce> {
        self.policy.borrow().clone()
    }

    /// Another revision is in force from now on.
    pub fn set_policy(&self, policy: PolicyInForce) {
        *self.policy.borrow_mut() = Arc::new(policy);
    }

    /// What an entity may know now.
    pub fn known(&self) -> Known<'static, NoView> {
        self.known_with(&NoView, None)
    }

    /// What a supervisor with this view may know now.
    pub fn known_with<'a, V>(&self, view: &'a V, view_at: Option<Position>) -> Known<'a, V> {
        Known { now: self.now(), policy: self.policy(), view, view_at, journal: self.journal_id() }
    }

    /// The place for the decoded events of an entry of the journal, which all who take it in have in common.
    pub(crate) fn decoded_events(&self, position: Position) -> Rc<DecodedEvents> {
        let mut decoded = self.decoded.borrow_mut();
        let events = decoded.entry(position).or_default().clone();
        // A late reader decodes for itself.
        while decoded.len() > DECODED_MAX {
            decoded.pop_first();
        }
        events
    }

    /// How far the journal has got, to be followed from other threads, too.
    pub fn growth(&self) -> Growth {
        self.growth.clone()
    }

    /// Tells when the journal grows from here on.
    pub fn follow(&self) -> Follower {
        self.growth.follow()
    }

    /// The journal's id.
    pub fn journal_id(&self) -> Uuid {
        self.journal.id()
    }

    /// Makes drafts durable, together or not at all.
    ///
    /// They are handed in at once, not when the answer is first waited for: a draft has the time at which it was decided,
    /// and nothing with a later time must come before it.
    pub fn append(
        &self,
        drafts: Vec<Draft>,
        intake: Intake,
    ) -> impl Future<Output = Result<Appended, AppendError>> + use<> {
        let (send, receive) = tokio::sync::oneshot::channel();
        self.journal.append(drafts, intake, Box::new(move |answer| drop(send.send(answer))));
        let failed = self.failed.clone();
        async move {
            let ended = |_| Err(AppendError::Unknown { problem: "the journal's thread ended".into() });
            let answer = receive.await.unwrap_or_else(ended);
            if let Err(AppendError::Unknown { problem }) = &answer {
                failed.send_replace(Some(problem.clone()));
            }
            answer
        }
    }

    /// Tells when the journal has failed: then the node ends in order, and verifies at the next start.
    pub fn failed(&self) -> watch::Receiver<Option<String>> {
        self.failed.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MachineScope;

    /// Works inside of machines, and reaches none of them.
    #[derive(Debug)]
    struct Nowhere;

    impl MachineScope for Nowhere {
        fn volumes(&self, _machine: &Name) -> Option<Arc<dyn VolumeProvider>> {
            None
        }

        fn filesystems(&self, _machine: &Name) -> Option<Arc<dyn FilesystemProvider>> {
            None
        }
    }

    #[test]
    fn what_works_inside_of_machines_waits_for_one_and_only_an_unknown_provider_is_nobody() {
        let name = |text: &str| text.parse::<Name>().expect("a valid name");
        let mut providers = Providers::default();
        providers.in_machines.insert(name("managed"), Arc::new(Nowhere));
        let code = |provider: &str, machine: Option<&str>| {
            let machine = machine.map(name);
            providers.nobody(&providers.source(Some(&name(provider)), machine.as_ref())).code
        };
        assert_eq!(code("managed", None), FaultCode::Unavailable);
        assert_eq!(code("managed", Some("web")), FaultCode::Unavailable);
        assert_eq!(code("cloud", None), FaultCode::InvalidArgument);
    }
}
