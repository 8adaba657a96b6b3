//! What is true of a lab: by its journal, by its files, by its processes; and what has to hold between the three.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
};

use bailiwick::{
    actors::{
        contract::Stored,
        machine,
        vocab::{EffectId, Life},
        volume,
        volume_attachment::{self, Link},
    },
    agent::directory::{MachineDir, Presence},
    config::journal_dir,
    journal::{Entry, Filter, Journal, Position, ReadOnlyJournal, StreamId},
    view::Fleet,
};

use super::support::Lab;

/// A lab that is as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Machine → effect id and pid of its agent.
    pub machines: BTreeMap<String, (EffectId, u32)>,
    /// Volume → effect id.
    pub volumes: BTreeMap<String, EffectId>,
    /// Attachment → the link's target.
    pub attachments: BTreeMap<String, (EffectId, EffectId)>,
}

/// The entries of a stopped node's journal.
pub fn entries(lab: &Lab) -> Vec<std::sync::Arc<Entry>> {
    let journal = ReadOnlyJournal::open(&journal_dir(lab.data())).expect("the journal is whole");
    let head = journal.head().position;
    journal.read(Position(1), head, &Filter::all()).collect::<Result<_, _>>().expect("readable")
}

/// What a stopped node's journal says.
pub fn fleet(lab: &Lab) -> Fleet {
    let journal = ReadOnlyJournal::open(&journal_dir(lab.data())).expect("the journal is whole");
    Fleet::at_head(&journal).expect("understood")
}

/// How often each entity asked a provider for something new: intents, not attempts.
pub fn intents(lab: &Lab) -> BTreeMap<String, usize> {
    let mut intents = BTreeMap::new();
    for entry in entries(lab) {
        let stream = &entry.header.stream;
        let opened = entry.events.iter().filter(|event| match stream.kind() {
            "machine" => matches!(machine::Event::load(event), Ok(machine::Event::CreateRequested { .. })),
            "volume" => matches!(volume::Event::load(event), Ok(volume::Event::CreateRequested { .. })),
            "volume-attachment" => {
                matches!(volume_attachment::Event::load(event), Ok(volume_attachment::Event::AttachRequested { .. }))
            }
            _ => false,
        });
        let opened = opened.count();
        if opened > 0 {
            *intents.entry(stream.to_string()).or_default() += opened;
        }
    }
    intents
}

/// Journal, files and processes tell the same, and there is nothing beside: not a directory, not a file, not a process.
#[track_caller]
pub fn settled(lab: &Lab) -> Settled {
    let fleet = fleet(lab);
    let settled = declared(&fleet);
    let machines: BTreeSet<String> = settled.machines.values().map(|(effect, _)| effect.to_string()).collect();
    assert_eq!(names(&lab.local().join("machines")), machines, "machines on disk");
    let volumes: BTreeSet<String> = settled.volumes.values().map(ToString::to_string).collect();
    assert_eq!(names(&lab.local().join("volumes")), volumes, "volumes on disk");
    let mut records = BTreeSet::new();
    for (name, folded) in fleet.attachments.iter().filter(|(_, folded)| folded.state.life.exists()) {
        let Link::Attached { intent, .. } = &folded.state.link else { panic!("{name} is not attached") };
        let stream = StreamId::new("volume-attachment", name).expect("a stream");
        records.insert(format!("{}.json", EffectId::of(fleet.journal, &stream, *intent)));
    }
    assert_eq!(names(&lab.local().join("attachments")), records, "attachments on disk");
    links_and_claims(lab, &settled);
    agents(lab, &settled);
    settled
}

/// What the journal says is so; everything that is declared has to be.
#[track_caller]
fn declared(fleet: &Fleet) -> Settled {
    let mut settled = Settled { machines: BTreeMap::new(), volumes: BTreeMap::new(), attachments: BTreeMap::new() };
    for (name, folded) in fleet.machines.iter().filter(|(_, folded)| folded.state.life != Life::Removed) {
        assert!(folded.state.is_ready(), "machine/{name}: {:?}", folded.state);
        let machine::Instance::Running { instance, .. } = &folded.state.instance else { panic!("{name}") };
        let pid = instance.facts["pid"].parse().expect("a pid");
        settled.machines.insert(name.to_string(), (instance.effect, pid));
    }
    for (name, folded) in fleet.volumes.iter().filter(|(_, folded)| folded.state.life != Life::Removed) {
        let volume::Storage::Provisioned { made: volume, .. } = &folded.state.storage else {
            panic!("volume/{name}: {:?}", folded.state)
        };
        settled.volumes.insert(name.to_string(), volume.effect);
    }
    for (name, folded) in fleet.attachments.iter().filter(|(_, folded)| folded.state.life != Life::Removed) {
        let Link::Attached { target, .. } = &folded.state.link else {
            panic!("volume-attachment/{name}: {:?}", folded.state)
        };
        settled.attachments.insert(name.to_string(), (target.machine_effect, target.volume_effect));
    }
    settled
}

/// Every attachment has its link and its claim, and there is no other.
fn links_and_claims(lab: &Lab, settled: &Settled) {
    let mut links = BTreeSet::new();
    for (effect, _) in settled.machines.values() {
        let volumes = lab.local().join("machines").join(effect.to_string()).join("volumes");
        for link in names(&volumes) {
            let target = fs::read_link(volumes.join(&link)).expect("a link");
            let target = target.file_name().expect("a name").to_str().expect("text").to_owned();
            links.insert((effect.to_string(), target));
        }
    }
    let attached: BTreeSet<(String, String)> =
        settled.attachments.values().map(|(machine, volume)| (machine.to_string(), volume.to_string())).collect();
    assert_eq!(links, attached, "links on disk");
    for (name, effect) in &settled.volumes {
        let is_attached = attached.iter().any(|(_, volume)| *volume == effect.to_string());
        let mut files = names(&lab.local().join("volumes").join(effect.to_string()));
        // The agent's write probe comes and goes.
        files.retain(|file| !file.starts_with("probe"));
        let mut expected: BTreeSet<String> = ["disk.img", "volume.json"].map(str::to_owned).into();
        if is_attached {
            expected.insert("attached.json".into());
        }
        assert_eq!(files, expected, "files of volume/{name}");
    }
}

/// Exactly one agent per machine: the one that its directory names.
fn agents(lab: &Lab, settled: &Settled) {
    let mut expected = BTreeSet::new();
    for (name, (effect, pid)) in &settled.machines {
        let directory = MachineDir::new(lab.local().join("machines").join(effect.to_string()), *effect);
        match directory.presence().expect("readable") {
            Presence::Running(mark) => assert_eq!(mark.pid, *pid, "machine/{name}"),
            other => panic!("machine/{name}: {other:?}"),
        }
        expected.insert(*pid);
    }
    let is_agent = |pid: u32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).any(|arg| arg == b"agent"))
    };
    let running: BTreeSet<u32> = lab.processes().iter().map(|mark| mark.pid).filter(|pid| is_agent(*pid)).collect();
    assert_eq!(running, expected, "agents that run");
}

/// Nothing is left but the empty rooms.
#[track_caller]
pub fn nothing_left(lab: &Lab) {
    assert_eq!(lab.processes(), [], "processes");
    nothing_made(lab);
}

/// No machine, volume or attachment is there.
#[track_caller]
pub fn nothing_made(lab: &Lab) {
    let rooms = ["attachments", "machines", "volumes"].map(str::to_owned).into();
    assert_eq!(names(&lab.local()), rooms, "local/");
    for room in ["attachments", "machines", "volumes"] {
        assert_eq!(names(&lab.local().join(room)), BTreeSet::new(), "local/{room}");
    }
}

/// The names in a directory.
pub fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries.map(|entry| entry.expect("readable").file_name().into_string().expect("text")).collect()
}

/// Length, and how much of it is really taken up, in bytes.
pub fn size(path: &Path) -> (u64, u64) {
    let found = fs::metadata(path).expect("there");
    (found.len(), found.blocks() * 512)
}
