//! What takes over volumes that somebody else made.

use serde::{Deserialize, Serialize};

use super::{BulkAnswer, ProvisionedVolume};
use crate::{
    storage_rules::ImportWish,
    vocab::{Name, Uid},
};

/// One volume to be taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportVolume {
    pub volume: Name,
    pub uid: Uid,
    /// Which one, and the effect id it is known by from then on.
    pub wish: ImportWish,
}

/// Takes over volumes that nobody owns.
///
/// A provider follows [`check_import`](crate::storage_rules::check_import): what is tagged or in use is refused with
/// `failed-precondition`, and data is neither looked at nor touched.
pub trait VolumeImporter: Send + Sync {
    /// Takes volumes over; an id that already has its volume answers with it.
    fn import_volumes(&self, volumes: Vec<ImportVolume>) -> BulkAnswer<'_, ProvisionedVolume>;
}
