//! The health of its node: what the machine takes from it, and when it is given up.

use super::{
    Event, OperationKind, OperationState, Reason, Retry, Step,
    decide::{Flow, Turn},
    phase,
    phase::waiting_since,
};
use crate::{
    machine::rules::{
        self,
        budget::{self, Refusal},
        token::TokenId,
    },
    policy::{MissingNodeReading, TaintReading},
    vocab::MachinePhase,
};

impl Turn<'_> {
    pub(super) fn health(&mut self) -> Flow {
        let Some(node) = self.seen().node else {
            return self.node_gone();
        };
        let before = phase(&self.state);
        let is_news = rules::changed(&self.state.record.conditions, &node.conditions, self.policy.readings.conditions);
        if is_news {
            self.emit(Event::ConditionsCopied { conditions: node.conditions });
        }
        let watched = self.in_force().node_conditions;
        let is_healthy = rules::is_healthy(&self.state.record.conditions, &watched, self.policy.readings.readiness);
        let lacks_components = rules::has_critical_taint(&node.taints);
        let may_run = !lacks_components
            || (self.policy.readings.critical_taint == TaintReading::HoldsJoining && before != MachinePhase::Pending);
        if is_healthy && before != MachinePhase::Running && may_run {
            return self.turns_well();
        }
        if !is_healthy && before == MachinePhase::Running {
            self.emit(Event::BecameSuspect { at: self.now });
            return Flow::Ends(Retry::Short, Reason::NodeUnhealthy);
        }
        if is_news {
            return Flow::Ends(Retry::Short, Reason::ConditionsCopied);
        }
        self.timeouts()
    }

    fn node_gone(&mut self) -> Flow {
        let was_seen = !self.state.record.conditions.is_empty();
        let counts = was_seen || self.policy.readings.missing_node == MissingNodeReading::Unknown;
        if phase(&self.state) == MachinePhase::Running && counts {
            self.emit(Event::BecameSuspect { at: self.now });
            return Flow::Ends(Retry::Short, Reason::NodeGone);
        }
        self.timeouts()
    }

    /// Whether it is healthy for the first time: its making has not been called a success yet.
    fn is_first_time(&self) -> bool {
        let latest = &self.state.operation;
        latest.kind == Some(OperationKind::Create) && latest.state != Some(OperationState::Successful)
    }

    fn turns_well(&mut self) -> Flow {
        if self.is_first_time() {
            let own = self.state.record.token.clone();
            let id = own.unwrap_or_else(|| TokenId::of_name(&self.state.record.name));
            return self.owe(Step::DropToken(id));
        }
        self.becomes_well()
    }

    pub(super) fn becomes_well(&mut self) -> Flow {
        let is_first_time = self.is_first_time();
        self.emit(Event::BecameWell { at: self.now, is_first_time });
        Flow::Ends(Retry::Short, if is_first_time { Reason::Joined } else { Reason::Rejoined })
    }

    /// Gives up what waits for too long.
    fn timeouts(&mut self) -> Flow {
        let Some(since) = waiting_since(&self.state) else {
            return Flow::Through(Retry::Long, Reason::AllWell);
        };
        let in_force = self.in_force();
        let is_joining = phase(&self.state) == MachinePhase::Pending;
        let timeout_ms = if is_joining { in_force.creation_timeout_ms } else { in_force.health_timeout_ms };
        if self.now.since(since) <= timeout_ms {
            self.emit(Event::RecheckArmed { until: self.now.after(self.policy.health_recheck_ms) });
            return Flow::Through(Retry::Long, Reason::NotYetTimedOut);
        }
        if is_joining {
            self.emit(Event::JoinTimedOut { at: self.now });
            return Flow::Ends(Retry::Short, Reason::JoinTimedOut);
        }
        match budget::room(&self.seen().budget, &self.policy.throttle) {
            Err(Refusal::PermitTaken) => Flow::Ends(Retry::Short, Reason::PermitTaken),
            Err(Refusal::Spent) => Flow::Ends(Retry::Short, Reason::BudgetSpent),
            Ok(()) => {
                self.emit(Event::HealthTimedOut { at: self.now });
                Flow::Through(Retry::Short, Reason::HealthTimedOut)
            }
        }
    }
}
