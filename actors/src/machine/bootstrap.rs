//! The agent of an instance joins once, with a token that was made for that instance.
//!
//! The token is drawn by the node right before the provider is called, is good for as long as the machine may take to join,
//! and stands in a file of the node's and in the machine: never in the journal, which has its id alone. What the agent says
//! then of itself and of the machine that it is in is kept until the instance goes.
//! Source: the bootstrap tokens of Gardener's machine controller, which follow from a name there and are never drawn anew.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, State, health,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{EffectId, SizeMib, Taint, Timestamp},
};

/// An agent that has joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// The id of the token that it came with.
    pub token: String,
    pub node: NodeFacts,
    pub since: Timestamp,
}

/// What an agent says of itself, and of the machine that it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    pub agent_version: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    pub cores: u32,
    pub memory: SizeMib,
    pub disk: SizeMib,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
}

/// The agent of this instance has come with this token. The same again is no news.
pub(super) fn report(state: &State, effect: EffectId, token: &str, node: &NodeFacts, facts: &Facts<'_>) -> Verdict {
    if state.running_effect() != Some(effect) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    if state.joined.as_ref().is_some_and(|known| known.token == token && known.node == *node) {
        return Ok(Decision::nothing(Reason::NodeUnchanged));
    }
    let joined = Event::AgentJoined { token: token.to_owned(), node: Box::new(node.clone()), at: facts.now };
    let health = judged_anew(state, token, node, facts);
    Ok(Decision::because(Reason::AgentJoined, std::iter::once(joined).chain(health)))
}

/// The agent of this instance, which has joined, says something else of its node. The same again is no news.
pub(super) fn report_node(state: &State, effect: EffectId, node: &NodeFacts, facts: &Facts<'_>) -> Verdict {
    let Some(joined) = state.joined.as_ref().filter(|_| state.running_effect() == Some(effect)) else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if joined.node == *node {
        return Ok(Decision::nothing(Reason::NodeUnchanged));
    }
    let changed = Event::NodeChanged { node: Box::new(node.clone()), at: facts.now };
    let health = judged_anew(state, &joined.token, node, facts);
    Ok(Decision::because(Reason::NodeSeen, std::iter::once(changed).chain(health)))
}

/// What an agent that says this of its node makes of its machine's health.
fn judged_anew(state: &State, token: &str, node: &NodeFacts, facts: &Facts<'_>) -> Option<Event> {
    let joined = Joined { token: token.to_owned(), node: node.clone(), since: facts.now };
    health::node_changed(&State { joined: Some(joined), ..state.clone() }, facts)
}
