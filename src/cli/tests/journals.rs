//! Journals in which every kind of entity stands in every status that it can be listed with.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    thread,
};

use bailiwick_actors::{
    contract::{Decider, Entity, Known, NoView, PolicyInForce, Request},
    filesystem, machine, machine_class, machine_deployment, machine_set, member,
    policy::{self, Document},
    ports::{
        Condition, Healthy,
        replica_set::{
            Action, Configuration, EngineRules, Member, MemberId, MemberState, MemberStatus, Observation, Outcome,
            Priority, Stamp, Step, StepReason, Tags,
        },
    },
    provider, replica_set,
    testing::Desk,
    vocab::{
        ClassContent, Day, Fault, FaultCode, SizeMib, Taint, TaintEffect, Timestamp, Window, Windows, derived_uuid,
    },
    volume,
};
use bailiwick_journal::{Journal, LocalJournal, append_blocking, disk::SimulatedDisk, import};
use uuid::Uuid;

use crate::{
    config::journal_dir,
    simulation::{self, Options},
    view::Fleet,
};

/// What a data directory is called, and what makes the journal in it.
pub(super) struct Made {
    pub name: String,
    pub dir: PathBuf,
}

/// A journal as it is exported, and what it is called.
type Exported = (String, Vec<u8>);

/// All of them. Simulating them takes far longer than anything that is asked of them, so the tests share them; and they are
/// simulated side by side, because all these tests wait for the last one.
static EXPORTED: LazyLock<Vec<Exported>> = LazyLock::new(|| {
    let scripts = scripts();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = |first| -> Vec<_> {
        scripts.iter().enumerate().skip(first).step_by(cores).map(|(at, script)| (at, played(script))).collect()
    };
    let played: BTreeMap<usize, Exported> = thread::scope(|scope| {
        let shares: Vec<_> = (0..cores).map(|first| scope.spawn(move || share(first))).collect();
        shares.into_iter().flat_map(|share| share.join().expect("it was simulated")).collect()
    });
    let mut all: Vec<Exported> = played.into_values().collect();
    all.push(by_hand());
    all.push(at_a_desk());
    all.push(rolled_out());
    all
});

/// All of them, each in a data directory of its own below `root`.
pub(super) fn all(root: &Path) -> Vec<Made> {
    let make = |(name, lines): &Exported| {
        let dir = root.join(name);
        fs::create_dir_all(&dir).expect("a new folder");
        import(&mut lines.as_slice(), &journal_dir(&dir)).expect("imported");
        Made { name: name.clone(), dir }
    };
    EXPORTED.iter().map(make).collect()
}

/// The scenarios that are simulated.
fn scripts() -> Vec<PathBuf> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scripts = Vec::new();
    for folder in ["tests/scripts", "src/cli/tests"] {
        let files = fs::read_dir(home.join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
        scripts.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")));
    }
    scripts.sort();
    scripts
}

/// The journal of a scenario that was simulated.
fn played(script: &Path) -> Exported {
    let name = script.file_stem().expect("a name").to_string_lossy().into_owned();
    let scenario = simulation::read(script).unwrap_or_else(|error| panic!("{error:?}"));
    let (_, end) = simulation::simulation(scenario, Options::default()).run_and_keep().expect("it runs to its end");
    let (journal, _) = LocalJournal::simulated(&end.disk, end.journal, 0).expect("the journal opens again");
    exported(&name, &journal)
}

/// What no scenario can bring about: a policy, and a replica set with members.
fn by_hand() -> Exported {
    let disk = SimulatedDisk::new();
    let (journal, _) = LocalJournal::simulated(&disk, Uuid::from_u128(7), 1_000).expect("a new journal");
    let mut hand = Hand { journal: Arc::new(journal), asked: 0 };
    let mut policy = Entity::<policy::State>::new("policy/default".parse().expect("a stream"));
    hand.ask(&mut policy, policy::Command::Revise(Box::default()));
    replica_sets(&mut hand);
    machine_class(&mut hand);
    machine_set(&mut hand);
    provider(&mut hand);
    exported("by-hand", &hand.journal)
}

/// A machine whose node lacks what every node needs: at first, and again once it was well.
fn tainted(desk: &mut Desk) {
    let key = machine::rules::CRITICAL_TAINT.to_owned();
    let taint = Taint { key, value: String::new(), effect: TaintEffect::NoSchedule };
    let node = |taints| machine::NodeFacts { taints, ..machine::NodeFacts::default() };
    desk.declare_machine("bare");
    desk.settle();
    for taints in [vec![taint.clone()], Vec::new(), vec![taint]] {
        desk.report_joined("bare", "1f", node(taints));
        desk.report_node("bare", true);
    }
}

/// Machines that are unhealthy and held, a volume that is lost for a while, and storage that is to be released.
fn at_a_desk() -> Exported {
    use machine::Command::Hold;
    use volume::{Command, Report, Storage};
    let (journal, _) =
        LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(8), 1_000).expect("a new journal");
    let journal = Arc::new(journal);
    let mut desk = Desk::new(journal.clone());
    desk.declare_machine("web");
    desk.declare_volume("data");
    desk.attach("web", "data");
    desk.settle();
    desk.report_node("web", true);
    desk.report_node("web", false);
    desk.report_node("web", true);
    desk.settle();
    let fleet = Fleet::at_head(&*journal).expect("a fleet");
    let effect = match &fleet.volumes.get("data").expect("it is declared").storage {
        Storage::Provisioned { made, .. } => made.effect,
        other => panic!("{other:?}"),
    };
    desk.volume("data", Command::Report(Report::Own(volume::OwnReport::Lost { effect })));
    desk.volume("data", Command::Report(Report::Own(volume::OwnReport::Found { effect })));
    desk.lose("web");
    desk.carry_out();
    desk.machine("web", Hold { reason: "somebody looks at it".into(), until: None });
    desk.settle();
    let provider = || "desk".parse().expect("a name");
    let files = filesystem::Spec { provider: provider(), size: SizeMib(8), backing: None, machine: None };
    desk.declare_volume("spare");
    desk.filesystem("files", filesystem::Command::declare(files));
    desk.settle();
    desk.volume("spare", Command::Release);
    desk.filesystem("files", filesystem::Command::Release);
    desk.settle();
    tainted(&mut desk);
    exported("at-a-desk", &journal)
}

/// A deployment that waits for its window and is rolled out, then stuck, paused, and removed.
fn rolled_out() -> Exported {
    use machine_deployment::{Command, Spec};
    let (journal, _) =
        LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(9), 1_000).expect("a new journal");
    let journal = Arc::new(journal);
    let mut desk = Desk::new(journal.clone());
    desk.revise(Document::default());
    let declared = |version: &str| {
        let labels = [("version".to_owned(), version.to_owned())].into();
        let template = machine::Spec { labels, ..machine::Spec::with_provider("desk".parse().expect("a name")) };
        Spec { progress_deadline_ms: Some(1), ..Spec::of(1, template) }
    };
    // The journal begins on a Thursday.
    let friday = Windows(vec![Window { days: [Day::Fri].into(), from_minute: 0, for_ms: 60_000 }]);
    let go_on = |desk: &mut Desk| {
        for _ in 0..8 {
            desk.list();
            desk.settle();
        }
    };
    desk.machine_deployment("web", Command::Declare(declared("v1")));
    go_on(&mut desk);
    let well = Condition { kind: "Ready".into(), healthy: Healthy::Yes, text: String::new() };
    desk.report_conditions("web-1-1", vec![well]);
    go_on(&mut desk);
    desk.machine_deployment("web", Command::Declare(Spec { windows: Some(friday), ..declared("v2") }));
    go_on(&mut desk);
    desk.machine_deployment("web", Command::Hurry);
    go_on(&mut desk);
    while desk.machine_deployment_state("web").is_some_and(|state| state.due().is_some()) {
        desk.wake_next();
        desk.settle();
    }
    desk.machine_deployment("web", Command::Pause);
    go_on(&mut desk);
    desk.machine_deployment("web", Command::Remove);
    go_on(&mut desk);
    exported("rolled-out", &journal)
}

fn exported(name: &str, journal: &LocalJournal) -> Exported {
    let mut lines = Vec::new();
    journal.export(&mut lines).expect("exported");
    (name.to_owned(), lines)
}

struct Hand {
    journal: Arc<LocalJournal>,
    asked: u64,
}

impl Hand {
    /// Has an entity decide a command, as the shell does.
    fn ask<D: Decider<View = NoView>>(&mut self, entity: &mut Entity<D>, command: D::Command) {
        self.asked += 1;
        let policy = Arc::new(PolicyInForce { reference: None, document: Document::default() });
        let now = Timestamp(1_000 + self.asked * 1_000);
        let known = Known { now, policy, view: &NoView, view_at: None, journal: self.journal.id() };
        let id = derived_uuid(&format!("by hand {}", self.asked));
        let request = Request { command, id, principal: "operator".into(), cause: None, cites: Vec::new() };
        let verdict = entity.decide(&request.command, &known);
        let draft = entity.draft(&request, &known, &verdict).expect("a small decision");
        let appended = append_blocking(&*self.journal, vec![draft]).expect("the journal takes it");
        entity.take_in(&appended.entries()[0]).expect("what was stored can be read");
    }
}

fn of(id: u64, votes: bool) -> Member {
    let (votes, priority) = if votes { (None, None) } else { (Some(0), Some(Priority::NONE)) };
    let (address, tags) = (format!("10.0.0.{id}:2380").into(), Tags::default());
    Member { id: MemberId(id), address, tags, votes, priority, other: Default::default() }
}

fn seen(members: &[Member]) -> Observation {
    let status = |member: &Member| MemberStatus {
        id: member.id,
        healthy: true,
        state: if member.id == MemberId(1) { MemberState::Primary } else { MemberState::Secondary },
        lag_ms: Some(1),
    };
    let configuration =
        Configuration { stamp: Stamp { term: 1, version: 1 }, committed: true, members: members.to_vec() };
    Observation { configuration, statuses: members.iter().map(status).collect(), rules: EngineRules::mongodb() }
}

fn machine_class(hand: &mut Hand) {
    use machine_class::Command;
    let content = ClassContent {
        provider: "simulated".parse().expect("a name"),
        provider_spec: "{}".into(),
        secret: None,
        credentials: None,
        node_template: None,
    };
    let mut class = Entity::<machine_class::State>::new("machine-class/small".parse().expect("a stream"));
    hand.ask(&mut class, Command::Declare(Box::new(content)));
    hand.ask(&mut class, Command::Use { machines: vec!["web".parse().expect("a name")] });
    hand.ask(&mut class, Command::RemoveOnceUnused);
}

fn provider(hand: &mut Hand) {
    let mut provider = Entity::<provider::State>::new("provider/simulated".parse().expect("a stream"));
    hand.ask(&mut provider, provider::Command::Hold { reason: "new disks".into(), until: None });
    hand.ask(&mut provider, provider::Command::Unhold);
}

fn machine_set(hand: &mut Hand) {
    use machine_set::{Change, Command, Plan, Spec};
    let template = Arc::new(machine::Spec::with_provider("simulated".parse().expect("a name")));
    let mut set = Entity::<machine_set::State>::new("machine-set/web".parse().expect("a stream"));
    hand.ask(
        &mut set,
        Command::Declare(Spec { replicas: 1, template, priorities: Default::default(), deployment: None }),
    );
    let plan = Plan { stale: Default::default(), change: Change::Create(1) };
    hand.ask(&mut set, Command::BeginPass { plan, names: vec!["web-1".parse().expect("a name")] });
    hand.ask(&mut set, Command::ReportBatch { failed: 1 });
    hand.ask(&mut set, Command::Hold { reason: "an audit".into(), until: None });
}

fn replica_sets(hand: &mut Hand) {
    use replica_set::{Command, Report, Rhythm, Seat, Spec};
    let seat = |number: u16| {
        Seat::at(format!("m{number}").parse().expect("a name"), "127.0.0.1", 7_000 + number, 8_000 + number)
    };
    let spec = Spec {
        engine: "etcd".parse().expect("a name"),
        servers: 3,
        seats: (1..=3).map(seat).collect(),
        one_host: true,
        rhythm: Rhythm::default(),
        space: None,
    };
    let mut set = Entity::<replica_set::State>::new("replica-set/db".parse().expect("a stream"));
    hand.ask(&mut set, Command::Declare(spec));
    let fault = || Fault::new(FaultCode::Unavailable, "nobody answers");
    let round = set.state().phase_at;
    hand.ask(&mut set, Command::Report(Report::LookFailed { round, fault: fault() }));
    hand.ask(&mut set, Command::RetryNow);
    let round = set.state().phase_at;
    hand.ask(&mut set, Command::Report(Report::NotBegun { round }));
    let step = Step { action: Action::Initiate { first: of(1, true) }, because: StepReason::NotBegun };
    let at = set.state().seen_at;
    hand.ask(&mut set, Command::TakeStep { step, seen: at });
    let round = set.state().phase_at;
    hand.ask(&mut set, Command::Report(Report::Stepped { round, outcome: Outcome::Done }));
    let whole = seen(&[of(1, true), of(2, false), of(9, false)]);
    let mut degraded = whole.clone();
    degraded.statuses[0].healthy = false;
    for observation in [whole.clone(), degraded, whole] {
        let round = set.state().phase_at;
        hand.ask(&mut set, Command::Report(Report::Seen { round, observation }));
    }
    members(hand, &set);
}

fn members(hand: &mut Hand, set: &Entity<replica_set::State>) {
    use member::{Command, Part, Picture, Sighting, State, Task};
    let mut show = |name: &str, sighting: Option<(u64, bool)>, part: Option<Part>| {
        let mut member = Entity::<State>::new(format!("member/db:{name}").parse().expect("a stream"));
        let seen = sighting.map(|(id, votes)| Sighting::of(&of(id, votes), None));
        let task = part.map(|part| Task { part, because: StepReason::ReadyToVote });
        let seat = Some("127.0.0.1:7001".to_owned());
        let picture = Picture { as_of: set.version(), seat, seen, task, flagged: false };
        hand.ask(&mut member, Command::Follow(picture));
    };
    show("m1", Some((1, true)), None);
    show("m2", Some((2, false)), None);
    show("m3", None, None);
    show("m4", None, Some(Part::Join));
    show("m5", Some((5, true)), Some(Part::Remove));
}
