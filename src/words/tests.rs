//! The printed list: every text there is, filled with the example that its stored form is pinned by, to be read by people
//! who review a change. `BLESS=1` writes it anew.
//!
//! It is complete because the examples are: the test of the stored forms fails for a command, an event, a reason or a
//! rejection without one.

use std::{env, fmt::Write, fs, path::Path};

use bailiwick_actors::{
    contract::{Code, Recorded, Stored},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy,
    ports::replica_set::StepReason,
    provider, replica_set,
    supervisor::{
        machine_sets as of_sets, machines as of_machines, replica_sets as of_replica_sets, storage as of_storage,
    },
    vocab::FaultCode,
    volume, volume_attachment,
};
use bailiwick_journal::Body;

use super::Words;
use crate::view::{kinds, statuses};

/// Compares a printed list with the one that was read last.
#[track_caller]
pub(crate) fn is_as_read(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/texts").join(name);
    if env::var_os("BLESS").is_some() {
        return fs::write(&path, text).expect("a writable list");
    }
    let read = fs::read_to_string(&path).unwrap_or_default();
    let is_new = |line: &&str| !read.lines().any(|known| known == *line);
    let is_gone = |line: &&str| !text.lines().any(|told| told == *line);
    let added = text.lines().filter(is_new).map(|line| format!("+{line}\n"));
    let removed = read.lines().filter(is_gone).map(|line| format!("-{line}\n"));
    let difference: String = removed.chain(added).collect();
    assert!(read == text, "{name} is not what was read last (BLESS=1 keeps it):\n{difference}");
}

/// The examples of one kind: name and stored form.
fn examples(file: &str, prefix: &str) -> Vec<(String, Body)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("actors/tests/golden").join(format!("{file}.hex"));
    let text = fs::read_to_string(path).expect("the stored forms of a kind");
    let example = |line: &str| {
        let mut parts = line.split(' ');
        let name = parts.next()?.strip_prefix(prefix)?.to_owned();
        let schema = parts.next()?.parse().ok()?;
        Some((name, Body { schema, bytes: bailiwick_actors::vocab::unhex(parts.next()?)? }))
    };
    text.lines().filter_map(example).collect()
}

/// Every text of one kind, in the order of its stored forms; what several examples say alike is told once.
fn told<D: Words>(list: &mut String, file: &str, prefix: &str) {
    writeln!(
        list,
        "\n# {}",
        if prefix.is_empty() { file.to_owned() } else { format!("supervisor/{}", &prefix[..prefix.len() - 1]) }
    )
    .expect("a text");
    let mut last = String::new();
    for (name, body) in examples(file, prefix) {
        let form = name.split('.').next().unwrap_or_default();
        let line = match form {
            "command" => format!("asked    {}", D::asked(&D::Command::load(&body).expect("an example"))),
            "event" => format!("happened {}", D::happened(&D::Event::load(&body).expect("an example"))),
            "reason" | "rejection" => match Recorded::<D>::load(&body).expect("an example") {
                Recorded::Decided(reason) => format!("because  {reason} [{}]", reason.code()),
                Recorded::Refused(rejection) => format!("refused  {rejection} [{}]", rejection.code()),
            },
            _ => continue,
        };
        if line != last {
            writeln!(list, "{line}").expect("a text");
        }
        last = line;
    }
}

#[test]
fn every_text_about_an_entry_is_in_the_list_that_was_read() {
    let mut list = String::from("Every text about an entry, with example values. BLESS=1 writes it anew.\n");
    told::<machine::State>(&mut list, "machine", "");
    told::<machine_set::State>(&mut list, "machine-set", "");
    told::<machine_deployment::State>(&mut list, "machine-deployment", "");
    told::<machine_class::State>(&mut list, "machine-class", "");
    told::<volume::State>(&mut list, "volume", "");
    told::<volume_attachment::State>(&mut list, "volume-attachment", "");
    told::<filesystem::State>(&mut list, "filesystem", "");
    told::<filesystem_attachment::State>(&mut list, "filesystem-attachment", "");
    told::<replica_set::State>(&mut list, "replica-set", "");
    told::<member::State>(&mut list, "member", "");
    told::<policy::State>(&mut list, "policy", "");
    told::<provider::State>(&mut list, "provider", "");
    told::<document::State>(&mut list, "document", "");
    told::<of_machines::State>(&mut list, "supervisor", "machines.");
    told::<of_sets::State>(&mut list, "supervisor", "machine-sets.");
    told::<of_storage::State>(&mut list, "supervisor", "storage.");
    told::<of_replica_sets::State>(&mut list, "supervisor", "replica-sets.");
    list += "\n# steps of a replica set\n";
    for reason in StepReason::ALL {
        writeln!(list, "because  {reason} [{}]", reason.code()).expect("a text");
    }
    list += "\n# faults\n";
    for code in FaultCode::ALL {
        writeln!(list, "{code}").expect("a text");
    }
    for kind in kinds().filter(|kind| !statuses(kind).is_empty()) {
        writeln!(list, "\n# statuses of a {kind}\n{}", statuses(kind).join("\n")).expect("a text");
    }
    is_as_read("entries.txt", &list);
}
