//! The objects that a command line names.

use bailiwick_journal::StreamId;

use super::{exit::CliError, get::kind_of};

/// The entities that people name.
pub(super) fn named(names: &[String]) -> Result<Vec<StreamId>, CliError> {
    names.iter().map(|text| entity(text)).collect()
}

/// The entity that people mean.
pub(super) fn entity(text: &str) -> Result<StreamId, CliError> {
    let Some((kind, name)) = text.split_once('/') else {
        return Err(CliError::usage(format!("{text:?} is not KIND/NAME")).next("write it like machine/web"));
    };
    StreamId::new(kind_of(kind)?, name).map_err(|error| CliError::usage(error.to_string()))
}
