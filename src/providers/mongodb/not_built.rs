//! Takes the driver's place in a build without it.

use std::time::Duration;

use bailiwick_actors::{
    ports::Answer,
    vocab::{Fault, FaultCode, Name},
};

use super::{Admin, Broken, Document};
use crate::providers::access::Environment;

/// Sends nothing, and says what to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotBuilt(());

impl NotBuilt {
    pub(super) fn instead_of(_: Environment) -> Self {
        Self(())
    }
}

impl Admin for NotBuilt {
    fn run<'a>(
        &'a self,
        _set: &'a Name,
        _host: &'a str,
        _command: Document,
        _time: Duration,
    ) -> Answer<'a, Result<Document, Broken>> {
        let text = "this program was built without MongoDB; next: cargo build --release --features mongodb";
        Box::pin(async move { Err(Broken::NotSent(Fault::new(FaultCode::Unimplemented, text))) })
    }
}
