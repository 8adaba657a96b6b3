//! Which machines use which classes, by what the machines say and by what the classes know.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::Cite;

use crate::{machine_class::Event, vocab::Name};

/// Machines by what is to be said about them; each class has only the sets in which somebody is.
type Filed = BTreeMap<Name, BTreeSet<Name>>;

/// What machines and classes say about one another, counted as the journal goes on: looking costs what differs, not all that
/// there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassUses {
    /// The class that a machine uses, and whether it waits for what that says.
    by_machine: BTreeMap<Name, (Name, bool)>,
    /// The classes that know that a machine uses them.
    known: BTreeMap<Name, BTreeSet<Name>>,
    /// Machines that use a class which does not know it.
    coming: Filed,
    /// Machines that wait for what a class says which knows of them.
    waiting: Filed,
    /// Machines that a class knows of, and that do not use it.
    leaving: Filed,
    /// The events with which those ceased to use it.
    left: BTreeMap<Name, Cite>,
}

impl ClassUses {
    /// The machines that the class is to be told of.
    pub fn coming(&self, class: &Name) -> impl Iterator<Item = &Name> {
        self.coming.get(class).into_iter().flatten()
    }

    /// The machines that are to be told what the class says.
    pub fn waiting(&self, class: &Name) -> impl Iterator<Item = &Name> {
        self.waiting.get(class).into_iter().flatten()
    }

    /// The machines that the class is to forget.
    pub fn leaving(&self, class: &Name) -> impl Iterator<Item = &Name> {
        self.leaving.get(class).into_iter().flatten()
    }

    /// The event with which a machine ceased to use a class that still knows of it.
    pub(super) fn left(&self, machine: &Name) -> Option<Cite> {
        self.left.get(machine).cloned()
    }

    /// The classes that a machine has to do with.
    pub fn of_machine(&self, machine: &Name) -> impl Iterator<Item = &Name> {
        let used = self.by_machine.get(machine).map(|(class, _)| class);
        used.into_iter().chain(self.known.get(machine).into_iter().flatten())
    }

    /// A machine uses this class from now on, and waits for what it says or not; none if it uses none, or is gone.
    pub(super) fn saw_machine(&mut self, name: &Name, used: Option<(Name, bool)>, by: Option<Cite>) {
        self.unfile(name);
        match used {
            Some(used) => drop(self.by_machine.insert(name.clone(), used)),
            None => drop(self.by_machine.remove(name)),
        }
        self.file(name);
        let is_left = self.known.get(name).is_some_and(|known| {
            known.iter().any(|class| self.by_machine.get(name).is_none_or(|(used, _)| used != class))
        });
        match by.filter(|_| is_left) {
            Some(by) => drop(self.left.insert(name.clone(), by)),
            None => drop(self.left.remove(name)),
        }
    }

    /// Something happened to a class.
    pub(super) fn saw_class(&mut self, class: &Name, event: &Event) {
        let (machines, is_known) = match event {
            Event::Used { machines } => (machines, true),
            Event::Released { machines } => (machines, false),
            // It goes only when no machine uses it.
            Event::Declared { .. } | Event::Revised { .. } | Event::RemovalBegan | Event::Removed => return,
        };
        for machine in machines {
            self.unfile(machine);
            let known = self.known.entry(machine.clone()).or_default();
            if is_known {
                known.insert(class.clone());
            } else {
                known.remove(class);
            }
            if known.is_empty() {
                self.known.remove(machine);
                self.left.remove(machine);
            }
            self.file(machine);
        }
    }

    fn file(&mut self, machine: &Name) {
        let used = self.by_machine.get(machine);
        let known = self.known.get(machine);
        if let Some((class, waits)) = used {
            let is_known = known.is_some_and(|known| known.contains(class));
            match (is_known, waits) {
                (false, _) => add(&mut self.coming, class, machine),
                (true, true) => add(&mut self.waiting, class, machine),
                (true, false) => (),
            }
        }
        for class in known.into_iter().flatten().filter(|class| used.is_none_or(|(used, _)| used != *class)) {
            add(&mut self.leaving, class, machine);
        }
    }

    fn unfile(&mut self, machine: &Name) {
        let classes: Vec<Name> = self.of_machine(machine).cloned().collect();
        for class in &classes {
            for filed in [&mut self.coming, &mut self.waiting, &mut self.leaving] {
                take_out(filed, class, machine);
            }
        }
    }
}

fn add(filed: &mut Filed, class: &Name, machine: &Name) {
    filed.entry(class.clone()).or_default().insert(machine.clone());
}

fn take_out(filed: &mut Filed, class: &Name, machine: &Name) {
    let Some(machines) = filed.get_mut(class) else { return };
    machines.remove(machine);
    if machines.is_empty() {
        filed.remove(class);
    }
}
