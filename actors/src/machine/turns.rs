//! Workloads that name the volumes they use end one after the other, beside those that name none.
//!
//! ```text
//! waiting ─▶ ending ─▶ its volumes leave ─▶ over: the next one's turn begins
//!              │              │
//!              └──────────────┴─▶ over, and not waited for: its time has passed
//! ```
//!
//! A volume that several of them use leaves in the turn of the last one. A turn never takes longer than the drain may. That
//! the volumes arrive elsewhere is waited for by nobody: no workload moves to another machine by itself.
//! Source: the serial eviction of Gardener's machine controller, 0.49: its order and its time-outs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, Report, Spec, State,
    decide::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{EffectId, Name, Timestamp},
};

/// How the workloads with volumes of a machine end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// Whose turn is still to come, in order.
    pub waiting: Vec<TurnPlan>,
    /// Whose turn it is.
    pub current: Option<Turn>,
    /// The volumes whose turn to leave has come.
    pub leaving: BTreeSet<Name>,
}

/// A turn that is to come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnPlan {
    pub workload: Name,
    /// The volumes that it uses, and nobody after it.
    pub volumes: BTreeSet<Name>,
}

/// The turn of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub workload: Name,
    /// Neither it nor its volumes are waited for after that.
    pub until: Timestamp,
    pub step: TurnStep,
}

/// What is waited for in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnStep {
    /// The workload has been told to end; these volumes leave after it.
    Ending { volumes: BTreeSet<Name> },
    /// It has ended, and these volumes are still attached.
    Detaching { volumes: BTreeSet<Name> },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TurnOutcome {
    /// The workload has ended, and its volumes are detached.
    Done,
    /// The workload did not end in time.
    WorkloadStayed,
    /// It has ended, and a volume of it was not detached in time.
    VolumesStayed,
}

impl Spec {
    /// Whether some of its workloads end one after the other.
    pub fn has_turns(&self) -> bool {
        self.workloads.iter().any(|workload| !workload.volumes.is_empty())
    }

    /// Its workloads with volumes as they are declared; each volume stands with the last one that uses it.
    fn turns(&self) -> Vec<TurnPlan> {
        let mut taken: BTreeSet<&Name> = BTreeSet::new();
        let mut turns = Vec::new();
        for workload in self.workloads.iter().rev().filter(|workload| !workload.volumes.is_empty()) {
            let volumes = workload.volumes.iter().filter(|volume| taken.insert(volume)).cloned().collect();
            turns.push(TurnPlan { workload: workload.name.clone(), volumes });
        }
        turns.reverse();
        turns
    }
}

impl State {
    /// How its workloads with volumes end, while it is drained.
    pub fn turns(&self) -> Option<&Turns> {
        self.drain.as_ref().filter(|drain| drain.outcome.is_none()).map(|drain| &drain.turns)
    }

    /// Whose turn it is, while it is drained.
    pub fn turn(&self) -> Option<&Turn> {
        self.turns()?.current.as_ref()
    }

    /// The workloads that go on although the others have been told to end.
    pub fn going_on(&self) -> BTreeSet<Name> {
        self.turns().iter().flat_map(|turns| &turns.waiting).map(|plan| plan.workload.clone()).collect()
    }

    /// Whether a volume is to leave although the machine is still drained: who used it has ended.
    pub fn lets_go_of(&self, volume: &Name) -> bool {
        self.turns().is_some_and(|turns| turns.leaving.contains(volume))
    }

    /// Whether the turn of a workload waits until this volume is detached.
    pub fn awaits_detachment_of(&self, volume: &Name) -> bool {
        matches!(self.turn(), Some(Turn { step: TurnStep::Detaching { volumes }, .. }) if volumes.contains(volume))
    }

    /// What is to be reported about its drain when nothing but this runs in its instance.
    pub fn drain_report(&self, effect: EffectId, running: &BTreeSet<Name>) -> Option<Report> {
        match self.turn() {
            Some(Turn { workload, step: TurnStep::Ending { .. }, .. }) => {
                (!running.contains(workload)).then(|| Report::WorkloadEnded { effect, workload: workload.clone() })
            }
            Some(Turn { step: TurnStep::Detaching { .. }, .. }) => None,
            None => (self.is_draining() && running.is_empty()).then_some(Report::Drained { effect }),
        }
    }
}

impl Turns {
    /// Takes an event into account, if it concerns a turn.
    pub(super) fn evolve(&mut self, event: &Event) {
        match event {
            Event::TurnsPlanned { turns } => self.waiting.clone_from(turns),
            Event::TurnBegan { workload, until } => {
                let at = self.waiting.iter().position(|plan| plan.workload == *workload);
                let volumes = at.map(|at| self.waiting.remove(at).volumes).unwrap_or_default();
                let step = TurnStep::Ending { volumes };
                self.current = Some(Turn { workload: workload.clone(), until: *until, step });
            }
            Event::WorkloadEnded { volumes, .. } => {
                self.leaving.extend(volumes.iter().cloned());
                if let Some(turn) = &mut self.current {
                    turn.step = TurnStep::Detaching { volumes: volumes.clone() };
                }
            }
            Event::VolumeDetached { volume } | Event::AttachmentReleased { volume } => {
                if let Some(Turn { step: TurnStep::Detaching { volumes }, .. }) = &mut self.current {
                    volumes.remove(volume);
                }
            }
            Event::TurnEnded { .. } => self.current = None,
            _ => (),
        }
    }

    /// The next step that needs nobody's report.
    fn next(&self, ends: Timestamp, facts: &Facts<'_>) -> Option<Event> {
        let Some(Turn { workload, until, step }) = &self.current else {
            let plan = self.waiting.first().filter(|_| facts.now < ends)?;
            let rules = &facts.policy.reconciliation.drain;
            let until = facts.now.after(rules.end_buffer_ms).after(rules.volume_detach_ms).min(ends);
            return Some(Event::TurnBegan { workload: plan.workload.clone(), until });
        };
        let is_over = *until <= facts.now;
        let outcome = match step {
            TurnStep::Detaching { volumes } if volumes.is_empty() => TurnOutcome::Done,
            TurnStep::Detaching { .. } if is_over => TurnOutcome::VolumesStayed,
            TurnStep::Ending { .. } if is_over => TurnOutcome::WorkloadStayed,
            TurnStep::Detaching { .. } | TurnStep::Ending { .. } => return None,
        };
        Some(Event::TurnEnded { workload: workload.clone(), outcome })
    }
}

/// The first turn, when the workloads may end.
pub(super) fn begin(state: &State, facts: &Facts<'_>) -> Vec<Event> {
    let turns = state.spec.as_ref().map(|spec| spec.turns()).unwrap_or_default();
    if turns.is_empty() {
        return Vec::new();
    }
    with_next(state, vec![Event::TurnsPlanned { turns }], facts)
}

/// The agent says that the workload whose turn it is does not run any more.
pub(super) fn report_ended(state: &State, effect: EffectId, workload: &Name, facts: &Facts<'_>) -> Verdict {
    let volumes = match state.turn() {
        Some(Turn { workload: whose, step: TurnStep::Ending { volumes }, .. })
            if whose == workload && state.running_effect() == Some(effect) =>
        {
            volumes.intersection(&state.attachments).cloned().collect()
        }
        _ => return Ok(Decision::nothing(Reason::StaleReport)),
    };
    let ended = Event::WorkloadEnded { workload: workload.clone(), volumes };
    Ok(Decision::because(Reason::WorkloadEnded, with_next(state, vec![ended], facts)))
}

/// A volume is not attached to this instance any more.
pub(super) fn note_detached(state: &State, effect: EffectId, volume: &Name, facts: &Facts<'_>) -> Verdict {
    if !state.awaits_detachment_of(volume) || state.running_effect() != Some(effect) {
        return Ok(Decision::nothing(Reason::DetachmentNotAwaited));
    }
    let detached = Event::VolumeDetached { volume: volume.clone() };
    Ok(Decision::because(Reason::VolumeDetached, with_next(state, vec![detached], facts)))
}

/// These events, and the steps of the turns that follow from them.
pub(super) fn with_next(state: &State, mut events: Vec<Event>, facts: &Facts<'_>) -> Vec<Event> {
    let Some(drain) = state.drain.as_ref().filter(|drain| drain.outcome.is_none()) else { return events };
    let mut turns = drain.turns.clone();
    events.iter().for_each(|event| turns.evolve(event));
    while let Some(next) = turns.next(drain.until, facts) {
        turns.evolve(&next);
        events.push(next);
    }
    events
}

/// When the present turn is over, whatever has become of it.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    state.turn().map(|turn| turn.until)
}
