//! Event sinks, as they are declared.

use std::{fs, io, path::PathBuf, str::FromStr};

use bailiwick_actors::vocab::Name;
use bailiwick_journal::{Outcome, StreamId};
use serde::{Deserialize, Deserializer, de::Error};

use crate::client::{Authority, Hook, InvalidHook, Token};

/// A sink, as it is declared: `NAME=URL`, with what is wanted behind a `#`: `ops=http://host/in#kind=machine&outcome=refused`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventSink {
    pub name: Name,
    pub url: String,
    pub wanted: Wanted,
}

/// What a sink is told, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[non_exhaustive]
pub struct Wanted {
    pub entity: Option<StreamId>,
    pub kind: Option<String>,
    #[serde(deserialize_with = "outcome")]
    pub outcome: Option<Outcome>,
    pub reason: Option<String>,
    pub principal: Option<String>,
    /// The certificates that vouch for the sink (PEM).
    pub ca: Option<PathBuf>,
    /// The file with the token that is sent.
    pub token_file: Option<PathBuf>,
    pub format: SinkFormat,
}

/// How decisions are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SinkFormat {
    /// A JSON list of lines of the log.
    #[default]
    Log,
    /// As spans, to a collector of OpenTelemetry: its protocol over HTTP, in JSON.
    Otlp,
}

/// `done`, `nothing` or `refused`.
fn outcome<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Outcome>, D::Error> {
    match String::deserialize(text)?.as_str() {
        "done" => Ok(Some(Outcome::Done)),
        "nothing" => Ok(Some(Outcome::Nothing)),
        "refused" => Ok(Some(Outcome::Refused)),
        other => Err(D::Error::custom(format!("{other:?} is not an outcome: use done, nothing or refused"))),
    }
}

/// Why a text declares no sink.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSink {
    #[error("expected NAME=URL")]
    Form,
    #[error("{0:?} is not a name: use lower-case letters, digits and '-'")]
    Name(String),
    #[error("the URL cannot be used: {0}")]
    Url(#[from] InvalidHook),
    #[error("what is wanted (after #) cannot be read: {0}")]
    Wanted(String),
}

impl FromStr for EventSink {
    type Err = InvalidSink;

    fn from_str(text: &str) -> Result<Self, InvalidSink> {
        let (name, rest) = text.split_once('=').ok_or(InvalidSink::Form)?;
        let name = name.parse().map_err(|_| InvalidSink::Name(name.to_owned()))?;
        let (url, wanted) = rest.split_once('#').unwrap_or((rest, ""));
        let wanted: Wanted =
            serde_urlencoded::from_str(wanted).map_err(|error| InvalidSink::Wanted(error.to_string()))?;
        match Hook::new(url, None, None) {
            Ok(_) => (),
            Err(InvalidHook::NoAuthority) if wanted.ca.is_some() => (),
            Err(error) => return Err(error.into()),
        }
        Ok(Self { name, url: url.to_owned(), wanted })
    }
}

impl EventSink {
    /// Where it is told, with what it takes to be let in.
    ///
    /// # Errors
    /// If one of its files cannot be read or used.
    pub(crate) fn hook(&self) -> io::Result<Hook> {
        let read = |path: &PathBuf| {
            fs::read_to_string(path)
                .map_err(|error| io::Error::other(format!("cannot read {}: {error}", path.display())))
        };
        let ca: Option<Authority> =
            self.wanted.ca.as_ref().map(|path| read(path)?.parse().map_err(io::Error::other)).transpose()?;
        let token: Option<Token> = self
            .wanted
            .token_file
            .as_ref()
            .map(|path| read(path)?.trim().parse().map_err(io::Error::other))
            .transpose()?;
        Hook::new(&self.url, ca.as_ref(), token.as_ref()).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_is_declared_in_one_word() {
        let sink: EventSink =
            "ops=http://127.0.0.1:9/in?x=y#kind=machine&outcome=refused&token-file=/t".parse().expect("one");
        assert_eq!((sink.name.as_str(), sink.url.as_str()), ("ops", "http://127.0.0.1:9/in?x=y"));
        let wanted = Wanted {
            kind: Some("machine".into()),
            outcome: Some(Outcome::Refused),
            token_file: Some("/t".into()),
            ..Wanted::default()
        };
        assert_eq!(sink.wanted, wanted);
        let error = |text: &str| text.parse::<EventSink>().expect_err("none").to_string();
        assert_eq!(error("http://x"), "expected NAME=URL");
        assert!(error("Ops=http://x").contains("is not a name"));
        assert!(error("ops=https://x").contains("ca=FILE"));
        assert!(error("ops=http://x#knd=machine").contains("unknown field"));
        assert!(error("ops=http://x#format=xml").contains("otlp"));
        let spans: EventSink = "ops=http://x/v1/traces#format=otlp".parse().expect("one");
        assert_eq!(spans.wanted.format, SinkFormat::Otlp);
        "ops=https://x#ca=/c".parse::<EventSink>().expect("one");
    }
}
