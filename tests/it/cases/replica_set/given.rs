//! What a case has: machines, members, and how they are.

use std::collections::BTreeMap;

use bailiwick::actors::supervisor::peer_group::{Address, MACHINE_TAG, Member, MemberId, Priority, Scope};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    pub machines: Vec<MachineText>,
    pub members: Vec<MemberText>,
    pub statuses: Vec<StatusText>,
    pub mongo_port: u16,
    pub ha_space: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineText {
    pub id: String,
    pub wants_vote: bool,
    pub addresses: Vec<AddressText>,
    pub life: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddressText {
    pub value: String,
    pub scope: Scope,
    pub space: Option<String>,
    pub port: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberText {
    pub id: u64,
    pub address: String,
    pub tags: Option<BTreeMap<String, String>>,
    pub votes: Option<u32>,
    pub priority: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "an address in a status means nothing, but it is there")]
pub(super) struct StatusText {
    pub id: u64,
    pub address: Option<String>,
    pub healthy: bool,
    pub state: String,
}

pub(super) fn address(text: AddressText) -> Address {
    Address { value: text.value, scope: text.scope, space: text.space, port: text.port }
}

pub(super) fn member(text: MemberText) -> Result<Member, String> {
    let priority = text.priority.map(|value| Priority::new(value).ok_or(format!("{value} is no priority")));
    Ok(Member {
        id: MemberId(text.id),
        address: text.address.into(),
        tags: text.tags.unwrap_or_default().into(),
        votes: text.votes,
        priority: priority.transpose()?,
        other: BTreeMap::new(),
    })
}

/// One machine, its addresses, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alone {
    pub addresses: Vec<AddressText>,
    pub mongo_port: u16,
    pub ha_space: Option<String>,
}

impl From<Alone> for Input {
    /// The machine has a member that votes, and no address yet.
    fn from(alone: Alone) -> Self {
        let Alone { addresses, mongo_port, ha_space } = alone;
        let tags = Some([(MACHINE_TAG.to_owned(), "1".to_owned())].into());
        let member = MemberText { id: 1, address: String::new(), tags, votes: None, priority: None };
        let machine = MachineText { id: "1".to_owned(), wants_vote: true, addresses, life: None };
        Self { machines: vec![machine], members: vec![member], statuses: Vec::new(), mongo_port, ha_space }
    }
}
