//! What has to be asked so that documents say what is declared, and machines know which units stand on them.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::Decider,
    document::{self, Application, Content, Kind},
    machine,
    shell::AnyCommand,
    vocab::{Life, Name},
};
use bailiwick_journal::StreamId;

use super::{Action, Plan};
use crate::{
    manifest::{Document, Wish},
    view::{Fleet, users},
};

/// All documents that exist, accounts left out: what is declared nowhere any more may go, and who declares it may not lose
/// access by that.
pub(super) fn existing(fleet: &Fleet) -> impl Iterator<Item = (&str, &str)> {
    let of_kind = |kind: Kind| fleet.documents.existing(kind).map(move |(name, _)| (kind.as_str(), name));
    Kind::ALL.into_iter().filter(|kind| !kind.is_access()).flat_map(of_kind)
}

impl Plan {
    pub(super) fn document(&mut self, fleet: &Fleet, stream: StreamId, content: &Content) {
        let present = fleet.documents.folded(content.kind(), stream.name()).and_then(|known| known.state.in_force());
        let differs = present.is_some_and(|present| present != content);
        let fields = if differs { vec!["spec".to_owned()] } else { Vec::new() };
        let command = AnyCommand::from(document::Command::Declare(Box::new(content.clone())));
        self.declare(fleet, stream, present.is_some(), fields, command);
    }

    /// A document goes if nobody uses it who stays; its refusal says who does. An application's machines lose its units.
    pub(super) fn remove_document(&mut self, fleet: &Fleet, stream: &StreamId, going: &BTreeSet<StreamId>) {
        let (Some(kind), Ok(name)) = (Kind::of(stream.kind()), stream.name().parse::<Name>()) else { return };
        let used_by = document::Users::of(users(fleet, stream).into_iter().filter(|user| !going.contains(user)));
        self.step(Action::Remove, stream, Vec::new());
        self.commands.push((stream.clone(), AnyCommand::from(document::Command::Remove { kind, used_by })));
        if kind == Kind::Application {
            let host = |(machine, _): &(Name, &machine::State)| !going.contains(&of_machine(machine));
            for (machine, _) in hosts(fleet, &name).filter(host) {
                self.unit(&machine, machine::Command::Unassign { application: name.clone() });
            }
        }
    }

    /// Machines are told which units stand on them: those that are declared now by whatever application names them, the
    /// others by the applications that are declared now.
    pub(super) fn assign_units(&mut self, fleet: &Fleet, documents: &[Document]) {
        let mut applications: BTreeMap<Name, &Application> = BTreeMap::new();
        for (name, _) in fleet.documents.existing(Kind::Application) {
            let Ok(name) = name.parse::<Name>() else { continue };
            if let Some(application) = fleet.documents.application(&name) {
                applications.insert(name, application.says);
            }
        }
        let mut new = BTreeSet::new();
        let mut declared = BTreeSet::new();
        for document in documents {
            match &document.wish {
                Wish::Document { name, content } => {
                    if let Content::Application(application) = &**content {
                        applications.insert(name.clone(), application);
                        declared.insert(name);
                    }
                }
                Wish::Machine { name, .. } if !fleet.exists(&of_machine(name)) => drop(new.insert(name)),
                _ => (),
            }
        }
        for (name, application) in &applications {
            let has_unit = |machine: &Name| {
                let state = fleet.machines.get(machine.as_str());
                state.is_some_and(|state| state.life != Life::Alive || state.units.contains(name))
            };
            let is_there = |machine: &&Name| new.contains(machine) || fleet.exists(&of_machine(machine));
            let lacks = |machine: &&Name| new.contains(machine) || (declared.contains(name) && !has_unit(machine));
            for machine in application.machines.iter().filter(is_there).filter(lacks) {
                self.unit(machine, machine::Command::Assign { application: name.clone() });
            }
            let is_over = |(machine, _): &(Name, &machine::State)| !application.machines.contains(machine);
            for (machine, _) in hosts(fleet, name).filter(|_| declared.contains(name)).filter(is_over) {
                self.unit(&machine, machine::Command::Unassign { application: name.clone() });
            }
        }
    }

    fn unit(&mut self, machine: &Name, command: machine::Command) {
        self.commands.push((of_machine(machine), AnyCommand::from(command)));
    }
}

/// The machines on which a unit of an application stands.
fn hosts<'f>(fleet: &'f Fleet, application: &Name) -> impl Iterator<Item = (Name, &'f machine::State)> {
    let stands = |state: &machine::State| state.life == Life::Alive && state.units.contains(application);
    let all: Vec<_> = fleet.machines.iter().filter(|(_, folded)| stands(&folded.state)).collect();
    all.into_iter().filter_map(|(name, folded)| Some((name.parse().ok()?, &folded.state)))
}

fn of_machine(machine: &Name) -> StreamId {
    StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked")
}
