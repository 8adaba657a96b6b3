//! The inside of a machine of the provider `local`: its directory on this machine.

use std::{fs, io, path::Path};

use bailiwick_actors::vocab::Name;
use bailiwick_journal::StreamId;

use super::{
    Global,
    exit::{CliError, Exit},
    session,
};
use crate::{
    agent::directory::{MachineDir, Presence},
    api::query::Query,
    config::local_dir,
    manifest::nearest,
    providers::local::directories_of,
};

/// The machine that is named, as `web` or `machine/web`.
pub(super) fn machine(text: &str) -> Result<Name, CliError> {
    let name = text.split_once('/').filter(|(kind, _)| matches!(*kind, "machine" | "machines" | "m"));
    let name = name.map_or(text, |(_, name)| name);
    name.parse().map_err(|_| CliError::usage(format!("{text:?} is not a machine")).next("write its name, such as web"))
}

/// Its directory: of the machine that runs, or else of the one that ended last.
pub(super) fn directory(global: &Global, machine: &Name) -> Result<MachineDir, CliError> {
    let data_dir = session::data_dir(global)?;
    let found = directories_of(&local_dir(&data_dir), machine).map_err(|error| unreadable(&data_dir, &error))?;
    let made = |directory: &MachineDir| fs::metadata(directory.path()).and_then(|found| found.modified()).ok();
    let is_running = |directory: &MachineDir| matches!(directory.presence(), Ok(Presence::Running(_)));
    match found.into_iter().max_by_key(|directory| (is_running(directory), made(directory))) {
        Some(directory) => Ok(directory),
        None => Err(not_here(global, machine)),
    }
}

/// Why there is no directory: its provider is another one, or there is no such machine.
fn not_here(global: &Global, machine: &Name) -> CliError {
    let Ok(entity) = format!("machine/{machine}").parse::<StreamId>() else {
        return CliError::usage(format!("{machine} is not a machine"));
    };
    match session::ask(global, &Query::Describe { entity, at: None }) {
        Ok(told) if told["provider"] == "local" => {
            let message = format!("machine/{machine} has no directory on this machine");
            CliError::new(Exit::NotFound, "not-found", message)
                .next(format!("`bailiwick why machine/{machine}` tells why"))
        }
        Ok(told) => {
            let provider = told["provider"].as_str().unwrap_or("another provider");
            let message = format!("machine/{machine} is not on this machine: its provider is {provider}");
            CliError::new(Exit::Refused, "cannot-here", message).next(format!("use the tools of {provider}"))
        }
        Err(error) => error,
    }
}

/// The workload that is named, or the only one; `all` are those that there are.
pub(super) fn workload<'n>(machine: &Name, named: Option<&str>, all: &'n [Name]) -> Result<&'n Name, CliError> {
    let known: Vec<&str> = all.iter().map(Name::as_str).collect();
    let error = |message: String| CliError::new(Exit::NotFound, "not-found", message);
    match (named, all) {
        (Some(named), _) => all.iter().find(|name| name.as_str() == named).ok_or_else(|| {
            let near =
                nearest(named, known.iter().copied()).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            error(format!("machine/{machine} has no workload {named:?}")).next(near + &known)
        }),
        (None, [only]) => Ok(only),
        (None, []) => Err(error(format!("machine/{machine} has no workload")).next("its manifest declares them")),
        (None, _) => Err(CliError::usage(format!("machine/{machine} has {} workloads", all.len()))
            .next(format!("name one of {}", known.join(", ")))),
    }
}

/// That something of it cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::new(Exit::NoInput, "unreadable", format!("cannot read {}", path.display())).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_named_unless_there_is_only_one() {
        let name = |text: &str| text.parse::<Name>().expect("a name");
        let (web, one, two) = (name("web"), [name("front")], [name("front"), name("back")]);
        assert_eq!(workload(&web, None, &one).expect("the only one").as_str(), "front");
        assert_eq!(workload(&web, Some("back"), &two).expect("it").as_str(), "back");
        let error = |named, all| workload(&web, named, all).expect_err("an error").next_step;
        assert_eq!(error(None, &two), "name one of front, back");
        assert_eq!(error(Some("bakc"), &two), "did you mean back? it has front, back");
        assert_eq!(error(Some("a"), &[]), "it has none");
    }

    #[test]
    fn a_machine_may_be_written_with_its_kind() {
        assert_eq!(machine("machine/web").expect("it").as_str(), "web");
        assert_eq!(machine("web").expect("it").as_str(), "web");
        assert!(machine("volume/data").is_err());
    }
}
