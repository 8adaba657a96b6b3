//! How the members are, as data for a gauge that is rebuilt with every look.

use serde::{Deserialize, Serialize};

use super::{
    roll::Statuses,
    snapshot::{Member, MemberState, MemberStatus},
};
use crate::vocab::sort_by;

/// The name of the gauge. Source: Juju's, under our name.
pub const NAME: &str = "bailiwick_replica_set_member";

/// One line of the gauge: the labels, and whether the member is healthy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gauge {
    /// The machine, by the member's tag.
    pub id: String,
    pub address: String,
    pub state: MemberState,
    pub healthy: bool,
}

/// One line for each member that names its machine and has a status, in order. Members without a machine are left out.
pub fn gauges(members: &[Member], statuses: &[MemberStatus]) -> Vec<Gauge> {
    let statuses = Statuses::of(statuses);
    let gauge = |member: &Member| {
        let status = statuses.get(member.id)?;
        let (id, address) = (member.machine_tag()?.to_owned(), member.address.to_string());
        Some(Gauge { id, address, state: status.state, healthy: status.healthy })
    };
    let mut gauges: Vec<Gauge> = members.iter().filter_map(gauge).collect();
    sort_by(&mut gauges, Ord::cmp);
    gauges
}
