//! What the supervisor may be told, and what it answers. All it knows of others is in its view.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{View, listing, prerequisites, rests::rests_on};
use crate::{
    contract::{Code, Decider, Decision, Facts, Stored, Touches, Verdict, reasons},
    ports::Backing,
    supervisor::{Order, order::ORDERS_MAX},
    vocab::{EffectId, Name, Timestamp},
};

/// What it put off until there is a policy; everything else is in the journal already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) put_off: BTreeSet<StreamId>,
}

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These machines, volumes, filesystems and attachments have changed: look whether something follows.
    Look { about: Vec<StreamId> },
    /// A session begins: what was attached in earlier ones is made sure of, once.
    Begin { session: Session },
    /// What machines see of the devices beneath filesystems has changed.
    Observe { changes: Vec<DeviceChange> },
    /// What providers show of the volumes that they have made has changed.
    ObserveVolumes { changes: Vec<VolumeChange> },
}

/// What holds from one start to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Providers that can only work while a machine is started; whoever starts machines uses them, not this supervisor.
    pub static_providers: BTreeSet<Name>,
    /// Where filesystems are mounted that name no path; absolute. None leaves it to their providers.
    pub storage_dir: Option<String>,
    /// Whether nothing is done before the first revision of a policy.
    pub waits_for_policy: bool,
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
    SessionBegan {
        session: Session,
    },
    Observed {
        changes: Vec<DeviceChange>,
    },
    /// There is no policy yet: these are looked at once there is.
    PutOff {
        about: Vec<StreamId>,
    },
    /// What was put off was looked at.
    TakenUp,
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
        AwaitsPolicy = "awaits-policy", "there is no policy yet";
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
    const SCHEMA: u16 = 1;
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
            Command::Look { about } => look(self, about, facts.view),
            Command::Begin { session } => {
                Decision::because(Reason::SessionBegins, [Event::SessionBegan { session: session.clone() }])
            }
            Command::Observe { changes } => observe(changes, facts.view),
            Command::ObserveVolumes { changes } => observe_volumes(changes, facts.view),
        })
    }

    fn evolve(&mut self, _at: Version, event: &Event) {
        match event {
            Event::PutOff { about } => self.put_off.extend(about.iter().cloned()),
            Event::TakenUp => self.put_off.clear(),
            Event::Issued { .. }
            | Event::SessionBegan { .. }
            | Event::Observed { .. }
            | Event::VolumesObserved { .. } => (),
        }
    }

    fn touches(_event: &Event) -> Touches {
        Touches::Some(&[])
    }

    fn pending(&self, view: &View) -> BTreeSet<Effect> {
        view.orders.open().map(|(command, _)| Effect::Send { command: *command }).collect()
    }
}

fn look(state: &State, about: &[StreamId], view: &View) -> Decision<State> {
    if view.awaits_policy() {
        let about: Vec<StreamId> = about.iter().filter(|stream| !state.put_off.contains(*stream)).cloned().collect();
        if about.is_empty() {
            return Decision::nothing(Reason::AwaitsPolicy);
        }
        return Decision::because(Reason::AwaitsPolicy, [Event::PutOff { about }]);
    }
    let about: BTreeSet<StreamId> = about.iter().chain(&state.put_off).cloned().collect();
    let mut orders = prerequisites::orders(view, &about, ORDERS_MAX + 1);
    // What was put off stays so until everything that follows fits into one entry.
    let are_all = orders.len() <= ORDERS_MAX;
    orders.truncate(ORDERS_MAX);
    let taken_up = (are_all && !state.put_off.is_empty()).then_some(Event::TakenUp);
    let events: Vec<Event> = taken_up
        .into_iter()
        .chain(orders.into_iter().map(|order| Event::Issued { cites: rests_on(view, &order), order }))
        .collect();
    if events.is_empty() {
        return Decision::nothing(Reason::NothingFollows);
    }
    Decision::because(Reason::OrdersFollow, events)
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
