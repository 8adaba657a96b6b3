//! Attachments: a claim on the volume, and a link in the machine's directory. Everything here blocks.
//!
//! In this order they are made, each step durable before the next: the record of the attachment (which volume it is
//! about), the claim (exclusive: whoever comes second is refused), the link. They go in the order link, claim, record.
//! Every step can be repeated.

use std::{fs, io, os::unix::fs::symlink, path::Path};

use bailiwick_actors::{
    ports::{AttachVolume, AttachmentInfo, DetachVolume, Lookup},
    vocab::{EffectId, Fault, FaultCode},
};
use bailiwick_journal::crash;

use super::{
    Inner,
    claims::{Claim, claim_path, forget_stale_claim, has_link, is_there, link_target, read_claim, take_back},
    fault::{OrFault, failed_precondition},
    volumes,
};
use crate::agent::{directory::MachineDir, files};

/// Attaches a volume, or finds that it is attached under this id.
pub fn attach(inner: &Inner, wish: AttachVolume) -> Result<AttachmentInfo, Fault> {
    let claim = Claim {
        attachment: wish.id,
        machine: wish.machine,
        machine_effect: wish.machine_effect,
        volume: wish.volume,
        volume_effect: wish.volume_effect,
        read_only: wish.read_only,
    };
    let machine = inner.home.machine(claim.machine_effect);
    if !is_there(&machine)? {
        return Err(Fault::new(FaultCode::NotFound, format!("machine {} does not exist", claim.machine)));
    }
    if !volumes::exists(inner, claim.volume_effect)? {
        return Err(Fault::new(FaultCode::NotFound, format!("volume {} does not exist", claim.volume)));
    }
    let held = read_claim(inner, claim.volume_effect)?;
    let record = inner.home.attachment(claim.attachment);
    if held.as_ref() == Some(&claim) && has_link(&machine, &claim) && read_record(&record)?.as_ref() == Some(&claim) {
        // It is attached: nothing is written anew, so that a kill leaves nothing.
        return Ok(info(&machine, &claim));
    }
    if let Some(holder) = held.filter(|held| *held != claim) {
        if is_there(&inner.home.machine(holder.machine_effect))? {
            return failed_precondition(format!("the volume is attached to machine {}", holder.machine));
        }
        forget_stale_claim(inner, claim.volume_effect)?;
    }
    ensure_name_is_free(inner, &machine, &claim)?;
    files::replace_json(&record, &claim).or_fault("record the attachment")?;
    crash::point("local-after-record");
    place_claim(inner, &claim).or_fault("claim the volume")?;
    crash::point("local-after-claim");
    match place_link(&machine, &claim) {
        // The machine went while we were at it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            take_back(inner, &claim)?;
            Err(Fault::new(FaultCode::NotFound, format!("machine {} no longer exists", claim.machine)))
        }
        placed => placed.or_fault("link the volume").map(|()| info(&machine, &claim)),
    }
}

/// Detaches a volume; whatever is already gone is fine.
pub fn detach(inner: &Inner, wish: DetachVolume) -> Result<(), Fault> {
    let claim = read_claim(inner, wish.volume_effect)?.filter(|claim| claim.attachment == wish.id);
    match claim {
        Some(claim) => take_back(inner, &claim),
        None => files::remove_file(&inner.home.attachment(wish.id)).or_fault("remove the attachment's record"),
    }
}

/// What is known about the attachment made under this id.
pub fn lookup(inner: &Inner, id: EffectId) -> Result<Lookup<AttachmentInfo>, Fault> {
    let record = inner.home.attachment(id);
    let Some(recorded) = read_record(&record)? else {
        return Ok(Lookup::Absent);
    };
    let _turn = inner.keys.blocking_turn(recorded.volume_effect);
    let claim = read_claim(inner, recorded.volume_effect)?.filter(|claim| claim.attachment == id);
    let Some(claim) = claim else {
        files::remove_file(&record).or_fault("remove the record of an attachment that was never made")?;
        return Ok(Lookup::Absent);
    };
    let machine = inner.home.machine(claim.machine_effect);
    if is_there(&machine)? && has_link(&machine, &claim) {
        return Ok(Lookup::Present(info(&machine, &claim)));
    }
    take_back(inner, &claim)?;
    Ok(Lookup::Absent)
}

fn info(machine: &MachineDir, claim: &Claim) -> AttachmentInfo {
    let path = volumes::image(&machine.volume(&claim.volume)).to_string_lossy().into_owned();
    AttachmentInfo { path, read_only: claim.read_only }
}

fn read_record(record: &Path) -> Result<Option<Claim>, Fault> {
    files::read_json(record).or_fault("read the attachment's record")
}

/// Puts the claim in place with its whole content, or fails if there is one: a hard link does both.
fn place_claim(inner: &Inner, claim: &Claim) -> io::Result<()> {
    let place = claim_path(inner, claim.volume_effect);
    let unfinished = place.with_extension("json.new");
    files::remove_file(&unfinished)?;
    files::write_new(&unfinished, &serde_json::to_vec_pretty(claim)?)?;
    crash::point("local-claim-written");
    match fs::hard_link(&unfinished, &place) {
        // Ours, from an earlier attempt; whoever else held it was refused before, or was quicker this instant.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if files::read_json::<Claim>(&place)?.as_ref() != Some(claim) {
                return Err(error);
            }
        }
        placed => placed?,
    }
    crash::point("local-claim-placed");
    files::remove_file(&unfinished)?;
    files::sync_parent(&place)
}

/// A volume that was removed and declared again has the same name under another id; the link of the first one must not be
/// taken away while it is attached.
fn ensure_name_is_free(inner: &Inner, machine: &MachineDir, claim: &Claim) -> Result<(), Fault> {
    let link = machine.volume(&claim.volume);
    let Ok(found) = fs::read_link(&link) else {
        return if link.symlink_metadata().is_ok() { failed_precondition("the link's place is taken") } else { Ok(()) };
    };
    let linked = found.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<EffectId>().ok());
    let Some(linked) = linked.filter(|linked| *linked != claim.volume_effect) else { return Ok(()) };
    let holds = |held: &Claim| held.machine_effect == claim.machine_effect && held.volume == claim.volume;
    if read_claim(inner, linked)?.is_some_and(|held| holds(&held)) {
        return failed_precondition(format!("another volume is attached as {}", claim.volume));
    }
    Ok(())
}

fn place_link(machine: &MachineDir, claim: &Claim) -> io::Result<()> {
    if has_link(machine, claim) {
        return Ok(());
    }
    let link = machine.volume(&claim.volume);
    files::remove_file(&link)?;
    symlink(link_target(claim.volume_effect), &link)?;
    crash::point("local-after-link");
    files::sync_parent(&link)
}
