//! What a provider tells is looked at before it is believed.
//!
//! An answer that does not fit the question leaves open what has happened: its code is `unknown`.
//!
//! Known secrets are out of an answer before it comes here, see [`Line::read`](super::wire::Line::read). Where that took a
//! part of something that names or decides (an id, a path, a zone), the answer is not taken.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::{
        AttachFilesystem, AttachVolume, AttachmentInfo, Condition, CreateFilesystem, CreateMachine, CreateVolume,
        FilesystemAttachmentInfo, Listing, Lookup, MachineInstance, ProvisionedFilesystem, ProvisionedVolume,
    },
    vocab::{EffectId, Fault, FaultCode, Zone, sort_by},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::wire::{
    ToldAttachment, ToldCondition, ToldFilesystem, ToldLookup, ToldMachine, ToldMount, ToldVolume, instance, made,
    provisioned,
};
use crate::{
    providers::known::is_blotted,
    text::{harmless, is_hostile},
};

/// How an answer to a question by id is looked at.
pub(super) type Found<T> = fn(EffectId, Value) -> Result<Lookup<T>, Fault>;

/// The longest id of a provider, and the longest key or value of a fact, in bytes.
const TEXT_BYTES_MAX: usize = 255;
/// The most facts that the port allows.
const FACTS_MAX: usize = 16;
/// The most conditions of one machine, and the longest kind of one, in bytes: as for agents.
const CONDITIONS_MAX: usize = 128;
const KIND_BYTES_MAX: usize = 128;
const PATH_BYTES_MAX: usize = 4_096;
/// The most zones of one provider.
const ZONES_MAX: usize = 256;

pub(super) fn machine(wish: &CreateMachine, told: Value) -> Result<MachineInstance, Fault> {
    let seen = known_machine(wish.id, read("machine", told)?)?;
    if seen.machine != wish.machine {
        return lie("the provider answered with another machine's name");
    }
    Ok(seen)
}

pub(super) fn found_machine(id: EffectId, told: Value) -> Result<Lookup<MachineInstance>, Fault> {
    read::<ToldLookup<ToldMachine>>("lookup", told)?.checked(|told| known_machine(id, told))
}

/// An item of a list; nobody has asked for it by its id. With its conditions.
pub(super) fn listed(told: Value) -> Result<(MachineInstance, Vec<Condition>), Fault> {
    let mut told: ToldMachine = read("machine", told)?;
    let conditions = std::mem::take(&mut told.conditions).into_iter().take(CONDITIONS_MAX).map(condition).collect();
    Ok((known_machine(told.effect, told)?, conditions))
}

/// The zones that it names; what is no name of a zone is passed over.
pub(super) fn zones(told: Vec<String>) -> BTreeSet<Zone> {
    let is_name = |zone: &String| {
        (1..=TEXT_BYTES_MAX).contains(&zone.len()) && !zone.chars().any(is_hostile) && !is_blotted(zone)
    };
    told.into_iter().filter(is_name).take(ZONES_MAX).map(Zone).collect()
}

/// That something which has to be told as it is holds a secret, and was not taken.
pub(super) fn of_secret(what: &str) -> String {
    format!("{what} contains a secret, so it is rejected; the node's log names the secret")
}

fn condition(told: ToldCondition) -> Condition {
    let harmless = |text: &str, bytes_max: usize| bounded(&harmless(text), bytes_max);
    Condition {
        kind: harmless(&told.kind, KIND_BYTES_MAX),
        healthy: told.healthy.into(),
        text: harmless(&told.text, TEXT_BYTES_MAX),
    }
}

/// A list in order. Two items of one id cannot both be right: then something may be missing, too.
pub(super) fn without_twins<T: Ord>(mut listing: Listing<T>, effect: fn(&T) -> EffectId) -> Listing<T> {
    sort_by(&mut listing.items, Ord::cmp);
    let count = listing.items.len();
    let mut seen = BTreeSet::new();
    listing.items.retain(|item| seen.insert(effect(item)));
    listing.complete &= listing.items.len() == count;
    listing
}

fn known_machine(id: EffectId, told: ToldMachine) -> Result<MachineInstance, Fault> {
    same(id, told.effect)?;
    plain_id(&told.instance)?;
    // Decided by, not only shown.
    for key in [MachineInstance::ZONE, MachineInstance::NONCE] {
        if told.facts.get(key).is_some_and(|value| is_blotted(value)) {
            return lie(&of_secret(&format!("the provider's fact `{key}`")));
        }
    }
    let facts = told
        .facts
        .iter()
        .take(FACTS_MAX)
        .map(|(key, value)| (bounded(key, TEXT_BYTES_MAX), bounded(value, TEXT_BYTES_MAX)));
    let facts: BTreeMap<String, String> = facts.collect();
    Ok(instance(ToldMachine { facts, ..told }))
}

pub(super) fn volume(wish: &CreateVolume, told: Value) -> Result<ProvisionedVolume, Fault> {
    let seen = known_volume(wish.id, read_sized("volume", told)?)?;
    if seen.size < wish.size {
        let text = format!("the provider created a volume of {} instead of {}", seen.size, wish.size);
        return Err(Fault::new(FaultCode::OutOfRange, text));
    }
    Ok(seen)
}

pub(super) fn found_volume(id: EffectId, told: Value) -> Result<Lookup<ProvisionedVolume>, Fault> {
    read::<ToldLookup<ToldVolume>>("lookup", told)?.checked(|told| known_volume(id, told))
}

/// An item of a list; nobody has asked for it by its id.
pub(super) fn listed_volume(told: Value) -> Result<ProvisionedVolume, Fault> {
    let told: ToldVolume = read_sized("volume", told)?;
    known_volume(told.effect, told)
}

fn known_volume(id: EffectId, told: ToldVolume) -> Result<ProvisionedVolume, Fault> {
    same(id, told.effect)?;
    plain_id(&told.volume_id)?;
    Ok(provisioned(told))
}

pub(super) fn attachment(wish: &AttachVolume, told: Value) -> Result<AttachmentInfo, Fault> {
    let seen = known_attachment(read("attachment", told)?)?;
    if wish.read_only && !seen.read_only {
        return lie("the provider attached it read-write, though read-only was requested");
    }
    Ok(seen)
}

pub(super) fn found_attachment(_: EffectId, told: Value) -> Result<Lookup<AttachmentInfo>, Fault> {
    read::<ToldLookup<ToldAttachment>>("lookup", told)?.checked(known_attachment)
}

fn known_attachment(told: ToldAttachment) -> Result<AttachmentInfo, Fault> {
    if !is_path(&told.path) {
        return lie("the provider's path of a volume is none");
    }
    if is_blotted(&told.path) {
        return lie(&of_secret("the provider's path of a volume"));
    }
    Ok(told)
}

fn is_path(path: &str) -> bool {
    (1..=PATH_BYTES_MAX).contains(&path.len()) && !path.chars().any(char::is_control)
}

pub(super) fn filesystem(wish: &CreateFilesystem, told: Value) -> Result<ProvisionedFilesystem, Fault> {
    let seen = known_filesystem(wish.id, read_sized("filesystem", told)?)?;
    if seen.size < wish.size {
        let text = format!("the provider created a filesystem of {} instead of {}", seen.size, wish.size);
        return Err(Fault::new(FaultCode::OutOfRange, text));
    }
    Ok(seen)
}

pub(super) fn found_filesystem(id: EffectId, told: Value) -> Result<Lookup<ProvisionedFilesystem>, Fault> {
    read::<ToldLookup<ToldFilesystem>>("lookup", told)?.checked(|told| known_filesystem(id, told))
}

pub(super) fn listed_filesystem(told: Value) -> Result<ProvisionedFilesystem, Fault> {
    let told: ToldFilesystem = read_sized("filesystem", told)?;
    known_filesystem(told.effect, told)
}

fn known_filesystem(id: EffectId, told: ToldFilesystem) -> Result<ProvisionedFilesystem, Fault> {
    same(id, told.effect)?;
    plain_id(&told.filesystem_id)?;
    Ok(made(told))
}

/// Where it was asked for is where it has to be.
pub(super) fn mount(wish: &AttachFilesystem, told: Value) -> Result<FilesystemAttachmentInfo, Fault> {
    let seen = known_mount(read("mount", told)?)?;
    if wish.read_only && !seen.read_only {
        return lie("the provider mounted it read-write, though read-only was requested");
    }
    if wish.path.as_ref().is_some_and(|path| *path != seen.mount_point) {
        return lie("the provider mounted it at another path than requested");
    }
    Ok(seen)
}

pub(super) fn found_mount(_: EffectId, told: Value) -> Result<Lookup<FilesystemAttachmentInfo>, Fault> {
    read::<ToldLookup<ToldMount>>("lookup", told)?.checked(known_mount)
}

fn known_mount(told: ToldMount) -> Result<FilesystemAttachmentInfo, Fault> {
    if !told.mount_point.starts_with('/') || !is_path(&told.mount_point) {
        return lie("the provider's mount point is not an absolute path");
    }
    if is_blotted(&told.mount_point) {
        return lie(&of_secret("the provider's mount point"));
    }
    Ok(told)
}

fn same(asked: EffectId, told: EffectId) -> Result<(), Fault> {
    if asked == told { Ok(()) } else { lie("the provider answered with another effect id") }
}

fn plain_id(text: &str) -> Result<(), Fault> {
    if text.is_empty() || TEXT_BYTES_MAX < text.len() || text.chars().any(is_hostile) {
        return lie("the provider's id is empty, too long, or has control characters");
    }
    // Without a part of it, it would name nothing any more.
    if is_blotted(text) {
        return lie(&of_secret("the provider's own id"));
    }
    Ok(())
}

fn lie<T>(text: &str) -> Result<T, Fault> {
    Err(Fault::new(FaultCode::Unknown, text))
}

/// At most so many bytes, cut between letters.
fn bounded(text: &str, bytes_max: usize) -> String {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

fn read<T: DeserializeOwned>(what: &str, told: Value) -> Result<T, Fault> {
    serde_json::from_value(told).map_err(|error| nonsense(what, &error))
}

/// A size that is a secret's number was blotted out, and is not taken for a shape that is none.
fn read_sized<T: DeserializeOwned>(what: &str, told: Value) -> Result<T, Fault> {
    if told.get("size_mib").and_then(Value::as_str).is_some_and(is_blotted) {
        return lie(&of_secret(&format!("the provider's size of a {what}")));
    }
    read(what, told)
}

/// How the sentences begin that end with what was expected.
const OF_SERDE: [&str; 4] = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];

/// A shape that is none. Only what is ours is said of it: what the provider wrote may be secret.
pub(super) fn nonsense(what: &str, error: &serde_json::Error) -> Fault {
    let text = error.to_string();
    let why = if text.starts_with("missing field") {
        text
    } else {
        // What follows the last of these words is serde's in these sentences; in others it may be the provider's.
        let is_of_serde = OF_SERDE.iter().any(|start| text.starts_with(start));
        let expected = text.rsplit_once(", expected ").filter(|_| is_of_serde);
        expected.map_or_else(|| "a value does not fit".to_owned(), |(_, expected)| format!("expected {expected}"))
    };
    Fault::new(FaultCode::Unknown, format!("the provider's {what} is malformed: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use bailiwick_actors::ports::Healthy;

    const ID: &str = "00000000-0000-0000-0000-000000000007";

    fn id() -> EffectId {
        ID.parse().unwrap()
    }

    fn told() -> Value {
        json!({"effect": ID, "instance": "i-1", "machine": "web", "status": "running"})
    }

    fn with(field: &str, value: Value) -> Value {
        let mut told = told();
        told[field] = value;
        told
    }

    #[test]
    fn what_fits_is_believed() {
        let Ok(Lookup::Present(seen)) = found_machine(id(), json!({"present": told()})) else { panic!("believed") };
        assert_eq!((seen.effect, seen.instance.0.as_str()), (id(), "i-1"));
        assert_eq!(found_machine(id(), json!("absent")), Ok(Lookup::Absent));
        assert_eq!(found_machine(id(), json!("unknown")), Ok(Lookup::Unknown));
    }

    #[test]
    fn what_does_not_fit_leaves_open_what_has_happened() {
        let long = "x".repeat(256);
        for told in [
            with("effect", json!("00000000-0000-0000-0000-000000000008")),
            with("effect", json!("seven")),
            with("instance", json!("")),
            with("instance", json!(long)),
            with("instance", json!("a\u{1b}[31m")),
            with("machine", json!("Not A Name")),
            with("status", json!("well")),
            with("status", Value::Null),
            json!([]),
            json!("perhaps"),
            Value::Null,
        ] {
            let fault = found_machine(id(), json!({"present": told})).unwrap_err();
            assert_eq!(fault.code, FaultCode::Unknown, "{fault}");
        }
    }

    #[test]
    fn what_a_provider_wrote_is_not_repeated() {
        for told in [
            with("status", json!("hunter22")),
            with("machine", json!("hunter22, expected hunter22")),
            with("status", json!("x`, expected hunter22")),
            json!("hunter22"),
        ] {
            let fault = found_machine(id(), json!({"present": told})).unwrap_err();
            assert!(!fault.text.contains("hunter22"), "{fault}");
        }
    }

    #[test]
    fn what_names_something_is_not_taken_without_a_part_of_it() {
        let volume = |id: &str| json!({"effect": ID, "volume_id": id, "size_mib": 1});
        let filesystem = json!({"effect": ID, "filesystem_id": "fs-***", "size_mib": 1});
        let faults = [
            listed(with("instance", json!("i-***"))).unwrap_err(),
            listed(with("facts", json!({"zone": "***"}))).unwrap_err(),
            listed(with("facts", json!({"nonce": "***"}))).unwrap_err(),
            listed_volume(volume("v-***")).unwrap_err(),
            found_attachment(id(), json!({"present": {"path": "/dev/***", "read_only": true}})).unwrap_err(),
            listed_filesystem(filesystem).unwrap_err(),
            found_mount(id(), json!({"present": {"mount_point": "/***", "read_only": true}})).unwrap_err(),
            listed_volume(json!({"effect": ID, "volume_id": "v", "size_mib": "***"})).unwrap_err(),
        ];
        for fault in faults {
            assert!(fault.code == FaultCode::Unknown && fault.text.contains("secret"), "{fault}");
        }
        assert!(listed(with("facts", json!({"other": "***"}))).is_ok() && listed_volume(volume("v-1")).is_ok());
        assert_eq!(zones(vec!["a".into(), "b-***".into()]), [Zone("a".into())].into());
    }

    #[test]
    fn facts_are_bounded_and_do_not_hide_the_instance() {
        let facts: BTreeMap<String, String> = (0..40).map(|n| (format!("{n:02}"), "ü".repeat(300))).collect();
        let (seen, _) = listed(with("facts", json!(facts))).unwrap();
        assert_eq!(seen.facts.len(), FACTS_MAX);
        assert!(seen.facts.values().all(|value| value.len() == 254));
    }

    #[test]
    fn conditions_are_bounded_and_harmless() {
        let told = json!([{"kind": "Ready", "healthy": true}, {"kind": "k".repeat(300), "healthy": false, "text": "a\u{1b}b"}]);
        let (_, conditions) = listed(with("conditions", told)).unwrap();
        assert_eq!((conditions[0].kind.as_str(), conditions[0].healthy), ("Ready", Healthy::Yes));
        assert_eq!((conditions[1].kind.len(), conditions[1].text.as_str()), (128, "a\\u{1b}b"));
    }

    #[test]
    fn a_list_with_twins_is_not_complete() {
        let twin = |instance: &str| listed(with("instance", json!(instance))).unwrap().0;
        let listing = Listing { complete: true, as_of: Default::default(), items: vec![twin("b"), twin("a")] };
        let listing = without_twins(listing, |item| item.effect);
        assert_eq!((listing.complete, listing.items.len()), (false, 1));
    }
}
