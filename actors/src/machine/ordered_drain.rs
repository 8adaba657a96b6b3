//! In which order the workloads of a machine end while it is drained, and which of them go on.
//!
//! ```text
//! asked ─▶ ending ─▶ its volumes leave ─▶ over: those that waited for it are next
//!  ▲ └▶ refused      │              │
//!  └──────┘ due      └──────────────┴─▶ over, and not waited for: its time has passed
//! ```
//!
//! They end in waves, by their priority; side by side in a wave, but for those that name the volumes they use, which end one
//! after the other. Nobody waits for whom a disruption budget keeps going (`eviction.rs`). A volume that several use leaves
//! with the last of them that ends. No turn takes longer than the drain may. That the volumes arrive elsewhere is waited for
//! by nobody: no workload moves to another machine by itself.
//!
//! By default the least important end first, as when a node of Kubernetes is shut down: what others rest on is there the
//! longest. In Gardener's machine controller, 0.49, from which the time-outs are, priorities count among those with volumes
//! alone, the most important first ([`crate::policy::DrainOrder`]).

use std::{cmp::Reverse, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    BudgetSeen, Event, Reason, Report, Spec, State,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    policy::DrainOrder,
    vocab::{EffectId, Name, Timestamp, sort_by_key},
};

/// How the workloads of a machine end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// All of them, in order.
    pub all: Vec<Turn>,
    /// The volumes whose turn to leave has come.
    pub leaving: BTreeSet<Name>,
}

/// What is planned for a workload when the drain begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnPlan {
    pub workload: Name,
    /// The volumes that it names.
    pub volumes: BTreeSet<Name>,
    /// It ends after those of lower waves.
    pub wave: u32,
    /// How long it may take to end.
    pub grace_ms: u64,
}

/// The turn of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub plan: TurnPlan,
    pub step: TurnStep,
}

/// How far a workload is on its way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnStep {
    /// It goes on until it is its turn and somebody says that it may end; for the time of this number, from 1.
    Asked { attempt: u32 },
    /// It goes on, because this budget has no room, and is asked for again at `until`.
    Refused { attempt: u32, budget: BudgetSeen, until: Timestamp },
    /// It has been told to end, and is not waited for after `until`.
    Ending { until: Timestamp },
    /// It has ended, and these volumes are still attached.
    Detaching { volumes: BTreeSet<Name>, until: Timestamp },
    /// Nobody waits for it any more.
    Over,
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
    /// Its workloads in the order in which they end; those of one priority as they are declared.
    pub(super) fn turns(&self, order: DrainOrder) -> Vec<TurnPlan> {
        let mut workloads: Vec<_> = self.workloads.iter().collect();
        match order {
            DrainOrder::LowestFirst => sort_by_key(&mut workloads, |workload| workload.priority),
            DrainOrder::HighestFirst => sort_by_key(&mut workloads, |workload| Reverse(workload.priority)),
        }
        let (mut wave, mut turns) = (0, Vec::new());
        for (at, workload) in workloads.iter().enumerate() {
            let is_next = at.checked_sub(1).is_some_and(|before| workloads[before].priority != workload.priority);
            wave += u32::from(is_next && order == DrainOrder::LowestFirst);
            let (workload, volumes) = (workload.name.clone(), workload.volumes.clone());
            turns.push(TurnPlan { grace_ms: workloads[at].grace_ms(), workload, volumes, wave });
        }
        turns
    }
}

impl State {
    /// How its workloads end, while it is drained.
    pub fn turns(&self) -> Option<&Turns> {
        self.drain.as_ref().filter(|drain| drain.outcome.is_none()).map(|drain| &drain.turns)
    }

    /// The workloads that have not been told to end, and whether somebody has to say so first is another question.
    pub fn going_on(&self) -> BTreeSet<Name> {
        let all = self.turns().into_iter().flat_map(|turns| &turns.all);
        all.filter(|turn| turn.goes_on()).map(|turn| turn.plan.workload.clone()).collect()
    }

    /// The workloads of which somebody has to say if they may end now.
    pub fn asking(&self) -> BTreeSet<Name> {
        self.turns().map(Turns::asking).unwrap_or_default()
    }

    /// As [`State::asking`], if a budget that could never have room did not keep these from asking any more.
    pub fn asking_with(&self, freed: &BTreeSet<Name>) -> BTreeSet<Name> {
        let Some(mut turns) = self.turns().cloned() else { return BTreeSet::new() };
        let freed = |turn: &&mut Turn| turn.stranded_by().is_some() && freed.contains(&turn.plan.workload);
        for turn in turns.all.iter_mut().filter(freed) {
            turn.step = TurnStep::Asked { attempt: attempt(&turn.step) };
        }
        turns.asking()
    }

    /// The workloads that go on because of a budget that could never have room.
    pub fn stranded(&self) -> impl Iterator<Item = &Turn> {
        let all = self.turns().into_iter().flat_map(|turns| &turns.all);
        all.filter(|turn| turn.stranded_by().is_some())
    }

    /// Whether a volume is to leave although the machine is still drained: who used it has ended.
    pub fn lets_go_of(&self, volume: &Name) -> bool {
        self.turns().is_some_and(|turns| turns.leaving.contains(volume))
    }

    /// Whether the turn of a workload waits until this volume is detached.
    pub fn awaits_detachment_of(&self, volume: &Name) -> bool {
        let all = self.turns().into_iter().flat_map(|turns| &turns.all);
        let mut steps = all.map(|turn| &turn.step);
        steps.any(|step| matches!(step, TurnStep::Detaching { volumes, .. } if volumes.contains(volume)))
    }

    /// What is to be reported about its drain when nothing but this runs in its instance, and these go on.
    pub fn drain_report(
        &self,
        effect: EffectId,
        running: &BTreeSet<Name>,
        going_on: &BTreeSet<Name>,
    ) -> Option<Report> {
        let turns = self.turns()?;
        let ending = turns.all.iter().filter(|turn| matches!(turn.step, TurnStep::Ending { .. }));
        let ended = ending.map(|turn| &turn.plan.workload).filter(|workload| !running.contains(*workload));
        let workloads: BTreeSet<Name> = ended.cloned().collect();
        if !workloads.is_empty() {
            return Some(Report::WorkloadsEnded { effect, workloads });
        }
        let is_empty = running.is_empty() && going_on.is_empty() && !turns.is_under_way();
        is_empty.then_some(Report::Drained { effect })
    }
}

impl Turn {
    /// Whether it has not been told to end.
    pub fn goes_on(&self) -> bool {
        matches!(self.step, TurnStep::Asked { .. } | TurnStep::Refused { .. })
    }

    /// When it is not waited for any more, or is asked for again.
    fn until(&self) -> Option<Timestamp> {
        match &self.step {
            TurnStep::Refused { until, .. } | TurnStep::Ending { until } | TurnStep::Detaching { until, .. } => {
                Some(*until)
            }
            TurnStep::Asked { .. } | TurnStep::Over => None,
        }
    }

    /// Whether it has been told to end, and is waited for.
    fn is_under_way(&self) -> bool {
        matches!(self.step, TurnStep::Ending { .. } | TurnStep::Detaching { .. })
    }

    /// Whether it uses this volume, or may.
    fn uses(&self, volume: &Name) -> bool {
        let is_inside = self.goes_on() || matches!(self.step, TurnStep::Ending { .. });
        is_inside && self.plan.volumes.contains(volume)
    }

    /// The application whose budget, which could never have room, keeps it running.
    pub fn stranded_by(&self) -> Option<&Name> {
        match &self.step {
            TurnStep::Refused { budget, .. } if budget.is_hopeless() => Some(&budget.application),
            _ => None,
        }
    }

    /// Whether this one, which stands earlier in the order or not, is waited for before the other one is asked.
    fn precedes(&self, is_earlier: bool, other: &Self) -> bool {
        let one_by_one = !self.plan.volumes.is_empty() && !other.plan.volumes.is_empty();
        let is_of_earlier_wave = self.plan.wave < other.plan.wave;
        match &self.step {
            TurnStep::Asked { .. } => is_of_earlier_wave || is_earlier && one_by_one,
            TurnStep::Ending { .. } | TurnStep::Detaching { .. } => is_of_earlier_wave || one_by_one,
            TurnStep::Refused { .. } | TurnStep::Over => false,
        }
    }
}

impl Turns {
    pub(super) fn planned(plans: &[TurnPlan]) -> Self {
        let turn = |plan: &TurnPlan| Turn { plan: plan.clone(), step: TurnStep::Asked { attempt: 1 } };
        Self { all: plans.iter().map(turn).collect(), leaving: BTreeSet::new() }
    }

    /// Whether it matters which workload ends before which.
    pub fn has_order(&self) -> bool {
        self.all.iter().any(|turn| 0 < turn.plan.wave || !turn.plan.volumes.is_empty())
    }

    /// Whether some workload has been told to end, and is waited for.
    pub fn is_under_way(&self) -> bool {
        self.all.iter().any(Turn::is_under_way)
    }

    /// Whose turn it is to be asked.
    fn asking(&self) -> BTreeSet<Name> {
        let all = self.all.iter().enumerate();
        let is_next = |(at, turn): &(usize, &Turn)| {
            let mut others = self.all.iter().enumerate().filter(|(other, _)| other != at);
            matches!(turn.step, TurnStep::Asked { .. }) && !others.any(|(other, it)| it.precedes(other < *at, turn))
        };
        all.filter(is_next).map(|(_, turn)| turn.plan.workload.clone()).collect()
    }

    /// The turn of this workload.
    pub fn of(&self, workload: &Name) -> Option<&Turn> {
        self.all.iter().find(|turn| turn.plan.workload == *workload)
    }

    fn step_mut(&mut self, workload: &Name) -> Option<&mut TurnStep> {
        self.all.iter_mut().find(|turn| turn.plan.workload == *workload).map(|turn| &mut turn.step)
    }

    fn takes(&mut self, workload: &Name, next: impl FnOnce(&TurnStep) -> TurnStep) {
        if let Some(step) = self.step_mut(workload) {
            *step = next(step);
        }
    }

    /// Takes an event into account, if it concerns a turn.
    pub(super) fn evolve(&mut self, event: &Event) {
        match event {
            Event::EvictionRefused { workload, budget, until } => self.takes(workload, |step| TurnStep::Refused {
                attempt: attempt(step),
                budget: budget.clone(),
                until: *until,
            }),
            Event::EvictionAskedAgain { workload } => {
                self.takes(workload, |step| TurnStep::Asked { attempt: attempt(step).saturating_add(1) });
            }
            Event::TurnBegan { workload, until, .. } => self.takes(workload, |_| TurnStep::Ending { until: *until }),
            Event::WorkloadEnded { workload, volumes } => {
                self.leaving.extend(volumes.iter().cloned());
                let until = self.of(workload).and_then(Turn::until).unwrap_or_default();
                self.takes(workload, |_| TurnStep::Detaching { volumes: volumes.clone(), until });
            }
            Event::VolumeDetached { volume } | Event::AttachmentReleased { volume } => {
                for turn in &mut self.all {
                    if let TurnStep::Detaching { volumes, .. } = &mut turn.step {
                        volumes.remove(volume);
                    }
                }
            }
            Event::TurnEnded { workload, .. } => self.takes(workload, |_| TurnStep::Over),
            _ => (),
        }
    }

    /// The next turn that is over, or that nobody waits for any longer.
    fn next(&self, now: Timestamp) -> Option<Event> {
        self.all.iter().find_map(|turn| {
            let outcome = match &turn.step {
                TurnStep::Detaching { volumes, .. } if volumes.is_empty() => TurnOutcome::Done,
                TurnStep::Detaching { until, .. } if *until <= now => TurnOutcome::VolumesStayed,
                TurnStep::Ending { until } if *until <= now => TurnOutcome::WorkloadStayed,
                _ => return None,
            };
            Some(Event::TurnEnded { workload: turn.plan.workload.clone(), outcome })
        })
    }
}

fn attempt(step: &TurnStep) -> u32 {
    match step {
        TurnStep::Asked { attempt } | TurnStep::Refused { attempt, .. } => *attempt,
        TurnStep::Ending { .. } | TurnStep::Detaching { .. } | TurnStep::Over => 0,
    }
}

/// The workload is told to end: it has its grace and what the policy adds to that, or else its volumes have their time beside
/// its grace, but no longer than the drain may take.
pub(super) fn begin(state: &State, turn: &Turn, is_forced: bool, facts: &Facts<'_>) -> Option<Event> {
    let ends = state.drain.as_ref()?.until;
    let rules = &facts.policy.reconciliation.drain;
    let has_volumes = !turn.plan.volumes.is_empty();
    let more_ms = if has_volumes { rules.end_buffer_ms.max(rules.volume_detach_ms) } else { rules.end_buffer_ms };
    let until = facts.now.after(turn.plan.grace_ms).after(more_ms).min(ends);
    Some(Event::TurnBegan { workload: turn.plan.workload.clone(), is_forced, until })
}

/// The agent says that these workloads do not run any more, which have been told to end.
pub(super) fn report_ended(state: &State, effect: EffectId, ended: &BTreeSet<Name>, facts: &Facts<'_>) -> Verdict {
    let known = state.turns().filter(|_| state.running_effect() == Some(effect));
    let Some(mut turns) = known.cloned() else { return Ok(Decision::nothing(Reason::StaleReport)) };
    let mut events = Vec::new();
    for workload in ended {
        let Some(turn) = turns.of(workload).filter(|turn| matches!(turn.step, TurnStep::Ending { .. })) else {
            continue;
        };
        let is_needed = |volume: &&Name| turns.all.iter().any(|it| it.plan.workload != *workload && it.uses(volume));
        let left = turn.plan.volumes.intersection(&state.attachments).filter(|volume| !is_needed(volume));
        let event = Event::WorkloadEnded { workload: workload.clone(), volumes: left.cloned().collect() };
        turns.evolve(&event);
        events.push(event);
    }
    if events.is_empty() {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    Ok(Decision::because(Reason::WorkloadEnded, with_next(state, events, facts)))
}

/// A volume is not attached to this instance any more.
pub(super) fn note_detached(state: &State, effect: EffectId, volume: &Name, facts: &Facts<'_>) -> Verdict {
    if !state.awaits_detachment_of(volume) || state.running_effect() != Some(effect) {
        return Ok(Decision::nothing(Reason::DetachmentNotAwaited));
    }
    let detached = Event::VolumeDetached { volume: volume.clone() };
    Ok(Decision::because(Reason::VolumeDetached, with_next(state, vec![detached], facts)))
}

/// These events, and the ends of turns that follow from them.
pub(super) fn with_next(state: &State, mut events: Vec<Event>, facts: &Facts<'_>) -> Vec<Event> {
    let Some(mut turns) = state.turns().cloned() else { return events };
    events.iter().for_each(|event| turns.evolve(event));
    while let Some(next) = turns.next(facts.now) {
        turns.evolve(&next);
        events.push(next);
    }
    events
}

/// When the first of the turns that are under way is over, whatever has become of it.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    let all = state.turns().into_iter().flat_map(|turns| &turns.all);
    all.filter(|turn| turn.is_under_way()).filter_map(Turn::until).min()
}
