//! What may be asked of a machine, and what the world may report to it.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{BudgetSeen, InstanceConfig, NodeFacts, RemovalReason, Spec, StartParameters, Unstartable, juju};
use crate::{
    contract::Stored,
    ports::{Condition, CreatedStorage, Device, MachineInstance},
    vocab::{Cited, ClassCopy, EffectId, Fault, InstanceId, Name, Timestamp, Zone},
};

/// A command to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Arc<Spec>),
    /// It shall go, once nothing hangs on it.
    Remove,
    /// Try again what was given up.
    RetryProvisioning,
    /// An attachment of this volume is about to be made.
    ReserveAttachment { volume: Name },
    /// The attachment of this volume is gone.
    ReleaseAttachment { volume: Name },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report),
    /// Nothing shall happen to it by itself, until an operator says otherwise or the time has come.
    Hold { reason: String, until: Option<Timestamp> },
    /// What happens by itself may happen again.
    Unhold,
    /// It shall go, in this way.
    RemoveWith(Removal),
    /// It shall take this instance over, which bears its name and is nobody's.
    Adopt { provider: Name, instance: MachineInstance },
    /// It shall let go of its instance, which stays.
    Disown,
    /// This instance bears its name, and seems to be nobody's: it shall go. A supervisor's order.
    RemoveStray { provider: Name, instance: MachineInstance },
    /// Its time is over and there is room to replace it. A supervisor's order.
    GiveUp { effect: EffectId },
    /// Its time is over, but its zone was silent as a whole and is not any more: it gets some more. A supervisor's order.
    Reprieve { effect: EffectId },
    /// This replica set has a voter on it, or is about to have a member on it: it is not to go before the set does without
    /// it. A supervisor's order.
    Engage { set: Name },
    /// This replica set does without it. A supervisor's order.
    Disengage { set: Name },
    /// A filesystem is about to be mounted here.
    ReserveMount { filesystem: Name },
    /// The filesystem is not mounted here any more.
    ReleaseMount { filesystem: Name },
    /// The instance of this intent is to be made in this zone, or in none where the provider has no zones. `round_is_new`:
    /// every zone that it may be in has failed once. A supervisor's order.
    Site { effect: EffectId, zone: Option<Zone>, round_is_new: bool },
    /// The instance of this intent is to be made from this. A supervisor's order.
    TakeClass { effect: EffectId, copy: Box<ClassCopy> },
    /// The start that was asked for at this version is to be made with these, which follow from these documents. A
    /// supervisor's order.
    Prepare {
        asked: Version,
        parameters: Box<StartParameters>,
        /// How what is started reaches the control plane, where documents say so.
        config: Option<Box<InstanceConfig>>,
        cited: Vec<Cited>,
    },
    /// The start that was asked for at this version cannot be made now. A supervisor's order.
    RefuseStart { asked: Version, why: Unstartable, cited: Vec<Cited> },
    /// A unit of this application is to stand on it.
    Assign { application: Name },
    /// No unit of this application is to stand on it any more.
    Unassign { application: Name },
    /// A machine is about to be made in it. A supervisor's order.
    ReserveContainer { container: Name },
    /// That machine is gone. A supervisor's order.
    ReleaseContainer { container: Name },
    /// The volume that is attached to it, or about to be, is in this zone: its instance can only be there.
    NoteVolume { volume: Name, zone: Zone },
    /// The disruption budgets have room for these of its workloads to end. A supervisor's order.
    AllowEviction { effect: EffectId, workloads: BTreeSet<Name> },
    /// This one has none for this workload. A supervisor's order.
    RefuseEviction { effect: EffectId, workload: Name, budget: BudgetSeen },
    /// The volume is not attached to this instance any more, and was waited for. A supervisor's order.
    NoteDetached { effect: EffectId, volume: Name },
    /// This instance was deleted, as its provider said, and the provider still shows it: it shall go. A supervisor's order.
    RemoveReturned { provider: Name, instance: MachineInstance },
    /// The instance of this intent may be in none of its provider's zones, and is not to wait for one. A supervisor's order.
    RefuseSite { effect: EffectId },
    /// Its provider answers again, which was out when it came under suspicion, at this time: its recovery time begins anew. A
    /// supervisor's order.
    JudgeAnew { effect: EffectId, since: Timestamp },
    /// It is not to be removed, or may be again.
    Protect { on: bool },
    /// Its time is over, and it is to be kept as it is for a while, out of service. A supervisor's order.
    KeepFailed { effect: EffectId },
    /// It shall be kept as it is until then, out of service. An operator's wish.
    Keep { until: Timestamp },
    /// It need not be kept any more.
    Unkeep,
    /// What a client of Juju's Provisioner facade asks.
    Client(juju::Command),
}

/// In which way a machine goes, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// Nothing is waited for: what blocks the removal is skipped, and what it may leave behind is recorded.
    pub force: bool,
    /// Its instance stays, and is nobody's from then on.
    pub keep_instance: bool,
    pub why: RemovalReason,
}

/// A report to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The provider has made the instance, or found it again.
    Created {
        attempt: u32,
        instance: MachineInstance,
    },
    CreateFailed {
        attempt: u32,
        fault: Fault,
    },
    /// The provider has removed the instance, or confirmed its absence.
    Deleted {
        attempt: u32,
    },
    DeleteFailed {
        attempt: u32,
        fault: Fault,
    },
    /// A complete and fresh list does not have the instance as running any more.
    Lost {
        effect: EffectId,
    },
    /// The agent of this instance sees other conditions than it reported last, or reports for the first time, or again.
    Node {
        effect: EffectId,
        conditions: Vec<Condition>,
    },
    /// The agent was silent since `last_seen`.
    NodeSilent {
        effect: EffectId,
        last_seen: Timestamp,
    },
    /// The provider has removed an instance that was not its own, or confirmed its absence.
    StrayDeleted {
        effect: EffectId,
        attempt: u32,
    },
    StrayDeleteFailed {
        effect: EffectId,
        attempt: u32,
        fault: Fault,
    },
    /// Nothing runs inside this instance any more.
    Drained {
        effect: EffectId,
    },
    /// The provider tells how far its call for this instance is.
    Progress {
        effect: EffectId,
        text: String,
        /// From 0 to 100, in whole tens.
        percent: Option<u8>,
    },
    /// The agent of this instance has come with the token of this id.
    Joined {
        effect: EffectId,
        token: String,
        node: Box<NodeFacts>,
    },
    /// The agent of this instance says something else of itself and its node than before.
    NodeChanged {
        effect: EffectId,
        node: Box<NodeFacts>,
    },
    /// What the provider shows under this id tells a nonce that is not ours.
    StartedByOther {
        effect: EffectId,
        instance: InstanceId,
        nonce: String,
    },
    /// These workloads do not run any more in this instance, and were told to end.
    WorkloadsEnded {
        effect: EffectId,
        workloads: BTreeSet<Name>,
    },
    /// As `Created`, and the provider tells of its network, or of volumes that came with it.
    CreatedWith {
        attempt: u32,
        instance: MachineInstance,
        network: Vec<Device>,
        storage: Box<CreatedStorage>,
    },
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
