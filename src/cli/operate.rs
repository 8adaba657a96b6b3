//! `bailiwick hold`, `unhold`, `keep`, `unkeep`, `protect`, `unprotect`, `thaw`, `adopt` and `disown`: what operators ask of one entity.

use bailiwick_actors::{ports::Clock, vocab::HOLD_REASON_BYTES_MAX};
use clap::Args;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    moment::Moment,
    named,
    output::{Column, Table},
    session,
};
use crate::{
    api::wire::change::{Decided, Operate, Verb},
    clock::SystemClock,
    manifest,
};

#[derive(Debug, Args)]
pub(super) struct HoldArgs {
    /// The machine, machine set or provider: `machine/web`, `machine-set/web`, `provider/local`
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
    /// Reason, shown while it is held
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// When the hold ends by itself: a time (`2026-11-21T14:30:00Z`, `14:30`), or a period from now (`2h`, `90m`)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct UnholdArgs {
    /// The machine, machine set or provider: `machine/web`, `machine-set/web`, `provider/local`
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct ProtectArgs {
    /// The machine, storage or set: `machine/web`, `volume/data`, `machine-set/web`
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct ThawArgs {
    /// The machine set: `machine-set/web`
    #[arg(required = true, num_args = 1..=2, value_name = "machine-set/NAME")]
    entity: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct MachineArgs {
    /// The machine: `machine/web`
    #[arg(required = true, num_args = 1..=2, value_name = "machine/NAME")]
    entity: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct KeepArgs {
    /// The machine: `machine/web`
    #[arg(required = true, num_args = 1..=2, value_name = "machine/NAME")]
    entity: Vec<String>,
    /// How long it is kept: `90m`, `2h`
    #[arg(long = "for", value_name = "TIME", value_parser = super::wait::duration)]
    period: std::time::Duration,
}

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// The machine: `machine/web`
    #[arg(required = true, num_args = 1..=2, value_name = "machine/NAME")]
    entity: Vec<String>,
    /// The provider's id of the instance, if several have the machine's name
    #[arg(long, value_name = "INSTANCE")]
    instance: Option<String>,
}

/// What can be held.
const HELD: [&str; 3] = ["machine", "machine-set", "provider"];

/// What can be protected.
const PROTECTED: [&str; 6] = ["machine", "volume", "filesystem", "machine-set", "machine-deployment", "replica-set"];

pub(super) fn protect(global: &Global, args: ProtectArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &PROTECTED, Verb::Protect)
}

pub(super) fn unprotect(global: &Global, args: ProtectArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &PROTECTED, Verb::Unprotect)
}

pub(super) fn hold(global: &Global, args: HoldArgs) -> Result<Exit, CliError> {
    check_reason(&args.reason)?;
    let (until_ms, for_ms) = match args.until.as_deref().map(until).transpose()? {
        None => (None, None),
        Some(End::At(ms)) => (Some(ms), None),
        Some(End::In(ms)) => (None, Some(ms)),
    };
    ask(global, &args.entity, &HELD, Verb::Hold { reason: args.reason, until_ms, for_ms })
}

/// Whether a hold can have this reason.
fn check_reason(reason: &str) -> Result<(), CliError> {
    let (wrong, next) = match reason {
        "" => ("--reason is empty".to_owned(), "give the reason in one line".to_owned()),
        long if long.len() > HOLD_REASON_BYTES_MAX => {
            let next = format!("shorten it to {HOLD_REASON_BYTES_MAX} bytes");
            (format!("--reason is {} bytes long", long.len()), next)
        }
        odd if odd.chars().any(char::is_control) => {
            let wrong = "--reason has a control character, such as a line break";
            (wrong.to_owned(), "give the reason in one line".to_owned())
        }
        _ => return Ok(()),
    };
    Err(CliError::usage(wrong).next(next))
}

pub(super) fn unhold(global: &Global, args: UnholdArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &HELD, Verb::Unhold)
}

pub(super) fn thaw(global: &Global, args: ThawArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &["machine-set"], Verb::Thaw)
}

pub(super) fn adopt(global: &Global, args: AdoptArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &["machine"], Verb::Adopt { instance: args.instance })
}

pub(super) fn keep(global: &Global, args: KeepArgs) -> Result<Exit, CliError> {
    let for_ms = u64::try_from(args.period.as_millis()).unwrap_or(u64::MAX);
    ask(global, &args.entity, &["machine"], Verb::Keep { for_ms })
}

pub(super) fn unkeep(global: &Global, args: MachineArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &["machine"], Verb::Unkeep)
}

pub(super) fn disown(global: &Global, args: MachineArgs) -> Result<Exit, CliError> {
    ask(global, &args.entity, &["machine"], Verb::Disown)
}

/// Asks an entity of one of these kinds.
fn ask(global: &Global, words: &[String], kinds: &[&str], verb: Verb) -> Result<Exit, CliError> {
    let entity = named::one(words)?;
    if !kinds.contains(&entity.kind()) {
        let words: Vec<String> = kinds.iter().map(|kind| format!("a {}", kind.replace('-', " "))).collect();
        let forms: Vec<String> = kinds.iter().map(|kind| format!("{kind}/NAME")).collect();
        return Err(CliError::usage(format!("{entity} is not {}", words.join(" or ")))
            .next(format!("write {}", forms.join(" or "))));
    }
    let operate = Operate { entity, verb, id: Some(Uuid::new_v4()) };
    let decided: Decided = session::send(global, "/v1/operate", &operate)?;
    show(global, &decided)?;
    Ok(Exit::Ok)
}

/// Shows one decision.
pub(super) fn show(global: &Global, decided: &Decided) -> Result<(), CliError> {
    Ok(global.output.show(decided, || told([decided]))?)
}

/// Shows some, or none.
pub(super) fn show_all(global: &Global, decided: &Vec<Decided>) -> Result<(), CliError> {
    Ok(global.output.show(decided, || told(decided))?)
}

fn told<'d>(decided: impl IntoIterator<Item = &'d Decided>) -> Table<3> {
    let mut table = Table::of([Column::always("ENTITY"), Column::always("DECISION"), Column::always("BECAUSE")]);
    for decided in decided {
        table.add([decided.entity.as_str().into(), decided.code.as_str().into(), decided.reason.as_str().into()]);
    }
    table
}

/// When a hold ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// In milliseconds since 1970, by the host's clock.
    At(u64),
    /// So many milliseconds from now: the node knows when that is.
    In(u64),
}

fn until(text: &str) -> Result<End, CliError> {
    if let Some(ms) = manifest::duration_ms(text) {
        return Ok(End::In(ms));
    }
    let now = SystemClock::new().now();
    match Moment::parse(text, now) {
        Ok(Moment::Time(time)) if time > now => Ok(End::At(time.0)),
        Ok(_) => {
            Err(CliError::usage(format!("{text:?} is not in the future")).next("write 2h, or a time such as 14:30"))
        }
        Err(error) => Err(CliError::usage(error.to_string()).next("or write a period from now: 90m, 2h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_is_too_long_is_told_how_long_it_may_be() {
        assert!(check_reason(&"x".repeat(HOLD_REASON_BYTES_MAX)).is_ok());
        let error = check_reason(&"x".repeat(300)).unwrap_err();
        assert_eq!((error.exit, &*error.message), (Exit::Usage, "--reason is 300 bytes long"));
        assert_eq!(error.next_step, "shorten it to 255 bytes");
        assert_eq!(check_reason("two\nlines").unwrap_err().next_step, "give the reason in one line");
    }
}
