//! Replica sets kept by MongoDB.
//!
//! [`MongoEngine`] plans and translates: which server is asked, what a configuration becomes, what an error means. What runs
//! a command on a server is an [`Admin`]: MongoDB's own driver, behind the cargo feature `mongodb`, or the model's servers
//! in [`super::replica_model`]. **No mongod has ever run in this project's tests**: what is tested is tested against that
//! model, which follows what the server's manual and source say.
//!
//! What holds for every write of the configuration: it is planned on what was read a moment before from the primary, whose
//! configuration is committed by a majority; it goes one version further, so that the server refuses it if another one came
//! first; at most one member gains or loses a vote; it is never forced; and everything that is not changed is carried along
//! as it was read. A server's answer that leaves open what it did is unknown.
//!
//! Guards here, and which test fails without them (unit tests beside them; `tests/replica_sets/adapter.rs` and `tests/replica_sets/seeds.rs`).
//! Who votes, odd counts, majorities before and after, orphans and addresses are the decision's: its own table stands in
//! `supervisor::peer_group`; flags and reading back are the replica set's, see `replica_set`.
//!
//! | guard | where | test |
//! |---|---|---|
//! | one vote per write | `config::changed` | `more_than_one_vote_in_a_write_is_refused` |
//! | a write only on a configuration that a majority has | `MongoEngine::write`, `reading` | `no_write_before_a_majority_has_the_one_before` |
//! | a write only on the configuration of the plan | `MongoEngine::write` | `every_engine_keeps_this` |
//! | a primary of an earlier election is not believed | `reading` | `a_primary_of_an_earlier_election_is_not_believed` |
//! | who the primary cannot reach is not healthy | `reading::statuses` | `who_the_primary_cannot_reach_is_not_healthy_though_it_answers_us` |
//! | all that say they are primary are told | `reading::statuses` | `two_that_say_they_are_primary_are_both_told` |
//! | only the one primary that is meant is asked to step down | `MongoEngine::give_way` | `nobody_is_asked_to_step_down_while_two_say_that_they_lead` |
//! | somebody has to be able to follow | `MongoEngine::give_way` | `who_cannot_be_elected_follows_nobody` |
//! | an answer that leaves it open is unknown | `errors` | `what_was_refused_before_it_was_installed_is_refused_and_the_rest_is_unknown` |
//! | unknown fields, tags, settings and priorities are carried | `config::changed` | `what_an_operator_tuned_stays_through_every_step` |
//! | there is no set only if all that answer say so | `reading::why_nobody` | `there_is_no_set_only_if_all_that_answer_say_so` |
//! | no secret in a text | `access`, `driver` | `one_server_is_asked_once_with_credentials_that_nobody_sees` |

mod admin;
mod config;
pub(crate) mod document;
#[cfg(feature = "mongodb")]
mod driver;
pub(crate) mod errors;
#[cfg(not(feature = "mongodb"))]
mod not_built;
mod reading;
mod status;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{
        Answer, ReplicaSetEngine,
        replica_set::{Action, Change, Contact, Member, MemberId, Observation, Outcome, Stamp},
    },
    vocab::{Fault, FaultCode},
};
use serde_json::Value;

pub use admin::{Admin, Broken};
pub use document::Document;
#[cfg(feature = "mongodb")]
pub use driver::Driver;

use config::Config;
use document::{document, int};
use errors::{Asked, code, outcome};
use reading::Reading;

use super::{access::Environment, engine_watch::watch_by_looking};

/// How long a server may wait for a majority, before and after it has taken a configuration.
const CHANGE_TIME: Duration = Duration::from_secs(15);
/// How long a secondary may take to catch up before a primary gives way. Source: the server's default.
const CATCH_UP_S: i64 = 10;
/// For how long one that gave way is not elected again. Source: Juju.
const STAND_ASIDE_S: i64 = 60;
/// How long a first member may take to begin a set. Source: Juju's socket time-out at initiation.
const INITIATE_TIME: Duration = Duration::from_secs(60);
/// What a command may take beyond the time that the server was given for it.
const ON_THE_WAY: Duration = Duration::from_secs(5);

/// The engine `mongodb`, as this program was built: with MongoDB's own driver, or saying how to build it with that.
pub fn engine(environment: Environment) -> Arc<dyn ReplicaSetEngine> {
    #[cfg(feature = "mongodb")]
    let admin = Driver::new(environment);
    #[cfg(not(feature = "mongodb"))]
    let admin = not_built::NotBuilt::instead_of(environment);
    Arc::new(MongoEngine::new(Arc::new(admin)).watching())
}

/// An engine that asks MongoDB servers.
#[derive(Clone)]
pub struct MongoEngine {
    admin: Arc<dyn Admin>,
    watches: bool,
}

impl std::fmt::Debug for MongoEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MongoEngine").finish_non_exhaustive()
    }
}

impl MongoEngine {
    /// An engine that asks in this way; nothing is opened yet.
    pub fn new(admin: Arc<dyn Admin>) -> Self {
        Self { admin, watches: false }
    }

    /// The same, which notices by itself, within seconds, when the servers of a quiet set say something else.
    #[must_use]
    pub fn watching(self) -> Self {
        Self { watches: true, ..self }
    }

    async fn write(&self, contact: &Contact, base: Stamp, changes: &[Change]) -> Result<Outcome, Fault> {
        let reading = Reading::of(&self.admin, contact).await?;
        let (_, host) = reading.primary()?;
        let now = &reading.observation.configuration;
        let is_not_so = |text: &str| Err(Fault::new(FaultCode::FailedPrecondition, text));
        if now.stamp != base {
            return is_not_so("the configuration has changed since");
        }
        if !now.committed {
            return is_not_so(
                "a majority does not have the present configuration yet, and the next one has to wait for it",
            );
        }
        let config = Value::Object(reading.config.changed(changes)?);
        let command = document([("replSetReconfig", config), ("maxTimeMS", millis(CHANGE_TIME))]);
        let answer = self.admin.run(&contact.set, host, command, CHANGE_TIME + ON_THE_WAY).await;
        Ok(answer.map_or_else(|broken| outcome(Asked::Reconfigure, host, broken), |_| Outcome::Done))
    }

    async fn give_way(&self, contact: &Contact, primary: MemberId, successor: MemberId) -> Result<Outcome, Fault> {
        let reading = Reading::of(&self.admin, contact).await?;
        let (leading, host) = reading.primary()?;
        let is_not_so = |text: String| Err(Fault::new(FaultCode::FailedPrecondition, text));
        // The server chooses who follows; there has to be somebody, and the one that the plan counted on.
        let action = Action::StepDown { primary, successor };
        if leading != primary || !action.is_still_meant(&reading.observation.statuses) {
            return is_not_so(format!(
                "member {primary} is not the only primary, or member {successor} cannot take over"
            ));
        }
        let follower = reading.config.members().iter().find(|member| member.id == successor);
        if !follower.is_some_and(Member::is_electable) {
            return is_not_so(format!("member {successor} cannot be elected"));
        }
        let command = document([
            ("replSetStepDown", int(STAND_ASIDE_S)),
            ("secondaryCatchUpPeriodSecs", int(CATCH_UP_S)),
            ("maxTimeMS", millis(CHANGE_TIME)),
        ]);
        let answer = self.admin.run(&contact.set, host, command, CHANGE_TIME + ON_THE_WAY).await;
        Ok(answer.map_or_else(|broken| outcome(Asked::StepDown, host, broken), |_| Outcome::Done))
    }

    async fn begin(&self, contact: &Contact, first: &Member) -> Outcome {
        let server = contact.servers.iter().find(|server| Some(server.machine.as_str()) == first.machine_tag());
        let host = server.map_or(first.address.as_str(), |server| server.client.as_str());
        let config = Value::Object(Config::first(&contact.set, first));
        let command = document([("replSetInitiate", config), ("maxTimeMS", millis(INITIATE_TIME))]);
        let answer = self.admin.run(&contact.set, host, command, INITIATE_TIME + ON_THE_WAY).await;
        let begun = |code| code == code::ALREADY_INITIALIZED;
        match answer {
            Ok(_) => Outcome::Done,
            Err(Broken::Said { code, .. }) if begun(code) => match Reading::of(&self.admin, contact).await {
                Ok(reading) if reading.config.members().iter().any(|member| member.address == first.address) => {
                    Outcome::Done
                }
                Ok(_) => {
                    Outcome::Refused(Fault::new(FaultCode::AlreadyExists, "the set was initiated with other members"))
                }
                Err(fault) => Outcome::Refused(fault),
            },
            Err(broken) => outcome(Asked::Initiate, host, broken),
        }
    }
}

fn millis(time: Duration) -> Value {
    int(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

impl ReplicaSetEngine for MongoEngine {
    fn observe(&self, contact: Contact) -> Answer<'_, Result<Observation, Fault>> {
        Box::pin(async move { Ok(Reading::of(&self.admin, &contact).await?.observation) })
    }

    fn watch(&self, contact: Contact, seen: Observation) -> Answer<'_, ()> {
        if self.watches { Box::pin(watch_by_looking(self, contact, seen)) } else { Box::pin(std::future::pending()) }
    }

    fn change(&self, contact: Contact, base: Stamp, changes: Vec<Change>) -> Answer<'_, Outcome> {
        Box::pin(async move { self.write(&contact, base, &changes).await.unwrap_or_else(Outcome::Refused) })
    }

    fn step_down(&self, contact: Contact, primary: MemberId, successor: MemberId) -> Answer<'_, Outcome> {
        Box::pin(async move { self.give_way(&contact, primary, successor).await.unwrap_or_else(Outcome::Refused) })
    }

    fn initiate(&self, contact: Contact, first: Member) -> Answer<'_, Outcome> {
        Box::pin(async move { self.begin(&contact, &first).await })
    }
}
