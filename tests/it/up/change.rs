//! Down, changed manifests, pruning, and all-or-nothing.

use rustix::process::Signal;
use serde_json::Value;

use super::{
    observe::{fleet, nothing_left, settled},
    support::{Lab, QUICK, Ran, Running, eventually},
};

const TWO_MACHINES: &str = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: a}\nspec:\n  provider: local\n  workloads:\n    - \
     {name: w, command: [sleep, '1001']}\n---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: b}\nspec: {provider: local}\n";
const VOLUME: &str =
    "---\napiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: v}\nspec: {provider: local, size: 8M}\n";

fn attachment(machine: &str) -> String {
    format!("---\napiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {{machine: {machine}, volume: v}}\n")
}

/// A lab with quick settings and this manifest, run to its end.
#[track_caller]
fn make(lab: &Lab, text: &str, more: &[&str]) -> Ran {
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", text));
    lab.run(&[&["up", &quick, &file, "--once", "--timeout", "60s"], more].concat()).code(0)
}

fn serve(lab: &Lab) -> Running {
    let node = lab.start(&["serve"]);
    node.says("listening on");
    node
}

#[track_caller]
fn stop(node: Running) {
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// `action entity` of every step.
fn steps(ran: &Ran) -> Vec<String> {
    let steps = json(ran)["steps"].as_array().expect("steps").clone();
    steps.iter().map(|step| format!("{} {}", step["action"], step["entity"]).replace('"', "")).collect()
}

#[test]
fn down_leaves_nothing() {
    let lab = Lab::new();
    lab.up();
    settled(&lab);
    lab.down().says("everything is gone");
    nothing_left(&lab);
    lab.down().says("nothing is declared");
    // And up again goes on in the same streams.
    lab.up();
    settled(&lab);
}

#[test]
fn down_takes_what_is_named() {
    let lab = Lab::new();
    make(&lab, &format!("{TWO_MACHINES}{VOLUME}{}", attachment("a")), &[]);
    lab.run(&["down", "machine/b"]).code(0);
    let left = settled(&lab);
    assert_eq!(left.machines.keys().collect::<Vec<_>>(), ["a"]);
    // A machine takes its attachments with it, and leaves the volume, also if nothing is waited for.
    lab.run(&["down", "machine/a", "--force"]).code(0);
    let left = settled(&lab);
    assert_eq!((left.machines.len(), left.attachments.len(), left.volumes.len()), (0, 0, 1));
    lab.down();
    nothing_left(&lab);
}

#[test]
fn the_storage_that_a_machine_asks_for_comes_and_goes_with_it() {
    let lab = Lab::new();
    let text = TWO_MACHINES.replace(
        "spec: {provider: local}",
        "spec: {provider: local, storage: {logs: 'local,8M,2', data: {volume: 'local,8M', persistent: true}}}",
    );
    make(&lab, &text, &[]);
    let made = settled(&lab);
    assert_eq!(made.volumes.keys().collect::<Vec<_>>(), ["b-data-0", "b-logs-0", "b-logs-1"]);
    let file = lab.manifest("it.yaml", &text);
    let plan = lab.run(&["plan", &file, "-o", "json"]).code(0);
    assert!(steps(&plan).iter().all(|step| step.starts_with("unchanged") || step == "keep policy/default"), "{plan:?}");
    let rows = json(&lab.run(&["storage", "-o", "json"]).code(0));
    assert_eq!(rows[1]["owner"], "machine/b");
    assert_eq!(rows[0]["owner"], Value::Null, "it is persistent");
    lab.run(&["down", "machine/b"]).code(0);
    let left = settled(&lab);
    assert_eq!(left.volumes.keys().collect::<Vec<_>>(), ["b-data-0"]);
    lab.down();
    nothing_left(&lab);
}

#[test]
fn a_changed_workload_is_planned_and_reaches_the_agent() {
    let lab = Lab::new();
    make(&lab, TWO_MACHINES, &[]);
    let before = settled(&lab);
    let sleeps = |seconds: &str| lab.processes().iter().any(|process| process.has_argument(seconds));
    eventually("the first workload runs", || sleeps("1001"));
    let changed = TWO_MACHINES.replace("1001", "1002");
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", &changed));
    let plan = lab.run(&["plan", &quick, &file, "-o", "json"]).code(2);
    assert_eq!(steps(&plan), ["unchanged policy/default", "change machine/a", "unchanged machine/b"]);
    assert_eq!(json(&plan)["steps"][1]["fields"], serde_json::json!(["spec.workloads"]));
    make(&lab, &changed, &[]);
    eventually("the new workload runs and the old one does not", || sleeps("1002") && !sleeps("1001"));
    assert_eq!(settled(&lab), before, "the machine is the same");
    lab.run(&["plan", &quick, &file]).code(0);
}

#[test]
fn one_failure_is_said_and_holds_up_nobody() {
    let lab = Lab::new();
    let huge =
        "---\napiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: huge}\nspec: {provider: local, size: 8E}\n";
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", format!("{TWO_MACHINES}{huge}")));
    let ran = lab.run(&["up", &quick, &file, "--once"]).code(1);
    ran.says("error[failed]").says("volume/huge is failed");
    let sleeps = |seconds: &str| lab.processes().iter().any(|process| process.has_argument(seconds));
    eventually("the others run all the same", || sleeps("1001"));
    lab.run(&["down"]).code(0);
    nothing_left(&lab);
}

#[test]
fn a_provider_that_is_not_there_is_refused_before_anything_is_applied() {
    let lab = Lab::new();
    let nowhere = "---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: z}\nspec: {provider: nowhere}\n";
    let file = lab.manifest("it.yaml", format!("{TWO_MACHINES}{nowhere}"));
    let ran = lab.run(&["up", &file, "--once"]).code(5);
    ran.says("error[no-provider]").says("machine/z names provider nowhere").says("this node has local");
    let plan = lab.run(&["plan", &file, "-o", "json"]).code(2);
    assert_eq!(steps(&plan), ["create machine/a", "create machine/b", "create machine/z"], "nothing was applied");
    assert_eq!(json(&plan)["notes"][0], "no node is running; a running one may refuse some of these changes");
    nothing_left(&lab);
}

#[test]
fn a_plan_is_refused_as_the_apply_would_be() {
    let lab = Lab::new();
    let _node = serve(&lab);
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", format!("{TWO_MACHINES}{VOLUME}")));
    lab.run(&["apply", &quick, &file]).code(0);
    let mounted = "---\napiVersion: bailiwick/v1\nkind: Filesystem\nmetadata: {name: f}\nspec: {provider: directory, size: 1M, \
                   machine: a}\n---\napiVersion: bailiwick/v1\nkind: FilesystemAttachment\nspec: {machine: a, filesystem: f, \
                   path: /srv/f}\n";
    let policy =
        "---\napiVersion: bailiwick/v1\nkind: Policy\nmetadata: {name: default}\nspec: {storage: {mountDir: /srv}}\n";
    let no_path = |text: &str| text.replace(", path: /srv/f", "");
    let cases = [
        (TWO_MACHINES.replace("{provider: local}", "{provider: lokal}"), "no-provider", "did you mean local?"),
        (VOLUME.replace("8M", "16M"), "refused", "volume/v: spec.size is immutable"),
        (format!("{TWO_MACHINES}{mounted}"), "not-mountable", "omit `path`"),
        (format!("{TWO_MACHINES}{}{policy}", no_path(mounted)), "not-mountable", "leave `storage.mountDir` out"),
        (policy.replace("default", "strict"), "refused", "only policy default takes effect"),
    ];
    for (text, code, said) in cases {
        let file = lab.manifest("other.yaml", &text);
        for asked in ["plan", "apply"] {
            lab.run(&[asked, &file]).code(5).says(&format!("error[{code}]")).says(said);
        }
    }
    // Nor is a volume taken over by who only knows those that it has made.
    lab.run(&["import", "volume/old", "--provider", "local", "--volume-id", "vol-1"])
        .code(5)
        .says("error[cannot-import]")
        .says("only knows volumes that it has created");
    // Whichever comes first, the mount or the policy.
    let mounted = lab.manifest("mounted.yaml", format!("{TWO_MACHINES}{}", no_path(mounted)));
    lab.run(&["apply", &mounted]).code(0);
    lab.run(&["plan", &lab.manifest("policy.yaml", policy)]).code(5).says("filesystem/f names no path");
    lab.run(&["plan", &quick, &file]).code(0);
}

#[test]
fn the_same_id_gets_the_first_answer_and_other_content_is_refused() {
    let lab = Lab::new();
    let _node = serve(&lab);
    let (file, id) = (lab.manifest("it.yaml", TWO_MACHINES), "6b1f0f0e-2f5a-4b1e-9c55-0a8d0c1f7e11");
    let first = lab.run(&["apply", &file, "--id", id, "-o", "json"]).code(0);
    let again = lab.run(&["apply", &file, "--id", id, "-o", "json"]).code(0);
    assert_eq!(steps(&again), steps(&first));
    assert_eq!((json(&first)["repeated"].as_bool(), json(&again)["repeated"].as_bool()), (Some(false), Some(true)));
    let other = lab.manifest("other.yaml", TWO_MACHINES.replace("1001", "1002"));
    lab.run(&["apply", &other, "--id", id]).code(5).says("error[command-reused]");
}

#[test]
#[ignore = "takes long"]
fn what_is_not_declared_any_more_goes_only_when_pruned() {
    let lab = Lab::new();
    make(&lab, &format!("{TWO_MACHINES}{VOLUME}{}", attachment("b")), &[]);
    let before = settled(&lab);
    let less = TWO_MACHINES.split("---").next().expect("the first").to_owned();
    make(&lab, &less, &[]).says("3 kept though no longer declared");
    assert_eq!(settled(&lab), before);
    let file = lab.manifest("it.yaml", &less);
    let plan = lab.run(&["plan", &file, "--prune", "-o", "json"]).code(2);
    let mut steps = steps(&plan);
    steps.sort();
    assert_eq!(steps, ["remove machine/b", "remove volume-attachment/b:v", "remove volume/v", "unchanged machine/a"]);
    make(&lab, &less, &["--prune"]);
    let after = settled(&lab);
    assert_eq!((after.machines.len(), after.volumes.len(), after.attachments.len()), (1, 0, 0));
    assert_eq!(after.machines["a"], before.machines["a"]);
}

#[test]
fn a_volume_serves_one_machine_and_apply_is_atomic() {
    let lab = Lab::new();
    make(&lab, &format!("{TWO_MACHINES}{VOLUME}{}", attachment("a")), &[]);
    let before = settled(&lab);
    let node = serve(&lab);
    // One refused document among good ones: a new machine and a second attachment of the volume.
    let mixed = format!("{}{}", TWO_MACHINES.replace("name: b", "name: c"), attachment("c"));
    let file = lab.manifest("mixed.yaml", &mixed);
    let refused = lab.run(&["apply", &file]).code(5);
    refused.says("nothing was applied").says("volume/v");
    let refused = lab.run(&["apply", &file, "-o", "json"]).code(5);
    let error: Value = serde_json::from_str(&refused.err).expect("an error in JSON");
    assert_eq!(error["exit"], 5);
    assert_eq!(refused.out, "");
    stop(node);
    assert_eq!(settled(&lab), before);
    assert!(fleet(&lab).machines.get("c").is_none_or(|machine| !machine.life.exists()), "nothing of it was applied");
    // `up` refuses it as well, in the same way.
    let refused = lab.run(&["up", &file, "--once"]).code(5);
    refused.says("volume/v");
    assert_eq!(settled(&lab), before);
}

#[test]
fn apply_wait_and_delete_reach_a_running_node() {
    let lab = Lab::new();
    let node = serve(&lab);
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", TWO_MACHINES));
    let id = "3f0ad2c6-5b2d-4f0f-9a57-0f6c1a3f7f11";
    let first = lab.run(&["apply", &quick, &file, "--id", id, "-o", "json", "--wait"]).code(0);
    assert_eq!(
        steps(&first),
        ["create policy/default", "create machine/a", "create machine/b"].map(|step| {
            // The node's own first policy is there already.
            step.replace("create policy", "change policy")
        })
    );
    lab.run(&["wait", "--for", "ready"]).code(0);
    lab.run(&["plan", &quick, &file]).code(0);
    lab.run(&["wait", "machine/nobody"]).code(4).says("`bailiwick get machine` lists them");
    // It decides all of its history again while it goes on working.
    let replayed = json(&lab.run(&["audit", "replay", "-o", "json"]).code(0));
    assert!(replayed["decisions"].as_u64().is_some_and(|decisions| decisions > 5), "{replayed}");
    assert_eq!(replayed["divergences"].as_array().map(Vec::len), Some(0), "{replayed}");
    let part = json(&lab.run(&["audit", "replay", "--to", "5", "-o", "json"]).code(0));
    assert_eq!(part["entries"], 5);
    stop(node);
    assert_eq!(settled(&lab).machines.len(), 2);
    let node = serve(&lab);
    let deleted = lab.run(&["delete", "machine/a", "-o", "json"]).code(0);
    assert_eq!(steps(&deleted), ["remove machine/a"]);
    let nothing = lab.run(&["delete", "machine/nobody"]);
    assert!(matches!(nothing.code, Some(0 | 4)), "{nothing:?}");
    eventually("it is gone", || lab.run(&["plan", &file, "-o", "json"]).out.contains("\"create\""));
    stop(node);
    lab.down();
    nothing_left(&lab);
}

#[test]
fn an_earlier_policy_is_shown_compared_and_set_again() {
    // given a policy in three revisions: built in, quick, and one that gives up sooner
    let lab = Lab::new();
    let node = serve(&lab);
    lab.run(&["policy", "diff"]).code(4).says("there is no earlier revision");
    let sooner = QUICK.replacen("machines: {", "machines: {attemptsMax: 3, ", 1);
    for text in [QUICK, &sooner] {
        lab.run(&["apply", &lab.manifest("policy.yaml", text)]).code(0);
    }
    let shown = |revision: &str| json(&lab.run(&["policy", "show", revision, "-o", "json"]).code(0));
    let quick = shown("2");
    assert_eq!(
        (shown("3")["spec"]["machines"]["attemptsMax"].as_u64(), &shown("3")["inForce"]),
        (Some(3), &true.into())
    );
    // when it is compared with the one before, then what differs is named
    let differing = json(&lab.run(&["policy", "diff", "-o", "json"]).code(2));
    let changes = differing["changes"].as_array().expect("changes");
    assert!(
        matches!(&changes[..], [only] if only["setting"] == "machines.attemptsMax" && only["to"] == "3"),
        "{changes:?}"
    );
    lab.run(&["policy", "diff", "2", "2"]).code(0);
    // when it is returned to that, then a new revision says what that one said
    lab.run(&["policy", "rollback"]).code(0);
    let returned = json(&lab.run(&["policy", "show", "-o", "json"]).code(0));
    assert_eq!((returned["revision"].as_u64(), &returned["spec"]), (Some(4), &quick["spec"]));
    lab.run(&["policy", "rollback", "2"]).code(0);
    lab.run(&["policy", "rollback", "9"]).code(4).says("error[no-such-revision]").says("there is no revision 9");
    stop(node);
    // and all of that is told without a node, too
    let log = json(&lab.run(&["policy", "log", "-o", "json"]).code(0));
    let log = log.as_array().expect("revisions");
    let told: Vec<_> = log.iter().map(|one| (one["revision"].as_u64(), one["inForce"] == true)).collect();
    assert_eq!(told, [(Some(4), true), (Some(3), false), (Some(2), false), (Some(1), false)]);
    assert!(log[2]["changes"].as_array().is_some_and(|changes| changes.len() > 2), "{log:?}");
}
