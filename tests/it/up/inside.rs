//! Storage inside of machines, on the real kernel: what the journal says, what is mounted and attached, and which files there
//! are tell the same, whenever the node is killed; and nothing is left over.
//!
//! All crash points: `BAILIWICK_CRASH_POINTS=all cargo test --release --test it inside -- --nocapture`. Without it, one in
//! twelve, and which ones depends on `BAILIWICK_SEED`.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use bailiwick::{
    actors::{
        filesystem, filesystem_attachment,
        vocab::{EffectId, Life},
        volume, volume_attachment,
    },
    agent::process::ProcessMark,
    providers::storage::{SystemRunner, Way, missing_for_filesystems, missing_for_loop_volumes},
};
use rustix::process::Signal;

use super::{
    dice::{Dice, wanted},
    observe::fleet,
    support::{Lab, QUICK, Ran, Running, eventually},
};

/// Of so many points one is tried in a run that nobody asked to be longer.
const ONE_IN: u64 = 12;
const POINTS_MAX: u64 = 5_000;

/// What is mounted and attached from below a directory, as the kernel says; undone when the test ends.
pub(super) struct Kernel {
    below: PathBuf,
}

impl Kernel {
    pub(super) fn mounts(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/mounts").expect("the mounts");
        let paths = table.lines().filter_map(|line| line.split(' ').nth(1)).map(|path| path.replace("\\040", " "));
        let mut paths: Vec<String> = paths.filter(|path| Path::new(path).starts_with(&self.below)).collect();
        paths.sort();
        paths
    }

    /// The loop devices, each with its file.
    fn loops(&self) -> Vec<(String, String)> {
        let shown = Command::new("losetup").args(["-n", "-O", "NAME,BACK-FILE"]).output().expect("losetup runs");
        let shown = String::from_utf8(shown.stdout).expect("text");
        let pairs = shown.lines().filter_map(|line| line.split_once(char::is_whitespace));
        let pairs = pairs.map(|(name, file)| (name.to_owned(), file.trim().to_owned()));
        pairs.filter(|(_, file)| Path::new(file).starts_with(&self.below)).collect()
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        for mount in self.mounts().iter().rev() {
            let _ = Command::new("umount").arg("--lazy").arg("--").arg(mount).status();
        }
        for (name, _) in self.loops() {
            let _ = Command::new("losetup").arg("-d").arg(name).status();
        }
    }
}

/// A lab, and what the kernel holds of it: that goes first.
pub(super) struct Inside {
    pub(super) kernel: Kernel,
    pub(super) lab: Lab,
}

/// None where the kernel cannot be asked for it; that is said, and where `BAILIWICK_CI` is set, it is a failure.
pub(super) fn inside() -> Option<Inside> {
    let tools = SystemRunner::default();
    let mut missing = missing_for_loop_volumes(&tools, None);
    missing.extend(missing_for_filesystems(Way::Managed, &tools, None));
    if missing.is_empty() {
        let lab = Lab::new();
        return Some(Inside { kernel: Kernel { below: lab.data().to_owned() }, lab });
    }
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "storage cannot be tested for real here: {missing:?}");
    writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: storage inside of machines needs {missing:?}").unwrap();
    None
}

impl Inside {
    fn up_args(&self) -> Vec<String> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/storage.yaml");
        let quick = self.lab.manifest("quick.yaml", QUICK);
        let manifest = manifest.to_str().expect("text").to_owned();
        ["up".into(), manifest, quick, "--once".into(), "--timeout".into(), "60s".into()].into()
    }

    #[track_caller]
    fn up(&self) {
        self.lab.run(&self.up_args().iter().map(String::as_str).collect::<Vec<_>>()).code(0);
    }

    /// Journal, mounts and devices tell the same.
    #[track_caller]
    pub(super) fn is_so(&self, when: &str) {
        let fleet = fleet(&self.lab);
        let is_there = |life: Life| life != Life::Removed;
        let mut mounted = Vec::new();
        for (name, folded) in fleet.filesystem_attachments.iter().filter(|(_, folded)| is_there(folded.state.life)) {
            let filesystem_attachment::Link::Attached { info, .. } = &folded.state.link else {
                panic!("{when}: {name}: {:?}", folded.state)
            };
            mounted.push(info.mount_point.clone());
        }
        mounted.sort();
        assert_eq!((self.kernel.mounts(), mounted.len()), (mounted, 3), "{when}");
        let mut attached = Vec::new();
        for (name, folded) in fleet.attachments.iter().filter(|(_, folded)| is_there(folded.state.life)) {
            let volume_attachment::Link::Attached { info, target, .. } = &folded.state.link else {
                panic!("{when}: {name}: {:?}", folded.state)
            };
            attached.push((info.path.clone(), target.volume_effect));
        }
        let volume_of = |file: &str| {
            let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_prefix("volume-").and_then(|effect| effect.parse::<EffectId>().ok()).expect("a volume's file")
        };
        let shown = self.kernel.loops().into_iter().map(|(device, file)| (device, volume_of(&file)));
        assert_eq!(shown.collect::<Vec<_>>(), attached, "{when}");
        assert_eq!(attached.len(), 1, "{when}");
        let made = |state: &filesystem::State| matches!(state.storage, filesystem::Storage::Provisioned { .. });
        assert_eq!(fleet.filesystems.iter().filter(|(_, folded)| made(&folded.state)).count(), 3, "{when}");
        let made = |state: &volume::State| matches!(state.storage, volume::Storage::Provisioned { .. });
        assert_eq!(fleet.volumes.iter().filter(|(_, folded)| made(&folded.state)).count(), 1, "{when}");
    }

    /// The filesystem on the volume.
    fn files(&self) -> PathBuf {
        let fleet = fleet(&self.lab);
        let state = fleet.filesystem_attachments.get("keeper:files").expect("it is declared");
        let filesystem_attachment::Link::Attached { info, .. } = &state.link else { panic!("{state:?}") };
        info.mount_point.clone().into()
    }

    #[track_caller]
    pub(super) fn nothing_left(&self, when: &str) {
        assert_eq!(self.kernel.mounts(), [""; 0], "{when}");
        assert_eq!(self.kernel.loops(), [], "{when}");
        let left = fs::read_dir(self.lab.local().join("machines")).expect("a directory");
        assert_eq!(left.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>(), [""; 0], "{when}");
        assert!(self.lab.processes().is_empty(), "{when}: {:?}", self.lab.processes());
    }

    fn run_to(&self, args: &[&str], point: u64) -> bool {
        let mut command = self.lab.command(args);
        let ran: Ran = Running::of(command.env("BAILIWICK_CRASH_AT", point.to_string())).ended();
        assert!(matches!(ran.code, None | Some(0)), "point {point}: {ran:?}");
        ran.code.is_none()
    }
}

#[test]
fn what_is_inside_of_a_machine_is_made_found_again_and_gone() {
    let Some(inside) = inside() else { return };
    inside.up();
    inside.is_so("made");
    fs::write(inside.files().join("file"), "precious").expect("it can be written");
    inside.up();
    inside.is_so("found again");
    assert_eq!(fs::read_to_string(inside.files().join("file")).expect("it is there"), "precious");
    inside.lab.down();
    inside.nothing_left("gone");
}

#[test]
fn a_machine_that_dies_takes_what_is_inside_with_it() {
    let Some(inside) = inside() else { return };
    inside.up();
    let fleet = fleet(&inside.lab);
    let state = fleet.machines.get("keeper").expect("it is declared");
    let bailiwick::actors::machine::Instance::Running { instance, .. } = &state.instance else { panic!("{state:?}") };
    let agent = ProcessMark::of(instance.facts["pid"].parse().expect("a pid")).expect("it runs");
    assert!(agent.signal(Signal::KILL).expect("it is ours"));
    eventually("the agent is dead", || !agent.is_alive());
    // Real machines lose their mounts when they end; here they stay until somebody lets go of them.
    assert_eq!(inside.kernel.mounts().len(), 3);
    inside.lab.down();
    inside.nothing_left("after its death");
}

#[test]
fn without_a_machine_or_in_another_one_nothing_is_made_inside() {
    let Some(inside) = inside() else { return };
    let machines = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: web}\nspec: {provider: local}\n";
    let node = inside.lab.start(&["serve"]);
    node.says("listening");
    let apply = |text: &str| {
        let manifest = inside.lab.manifest("more.yaml", text);
        inside.lab.run(&["apply", &manifest])
    };
    apply(machines).code(0);
    let wants = |kind: &str, spec: &str| {
        format!("apiVersion: bailiwick/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n")
    };
    apply(&wants("Volume", "{provider: loop, size: 1M}")).code(5).says("names no machine");
    apply(&wants("Filesystem", "{provider: tmpfs, size: 1M}")).code(5).says("names no machine");
    apply(&wants("Volume", "{provider: local, size: 1M}")).code(0);
    apply(&wants("Filesystem", "{volume: a}")).code(5).says("needs a block device");
    node.kill();
}

#[test]
fn a_filesystem_from_a_pool_of_volumes_brings_its_volume_and_takes_it_along() {
    let Some(inside) = inside() else { return };
    let text = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: keeper}\nspec: {provider: local, storage: {files: \
                {filesystem: 'loop,16M'}}}\n";
    let (quick, file) = (inside.lab.manifest("quick.yaml", QUICK), inside.lab.manifest("it.yaml", text));
    inside.lab.run(&["up", &quick, &file, "--once", "--timeout", "60s"]).code(0);
    let held = || (inside.kernel.mounts().len(), inside.kernel.loops().len());
    assert_eq!(held(), (1, 1));
    let node = inside.lab.start(&["serve"]);
    node.says("listening");
    inside.lab.run(&["detach", "filesystem/keeper-files-0", "keeper", "--wait"]).code(0);
    eventually("its volume is detached as well", || held() == (0, 0));
    // Until both sides have let go of the earlier attachment, another one is refused.
    let attach = ["attach", "filesystem/keeper-files-0", "keeper", "--wait"];
    eventually("it is attached again", || inside.lab.run(&attach).code == Some(0));
    assert_eq!(held(), (1, 1));
    inside.lab.run(&["delete", "machine/keeper", "--wait"]).code(0);
    let is_gone = || inside.lab.run(&["storage", "-o", "json"]).code(0).out.trim() == "[]";
    eventually("its volume is gone as well", is_gone);
    node.kill();
    inside.nothing_left("with its machine");
}

#[test]
fn a_filesystem_that_was_destroyed_makes_room_on_its_volume_for_the_next_one() {
    let Some(inside) = inside() else { return };
    // given a filesystem with a file, which is destroyed, on a volume that stays
    inside.up();
    fs::write(inside.files().join("file"), "x").expect("it can be written");
    let node = inside.lab.start(&["serve"]);
    node.says("listening");
    inside.lab.run(&["destroy", "filesystem/files"]).code(0);
    inside.lab.run(&["wait", "filesystem/files", "--for", "removed", "--timeout", "60s"]).code(0);
    // and another one that was made over it, and is destroyed as well
    let other = "apiVersion: bailiwick/v1\nkind: Filesystem\nmetadata: {name: other}\nspec: {volume: disk}\n";
    inside.lab.run(&["apply", &inside.lab.manifest("other.yaml", other)]).code(0);
    inside.lab.run(&["attach", "filesystem/other", "keeper"]).code(0);
    inside.lab.run(&["wait", "filesystem/other", "--timeout", "60s"]).code(0);
    inside.lab.run(&["destroy", "filesystem/other"]).code(0);
    inside.lab.run(&["wait", "filesystem/other", "--for", "removed", "--timeout", "60s"]).code(0);
    // and one that nobody mounts is made nowhere, as it says
    let alone = "apiVersion: bailiwick/v1\nkind: Filesystem\nmetadata: {name: files}\nspec: {volume: disk}\n";
    inside.lab.run(&["apply", &inside.lab.manifest("alone.yaml", alone)]).code(0);
    let why_not = inside.lab.run(&["why-not", "filesystem/files", "ready"]).code(0);
    assert!(why_not.out.contains("`bailiwick attach filesystem/files keeper`"), "{why_not:?}");
    // when the same manifest is applied
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/storage.yaml");
    inside.lab.run(&["apply", manifest.to_str().expect("text")]).code(0);
    inside.lab.run(&["wait", "--timeout", "60s"]).code(0);
    // then it is there again, without the file
    node.kill();
    inside.is_so("made again");
    assert!(!inside.files().join("file").exists());
    inside.lab.down();
    inside.nothing_left("gone");
}

#[test]
fn machines_of_a_set_come_and_go_with_what_is_inside_of_them() {
    let Some(inside) = inside() else { return };
    let set = |replicas: u32| {
        let text = format!(
            "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  template:\n    \
             spec: {{provider: local, storage: {{disk: {{filesystem: 'loop,16M'}}, memory: {{filesystem: 'tmpfs,1M'}}}}}}\n"
        );
        inside.lab.manifest("set.yaml", text)
    };
    let quick = inside.lab.manifest("quick.yaml", QUICK);
    let node = inside.lab.start(&["serve"]);
    node.says("listening");
    inside.lab.run(&["apply", &quick, &set(2)]).code(0);
    inside.lab.run(&["wait", "--timeout", "60s"]).code(0);
    let held = || (inside.kernel.mounts().len(), inside.kernel.loops().len());
    assert_eq!(held(), (4, 2));
    inside.lab.run(&["apply", &quick, &set(1)]).code(0);
    inside.lab.run(&["wait", "--timeout", "60s"]).code(0);
    assert_eq!(held(), (2, 1));
    inside.lab.run(&["delete", "machine-set/web", "--wait"]).code(0);
    let is_gone = || inside.lab.run(&["storage", "-o", "json"]).code(0).out.trim() == "[]";
    eventually("its storage is gone as well", is_gone);
    node.kill();
    inside.nothing_left("with its set");
}

#[test]
fn a_volume_whose_file_is_gone_is_lost() {
    let Some(inside) = inside() else { return };
    let text = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: keeper}\nspec: {provider: local, storage: {disk: \
                'loop,4M'}}\n";
    let (quick, file) = (inside.lab.manifest("quick.yaml", QUICK), inside.lab.manifest("it.yaml", text));
    inside.lab.run(&["up", &quick, &file, "--once", "--timeout", "60s"]).code(0);
    let (_, backing) = inside.kernel.loops().pop().expect("its device");
    let node = inside.lab.start(&["serve"]);
    node.says("listening");
    inside.lab.run(&["detach", "volume/keeper-disk-0", "keeper", "--wait"]).code(0);
    fs::remove_file(backing).expect("it is there");
    let says = |what: &str| inside.lab.run(&["get", "volumes"]).code(0).out.contains(what);
    eventually("its agent does not list it any more", || says("its provider no longer lists it"));
    inside.lab.run(&["delete", "machine/keeper", "--wait"]).code(0);
    node.kill();
    inside.nothing_left("with its machine");
}

#[test]
#[ignore = "takes long"]
fn every_crash_point_on_the_way_up_with_storage_inside() {
    at_every_point(|inside, point| {
        let args = inside.up_args();
        let was_met = inside.run_to(&args.iter().map(String::as_str).collect::<Vec<_>>(), point);
        inside.up();
        inside.is_so(&format!("up again after a crash at point {point}"));
        inside.lab.down();
        inside.nothing_left(&format!("down after a crash at point {point} of up"));
        was_met
    });
}

#[test]
#[ignore = "takes long"]
fn every_crash_point_on_the_way_down_with_storage_inside() {
    at_every_point(|inside, point| {
        inside.up();
        let was_met = inside.run_to(&["down", "--timeout", "60s"], point);
        inside.lab.down();
        inside.nothing_left(&format!("down again after a crash at point {point}"));
        was_met
    });
}

fn at_every_point(crash: impl Fn(&Inside, u64) -> bool) {
    let is_all = std::env::var("BAILIWICK_CRASH_POINTS").is_ok_and(|all| all == "all");
    let one_in = if is_all { 1 } else { ONE_IN };
    let mut dice = Dice::new(wanted("BAILIWICK_SEED", 1));
    let mut tried = BTreeSet::new();
    for n in 0..POINTS_MAX / one_in {
        let Some(inside) = inside() else { return };
        let point = n * one_in + 1 + dice.below(one_in);
        if !crash(&inside, point) {
            break;
        }
        tried.insert(point);
    }
    writeln!(std::io::stderr().lock(), "killed at {} points up to {:?}", tried.len(), tried.last()).unwrap();
}
