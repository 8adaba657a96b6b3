//! What a provider tells is looked at before it is believed.
//!
//! An answer that does not fit the question leaves open what has happened: its code is `unknown`.
//!
//! Known secrets are out of an answer before it comes here, see [`Line::read`](super::wire::Line::read). Where that took a
//! part of something that names or decides (an id, a path, a zone), the answer is not taken.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::{
        Address, AttachFilesystem, AttachVolume, AttachmentInfo, Condition, CreateFilesystem, CreateMachine,
        CreateVolume, CreatedAttachment, CreatedStorage, CreatedVolume, Device, FilesystemAttachmentInfo, Listing,
        Lookup, MachineInstance, Origin, ProvisionedFilesystem, ProvisionedVolume, StartedMachine,
    },
    storage_rules::claimed_with_instance,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, Zone, sort_by},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::wire::{
    ToldAttachment, ToldCondition, ToldDevice, ToldFilesystem, ToldLookup, ToldMachine, ToldMachineVolume, ToldMount,
    ToldVolume, instance, made, provisioned,
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
/// The most network devices of one machine, addresses of one device, and volumes that come with one machine.
const BESIDE_MAX: usize = 64;
/// The most zones of one provider.
const ZONES_MAX: usize = 256;

pub(super) fn machine(wish: &CreateMachine, told: Value) -> Result<StartedMachine, Fault> {
    let seen = started(wish.id, read("machine", told)?)?;
    if seen.instance.machine != wish.machine {
        return lie("the provider answered with another machine's name");
    }
    for (volume, claim) in claimed_with_instance(&wish.machine, &wish.spec.storage) {
        let Some(made) = seen.storage.volumes.get(&volume) else { continue };
        if made.size < claim.size {
            let text = format!("the provider created volume {volume} with {} instead of {}", made.size, claim.size);
            return Err(Fault::new(FaultCode::OutOfRange, text));
        }
    }
    Ok(seen)
}

pub(super) fn found_machine(id: EffectId, told: Value) -> Result<Lookup<StartedMachine>, Fault> {
    read::<ToldLookup<ToldMachine>>("lookup", told)?.checked(|told| started(id, told))
}

/// A machine, with what came with it.
fn started(id: EffectId, mut told: ToldMachine) -> Result<StartedMachine, Fault> {
    let (network, volumes) = (std::mem::take(&mut told.network), std::mem::take(&mut told.volumes));
    if BESIDE_MAX < network.len().max(volumes.len()) {
        return lie("the provider tells of too many network devices or volumes");
    }
    let instance = known_machine(id, told)?;
    let network = network.into_iter().map(device).collect::<Result<Vec<_>, _>>()?;
    let mut storage = CreatedStorage::default();
    for told in volumes {
        let (volume, created, attachment) = created_volume(told)?;
        if storage.volumes.insert(volume.clone(), created).is_some() {
            return lie("the provider tells of one volume twice");
        }
        storage.attachments.insert(volume, attachment);
    }
    Ok(StartedMachine { instance, network, storage })
}

fn device(told: ToldDevice) -> Result<Device, Fault> {
    if BESIDE_MAX < told.addresses.len() {
        return lie("the provider tells of too many addresses of one network device");
    }
    let addresses = told.addresses.into_iter().map(|told| Address {
        value: told.address,
        cidr: told.subnet,
        config: told.config,
        origin: Origin::Provider,
        provider_subnet: told.provider_subnet,
    });
    let device = Device {
        name: told.name,
        kind: told.kind.unwrap_or_else(|| "ethernet".to_owned()),
        parent: told.parent,
        mac: told.mac,
        mtu: told.mtu,
        port: String::new(),
        provider_id: told.provider_id,
        origin: Origin::Provider,
        addresses: addresses.collect(),
    };
    plain(device.texts(), "the provider's network configuration")?;
    if device.name.is_empty() || device.addresses.iter().any(|address| address.value.is_empty()) {
        return lie("the provider tells of a network device without a name, or of an empty address");
    }
    Ok(device)
}

fn created_volume(told: ToldMachineVolume) -> Result<(Name, CreatedVolume, CreatedAttachment), Fault> {
    plain_id(&told.volume_id)?;
    let created = CreatedVolume {
        id: InstanceId(told.volume_id),
        size: told.size_mib,
        hardware_id: told.hardware_id.filter(|id| !id.is_empty()),
        // It goes with its machine: the set that claims it says so.
        persistent: false,
    };
    let attachment = CreatedAttachment {
        device_name: told.device_name,
        device_link: told.device_link,
        bus_address: told.bus_address,
        read_only: told.read_only,
    };
    let texts = created.hardware_id.iter();
    let texts = texts.chain([&attachment.device_name, &attachment.device_link, &attachment.bus_address]);
    plain(texts, "the provider's device of a volume")?;
    Ok((told.volume, created, attachment))
}

/// Texts that may be empty, and are no longer or stranger than an id may be.
fn plain<'t>(mut texts: impl Iterator<Item = &'t String>, what: &str) -> Result<(), Fault> {
    match texts.find(|text| TEXT_BYTES_MAX < text.len() || text.chars().any(is_hostile) || is_blotted(text)) {
        Some(text) if is_blotted(text) => lie(&of_secret(what)),
        Some(_) => lie(&format!("{what} has a text that is too long, or has control characters")),
        None => Ok(()),
    }
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
        assert_eq!((seen.instance.effect, seen.instance.instance.0.as_str()), (id(), "i-1"));
        assert_eq!((seen.network, seen.storage.is_empty()), (Vec::new(), true));
        assert_eq!(found_machine(id(), json!("absent")), Ok(Lookup::Absent));
        assert_eq!(found_machine(id(), json!("unknown")), Ok(Lookup::Unknown));
    }

    #[test]
    fn what_came_with_a_machine_is_believed_if_it_is_whole() {
        let address = json!({"address": "10.0.1.7", "subnet": "10.0.1.0/24", "config": "dhcp"});
        let volume =
            |name: &str, id: &str| json!({"volume": name, "volume_id": id, "size_mib": 64, "device_name": "sdb"});
        let mut told = with("network", json!([{"name": "eth0", "mac": "aa:bb:cc:dd:ee:ff", "addresses": [address]}]));
        told["volumes"] = json!([volume("web-1-data-0", "vol-7")]);
        let Ok(Lookup::Present(seen)) = found_machine(id(), json!({"present": told})) else { panic!("believed") };
        let device = &seen.network[0];
        assert_eq!((device.name.as_str(), device.kind.as_str(), device.origin), ("eth0", "ethernet", Origin::Provider));
        assert_eq!(device.addresses[0].cidr, "10.0.1.0/24");
        let data: Name = "web-1-data-0".parse().unwrap();
        assert_eq!(seen.storage.volumes[&data].id.0, "vol-7");
        assert_eq!(seen.storage.attachments[&data].info().path, "/dev/sdb");

        let long = "x".repeat(256);
        for wrong in [
            with("network", json!([{"name": ""}])),
            with("network", json!([{"name": long}])),
            with("network", json!([{"name": "eth***"}])),
            with("network", json!([{"name": "eth0", "addresses": [{"address": ""}]}])),
            with("network", json!(vec![json!({"name": "eth0"}); 65])),
            with("volumes", json!([volume("Not A Name", "vol-7")])),
            with("volumes", json!([volume("data", "")])),
            with("volumes", json!([volume("data", "vol-***")])),
            with("volumes", json!([volume("data", "vol-7"), volume("data", "vol-8")])),
        ] {
            let fault = found_machine(id(), json!({"present": wrong})).unwrap_err();
            assert_eq!(fault.code, FaultCode::Unknown, "{fault}");
        }
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
