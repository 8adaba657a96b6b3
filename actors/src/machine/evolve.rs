//! How events change a machine.

use std::sync::Arc;

use bailiwick_journal::Version;

use super::{
    ClassSnapshot, Drain, Event, Health, Hold, Instance, Joined, Leaving, Node, Progress, Site, Skipped, Spec, Start,
    State, Stray, Turns, diagnosis, draining, juju,
};
use crate::{
    ports::Condition,
    vocab::{Effort, Fault, Life, Outlook, Timestamp},
};

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    let before = call(state);
    change(state, at, event);
    // What was told about a call ends with it.
    if call(state) != before {
        state.progress = None;
    }
}

/// The call that is under way: its intent and attempt.
fn call(state: &State) -> Option<(Version, u32)> {
    let effort = state.effort().filter(|effort| effort.outlook == Outlook::Trying)?;
    Some((effort.intent, effort.attempt))
}

fn change(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { spec } => declared(state, at, spec.clone()),
        Event::SpecChanged { spec } => changed(state, at, spec.clone()),
        Event::CreateRequested { at: since } => {
            state.instance = Instance::Creating(Effort::begun(at, *since));
            state.site = Site::asked(state.spec.as_deref());
            state.class_snapshot = std::mem::take(&mut state.class_snapshot).asked(state.spec.as_deref());
            state.start = state.start_asked_at(at);
            state.is_away();
            state.aside = None;
        }
        Event::Created { instance, at: since } => {
            if let Instance::Creating(effort) = &state.instance {
                let intent = effort.intent;
                state.instance = Instance::Running { intent, instance: instance.clone(), since: *since };
                state.proven = Some(intent);
                state.of_others.remove(&instance.effect);
            }
        }
        Event::CreateRetryScheduled { until, fault } | Event::DeleteRetryScheduled { until, fault } => {
            wait(state, *until, fault);
        }
        Event::CreateGivenUp { fault, again } => give_up(state, fault, *again),
        Event::DeleteGivenUp { fault } => give_up(state, fault, None),
        Event::DeleteRequested { at: since } => {
            let of = match &state.instance {
                Instance::Creating(effort) => effort.intent,
                Instance::Running { intent, .. } | Instance::Lost { intent, .. } => *intent,
                Instance::Deleting { of, .. } => *of,
                Instance::None => return,
            };
            state.instance = Instance::Deleting { of, effort: Effort::begun(at, *since) };
            state.is_away();
        }
        Event::Deleted => state.instance = Instance::None,
        Event::AttemptBegun => {
            if let Some(effort) = effort_mut(state) {
                effort.begin();
            }
            state.is_prepared_anew(at);
        }
        Event::InstanceLost { at: since } => {
            if let Instance::Running { intent, .. } = &state.instance {
                state.instance = Instance::Lost { intent: *intent, since: *since };
                state.is_away();
            }
        }
        Event::NodeReported { conditions, at: since } => {
            let conditions = conditions.iter().map(|c: &Condition| (c.kind.clone(), c.clone())).collect();
            let is_unfit = draining::is_unfit(&conditions);
            state.unfit_since = is_unfit.then(|| state.unfit_since.unwrap_or(*since));
            state.node = Node::Reporting { since: *since, conditions };
        }
        Event::AgentJoined { token, node, at: since } => {
            state.joined = Some(Joined { token: token.clone(), node: (**node).clone(), since: *since });
        }
        Event::NodeChanged { node, .. } => {
            if let Some(joined) = &mut state.joined {
                joined.node = (**node).clone();
            }
        }
        Event::NodeWentStale { last_seen } => {
            let conditions = match std::mem::take(&mut state.node) {
                Node::Reporting { conditions, .. } | Node::Stale { conditions, .. } => conditions,
                Node::Silent => Default::default(),
            };
            state.node = Node::Stale { last_seen: *last_seen, conditions };
        }
        Event::AttachmentReserved { volume } => {
            state.attachments.insert(volume.clone());
        }
        Event::AttachmentReleased { volume } | Event::Skipped { what: Skipped::Attachment { volume } } => {
            state.attachments.remove(volume);
            state.volume_zones.forget(volume);
            state.turns_evolve(event);
        }
        Event::VolumeIsIn { volume, zone } => state.volume_zones.note(volume, zone),
        Event::MountReserved { filesystem } => {
            state.mounts.insert(filesystem.clone());
        }
        Event::MountReleased { filesystem } | Event::Skipped { what: Skipped::Mount { filesystem } } => {
            state.mounts.remove(filesystem);
        }
        Event::RemovalExplained { why } => state.going = Some(*why),
        Event::Protected { on } => state.protected = *on,
        Event::RemovalBegan { at } => {
            state.life = Life::Dying;
            state.going_since = Some(*at);
        }
        Event::Died => state.life = Life::Dead,
        Event::Removed => {
            state.life = Life::Removed;
            state.hold = None;
        }
        Event::Held { reason, until, at: since } => {
            let withheld = state.hold.take().map(|hold| hold.withheld).unwrap_or_default();
            state.hold = Some(Hold { reason: reason.clone(), since: *since, until: *until, withheld });
        }
        Event::HoldEnded => state.hold = None,
        Event::Withheld { step, .. } => {
            if let Some(hold) = &mut state.hold {
                hold.withheld.insert(*step);
            }
        }
        Event::InstanceToStay => state.keeps_instance = true,
        Event::Engaged { set } => {
            state.engaged.insert(set.clone());
        }
        Event::Disengaged { set } | Event::Skipped { what: Skipped::Membership { set } } => {
            state.engaged.remove(set);
        }
        Event::Skipped { what: Skipped::DeletionOf { .. } } => (),
        Event::InstanceLeft { effect, why } => {
            state.instance = Instance::None;
            state.is_away();
            state.aside = None;
            if *why == Leaving::OperatorKeeps {
                state.kept.insert(*effect);
            }
        }
        Event::Adopted { instance, at: since } => {
            state.adopted = Some((at, instance.effect));
            state.proven = Some(at);
            state.kept.remove(&instance.effect);
            state.of_others.remove(&instance.effect);
            state.instance = Instance::Running { intent: at, instance: instance.clone(), since: *since };
            state.node = Node::Silent;
            state.unfit_since = None;
            state.joined = None;
        }
        Event::StrayFound { effect, provider, instance, at: since } => {
            let effort = Effort::begun(at, *since);
            state.kept.remove(effect);
            state.strays.insert(*effect, Stray { provider: provider.clone(), instance: instance.clone(), effort });
        }
        Event::StrayGone { effect } => {
            state.strays.remove(effect);
        }
        Event::StartedByOther { effect, .. } => {
            state.strays.remove(effect);
            state.of_others.insert(*effect);
        }
        Event::StrayRetryScheduled { effect, until, fault } => {
            if let Some(stray) = state.strays.get_mut(effect) {
                stray.effort.wait(*until, fault.clone());
            }
        }
        Event::StrayGivenUp { effect, fault } => {
            if let Some(stray) = state.strays.get_mut(effect) {
                stray.effort.outlook = Outlook::GivenUp { fault: fault.clone(), again: None };
            }
        }
        Event::StrayAttemptBegun { effect } => {
            if let Some(stray) = state.strays.get_mut(effect) {
                stray.effort.begin();
            }
        }
        Event::JoinAwaited { until, at: since } => state.health = Health::Joining { since: *since, until: *until },
        Event::BecameWell { at: since } => state.health = Health::Well { since: *since },
        Event::BecameSuspect { cause, at: since, until } => {
            state.health = Health::Suspect { cause: *cause, since: *since, until: *until };
        }
        Event::BecameOverdue { cause, at: since, .. } => {
            state.health = Health::Overdue { cause: *cause, since: *since };
        }
        Event::LaidAside { .. } | Event::AsideEnded => diagnosis::evolve(state, event),
        // What follows is an event of its own.
        Event::GivenUp { .. } => (),
        Event::DrainBegan { at: since, until, turns } => {
            let turns = Turns::planned(turns);
            state.drain = Some(Drain { since: *since, until: *until, turns, outcome: None });
        }
        Event::EvictionRefused { .. }
        | Event::EvictionAskedAgain { .. }
        | Event::TurnBegan { .. }
        | Event::WorkloadEnded { .. }
        | Event::VolumeDetached { .. }
        | Event::TurnEnded { .. } => state.turns_evolve(event),
        Event::DrainEnded { outcome } => {
            if let Some(drain) = &mut state.drain {
                drain.outcome = Some(*outcome);
            }
        }
        Event::Progressed { text, percent, at: since } => {
            state.progress = Some(Progress { text: text.clone(), percent: *percent, since: *since });
        }
        Event::StartPrepared { parameters, config, .. } => {
            state.start = Start::Prepared { parameters: parameters.clone(), config: config.clone() };
            state.site.choice = state.choice_in_force();
        }
        Event::StartRefused { why, at: since, .. } => {
            if let Start::Awaited { refused, .. } = &mut state.start {
                *refused = Some((why.clone(), *since));
            }
        }
        Event::UnitAssigned { application } => {
            state.units.insert(application.clone());
            // Nothing was asked for yet, or it is asked for again by the same id.
            if state.start == Start::Open || !state.is_called() {
                state.is_prepared_anew(at);
            }
        }
        Event::UnitUnassigned { application } => {
            state.units.remove(application);
            if !state.is_called() {
                state.is_prepared_anew(at);
            }
        }
        Event::ContainerReserved { container } => {
            state.containers.insert(container.clone());
        }
        Event::ContainerReleased { container } | Event::Skipped { what: Skipped::Container { container } } => {
            state.containers.remove(container);
        }
        Event::Client(event) => juju::evolve(state, event),
        Event::Sited { zone, .. } => state.site.chosen(zone.clone()),
        Event::ClassTaken { copy } => state.class_snapshot = ClassSnapshot::Taken { copy: copy.clone() },
        Event::ZoneBlamed { zone, fault, until } => {
            state.site.blame(zone.clone(), fault.clone());
            if let Some(effort) = effort_mut(state) {
                effort.elsewhere(fault, *until);
            }
            state.is_prepared_anew(at);
        }
    }
}

fn declared(state: &mut State, at: Version, spec: Arc<Spec>) {
    // What bears its name in the world goes on bearing it.
    let (strays, kept) = (std::mem::take(&mut state.strays), std::mem::take(&mut state.kept));
    let (spec, of_others) = (Some(spec), std::mem::take(&mut state.of_others));
    *state = State { life: Life::Alive, declared_at: at, spec, strays, kept, of_others, ..State::default() };
}

/// Who waits for a class waits for the one that is declared now, and who is not being made right now is prepared for what is
/// declared now.
fn changed(state: &mut State, at: Version, spec: Arc<Spec>) {
    let is_called = state.is_called();
    if state.awaits_class().is_some() {
        state.class_snapshot = std::mem::take(&mut state.class_snapshot).asked(Some(&spec));
    }
    state.spec = Some(spec);
    if !is_called {
        state.is_prepared_anew(at);
    }
}

impl State {
    fn turns_evolve(&mut self, event: &Event) {
        if let Some(drain) = &mut self.drain {
            drain.turns.evolve(event);
        }
    }

    /// Nobody is inside any more who could report.
    fn is_away(&mut self) {
        self.node = Node::Silent;
        self.unfit_since = None;
        self.joined = None;
        self.health = Health::Unjudged;
        self.drain = None;
    }
}

fn effort_mut(state: &mut State) -> Option<&mut Effort> {
    match &mut state.instance {
        Instance::Creating(effort) | Instance::Deleting { effort, .. } => Some(effort),
        Instance::None | Instance::Running { .. } | Instance::Lost { .. } => None,
    }
}

fn give_up(state: &mut State, fault: &Fault, again: Option<Timestamp>) {
    if let Some(effort) = effort_mut(state) {
        effort.outlook = Outlook::GivenUp { fault: fault.clone(), again };
    }
}

fn wait(state: &mut State, until: Timestamp, fault: &Fault) {
    if let Some(effort) = effort_mut(state) {
        effort.wait(until, fault.clone());
    }
}
