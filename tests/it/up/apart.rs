//! Workloads that run as a user of their own: what they can do, and what they cannot.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::{
    inside::{Inside, inside},
    support::{QUICK, eventually},
};

/// Nobody's number: the system need not know a user to run something as it.
const USER: &str = "64990:64991";

/// What a workload tries, each with a line of its own; at the end nothing of it goes on but the workload itself.
const TRIES: &str = r#"
[ -n "$BAILIWICK_FILESYSTEM_FILES$BAILIWICK_FILESYSTEM_MEMORY$BAILIWICK_FILESYSTEM_BOUND" ] || exec sleep 86400
[ -n "$BAILIWICK_VOLUME_IMAGE" ] && [ -n "$BAILIWICK_FILESYSTEM_FILES" ] && [ -n "$BAILIWICK_FILESYSTEM_BOUND" ] || exec sleep 86400
try() { told="$1"; shift; if "$@" >/dev/null 2>&1; then echo "$told: yes"; else echo "$told: no"; fi; }
is_written() { echo mine > "$1" && cat "$1"; }
goes_in() { dd if=/dev/zero of="$1" bs=1 count=1 conv=notrunc; }
MACHINE=$BAILIWICK_MACHINE_DIR
{
    echo "user: $(id -u) $(id -g) $(id -G)"
    try own-directory is_written ./file
    for name in FILES MEMORY BOUND; do eval "try \$name is_written \$BAILIWICK_FILESYSTEM_$name/file"; done
    try image goes_in "$BAILIWICK_VOLUME_IMAGE"
    try says-of-its-machine cat "$MACHINE/node.json"
    try token cat "$MACHINE/token"
    try machine cat "$MACHINE/machine.json"
    try change-machine is_written "$MACHINE/node.json"
    try list-machine ls "$MACHINE"
    try list-machines ls "$MACHINE/.."
    try list-data ls "$DATA"
    try key cat "$DATA/node.key"
    try journal ls "$DATA/journal"
    try agents-log cat "$MACHINE/agent.log"
    try replace mv "$MACHINE/node.json" "$MACHINE/other.json"
    try signal-agent kill -0 $PPID
    try ask-node "$PROGRAM" --data-dir "$DATA" status
    try command-node "$PROGRAM" --data-dir "$DATA" hold machine/keeper --reason x
} > tried.new
mv tried.new tried
exec sleep 86400
"#;

/// The lab of the examples whose machine runs this, with a volume that is an image beside it.
fn manifest(inside: &Inside) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/storage.yaml");
    let text = fs::read_to_string(examples).expect("an example");
    let script: String = TRIES.lines().map(|line| format!("        {line}\n")).collect();
    let (data, program) = (inside.lab.data().display(), env!("CARGO_BIN_EXE_bailiwick"));
    let workload = format!(
        "spec:\n  provider: local\n  workloads:\n  - name: tries\n    env: {{DATA: \"{data}\", PROGRAM: \"{program}\"}}\n    command:\n    \
         - sh\n    - -c\n    - |\n{script}"
    );
    let image = "---\napiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: image}\nspec: {provider: local, size: 1M}\n---\n\
                 apiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {machine: keeper, volume: image}\n";
    let with = text.replacen("spec: {provider: local}\n", &workload, 1) + image;
    inside.lab.manifest("apart.yaml", with)
}

/// What the directory that leads to the data directory lets others do.
fn set_mode_above(inside: &Inside, mode: u32) {
    let above = inside.lab.data().parent().expect("a directory");
    fs::set_permissions(above, fs::Permissions::from_mode(mode)).expect("set");
}

#[test]
fn a_workload_with_a_user_of_its_own_uses_its_storage_and_has_no_way_to_the_node() {
    let Some(inside) = inside() else { return };
    set_mode_above(&inside, 0o711);
    let (manifest, quick) = (manifest(&inside), inside.lab.manifest("quick.yaml", QUICK));
    let node = inside.lab.start(&["up", &manifest, &quick, "--workload-user", USER]);
    node.says("ready");
    let work = fs::read_dir(inside.lab.local().join("machines")).expect("machines").next().expect("one").expect("it");
    let work = work.path().join("work/tries");
    eventually("it has tried everything", || work.join("tried").exists());
    let tried = fs::read_to_string(work.join("tried")).expect("it is there");
    let (can, cannot): (Vec<&str>, Vec<&str>) = tried.lines().skip(1).partition(|line| line.ends_with(": yes"));
    assert_eq!(tried.lines().next(), Some("user: 64990 64991 64991"));
    let names = |lines: Vec<&str>| -> Vec<String> {
        lines.iter().map(|line| line.split(':').next().unwrap_or_default().to_owned()).collect()
    };
    let its_own = ["own-directory", "FILES", "MEMORY", "BOUND", "image", "says-of-its-machine"];
    assert_eq!(names(can), its_own, "{tried}");
    assert_eq!(cannot.len(), 13, "{tried}");
    // What is run in its place runs as it does.
    let ran = inside.lab.run(&["exec", "keeper", "--", "sh", "-c", "id -u; id -G; cat file"]);
    assert_eq!(ran.code(0).out, "64990\n64991\nmine\n");
    // The node starts again on what is there, and closes nothing to who is at work.
    assert_eq!(node.stopped().code, Some(0));
    let node = inside.lab.start(&["serve", "--workload-user", USER]);
    node.says("listening");
    let ran = inside.lab.run(&[
        "exec",
        "keeper",
        "--",
        "sh",
        "-c",
        "cat $BAILIWICK_FILESYSTEM_FILES/file; cat $BAILIWICK_FILESYSTEM_BOUND/file",
    ]);
    assert_eq!(ran.code(0).out, "mine\nmine\n");
    assert_eq!(node.stopped().code, Some(0));
    inside.lab.down();
    inside.nothing_left("gone");
}

#[test]
fn a_node_says_why_its_workloads_cannot_have_a_user_of_their_own() {
    let Some(inside) = inside() else { return };
    set_mode_above(&inside, 0o700);
    let refused = inside.lab.run(&["serve", "--workload-user", USER]);
    assert_eq!(refused.code, Some(78), "{refused:?}");
    let above = inside.lab.data().parent().expect("a directory").display().to_string();
    assert!(refused.err.contains(&format!("{above} is closed to it")), "{}", refused.err);
    for nobody in ["root", "0:0", "no-such-user", "1:", ""] {
        let refused = inside.lab.run(&["serve", "--workload-user", nobody]);
        assert_eq!(refused.code, Some(64), "{nobody}: {refused:?}");
    }
}
