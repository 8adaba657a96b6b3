//! Scenarios beside the stories they must produce. `BLESS=1` writes the stories anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use bailiwick::{
    chaos::day,
    simulation::{self, Options, ScenarioFile, Simulation},
};
use bailiwick_actors::{
    attachment,
    contract::{Code, Decider},
    machine, machine_class, machine_deployment, machine_set, member, policy, provider, replica_set, storage,
    supervisor::{machine_sets, machines, replica_sets, storage as storage_supervisor},
};

/// The story, and how often each reason was given.
fn told(path: &Path) -> (String, BTreeMap<String, u64>) {
    let scenario = simulation::read(path).unwrap_or_else(|error| panic!("{error}"));
    let expect = scenario.expect.clone();
    let report = simulation::simulation(scenario, Options::default()).run().unwrap_or_else(|error| panic!("{error:?}"));
    let unmet = expect.unmet(&report);
    assert!(unmet.is_empty(), "{path:?}: {unmet:?}\n{}", report.text(&unmet));
    (report.text(&unmet), report.reasons)
}

/// Those of many kinds: what goes wrong beside them leads to the most reasons.
const ON_A_BAD_DAY: [&str; 3] = ["machine-deployment", "replica-set", "set-storage"];

/// The reasons that are given when much goes wrong beside what the script says.
fn on_a_bad_day(path: &Path) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(path).unwrap();
    let day = day(&ScenarioFile::parse(path, &text).unwrap(), path, 1, true).unwrap();
    let report = Simulation::of(day.scenario(path).unwrap()).run().unwrap_or_else(|error| panic!("{error:?}"));
    report.reasons
}

/// The reasons of some kinds, each as it is told of one of them.
fn reasons<R: Code>(kinds: &[&str], all: &[R]) -> Vec<Vec<String>> {
    all.iter().map(|reason| kinds.iter().map(|kind| format!("{kind} {}", reason.code())).collect()).collect()
}

fn all_reasons() -> Vec<Vec<String>> {
    [
        reasons(&[machine::State::KIND], machine::Reason::ALL),
        reasons(&[machine_class::State::KIND], machine_class::Reason::ALL),
        reasons(&[machine_deployment::State::KIND], machine_deployment::Reason::ALL),
        reasons(&[machine_set::State::KIND], machine_set::Reason::ALL),
        reasons(&["volume", "filesystem"], storage::Reason::ALL),
        reasons(&["volume-attachment", "filesystem-attachment"], attachment::Reason::ALL),
        reasons(&[replica_set::State::KIND], replica_set::Reason::ALL),
        reasons(&[member::State::KIND], member::Reason::ALL),
        reasons(&[provider::State::KIND], provider::Reason::ALL),
        reasons(&[policy::State::KIND], policy::Reason::ALL),
        reasons(&["supervisor"], machines::Reason::ALL),
        reasons(&["supervisor"], machine_sets::Reason::ALL),
        reasons(&["supervisor"], replica_sets::Reason::ALL),
        reasons(&["supervisor"], storage_supervisor::Reason::ALL),
    ]
    .concat()
}

/// The reasons that no script gives are those that people have read: each has its row in the table of its kind, and here it is dead
/// code or a script that is missing.
fn never_given(given: &BTreeSet<String>) {
    let all = all_reasons();
    let never = all.iter().filter(|told| told.iter().all(|one| !given.contains(one)));
    let never: BTreeSet<&str> = never.filter_map(|told| told.first().map(String::as_str)).collect();
    let list: String = never.iter().map(|reason| format!("{reason}\n")).collect();
    let list = format!("{} of {} reasons are given by some script; never:\n{list}", all.len() - never.len(), all.len());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/texts/reasons-no-script-gives.txt");
    if env::var_os("BLESS").is_some() {
        fs::write(golden, list).unwrap();
    } else {
        assert_eq!(list, fs::read_to_string(golden).unwrap_or_default(), "BLESS=1 keeps it");
    }
}

#[test]
#[ignore = "takes long"]
fn every_script_tells_its_story() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scripts: Vec<_> = fs::read_dir(root.join("tests/scripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 6);
    let (mut differing, mut given) = (Vec::new(), BTreeSet::new());
    for script in scripts {
        let ((story, reasons), golden) = (told(&script), script.with_extension("story"));
        given.extend(reasons.into_keys());
        if script.file_stem().is_some_and(|name| ON_A_BAD_DAY.iter().any(|bad| name == *bad)) {
            given.extend(on_a_bad_day(&script).into_keys());
        }
        if env::var_os("BLESS").is_some() {
            fs::write(&golden, &story).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != story {
            differing.push(format!("{}\n{story}", script.display()));
        }
    }
    never_given(&given);
    assert!(differing.is_empty(), "other stories than before (BLESS=1 keeps them):\n{}", differing.join("\n\n"));
}

#[test]
fn the_example_comes_out_as_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenario.yaml");
    assert!(told(&path).0.contains("the node is killed"));
}

#[test]
fn a_bad_scenario_is_refused_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.yaml");
    let cases = [
        ("until: 1h\nuntli: 2h\n", "untli"),
        ("until: 1h\nevents:\n  - {at: 5m, kil: alpha}\n", "kil"),
        ("until: soon\n", "until"),
        ("until: 1h\nevents: [{at: 5m}]\n", "events[0]"),
        ("until: 1h\nmanifest: |\n  kind: Machine\n", "manifest"),
        ("until: 1h\nseed: -1\n", "line 2"),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        let error = simulation::read(&path).expect_err(text);
        assert!(format!("{error}").contains(expected), "{text}: {error}");
    }
}
