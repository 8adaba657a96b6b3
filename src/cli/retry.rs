//! `bailiwick retry`: tries again now what failed or waits: one object, or all that failed with certain faults.

use bailiwick_actors::vocab::FaultCode;
use clap::Args;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    named, operate,
    output::lines,
    session,
};
use crate::{
    api::wire::change::{Decided, Retry, RetryFailed},
    manifest,
};

#[derive(Debug, Args)]
pub(super) struct RetryArgs {
    /// The object: `machine/web`, `machine web`, `volume/data`, `attachment/web:data`
    #[arg(num_args = 1..=2, value_name = "KIND/NAME", required_unless_present_any = ["fault", "transient"])]
    #[arg(conflicts_with_all = ["fault", "transient"])]
    entity: Vec<String>,
    /// Everything that failed with this fault (`resource-exhausted`); may be given more than once
    #[arg(long, value_name = "CODE")]
    fault: Vec<String>,
    /// Everything that failed with a transient fault
    #[arg(long)]
    transient: bool,
}

pub(super) fn main(global: &Global, args: RetryArgs) -> Result<Exit, CliError> {
    let id = Some(Uuid::new_v4());
    if !args.entity.is_empty() {
        let entity = named::one(&args.entity)?;
        let decided: Decided = session::send(global, "/v1/retry", &Retry { entity, id })?;
        operate::show(global, &decided)?;
        return Ok(Exit::Ok);
    }
    let faults = args.fault.iter().map(|text| fault(text)).collect::<Result<_, _>>()?;
    let wanted = RetryFailed { faults, transient: args.transient, id };
    let decided: Vec<Decided> = session::send(global, "/v1/retry-failed", &wanted)?;
    if decided.is_empty() && !global.output.is_for_programs() {
        lines(none_failed(&args))?;
    } else {
        operate::show_all(global, &decided)?;
    }
    Ok(Exit::Ok)
}

/// What there is to say where nothing was asked to try again.
fn none_failed(args: &RetryArgs) -> &'static str {
    match (args.transient, args.fault.is_empty()) {
        (true, true) => "nothing to retry: nothing failed with a transient fault",
        (true, false) => "nothing to retry: nothing failed with one of these faults, or with a transient one",
        (false, _) => "nothing to retry: nothing failed with one of these faults",
    }
}

fn fault(text: &str) -> Result<FaultCode, CliError> {
    text.parse().map_err(|_| {
        let codes = FaultCode::ALL.map(FaultCode::as_str);
        let next = match manifest::nearest(text, codes) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("known faults: {}", codes.join(", ")),
        };
        CliError::usage(format!("unknown fault {text:?}")).next(next)
    })
}
