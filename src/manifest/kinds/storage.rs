//! `kind: Volume`, `kind: Filesystem` and their attachments.

use bailiwick_actors::{
    filesystem, filesystem_attachment,
    storage_rules::{PoolName, ProviderType, check_mount_point},
    vocab::{Name, SizeMib},
    volume, volume_attachment,
};

use super::label_map;
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        problem::Code,
        read::{Provider, Reference},
        size as sizes,
        wish::Wish,
    },
    text::cut,
};

/// The volume, the machine at which it is made, if that is said, and its tags.
pub(super) fn volume(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    from: &mut Provider,
    reading: &mut Reading<'_>,
) -> Option<(volume::Spec, Option<Name>, volume::Tags)> {
    let fields = Fields::of(spec, &["provider", "pool", "size", "machine", "tags"], reading)?;
    let provider = source(&fields, ProviderType::Loop, from, reading);
    let size = fields.require("size", "64M", reading).and_then(|field| size(&field, reading));
    let machine = maybe_named("machine", &fields, references, reading);
    let tags = fields.get("tags").map(|field| label_map(&field, reading)).unwrap_or_default();
    Some((volume::Spec { provider: provider?, size: size? }, machine?, tags))
}

/// Who makes it: a provider that is named, or else whoever the pool says.
fn source(fields: &Fields<'_>, fallback: ProviderType, from: &mut Provider, reading: &mut Reading<'_>) -> Option<Name> {
    match (fields.get("provider"), fields.get("pool")) {
        (Some(_), Some(pool)) => {
            let message = "both a provider and a pool are given";
            pool.refuse(reading, Code::Duplicate, message, "keep one of them: a pool implies its provider")
        }
        (Some(provider), None) => provider.name(reading),
        (None, named) => {
            let named = match named {
                None => None,
                Some(field) => Some((pool_name(&field, reading)?, reading.place(field.node.at))),
            };
            *from = Provider::OfPool(named);
            fallback.as_str().parse().ok()
        }
    }
}

fn pool_name(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<PoolName> {
    let text = field.text(reading)?;
    let name = text.parse::<PoolName>();
    name.ok().or_else(|| {
        let message = format!("{:?} is not a pool name", cut(text, 60));
        let next = "a pool name is a letter, then letters, digits, `-` and `?`, at most 63";
        field.refuse(reading, Code::BadName, message, next)
    })
}

pub(super) fn size(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<SizeMib> {
    let text = field.text(reading)?;
    let Some(size) = sizes::parse(text) else {
        let squeezed = text.to_uppercase().replace([' ', '_'], "").replace('I', "i");
        let meant = Some(squeezed).filter(|text| sizes::parse(text).is_some());
        let next = match meant {
            Some(meant) if text.len() < 40 => format!("did you mean `{meant}`?"),
            _ => "write a number of MiB, or a number with M, G, T or P: 64M, 1.5G, 4Gi".to_owned(),
        };
        return field.refuse(reading, Code::BadSize, format!("{:?} is not a size", cut(text, 40)), next);
    };
    if size == SizeMib(0) || size.bytes().is_none() {
        let message = format!("{} is out of range", cut(text, 40));
        return field.refuse(reading, Code::BadSize, message, "a volume has at least 1M and less than 16E");
    }
    Some(size)
}

pub(super) fn volume_attachment(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<volume_attachment::Spec> {
    let fields = Fields::of(spec, &["machine", "volume", "readOnly"], reading)?;
    let machine = named("machine", &fields, references, reading);
    let volume = named("volume", &fields, references, reading);
    let read_only = truth("readOnly", &fields, reading)?;
    Some(volume_attachment::Spec { machine: machine?, volume: volume?, read_only })
}

/// The name of another entity, which has to be there.
fn named(
    kind: &'static str,
    fields: &Fields<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<Name> {
    let field = fields.require(kind, &format!("some-{kind}"), reading)?;
    Reference::named(kind, &field, references, reading)
}

/// The name of another entity, if one is given; the outer none says that it makes no sense.
fn maybe_named(
    kind: &'static str,
    fields: &Fields<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<Option<Name>> {
    match fields.get(kind) {
        None => Some(None),
        Some(_) => named(kind, fields, references, reading).map(Some),
    }
}

/// A filesystem that its provider makes; or one on a volume, which is as large as the volume and has one provider.
pub(super) fn filesystem(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    from: &mut Provider,
    reading: &mut Reading<'_>,
) -> Option<filesystem::Spec> {
    let fields = Fields::of(spec, &["provider", "pool", "size", "volume", "machine"], reading)?;
    let backing = maybe_named("volume", &fields, references, reading)?;
    let machine = maybe_named("machine", &fields, references, reading);
    let is_managed = backing.is_some();
    if let Some(pool) = fields.get("pool").filter(|_| is_managed) {
        let message = "a filesystem on a volume cannot have a pool";
        return pool.refuse(reading, Code::Duplicate, message, "give the volume the pool");
    }
    let provider = match fields.get("provider") {
        None if is_managed => filesystem::MANAGED.parse().ok(),
        Some(field) if fields.get("pool").is_none() => {
            let provider = field.name(reading)?;
            if is_managed != (provider.as_str() == filesystem::MANAGED) {
                let message = match is_managed {
                    true => format!("{provider} cannot create filesystems on volumes"),
                    false => format!("{provider} creates filesystems on volumes, but no volume is named"),
                };
                let next = "name the volume and provider `managed`, or no provider";
                return field.refuse(reading, Code::BadName, message, next);
            }
            Some(provider)
        }
        _ => source(&fields, ProviderType::Rootfs, from, reading),
    };
    let size = match fields.get("size") {
        None if is_managed => Some(SizeMib(1)),
        _ => fields.require("size", "64M", reading).and_then(|field| size(&field, reading)),
    };
    Some(filesystem::Spec { provider: provider?, size: size?, backing, machine: machine? })
}

pub(super) fn filesystem_attachment(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<filesystem_attachment::Spec> {
    let fields = Fields::of(spec, &["machine", "filesystem", "path", "readOnly"], reading)?;
    let machine = named("machine", &fields, references, reading);
    let filesystem = named("filesystem", &fields, references, reading);
    let path = mount_path(&fields, reading)?;
    let read_only = truth("readOnly", &fields, reading)?;
    Some(filesystem_attachment::Spec { machine: machine?, filesystem: filesystem?, path, read_only })
}

/// Where a filesystem is to be mounted, if that is said; the outer none says that it makes no sense.
#[allow(clippy::option_option, reason = "left out is something else than wrong")]
pub(super) fn mount_path(fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Option<String>> {
    let Some(field) = fields.get("path") else { return Some(None) };
    let text = field.line(reading)?;
    if let Err(error) = check_mount_point(text) {
        let message = format!("nothing can be mounted at {:?}: {error}", cut(text, 60));
        let next = "write an absolute path of your own, such as `/srv/data`";
        return field.refuse(reading, Code::BadName, message, next);
    }
    Some(Some(text.to_owned()))
}

/// Whether it is said to be so.
pub(super) fn truth(what: &str, fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<bool> {
    match fields.get(what) {
        None => Some(false),
        Some(field) => field.truth(reading),
    }
}

/// An attachment is named by what it binds, so metadata may be left out; a name that is given has to be the right one.
pub(super) fn attachment_wish(
    top: &Fields<'_>,
    spec: volume_attachment::Spec,
    reading: &mut Reading<'_>,
) -> Option<Wish> {
    named_as_bound(top, &spec.stream_name(), reading)?;
    Some(Wish::VolumeAttachment { spec })
}

/// Whether metadata is left out or names what is bound.
pub(super) fn named_as_bound(top: &Fields<'_>, name: &str, reading: &mut Reading<'_>) -> Option<()> {
    if let Some(metadata) = top.get("metadata")
        && let Some(field) = Fields::of(&metadata, &["name"], reading)?.get("name")
    {
        let text = field.line(reading)?;
        if text != name {
            let message = format!("{:?} is not the name of this attachment", cut(text, 60));
            let next = format!("write `name: {name}`, or omit metadata");
            return field.refuse(reading, Code::BadName, message, next);
        }
    }
    Some(())
}
