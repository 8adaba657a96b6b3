//! What the supervisor may be told, and what it answers. All it knows of others is in its view.

use std::collections::BTreeSet;

use bailiwick_journal::{Body, Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{View, earlier_forms, listing, prerequisites, rests::rests_on};
use crate::{
    contract::{Code, Decider, Decision, Facts, Stored, StoredError, Touches, Verdict, reasons},
    ports::Backing,
    supervisor::Order,
    vocab::{Call, EffectId, Name, Timestamp},
};

/// It has no state of its own: everything it knows is in its view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State;

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These machines, volumes, filesystems and attachments have changed: look whether something follows.
    Look { about: Vec<StreamId> },
    /// A session begins: what was attached in earlier ones is made sure of, once.
    Begin,
    /// What machines see of the devices beneath filesystems has changed.
    Observe { changes: Vec<DeviceChange> },
    /// What providers show of the volumes that they have made has changed.
    ObserveVolumes { changes: Vec<VolumeChange> },
}

/// A device came or went on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceChange {
    /// The volume is seen there as this device, for the first time or as another one than before.
    Seen { machine: Name, backing: Backing },
    /// The volume is not seen there any more.
    Gone { machine: Name, volume: Name },
}

impl DeviceChange {
    /// The volume that it is about.
    pub fn volume(&self) -> &Name {
        match self {
            Self::Seen { backing, .. } => &backing.volume,
            Self::Gone { volume, .. } => volume,
        }
    }
}

/// A volume is missing from its provider's list, or is back in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VolumeChange {
    /// A complete list that describes this moment lacks what was made under this id.
    Missing { volume: Name, effect: EffectId, as_of: Timestamp },
    /// It is shown again.
    Back { volume: Name, effect: EffectId },
    /// It was destroyed, as the provider said, and is shown by a list that describes this later moment.
    Returned { volume: Name, effect: EffectId, as_of: Timestamp },
}

impl VolumeChange {
    /// The volume that it is about.
    pub fn volume(&self) -> &Name {
        match self {
            Self::Missing { volume, .. } | Self::Back { volume, .. } | Self::Returned { volume, .. } => volume,
        }
    }
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Issued {
        order: Order,
        /// What it rests on.
        cites: Vec<Cite>,
    },
    SessionBegan,
    Observed {
        changes: Vec<DeviceChange>,
    },
    VolumesObserved {
        changes: Vec<VolumeChange>,
    },
}

/// An order that waits for its target's answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Send the order with this command id.
    Send { command: Uuid },
}

reasons! {
    /// Why.
    pub enum Reason {
        OrdersFollow = "orders-follow", "the observed state requires it";
        NothingFollows = "nothing-follows", "the observed state requires nothing";
        SessionBegins = "session-begins", "the node started";
        DevicesChanged = "devices-changed", "the devices of machines changed";
        VolumesChanged = "volumes-changed", "the volumes of a provider changed";
    }
}

/// It refuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match *self {}
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
impl Stored for Event {
    const SCHEMA: u16 = 3;

    fn load(body: &Body) -> Result<Self, StoredError> {
        match body.schema {
            1 | 2 => Ok(bailiwick_journal::decode(&earlier_forms::lifted(body, Self::SCHEMA))?),
            Self::SCHEMA => Ok(bailiwick_journal::decode(body)?),
            schema => Err(StoredError::UnknownSchema { schema, newest: Self::SCHEMA }),
        }
    }
}
impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}

impl Decider for State {
    const KIND: &'static str = "supervisor";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = View;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        Ok(match command {
            Command::Look { about } => look(about, facts.view, facts.policy.storage.mount_dir.as_deref()),
            Command::Begin => Decision::because(Reason::SessionBegins, [Event::SessionBegan]),
            Command::Observe { changes } => observe(changes, facts.view),
            Command::ObserveVolumes { changes } => observe_volumes(changes, facts.view),
        })
    }

    fn evolve(&mut self, _at: Version, _event: &Event) {}

    fn touches(_event: &Event) -> Touches {
        Touches::Some(&[])
    }

    fn calls_for(event: &Event) -> Option<Call> {
        match event {
            Event::Issued { order, .. } => order.calls_for(),
            _ => None,
        }
    }

    fn pending(&self, view: &View) -> BTreeSet<Effect> {
        view.orders.open().map(|(command, _)| Effect::Send { command: *command }).collect()
    }
}

fn look(about: &[StreamId], view: &View, mount_dir: Option<&str>) -> Decision<State> {
    let about: BTreeSet<StreamId> = about.iter().cloned().collect();
    let orders = prerequisites::orders(view, &about, mount_dir);
    if orders.is_empty() {
        return Decision::nothing(Reason::NothingFollows);
    }
    let issued = |order| Event::Issued { cites: rests_on(view, &order), order };
    Decision::because(Reason::OrdersFollow, orders.into_iter().map(issued))
}

/// Takes in what is news. What follows from it follows from the next look.
fn observe(changes: &[DeviceChange], view: &View) -> Decision<State> {
    let is_news = |change: &&DeviceChange| match change {
        DeviceChange::Seen { machine, backing } => view.device(machine, &backing.volume) != Some(backing),
        DeviceChange::Gone { machine, volume } => view.device(machine, volume).is_some(),
    };
    let changes: Vec<DeviceChange> = changes.iter().filter(is_news).cloned().collect();
    if changes.is_empty() {
        return Decision::nothing(Reason::NothingFollows);
    }
    Decision::because(Reason::DevicesChanged, [Event::Observed { changes }])
}

/// As [`observe`], for what providers show.
fn observe_volumes(changes: &[VolumeChange], view: &View) -> Decision<State> {
    let changes: Vec<VolumeChange> = changes.iter().filter(|change| listing::is_news(view, change)).cloned().collect();
    if changes.is_empty() {
        return Decision::nothing(Reason::NothingFollows);
    }
    Decision::because(Reason::VolumesChanged, [Event::VolumesObserved { changes }])
}
