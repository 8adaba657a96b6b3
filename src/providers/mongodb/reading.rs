//! What the servers of a set say, put together.
//!
//! Every server is asked at the same time, also those that only the configuration knows. What counts is the view of the
//! primary, of several that say they are primary the one of the latest election: who it cannot reach is not healthy, whoever
//! else can. That others say of themselves that they are primary is told as well, so that nobody plans on such a moment.
//!
//! The configuration counts as committed if the primary says so, nobody has heard of a later election, and a majority of
//! the voters is healthy in its view.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::replica_set::{
        Configuration, Contact, EngineRules, MemberId, MemberState, MemberStatus, Observation, Stamp,
    },
    vocab::{Fault, FaultCode, sort_by, sort_by_key},
};
use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    admin::{Admin, Broken},
    config::Config,
    document::{Document, document, int, truth},
    errors::{self, code},
    status::View,
};

/// How long a server may take to say how it is. One that was stopped answers nothing at all.
const LOOK_TIME: Duration = Duration::from_secs(3);

/// What was read.
#[derive(Debug)]
pub(super) struct Reading {
    pub config: Config,
    pub observation: Observation,
    /// The primary, and where it answered.
    primary: Option<(MemberId, String)>,
}

/// What one server answered.
#[derive(Clone, Debug)]
struct Answered {
    host: String,
    result: Result<Document, Broken>,
}

/// A server that is a member of the set.
#[derive(Clone, Debug)]
struct Teller {
    host: String,
    view: View,
}

impl Teller {
    fn leads(&self) -> bool {
        self.view.state == MemberState::Primary
    }

    /// Who is believed before whom: the primary of the latest election, else whoever has the latest configuration.
    fn weight(&self) -> (bool, u64, Stamp) {
        (self.leads(), self.view.term, self.view.configuration())
    }
}

impl Reading {
    /// Reads.
    ///
    /// # Errors
    /// `uninitialized` if every server that answers says that no set has begun; otherwise why none could be read.
    pub(super) async fn of(admin: &Arc<dyn Admin>, contact: &Contact) -> Result<Self, Fault> {
        let mut asked: BTreeSet<String> = contact.servers.iter().map(|server| server.client.clone()).collect();
        let mut answered = ask(admin, contact, asked.iter().cloned()).await;
        let known = |host: &String| !asked.contains(host) && !is_reached(contact, &answered, host);
        let named = answered.iter().filter_map(teller).flat_map(|teller| teller.view.members);
        let others: BTreeSet<String> = named.map(|member| member.host).filter(known).collect();
        answered.extend(ask(admin, contact, others.iter().cloned()).await);
        asked.extend(others);
        let tellers = tellers(contact, &answered)?;
        let best = &tellers[0];
        let (config, committed) = configuration(admin, contact, best).await?;
        let is_latest = tellers.iter().all(|it| it.view.term <= best.view.term);
        let committed = best.leads()
            && is_latest
            && has_healthy_majority(&config, &best.view)
            && committed.unwrap_or_else(|| is_with_a_majority(&config, &best.view));
        let statuses = statuses(&config, &tellers);
        let members = config.members().to_vec();
        let configuration = Configuration { stamp: config.stamp(), committed, members };
        let primary = best.leads().then(|| (best.view.teller, best.host.clone()));
        Ok(Self {
            config,
            observation: Observation { configuration, statuses, rules: EngineRules::mongodb() },
            primary,
        })
    }

    /// The primary, and where it is asked.
    ///
    /// # Errors
    /// If none says that it is.
    pub(super) fn primary(&self) -> Result<(MemberId, &str), Fault> {
        let primary = self.primary.as_ref().map(|(id, host)| (*id, host.as_str()));
        primary.ok_or_else(|| Fault::new(FaultCode::Unavailable, "no server says that it is primary"))
    }
}

async fn ask(admin: &Arc<dyn Admin>, contact: &Contact, hosts: impl Iterator<Item = String>) -> Vec<Answered> {
    let mut asking = JoinSet::new();
    for host in hosts {
        let (admin, set) = (admin.clone(), contact.set.clone());
        asking.spawn(async move {
            let result = admin.run(&set, &host, document([("replSetGetStatus", int(1))]), LOOK_TIME).await;
            Answered { host, result }
        });
    }
    let mut answered = asking.join_all().await;
    // In the same order whoever answers first.
    sort_by(&mut answered, |one, other| one.host.cmp(&other.host));
    answered
}

/// Whether the server that members reach at this host has answered already, where others reach it.
fn is_reached(contact: &Contact, answered: &[Answered], host: &str) -> bool {
    let of_host = contact.servers.iter().filter(|server| server.peer.as_deref() == Some(host));
    of_host.into_iter().any(|server| answered.iter().any(|it| it.host == server.client && it.result.is_ok()))
}

fn teller(answered: &Answered) -> Option<Teller> {
    let view = View::read(answered.result.as_ref().ok()?)?;
    Some(Teller { host: answered.host.clone(), view })
}

/// The servers that are members of the set; the one that is believed first comes first.
fn tellers(contact: &Contact, answered: &[Answered]) -> Result<Vec<Teller>, Fault> {
    let (ours, strangers): (Vec<Teller>, Vec<Teller>) =
        answered.iter().filter_map(teller).partition(|teller| teller.view.set == contact.set.as_str());
    let mut tellers: Vec<Teller> = ours.into_iter().filter(|it| it.view.state != MemberState::Removed).collect();
    sort_by_key(&mut tellers, |teller| std::cmp::Reverse(teller.weight()));
    // One server may have answered at two addresses.
    let mut seen = BTreeSet::new();
    tellers.retain(|teller| seen.insert(teller.view.teller));
    if !tellers.is_empty() {
        return Ok(tellers);
    }
    if let Some(stranger) = strangers.first() {
        let text = format!("{}: it is a member of set {:?}, not of {}", stranger.host, stranger.view.set, contact.set);
        return Err(Fault::new(FaultCode::FailedPrecondition, text));
    }
    Err(why_nobody(answered))
}

/// Nobody tells anything: there is no set only if all that answer say so.
fn why_nobody(answered: &[Answered]) -> Fault {
    let mut has_not_begun = None;
    let mut why = Fault::new(FaultCode::Unavailable, "no server of the set answers");
    for Answered { host, result } in answered {
        match result {
            Ok(_) => return Fault::new(FaultCode::Unavailable, format!("{host}: unexpected answer")),
            Err(Broken::Said { code: code::NOT_YET_INITIALIZED, .. }) => {
                has_not_begun = Some(Fault::new(FaultCode::Uninitialized, "no replica set is initiated here"));
            }
            Err(broken @ Broken::Said { .. }) => return errors::fault(host, broken.clone()),
            // What is wrong on our side (credentials, certificates) is worth more than that somebody is not there.
            Err(Broken::NotSent(fault)) if fault.code != FaultCode::Unavailable => why = fault.clone(),
            Err(Broken::NotSent(_) | Broken::Unclear(_)) => (),
        }
    }
    match has_not_begun {
        Some(fault) if why.code == FaultCode::Unavailable => fault,
        _ => why,
    }
}

/// The configuration that this server has, and whether it says that a majority has it: none if it cannot say.
async fn configuration(
    admin: &Arc<dyn Admin>,
    contact: &Contact,
    teller: &Teller,
) -> Result<(Config, Option<bool>), Fault> {
    let plain = document([("replSetGetConfig", int(1))]);
    let mut asking = plain.clone();
    if teller.leads() {
        asking.insert("commitmentStatus".into(), true.into());
    }
    let mut answer = admin.run(&contact.set, &teller.host, asking, LOOK_TIME).await;
    if teller.leads() && matches!(answer, Err(Broken::Said { .. })) {
        // It does not lead any more. What it has can be read all the same.
        answer = admin.run(&contact.set, &teller.host, plain, LOOK_TIME).await.map(|mut answer| {
            answer.insert("commitmentStatus".into(), false.into());
            answer
        });
    }
    let mut answer = answer.map_err(|broken| errors::fault(&teller.host, broken))?;
    let committed = answer.get("commitmentStatus").map(truth);
    let Some(Value::Object(config)) = answer.remove("config") else {
        return Err(Fault::new(FaultCode::Unavailable, format!("{}: unexpected answer", teller.host)));
    };
    Ok((Config::read(config)?, committed))
}

/// What servers before 4.4 do not say themselves: whether a majority of the voters has this configuration.
fn is_with_a_majority(config: &Config, view: &View) -> bool {
    is_majority(config, |id| view.of(id).is_some_and(|it| it.configuration.version == config.stamp().version))
}

fn has_healthy_majority(config: &Config, view: &View) -> bool {
    is_majority(config, |id| view.of(id).is_some_and(|it| it.healthy))
}

fn is_majority(config: &Config, is_so: impl Fn(MemberId) -> bool) -> bool {
    let voters = || config.members().iter().filter(|member| member.is_voter());
    voters().filter(|member| is_so(member.id)).count() > voters().count() / 2
}

fn statuses(config: &Config, tellers: &[Teller]) -> Vec<MemberStatus> {
    let best = &tellers[0];
    let newest = best.leads().then(|| best.view.of(best.view.teller)?.latest_ms).flatten();
    let status = |id: MemberId| {
        let own = tellers.iter().find(|teller| teller.view.teller == id);
        let seen = best.view.of(id);
        let (mut healthy, mut state) = seen.map(|seen| (seen.healthy, seen.state))?;
        match own {
            // Without a primary, everybody knows best how it is.
            Some(own) if !best.leads() => (healthy, state) = (true, own.view.state),
            Some(own) if own.leads() => (healthy, state) = (true, MemberState::Primary),
            _ => (),
        }
        let behind = newest.zip(seen?.latest_ms).map(|(newest, latest)| newest.saturating_sub(latest));
        let lag_ms = behind.map(|behind| u64::try_from(behind).unwrap_or(0));
        Some(MemberStatus { id, healthy, state, lag_ms })
    };
    config.members().iter().filter_map(|member| status(member.id)).collect()
}
