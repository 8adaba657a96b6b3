//! `storage:` of a machine or of a template: `{logs: 'local,64M,2', files: {filesystem: 'tmpfs,16M', path: /srv/files}}`.

use bailiwick_actors::storage_rules::{Directive, StorageKind};

use super::storage;
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
        read::Claim,
        tree::{Body, Key},
    },
    text::cut,
};

/// What a machine's declaration asks for beside the machine; nothing if it makes no sense, which is said.
pub(super) fn claims(spec: &Field<'_>, reading: &mut Reading<'_>) -> Vec<Claim> {
    let Some(field) = Fields::any(spec, reading).and_then(|fields| fields.get("storage")) else { return Vec::new() };
    let entries = field.entries(limits::CLAIMS_MAX, reading).unwrap_or_default();
    entries.into_iter().filter_map(|(key, field)| claim(key, &field, reading)).collect()
}

fn claim(key: &Key, field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Claim> {
    let Ok(name) = key.text.parse() else {
        let message = format!("{:?} is not a valid name", cut(&key.text, 40));
        return reading.refuse(key.at, &field.path, Code::BadName, message, "a storage name has 1 to 63 lower-case letters, digits and hyphens, and begins and ends with a letter or digit");
    };
    let place = reading.place(field.node.at);
    let plain = |kind, directive| Claim {
        place,
        field: field.path.clone(),
        name,
        kind,
        directive,
        path: None,
        read_only: false,
        is_persistent: None,
    };
    if !matches!(field.node.body, Body::Mapping(_)) {
        return Some(plain(None, directive(field, reading)?));
    }
    let fields = Fields::of(field, &["volume", "filesystem", "path", "readOnly", "persistent"], reading)?;
    let (kind, said) = match (fields.get("volume"), fields.get("filesystem")) {
        (Some(said), None) => (StorageKind::Block, said),
        (None, Some(said)) => (StorageKind::Filesystem, said),
        _ => {
            let message = "exactly one of `volume` and `filesystem` is required";
            return field.refuse(reading, Code::MissingField, message, "write one of them: `volume: 'gold,10G'`");
        }
    };
    let claim = plain(Some(kind), directive(&said, reading)?);
    let path = storage::mount_path(&fields, reading)?;
    if let (Some(_), Some(field)) = (&path, fields.get("path"))
        && (kind == StorageKind::Block || claim.directive.count > 1)
    {
        let message = "only a single filesystem can have a mount path";
        return field.refuse(reading, Code::BadText, message, "remove it, or request one filesystem");
    }
    let read_only = storage::truth("readOnly", &fields, reading)?;
    let is_persistent = match fields.get("persistent") {
        None => None,
        Some(_) => Some(storage::truth("persistent", &fields, reading)?),
    };
    Some(Claim { path, read_only, is_persistent, ..claim })
}

fn directive(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Directive> {
    let text = field.text(reading)?;
    text.parse().ok().or_else(|| {
        let why = text.parse::<Directive>().expect_err("it was refused");
        let next = "write pool, size and count, or some of them: `gold,10G,2`";
        field.refuse(reading, Code::BadText, format!("{:?} is not a storage request: {why}", cut(text, 60)), next)
    })
}
