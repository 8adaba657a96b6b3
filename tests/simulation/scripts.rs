//! Scenarios beside the stories they must produce. `BLESS=1` writes the stories anew.

use std::{env, fs, path::Path};

use bailiwick::simulation::{self, Options};

fn told(path: &Path) -> String {
    let scenario = simulation::read(path).unwrap_or_else(|error| panic!("{error}"));
    let expect = scenario.expect.clone();
    let report = simulation::run(scenario, Options::default()).unwrap_or_else(|error| panic!("{error:?}"));
    let unmet = expect.unmet(&report);
    assert!(unmet.is_empty(), "{path:?}: {unmet:?}\n{}", report.text(&unmet));
    report.text(&unmet)
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
    let mut differing = Vec::new();
    for script in scripts {
        let (story, golden) = (told(&script), script.with_extension("story"));
        if env::var_os("BLESS").is_some() {
            fs::write(&golden, &story).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != story {
            differing.push(format!("{}\n{story}", script.display()));
        }
    }
    assert!(differing.is_empty(), "other stories than before (BLESS=1 keeps them):\n{}", differing.join("\n\n"));
}

#[test]
fn the_example_comes_out_as_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenario.yaml");
    assert!(told(&path).contains("the node is killed"));
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
