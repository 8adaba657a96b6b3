//! All documents, folded from the journal.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Entry, StreamId};

use super::{Account, AgentBinary, Application, Content, ImageMetadata, Juju, Kind, Model, Space, State, Subnet};
use crate::{
    contract::{Decoded, DecodedEvents, Fold, Folded, StoredError},
    vocab::{Cited, Name},
};

/// The documents of all kinds, by kind and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents(BTreeMap<Kind, Fold<State>>);

/// A document that is in force, with what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct InForce<'a, T> {
    pub name: &'a str,
    pub revision: u64,
    pub says: &'a T,
}

impl Documents {
    /// Takes an entry in if it belongs to a document's stream.
    ///
    /// # Errors
    /// If an event cannot be decoded; the documents are then as they were.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.apply_decoded(&Decoded::new(entry, &DecodedEvents::default()))
    }

    /// As [`Documents::apply`], for an entry that others take in, too.
    ///
    /// # Errors
    /// As [`Documents::apply`].
    pub fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        match Kind::of(entry.header.stream.kind()) {
            Some(kind) => self.0.entry(kind).or_default().take_in(entry),
            None => Ok(()),
        }
    }

    /// The documents of one kind, gone ones included; none if nothing was heard of any.
    pub fn of(&self, kind: Kind) -> Option<&Fold<State>> {
        self.0.get(&kind)
    }

    /// One document, gone ones included.
    pub fn folded(&self, kind: Kind, name: &str) -> Option<&Folded<State>> {
        self.0.get(&kind)?.folded(name)
    }

    /// The documents of one kind that exist, by name.
    pub fn existing(&self, kind: Kind) -> impl Iterator<Item = (&str, &Folded<State>)> {
        let all = self.0.get(&kind).into_iter().flat_map(Fold::iter);
        all.filter(|(_, folded)| folded.state.life.exists())
    }

    /// A space.
    pub fn space(&self, name: &Name) -> Option<InForce<'_, Space>> {
        self.one(Kind::Space, name.as_str(), |content| match content {
            Content::Space(space) => Some(space),
            _ => None,
        })
    }

    /// An application.
    pub fn application(&self, name: &Name) -> Option<InForce<'_, Application>> {
        self.one(Kind::Application, name.as_str(), |content| match content {
            Content::Application(application) => Some(application),
            _ => None,
        })
    }

    /// What holds for all machines.
    pub fn model(&self) -> Option<InForce<'_, Model>> {
        self.one(Kind::Model, Model::NAME, |content| match content {
            Content::Model(model) => Some(model),
            _ => None,
        })
    }

    /// The subnets, by name.
    pub fn subnets(&self) -> impl Iterator<Item = InForce<'_, Subnet>> {
        self.all(Kind::Subnet, |content| match content {
            Content::Subnet(subnet) => Some(subnet),
            _ => None,
        })
    }

    /// The images, by name of their documents.
    pub fn images(&self) -> impl Iterator<Item = InForce<'_, ImageMetadata>> {
        self.all(Kind::ImageMetadata, |content| match content {
            Content::ImageMetadata(image) => Some(image),
            _ => None,
        })
    }

    /// The agent binaries, by name of their documents.
    pub fn agent_binaries(&self) -> impl Iterator<Item = InForce<'_, AgentBinary>> {
        self.all(Kind::AgentBinary, |content| match content {
            Content::AgentBinary(binary) => Some(binary),
            _ => None,
        })
    }

    /// Those who may use the node, by name.
    pub fn accounts(&self) -> impl Iterator<Item = InForce<'_, Account>> {
        self.all(Kind::Account, |content| match content {
            Content::Account(account) => Some(account),
            _ => None,
        })
    }

    /// What Juju's clients are told of the model; the JSON of its document.
    pub fn juju_model(&self) -> Option<&str> {
        self.juju(Kind::JujuModel, Model::NAME)
    }

    /// What Juju's clients are told of a machine beside its declaration; the JSON of its document.
    pub fn juju_machine(&self, name: &str) -> Option<&str> {
        self.juju(Kind::JujuMachine, name)
    }

    /// What Juju's clients are told of applications: names, and the JSON of their documents.
    pub fn juju_applications(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all(Kind::JujuApplication, juju).map(|it| (it.name, it.says.json.as_str()))
    }

    fn juju(&self, kind: Kind, name: &str) -> Option<&str> {
        self.one(kind, name, juju).map(|it| it.says.json.as_str())
    }

    /// The documents that name this space.
    pub fn users_of_space(&self, space: &Name) -> BTreeSet<StreamId> {
        let of_kind = |kind: Kind| self.existing(kind).map(move |(name, folded)| (kind, name, &folded.state));
        let all = [Kind::Subnet, Kind::Application].into_iter().flat_map(of_kind);
        let users = all.filter(|(.., state)| state.in_force().is_some_and(|content| content.spaces().contains(space)));
        users.filter_map(|(kind, name, _)| StreamId::new(kind.as_str(), name).ok()).collect()
    }

    fn one<T>(&self, kind: Kind, name: &str, of: fn(&Content) -> Option<&T>) -> Option<InForce<'_, T>> {
        let (name, folded) = self.0.get(&kind)?.entry(name)?;
        in_force(name, &folded.state, of)
    }

    fn all<'a, T: 'a>(&'a self, kind: Kind, of: fn(&Content) -> Option<&T>) -> impl Iterator<Item = InForce<'a, T>> {
        let all = self.0.get(&kind).into_iter().flat_map(Fold::iter);
        all.filter_map(move |(name, folded)| in_force(name, &folded.state, of))
    }
}

fn juju(content: &Content) -> Option<&Juju> {
    match content {
        Content::JujuModel(said) | Content::JujuApplication(said) | Content::JujuMachine(said) => Some(said),
        _ => None,
    }
}

fn in_force<'a, T>(name: &'a str, state: &'a State, of: fn(&Content) -> Option<&T>) -> Option<InForce<'a, T>> {
    Some(InForce { name, revision: state.revision, says: of(state.in_force()?)? })
}

impl<T> InForce<'_, T> {
    /// It, as a decision cites it.
    pub fn cited(&self, kind: Kind) -> Cited {
        let document = StreamId::new(kind.as_str(), self.name).expect("the name of a stream of the journal");
        Cited { document, revision: self.revision }
    }
}
