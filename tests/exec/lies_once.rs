//! A whole node over a process that is wrong about each thing once, at random: nothing is left behind, and nobody has to say
//! `retry`.

use std::path::Path;

use bailiwick::{
    Config, Node, manifest,
    plan::{Going, Prune},
    view,
};
use uuid::Uuid;

use crate::support::{Ground, eventually, has_python, sample};

/// The sample, but for the first answer to each operation on each thing. It is drawn by the seed: a fault of any code, before
/// or after the work is done; `not-found` to what is there; and a delete that is said to be done and is not.
const LIAR: &str = r#"
import random, sys
sys.dont_write_bytecode = True
import provider
dice, told, work = random.Random(int(sys.argv[1])), set(), provider.work
CODES = """canceled unknown invalid-argument deadline-exceeded not-found already-exists permission-denied
    resource-exhausted failed-precondition aborted out-of-range unimplemented internal unavailable data-loss
    unauthenticated uninitialized""".split()

def lie(verb, kind, item):
    effect = item if isinstance(item, str) else item["effect"]
    if (verb, effect) in told or verb == "lookup":
        return work(verb, kind, item)
    told.add((verb, effect))
    choice = dice.choice(("truth", "before", "after", "not-found", "done"))
    ends = verb in ("delete", "destroy", "detach")
    if choice == "truth" or (choice == "done" and not (ends and kind in ("machine", "volume"))):
        return work(verb, kind, item)
    print(choice, verb, kind, effect, file=sys.stderr)
    if choice == "done":
        return {"ok": None}
    if choice == "after":
        work(verb, kind, item)
    raise provider.Fault("not-found" if choice == "not-found" else dice.choice(CODES), "a lie")

provider.work = lie
provider.main()
"#;

const FLEET: &str = "
apiVersion: bailiwick/v1
kind: Policy
metadata: {name: default}
spec:
  machines: {retryFirst: 1ms, retryMax: 20ms, poll: 100ms, attemptsMax: 0}
  storage: {retryFirst: 1ms, retryMax: 20ms}
  harvest: {mode: destroyed, sightingsMin: 2, grace: 0s}
";

fn manifest() -> String {
    let one = |n: u32| {
        format!(
            "---
apiVersion: bailiwick/v1
kind: Machine
metadata: {{name: m{n}}}
spec: {{provider: lab}}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {{name: v{n}}}
spec: {{provider: lab, size: 1M}}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {{machine: m{n}, volume: v{n}}}
"
        )
    };
    let all: String = (0..MACHINES).map(one).collect();
    format!("{FLEET}{all}")
}

const MACHINES: u32 = 4;

/// What the provider has, by its directories.
fn things(state: &Path) -> Vec<String> {
    let names = std::fs::read_dir(state).into_iter().flatten();
    let names = names.map(|entry| entry.unwrap().path()).filter(|path| path.join("thing.json").exists());
    names.map(|path| path.display().to_string()).collect()
}

fn live(seed: u32) {
    let ground = Ground::new();
    let file = ground.path().join("liar.py");
    std::fs::write(&file, LIAR).unwrap();
    std::fs::copy(sample(), ground.path().join("provider.py")).unwrap();
    let data = ground.path().join("data");
    let exec = ground.config(&["python3", file.to_str().unwrap(), &seed.to_string()]);
    let state = exec.state_dir();
    let node = Node::start(Config::new(&data).exec_provider(exec).without_socket()).unwrap();
    let handle = node.handle();
    let text = manifest();
    let wishes =
        manifest::parse(&[manifest::Source::new("fleet", text.as_bytes())], &manifest::Known::default()).unwrap();
    handle.wait(handle.apply(&wishes.documents, Prune::No, Uuid::new_v4())).unwrap();
    let open = |handle: &bailiwick::Handle| handle.look(|fleet| view::pending(fleet).len()).unwrap();
    eventually(&format!("seed {seed}: everything is there"), || open(&handle) == 0);
    assert_eq!(things(&state).len(), 3 * MACHINES as usize);
    let streams = handle.look(view::declared).unwrap();
    handle.wait(handle.remove(&streams, Going::default(), Uuid::new_v4())).unwrap();
    eventually(&format!("seed {seed}: nothing is declared any more"), || open(&handle) == 0);
    eventually(&format!("seed {seed}: and nothing is left behind"), || things(&state).is_empty());
    node.stop().unwrap();
}

#[test]
#[ignore = "takes long"]
fn a_provider_that_is_wrong_once_leaves_nothing_behind_and_nobody_has_to_say_retry() {
    if has_python() {
        (0..4).for_each(live);
    }
}
