//! Which providers are held: a call that changes something at one is checked here first.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use tokio::sync::Notify;

use crate::{ports::CallKind, vocab::Name};

/// The providers that operators hold, as the journal has them. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Holds(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    held: RefCell<BTreeSet<Name>>,
    changed: Notify,
}

impl Holds {
    /// These are held.
    pub(super) fn new(held: BTreeSet<Name>) -> Self {
        Self(Rc::new(Inner { held: RefCell::new(held), changed: Notify::new() }))
    }

    /// One is held from now on, or is not any more.
    pub(crate) fn set(&self, provider: Name, is_held: bool) {
        let mut held = self.0.held.borrow_mut();
        let is_news = if is_held { held.insert(provider) } else { held.remove(&provider) };
        if is_news {
            self.0.changed.notify_waiters();
        }
    }

    /// Whether a call of this kind does not begin now.
    pub(super) fn bar(&self, provider: Option<&Name>, kind: CallKind) -> bool {
        kind != CallKind::LookUp && provider.is_some_and(|provider| self.0.held.borrow().contains(provider))
    }

    /// Returns when a call of this kind may begin.
    pub(super) async fn passed(&self, provider: &Name, kind: CallKind) {
        while self.bar(Some(provider), kind) {
            self.changed().await;
        }
    }

    /// Returns when something is held or released.
    pub(super) async fn changed(&self) {
        self.0.changed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_changes_something_waits_for_the_end_of_the_hold_and_a_look_up_does_not() {
        let tasks = tokio::task::LocalSet::new();
        tasks
            .run_until(async {
                // Given
                let [held, other]: [Name; 2] = ["cloud", "local"].map(|name| name.parse().expect("a name"));
                let holds = Holds::new([held.clone()].into());
                assert!(holds.bar(Some(&held), CallKind::Make) && holds.bar(Some(&held), CallKind::Remove));
                assert!(!holds.bar(Some(&held), CallKind::LookUp) && !holds.bar(Some(&other), CallKind::Make));
                assert!(!holds.bar(None, CallKind::Make));
                // When
                let (waits, its) = (holds.clone(), held.clone());
                let call = tokio::task::spawn_local(async move { waits.passed(&its, CallKind::Make).await });
                tokio::task::yield_now().await;
                holds.set(other, true);
                tokio::task::yield_now().await;
                assert!(!call.is_finished(), "another one was held");
                holds.set(held, false);
                // Then
                call.await.expect("it goes on");
            })
            .await;
    }
}
