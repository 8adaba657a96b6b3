//! A host whose disk is full: the node says so itself, and does not hold it against its machines.

use std::{fs, io::Write, path::PathBuf, process::Command};

use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, eventually, run_in};

/// A small file system of its own for the data directory.
struct Small {
    mounted: PathBuf,
    lab: Lab,
}

impl Small {
    /// None where nothing can be mounted.
    fn new() -> Option<Self> {
        let lab = Lab::new();
        let data = lab.data().to_owned();
        Self::at(lab, data, "48m")
    }

    /// As [`Self::new`], with so much room in a directory of the lab; that nothing can be mounted is said, and where
    /// `BAILIWICK_CI` is set, it is a failure.
    fn at(lab: Lab, mounted: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir(&mounted).expect("a directory");
        let options = format!("size={size},mode=0700");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(&mounted).output();
        if mount.as_ref().is_ok_and(|ran| ran.status.success()) {
            return Some(Self { mounted, lab });
        }
        assert!(std::env::var_os("BAILIWICK_CI").is_none(), "a full disk cannot be tested for real here: {mount:?}");
        writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: a full disk needs a tmpfs: {mount:?}").unwrap();
        None
    }

    fn filler(&self) -> PathBuf {
        self.mounted.join("filler")
    }

    /// Writes until nothing more fits.
    fn fill(&self) {
        let mut filler = fs::File::create(self.filler()).expect("made");
        while filler.write_all(&[7; 4096]).is_ok() {}
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        for process in self.lab.processes() {
            let _ = process.signal(Signal::KILL);
        }
        let _ = Command::new("umount").arg("--lazy").arg(&self.mounted).status();
    }
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn a_backup_that_finds_no_room_fails_and_leaves_nothing() {
    // Given a journal with more lines than wait in a pipe, and a disk that has no room for it
    let lab = Lab::new();
    let target = lab.data().with_file_name("target");
    let Some(small) = Small::at(lab, target.clone(), "256k") else { return };
    let lab = &small.lab;
    let node = lab.start(&["up", "examples/lab.yaml"]);
    node.says("Ctrl-C stops the node");
    for _ in 0..40 {
        lab.run(&["hold", "machine/clerk", "--reason", &"to fill lines ".repeat(18)]).code(0);
        lab.run(&["unhold", "machine/clerk"]).code(0);
    }
    // When a running node is backed up to it, and a stopped one
    let into = target.join("backup");
    let fails = || {
        lab.run(&["backup", into.to_str().expect("text")]).code(74).says("cannot write the journal").says("free space");
        assert_eq!(fs::read_dir(&target).expect("there").count(), 0, "half a backup is none");
    };
    fails();
    node.signal(Signal::TERM);
    node.ended().code(0);
    // Then it says so each time, and nothing is left of it
    fails();
    // And so do its export that is imported there, and what is salvaged, when there is room for a part, and when there is none
    let export = lab.data().with_file_name("journal.jsonl");
    lab.run(&["journal", "export", export.to_str().expect("text")]).code(0);
    for is_full in [false, true] {
        if is_full {
            small.fill();
        }
        run_in(&into, &["journal", "import", export.to_str().expect("text")]).code(74).says("free space");
        let (from, into) = (lab.data().to_str().expect("text"), into.to_str().expect("text"));
        lab.run(&["journal", "salvage", from, "--into", into]).code(74).says("free space");
        let _ = fs::remove_dir_all(into);
    }
}

#[test]
#[ignore = "takes long"]
fn a_full_disk_is_the_nodes_trouble_and_no_machine_is_given_up_for_it() {
    let Some(small) = Small::new() else { return };
    let lab = &small.lab;
    // Given a machine that would be given up after a second of being unwell, and its workload, which has to write, counts.
    let health = "  health: {healthTimeout: 1s, nodeConditions: [WorkloadRunning/w]}\n  storage:";
    let quick = lab.manifest("quick.yaml", QUICK.replace("  storage:", health));
    let bare = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: a}\nspec: {provider: local}\n";
    let writes = "mkdir begun-$$; while head -c 8192 /dev/zero >> written; do sleep 0.1; done; exit 1";
    let workloads = format!("spec: {{provider: local, workloads: [{{name: w, command: [sh, -c, {writes:?}]}}]}}");
    let file = lab.manifest("it.yaml", bare.replace("spec: {provider: local}", &workloads));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("Ctrl-C stops the node");
    let status = || json(&lab.run(&["status", "-o", "json"]).code(0));
    let machine = || json(&lab.run(&["describe", "machine/a", "-o", "json"]).code(0));
    assert_eq!(status()["node"], Value::Array(Vec::new()));
    let effect = machine()["effect"].clone();

    // When the disk fills up.
    small.fill();
    eventually("status says so", || status()["node"][0]["status"] == "disk-full");
    node.says("disk-full");
    let table = lab.run(&["status"]).code(0).out;
    assert!(table.lines().any(|line| line.starts_with("node") && line.contains("disk-full")), "{table}");
    let refused = lab.run(&["apply", &lab.manifest("b.yaml", bare.replace("a}", "b}"))]);
    refused.clone().code(74).says("disk full: ");

    // Then its workload ends again and again, and it is not given up for that.
    let work = lab.local().join("machines").join(effect.as_str().expect("an id")).join("work/w");
    let begun = || fs::read_dir(&work).map_or(0, |found| found.flatten().filter(|entry| entry.path().is_dir()).count());
    eventually("its workload ended again and again", || begun() >= 4);
    assert_eq!((&machine()["health"], &machine()["effect"]), (&"well".into(), &effect), "it is the same instance");

    // Nor by another node that starts on it: agents outlive what they cannot write into their logs.
    node.signal(Signal::TERM);
    node.ended().code(0);
    let node = lab.start(&["serve"]);
    node.says("listening on");
    eventually("its agent is content", || machine()["health"] == "well" && machine()["node"] == "reporting");
    assert_eq!(machine()["effect"], effect, "it is the same instance");

    // Then its machine stays as it was. With room again all is over, by itself.
    let ended = begun();
    fs::remove_file(small.filler()).expect("removed");
    eventually("it is over", || status()["node"] == Value::Array(Vec::new()));
    node.says("trouble is over");
    // Until its workload is started again, its agent reports several times with room to record that.
    eventually("its workload runs again", || begun() > ended);
    eventually("its agent is content", || status()["ready"] == status()["total"]);
    assert_eq!((&machine()["health"], &machine()["effect"]), (&"well".into(), &effect), "it is the same instance");
    lab.run(&["apply", &lab.manifest("c.yaml", bare.replace("a}", "c}"))]).code(0);
    node.signal(Signal::TERM);
    node.ended().code(0);
}
