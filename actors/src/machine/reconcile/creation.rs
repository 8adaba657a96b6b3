//! Making the instance: token, look, make, write down, begin to join.

use super::{
    CallError, Created, Event, Found, Reason, Retry, State, Step,
    decide::{Flow, Turn},
};
use crate::{
    machine::rules::{class::ClassSeen, token::TokenId},
    policy::{LabelReading, TokenReading},
    vocab::FaultCode,
};

impl Turn<'_> {
    pub(super) fn creation(&mut self) -> Flow {
        let seen = self.seen();
        if !seen.has_user_data {
            return Flow::Ends(Retry::Short, Reason::NoUserData);
        }
        if seen.has_token {
            return self.owe(Step::AskStatus);
        }
        let Some(id) = self.token(seen.drawn_token) else {
            return Flow::Ends(Retry::Short, Reason::NoTokenDrawn);
        };
        self.owe(Step::CreateToken(id))
    }

    /// The id of the machine's token: its own, or one by the policy.
    fn token(&mut self, drawn: Option<TokenId>) -> Option<TokenId> {
        if let Some(own) = &self.state.record.token {
            return Some(own.clone());
        }
        if self.policy.readings.token == TokenReading::FromName {
            return Some(TokenId::of_name(&self.state.record.name));
        }
        let id = drawn?;
        self.emit(Event::TokenKept(id.clone()));
        Some(id)
    }

    /// What the provider has, asked for by the making or by the removal.
    pub(super) fn on_status(&mut self, result: &Result<Found, CallError>) -> Flow {
        if self.is_removing() {
            return self.on_vm_status(result);
        }
        match result {
            Ok(found) => self.made(&found.node, &found.provider_id),
            Err(error) => match error.code {
                Some(FaultCode::NotFound | FaultCode::Unimplemented) => self.nothing_found(),
                Some(_) => self.creation_failed(error, Reason::StatusFailed),
                None => Flow::Ends(Retry::Medium, Reason::StatusFailed),
            },
        }
    }

    /// The provider has nothing. A node label may still say otherwise, if it is believed.
    fn nothing_found(&mut self) -> Flow {
        let Some(node) = self.state.node().map(str::to_owned) else {
            return self.owe(Step::Create);
        };
        let provider_id = self.state.record.provider_id.clone();
        match self.policy.readings.node_label {
            LabelReading::Proof => self.made(&node, ""),
            LabelReading::Hint if provider_id.is_empty() => self.owe(Step::Create),
            LabelReading::Hint => self.made(&node, &provider_id),
        }
    }

    pub(super) fn on_created(&mut self, result: &Result<Created, CallError>, last_known_state: &str) -> Flow {
        let created = match result {
            Ok(created) => created,
            Err(error) => {
                self.emit(Event::StateToldByProvider { last_known_state: last_known_state.to_owned() });
                return self.creation_failed(error, Reason::CreateFailed);
            }
        };
        if created.is_node_known && created.node != self.state.record.name {
            return self.stale_node(&created.provider_id);
        }
        if let ClassSeen::Found(class) = self.seen().class {
            self.emit(Event::ClassRecorded(class));
        }
        self.made(&created.node, &created.provider_id)
    }

    /// The instance came up with a node that was there before: what is known of that node is about another instance, so
    /// neither can be trusted.
    fn stale_node(&mut self, provider_id: &str) -> Flow {
        self.emit(Event::CreateFailed { at: self.now, is_given_up: true, error: None });
        self.emit(Event::CleanupOpened { provider_id: provider_id.to_owned() });
        self.owe(Step::CleanUp { provider_id: provider_id.to_owned() })
    }

    fn creation_failed(&mut self, error: &CallError, reason: Reason) -> Flow {
        let is_given_up = self.now.since(self.state.record.created) > self.in_force().creation_timeout_ms;
        self.emit(Event::CreateFailed { at: self.now, is_given_up, error: Some(error.clone()) });
        Flow::Ends(if error.is_transient() { Retry::Short } else { Retry::Medium }, reason)
    }

    /// The instance is there: write it down first, and begin to join in the next pass.
    fn made(&mut self, node: &str, provider_id: &str) -> Flow {
        let record = &self.state.record;
        let has_priority = record.annotations.get(State::PRIORITY).is_some_and(|text| !text.is_empty());
        if self.state.node().is_none() || !has_priority || record.provider_id.is_empty() {
            self.emit(Event::Labelled { node: node.to_owned(), provider_id: provider_id.to_owned() });
            return Flow::Ends(Retry::Short, Reason::Labelled);
        }
        if self.may_join() {
            self.emit(Event::JoiningBegan { at: self.now });
            return Flow::Ends(Retry::Short, Reason::Joining);
        }
        Flow::Through(Retry::Long, Reason::AllWell)
    }
}
