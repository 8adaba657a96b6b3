//! `kind: Volume` and `kind: VolumeAttachment`.

use bailiwick_actors::{vocab::SizeMib, volume, volume_attachment};

use crate::{
    manifest::{
        check::Reference,
        fields::{Field, Fields, Reading},
        problem::Code,
        wish::Wish,
    },
    text::cut,
};

pub(super) fn volume(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<volume::Spec> {
    let fields = Fields::of(spec, &["provider", "size"], reading)?;
    let provider = fields.require("provider", "local", reading).and_then(|field| field.name(reading));
    let size = fields.require("size", "64M", reading).and_then(|field| size(&field, reading));
    Some(volume::Spec { provider: provider?, size: size? })
}

fn size(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<SizeMib> {
    let text = field.text(reading)?;
    let Ok(size) = text.parse::<SizeMib>() else {
        let squeezed = text.to_uppercase().replace([' ', '_'], "").replace("IB", "iB");
        let meant = [squeezed.clone(), squeezed.replace('I', "iB")].into_iter().find(|t| t.parse::<SizeMib>().is_ok());
        let next = match meant {
            Some(meant) if text.len() < 40 => format!("did you mean `{meant}`?"),
            _ => "write a number of MiB, or a number with M, G, T or P: 64M, 1.5G".to_owned(),
        };
        return field.refuse(reading, Code::BadSize, format!("{:?} is no size", cut(text, 40)), next);
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
    let mut named = |kind: &'static str, reading: &mut Reading<'_>| {
        let field = fields.require(kind, &format!("some-{kind}"), reading)?;
        let name = field.name(reading)?;
        references.push(Reference { kind, name: name.clone(), place: reading.place(field.node.at), field: field.path });
        Some(name)
    };
    let machine = named("machine", reading);
    let volume = named("volume", reading);
    let read_only = match fields.get("readOnly") {
        None => false,
        Some(field) => field.truth(reading)?,
    };
    Some(volume_attachment::Spec { machine: machine?, volume: volume?, read_only })
}

/// An attachment is named by what it binds, so metadata may be left out; a name that is given has to be the right one.
pub(super) fn attachment_wish(
    top: &Fields<'_>,
    spec: volume_attachment::Spec,
    reading: &mut Reading<'_>,
) -> Option<Wish> {
    if let Some(metadata) = top.get("metadata")
        && let Some(field) = Fields::of(&metadata, &["name"], reading)?.get("name")
    {
        let text = field.line(reading)?;
        if text != spec.stream_name() {
            let message = format!("{:?} is not what this attachment is called", cut(text, 60));
            let next = format!("write `name: {}`, or leave metadata out", spec.stream_name());
            return field.refuse(reading, Code::BadName, message, next);
        }
    }
    Some(Wish::VolumeAttachment { spec })
}
