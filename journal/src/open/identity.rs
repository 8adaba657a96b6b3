//! Whose journal a folder holds, who else has it open, and how a disk's errors are told.

use std::{io, path::Path};

use uuid::Uuid;

use crate::{
    OpenError,
    disk::{Disk, Lock, LockError, LockMode, OsDisk, crash},
    open::format_file::{self, FoundFormat},
};

/// How the journal's id was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Format,
    /// `FORMAT` is missing or damaged; head file and log agree.
    Recovered,
    /// The journal is new.
    Created,
}

pub(super) fn find_or_make_format(disk: &dyn Disk, new_id: Uuid) -> Result<(Uuid, Origin), OpenError> {
    if let Some((journal, is_witnessed)) = known_id(disk)? {
        return Ok((journal, if is_witnessed { Origin::Recovered } else { Origin::Format }));
    }
    format_file::write(disk, new_id).map_err(io_error(disk, "write FORMAT in"))?;
    crash::point("after-format");
    Ok((new_id, Origin::Created))
}

/// The id of an existing journal, for readers; and whether it is known without a `FORMAT` file.
pub(crate) fn existing_id(disk: &dyn Disk) -> Result<(Uuid, bool), OpenError> {
    let problem = || "it has no FORMAT file".into();
    known_id(disk)?.ok_or_else(|| OpenError::Foreign { path: disk.path(), problem: problem() })
}

/// None: nothing says that there is a journal.
fn known_id(disk: &dyn Disk) -> Result<Option<(Uuid, bool)>, OpenError> {
    let foreign = |problem: String| OpenError::Foreign { path: disk.path(), problem };
    let problem = match format_file::read(disk).map_err(io_error(disk, "read FORMAT in"))? {
        FoundFormat::Journal(journal) => return Ok(Some((journal, false))),
        FoundFormat::Refused(problem) => return Err(foreign(problem)),
        FoundFormat::Damaged(problem) => Some(problem),
        FoundFormat::Missing => None,
    };
    let recover_id = format_file::recover_id(disk).map_err(io_error(disk, "read head and log in"))?;
    match (recover_id, problem) {
        (Some(journal), _) => Ok(Some((journal, true))),
        (None, Some(problem)) => Err(foreign(problem)),
        (None, None) => Ok(None),
    }
}

/// Whose journal is in a folder, and who has it open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    pub journal: Uuid,
    /// The process that writes to it; none if no node runs there.
    pub holder: Option<String>,
}

/// Looks whose journal is in a folder, without reading it.
///
/// # Errors
/// If there is none, or it cannot be looked at.
pub fn occupant(dir: &Path) -> Result<Occupant, OpenError> {
    let disk = OsDisk::new(dir);
    let (journal, _) = existing_id(&disk)?;
    match take_lock(&disk, LockMode::Shared) {
        Ok(_) => Ok(Occupant { journal, holder: None }),
        Err(OpenError::InUse { holder, .. }) => Ok(Occupant { journal, holder: Some(holder) }),
        Err(error) => Err(error),
    }
}

pub(crate) fn take_lock(disk: &dyn Disk, how: LockMode) -> Result<Lock, OpenError> {
    disk.lock(how).map_err(|error| match error {
        LockError::Held { holder } => OpenError::InUse { path: disk.path(), holder },
        LockError::Read => OpenError::BeingRead { path: disk.path() },
        LockError::Io(source) => OpenError::Io { action: "lock", path: disk.path(), source },
    })
}

pub(crate) fn io_error(disk: &dyn Disk, action: &'static str) -> impl Fn(io::Error) -> OpenError + use<> {
    let path = disk.path();
    move |source| OpenError::Io { action, path: path.clone(), source }
}
