//! What a machine is made from, where its declaration names a class.
//!
//! ```text
//! open      no class is named: the declaration says everything
//! awaited ─▶ taken     the class knows that the machine uses it, and the machine has a copy of what it says
//! ```
//!
//! Nothing is made before the copy is there. It is the machine's own: later instances of the same machine are made from it,
//! whatever becomes of the class, until another class is declared and another instance is made. Nothing of a machine's end
//! asks for it.
//! Source: Gardener's machine controller needs the class to delete; a class that is gone there leaves machines behind.

use serde::{Deserialize, Serialize};

use super::{
    Event, Instance, Reason, Rejection, Spec, State,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{ClassCopy, EffectId, Name},
};

/// What the class of a machine says of its instances, as it was when they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassSnapshot {
    /// No class.
    #[default]
    Open,
    /// The class has to say what is made.
    Awaited {
        class: Name,
    },
    Taken {
        copy: Box<ClassCopy>,
    },
}

impl ClassSnapshot {
    /// An intent to make an instance is open, or its machine is declared otherwise while it waits.
    pub(super) fn asked(self, spec: Option<&Spec>) -> Self {
        let Some(class) = spec.and_then(|spec| spec.class.as_ref()) else { return Self::Open };
        match self {
            Self::Taken { copy } if copy.class == *class => Self::Taken { copy },
            Self::Open | Self::Awaited { .. } | Self::Taken { .. } => Self::Awaited { class: class.clone() },
        }
    }
}

impl State {
    /// The class that has to say what is made, if its instance is to be made and nobody knows from what.
    pub fn awaits_class(&self) -> Option<&Name> {
        match (&self.instance, &self.class_snapshot) {
            (Instance::Creating(_), ClassSnapshot::Awaited { class }) => Some(class),
            _ => None,
        }
    }

    /// The class that it uses: whose copy it has, or waits for.
    pub fn uses_class(&self) -> Option<&Name> {
        match &self.class_snapshot {
            _ if !self.life.exists() => None,
            ClassSnapshot::Open => None,
            ClassSnapshot::Awaited { .. } => self.awaits_class(),
            ClassSnapshot::Taken { copy } => Some(&copy.class),
        }
    }

    /// What it is made from, as its class said.
    pub fn class(&self) -> Option<&ClassCopy> {
        match &self.class_snapshot {
            ClassSnapshot::Open | ClassSnapshot::Awaited { .. } => None,
            ClassSnapshot::Taken { copy } => Some(copy),
        }
    }
}

/// The class says what is made.
pub(super) fn take(state: &State, effect: EffectId, copy: &ClassCopy, facts: &Facts<'_>) -> Verdict {
    let is_awaited =
        state.awaits_class() == Some(&copy.class) && state.own(facts.journal, facts.stream) == Some(effect);
    if !is_awaited {
        return Ok(Decision::nothing(Reason::ClassNotAwaited));
    }
    let provider = &copy.content.provider;
    if state.spec.as_ref().is_none_or(|spec| spec.provider != *provider) {
        return Err(Rejection::ClassOfOtherProvider { class: copy.class.clone(), provider: provider.clone() });
    }
    let taken = Event::ClassTaken { copy: Box::new(copy.clone()) };
    Ok(Decision::because(Reason::ClassTaken, [taken]))
}
