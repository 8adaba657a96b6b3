//! `bailiwick diff`: what is different between two moments.

use clap::Args;
use serde_json::Value;

use super::{
    Global,
    exit::{CliError, Exit},
    get::text,
    log::{kind, stream},
    output::{self, Cell, Column, Format, Table},
    progress::say,
    session,
};
use crate::{api::query::Query, text::cut, view::Only};

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The earlier moment: an entry (`@12`), a time (`14:30`), or how long ago (`-5m`)
    #[arg(value_name = "A", allow_hyphen_values = true)]
    from: String,
    /// The later moment [default: now]
    #[arg(value_name = "B", allow_hyphen_values = true)]
    to: Option<String>,
    /// Only this object: `machine/web`, `supervisor/machines`; may take the place of B
    #[arg(value_name = "KIND/NAME")]
    entity: Option<String>,
    /// Only objects of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// What the command line means.
struct Asked {
    from: String,
    to: Option<String>,
    entity: Option<String>,
    kind: Option<String>,
    output: Format,
}

impl Asked {
    /// Sorts what stands in the places of moments, which take all that begins with a hyphen: `-5m` is a moment, `-ojson` is
    /// none. No moment has a slash in it, and every entity has one.
    fn of(args: DiffArgs, mut output: Format) -> Result<Self, CliError> {
        let (mut moments, mut entity) = (Vec::new(), None);
        for text in [Some(args.from), args.to, args.entity].into_iter().flatten() {
            if let Some(format) = glued_to_its_option(&text) {
                output = format;
            } else if text.contains('/') && entity.is_none() {
                entity = Some(text);
            } else {
                moments.push(text);
            }
        }
        let mut moments = moments.into_iter();
        match (moments.next(), moments.next(), moments.next()) {
            (Some(_), Some(_), Some(third)) => {
                Err(CliError::usage(format!("{third:?} names no object")).next("write KIND/NAME, such as machine/web"))
            }
            (Some(from), to, _) => Ok(Self { from, to, entity, kind: args.kind, output }),
            (None, ..) => Err(CliError::usage("no moment is named").next("write `bailiwick diff -5m`")),
        }
    }

    fn only(&self) -> Result<Only, CliError> {
        match (&self.entity, &self.kind) {
            (Some(_), Some(_)) => Err(CliError::usage("name an object or a kind, not both")),
            (Some(entity), None) => Ok(Only::Entity(stream(entity)?)),
            (None, Some(text)) => Ok(Only::Kind(kind(text)?)),
            (None, None) => Ok(Only::All),
        }
    }
}

/// The format in `-ojson` and `-o=json`.
fn glued_to_its_option(text: &str) -> Option<Format> {
    let format = text.strip_prefix("-o")?;
    format.strip_prefix('=').unwrap_or(format).parse().ok()
}

pub(super) fn main(global: &Global, args: DiffArgs) -> Result<Exit, CliError> {
    let asked = Asked::of(args, global.output.clone())?;
    let global = &Global { output: asked.output.clone(), ..global.clone() };
    let (only, from) = (asked.only()?, session::moment(&asked.from)?);
    let answer = session::ask(global, &Query::Diff { from, to: session::at(asked.to.as_deref())?, only })?;
    let is_same = answer["changes"].as_array().is_none_or(Vec::is_empty);
    match (global.output.is_for_programs(), is_same) {
        (false, true) => {
            let (from, to) = (&answer["from"]["position"], &answer["to"]["position"]);
            let of = asked.entity.as_ref().or(asked.kind.as_ref()).map(|of| format!(" of {of}")).unwrap_or_default();
            output::lines(&format!("no differences{of} between @{from} and @{to}"))?;
        }
        (false, false) => {
            say(&format!("from {} to {}", moment(&answer["from"]), moment(&answer["to"])));
            global.output.show(&answer, || table(&answer, global.output == Format::Wide))?;
        }
        (true, _) => global.output.show(&answer, || table(&answer, true))?,
    }
    Ok(if is_same { Exit::Ok } else { Exit::Differences })
}

fn moment(end: &Value) -> String {
    match end["time"].as_str() {
        Some(time) => format!("entry {} at {time}", end["position"]),
        None => "the beginning".to_owned(),
    }
}

/// Ids tell one thing from another, and what a provider says beside them is for a closer look: both have lines of their own
/// with `-o wide` alone.
fn is_for_a_closer_look(fact: &str) -> bool {
    matches!(fact, "uid" | "effect" | "digest" | "agentVersion") || fact.starts_with("facts.")
}

/// What becomes another one when something is replaced: it stands in that line.
const REPLACED: [&str; 3] = ["instance", "volumeId", "filesystemId"];

/// What is longer is cut, except with `-o wide`.
const LETTERS_MAX: usize = 60;

fn table(answer: &Value, is_wide: bool) -> Table<8> {
    let mut table = Table::of([
        Column::required("ENTITY"),
        Column::required("WHAT"),
        Column::always("FROM"),
        Column::always("TO"),
        Column::required("ENTRY"),
        Column::required("BECAUSE"),
        Column::wide("TIME"),
        Column::wide("WHO"),
    ]);
    for change in answer["changes"].as_array().into_iter().flatten() {
        let facts: Vec<&Value> = change["facts"].as_array().into_iter().flatten().collect();
        let mut add = |what: Cell, from: String, to: String, by: &Value| {
            let value = |text: String| match is_wide {
                _ if text.is_empty() => Cell::none(),
                true => Cell::from(text),
                false => Cell::from(cut(&text, LETTERS_MAX)),
            };
            let rest = [&by["position"], &by["because"], &by["time"], &by["principal"]].map(text);
            let [position, because, time, who] = rest;
            table.add([text(&change["entity"]), what, value(from), value(to), position, because, time, who]);
        };
        let whole = change["change"].as_str().unwrap_or_default();
        let is_another = matches!(whole, "replaced" | "declared-anew");
        match whole {
            "appeared" => add(Cell::good(whole), String::new(), told(&facts, "to"), change),
            "removed" => add(Cell::bad(whole), told(&facts, "from"), String::new(), change),
            _ if is_another => {
                let what = facts.iter().find(|fact| REPLACED.iter().any(|name| fact["fact"] == *name));
                let (from, to) = what.map(|fact| (said(&fact["from"]), said(&fact["to"]))).unwrap_or_default();
                add(Cell::busy(whole), from, to, change);
            }
            _ => (),
        }
        let is_there = !matches!(whole, "appeared" | "removed");
        for fact in facts {
            let name = fact["fact"].as_str().unwrap_or_default();
            let is_told = is_another && REPLACED.contains(&name);
            if is_wide || (is_there && !is_told && !is_for_a_closer_look(name)) {
                add(name.into(), said(&fact["from"]), said(&fact["to"]), fact);
            }
        }
    }
    table
}

/// How something is that came or went, on one line; what was declared of it is told by its manifest.
fn told(facts: &[&Value], side: &str) -> String {
    let name = |fact: &Value| fact["fact"].as_str().unwrap_or_default().to_owned();
    let is_told = |fact: &&&Value| !name(fact).starts_with("spec") && !is_for_a_closer_look(&name(fact));
    let status = facts.iter().filter(|fact| name(fact) == "status").map(|fact| said(&fact[side]));
    let rest = facts.iter().filter(is_told).filter(|fact| name(fact) != "status");
    let rest = rest.map(|fact| format!("{} {}", name(fact), said(&fact[side])));
    status.chain(rest).collect::<Vec<_>>().join(", ")
}

fn said(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(said).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Asked, CliError> {
        let mut words = words.iter().map(|word| (*word).to_owned());
        let from = words.next().expect("clap asks for one");
        Asked::of(DiffArgs { from, to: words.next(), entity: words.next(), kind: None }, Format::Table)
    }

    #[test]
    fn an_entity_may_stand_in_the_place_of_the_later_moment() {
        let asked = asked(&["-5m", "machine/web"]).expect("it makes sense");
        assert_eq!((asked.from.as_str(), asked.to, asked.entity.as_deref()), ("-5m", None, Some("machine/web")));
    }

    #[test]
    fn a_format_that_is_glued_to_its_option_is_no_moment() {
        for words in [["-5m", "-ojson", "machine/web"], ["-o=json", "-5m", "machine/web"]] {
            let asked = asked(&words).expect("it makes sense");
            assert_eq!((asked.from.as_str(), asked.to, asked.output), ("-5m", None, Format::Json));
        }
    }

    #[test]
    fn three_moments_and_none_make_no_sense() {
        assert!(asked(&["@1", "@2", "@3"]).is_err());
        assert!(asked(&["-ojson"]).is_err());
    }
}
