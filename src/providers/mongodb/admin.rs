//! All that the adapter needs of a driver, and no more.

use std::time::Duration;

use bailiwick_actors::{
    ports::Answer,
    vocab::{Fault, Name},
};

use super::document::Document;

/// Runs commands on database `admin` of one server at a time.
pub trait Admin: Send + Sync {
    /// Runs a command once, on the server at `host` (`host:port`) and on no other; it has ended after `time`. The set says
    /// whose credentials are used.
    ///
    /// # Errors
    /// See [`Broken`]. No text holds a secret.
    fn run<'a>(
        &'a self,
        set: &'a Name,
        host: &'a str,
        command: Document,
        time: Duration,
    ) -> Answer<'a, Result<Document, Broken>>;
}

/// Why a command has no answer that says yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The server was never asked.
    NotSent(Fault),
    /// It was asked, and says no: a number and a name from MongoDB's list of errors, and a text for people.
    Said { code: i32, name: String, text: String },
    /// It was asked, and nobody knows what came of it.
    Unclear(Fault),
}
