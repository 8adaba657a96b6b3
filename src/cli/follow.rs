//! Decisions as they are made: a node's event stream, taken up again where it broke off.

use std::{collections::VecDeque, time::Duration};

use serde_json::Value;

use super::{Global, exit::CliError, progress::say, session};
use crate::{
    api::query::Parameters,
    client::{Client, ClientError},
};

/// How long after a lost connection the node is tried again, and how often: a restart takes some seconds, and whoever follows
/// is not to be lost in it. Together a minute.
const AGAIN: Duration = Duration::from_millis(250);
const TRIES: u32 = 240;

/// Tells each decision after `from` that matches, as it is made, until `tell` fails: none is left out and none comes twice.
///
/// # Errors
/// If the node stays away, or refuses.
pub(super) fn follow(
    global: &Global,
    filter: &Parameters,
    mut from: u64,
    mut tell: impl FnMut(&Value) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let client = session::client(global)?;
    session::block_on(async {
        let (mut tries, mut is_told) = (0, false);
        loop {
            let before = from;
            let lost = one_connection(&client, filter, &mut from, &mut tell).await?;
            if from > before {
                (tries, is_told) = (0, false);
            }
            match lost {
                Some(error) if !is_passing(&error) || tries == TRIES => return Err(error.into()),
                Some(_) if !is_told => {
                    say("the connection to the node was lost; waiting for the node");
                    is_told = true;
                }
                _ => (),
            }
            tries += 1;
            tokio::time::sleep(AGAIN).await;
        }
    })?
}

/// Whether a node that is started again would answer otherwise.
fn is_passing(error: &ClientError) -> bool {
    match error {
        ClientError::Refused { status, .. } => *status == 503,
        ClientError::Stranger { .. } => false,
        _ => true,
    }
}

/// Tells what one connection brings; the answer is how it ended, if not in order.
async fn one_connection(
    client: &Client,
    filter: &Parameters,
    from: &mut u64,
    tell: &mut impl FnMut(&Value) -> Result<(), CliError>,
) -> Result<Option<ClientError>, CliError> {
    let mut lines = match client.get_lines(&path(filter, *from)).await {
        Ok(lines) => lines,
        Err(error) => return Ok(Some(error)),
    };
    let mut events = Events::default();
    loop {
        match lines.next_line().await {
            Ok(Some(line)) => events.take(&line),
            Ok(None) => return Ok(None),
            Err(error) => return Ok(Some(error)),
        }
        while let Some(Event { id, data }) = events.next() {
            if let Some(data) = data {
                let row = serde_json::from_str(&data).map_err(|error| {
                    CliError::new(super::exit::Exit::Error, "broken-answer", "cannot read an event of the node")
                        .because(&error)
                })?;
                tell(&row)?;
            }
            *from = id.unwrap_or(*from);
        }
    }
}

fn path(filter: &Parameters, from: u64) -> String {
    let entity = filter.entity.as_ref().map(ToString::to_string);
    let named = [
        ("entity", &entity),
        ("kind", &filter.kind),
        ("outcome", &filter.outcome),
        ("reason", &filter.reason),
        ("principal", &filter.principal),
    ];
    let wanted: Vec<(&str, &str)> = named.iter().filter_map(|(name, text)| Some((*name, text.as_deref()?))).collect();
    let wanted = serde_urlencoded::to_string(wanted).unwrap_or_default();
    format!("/v1/watch?from={from}{}{wanted}", if wanted.is_empty() { "" } else { "&" })
}

/// One event of a stream.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    id: Option<u64>,
    /// None if it only says how far the stream is.
    data: Option<String>,
}

/// Puts events together from the lines of a stream. Source: the HTML standard, server-sent events.
#[derive(Debug, Default)]
struct Events {
    whole: VecDeque<Event>,
    id: Option<u64>,
    data: Option<String>,
}

impl Events {
    fn take(&mut self, line: &str) {
        let (field, value) = line.split_once(':').map_or((line, ""), |(field, value)| (field, value.trim_start()));
        match field {
            "" if line.is_empty() && (self.id.is_some() || self.data.is_some()) => {
                self.whole.push_back(Event { id: self.id.take(), data: self.data.take() });
            }
            "id" => self.id = value.parse().ok(),
            "data" => match &mut self.data {
                Some(data) => *data = format!("{data}\n{value}"),
                none => *none = Some(value.to_owned()),
            },
            _ => (),
        }
    }

    fn next(&mut self) -> Option<Event> {
        self.whole.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_from_lines() {
        let mut events = Events::default();
        for line in
            ["id: 7", "", ": nothing", "", "id: 8", "event: decision", "data: {\"a\":", "data: 1}", "", "data: x"]
        {
            events.take(line);
        }
        let all: Vec<Event> = std::iter::from_fn(|| events.next()).collect();
        let whole = |id, data: Option<&str>| Event { id: Some(id), data: data.map(str::to_owned) };
        assert_eq!(all, [whole(7, None), whole(8, Some("{\"a\":\n1}"))], "what is not ended is not an event yet");
    }

    #[test]
    fn a_path_names_what_is_wanted() {
        assert_eq!(path(&Parameters::default(), 3), "/v1/watch?from=3");
        let filter =
            Parameters { entity: "machine/web".parse().ok(), outcome: Some("done".into()), ..Parameters::default() };
        assert_eq!(path(&filter, 0), "/v1/watch?from=0&entity=machine%2Fweb&outcome=done");
    }
}
