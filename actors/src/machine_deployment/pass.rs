//! One pass of a deployment: which rule holds when.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Counts, Event, Progress, ProgressReason, Reason, Size, Spec, State, Strategy, bounds, find, is_complete,
    is_progressing, is_timed_out, max_revision, new_size, recreate, restored_size, rolling, scale, to_clean, totals,
    verdict::Facts,
};
use crate::{
    contract::{Decider, Decision},
    machine::Spec as MachineSpec,
    vocab::{Name, Timestamp},
};

/// A pass on these counts.
pub(super) fn observe(
    state: &State,
    counts: &BTreeMap<Name, Counts>,
    free: &Name,
    again: Option<Timestamp>,
    facts: &Facts<'_>,
) -> Decision<State> {
    let (Some(spec), Some(template)) = (state.spec.clone(), state.template()) else {
        return Decision::nothing(Reason::NothingNew);
    };
    let is_same = |(name, set): (&Name, &super::OwnedSet)| set.counts == counts.get(name).copied().unwrap_or_default();
    let waits_well = !state.waits_in_vain(&facts.policy.rollouts.windows, facts.now);
    if !state.wants_a_pass() && waits_well && state.again == again && state.sets.iter().all(is_same) {
        return Decision::nothing(Reason::NothingNew);
    }
    let mut pass = Pass { spec, template, after: state.clone(), events: Vec::new(), facts };
    pass.emit(Event::Observed { counts: counts.clone(), again });
    pass.run(free);
    let changes = |event: &Event| resizes(event) || matches!(event, Event::SetDropped { .. });
    let reason = if pass.events.iter().any(changes) { Reason::SetsChange } else { Reason::MachinesCounted };
    Decision::because(reason, pass.events)
}

fn resizes(event: &Event) -> bool {
    matches!(event, Event::SetMade { .. } | Event::Scaled { .. })
}

/// A pass that is being decided: what holds after each of its events.
struct Pass<'a> {
    spec: Spec,
    template: Arc<MachineSpec>,
    after: State,
    events: Vec<Event>,
    facts: &'a Facts<'a>,
}

impl Pass<'_> {
    fn emit(&mut self, event: Event) {
        self.after.evolve(self.facts.next, &event);
        self.events.push(event);
    }

    fn run(&mut self, free: &Name) {
        self.pause_or_resume();
        self.number();
        let (strategy, replicas) = (self.spec.strategy, self.spec.replicas);
        let sizes = match self.spec.paused || self.is_resized() {
            true => scale(strategy, replicas, &find(&self.after.sets, &self.template), self.after.told.machines),
            false => Vec::new(),
        };
        if self.spec.paused || !sizes.is_empty() {
            self.resize(sizes);
            if self.spec.paused {
                self.clean();
            }
        } else if self.awaited().is_some() {
            self.stand_still(free);
        } else {
            if self.reason() == Some(ProgressReason::WindowAwaited) {
                self.tell(ProgressReason::WindowOpened);
            }
            match strategy {
                Strategy::RollingUpdate(_) => self.roll(free),
                Strategy::Recreate => self.recreate(free),
            }
            self.progress();
        }
        let opens = self.awaited();
        if opens != self.after.awaits {
            self.emit(Event::WindowAwaited { opens });
        }
        let totals = totals(&find(&self.after.sets, &self.template), self.after.generation);
        self.emit(Event::Counted { totals });
        // What a set makes of another size may look as before; then nothing else would bring the next pass.
        if self.events.iter().any(resizes) {
            self.emit(Event::PassOwed);
        }
    }

    fn reason(&self) -> Option<ProgressReason> {
        self.after.progress.map(|progress| progress.reason)
    }

    fn awaited(&self) -> Option<Timestamp> {
        self.after.awaited(&self.facts.policy.rollouts.windows, self.facts.now)
    }

    /// A paused deployment is not late; one that goes on has all its time again.
    fn pause_or_resume(&mut self) {
        match (self.spec.paused, self.reason()) {
            (_, Some(ProgressReason::ProgressDeadlineExceeded)) => (),
            (true, Some(ProgressReason::DeploymentPaused)) => (),
            (true, _) => self.tell(ProgressReason::DeploymentPaused),
            (false, Some(ProgressReason::DeploymentPaused)) => self.tell(ProgressReason::DeploymentResumed),
            (false, _) => (),
        }
    }

    /// The new set has the highest revision, also if it is one that was there before.
    fn number(&mut self) {
        let found = find(&self.after.sets, &self.template);
        let Some(new) = found.new else { return };
        let revision = max_revision(found.old.iter().copied()) + 1;
        let (set, is_lower) = (new.name.clone(), new.revision < revision);
        if is_lower {
            self.emit(Event::Renumbered { set, revision });
        }
        if self.after.progress.is_none() {
            self.tell(ProgressReason::FoundNewMachineSet);
        }
    }

    /// Whether a set was scaled for another size of the deployment.
    fn is_resized(&self) -> bool {
        let mut active = self.after.sets.values().filter(|set| !set.leaves && set.is_active());
        active.any(|set| set.sized_for.is_some_and(|size| size != self.spec.replicas))
    }

    /// No machine that works is replaced now. What is missing of the number is made by the template in force, for machines
    /// that went in the last window; where all are to go first, it is not missing before they do.
    fn stand_still(&mut self, free: &Name) {
        let found = find(&self.after.sets, &self.template);
        let all = found.old.iter().copied().chain(found.new);
        let size = restored_size(self.spec.replicas, found.new.map_or(0, |new| new.replicas), all);
        match found.new.map(|new| Size { set: new.name.clone(), replicas: size }) {
            _ if self.spec.strategy == Strategy::Recreate => (),
            Some(size) => self.resize(vec![size]),
            None if size > 0 => self.make_new(free, size),
            None => (),
        }
        if self.reason() != Some(ProgressReason::WindowAwaited) {
            self.tell(ProgressReason::WindowAwaited);
        }
    }

    fn roll(&mut self, free: &Name) {
        let (strategy, replicas) = (self.spec.strategy, self.spec.replicas);
        let found = find(&self.after.sets, &self.template);
        if found.new.is_none() {
            let size = new_size(strategy, replicas, 0, found.old.iter().copied());
            self.make_new(free, size);
        }
        let found = find(&self.after.sets, &self.template);
        let sizes = match found.new {
            Some(new) => rolling(strategy, replicas, new, &found.old),
            None => Vec::new(),
        };
        self.finish(sizes);
    }

    fn recreate(&mut self, free: &Name) {
        let found = find(&self.after.sets, &self.template);
        let sizes = match recreate(&found.old) {
            Some(sizes) => sizes,
            None => {
                if found.new.is_none() {
                    self.make_new(free, self.spec.replicas);
                }
                let found = find(&self.after.sets, &self.template);
                let too_few = found.new.filter(|new| new.replicas != self.spec.replicas);
                too_few.map(|new| Size { set: new.name.clone(), replicas: self.spec.replicas }).into_iter().collect()
            }
        };
        self.finish(sizes);
    }

    /// These are the new sizes; when nothing is left to do, old sets that are empty go.
    fn finish(&mut self, sizes: Vec<Size>) {
        let found = find(&self.after.sets, &self.template);
        let now = totals(&found, self.after.generation);
        let is_over = sizes.is_empty() && is_complete(self.spec.replicas, self.after.generation, &now);
        self.resize(sizes);
        if is_over {
            self.clean();
        }
    }

    /// There is a set for the template that is in force.
    fn make_new(&mut self, free: &Name, size: u32) {
        let (sized_for, most) = (self.spec.replicas, self.most());
        let (set, at) = (free.clone(), self.facts.now);
        self.emit(Event::SetMade { set, replicas: size, sized_for, most, at });
        self.tell(ProgressReason::NewMachineSetCreated);
    }

    /// The most machines that the deployment may have.
    fn most(&self) -> u32 {
        let Spec { strategy, replicas, .. } = self.spec;
        replicas.saturating_add(bounds(strategy, replicas).surge)
    }

    fn resize(&mut self, sizes: Vec<Size>) {
        let (sized_for, most) = (self.spec.replicas, self.most());
        for Size { set, replicas } in sizes {
            let Some(present) = self.after.sets.get(&set) else { continue };
            if (present.replicas, present.sized_for, present.most) != (replicas, Some(sized_for), Some(most)) {
                self.emit(Event::Scaled { set, replicas, sized_for, most });
            }
        }
    }

    fn clean(&mut self) {
        let found = find(&self.after.sets, &self.template);
        for set in to_clean(&found.old, self.spec.history_limit) {
            self.emit(Event::SetDropped { set });
        }
    }

    /// Whether the rollout has got on, is over, or is late.
    fn progress(&mut self) {
        let (before, after) = (self.after.told, totals(&find(&self.after.sets, &self.template), self.after.generation));
        let was = self.reason();
        if was == Some(ProgressReason::NewMachineSetAvailable) && after.machines == after.updated {
            return;
        }
        let deadline_ms = self.spec.progress_deadline_ms;
        if is_complete(self.spec.replicas, self.after.generation, &after) {
            self.tell(ProgressReason::NewMachineSetAvailable);
        } else if is_progressing(&before, &after) {
            self.tell(ProgressReason::MachineSetUpdated);
        } else if was != Some(ProgressReason::ProgressDeadlineExceeded)
            && is_timed_out(self.after.progress, deadline_ms, self.facts.now)
        {
            self.tell(ProgressReason::ProgressDeadlineExceeded);
        }
    }

    fn tell(&mut self, reason: ProgressReason) {
        self.emit(Event::Progressed { progress: Progress { reason, at: self.facts.now } });
    }
}
