//! Instances that machines had deleted: what a list still shows of them is known to be ours.

use std::collections::{BTreeSet, VecDeque};

use crate::{
    machine::{Event, Leaving},
    vocab::EffectId,
};

/// As many are remembered. A provider that was wrong shows it with its next lists; what comes back after so many later
/// deletions is unknown like any other instance.
const REMEMBERED: usize = 10_000;

/// The effect ids of instances that are gone by what their providers said, the latest of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    ids: BTreeSet<EffectId>,
    /// The same, in the order in which they went.
    order: VecDeque<EffectId>,
}

impl Deleted {
    /// Whether it was deleted.
    pub fn has(&self, effect: &EffectId) -> bool {
        self.ids.contains(effect)
    }

    /// Something happened to a machine whose own instance was this one before.
    pub(super) fn saw(&mut self, own: Option<EffectId>, event: &Event) {
        match event {
            Event::Deleted => own.into_iter().for_each(|effect| self.insert(effect)),
            // Nobody waited for its end, which was asked for.
            Event::StrayGone { effect } | Event::InstanceLeft { effect, why: Leaving::Forced } => self.insert(*effect),
            Event::Adopted { instance, .. } => self.remove(instance.effect),
            // What is there is not ours, whatever was deleted before.
            Event::StartedByOther { effect, .. } => self.remove(*effect),
            _ => (),
        }
    }

    fn insert(&mut self, effect: EffectId) {
        if !self.ids.insert(effect) {
            return;
        }
        self.order.push_back(effect);
        if REMEMBERED < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }

    fn remove(&mut self, effect: EffectId) {
        if self.ids.remove(&effect) {
            self.order.retain(|known| *known != effect);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn id(n: u128) -> EffectId {
        EffectId(Uuid::from_u128(n))
    }

    #[test]
    fn what_a_machine_had_deleted_is_remembered_and_what_it_left_or_lost_is_not() {
        let mut deleted = Deleted::default();
        deleted.saw(Some(id(1)), &Event::Deleted);
        deleted.saw(None, &Event::StrayGone { effect: id(2) });
        deleted.saw(None, &Event::InstanceLeft { effect: id(3), why: Leaving::Forced });
        deleted.saw(None, &Event::InstanceLeft { effect: id(4), why: Leaving::PolicySpares });
        deleted.saw(None, &Event::InstanceLeft { effect: id(5), why: Leaving::OperatorKeeps });
        assert_eq!((1..6).filter(|n| deleted.has(&id(*n))).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn the_oldest_are_forgotten_first() {
        let mut deleted = Deleted::default();
        for n in 0..=REMEMBERED as u128 {
            deleted.saw(Some(id(n)), &Event::Deleted);
        }
        assert_eq!((deleted.has(&id(0)), deleted.has(&id(1)), deleted.order.len()), (false, true, REMEMBERED));
    }
}
