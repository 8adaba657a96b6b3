//! What is true of a machine deployment now.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Event, OwnedSet, Progress, ProgressReason, Spec, Totals, is_complete, max_revision};
use crate::{
    machine::Spec as MachineSpec,
    vocab::{Life, Name, Timestamp, Uid},
};

/// A machine deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Spec>,
    /// The version of the event that changed last what it shall be.
    pub generation: Version,
    /// When its machines were asked to be made anew, if they were since its template is in force.
    pub restarted: Option<String>,
    /// Its sets, also those that go.
    pub sets: BTreeMap<Name, OwnedSet>,
    /// How many names were ever given to sets: none is given twice.
    pub named: u64,
    pub progress: Option<Progress>,
    /// What its last pass was made on.
    pub told: Totals,
    /// A machine will have been ready for long enough then.
    pub again: Option<Timestamp>,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// Whether another pass is to be made, whatever the counts are.
    pub owes_pass: bool,
    /// When the window opens that its rollout waits for.
    pub awaits: Option<Timestamp>,
    /// Whether its rollout waits for none.
    pub hurried: bool,
}

/// Work that a deployment is owed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Say when it is time.
    WakeAt(Timestamp),
}

impl State {
    /// The deployment's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// The template that is in force: the declared one, and when its machines were asked to be made anew.
    pub fn template(&self) -> Option<Arc<MachineSpec>> {
        let declared = &self.spec.as_ref()?.template;
        let Some(at) = &self.restarted else { return Some(declared.clone()) };
        let mut template = (**declared).clone();
        template.annotations.insert(Spec::RESTARTED.to_owned(), at.clone());
        Some(Arc::new(template))
    }

    /// Whether its last pass left nothing to do.
    pub fn is_complete(&self) -> bool {
        let replicas = self.spec.as_ref().map(|spec| spec.replicas);
        self.life == Life::Alive && replicas.is_some_and(|count| is_complete(count, self.generation, &self.told))
    }

    /// Whether it did not get on for longer than it may.
    pub fn is_late(&self) -> bool {
        self.progress.is_some_and(|progress| progress.reason == ProgressReason::ProgressDeadlineExceeded)
    }

    /// Whether it stays at the sets that it has.
    pub fn is_paused(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.paused)
    }

    /// Whether a pass is to be made even if all counts are as they were.
    pub fn wants_a_pass(&self) -> bool {
        self.owes_pass || self.told.observed < self.generation
    }

    /// When it is to be woken: a machine has been ready for long enough, it has not got on for too long, or a window opens.
    pub fn due(&self) -> Option<Timestamp> {
        if self.life != Life::Alive || self.wants_a_pass() {
            return None;
        }
        self.again.into_iter().chain(self.late_at()).chain(self.awaits).min()
    }

    /// When it will not have got on for too long.
    fn late_at(&self) -> Option<Timestamp> {
        let deadline_ms = self.spec.as_ref().filter(|spec| !spec.paused)?.progress_deadline_ms?;
        let progress = self.progress?;
        let counts = !matches!(
            progress.reason,
            ProgressReason::NewMachineSetAvailable
                | ProgressReason::ProgressDeadlineExceeded
                | ProgressReason::WindowAwaited
        );
        counts.then(|| progress.at.after(deadline_ms).after(1))
    }

    /// One word for people: `complete`, `progressing`, `paused`, `waiting`, `stuck`, `removing`.
    pub fn status(&self) -> &'static str {
        match self.life {
            Life::Undeclared => "undeclared",
            Life::Removed => "removed",
            Life::Dying | Life::Dead => "removing",
            Life::Alive if self.is_paused() => "paused",
            Life::Alive if self.is_complete() => "complete",
            Life::Alive if self.awaits.is_some() => "waiting",
            Life::Alive if self.is_late() => "stuck",
            Life::Alive => "progressing",
        }
    }
}

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { spec } => {
            let named = state.named;
            *state = State {
                life: Life::Alive,
                declared_at: at,
                generation: at,
                spec: Some(spec.clone()),
                named,
                ..State::default()
            };
        }
        Event::SpecChanged { spec } => {
            state.generation = at;
            state.hurried &= state.spec.as_ref().is_some_and(|present| present.template == spec.template);
            state.spec = Some(spec.clone());
        }
        Event::Restarted { at: time } => {
            state.generation = at;
            state.hurried = false;
            state.restarted = Some(time.to_string());
        }
        Event::RolledBack { revision } => {
            state.generation = at;
            state.hurried = false;
            let template = state.sets.values().find(|set| set.revision == *revision).map(|set| set.template.clone());
            if let (Some(spec), Some(template)) = (&mut state.spec, template) {
                let mut template = (*template).clone();
                state.restarted = template.annotations.remove(Spec::RESTARTED);
                spec.template = Arc::new(template);
            }
        }
        Event::Protected { on } => state.protected = *on,
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Removed => *state = State { life: Life::Removed, named: state.named, ..State::default() },
        Event::PassOwed | Event::Ripened | Event::DeadlinePassed | Event::WindowOpened => state.owes_pass = true,
        Event::WindowAwaited { opens } => state.awaits = *opens,
        Event::Hurried => (state.hurried, state.owes_pass) = (true, true),
        Event::Adopted { set, template, replicas, created } => {
            let revision = max_revision(state.sets.values()) + 1;
            let owned = owned(set, revision, template.clone(), *replicas, *created);
            state.sets.insert(set.clone(), owned);
        }
        Event::Forgotten { set } => drop(state.sets.remove(set)),
        Event::Observed { counts, again } => {
            state.owes_pass = false;
            state.again = *again;
            for (name, set) in &mut state.sets {
                set.counts = counts.get(name).copied().unwrap_or_default();
            }
        }
        Event::SetMade { set, replicas, sized_for, most, at } => {
            let Some(template) = state.template() else { return };
            let revision = max_revision(state.sets.values()) + 1;
            let made = owned(set, revision, template, *replicas, *at);
            state.sets.insert(set.clone(), OwnedSet { sized_for: Some(*sized_for), most: Some(*most), ..made });
            state.named += 1;
        }
        Event::Renumbered { set, revision } => {
            if let Some(set) = state.sets.get_mut(set) {
                set.revision = *revision;
            }
        }
        Event::Scaled { set, replicas, sized_for, most } => {
            if let Some(set) = state.sets.get_mut(set) {
                (set.replicas, set.sized_for, set.most) = (*replicas, Some(*sized_for), Some(*most));
            }
        }
        Event::SetDropped { set } => {
            if let Some(set) = state.sets.get_mut(set) {
                set.leaves = true;
            }
        }
        Event::Progressed { progress } => {
            state.hurried &= progress.reason != ProgressReason::NewMachineSetAvailable;
            state.progress = Some(*progress);
        }
        Event::Counted { totals } => state.told = *totals,
    }
}

fn owned(name: &Name, revision: u64, template: Arc<MachineSpec>, replicas: u32, created: Timestamp) -> OwnedSet {
    let counts = Default::default();
    let (sized_for, most) = (None, None);
    OwnedSet { name: name.clone(), revision, template, replicas, sized_for, most, created, leaves: false, counts }
}
