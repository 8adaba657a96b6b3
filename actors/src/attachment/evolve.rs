//! How events change an attachment.

use bailiwick_journal::Version;

use super::{Attached, Event, Link, State};
use crate::vocab::{Effort, Fault, Life, Timestamp};

pub(super) fn evolve<A: Attached>(state: &mut State<A>, at: Version, event: &Event<A>) {
    match event {
        Event::Declared { spec } => {
            *state = State { life: Life::Alive, declared_at: at, spec: Some(spec.clone()), ..State::default() };
        }
        Event::AttachRequested { target, at: since } => {
            let effort = Effort::begun(at, *since);
            state.link = Link::Attaching { target: target.clone(), effort, earlier: None };
        }
        Event::TakenOver { target, info } => {
            state.link = Link::Attached { intent: at, target: target.clone(), info: info.clone() };
        }
        Event::Retargeted { target: now } => {
            if let Link::Attaching { target, .. } = &mut state.link {
                *target = now.clone();
            }
        }
        Event::ReattachRequested { at: since } => {
            if let Link::Attached { intent, target, info } = &state.link {
                let effort = Effort::begun(*intent, *since);
                state.link = Link::Attaching { target: target.clone(), effort, earlier: Some(info.clone()) };
            }
        }
        Event::Attached { info } => {
            if let Link::Attaching { target, effort, .. } = &state.link {
                state.link = Link::Attached { intent: effort.intent, target: target.clone(), info: info.clone() };
            }
        }
        Event::AttachRetryScheduled { until, fault } | Event::DetachRetryScheduled { until, fault } => {
            if let Some(effort) = effort_mut(state) {
                effort.wait(*until, fault.clone());
            }
        }
        Event::AttachGivenUp { fault, again } => give_up(state, fault, *again),
        Event::DetachGivenUp { fault } => give_up(state, fault, None),
        Event::DetachRequested { at: since } => {
            let (of, target) = match &state.link {
                Link::Attaching { target, effort, .. } => (effort.intent, target.clone()),
                Link::Attached { intent, target, .. } => (*intent, target.clone()),
                Link::Detaching { .. } | Link::Waiting => return,
            };
            state.link = Link::Detaching { of, target, effort: Effort::begun(at, *since) };
        }
        Event::Detached | Event::AttachDropped | Event::Skipped { .. } | Event::WentWithInstance => {
            state.link = Link::Waiting;
        }
        Event::Overdue { at: since } => {
            if let Some(effort) = effort_mut(state) {
                effort.overdue = Some(*since);
            }
        }
        Event::AttemptBegun => {
            if let Some(effort) = effort_mut(state) {
                effort.begin();
            }
        }
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Removed => state.life = Life::Removed,
    }
}

fn effort_mut<A: Attached>(state: &mut State<A>) -> Option<&mut Effort> {
    match &mut state.link {
        Link::Attaching { effort, .. } | Link::Detaching { effort, .. } => Some(effort),
        Link::Waiting | Link::Attached { .. } => None,
    }
}

fn give_up<A: Attached>(state: &mut State<A>, fault: &Fault, again: Option<Timestamp>) {
    if let Some(effort) = effort_mut(state) {
        effort.give_up(fault.clone(), again);
    }
}
