//! The earlier stored forms of orders: with commands in their first form, of mounts only in the first one, of volumes and
//! filesystems in both.

use bailiwick_journal::Body;

use crate::{
    attachment::Attached,
    contract::{self, Renumbered},
    filesystem::Filesystem,
    filesystem_attachment::Filesystems,
    storage::Provisioned,
    volume::Volume,
};

/// An event with the command in it as it is written today.
pub(super) fn lifted(body: &Body, schema: u16) -> Body {
    let numbers = |at: usize| Some(u32::from_le_bytes(*body.bytes.get(at..)?.first_chunk()?));
    let found = match (numbers(0), numbers(4), body.schema) {
        (Some(ISSUED), Some(TO_VOLUME), _) => behind_names(&body.bytes, 1).map(|at| (at, Volume::FIRST_FORM.commands)),
        (Some(ISSUED), Some(TO_FILESYSTEM), _) => {
            behind_names(&body.bytes, 1).map(|at| (at, Filesystem::FIRST_FORM.commands))
        }
        (Some(ISSUED), Some(TO_MOUNT), 1) => behind_names(&body.bytes, 2).zip(commands_to_mounts()),
        _ => None,
    };
    match found {
        Some((at, commands)) => contract::renumbered(body, schema, at, commands),
        None => Body { schema, bytes: body.bytes.clone() },
    }
}

/// The numbers of the event, and of the orders in it.
const ISSUED: u32 = 0;
const TO_VOLUME: u32 = 1;
const TO_FILESYSTEM: u32 = 4;
const TO_MOUNT: u32 = 5;

fn commands_to_mounts() -> Option<Renumbered> {
    Filesystems::FIRST_FORM.map(|first| first.commands)
}

/// Where the command stands: behind the numbers of event and order, and so many names.
fn behind_names(bytes: &[u8], names: usize) -> Option<usize> {
    (0..names).try_fold(8_usize, |at, _| {
        let length = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        at.checked_add(8)?.checked_add(usize::try_from(length).ok()?)
    })
}
