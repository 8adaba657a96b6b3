//! What was found of a journal before anything is decided about it.

use std::sync::Arc;

use uuid::Uuid;

use super::{catch_up::Survey, rollback_guard::RollbackGuard};
use crate::{disk::Disk, format::head_file::FoundHead, index::Index, log::scan::Scanned};

/// All that was found of a journal that is being opened, or read.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub journal: Uuid,
    pub disk: &'a Arc<dyn Disk>,
    pub scanned: &'a Scanned,
    pub index: &'a Index,
    pub found: FoundHead,
    pub guard: &'a RollbackGuard,
    pub survey: &'a Survey,
}
