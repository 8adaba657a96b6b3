//! Checks that cannot fail are none: the sample with a fault planted into it fails the check that is about it.

use std::sync::Arc;

use bailiwick::{
    clock::SystemClock,
    providers::check::{
        self, Options, Outcome,
        process::{self, ExecSubject, Offers},
    },
};

use crate::support::{Ground, has_python, name, sample};

macro_rules! denies {
    ($kind:literal) => {
        (
            "    while pid := find",
            concat!(
                "    if read(effect, \"",
                $kind,
                "\") and effect not in MADE: raise Fault(\"not-found\", \"\")\n    while pid := find"
            ),
        )
    };
}

macro_rules! storage_denies {
    ($kind:literal) => {
        concat!(
            "delete=provider.delete):\n    if read(effect, \"",
            $kind,
            "\") and effect not in MADE: raise Fault(\"not-found\", \"\")"
        )
    };
}

/// As [`FORGETS`], for the sample with filesystems.
const MADE: (&str, &str) = (
    "def unmount(effect):",
    concat!(
        "MADE = set()\n",
        "work = provider.work\n",
        "def note(verb, kind, item):\n",
        "    if verb in (\"create\", \"attach\"): MADE.add(item[\"effect\"])\n",
        "    return work(verb, kind, item)\n",
        "provider.work = note\n",
        "def unmount(effect):",
    ),
);

/// What is replaced by what, and which check has to notice.
type Plant = (&'static [(&'static str, &'static str)], &'static str);

/// It answers not-found to what it has not made since it started.
const FORGETS: [(&str, &str); 2] = [
    ("MAKE[kind](**item)", "MAKE[kind](**item); MADE.add(effect)"),
    ("def every(kind):", "MADE = set()\ndef every(kind):"),
];
const DENIES_MACHINES: (&str, &str) = denies!("machine");
const DENIES_VOLUMES: (&str, &str) = denies!("volume");
const DENIES_ATTACHMENTS: (&str, &str) = denies!("attachment");

const PLANTS: [Plant; 41] = [
    (&[(r#""version": 1"#, r#""version": 3"#)], "process/greets"),
    (&[("asked = json.loads(line)", "asked = json.loads(line); print(\"{}\")")], "process/greets"),
    (&[(r#""machines": True, "volumes": True"#, r#""x": 1"#)], "process/offers"),
    (&[(r#"and 1 in asked["versions"]"#, "")], "process/other-versions"),
    (&[(r#"and 1 in asked["versions"]"#, r#"and [1] == asked["versions"]"#)], "process/several-versions"),
    (&[(r#"raise Fault("unimplemented","#, r#"raise Fault("internal","#)], "process/unknown-operation"),
    (&[(r#"if "op" in asked:"#, "if True:")], "process/unwanted-cancel"),
    (&[(r#"{"id": asked["id"],"#, r#"{"id": asked["id"] & 0xffffffff,"#)], "process/large-id"),
    (&[("flush=True", "flush=asked[\"id\"] < 3")], "process/several-at-once"),
    (
        &[(
            "        if \"op\" in asked:",
            "        if \"op\" in asked: print(\"{}\", end=\"\" if asked[\"id\"] < 2 else \"\\n\")\n        if \"op\" in asked:",
        )],
        "process/nothing-else",
    ),
    (&[("for line in sys.stdin.buffer:", "for line in iter(sys.stdin.buffer.readline, 0):")], "process/ends"),
    (
        &[(r#" and not read(effect, kind):"#, ":"), (r#"instance="sleep-" + effect"#, "instance=str(time.time())")],
        "creating/same-id-again",
    ),
    (&[(r#"instance="sleep-" + effect"#, r#"instance="sleep""#)], "creating/other-ids"),
    (&[(r#"instance="sleep-" + effect"#, r#"instance="x" * 300"#)], "creating/bounded"),
    (&[("machine=machine,", r#"machine="web","#)], "creating/name"),
    (&[(r#""running" if lives(thing["pid"], effect) else "stopped""#, r#""stopped""#)], "creating/running"),
    (&[(r#""present": seen} if seen else "absent""#, r#""present": seen} if seen else "unknown""#)], "finding/absent"),
    (&[("for item in asked[\"items\"]]", "for item in sorted(asked[\"items\"], key=str)]")], "finding/order"),
    (&[(r#""complete": True"#, r#""complete": False"#)], "listing/complete"),
    (&[(r#""items": rest[:100]"#, r#""items": rest[1:100]"#)], "listing/never-lies"),
    (&[("if rest[100:] else None", "if rest[500:] else None")], "listing/many"),
    (&[("home(gone), ignore_errors", r#"home(gone) + "x", ignore_errors"#)], "deleting/gone"),
    (&[("start_new_session=True", "start_new_session=False")], "restarting/listed"),
    (&[(r#"if any(held["volume_effect"] == volume_effect for"#, "if any(False for")], "attachments/one-at-a-time"),
    (&[(r#"if any(held["volume_effect"] == effect for"#, "if any(False for")], "attachments/holds"),
    (&[("read_only=read_only", "read_only=False")], "attachments/read-only"),
    (&[("if not read(machine_effect, \"machine\") or", "if False or")], "attachments/no-machine"),
    (&[(r#"("delete", "destroy", "detach"):"#, r#"("delete", "destroy"):"#)], "attachments/detached"),
    (&[("if not 1 <= size_mib <= 1 << 40:", "if False:")], "volumes/absurd-size"),
    (
        &[(r#" and not read(effect, kind):"#, ":"), (r#"volume_id="file-" + effect"#, "volume_id=str(time.time())")],
        "volumes/same-id-again",
    ),
    (
        &[("seen = read(effect, kind)\n", "seen = read(effect, kind) or read(effect, \"volume\")\n")],
        "volumes/no-machines",
    ),
    (
        &[(
            r#"os.path.realpath(asked["state_dir"])"#,
            r#"os.path.realpath(asked["state_dir"]) + str(os.getpid()); os.makedirs(STATE)"#,
        )],
        "restarting/found",
    ),
    (&[("every(noun[:-1])", "every(\"machine\")")], "volumes/listed"),
    (&[("        os.rename(home(effect), home(\"released/\" + effect))", "        pass")], "volumes/released"),
    (&[("+ [effect]:", "+ os.listdir(STATE):")], "deleting/others-stay"),
    (
        &[(
            "    while pid := find",
            "    if not os.path.isdir(home(effect)): raise Fault(\"not-found\", \"\")\n    while pid := find",
        )],
        "deleting/never-made",
    ),
    (&[FORGETS[0], FORGETS[1], DENIES_MACHINES], "not-found/machines"),
    (&[FORGETS[0], FORGETS[1], DENIES_VOLUMES], "not-found/volumes"),
    (&[FORGETS[0], FORGETS[1], DENIES_ATTACHMENTS], "not-found/attachments"),
    (
        &[(
            "    pid = find(effect) or",
            "    os.system(\"true \" + \" \".join(_[\"labels\"]))\n    pid = find(effect) or",
        )],
        "hostile/no-shell",
    ),
    (
        &[(
            "    pid = find(effect) or",
            "    open(home(effect) + \"/\" + machine * 9, \"w\").close()\n    pid = find(effect) or",
        )],
        "hostile/longest-name",
    ),
];

/// As [`PLANTS`], for the sample with filesystems.
const STORAGE_PLANTS: [Plant; 9] = [
    (&[("size_mib=size_mib)", "size_mib=size_mib - 1)")], "filesystems/large-enough"),
    (&[("filesystem_id=\"directory-\" + effect", "filesystem_id=\"x\" * 300")], "filesystems/effect-id"),
    (&[("mount_point=path or files", "mount_point=\"files\"")], "mounts/path"),
    (&[("read_only=read_only", "read_only=False")], "mounts/read-only"),
    (&[("(\"lookup\", \"filesystem-attachments\")", "(\"lookup\", \"others\")")], "mounts/found"),
    (&[("if any(held[\"filesystem_effect\"] == effect for", "if any(False for")], "mounts/holds"),
    (&[("if not read(machine_effect, \"machine\") or", "if False or")], "mounts/no-machine"),
    (&[MADE, ("delete=provider.delete):", storage_denies!("filesystem"))], "not-found/filesystems"),
    (&[MADE, ("delete=provider.delete):", storage_denies!("mount"))], "not-found/mounts"),
];

#[tokio::test]
#[ignore = "takes long"]
async fn every_planted_fault_is_found() {
    are_found("provider.py", &PLANTS).await;
}

#[tokio::test]
#[ignore = "takes long"]
async fn every_fault_planted_into_filesystems_is_found() {
    are_found("storage_provider.py", &STORAGE_PLANTS).await;
}

async fn are_found(program: &str, plants: &[Plant]) {
    if !has_python() {
        return;
    }
    let text = std::fs::read_to_string(sample().with_file_name(program)).unwrap();
    for &(replacements, check) in plants {
        let ground = Ground::new();
        let mut planted = text.clone();
        for (from, to) in replacements {
            assert!(planted.contains(from), "the sample has no {from}");
            planted = planted.replace(from, to);
        }
        // What one shares with the other lies beside it.
        std::fs::copy(sample(), ground.path().join("provider.py")).unwrap();
        let file = ground.path().join("planted.py");
        std::fs::write(&file, planted).unwrap();
        let mut config = ground.config(&["python3", file.to_str().unwrap()]);
        config.limits.hello_time = std::time::Duration::from_secs(2);
        let (mut lines, _) = process::run(&config, Some(check), |_| ()).await.unwrap();
        let offers = Offers { machines: true, volumes: true, filesystems: true };
        let subject = Arc::new(ExecSubject::new(config, offers, Arc::new(SystemClock::new())));
        let options = Options { only: Some(check.to_owned()), ..Options::new(name("lab")) };
        lines.extend(check::run(subject, &options, |_| ()).await.unwrap());
        let judged: Vec<_> = lines.iter().filter(|line| line.id == check).map(|line| line.outcome).collect();
        assert_eq!(judged, [Outcome::Failed], "{check} does not notice {replacements:?}");
    }
}
