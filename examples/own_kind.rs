//! A kind of one's own: a virtual IP address that points at one of the running machines, and moves when that one goes.
//!
//! `cargo run --example own_kind -- up examples/own_kind.yaml`: every command of `bailiwick` is there, and knows the kind.

use std::{collections::BTreeMap, collections::BTreeSet, fs, io, path::Path, path::PathBuf, sync::Arc};

use bailiwick::actors::contract::{Decider, Decision, Facts, Fold, NoView, Stored, Touches, Verdict};
use bailiwick::actors::custom::{
    Effect, Kept, KeptEvent, KeptReport, Provider, Reason, Rejection, Resource, Rule, Told,
};
use bailiwick::actors::machine::{self, Instance};
use bailiwick::actors::ports::{BulkAnswer, Lookup};
use bailiwick::actors::shell::Asked;
use bailiwick::actors::vocab::{EffectId, Fact, Fault, FaultCode, Life, Name, Timestamp};
use bailiwick::custom_kind::{CustomKind, Providers};
use bailiwick::journal::Version;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub provider: Name,
    /// The machines that it may point at: those with this label.
    pub label: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct VirtualIp {
    life: Life,
    spec: Option<Spec>,
    /// Where it should point, and where the one that is there, or is being made, does.
    target: Option<Name>,
    at: Option<Name>,
    kept: Kept<Address>,
}

/// What the provider makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address(pub String);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    Declare(Spec),
    Point { at: Option<Name> },
    Remove,
    Retry,
    Wake,
    Report(KeptReport<Address>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Declared { spec: Spec },
    Pointed { at: Option<Name> },
    RemovalBegan,
    Removed,
    Kept(KeptEvent<Address>),
}

impl Decider for VirtualIp {
    const KIND: &'static str = "virtual-ip";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        let declared = |spec: &Spec| Some(Event::Declared { spec: spec.clone() });
        let kept = |(reason, event): (Reason, Option<_>)| (reason, event.map(Event::Kept));
        let (reason, first) = match (command, self.life) {
            (Command::Declare(_), Life::Dying | Life::Dead) => return Err(Rejection::Leaving),
            (Command::Declare(spec), Life::Alive) => match &self.spec {
                Some(present) if present == spec => (Reason::AlreadyAsDeclared, None),
                Some(present) if present.provider != spec.provider => {
                    return Err(Rejection::Immutable { field: "spec.provider".into() });
                }
                _ => (Reason::DeclarationDiffers, declared(spec)),
            },
            (Command::Declare(spec), _) => (Reason::NewlyDeclared, declared(spec)),
            (_, Life::Undeclared | Life::Removed) => return Err(Rejection::NotDeclared),
            (Command::Point { at }, _) => (Reason::MachinesChanged, Some(Event::Pointed { at: at.clone() })),
            (Command::Remove, Life::Alive) => (Reason::RemovalAsked, Some(Event::RemovalBegan)),
            (Command::Remove, _) => (Reason::AlreadyGoing, None),
            (Command::Retry, _) => kept(self.kept.retry()),
            (Command::Wake, _) => kept(self.kept.wake(facts.now)),
            (Command::Report(report), _) => kept(self.kept.hear(report, facts.policy, facts.now)),
        };
        let (mut after, mut events, mut next) = (self.clone(), Vec::new(), first);
        while let Some(event) = next {
            after.evolve(facts.next, &event);
            next = after.follows(facts.now);
            events.push(event);
        }
        Ok(Decision::because(reason, events))
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        match event {
            Event::Declared { spec } if self.life == Life::Alive => self.spec = Some(spec.clone()),
            Event::Declared { spec } => {
                *self = Self { life: Life::Alive, spec: Some(spec.clone()), ..Self::default() };
            }
            Event::Pointed { at } => self.target = at.clone(),
            Event::RemovalBegan => self.life = Life::Dying,
            Event::Removed => self.life = Life::Removed,
            Event::Kept(event) => {
                if let KeptEvent::MakeRequested { .. } = event {
                    self.at = self.target.clone();
                }
                self.kept.evolve(at, event);
            }
        }
    }

    fn touches(event: &Event) -> Touches {
        Touches::Some(match event {
            Event::Declared { .. } => &[Fact::Spec, Fact::Life],
            Event::Pointed { .. } => &[Fact::Zone],
            Event::RemovalBegan | Event::Removed => &[Fact::Life],
            Event::Kept(event) => return event.touches(),
        })
    }

    fn goes_on_from(&self, event: &Event) -> Touches {
        match event {
            Event::Kept(event) => event.follows(),
            other => Self::touches(other),
        }
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        self.kept.pending()
    }
}

impl VirtualIp {
    /// What happens next by itself: it is made where it should point, undone where it should not, and gone once nothing is left.
    fn follows(&self, now: Timestamp) -> Option<Event> {
        let is_right = self.kept == Kept::None || self.at == self.target;
        let is_wanted = self.life == Life::Alive && self.target.is_some() && is_right;
        let is_over = self.life == Life::Dying && self.kept == Kept::None;
        self.kept.towards(is_wanted, now).map(Event::Kept).or(is_over.then_some(Event::Removed))
    }
}

impl Rule for VirtualIp {
    /// It stays where it is while that machine runs; else it goes to the first one that does.
    fn follows(&self, _name: &Name, machines: &Fold<machine::State>) -> Option<Told<Self>> {
        let spec = self.spec.as_ref().filter(|_| self.life == Life::Alive)?;
        let serves = |state: &machine::State| {
            let labelled = state.spec.as_ref().is_some_and(|of| of.labels.contains_key(&spec.label));
            labelled && state.life == Life::Alive && matches!(state.instance, Instance::Running { .. })
        };
        let present = self.target.as_ref().filter(|at| machines.get(at.as_str()).is_some_and(serves)).cloned();
        let first =
            || machines.iter().find(|(_, folded)| serves(&folded.state)).and_then(|(name, _)| name.parse().ok());
        let at = present.or_else(first);
        let rests_on = [&self.target, &at].into_iter().flatten();
        let cites = rests_on.flat_map(|on| [Fact::Life, Fact::Effect].map(|side| machines.cite(on.as_str(), side)));
        let cites = cites.flatten().collect();
        (at != self.target).then_some(Told { command: Command::Point { at }, cites })
    }
}

impl Resource for VirtualIp {
    /// The machine to point at.
    type Wish = Name;
    type Made = Address;

    fn life(&self) -> Life {
        self.life
    }
    fn provider(&self) -> Option<&Name> {
        self.spec.as_ref().map(|spec| &spec.provider)
    }
    fn kept(&self) -> &Kept<Address> {
        &self.kept
    }
    fn wish(&self, _name: &str) -> Name {
        self.at.clone().expect("it is made at some machine")
    }
    fn report(report: KeptReport<Address>) -> Command {
        Command::Report(report)
    }
    fn is_report(command: &Command) -> bool {
        matches!(command, Command::Report(_))
    }
    fn is_removal(command: &Command) -> bool {
        *command == Command::Remove
    }
    fn wake(_due: Timestamp) -> Command {
        Command::Wake
    }
}

impl CustomKind for VirtualIp {
    const MANIFEST: &'static str = "VirtualIp";
    const COLUMNS: &'static [&'static str] = &["address", "machine"];
    type Spec = Spec;

    fn declare(spec: Spec) -> Command {
        Command::Declare(spec)
    }
    fn maker(spec: &Spec) -> &Name {
        &spec.provider
    }
    fn remove() -> Command {
        Command::Remove
    }
    fn retry() -> Command {
        Command::Retry
    }
    fn spec(&self) -> Option<&Spec> {
        self.spec.as_ref()
    }
    fn waits_for(&self) -> Option<String> {
        let spec = self.spec.as_ref().filter(|_| self.target.is_none())?;
        Some(format!("no machine with label {} runs", spec.label))
    }
    fn cells(&self) -> Vec<Option<String>> {
        let at = self.at.as_ref().filter(|_| self.kept != Kept::None);
        vec![self.kept.made().map(|made| made.0.clone()), at.map(ToString::to_string)]
    }
    fn simulated(id: EffectId, _at: &Name) -> Address {
        Address(format!("10.0.0.{}", id.0.as_bytes()[0]))
    }
    fn providers(data_dir: &Path) -> io::Result<Providers<Self>> {
        let files: Arc<dyn Provider<Self>> = Arc::new(Files(data_dir.join("virtual-ips")));
        Ok(BTreeMap::from([("files".parse().map_err(io::Error::other)?, files)]))
    }
}

/// A provider whose addresses are files, each named by the id that it was asked for under.
struct Files(PathBuf);

impl Files {
    fn make_one(&self, id: EffectId, at: &Name) -> io::Result<Address> {
        fs::create_dir_all(&self.0)?;
        let address = VirtualIp::simulated(id, at);
        fs::write(self.0.join(id.to_string()), format!("{} {at}\n", address.0))?;
        Ok(address)
    }
    fn undo_one(&self, id: EffectId) -> io::Result<()> {
        match fs::remove_file(self.0.join(id.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
    fn look_for(&self, id: EffectId) -> Lookup<Address> {
        match fs::read_to_string(self.0.join(id.to_string())) {
            Ok(text) => Lookup::Present(Address(text.split(' ').next().unwrap_or_default().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Lookup::Absent,
            Err(_) => Lookup::Unknown,
        }
    }
}

/// What was not written may be half written: nobody knows, and the node asks by id.
fn or_unknown<T>(result: io::Result<T>) -> Result<T, Fault> {
    result.map_err(|error| Fault::new(FaultCode::Unknown, error.to_string()))
}

impl Provider<VirtualIp> for Files {
    fn make(&self, wishes: Vec<(EffectId, Name)>) -> BulkAnswer<'_, Address> {
        Box::pin(async move { Ok(wishes.iter().map(|(id, at)| or_unknown(self.make_one(*id, at))).collect()) })
    }
    fn undo(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(async move { Ok(ids.into_iter().map(|id| or_unknown(self.undo_one(id))).collect()) })
    }
    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<Address>> {
        Box::pin(async move { Ok(ids.into_iter().map(|id| Ok(self.look_for(id))).collect()) })
    }
}

impl bailiwick::words::Words for VirtualIp {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("declare with provider {} for label {}", spec.provider, spec.label),
            Command::Point { at: Some(machine) } => format!("point at machine/{machine}"),
            Command::Point { at: None } => "point nowhere".into(),
            Command::Remove => "remove".into(),
            Command::Retry => "retry".into(),
            Command::Wake => "wake up".into(),
            Command::Report(report) => report.to_string(),
        }
    }
    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("declared with provider {} for label {}", spec.provider, spec.label),
            Event::Pointed { at: Some(machine) } => format!("is to point at machine/{machine}"),
            Event::Pointed { at: None } => "is to point nowhere".into(),
            Event::RemovalBegan => "removal started".into(),
            Event::Removed => "removed".into(),
            Event::Kept(event) => event.to_string(),
        }
    }
}

impl Asked for Command {
    type State = VirtualIp;
}

// Each stored form has a number: one that changes keeps its old form beside it (`Stored::load`).
impl Stored for Address {
    const SCHEMA: u16 = 1;
}
impl Stored for Command {
    const SCHEMA: u16 = 1;
}
impl Stored for Event {
    const SCHEMA: u16 = 1;
}

#[cfg(not(test))]
fn main() -> std::process::ExitCode {
    if let Err(error) = bailiwick::register::<VirtualIp>() {
        unreachable!("the only kind of this program: {error}");
    }
    bailiwick::cli::main(std::env::args_os()).into()
}
