//! When a deployment may replace machines that work: in its own windows, or else in those of the policy.
//!
//! Replacing them by others of another template is all that the control plane does to what works, so that alone waits: a
//! rollout, by whatever it began, a restart and an undo included. What an operator orders there and then does not: another
//! number, a removal. Nor does anything that is broken: its set replaces it at once, by what the set is made like. A rollout
//! over which a window closes stands still where it is, and what it owes of the declared number it still makes.
//! Source of the idea: the disruption budgets of Karpenter, and the maintenance windows of Gardener's shoots.

use super::{Event, Reason, State, find, standing::moving, verdict::Verdict};
use crate::{
    contract::Decision,
    vocab::{Life, Timestamp, Windows},
};

impl State {
    /// The opening that its rollout waits for at this time; none if it may go on, or replaces nobody.
    pub fn awaited(&self, of_policy: &Windows, now: Timestamp) -> Option<Timestamp> {
        let may_wait = self.life == Life::Alive && !self.hurried && !self.is_paused();
        let spec = self.spec.as_ref().filter(|_| may_wait)?;
        let opens = spec.windows.as_ref().unwrap_or(of_policy).opens(now)?;
        let template = self.template()?;
        let replaces = find(&self.sets, &template).old.iter().any(|set| set.is_active());
        replaces.then_some(opens)
    }

    /// Whether it waits for another moment than it would now, because other windows are in force. That its moment has come it
    /// is told by its schedule.
    pub fn waits_in_vain(&self, of_policy: &Windows, now: Timestamp) -> bool {
        self.awaits.is_some_and(|opens| now < opens) && self.awaits != self.awaited(of_policy, now)
    }
}

/// An operator does not wait.
pub(super) fn hurry(state: &State) -> Verdict {
    moving(state)?;
    Ok(match (state.is_complete(), state.hurried) {
        (true, _) => Decision::nothing(Reason::NothingToHurry),
        (false, true) => Decision::nothing(Reason::AlreadyHurried),
        (false, false) => Decision::because(Reason::HurryAsked, [Event::Hurried]),
    })
}
