//! What should happen to a machine class, and why.

use std::collections::BTreeSet;

use super::{Command, Event, Reason, Rejection, State};
use crate::{
    contract::{self, Decision},
    vocab::{ClassContent, Life, Name},
};

type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command) -> Verdict {
    match command {
        Command::Declare(content) => declare(state, content),
        Command::Remove => remove(state, in_use),
        Command::RemoveOnceUnused => {
            remove(state, |_| Ok(Decision::because(Reason::RemovalWaits, [Event::RemovalBegan])))
        }
        Command::Use { machines } => engage(state, machines),
        Command::Release { machines } => Ok(release(state, machines)),
    }
}

fn declare(state: &State, content: &ClassContent) -> Verdict {
    content.checked().map_err(|flaw| Rejection::Flawed { flaw })?;
    let content = Box::new(content.clone());
    let present = match (state.life, &state.content) {
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) => present,
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            return Ok(Decision::because(Reason::NewlyDeclared, [Event::Declared { content }]));
        }
    };
    if *present == content {
        return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
    }
    // Machines that wait for it were declared with the provider that it has.
    if present.provider != content.provider && !state.users.is_empty() {
        return Err(Rejection::ProviderFixed);
    }
    Ok(Decision::because(Reason::ContentDiffers, [Event::Revised { content }]))
}

/// What becomes of a removal while machines use the class is the asker's to say.
fn remove(state: &State, while_used: impl FnOnce(&State) -> Verdict) -> Verdict {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Dying | Life::Dead => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Alive => (),
    }
    if state.users.is_empty() {
        return Ok(Decision::because(Reason::RemovalAsked, [Event::Removed]));
    }
    while_used(state)
}

fn in_use(state: &State) -> Verdict {
    let machines = state.users.iter().take(Rejection::NAMED_MAX).cloned().collect();
    let more = state.users.len().saturating_sub(Rejection::NAMED_MAX);
    Err(Rejection::InUse { machines, more: u32::try_from(more).unwrap_or(u32::MAX) })
}

fn engage(state: &State, machines: &[Name]) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    let machines: Vec<Name> = machines.iter().filter(|machine| !state.users.contains(*machine)).cloned().collect();
    if machines.is_empty() {
        return Ok(Decision::nothing(Reason::InUseAlready));
    }
    Ok(Decision::because(Reason::MachinesCome, [Event::Used { machines }]))
}

/// With the last machine that uses a class that is to go, the class goes.
fn release(state: &State, machines: &[Name]) -> Decision<State> {
    let machines: BTreeSet<Name> = machines.iter().filter(|machine| state.users.contains(*machine)).cloned().collect();
    let machines: Vec<Name> = machines.into_iter().collect();
    if machines.is_empty() {
        return Decision::nothing(Reason::NotInUse);
    }
    if state.life == Life::Dying && machines.len() == state.users.len() {
        return Decision::because(Reason::LastMachineGone, [Event::Released { machines }, Event::Removed]);
    }
    Decision::because(Reason::MachinesGone, [Event::Released { machines }])
}
