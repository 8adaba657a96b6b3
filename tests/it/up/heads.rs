//! Signed heads: whoever keeps one elsewhere finds out that history was written anew, chain and all.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use super::{
    exec::has_python,
    support::{Lab, Ran, run_in},
};

/// A node that decides something more, and what it signs afterwards. `check` is asked while it runs, too.
fn goes_on(lab: &Lab, names: &[&str], against: &[&str]) -> (String, Vec<Ran>) {
    let node = lab.start(&["serve"]);
    node.says("listening");
    for name in names {
        let text = format!("apiVersion: bailiwick/v1\nkind: Space\nmetadata: {{name: {name}}}\nspec: {{}}\n");
        lab.run(&["apply", &lab.manifest("space.yaml", text)]).code(0);
    }
    let signed = lab.run(&["journal", "head", "-o", "json"]).code(0).out;
    let checked = against.iter().map(|file| check(lab, file)).collect();
    assert_eq!(node.stopped().code, Some(0));
    (signed, checked)
}

fn check(lab: &Lab, against: &str) -> Ran {
    lab.run(&["journal", "check", "--against", against])
}

#[test]
fn a_history_that_was_written_anew_is_not_the_one_that_was_signed() {
    let lab = Lab::new();
    let own = lab.data().join("heads.jsonl");
    let own = own.to_str().expect("text");
    // given what was signed of a history, and what was signed after it went on
    let (first, _) = goes_on(&lab, &["one"], &[]);
    let first = lab.manifest("first.json", first);
    let before = lab.data().with_file_name("before");
    assert!(Command::new("cp").arg("-a").args([lab.data(), &before]).status().expect("copied").success());
    let (second, while_running) = goes_on(&lab, &["two"], &[&first, own]);
    let signed: Value = serde_json::from_str(&second).expect("a head");
    let second = lab.manifest("second.json", second);
    // then it is what is there, whether the node runs or not, also in an export
    let whole = [check(&lab, &first), check(&lab, &second), check(&lab, own)];
    for ran in whole.iter().chain(&while_running) {
        assert!(ran.clone().code(0).out.contains(" match; entries 1 to "), "{ran:?}");
    }
    let export = lab.manifest("export.jsonl", "");
    lab.run(&["journal", "export", &export]).code(0);
    let args = ["journal", "check", "--against", &second, "-o", "json"];
    let of_export = run_in(Path::new(&export), &args).code(0);
    let report: Value = serde_json::from_str(&of_export.out).expect("a report");
    assert_eq!((&report["whole"], &report["against"]["proven"]), (&true.into(), &signed["position"]), "{report}");
    assert_eq!(report["against"]["keys"][0], signed["key"]);
    // and who does not trust our code finds the same
    let verify = |file: &str| {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/verify.py");
        let ran =
            Command::new("python3").arg(program).args([&export, "--against", file]).output().expect("python3 is there");
        (ran.status.code(), String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned())
    };
    let other_key =
        lab.manifest("other.json", fs::read_to_string(&second).expect("read").replace("\"key\": \"", "\"key\": \"00"));
    if has_python() {
        for file in [own, &second] {
            let (code, told) = verify(file);
            assert!(code == Some(0) && told.contains("signed heads match"), "{told}");
        }
        assert_eq!(verify(&other_key).0, Some(6));
    }
    // when the same node, with the same key, decides something else instead
    fs::remove_dir_all(lab.data()).expect("removed");
    fs::rename(&before, lab.data()).expect("put back");
    let (_, while_running) = goes_on(&lab, &["other", "more", "still-more"], &[&first, &second]);
    // then nothing is wrong with the new history by itself, and all that was signed of the old one differs
    lab.run(&["journal", "check"]).code(0);
    check(&lab, own).code(0);
    for [first, second] in [[check(&lab, &first), check(&lab, &second)], while_running.try_into().expect("two")] {
        first.code(0);
        let told = second.code(6).out;
        assert!(told.contains("does not match the journal") && told.contains("0 of 1 match"), "{told}");
    }
}

#[test]
fn a_head_that_was_changed_or_is_somebody_elses_proves_nothing() {
    let lab = Lab::new();
    let (signed, _) = goes_on(&lab, &["one"], &[]);
    let head: Value = serde_json::from_str(&signed).expect("a head");
    let with = |field: &str, value: Value| {
        let mut changed = head.clone();
        changed[field] = value;
        lab.manifest(&format!("{field}.json"), changed.to_string())
    };
    let zeros = "0".repeat(64);
    for (file, why) in [
        (with("position", 1.into()), "the signature is not that of its key"),
        (with("key", zeros.clone().into()), "the signature is not that of its key"),
        (with("hash", "ab".into()), "hash is not 32 bytes"),
        (with("more", 1.into()), "unknown field"),
        (lab.manifest("none.json", "\n"), "there is no head in it"),
        (lab.manifest("text.json", "hello"), "line 1 of"),
    ] {
        let ran = check(&lab, &file).code(65);
        assert!(ran.err.contains("bad-head") && ran.err.contains(why), "{ran:?}");
    }
    let file = lab.manifest("head.json", &signed);
    let key = head["key"].as_str().expect("a key");
    lab.run(&["journal", "check", "--against", &file, "--key", key]).code(0);
    let other = lab.run(&["journal", "check", "--against", &file, "--key", &zeros]).code(65);
    assert!(other.err.contains("signed with another key"), "{other:?}");
    assert_eq!(check(&lab, "/nowhere").code, Some(66));
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str| fs::metadata(lab.data().join(name)).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode("signing.key"), mode("heads.jsonl")), (0o600, 0o600));
    // A stopped node has signed where it stopped; what it has not signed it says.
    let last: Value = serde_json::from_str(&lab.run(&["journal", "head", "-o", "json"]).code(0).out).expect("a head");
    assert!(last["position"].as_u64() >= head["position"].as_u64(), "{last} {head}");
    assert_eq!(lab.run(&["journal", "head", "--block", "1000"]).code, Some(4));
}
