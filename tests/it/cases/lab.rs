//! The desk at which cases are put to living entities: a policy, a clock that counts from the case's beginning, and the
//! words that more than one group of cases needs.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick::actors::{
    contract::{Decider, NoView},
    machine::{self, Effect, Instance, Spec},
    policy::Document,
    ports::{MachineInstance, Operation},
    testing::{Answer, Asked, Desk, MemoryJournal, name},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Outlook, Timestamp},
};
use bailiwick_journal::{Body, Entry, StreamId, Version};

/// A desk, and when the case began there.
pub(super) struct Lab {
    pub desk: Desk,
    journal: MemoryJournal,
    began: Timestamp,
}

/// How far a machine is on its way to an instance, in the words of most originals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Making {
    Pending,
    Started,
    Error,
}

impl Lab {
    /// A desk under this policy.
    pub fn new(policy: Document) -> Self {
        let journal = MemoryJournal::new("cases");
        let mut desk = Desk::new(Arc::new(journal.clone()));
        // It is in the middle of the day: nothing is at the beginning of time.
        desk.now = Timestamp(1_000_000_000);
        desk.revise(policy);
        let began = desk.now;
        Self { desk, journal, began }
    }

    /// What a machine is called here: a name has no slashes.
    pub fn name(id: &str) -> String {
        id.replace('/', "-")
    }

    pub fn stream(machine: &str) -> StreamId {
        StreamId::new(machine::State::KIND, machine).expect("a valid name")
    }

    /// Declares a machine that any zone will do for, if none is said.
    pub fn declare(&mut self, machine: &str, change: impl FnOnce(&mut Spec)) {
        let mut spec = Spec::with_provider(name("desk"));
        change(&mut spec);
        self.desk.machine(machine, machine::Command::Declare(Arc::new(spec)));
    }

    pub fn state(&self, machine: &str) -> machine::State {
        self.desk.machine_state(machine).cloned().unwrap_or_default()
    }

    /// Whole seconds since the case began.
    pub fn seconds(&self, at: Timestamp) -> u64 {
        at.since(self.began) / 1_000
    }

    /// Says how a machine's next creates are answered.
    pub fn creates(&mut self, machine: &str, answers: impl IntoIterator<Item = Answer>) {
        for answer in answers {
            self.desk.provider.answers(Self::stream(machine), Asked::Operation(Operation::CreateMachine), answer);
        }
    }

    /// Goes on, from one due time to the next, while something is due before `until`.
    pub fn run_until(&mut self, until: Timestamp) {
        self.desk.settle();
        while self.desk.due().first().is_some_and(|(due, _)| *due < until) {
            self.desk.wake_next();
            self.desk.settle();
        }
    }

    /// Goes on until nobody waits for a further attempt any more: other times (health, drains) do not count.
    pub fn run_attempts(&mut self) {
        self.desk.settle();
        while let Some((due, stream)) = self.next_attempt() {
            self.desk.now = self.desk.now.max(due);
            self.desk.wake(&stream, due);
            self.desk.settle();
        }
    }

    fn next_attempt(&self) -> Option<(Timestamp, StreamId)> {
        let waits = |(due, stream): &(Timestamp, StreamId)| match self.desk.machine_state(stream.name())?.effort() {
            Some(effort) => matches!(effort.outlook, Outlook::Waiting { until, .. } if until == *due)
                .then(|| (*due, stream.clone())),
            None => None,
        };
        self.desk.due().iter().find_map(waits)
    }

    /// The provider is asked what it has until it has nothing new to say.
    pub fn search(&mut self) {
        for _ in 0..8 {
            let before = self.journal.entries().len();
            self.desk.list();
            self.desk.settle();
            if self.journal.entries().len() == before {
                return;
            }
        }
    }

    /// The instance that this machine has, or that the intent of this version would have.
    pub fn effect(&self, machine: &str) -> Option<EffectId> {
        self.state(machine).own(self.desk.journal().id(), &Self::stream(machine))
    }

    /// The entries of a machine, in order.
    pub fn entries(&self, machine: &str) -> Vec<Arc<Entry>> {
        let stream = Self::stream(machine);
        self.journal.entries().into_iter().filter(|entry| entry.header.stream == stream).collect()
    }

    /// Whether this text stands anywhere in the journal.
    pub fn has_in_journal(&self, text: &str) -> bool {
        let has = |body: &Body| body.bytes.windows(text.len()).any(|bytes| bytes == text.as_bytes());
        self.journal.entries().iter().any(|entry| {
            let Entry { command, facts, verdict, events, .. } = &**entry;
            [command, facts, verdict].into_iter().chain(events).any(has)
        })
    }

    /// What the provider is asked to do for a machine now.
    pub fn owes_a_create(&self, machine: &str) -> bool {
        self.state(machine).pending(&NoView).iter().any(|effect| matches!(effect, Effect::Create { .. }))
    }
}

/// How far it is.
pub(super) fn making(state: &machine::State) -> Making {
    match &state.instance {
        Instance::Running { .. } => Making::Started,
        Instance::Creating(effort) => match effort.outlook {
            Outlook::GivenUp { .. } => Making::Error,
            Outlook::Trying if state.unstartable().is_some() => Making::Error,
            Outlook::Trying | Outlook::Waiting { .. } => Making::Pending,
        },
        Instance::None | Instance::Lost { .. } | Instance::Deleting { .. } => Making::Pending,
    }
}

/// Whether it is dead, or gone.
pub(super) fn is_over(state: &machine::State) -> bool {
    matches!(state.life, Life::Dead | Life::Removed)
}

/// An instance of nobody's, which bears this machine's name.
pub(super) fn stranger(machine: &str, id: &str) -> MachineInstance {
    MachineInstance {
        effect: EffectId::of(bailiwick::actors::vocab::derived_uuid(id), &Lab::stream(machine), Version(1)),
        instance: InstanceId(id.to_owned()),
        machine: name(machine),
        facts: Default::default(),
        status: bailiwick::actors::ports::InstanceStatus::Running,
    }
}

/// A failure of this code.
pub(super) fn fails(code: FaultCode, text: &str) -> Answer {
    Answer::Fails(Fault::new(code, text))
}

/// The names of the machines that this was done for, in order, each once.
pub(super) fn done_for(lab: &Lab, operation: Operation, from: usize) -> Vec<String> {
    let calls = lab.desk.provider.calls[from..].iter().filter(|call| call.asked == Asked::Operation(operation));
    let names: BTreeSet<String> = calls.filter_map(|call| Some(call.stream.as_ref()?.name().to_owned())).collect();
    names.into_iter().collect()
}
