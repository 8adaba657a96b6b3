//! What only the node and its agents may know is written down in one place each, and said nowhere.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{observe::settled, support::Lab};

#[test]
fn keys_and_tokens_are_nowhere_else() {
    let lab = Lab::new();
    let mut args = lab.up_args();
    args.extend(["--log-level", "trace"].map(str::to_owned));
    let tokens = lab.note_tokens();
    let node = lab.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    node.says("ready; Ctrl-C stops the node");
    let mut said = Vec::new();
    for args in [&["status", "-o", "json"][..], &["log", "-o", "json"], &["get", "machine", "-o", "json"]] {
        let ran = lab.run(&[args, &["--log-level", "trace"]].concat());
        said.extend([ran.out, ran.err]);
    }
    node.signal(rustix::process::Signal::TERM);
    let ran = node.ended().code(0);
    said.extend([ran.out, ran.err]);
    let settled = settled(&lab);
    said.push(lab.run(&["journal", "export", "-"]).code(0).out);

    let key = fs::read(lab.data().join("node.key")).expect("a key");
    // The seed in the form that the key is kept in (RFC 8410).
    let signing = fs::read(lab.data().join("signing.key")).expect("a key")[16..48].to_vec();
    let mut secrets = vec![key.clone(), hex(&key).into_bytes(), hex(&signing).into_bytes(), signing];
    for (effect, _) in settled.machines.values() {
        let token = lab.local().join("machines").join(effect.to_string()).join("token");
        secrets.push(fs::read(token).expect("a token"));
    }
    // What agents join with is random, and stands in a file of its own.
    let tokens = tokens.noted();
    for (effect, _) in settled.machines.values() {
        let (_, secret) = tokens[&effect.to_string()].split_once('.').expect("id and secret");
        secrets.push(secret.as_bytes().to_vec());
    }
    assert!(secrets.iter().all(|secret| secret.len() >= 32));
    let mut files = Vec::new();
    walk(lab.data(), &mut files);
    assert!(files.iter().any(|file| file.starts_with(lab.data().join("journal"))));
    for file in files {
        let may = ["node.key", "signing.key", "token"].iter().any(|name| file.ends_with(name));
        let content = if may || file.ends_with("disk.img") { Vec::new() } else { fs::read(&file).unwrap_or_default() };
        assert!(!has_any(&content, &secrets), "{} holds a secret", file.display());
    }
    for text in said {
        assert!(!has_any(text.as_bytes(), &secrets), "it was said: {text}");
    }
    for process in lab.processes() {
        for place in ["cmdline", "environ"] {
            let content = fs::read(format!("/proc/{}/{place}", process.pid)).unwrap_or_default();
            assert!(!has_any(&content, &secrets), "{place} of {}", process.pid);
        }
    }
}

#[test]
fn only_the_owner_may_look() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    let node = lab.stay();
    for (place, mode) in [
        ("", 0o700),
        ("node.key", 0o600),
        ("signing.key", 0o600),
        ("node.sock", 0o600),
        ("local", 0o700),
        ("enrolment", 0o700),
    ] {
        let found = fs::metadata(lab.data().join(place)).expect("there").permissions().mode() & 0o777;
        assert_eq!(found, mode, "{place}: {found:o}");
    }
    node.kill();
}

fn has_any(content: &[u8], secrets: &[Vec<u8>]) -> bool {
    secrets.iter().any(|secret| content.windows(secret.len()).any(|part| part == secret))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("readable").flatten() {
        let kind = entry.file_type().expect("known");
        if kind.is_dir() {
            walk(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}
