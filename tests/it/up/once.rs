//! From nothing to a lab, and the same again.

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt};

use bailiwick::actors::{contract::Stored, volume_attachment};

use super::{
    observe::{entries, intents, names, settled, size},
    support::{Lab, eventually},
};

#[test]
fn a_manifest_becomes_real() {
    let lab = Lab::new();
    let ran = lab.up();
    ran.says("applied: 7 to create, 1 to change").says("machines keep running");
    let settled = settled(&lab);
    assert_eq!(settled.machines.keys().collect::<Vec<_>>(), ["builder", "clerk", "idler"]);
    assert_eq!(settled.attachments.keys().collect::<Vec<_>>(), ["builder:scratch", "clerk:ledger"]);
    let image = |volume: &str| lab.local().join("volumes").join(settled.volumes[volume].to_string()).join("disk.img");
    assert_eq!(size(&image("ledger")).0, 64 << 20);
    assert_eq!(size(&image("scratch")).0, 1 << 30);
    assert!(size(&image("scratch")).1 < 200 << 20, "it is sparse");
    // The node is gone; what it has told the machines is done all the same.
    eventually("the workload writes into its volume", || {
        use std::io::Read;
        let mut line = [0; 16];
        let read = fs::File::open(image("ledger")).and_then(|mut image| image.read_exact(&mut line));
        read.is_ok() && line == *b"clerk was here 0"
    });
    eventually("another one has blocks of its own", || size(&image("scratch")).1 >= 1 << 20);
}

#[test]
fn the_same_again_makes_nothing_anew() {
    let lab = Lab::new();
    lab.up();
    let (first, wanted) = (settled(&lab), intents(&lab));
    let ran = lab.up();
    ran.says("journal: clean").says("nothing was in progress").says("applied: 8 unchanged");
    assert_eq!(settled(&lab), first);
    assert_eq!(intents(&lab), wanted);
    assert!(wanted.values().all(|intents| *intents == 1), "{wanted:?}");
    assert_eq!(wanted.len(), 7);
}

#[test]
fn after_a_kill_it_says_what_it_resumes() {
    let lab = Lab::new();
    let args = lab.up_args();
    let node = lab.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    node.says("machine/clerk is creating");
    node.kill();
    let ran = lab.up();
    ran.says("resumed at entry");
    assert!(!ran.err.contains("journal: clean"), "{}", ran.err);
    settled(&lab);
    // Whatever it was that went on, every entity was wanted once.
    let counts: BTreeMap<_, _> = intents(&lab);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

#[test]
fn an_idle_start_records_next_to_nothing() {
    let lab = Lab::new();
    lab.up();
    let before = entries(&lab).len();
    lab.up();
    let after = entries(&lab);
    // The note that a writer opened the journal, and what the agents found changed; the session, what it orders, and for
    // each attachment that it is made sure of, and was.
    let attachments = settled(&lab).attachments.len();
    assert!(after.len() <= before + 8 + 3 + 2 * attachments, "{:#?}", &after[before..]);
}

#[test]
#[ignore = "takes long"]
fn what_is_attached_is_made_sure_of_once_per_start() {
    let lab = Lab::new();
    lab.up();
    let room = lab.local().join("attachments");
    let inodes = || -> BTreeMap<String, u64> {
        names(&room)
            .into_iter()
            .map(|name| (name.clone(), fs::metadata(room.join(name)).expect("there").ino()))
            .collect()
    };
    let written = inodes();
    // As if a node had been killed while it wrote one.
    fs::write(room.join("half.json.tmp"), "{").expect("written");
    for starts in 1..=2 {
        lab.up();
        let mut made_sure = BTreeMap::new();
        for entry in entries(&lab).iter().filter(|entry| entry.header.stream.kind() == "volume-attachment") {
            let events = entry.events.iter().map(volume_attachment::Event::load);
            let asked = events.filter(|event| matches!(event, Ok(volume_attachment::Event::ReattachRequested { .. })));
            *made_sure.entry(entry.header.stream.name().to_owned()).or_insert(0) += asked.count();
        }
        let expected = [("builder:scratch", starts), ("clerk:ledger", starts)].map(|(name, of)| (name.to_owned(), of));
        assert_eq!(made_sure, expected.into());
        settled(&lab);
        assert_eq!(
            inodes(),
            written,
            "what is attached already is not written anew, and what was half-written is gone"
        );
    }
}
