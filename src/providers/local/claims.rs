//! Claims: who holds a volume. Everything here blocks.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bailiwick_actors::vocab::{EffectId, Fault, Name};
use bailiwick_journal::crash;
use serde::{Deserialize, Serialize};

use super::{Inner, fault::OrFault};
use crate::agent::{directory::MachineDir, files};

/// Who holds a volume; stands in its directory as `attached.json` and, as the record, in `attachments/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub attachment: EffectId,
    pub machine: Name,
    pub machine_effect: EffectId,
    pub volume: Name,
    pub volume_effect: EffectId,
    pub read_only: bool,
}

/// The machine that a volume is attached to; a claim of a machine that is gone does not count.
pub fn holder(inner: &Inner, volume: EffectId) -> Result<Option<Name>, Fault> {
    match read_claim(inner, volume)? {
        Some(claim) if is_there(&inner.home.machine(claim.machine_effect))? => Ok(Some(claim.machine)),
        _ => Ok(None),
    }
}

/// Removes the claim of a machine that is gone.
pub fn forget_stale_claim(inner: &Inner, volume: EffectId) -> Result<(), Fault> {
    read_claim(inner, volume)?.map_or(Ok(()), |claim| take_back(inner, &claim))
}

/// A machine is there as long as its directory is, whether it runs or not.
pub fn is_there(machine: &MachineDir) -> Result<bool, Fault> {
    match fs::symlink_metadata(machine.path()) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).or_fault("find the machine's directory"),
    }
}

pub fn claim_path(inner: &Inner, volume: EffectId) -> PathBuf {
    inner.home.volume(volume).join("attached.json")
}

pub fn read_claim(inner: &Inner, volume: EffectId) -> Result<Option<Claim>, Fault> {
    files::read_json(&claim_path(inner, volume)).or_fault("read who holds the volume")
}

/// Relative, so that the whole root can be moved.
pub fn link_target(volume: EffectId) -> PathBuf {
    Path::new("../../../volumes").join(volume.to_string())
}

pub fn has_link(machine: &MachineDir, claim: &Claim) -> bool {
    let target = link_target(claim.volume_effect);
    fs::read_link(machine.volume(&claim.volume)).is_ok_and(|found| found == target)
}

/// Undoes all steps of an attachment, the last one first.
pub fn take_back(inner: &Inner, claim: &Claim) -> Result<(), Fault> {
    let machine = inner.home.machine(claim.machine_effect);
    if has_link(&machine, claim) {
        let link = machine.volume(&claim.volume);
        remove_durably(&link).or_fault("remove the link")?;
    }
    crash::point("local-after-unlink");
    let place = claim_path(inner, claim.volume_effect);
    remove_durably(&place).or_fault("remove the claim")?;
    crash::point("local-after-unclaim");
    files::remove_file(&inner.home.attachment(claim.attachment)).or_fault("remove the attachment's record")
}

/// Removes a file or link for good; if its directory goes at the same time, that does it too.
fn remove_durably(path: &Path) -> io::Result<()> {
    files::remove_file(path)?;
    match files::sync_parent(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}
