//! Read models: what the journal says is true, at any moment of it.
//!
//! Everything is a fold of the journal up to a position, so a running node, a stopped node's directory and `--at` are
//! answered by the same code. A view can be thrown away and built again; nothing decides on it.

mod alike;
mod blockers;
mod budgets;
mod calendar;
mod clients;
mod clock;
mod conditions;
mod decisions;
mod declared;
mod describe;
mod diff;
mod documents;
mod effort;
mod failed;
mod filesystem_rows;
mod fleet;
mod harvest;
mod host;
mod kinds;
mod log;
mod machine_classes;
mod machine_deployments;
mod machine_detail;
mod machine_sets;
mod members;
mod metrics;
mod moment;
mod names;
mod planned;
mod policies;
mod pool_rows;
mod portrait;
mod providers;
mod replica_sets;
mod revisions;
mod rows;
mod selector;
mod status;
mod storage_rows;
mod told;
mod unmet;
mod upcoming;
mod why_not;
mod why_not_classes;
mod why_not_sets;
mod why_not_storage;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use diff::account;

pub use alike::{Group, NAMED_MAX, Trouble};
pub use blockers::{Blocker, blockers};
pub use budgets::Budgets;
pub use calendar::{Calendar, Correction};
pub use clock::{ClockReport, ClockStep, gap, gap_at_start, is_step, on_node_time};
pub use conditions::ConditionRow;
pub(crate) use describe::declared_spec;
pub use describe::{Description, EffortRow, describe};
pub use diff::{Change, Diff, FactChange, Only, Origin, Point, diff};
pub use documents::{DocumentRow, documents, users};
pub use failed::failed;
pub use filesystem_rows::{FilesystemAttachmentRow, FilesystemRow, filesystem_attachments, filesystems};
pub use fleet::{Fleet, FleetError};
pub use harvest::{DryRun, Unknown, harvest};
pub use host::{Host, HostTrouble, SinkSeen};
pub(crate) use kinds::{add, added_rows};
pub use kinds::{goals, kinds, statuses};
pub use log::{LogFilter, log};
pub use machine_classes::{MachineClassRow, machine_classes};
pub use machine_deployments::{MachineDeploymentRow, RevisionRow, machine_deployments};
pub use machine_sets::{MachineSetRow, machine_sets};
pub use members::{MemberRow, members};
pub use metrics::{Load, metrics};
pub use moment::{At, position_at, position_of, time_of};
pub use policies::policy_changes;
pub use pool_rows::{PoolRow, pools, storage_config};
pub use portrait::{AgentRow, CustomRow, History, Row};
pub use providers::{ProviderRow, providers};
pub use replica_sets::{EndpointRow, ReplicaSetRow, replica_sets, steps_towards};
pub use revisions::{PolicyRevision, policy_revisions};
pub use rows::{AttachmentRow, MachineRow, PolicyRow, VolumeRow, attachments, machines, policies, volumes};
pub use selector::{InvalidSelector, Selector, has_labels};
pub use status::{
    Count, Pending, Standing, Status, declared, near_matches, pending, pending_by_clock, standings, status,
};
pub use storage_rows::{StorageRow, storage};
pub use unmet::Unmet;
pub use upcoming::{Upcoming, upcoming};
pub use why_not::{WANTED, WhyNot, askable, can_be_asked, missing, why_not};
