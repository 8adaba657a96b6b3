//! Journals of a busy desk, and of a node that was given the shipped examples, swept.

use std::{path::Path, sync::Arc};

use bailiwick_actors::{
    machine::{self, juju},
    policy::{Document, WhenLost},
    storage_rules::{PoolSettings, ProviderType, StorageConfig},
    testing::Desk,
    vocab::{Fault, FaultCode, InstanceId, Timestamp, Zone},
    volume,
};
use bailiwick_journal::{
    Config, Draft, Entry, Identity, Journal, LocalJournal, Position, ReadOnlyJournal, Settings, import_as,
};
use uuid::Uuid;

use super::{Ending, InFlight, Repro, Setup, Sweep, Trial, Verdict, sweep};
use crate::{
    audit::tests::journals::{ID, busy, copied_to},
    manifest::{Known, Source},
    simulation::{self, Happening, Options, Planned, Scenario, Simulation},
};

/// A journal on a real disk, written by a busy desk; each entry as `change` leaves it.
fn swept(change: impl FnMut(&Entry, &mut Draft), setup: Setup) -> Sweep {
    let scratch = tempfile::tempdir().expect("a folder");
    let (first, second) = (scratch.path().join("first"), scratch.path().join("second"));
    let journal = open(&first);
    busy(&journal);
    let copy = open(&second);
    copied_to(&*journal, &copy, change);
    drop((journal, copy));
    let journal = ReadOnlyJournal::open(&second).expect("a closed journal");
    sweep(&journal, setup, &|_, _| true).expect("it can be swept")
}

fn open(dir: &Path) -> Arc<dyn Journal> {
    let config = Config { dir: dir.to_owned(), now_ms: 1_000, id: Some(ID), settings: Settings::default() };
    Arc::new(LocalJournal::open(config).expect("a new journal").0)
}

#[test]
fn a_node_converges_from_every_prefix_of_an_honest_journal() {
    let sweep = swept(|_, _| (), Setup::default());
    assert!(sweep.is_good(), "{:?}", sweep.trials.iter().filter(|t| t.ending != Ending::Converged).collect::<Vec<_>>());
    assert!(sweep.boundaries > 30 && sweep.converged > sweep.boundaries, "{sweep:?}");
    assert_eq!(sweep.trials.len(), sweep.converged);
}

#[test]
fn a_machine_that_an_operator_let_go_is_not_stuck() {
    converges_after(|desk| drop(desk.machine("db", machine::Command::Disown)));
}

#[test]
fn a_machine_that_waits_for_a_client_is_not_stuck() {
    // given machines of which one waits to be made, one runs, and one waits to be ended
    converges_after(|desk| {
        let external = Arc::new(machine::Spec::with_provider("external".parse().expect("a name")));
        for (name, is_made, is_going) in [("0", false, false), ("1", true, false), ("2", true, true)] {
            desk.machine(name, machine::Command::Declare(external.clone()));
            if is_made {
                let new = juju::NewInstance {
                    instance: InstanceId(format!("i-{name}")),
                    nonce: Some([7; 32]),
                    display_name: String::new(),
                    hardware: juju::Hardware::default(),
                    profiles: Vec::new(),
                    devices: Vec::new(),
                };
                desk.machine(name, machine::Command::Client(juju::Command::SetInstance(Box::new(new))));
            }
            if is_going {
                desk.machine(name, machine::Command::Remove);
            }
        }
    });
}

#[test]
fn a_machine_that_is_held_has_its_time_when_the_hold_ends() {
    converges_after(|desk| {
        // The hold ends just before two hours, which is as long as a node has, are over.
        let until = Some(Timestamp(desk.now.0 + 7_199_000));
        desk.machine("db", machine::Command::Hold { reason: "its disk".into(), until });
        desk.lose("db").expect("it has an instance");
    });
}

fn converges_after(asked: impl FnOnce(&mut Desk)) {
    let scratch = tempfile::tempdir().expect("a folder");
    let journal = open(scratch.path());
    let mut desk = busy(&journal);
    asked(&mut desk);
    desk.settle();
    drop((desk, journal));
    let journal = ReadOnlyJournal::open(scratch.path()).expect("a closed journal");
    let sweep = sweep(&journal, Setup::default(), &|_, _| true).expect("it can be swept");
    assert!(sweep.is_good(), "{:?}", sweep.trials.iter().filter(|t| t.ending != Ending::Converged).collect::<Vec<_>>());
}

#[test]
fn a_node_that_has_no_time_is_stuck() {
    let sweep = swept(|_, _| (), Setup { until_ms: 1, ..Setup::default() });
    assert!(sweep.stuck > 0 && sweep.awaits_operator == 0 && !sweep.is_good(), "{sweep:?}");
}

#[test]
fn a_decision_that_does_not_replay_is_a_violation_from_there_on() {
    let mut changed = None;
    let change = |entry: &Entry, draft: &mut Draft| {
        if changed.is_none() && entry.header.meta.code == "worth-retrying" {
            draft.meta.code = "else".into();
            changed = Some(entry.header.position.0);
        }
    };
    let sweep = swept(change, Setup::default());
    let (before, after): (Vec<_>, Vec<_>) = sweep.trials.iter().partition(|trial| trial.position < changed.unwrap());
    assert!(before.iter().all(|trial| trial.ending == Ending::Converged));
    assert!(!after.is_empty() && after.iter().all(|trial| matches!(trial.ending, Ending::Violated { .. })));
}

/// A journal, written by a busy desk, in which one decision is another one than follows.
fn with_a_fault(dir: &Path) -> ReadOnlyJournal {
    let (first, second) = (dir.join("first"), dir.join("second"));
    let (journal, copy) = (open(&first), open(&second));
    busy(&journal);
    copied_to(&*journal, &copy, |entry, draft| {
        if entry.header.meta.code == "worth-retrying" {
            draft.meta.code = "else".into();
        }
    });
    drop((journal, copy));
    ReadOnlyJournal::open(&second).expect("a closed journal")
}

#[test]
fn a_start_that_does_not_converge_is_a_file_that_says_the_same_wherever_it_is_run() {
    // given a sweep that finds something
    let scratch = tempfile::tempdir().expect("a folder");
    let journal = with_a_fault(scratch.path());
    let setup = Setup { every: 7.try_into().expect("at least 1"), ..Setup::default() };
    let swept = sweep(&journal, setup, &|_, _| true).expect("it can be swept");
    let found = swept.trials.iter().find(|trial| matches!(trial.ending, Ending::Violated { .. })).expect("a violation");
    // when it is written and read
    let at = scratch.path().join("find.bwrepro");
    let find = Repro::of_trial(&journal, found, setup).expect("a find");
    find.write(&at).expect("written");
    let read = Repro::read(&at).expect("read");
    // then it is the same, and comes to the same
    assert_eq!(read, find);
    assert_eq!(read.run(&at).expect("it can be run"), find.found);
    let Verdict::Violated { wrong } = &find.found.verdict else { panic!("{find:?}") };
    assert!(!wrong.is_empty());
}

#[test]
fn each_call_under_way_happens_alone_as_well() {
    let each = swept(|_, _| (), Setup::default());
    let both = swept(|_, _| (), Setup { each_call: false, ..Setup::default() });
    let alone =
        |sweep: &Sweep| sweep.trials.iter().filter(|trial| matches!(trial.in_flight, InFlight::Only(_))).count();
    assert!(alone(&each) > 5 && alone(&both) == 0, "{} and {}", alone(&each), alone(&both));
    assert_eq!(each.trials.len() - alone(&each), both.trials.len());
    let is_one_of = |trial: &Trial| match &trial.in_flight {
        InFlight::Only(objects) => objects.len() == 1 && 1 < trial.calls && objects[0].contains('/'),
        _ => true,
    };
    assert!(each.trials.iter().all(is_one_of), "{each:?}");
}

#[test]
fn only_what_is_asked_for_is_swept() {
    let setup = Setup { from: Position(10), to: Some(Position(20)), every: 3.try_into().unwrap(), ..Setup::default() };
    let sweep = swept(|_, _| (), setup);
    assert!(sweep.boundaries <= 4 && sweep.trials.iter().all(|trial| (10..=20).contains(&trial.position)));
}

/// The journal of a node that was given a manifest and had an hour for it, swept from every n-th prefix.
fn swept_manifest(manifest: &str, every: usize) -> Sweep {
    let scenario = Scenario::of_manifest(manifest).unwrap_or_else(|error| panic!("{error:?}"));
    let mut simulation = Simulation::of(scenario);
    simulation.until_ms = 3_600_000;
    let (report, kept) = simulation.run_and_keep().expect("it runs");
    assert!(report.wrong.is_empty(), "{:?}", report.wrong);
    let journal = ReadOnlyJournal::open_on(Arc::new(kept.disk)).expect("a journal that nobody has open");
    let setup = Setup { every: every.try_into().expect("at least 1"), ..Setup::default() };
    sweep(&journal, setup, &|_, _| true).expect("it can be swept")
}

fn bad(sweep: &Sweep) -> Vec<&Trial> {
    sweep.trials.iter().filter(|trial| trial.ending != Ending::Converged).collect()
}

#[test]
#[ignore = "takes long"]
fn a_node_converges_from_every_prefix_of_what_the_examples_leave() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (example, every) in [("storage", 1), ("lab", 1), ("gardener", 1), ("etcd", 2), ("fleet", 2), ("stateful", 2)] {
        let manifest = std::fs::read_to_string(root.join(format!("{example}.yaml"))).expect("an example");
        let sweep = swept_manifest(&manifest, every);
        assert!(sweep.boundaries > 5, "{example}: {sweep:?}");
        assert_eq!(sweep.converged, sweep.trials.len(), "{example}: {:#?}", bad(&sweep));
        let slowest = sweep.trials.iter().filter_map(|trial| trial.converged_ms).max();
        assert!(slowest.is_some_and(|ms| ms < Setup::default().until_ms / 2), "{example}: {slowest:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn a_node_converges_from_every_prefix_while_rollouts_wait_for_their_window_and_failed_machines_are_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    // The hour in which a rollout may go on is over within five hours, and it waits for the next one.
    for (script, every, hours) in [("windows", 6, 5), ("kept", 4, 2)] {
        let scenario = simulation::read(&root.join(format!("{script}.yaml"))).expect("a scenario");
        let (report, kept) = simulation::simulation(scenario, Options::default()).run_and_keep().expect("it runs");
        assert!(report.wrong.is_empty(), "{script}: {:?}", report.wrong);
        let journal = ReadOnlyJournal::open_on(Arc::new(kept.disk)).expect("a journal that nobody has open");
        let every = every.try_into().expect("at least 1");
        let setup = Setup { every, until_ms: hours * 3_600_000, ..Setup::default() };
        let sweep = sweep(&journal, setup, &|_, _| true).expect("it can be swept");
        assert!(sweep.boundaries > 10, "{script}: {sweep:?}");
        assert_eq!(sweep.converged, sweep.trials.len(), "{script}: {:#?}", bad(&sweep));
    }
}

/// A set with storage of every form that goes with its machines, whose number or template is changed while it runs, and which
/// goes in the end: swept from every prefix, whatever is left is an error.
#[test]
#[ignore = "takes long"]
fn storage_of_sets_is_made_and_gone_from_every_prefix() {
    let with = |replicas: u32, version: &str, more: &str| {
        format!(
            r"
apiVersion: bailiwick/v1
kind: MachineDeployment
metadata: {{name: db}}
spec:
  replicas: {replicas}
  revisionHistoryLimit: 0
  template:
    metadata: {{labels: {{version: {version}}}}}
    spec:
      provider: simulated
      workloads: [{{name: app, command: [app]}}]
      storage:
        data: {{volume: 'simulated,64M', persistent: false}}
        files: {{filesystem: 'simulated,16M', persistent: false}}
        disk: {{filesystem: 'local,16M', persistent: false}}
        kept: {{volume: 'simulated,8M', persistent: true}}{more}
"
        )
    };
    let manifest = |replicas, version| with(replicas, version, "");
    let wishes = |text: &str| {
        let attributes = [("provider".to_owned(), "simulated".to_owned())].into();
        let settings = PoolSettings { provider: ProviderType::External, attributes };
        let pools = [("fast".parse().expect("a pool's name"), settings)].into();
        let known = Known { storage: StorageConfig { pools, ..Default::default() }, ..Known::default() };
        let manifest = crate::manifest::parse(&[Source::new("db.yaml", text)], &known).expect("good");
        manifest.documents.into_iter().map(|document| document.wish).collect()
    };
    let mut simulation = Simulation::of(Scenario::of_manifest(&manifest(1, "one")).expect("good"));
    let mut at = |at_ms, what| simulation.script.push(Planned { at_ms, what });
    at(600_000, Happening::Vanish("db-1-1".parse().expect("a name")));
    // It comes with the instances of its machines.
    let scratch = "\n        scratch: {volume: 'fast,4M', persistent: false}";
    at(1_800_000, Happening::Apply(wishes(&with(2, "two", scratch))));
    at(3_000_000, Happening::Remove(vec!["machine-deployment/db".parse().expect("a stream")]));
    simulation.until_ms = 7_200_000;
    let (report, kept) = simulation.run_and_keep().expect("it runs");
    assert!(report.wrong.is_empty() && report.converged, "{report:#?}");
    let there = report.statuses.iter().filter(|(_, status)| **status != "removed");
    let left: Vec<&String> = there.map(|(name, _)| name).collect();
    assert!(!left.is_empty() && left.iter().all(|name| name.ends_with("-kept-0")), "{left:?}");
    let journal = ReadOnlyJournal::open_on(Arc::new(kept.disk)).expect("a journal that nobody has open");
    let setup = Setup { every: 3.try_into().expect("at least 1"), ..Setup::default() };
    let sweep = sweep(&journal, setup, &|_, _| true).expect("it can be swept");
    assert!(sweep.boundaries > 30 && sweep.converged == sweep.trials.len(), "{:#?}", bad(&sweep));
}

#[test]
fn a_filesystem_that_nobody_has_attached_yet_is_not_stuck() {
    let manifest = r"
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: disk}
spec: {provider: simulated, size: 64MiB}
---
apiVersion: bailiwick/v1
kind: Filesystem
metadata: {name: files}
spec: {volume: disk}
";
    let sweep = swept_manifest(manifest, 1);
    assert!(sweep.boundaries > 3 && sweep.converged == sweep.trials.len(), "{:#?}", bad(&sweep));
}

#[test]
fn secrets_are_there_as_placeholders() {
    let manifest = r"
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineClass
metadata: {name: sealed}
provider: simulated
secretRef: {name: cloud-key}
---
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineSet
metadata: {name: pool}
spec:
  replicas: 2
  template:
    spec:
      class: {kind: MachineClass, name: sealed}
";
    let sweep = swept_manifest(manifest, 1);
    assert!(sweep.boundaries > 5 && sweep.converged == sweep.trials.len(), "{:#?}", bad(&sweep));
}

#[test]
fn what_waits_for_something_that_was_given_up_is_named_and_not_stuck() {
    let fault = Fault::new(FaultCode::Unavailable, "not now");
    let scratch = tempfile::tempdir().expect("a folder");
    let journal = open(scratch.path());
    let mut desk = busy(&journal);
    let mut document = Document::default();
    document.storage.attempts_max = 1;
    desk.revise(document);
    desk.declare_machine("late");
    desk.faults.insert("volume/big".parse().expect("a stream"), std::iter::repeat_n(fault, 20).collect());
    desk.declare_volume("big");
    desk.attach("late", "big");
    desk.settle();
    drop((desk, journal));
    let journal = ReadOnlyJournal::open(scratch.path()).expect("a closed journal");
    let sweep = sweep(&journal, Setup::default(), &|_, _| true).expect("it can be swept");
    assert!(sweep.is_good() && sweep.given_up > 0, "{:#?}", bad(&sweep));
    let Some(Ending::GivenUp { entities }) = sweep.trials.last().map(|trial| &trial.ending) else {
        panic!("{:#?}", sweep.trials.last());
    };
    let waiting = "volume-attachment/late:big waits for volume/big, which was given up before the start";
    assert_eq!(entities[..], [waiting, "volume/big was given up before the start"]);
    // Nobody who is not waited for keeps the others from being timed.
    assert!(sweep.trials.iter().all(|trial| trial.converged_ms.is_some_and(|ms| ms < 7_200_000)), "{sweep:?}");
}

#[test]
fn what_stays_with_the_journal_that_this_one_was_imported_from_is_named_and_not_stuck() {
    // given: the journal of a node that attached volumes, imported as new
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab.yaml");
    let scenario = Scenario::of_manifest(&std::fs::read_to_string(example).expect("an example")).expect("a manifest");
    let (_, kept) = Simulation::of(scenario).run_and_keep().expect("it runs");
    let old = ReadOnlyJournal::open_on(Arc::new(kept.disk)).expect("a journal that nobody has open");
    let mut lines = Vec::new();
    old.export(&mut lines).expect("exported");
    let new = tempfile::tempdir().expect("a folder");
    import_as(&mut lines.as_slice(), new.path(), Identity::New(Uuid::from_u128(7))).expect("imported");
    // when
    let journal = ReadOnlyJournal::open(new.path()).expect("a closed journal");
    let sweep = sweep(&journal, Setup::default(), &|_, _| true).expect("it can be swept");
    // then
    assert!(sweep.is_good() && sweep.given_up > 0, "{:#?}", bad(&sweep));
    let Some(Ending::GivenUp { entities }) = sweep.trials.last().map(|trial| &trial.ending) else {
        panic!("{:#?}", sweep.trials.last());
    };
    assert!(
        entities.iter().any(|told| told.ends_with(" stays with the journal that this one was imported from")),
        "{entities:?}"
    );
}

#[test]
fn what_a_provider_cannot_do_is_given_up_after_the_start_and_not_stuck() {
    // given: a volume to let go of, and providers that cannot
    let scratch = tempfile::tempdir().expect("a folder");
    let journal = open(scratch.path());
    let mut desk = busy(&journal);
    desk.declare_volume("dreams");
    desk.settle();
    desk.volume("dreams", volume::Command::Release);
    let asked = journal.head().position;
    drop((desk, journal));
    // when
    let journal = ReadOnlyJournal::open(scratch.path()).expect("a closed journal");
    let sweep = sweep(&journal, Setup { from: asked, ..Setup::default() }, &|_, _| true).expect("it can be swept");
    // then
    assert!(sweep.is_good() && sweep.given_up > 0, "{:#?}", bad(&sweep));
    let Some(Ending::GivenUp { entities }) = sweep.trials.last().map(|trial| &trial.ending) else {
        panic!("{:#?}", sweep.trials.last());
    };
    assert_eq!(entities[..], ["volume/dreams was given up after the start: its provider cannot do it"]);
}

/// The manifest of a set, or of a deployment, of so many machines.
fn of_number(kind: &str, replicas: u32) -> String {
    let template = "template: {spec: {provider: simulated}}";
    format!(
        "apiVersion: bailiwick/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec: {{replicas: {replicas}, {template}}}\n"
    )
}

/// Eight machines are protected, and then one is enough: swept from every n-th prefix of what comes of it. The set is frozen.
fn swept_surplus(kind: &str, machines: &str, every: usize) -> Sweep {
    let mut simulation = Simulation::of(Scenario::of_manifest(&of_number(kind, 8)).expect("good"));
    let wishes = {
        let fewer = of_number(kind, 1);
        let manifest = crate::manifest::parse(&[Source::new("web.yaml", fewer)], &Known::default()).expect("good");
        manifest.documents.into_iter().map(|document| document.wish).collect()
    };
    let mut at = |at_ms, what| simulation.script.push(Planned { at_ms, what });
    for number in 1..=8 {
        let entity = format!("machine/{machines}-{number}").parse().expect("a stream");
        at(1_200_000, Happening::Protect { entity, on: true });
    }
    at(1_800_000, Happening::Apply(wishes));
    swept_after(simulation, Setup { every: every.try_into().expect("at least 1"), ..Setup::default() })
}

/// The journal of a simulation of an hour at whose end something is missing, swept.
fn swept_after(mut simulation: Simulation, setup: Setup) -> Sweep {
    simulation.until_ms = 3_600_000;
    let (report, kept) = simulation.run_and_keep().expect("it runs");
    assert!(report.wrong.is_empty() && !report.converged, "{report:#?}");
    let journal = ReadOnlyJournal::open_on(Arc::new(kept.disk)).expect("a journal that nobody has open");
    sweep(&journal, setup, &|_, _| true).expect("it can be swept")
}

#[test]
#[ignore = "takes long"]
fn what_an_operator_has_to_give_a_command_for_is_named_and_not_stuck() {
    for (kind, machines, every) in [("MachineSet", "web", 3), ("MachineDeployment", "web-1", 4)] {
        // when
        let sweep = swept_surplus(kind, machines, every);
        // then
        assert!(sweep.is_good() && sweep.converged > 0 && sweep.awaits_operator > 0, "{:#?}", bad(&sweep));
        let Some(Ending::AwaitsOperator { entities }) = sweep.trials.last().map(|trial| &trial.ending) else {
            panic!("{:#?}", sweep.trials.last());
        };
        let command = format!("machine/{machines}-1 is protected; run `bailiwick unprotect machine/{machines}-1`");
        assert!(!entities.is_empty() && entities.iter().all(|told| told.ends_with(&command)), "{entities:?}");
    }
}

#[test]
fn a_machine_whose_zones_do_not_exist_waits_for_an_operator() {
    // given
    let manifest = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: db}\n\
                    spec: {provider: simulated, constraints: {zones: [c]}}\n";
    let mut simulation = Simulation::of(Scenario::of_manifest(manifest).expect("good"));
    let zones = ["a", "b"].map(|zone| Zone(zone.into())).to_vec();
    let provider = "simulated".parse().expect("a name");
    simulation.script.insert(0, Planned { at_ms: 0, what: Happening::Zones { provider, zones } });
    // when
    let sweep = swept_after(simulation, Setup::default());
    // then
    assert!(sweep.is_good() && sweep.awaits_operator > 0, "{:#?}", bad(&sweep));
    let Some(Ending::AwaitsOperator { entities }) = sweep.trials.last().map(|trial| &trial.ending) else {
        panic!("{:#?}", sweep.trials.last());
    };
    let told = "none of its allowed zones exists; run `bailiwick apply FILE`";
    assert!(entities.iter().any(|entity| entity.ends_with(told)), "{entities:?}");
}

#[test]
fn a_lost_machine_that_the_policy_keeps_waits_for_an_operator() {
    // given
    let scratch = tempfile::tempdir().expect("a folder");
    let journal = open(scratch.path());
    let mut desk = busy(&journal);
    let mut document = Document::default();
    document.machines.when_lost = WhenLost::Keep;
    desk.revise(document);
    desk.lose("db").expect("it has an instance");
    desk.settle();
    drop((desk, journal));
    // when
    let journal = ReadOnlyJournal::open(scratch.path()).expect("a closed journal");
    let sweep = sweep(&journal, Setup::default(), &|_, _| true).expect("it can be swept");
    // then
    assert!(sweep.is_good() && sweep.awaits_operator > 0, "{:#?}", bad(&sweep));
    let Some(Ending::AwaitsOperator { entities }) = sweep.trials.last().map(|trial| &trial.ending) else {
        panic!("{:#?}", sweep.trials.last());
    };
    assert!(entities.iter().any(|told| told.ends_with("; run `bailiwick retry machine/db`")), "{entities:?}");
}
