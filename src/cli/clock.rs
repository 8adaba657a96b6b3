//! `bailiwick clock`: whether the node's time is the clock's, and the way back to it.

use clap::Subcommand;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    get::text,
    output::{Column, Table},
    session,
};
use crate::{
    api::{query::Query, wire::change::CorrectClock},
    view::Correction,
    words::period,
};

#[derive(Debug, Subcommand)]
pub(super) enum ClockCommand {
    /// Show the node's time, the host's clock, and corrections so far
    Show,
    /// Show times by the host's clock again, after it was wrongly set ahead
    ///
    /// Recorded times never go back: due times, waits and the order of entries stay as they are. The journal records how far
    /// its times are ahead, and since when; from then on, every command shows and reads times by the host's clock.
    Correct,
}

pub(super) fn main(global: &Global, command: &ClockCommand) -> Result<Exit, CliError> {
    match command {
        ClockCommand::Show => show(global),
        ClockCommand::Correct => correct(global),
    }
}

fn show(global: &Global) -> Result<Exit, CliError> {
    let answer = session::ask(global, &Query::Clock)?;
    global.output.show(&answer, || {
        let mut table = Table::of(["WHAT", "TIME", "DETAIL"].map(Column::always));
        table.add(["node".into(), text(&answer["time"]), text(&answer["step"]["text"])]);
        table.add(["clock".into(), text(&answer["clock"]), "".into()]);
        for correction in answer["corrections"].as_array().into_iter().flatten() {
            let by = period(correction["backMs"].as_u64().unwrap_or_default());
            let entry = format!("@{}", correction["entry"]);
            table.add(["correction".into(), entry.into(), format!("recorded times are {by} ahead").into()]);
        }
        table
    })?;
    Ok(Exit::Ok)
}

fn correct(global: &Global) -> Result<Exit, CliError> {
    let correction: Correction =
        session::send(global, "/v1/clock/correct", &CorrectClock { id: Some(Uuid::new_v4()) })?;
    global.output.show(&correction, || {
        let mut table = Table::of(["ENTRY", "DETAIL"].map(Column::always));
        let by = period(correction.back_ms);
        let detail = format!("recorded times are {by} ahead of the clock; from now on they are shown by the clock");
        table.add([format!("@{}", correction.entry).into(), detail.into()]);
        table
    })?;
    Ok(Exit::Ok)
}
