//! What should happen to a machine deployment, and why.

use super::{
    Command, Event, Reason, Rejection, Spec, State, last_revision, pass,
    standing::{alive, moving},
    verdict::{Facts, Verdict},
    windows,
};
use crate::{
    contract::Decision,
    machine_set::Spec as SetSpec,
    vocab::{Life, Windows},
};

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec),
        Command::Remove => remove(state),
        Command::Protect { on } => protect(state, *on),
        Command::Wake { .. } => Ok(wake(state, facts)),
        Command::Pause => pause(state, true),
        Command::Resume => pause(state, false),
        Command::Hurry => windows::hurry(state),
        Command::Restart => {
            moving(state)?;
            Ok(Decision::because(Reason::RestartAsked, [Event::Restarted { at: facts.now }]))
        }
        Command::Undo { revision } => undo(state, *revision),
        Command::Adopt { set, template, replicas, created } => {
            alive(state)?;
            if state.sets.contains_key(set) {
                return Ok(Decision::nothing(Reason::AlreadyOwned));
            }
            let (set, template) = (set.clone(), template.clone());
            let adopted = Event::Adopted { set, template, replicas: *replicas, created: *created };
            Ok(Decision::because(Reason::SetTaken, [adopted]))
        }
        Command::Forget { set } if state.sets.contains_key(set) => {
            Ok(Decision::because(Reason::SetGone, [Event::Forgotten { set: set.clone() }]))
        }
        Command::Forget { .. } => Ok(Decision::nothing(Reason::UnknownSet)),
        Command::Observe { counts, free, again } => {
            alive(state)?;
            Ok(pass::observe(state, counts, free, *again, facts))
        }
        Command::ReportEmpty if state.life == Life::Dying => Ok(Decision::because(Reason::Empty, [Event::Removed])),
        Command::ReportEmpty => Ok(Decision::nothing(Reason::NotEmptyYet)),
    }
}

fn declare(state: &State, spec: &Spec) -> Verdict {
    if spec.replicas > SetSpec::REPLICAS_MAX {
        return Err(Rejection::TooMany { most: SetSpec::REPLICAS_MAX });
    }
    if !SetSpec::is_template(&spec.template) {
        return Err(Rejection::BadTemplate);
    }
    if !spec.selects(&spec.template) {
        return Err(Rejection::SelectorMismatch);
    }
    if let Err(problem) = spec.windows.as_ref().map_or(Ok(()), Windows::check) {
        return Err(Rejection::BadWindows { problem: problem.to_string() });
    }
    let spec = spec.clone();
    match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) if *present == spec => Ok(Decision::nothing(Reason::AlreadyAsDeclared)),
        (Life::Alive, Some(present)) if state.protected && is_replacing(present, &spec) => Err(Rejection::Protected),
        (Life::Alive, Some(_)) => Ok(Decision::because(Reason::SpecDiffers, [Event::SpecChanged { spec }])),
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            Ok(Decision::because(Reason::NewlyDeclared, [Event::Declared { spec }]))
        }
    }
}

fn remove(state: &State) -> Verdict {
    match state.life {
        Life::Undeclared => Err(Rejection::NotDeclared),
        Life::Removed => Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Dying | Life::Dead => Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Alive if state.protected => Err(Rejection::Protected),
        Life::Alive => Ok(Decision::because(Reason::RemovalAsked, [Event::RemovalBegan])),
    }
}

/// Whether machines would go: there are to be fewer, or others.
fn is_replacing(present: &Spec, wanted: &Spec) -> bool {
    wanted.replicas < present.replicas || wanted.template != present.template
}

/// What comes of a wish that something is not to be removed, or may be again.
fn protect(state: &State, on: bool) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.protected == on => Ok(Decision::nothing(Reason::ProtectionKnown)),
        Life::Alive => Ok(Decision::because(Reason::ProtectionAsked, [Event::Protected { on }])),
    }
}

fn wake(state: &State, facts: &Facts<'_>) -> Decision<State> {
    match state.due() {
        Some(due) if due <= facts.now && state.awaits == Some(due) => {
            Decision::because(Reason::Due, [Event::WindowOpened])
        }
        Some(due) if due <= facts.now && state.again == Some(due) => Decision::because(Reason::Due, [Event::Ripened]),
        Some(due) if due <= facts.now => Decision::because(Reason::Due, [Event::DeadlinePassed]),
        Some(_) => Decision::nothing(Reason::NotDueYet),
        None => Decision::nothing(Reason::NothingWaits),
    }
}

fn pause(state: &State, paused: bool) -> Verdict {
    let spec = alive(state)?;
    if spec.paused == paused {
        return Ok(Decision::nothing(if paused { Reason::AlreadyPaused } else { Reason::NotPaused }));
    }
    let reason = if paused { Reason::PauseAsked } else { Reason::ResumeAsked };
    Ok(Decision::because(reason, [Event::SpecChanged { spec: Spec { paused, ..spec.clone() } }]))
}

fn undo(state: &State, revision: Option<u64>) -> Verdict {
    moving(state)?;
    let kept = || state.sets.values().filter(|set| !set.leaves);
    let revision = match revision {
        Some(revision) => revision,
        None => match last_revision(kept()) {
            0 => return Err(Rejection::NoEarlierRevision),
            last => last,
        },
    };
    let Some(set) = kept().find(|set| set.revision == revision) else {
        return Err(Rejection::UnknownRevision { revision });
    };
    if state.template().is_some_and(|template| template == set.template) {
        return Ok(Decision::nothing(Reason::SameTemplate));
    }
    Ok(Decision::because(Reason::UndoAsked, [Event::RolledBack { revision }]))
}
