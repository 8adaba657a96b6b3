//! What the world still owes a machine.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Cleanup, Retry, State, Step};
use crate::{
    machine::{
        drain,
        rules::{removal::RemovalReason, template::NodeWrite, token::TokenId},
    },
    vocab::Timestamp,
};

/// Work in the outside world. Several that are owed at once are done in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Make the secret of this bootstrap token.
    CreateToken {
        id: TokenId,
    },
    /// Delete the secret of this bootstrap token.
    DropToken {
        id: TokenId,
    },
    /// Ask the provider what it has for this machine.
    GetMachineStatus,
    /// Have the provider make the instance of this intent, with this token in its user data.
    CreateMachine {
        intent: Version,
        token: TokenId,
    },
    /// Have the provider remove the machine's instance.
    DeleteMachine {
        provider_id: String,
    },
    /// Have the provider remove an instance that got another's node.
    CleanUp {
        provider_id: String,
    },
    WriteNode(NodeWrite),
    /// Write to the node that it goes, and why. A condition that says so already keeps its reason.
    MarkNode {
        node: String,
        reason: RemovalReason,
    },
    DeleteNode {
        node: String,
    },
    /// A step of the drain of this node.
    Drain {
        node: String,
        effect: drain::Effect,
    },
    /// Look at it again then.
    PassAt {
        until: Timestamp,
        retry: Retry,
    },
    /// Look at it again then, beside that.
    RecheckAt {
        until: Timestamp,
    },
}

impl State {
    /// What is owed; asked after every step and every restart.
    pub fn pending(&self) -> BTreeSet<Effect> {
        let mut owed = BTreeSet::new();
        owed.extend(self.next_pass.map(|(retry, until)| Effect::PassAt { until, retry }));
        owed.extend(self.recheck.map(|until| Effect::RecheckAt { until }));
        let trying = self.cleanups.iter().filter(|(_, cleanup)| **cleanup == Cleanup::Trying);
        owed.extend(trying.map(|(provider_id, _)| Effect::CleanUp { provider_id: provider_id.clone() }));
        if let Some(pass) = &self.pass {
            owed.extend(self.owed_by(&pass.step));
        }
        owed
    }

    fn owed_by(&self, step: &Step) -> Vec<Effect> {
        let node = || self.node().unwrap_or_default().to_owned();
        vec![match step {
            // A cleanup is owed as such, whatever pass has opened it.
            Step::Begun | Step::CleanUp { .. } => return Vec::new(),
            Step::CreateToken(id) => Effect::CreateToken { id: id.clone() },
            Step::DropToken(id) => Effect::DropToken { id: id.clone() },
            Step::AskStatus => Effect::GetMachineStatus,
            Step::Create => {
                let token = self.record.token.clone().unwrap_or_else(|| TokenId::of_name(&self.record.name));
                Effect::CreateMachine { intent: self.intent.unwrap_or_default(), token }
            }
            Step::WriteNode(write) => Effect::WriteNode(write.clone()),
            Step::MarkNode { reason, .. } => Effect::MarkNode { node: node(), reason: *reason },
            Step::Drain { drain, .. } => {
                return drain.pending().into_iter().map(|effect| Effect::Drain { node: node(), effect }).collect();
            }
            Step::DeleteVm => Effect::DeleteMachine { provider_id: self.record.provider_id.clone() },
            Step::DeleteNode => Effect::DeleteNode { node: node() },
        }]
    }
}
