//! What the handlers of requests share.

use std::sync::Arc;

use crate::{handle::Handle, providers::enrolment::Enrolments};

/// What every request can use.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) node: Handle,
    pub(super) key: Arc<[u8; 32]>,
    pub(super) enrolments: Arc<Enrolments>,
}
