//! How a program registers a kind of its own.

use bailiwick_actors::custom::{self as actors, RegisterError};

use crate::{custom_kind, custom_kind::CustomKind, manifest, plan, view, words};

/// Registers a kind for this process: nodes and journals that are opened from now on know it.
///
/// # Errors
/// If the name of its streams or of its manifests is taken, or cannot be used.
pub fn register<K: CustomKind>() -> Result<(), RegisterError> {
    if manifest::is_kind(K::MANIFEST) {
        return Err(RegisterError::Taken { kind: K::MANIFEST });
    }
    actors::register::<K>()?;
    words::add::<K>();
    custom_kind::add::<K>();
    view::add::<K>();
    plan::add::<K>();
    #[cfg(feature = "simulation")]
    crate::simulation::add::<K>();
    Ok(())
}
