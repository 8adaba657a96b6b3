//! The volumes a machine starts with.

use bailiwick::actors::supervisor::machines::start_volumes::{
    Attachment, ExistingVolume, NewVolume, check_existing, check_new,
};
use serde::Deserialize;
use serde_json::Value;

use super::same;

use super::super::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeParamsCase {
    machine: Option<String>,
    volume: Option<VolumeParam>,
    existing_attachment: Option<ExistingParam>,
    expect: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeParam {
    tag: String,
    attachment: Option<AttachmentParam>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttachmentParam {
    machine: String,
    instance_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExistingParam {
    volume: String,
    volume_id: String,
    machine: String,
    instance_id: String,
}

pub(super) fn start_volume_params(case: &Value) -> Result<(), String> {
    let case: VolumeParamsCase = read(case)?;
    let machine = case.machine.unwrap_or_default();
    let checked = match (&case.volume, &case.existing_attachment) {
        (Some(volume), None) => {
            let attachment = volume.attachment.as_ref();
            let attachment =
                attachment.map(|found| Attachment { machine: &found.machine, instance_id: &found.instance_id });
            check_new(&NewVolume { tag: &volume.tag, attachment }, &machine)
        }
        (None, Some(found)) => {
            let attachment = Attachment { machine: &found.machine, instance_id: &found.instance_id };
            let volume = ExistingVolume { tag: &found.volume, volume_id: &found.volume_id, attachment };
            check_existing(&volume, &machine)
        }
        _ => return Err("one of volume and existing_attachment is to be there".into()),
    };
    same("check", case.expect.as_str(), checked.err().map_or("ok", |fault| fault.code()))
}
