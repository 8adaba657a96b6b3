//! Where the servers of a set are to be found, from what is declared and what the set has seen.

use super::members::standing;
use crate::{
    contract::Folded,
    replica_set::{self, Endpoint, Endpoints, Phase, Spec, State as ReplicaSet, publication::publication},
    supervisor::Order,
    vocab::{Life, Name},
};

/// What is to be published of a set: nothing before it was seen, while it is being read back, or if nothing differs.
pub(super) fn news(set: &Name, folded: &Folded<ReplicaSet>) -> Option<Order> {
    let state = &folded.state;
    let spec = state.spec.as_ref().filter(|_| state.life == Life::Alive && state.phase != Phase::Looking)?;
    state.seen.as_ref()?;
    let endpoints = publication(state.published.as_ref(), endpoints(state, spec))?;
    Some(Order::ReplicaSet { set: set.clone(), command: replica_set::Command::Publish(endpoints) })
}

/// The members that have a seat, each at the addresses of it that mean the same elsewhere.
fn endpoints(state: &ReplicaSet, spec: &Spec) -> Endpoints {
    let members = standing(state);
    let endpoint = |seat: &replica_set::Seat| {
        let member = members.get(&seat.machine)?;
        let usable = seat.addresses.iter().filter(|address| spec.one_host || !address.is_local());
        let addresses = usable.map(|address| address.host_port(seat.client_port)).collect();
        let internal = Some(member.address.to_string()).filter(|address| !address.is_empty());
        Some((seat.machine.clone(), Endpoint { addresses, internal }))
    };
    Endpoints { servers: spec.seats.iter().filter_map(endpoint).collect() }
}
