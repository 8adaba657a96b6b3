//! What happened to a machine.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    BudgetSeen, Cause, DrainOutcome, InstanceConfig, NodeFacts, RemovalReason, Spec, StartParameters, Step,
    TurnOutcome, TurnPlan, Unstartable, juju,
};
use crate::{
    contract::{Stored, Touches},
    ports::{Condition, MachineInstance},
    vocab::{Cited, ClassCopy, EffectId, Fact, Fault, InstanceId, Name, Timestamp, Zone},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        spec: Arc<Spec>,
    },
    SpecChanged {
        spec: Arc<Spec>,
    },
    /// An intent to create an instance is open: its effect id follows from this event's version.
    CreateRequested {
        at: Timestamp,
    },
    Created {
        instance: MachineInstance,
        at: Timestamp,
    },
    CreateRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    CreateGivenUp {
        fault: Fault,
        /// A new series of attempts begins then by itself.
        again: Option<Timestamp>,
    },
    /// An intent to delete what the present intent made, or may have made.
    DeleteRequested {
        at: Timestamp,
    },
    Deleted,
    DeleteRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    DeleteGivenUp {
        fault: Fault,
    },
    /// The next attempt at whatever waits has begun.
    AttemptBegun,
    /// The instance is gone without our doing.
    InstanceLost {
        at: Timestamp,
    },
    NodeReported {
        conditions: Vec<Condition>,
        at: Timestamp,
    },
    NodeWentStale {
        last_seen: Timestamp,
    },
    AttachmentReserved {
        volume: Name,
    },
    AttachmentReleased {
        volume: Name,
    },
    /// What follows is its removal, for this reason. A removal without one was asked for by somebody.
    RemovalExplained {
        why: RemovalReason,
    },
    /// It is dying: nothing new hangs on it.
    RemovalBegan {
        at: Timestamp,
    },
    /// Nothing hangs on it any more.
    Died,
    Removed,
    /// Nothing happens to it by itself from now on.
    Held {
        reason: String,
        until: Option<Timestamp>,
        at: Timestamp,
    },
    HoldEnded,
    /// This would have happened now, if it were not held.
    Withheld {
        step: Step,
        at: Timestamp,
    },
    /// Its instance will stay when it goes.
    InstanceToStay,
    /// An operator did not wait for this.
    Skipped {
        what: Skipped,
    },
    /// It has let go of this instance, which stays.
    InstanceLeft {
        effect: EffectId,
        why: Leaving,
    },
    /// It has taken this instance over, under the effect id that the instance was made under.
    Adopted {
        instance: MachineInstance,
        at: Timestamp,
    },
    /// This instance bears its name and is not its own; an intent to delete it is open.
    StrayFound {
        effect: EffectId,
        provider: Name,
        instance: Option<InstanceId>,
        at: Timestamp,
    },
    StrayGone {
        effect: EffectId,
    },
    StrayRetryScheduled {
        effect: EffectId,
        until: Timestamp,
        fault: Fault,
    },
    StrayGivenUp {
        effect: EffectId,
        fault: Fault,
    },
    StrayAttemptBegun {
        effect: EffectId,
    },
    /// Its instance may take until then to become well.
    JoinAwaited {
        until: Timestamp,
        at: Timestamp,
    },
    BecameWell {
        at: Timestamp,
    },
    /// It is not well any more, and may take until then to become so again.
    BecameSuspect {
        cause: Cause,
        at: Timestamp,
        until: Timestamp,
    },
    /// Its time is over; a supervisor decides what becomes of it.
    BecameOverdue {
        cause: Cause,
        /// Until when it had time: what it was judged by, where it was judged more than once.
        until: Timestamp,
        at: Timestamp,
    },
    /// It has failed, and its instance is replaced.
    GivenUp {
        cause: Cause,
        at: Timestamp,
    },
    /// Its workloads are to end, in this order; they are waited for until then.
    DrainBegan {
        at: Timestamp,
        until: Timestamp,
        turns: Vec<TurnPlan>,
    },
    DrainEnded {
        outcome: DrainOutcome,
    },
    /// A replica set counts on it: it does not go before that ends.
    Engaged {
        set: Name,
    },
    /// That replica set does without it.
    Disengaged {
        set: Name,
    },
    MountReserved {
        filesystem: Name,
    },
    MountReleased {
        filesystem: Name,
    },
    /// Its instance is to be made there; in no zone where its provider has none.
    Sited {
        zone: Option<Zone>,
        at: Timestamp,
    },
    /// It could not be made in this zone, and may be in another one: at once, or from then on.
    ZoneBlamed {
        zone: Zone,
        fault: Fault,
        until: Option<Timestamp>,
    },
    /// Its provider tells how far the call is that is under way.
    Progressed {
        text: String,
        percent: Option<u8>,
        at: Timestamp,
    },
    /// Its instances are made from this.
    ClassTaken {
        copy: Box<ClassCopy>,
    },
    /// Its instance is to be started with these.
    StartPrepared {
        parameters: Box<StartParameters>,
        /// How it reaches the control plane, where documents say so.
        config: Option<Box<InstanceConfig>>,
        cited: Vec<Cited>,
        at: Timestamp,
    },
    /// Its instance cannot be started before something changes.
    StartRefused {
        why: Unstartable,
        cited: Vec<Cited>,
        at: Timestamp,
    },
    /// A unit of this application is to stand on it.
    UnitAssigned {
        application: Name,
    },
    UnitUnassigned {
        application: Name,
    },
    /// A machine is about to be made in it: it does not go before that one does.
    ContainerReserved {
        container: Name,
    },
    ContainerReleased {
        container: Name,
    },
    /// A volume of it is in this zone: from now on its instances are made there.
    VolumeIsIn {
        volume: Name,
        zone: Zone,
    },
    /// The agent of its instance has come with the token of this id, and says this of itself.
    AgentJoined {
        token: String,
        node: Box<NodeFacts>,
        at: Timestamp,
    },
    /// The agent of its instance says this of itself and its node now.
    NodeChanged {
        node: Box<NodeFacts>,
        at: Timestamp,
    },
    /// This workload may not end now, and is asked for again then.
    EvictionRefused {
        workload: Name,
        budget: BudgetSeen,
        until: Timestamp,
    },
    EvictionAskedAgain {
        workload: Name,
    },
    /// What stands under this effect id was started by another control plane: nothing of it is touched.
    StartedByOther {
        effect: EffectId,
        instance: InstanceId,
        nonce: String,
        at: Timestamp,
    },
    /// It is the turn of this workload, which is told to end and has until then; by force after too many refusals.
    TurnBegan {
        workload: Name,
        is_forced: bool,
        until: Timestamp,
    },
    /// The workload whose turn it is does not run any more; these volumes of it leave now.
    WorkloadEnded {
        workload: Name,
        volumes: BTreeSet<Name>,
    },
    /// A volume that was waited for is detached.
    VolumeDetached {
        volume: Name,
    },
    TurnEnded {
        workload: Name,
        outcome: TurnOutcome,
    },
    /// It is not removed from now on, or may be again.
    Protected {
        on: bool,
    },
    /// It is out of service from now on, and kept as it is until then.
    LaidAside {
        until: Timestamp,
        at: Timestamp,
    },
    /// It is kept no more.
    AsideEnded,
    /// A client of Juju's Provisioner facade told this.
    Client(juju::Event),
}

/// What a forced removal did not wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Skipped {
    /// The attachment of this volume may still be there.
    Attachment { volume: Name },
    /// The provider has not confirmed that this instance is gone: it may be an orphan from now on.
    DeletionOf { effect: EffectId },
    /// A member of this replica set on it may vote: the set may miss it.
    Membership { set: Name },
    /// This filesystem may still be mounted.
    Mount { filesystem: Name },
    /// This machine may still be there, and its host is not.
    Container { container: Name },
}

/// Why an instance stays where its machine is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leaving {
    /// An operator said so: nobody removes it.
    OperatorKeeps,
    /// The policy does not remove the instances of dead machines: it is unknown from now on.
    PolicySpares,
    /// An operator did not wait for its end.
    Forced,
    /// It was started by another control plane.
    OfOther,
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{
            Agent, Dependents, Drain, Draining, Effect, Health, Hold, Kept, Life, Request, Spec, Start, Stray,
            Zone as Place,
        };
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::SpecChanged { .. } => &[Spec],
            Self::CreateRequested { .. } => &[Effect, Request, Start],
            Self::DeleteRequested { .. } | Self::Adopted { .. } => &[Effect, Request],
            Self::Created { .. }
            | Self::CreateRetryScheduled { .. }
            | Self::CreateGivenUp { .. }
            | Self::Deleted
            | Self::DeleteRetryScheduled { .. }
            | Self::DeleteGivenUp { .. }
            | Self::AttemptBegun
            | Self::InstanceLost { .. }
            | Self::InstanceLeft { .. }
            | Self::Client(juju::Event::StorageCreated { .. }) => &[Effect],
            Self::NodeReported { .. }
            | Self::NodeWentStale { .. }
            | Self::AgentJoined { .. }
            | Self::NodeChanged { .. }
            | Self::Client(_) => &[Agent],
            Self::AttachmentReserved { .. }
            | Self::AttachmentReleased { .. }
            | Self::Engaged { .. }
            | Self::Disengaged { .. }
            | Self::MountReserved { .. }
            | Self::MountReleased { .. }
            | Self::ContainerReserved { .. }
            | Self::ContainerReleased { .. } => &[Dependents],
            Self::RemovalExplained { .. }
            | Self::RemovalBegan { .. }
            | Self::Died
            | Self::Protected { .. }
            | Self::Removed
            | Self::InstanceToStay
            | Self::Skipped { .. } => &[Life],
            Self::Held { .. } | Self::HoldEnded => &[Hold],
            Self::StrayFound { .. }
            | Self::StrayGone { .. }
            | Self::StrayRetryScheduled { .. }
            | Self::StrayGivenUp { .. }
            | Self::StrayAttemptBegun { .. }
            | Self::StartedByOther { .. } => &[Stray],
            Self::JoinAwaited { .. }
            | Self::BecameWell { .. }
            | Self::BecameSuspect { .. }
            | Self::BecameOverdue { .. }
            | Self::GivenUp { .. } => &[Health],
            Self::LaidAside { .. } | Self::AsideEnded => &[Health, Kept],
            Self::DrainBegan { .. } => &[Drain, Draining],
            Self::DrainEnded { .. }
            | Self::EvictionRefused { .. }
            | Self::EvictionAskedAgain { .. }
            | Self::TurnBegan { .. }
            | Self::WorkloadEnded { .. }
            | Self::VolumeDetached { .. }
            | Self::TurnEnded { .. } => &[Drain],
            // That it cannot be made there is how that attempt ended.
            Self::ZoneBlamed { .. } => &[Effect, Place],
            Self::Sited { .. } | Self::VolumeIsIn { .. } => &[Place],
            Self::Progressed { .. } | Self::Withheld { .. } => &[],
            Self::ClassTaken { .. }
            | Self::StartPrepared { .. }
            | Self::StartRefused { .. }
            | Self::UnitAssigned { .. }
            | Self::UnitUnassigned { .. } => &[Start],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::CreateRequested { .. } | Self::Created { .. } | Self::DeleteRequested { .. } | Self::Deleted => {
                Touches::Some(&[Fact::Request])
            }
            // A new instance has all its time, whatever was of the one before.
            Self::JoinAwaited { .. } | Self::BecameWell { .. } => Touches::Some(&[]),
            // These are told from outside, or ordered, with what that rests on.
            Self::Sited { .. } | Self::VolumeIsIn { .. } | Self::StartPrepared { .. } | Self::StartRefused { .. } => {
                Touches::Some(&[])
            }
            // As it is, whatever that is: an order says why.
            Self::LaidAside { .. } | Self::Client(_) => Touches::Some(&[]),
            Self::AsideEnded => Touches::Some(&[Fact::Kept]),
            Self::ZoneBlamed { .. } => Touches::Some(&[Fact::Effect]),
            Self::Withheld { .. } => Touches::Some(&[Fact::Hold]),
            Self::DrainEnded { outcome: DrainOutcome::TimedOut } => Touches::Some(&[Fact::Draining]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
