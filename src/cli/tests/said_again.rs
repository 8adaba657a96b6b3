//! What `describe` shows as declared is a manifest: declared again, it changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{document, vocab::Life};
use bailiwick_journal::{Filter, Journal as _, Position, ReadOnlyJournal, StreamId};
use serde_json::json;

use super::journals;
use crate::{
    config::journal_dir,
    handle::known,
    manifest::{self, Source},
    plan::{Action, Prune, plan},
    view::{self, Fleet},
};

/// How many entries lie between the moments that are looked at.
const APART: u64 = 32;

/// `machine-set` is `MachineSet`.
fn written(kind: &str) -> String {
    kind.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// What somebody would write who declares this entity again; none for what is not declared by people.
fn manifest(journal: &ReadOnlyJournal, fleet: &Fleet, stream: &StreamId) -> Option<String> {
    let told = view::describe(journal, fleet, stream).expect("readable").expect("it exists");
    let told = serde_json::to_value(told).expect("JSON");
    let spec = &told["spec"];
    // What a set or a deployment made is theirs, and what a replica set has for members is seen, not declared.
    let is_ours = spec["set"].is_null() && spec["deployment"].is_null() && told["owner"].is_null();
    let at = told["machine"].as_str().and_then(|machine| fleet.machines.get(machine)?.spec.as_ref());
    let is_of_set = at.is_some_and(|spec| spec.set.is_some());
    if !is_ours || is_of_set || told["madeFor"].is_string() || stream.kind() == "member" {
        return None;
    }
    let mut metadata = json!({"name": stream.name()});
    for texts in ["labels", "annotations"] {
        if stream.kind() == "machine" && told[texts].is_object() {
            metadata[texts] = told[texts].clone();
        }
    }
    let kind = written(stream.kind());
    Some(json!({"apiVersion": "bailiwick/v1", "kind": kind, "metadata": metadata, "spec": spec}).to_string())
}

/// What a manifest may point at, by kind, as the fleet keeps it.
fn names_kept(fleet: &Fleet) -> [BTreeSet<String>; 5] {
    let known = known(fleet);
    let all = [&known.machines, &known.volumes, &known.filesystems, &known.spaces, &known.applications];
    all.map(|names| names.iter().map(ToString::to_string).collect())
}

/// The same, gathered from what there is.
fn names_there(fleet: &Fleet) -> [BTreeSet<String>; 5] {
    let alive = |life: Life| life == Life::Alive;
    let documents = |kind| fleet.documents.existing(kind).map(|(name, _)| name.to_owned()).collect();
    [
        fleet.machines.iter().filter(|(_, f)| alive(f.state.life)).map(|(name, _)| name.to_owned()).collect(),
        fleet.volumes.iter().filter(|(_, f)| alive(f.state.life)).map(|(name, _)| name.to_owned()).collect(),
        fleet.filesystems.iter().filter(|(_, f)| alive(f.state.life)).map(|(name, _)| name.to_owned()).collect(),
        documents(document::Kind::Space),
        documents(document::Kind::Application),
    ]
}

#[test]
fn what_is_shown_as_declared_changes_nothing_if_it_is_declared_again() {
    let root = tempfile::tempdir().expect("a folder");
    let mut shown = BTreeMap::<String, u32>::new();
    let mut wrong = Vec::new();
    for made in journals::all(root.path()) {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        let (mut fleet, head) = (Fleet::default(), journal.head().position);
        fleet.journal = journal.id();
        for entry in journal.read(Position(1), head, &Filter::all()) {
            let entry = entry.expect("a readable entry");
            fleet.apply(&entry).expect("an entry that can be understood");
            let position = entry.header.position;
            if !position.0.is_multiple_of(APART) && position != head {
                continue;
            }
            assert_eq!(names_kept(&fleet), names_there(&fleet), "{} {position}", made.name);
            let classes = fleet.machine_classes.iter().map(|(name, _)| format!("machine-class/{name}"));
            let mut alive = view::declared(&fleet);
            alive.extend(classes.map(|class| class.parse::<StreamId>().expect("a stream")));
            for stream in alive.iter().filter(|stream| fleet.life(stream).is_none_or(|life| life == Life::Alive)) {
                // What documents say is shown as it is stored: as data, not in the words of a manifest.
                if document::Kind::of(stream.kind()).is_some() {
                    continue;
                }
                let Some(text) = manifest(&journal, &fleet, stream) else { continue };
                *shown.entry(stream.kind().to_owned()).or_default() += 1;
                let read = match manifest::parse(&[Source::new("again.yaml", text.as_str())], &known(&fleet)) {
                    Ok(read) => read,
                    // What it is at may be gone by now, and then nobody could declare it like that.
                    Err(error) if error.to_string().contains("dangling-reference") => continue,
                    Err(error) => {
                        wrong.push(format!("{} {position} {stream}: {error}\n{text}", made.name));
                        continue;
                    }
                };
                let steps = plan(&fleet, &read.documents, Prune::No).steps;
                let of_it = steps.iter().filter(|step| step.action != Action::Keep);
                for step in of_it.filter(|step| step.action != Action::Unchanged) {
                    wrong.push(format!("{} {position} {stream}: {step:?}\n{text}", made.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {shown:?}\n{}", wrong.len(), wrong.join("\n"));
    for kind in ["machine", "volume", "filesystem", "machine-set", "machine-deployment", "machine-class", "replica-set"]
    {
        assert!(shown.get(kind).is_some_and(|count| *count > 3), "{kind}: {shown:?}");
    }
}
