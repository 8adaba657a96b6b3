//! Which way storage goes, and whether it can still go the other one.

use serde::{Deserialize, Serialize};

use super::{Effort, Life, Outlook};

/// How storage goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StorageRemoval {
    /// With its data.
    #[default]
    Destroy,
    /// Its provider lets go of it and keeps the data.
    Release,
}

/// What a wish for one way comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// It goes as whatever is removed goes, or went that way already.
    AsRemoved,
    /// Nothing was asked of its provider yet: it goes that way instead.
    Instead,
    /// Its provider, which failed to let go of it, is asked to destroy it instead.
    DestroyedInstead,
    /// Its provider may have done the other thing by now.
    TooLate,
}

impl StorageRemoval {
    /// What becomes of something that goes like this, and is to go like that: what its provider may have destroyed cannot be
    /// kept, and what it may be letting go of right now is not destroyed at the same time.
    pub fn turned_to(self, wanted: Self, life: Life, undoing: Option<&Effort>) -> WayOut {
        if self == wanted {
            return WayOut::AsRemoved;
        }
        match (life, wanted, undoing) {
            (Life::Dying, _, None) => WayOut::Instead,
            (Life::Dead, Self::Release, Some(_)) => WayOut::TooLate,
            (Life::Dead, Self::Destroy, Some(effort)) if effort.outlook == Outlook::Trying => WayOut::TooLate,
            (Life::Dead, Self::Destroy, Some(_)) => WayOut::DestroyedInstead,
            _ => WayOut::AsRemoved,
        }
    }
}
