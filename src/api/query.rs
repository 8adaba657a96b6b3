//! Questions: asked in the same way of a running node and of a stopped node's journal, and answered by the same code.

use std::collections::BTreeMap;

use bailiwick_actors::{
    policy::Document,
    replay,
    supervisor::{machine_sets, machines, replica_sets, storage},
    vocab::{HarvestMode, Timestamp},
};
use bailiwick_journal::{Journal, Position, StreamId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    lists::{self, json},
    wire::{
        change::BacktestRequest,
        job::Question,
        problem::Problem,
        question::{
            AtParameters, DiffParameters, HarvestParameters, ListParameters, ReplayParameters, ScheduleParameters,
            WhyParameters,
        },
    },
};
use crate::{
    audit::{self, About, ReplayError, Side, why},
    view::{self, At, Calendar, ClockReport, ClockStep, Fleet, HostTrouble, LogFilter, Only, Selector},
};

/// What the question for the log may add to its path: `?at=@17&limit=20`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Parameters {
    /// `@POSITION`, milliseconds since 1970, or `-` and how many milliseconds ago.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// At most so many; 100 unless said, 1000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Only this entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<StreamId>,
    /// Only this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only this outcome: `done`, `nothing`, `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Only with this reason: `worth-retrying`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Only of this principal: `uid:0`, `schedule`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Only what rests on this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caused_by: Option<u64>,
    /// Only what this entry rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_of: Option<u64>,
    /// Only what was decided at or after this moment.
    #[schemars(regex(pattern = r"^(@[0-9]{1,19}|-?[0-9]{1,15})$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// How is everything? Trouble first.
    Status { at: Option<At> },
    /// What entities of this kind are there, with these labels?
    List { kind: String, selector: Selector, at: Option<At> },
    /// Everything about one entity.
    Describe { entity: StreamId, at: Option<At> },
    /// What was decided?
    Log { filter: Parameters },
    /// What happens next, when, and why?
    Schedule { limit: usize, at: Option<At> },
    /// What led to a decision, or (forward) what followed from it?
    Why { about: About, forward: bool, at: Option<At> },
    /// Why is it not so?
    WhyNot { entity: StreamId, wanted: String, at: Option<At> },
    /// Which instances does nobody know, and what would become of them?
    Harvest { mode: Option<HarvestMode>, at: Option<At> },
    /// What storage is there, where, and how?
    Storage { at: Option<At> },
    /// Which pools can storage come from?
    Pools { at: Option<At> },
    /// Which settings were in force when, and who set them?
    PolicyRevisions { at: Option<At> },
    /// Is the node's time the clock's?
    Clock,
    /// What is declared and not so yet?
    Pending { at: Option<At> },
    /// What is different between two moments? The later one is now, unless another is named.
    Diff { from: At, to: Option<At>, only: Only },
    /// Does every decision come out the same when it is decided again?
    Replay { options: replay::Options },
    /// What would have been decided under these settings?
    Backtest { document: Box<Document>, options: replay::Options },
}

/// How many log lines or due times there are unless more are asked for.
pub const LIMIT_DEFAULT: usize = 100;

/// How many a running node gives in one answer; a client that wants more asks again.
pub const PAGE_MAX: usize = 1_000;

/// Reads the form of a moment that stands in a path: `@POSITION`, milliseconds since 1970, or `-` and how many milliseconds
/// ago, by the node's time.
pub fn moment(text: &str) -> Option<At> {
    if let Some(position) = text.strip_prefix('@') {
        return position.parse().ok().map(At::Position);
    }
    match text.strip_prefix('-') {
        Some(ms) => ms.parse().ok().map(At::Ago),
        None => text.parse().ok().map(At::Time),
    }
}

/// The form of a moment that stands in a path.
pub fn moment_text(at: At) -> String {
    match at {
        At::Position(position) => format!("@{position}"),
        At::Time(ms) => ms.to_string(),
        At::Ago(ms) => format!("-{ms}"),
    }
}

impl Query {
    /// The path that asks it.
    pub fn path(&self) -> String {
        let at = |at: &Option<At>| AtParameters { at: at.map(moment_text) };
        match self {
            Self::Status { at: moment } => asked("/v1/status", &at(moment)),
            Self::List { kind, selector, at } => {
                let selector = (!selector.is_everything()).then(|| selector.to_string());
                asked(&format!("/v1/entities/{kind}"), &ListParameters { selector, at: at.map(moment_text) })
            }
            Self::Describe { entity, at: moment } => asked(&format!("/v1/entities/{entity}"), &at(moment)),
            Self::Log { filter } => asked("/v1/log", filter),
            Self::Schedule { limit, at } => {
                asked("/v1/schedule", &ScheduleParameters { limit: Some(*limit), at: at.map(moment_text) })
            }
            Self::Why { about, forward, at } => {
                let (about, side) = match about {
                    About::Entry(position) => (format!("@{position}"), None),
                    About::Entity { entity, side } => (entity.to_string(), side.map(|side| side.to_string())),
                };
                asked(&format!("/v1/why/{about}"), &WhyParameters { side, forward: *forward, at: at.map(moment_text) })
            }
            Self::WhyNot { entity, wanted, at: moment } => {
                asked(&format!("/v1/why-not/{wanted}/{entity}"), &at(moment))
            }
            Self::Harvest { mode, at } => {
                asked("/v1/harvest", &HarvestParameters { mode: *mode, at: at.map(moment_text) })
            }
            Self::Pending { at: moment } => asked("/v1/pending", &at(moment)),
            Self::Storage { at: moment } => asked("/v1/storage", &at(moment)),
            Self::Pools { at: moment } => asked("/v1/pools", &at(moment)),
            Self::PolicyRevisions { at: moment } => asked("/v1/policy/revisions", &at(moment)),
            Self::Clock => "/v1/clock".to_owned(),
            Self::Diff { from, to, only } => {
                let (entity, kind) = match only.clone() {
                    Only::All => (None, None),
                    Only::Entity(entity) => (Some(entity), None),
                    Only::Kind(kind) => (None, Some(kind)),
                };
                let (from, to) = (moment_text(*from), to.map(moment_text));
                asked("/v1/diff", &DiffParameters { from, to, entity, kind })
            }
            Self::Replay { options } => {
                let to = options.to.map(|to| to.0);
                asked("/v1/audit/replay", &ReplayParameters { all: options.all, to })
            }
            // Asked with a body: the settings.
            Self::Backtest { .. } => "/v1/audit/backtest".to_owned(),
        }
    }

    /// The job that finds it out, and what is sent to begin it, if all of history is read for the answer.
    pub fn job(&self) -> Option<(&'static str, Value)> {
        match self {
            Self::Replay { options } => {
                let wish = ReplayParameters { all: options.all, to: options.to.map(|to| to.0) };
                Some((Question::Replay.as_str(), serde_json::json!(wish)))
            }
            Self::Backtest { document, options } => {
                let wish = BacktestRequest { document: (**document).clone(), to: options.to.map(|to| to.0) };
                Some((Question::Backtest.as_str(), serde_json::json!(wish)))
            }
            _ => None,
        }
    }

    /// Whether it asks for the present state.
    pub fn is_about_now(&self) -> bool {
        self.at().is_none() && !self.takes_its_time()
    }

    /// Whether the answer is read from the journal, entry by entry, and may take its time.
    pub fn takes_its_time(&self) -> bool {
        matches!(self, Self::Diff { .. }) || self.reads_all_of_history()
    }

    fn reads_all_of_history(&self) -> bool {
        matches!(self, Self::Replay { .. } | Self::Backtest { .. })
    }

    fn at(&self) -> Option<At> {
        match self {
            Self::Status { at }
            | Self::List { at, .. }
            | Self::Describe { at, .. }
            | Self::Schedule { at, .. }
            | Self::Why { at, .. }
            | Self::WhyNot { at, .. }
            | Self::Harvest { at, .. }
            | Self::Storage { at }
            | Self::Pools { at }
            | Self::PolicyRevisions { at }
            | Self::Pending { at } => *at,
            Self::Log { filter } => filter.at.as_deref().and_then(moment),
            Self::Clock | Self::Diff { .. } | Self::Replay { .. } | Self::Backtest { .. } => None,
        }
    }

    /// The same question, once it is known what time it is: `-2h` is two hours before the node's time, whatever the clock
    /// of the caller shows.
    #[must_use]
    pub fn resolved(mut self, now: Timestamp, calendar: &Calendar) -> Self {
        let known = |at: At| at.known(now, calendar);
        match &mut self {
            Self::Status { at }
            | Self::List { at, .. }
            | Self::Describe { at, .. }
            | Self::Schedule { at, .. }
            | Self::Why { at, .. }
            | Self::WhyNot { at, .. }
            | Self::Harvest { at, .. }
            | Self::Storage { at }
            | Self::Pools { at }
            | Self::PolicyRevisions { at }
            | Self::Pending { at } => *at = at.map(known),
            Self::Log { filter } => {
                for text in [&mut filter.at, &mut filter.since] {
                    let resolved = text.as_deref().and_then(moment).map(|at| moment_text(known(at)));
                    *text = resolved.or(text.take());
                }
            }
            Self::Diff { from, to, .. } => (*from, *to) = (known(*from), to.map(known)),
            Self::Clock | Self::Replay { .. } | Self::Backtest { .. } => (),
        }
        self
    }

    /// The answer from a journal alone.
    ///
    /// `now` is the moment that ages are told at, if the question is about the present, unless the last entry is later.
    ///
    /// # Errors
    /// If the journal cannot be read, or has no such entity or moment.
    pub fn answer_from(&self, journal: &dyn Journal, now: Timestamp) -> Result<Value, Problem> {
        self.answer_followed(journal, now, &|_, _| true)
    }

    /// As [`Query::answer_from`]; if all of history is read for it, the follower is told how far it is, and may end it.
    ///
    /// # Errors
    /// As [`Query::answer_from`], and if it is ended.
    pub fn answer_followed(
        &self,
        journal: &dyn Journal,
        now: Timestamp,
        follow: audit::Follow<'_>,
    ) -> Result<Value, Problem> {
        let again = match self {
            Self::Replay { options } => Some(replayed(journal, options, follow)),
            Self::Backtest { document, options } => Some(backtested(journal, document, options, follow)),
            _ => None,
        };
        if let Some(again) = again {
            let mut answer = again?;
            Calendar::of(journal).map_err(unreadable)?.tell(&mut answer, Timestamp::default());
            return Ok(answer);
        }
        // Nobody goes on with this journal before its last entry.
        let time = now.max(Timestamp(journal.head().time_ms));
        let calendar = Calendar::of(journal).map_err(unreadable)?;
        let query = self.clone().resolved(time, &calendar);
        if let Self::Diff { from, to, only } = &query {
            let mut answer = answer_diff(journal, (*from, *to), only, time)?;
            calendar.tell(&mut answer, time);
            return Ok(answer);
        }
        query.answer(journal, &query.fleet(journal, calendar, now)?)
    }

    /// The answers to several questions about the same moment, from a journal that is read once.
    ///
    /// # Errors
    /// As [`Query::answer_from`].
    pub fn answer_all_from(all: &[Self], journal: &dyn Journal, now: Timestamp) -> Result<Vec<Value>, Problem> {
        let Some(first) = all.first() else { return Ok(Vec::new()) };
        let calendar = Calendar::of(journal).map_err(unreadable)?;
        let first = first.clone().resolved(now.max(Timestamp(journal.head().time_ms)), &calendar);
        let fleet = first.fleet(journal, calendar, now)?;
        all.iter().map(|query| query.answer(journal, &fleet)).collect()
    }

    /// Everything as it stands where the question asks.
    fn fleet(&self, journal: &dyn Journal, calendar: Calendar, now: Timestamp) -> Result<Fleet, Problem> {
        let time = now.max(Timestamp(journal.head().time_ms));
        let position = position(journal, self.at())?;
        let mut fleet = Fleet::at(journal, position).map_err(unreadable)?;
        match self.at() {
            _ if self.is_about_now() => (fleet.time, fleet.clock) = (time, Some(now)),
            // The moment that is asked about, not the last entry before it; what is still to come was never seen.
            Some(At::Time(ms)) => fleet.time = fleet.time.max(Timestamp(ms).min(time)),
            _ => (),
        }
        fleet.calendar = calendar;
        Ok(fleet)
    }

    /// The answer from a fleet that stands where the question asks, and the journal behind it.
    ///
    /// # Errors
    /// As [`Query::answer_from`].
    pub fn answer(&self, journal: &dyn Journal, fleet: &Fleet) -> Result<Value, Problem> {
        let mut answer = self.recorded(journal, fleet)?;
        fleet.calendar.tell(&mut answer, fleet.time);
        Ok(answer)
    }

    /// The answer, with times as they are recorded.
    fn recorded(&self, journal: &dyn Journal, fleet: &Fleet) -> Result<Value, Problem> {
        match self {
            Self::Status { .. } => {
                let mut status = view::status(fleet);
                if let Some(clock) = fleet.clock.filter(|_| self.is_about_now()) {
                    status.clock =
                        ClockStep::between(journal, &fleet.calendar, fleet.time, clock).map_err(unreadable)?;
                    status.node = fleet.host.trouble.clone();
                    let sinks = fleet.host.sinks.iter();
                    status.node.extend(sinks.filter_map(|(name, sink)| sink.told_trouble(name, fleet.position)));
                    let gap = view::gap_at_start(journal, fleet.time).map_err(unreadable)?;
                    status.node.extend(gap.map(|(why, since)| HostTrouble { status: "clock", why, since_ms: since.0 }));
                }
                json(&status)
            }
            Self::List { kind, selector, .. } if !selector.is_everything() && !view::has_labels(kind) => {
                Err(Problem { next_step: Some("leave --selector out".into()), ..bad(&format!("no {kind} has labels")) })
            }
            Self::List { kind, selector, .. } => {
                let mut rows = lists::rows(fleet, kind).unwrap_or_else(|| Err(unknown_kind(fleet, kind)))?;
                if let (false, Value::Array(all)) = (selector.is_everything(), &mut rows) {
                    all.retain(|row| selector.selects(&labels(row)));
                }
                mark(fleet, kind, &mut rows);
                Ok(rows)
            }
            Self::Describe { entity, .. } => match view::describe(journal, fleet, entity).map_err(unreadable)? {
                Some(description) => json(&description),
                None => Err(no_entity(fleet, entity)),
            },
            Self::Log { filter } => {
                let is_unknown =
                    |entity: &&StreamId| entity.kind() != "node" && journal.version(entity) == Version::ZERO;
                if let Some(entity) = filter.entity.as_ref().filter(is_unknown) {
                    return Err(no_entity(fleet, entity));
                }
                // The newest are wanted, and read best from the oldest to the newest.
                let mut lines = view::log(journal, &log_filter(journal, filter)?).map_err(unreadable)?;
                lines.reverse();
                json(&lines)
            }
            Self::Schedule { limit, .. } => json(&view::upcoming(fleet, *limit)),
            Self::Why { about, forward, at } => answer_why(journal, fleet, about, *forward, *at),
            Self::WhyNot { entity, wanted, .. } => {
                if !view::can_be_asked(entity.kind(), wanted) {
                    let next = view::askable(entity.kind());
                    return Err(not_found(&format!("why-not cannot answer {wanted:?} for {entity}"), &next));
                }
                match view::why_not(fleet, entity, wanted) {
                    Some(why) => json(&why),
                    None => Err(no_entity(fleet, entity)),
                }
            }
            Self::Harvest { mode, .. } => json(&view::harvest(fleet, *mode)),
            Self::Pending { .. } => json(&view::pending(fleet)),
            Self::Storage { .. } => json(&view::storage(fleet)),
            Self::Clock => json(&ClockReport::of(journal, fleet).map_err(unreadable)?),
            Self::Pools { .. } => json(&view::pools(fleet)),
            Self::PolicyRevisions { .. } => json(&view::policy_revisions(journal, fleet.position).map_err(unreadable)?),
            Self::Diff { from, to, only } => answer_diff(journal, (*from, *to), only, fleet.time),
            Self::Replay { options } => replayed(journal, options, &|_, _| true),
            Self::Backtest { document, options } => backtested(journal, document, options, &|_, _| true),
        }
    }
}

/// A path with what is added to it.
fn asked(path: &str, parameters: &impl Serialize) -> String {
    let added = serde_urlencoded::to_string(parameters).expect("parameters are plain values");
    if added.is_empty() { path.to_owned() } else { format!("{path}?{added}") }
}

/// Which labels are meant.
pub(super) fn selector(text: &str) -> Result<Selector, Problem> {
    text.parse().map_err(|error: view::InvalidSelector| bad(&error.to_string()))
}

/// An explanation, also as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToldWhy {
    #[serde(flatten)]
    pub why: why::Why,
    /// The same for people.
    pub text: String,
}

fn answer_why(
    journal: &dyn Journal,
    fleet: &Fleet,
    about: &About,
    forward: bool,
    at: Option<At>,
) -> Result<Value, Problem> {
    let until = position(journal, at)?;
    let found = if forward { why::following(journal, about, until) } else { why::why(journal, about, until) };
    match (found.map_err(unreadable)?, about) {
        (Some(why), _) => json(&ToldWhy { text: why.to_string(), why }),
        (None, About::Entry(position)) => {
            Err(not_found(&format!("entry {position} does not exist"), &format!("the last entry is {until}")))
        }
        (None, About::Entity { entity, side: Some(side) }) if journal.version(entity) > Version::ZERO => {
            let next = format!("`bailiwick log {entity}` lists what happened to it");
            Err(not_found(&format!("the {side} of {entity} has no history up to entry {until}"), &next))
        }
        (None, About::Entity { entity, .. }) => Err(no_entity(fleet, entity)),
    }
}

fn replayed(journal: &dyn Journal, options: &replay::Options, follow: audit::Follow<'_>) -> Result<Value, Problem> {
    json(&audit::replay_followed(journal, options, follow)?)
}

fn backtested(
    journal: &dyn Journal,
    document: &Document,
    options: &replay::Options,
    follow: audit::Follow<'_>,
) -> Result<Value, Problem> {
    json(&audit::backtest(journal, document, options, follow)?)
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Cancelled => Self::cancelled(),
            ReplayError::Read(error) => unreadable(error),
        }
    }
}

fn answer_diff(
    journal: &dyn Journal,
    (from, to): (At, Option<At>),
    only: &Only,
    now: Timestamp,
) -> Result<Value, Problem> {
    match only {
        Only::Entity(entity) if journal.version(entity) == Version::ZERO => {
            let fleet = Fleet::at_head(journal).map_err(unreadable)?;
            return Err(no_entity(&fleet, entity));
        }
        Only::Kind(kind) if kind != "supervisor" && !view::kinds().any(|known| known == kind) => {
            return Err(not_found(&format!("there is no kind {kind}"), KINDS));
        }
        Only::All | Only::Entity(_) | Only::Kind(_) => (),
    }
    let (from, to) = (position_until(journal, Some(from), now)?, position_until(journal, to, now)?);
    if from > to {
        return Err(Problem {
            code: "reversed".into(),
            message: format!("@{from} is later than @{to}"),
            next_step: Some(format!("name the earlier moment first: `bailiwick diff @{to} @{from}`")),
            ..Problem::default()
        });
    }
    json(&view::diff(journal, from, to, only.clone()).map_err(unreadable)?)
}

/// The position that a moment means which is not to come.
fn position_until(journal: &dyn Journal, at: Option<At>, now: Timestamp) -> Result<Position, Problem> {
    match at.map(|at| at.resolved(now)) {
        Some(At::Time(ms)) if ms > now.0 => {
            let message = format!("{} is in the future", Timestamp(ms));
            Err(not_found(&message, &format!("it is {now} by the node's time")))
        }
        at => position(journal, at),
    }
}

/// What a path asks about: an entity with or without a side, or `@POSITION`.
pub(super) fn about(text: &str, side: Option<&str>) -> Result<About, Problem> {
    if let Some(position) = text.strip_prefix('@') {
        let position = position.parse().map_err(|_| bad(&format!("{text:?} is not an entry: expected @POSITION")))?;
        return Ok(About::Entry(Position(position)));
    }
    let entity = text.parse().map_err(|error: bailiwick_journal::InvalidStreamId| bad(&error.to_string()))?;
    let side = side.map(Side::parse).transpose().map_err(|error| bad(&error.to_string()))?;
    Ok(About::Entity { entity, side })
}

const KINDS: &str = "kinds are machine, machine-set, machine-deployment, machine-class, volume, volume-attachment, filesystem, filesystem-attachment, policy, replica-set, member, space, subnet, image-metadata, agent-binary, application, model, account, juju-model, juju-application and juju-machine";

/// The outcome that a path names.
pub(super) fn outcome(text: &str) -> Result<bailiwick_journal::Outcome, Problem> {
    match text {
        "done" => Ok(bailiwick_journal::Outcome::Done),
        "nothing" => Ok(bailiwick_journal::Outcome::Nothing),
        "refused" => Ok(bailiwick_journal::Outcome::Refused),
        other => Err(bad(&format!("{other:?} is not an outcome: use done, nothing or refused"))),
    }
}

fn log_filter(journal: &dyn Journal, parameters: &Parameters) -> Result<LogFilter, Problem> {
    let read = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => moment(text).map(Some).ok_or_else(|| bad(&format!("{text:?} is not a moment"))),
    };
    let (since, until) = (read(&parameters.since)?, read(&parameters.at)?);
    in_order(journal, parameters, since, until)?;
    let outcome = parameters.outcome.as_deref().map(outcome).transpose()?;
    let last = journal.head().position;
    let named = [parameters.caused_by, parameters.cause_of].into_iter().flatten();
    if let Some(position) = named.map(Position).find(|position| *position == Position::ZERO || *position > last) {
        return Err(not_found(&format!("entry {position} does not exist"), &format!("the last entry is {last}")));
    }
    let following = parameters.caused_by.map(|at| why::consequences(journal, Position(at))).transpose();
    let leading = parameters.cause_of.map(|at| why::causes(journal, Position(at))).transpose();
    let positions = match (following.map_err(unreadable)?, leading.map_err(unreadable)?) {
        (Some(following), Some(leading)) => Some(following.intersection(&leading).copied().collect()),
        (following, leading) => following.or(leading),
    };
    Ok(LogFilter {
        reason: parameters.reason.clone(),
        principal: parameters.principal.clone(),
        positions,
        entity: parameters.entity.clone(),
        kind: parameters.kind.clone(),
        outcome,
        since,
        until,
        limit: parameters.limit.unwrap_or(LIMIT_DEFAULT),
    })
}

/// A log that would end before it begins is a mistake: that nothing matches would hide it.
fn in_order(
    journal: &dyn Journal,
    parameters: &Parameters,
    since: Option<At>,
    until: Option<At>,
) -> Result<(), Problem> {
    let last = Timestamp(journal.head().time_ms);
    let is_reversed = match (since.map(|at| at.resolved(last)), until.map(|at| at.resolved(last))) {
        (Some(At::Position(since)), Some(At::Position(until))) => since > until,
        (Some(At::Time(since)), Some(At::Time(until))) => since > until,
        _ => false,
    };
    if !is_reversed {
        return Ok(());
    }
    let told = |text: &Option<String>| text.clone().unwrap_or_default();
    Err(Problem {
        code: "reversed".into(),
        message: format!("it would start at {}, after its end at {}", told(&parameters.since), told(&parameters.at)),
        next_step: Some("name the earlier moment with --since and the later one with --until".into()),
        ..Problem::default()
    })
}

/// The position that a moment means.
///
/// # Errors
/// If the journal does not reach so far.
pub fn position(journal: &dyn Journal, at: Option<At>) -> Result<Position, Problem> {
    let head = journal.head().position;
    match view::position_of(journal, at).map_err(unreadable)? {
        Some(position) => Ok(position),
        None => Err(not_found("the journal ends before that", &format!("the last entry is {head}"))),
    }
}

fn unreadable(error: impl std::error::Error) -> Problem {
    Problem {
        code: "integrity".into(),
        message: error.to_string(),
        next_step: Some("stop the node and run `bailiwick journal check`".into()),
        ..Problem::default()
    }
}

fn bad(message: &str) -> Problem {
    Problem { code: "bad-request".into(), message: message.into(), ..Problem::default() }
}

/// Marks the rows of those that are protected from deletion.
fn mark(fleet: &Fleet, kind: &str, rows: &mut Value) {
    for row in rows.as_array_mut().into_iter().flatten() {
        let stream = row["name"].as_str().and_then(|name| StreamId::new(kind, name).ok());
        if stream.is_some_and(|stream| fleet.is_protected(&stream)) {
            row["protected"] = true.into();
        }
    }
}

/// The labels in a row.
fn labels(row: &Value) -> BTreeMap<String, String> {
    let labels = row["labels"].as_object().into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn unknown_kind(fleet: &Fleet, kind: &str) -> Problem {
    match fleet.unknown.get(kind) {
        Some(unknown) => not_found(
            &format!("this program does not know kind {kind}, of which the journal has {}", unknown.names.len()),
            "run the program that registers the kind; `bailiwick log --kind KIND` lists the entries",
        ),
        None => not_found(&format!("unknown kind {kind}"), KINDS),
    }
}

pub(super) fn not_found(message: &str, next_step: &str) -> Problem {
    Problem {
        code: "not-found".into(),
        message: message.into(),
        next_step: Some(next_step.into()),
        ..Problem::default()
    }
}

pub(super) fn no_entity(fleet: &Fleet, entity: &StreamId) -> Problem {
    let near = view::near_matches(fleet, entity);
    let next_step = match near.as_slice() {
        [] if entity.kind() == "supervisor" => {
            let names = [machine_sets::View::NAME, machines::View::NAME, replica_sets::View::NAME, storage::View::NAME];
            let names = names.map(|name| format!("supervisor/{name}"));
            format!("the supervisors are {}; each has entries from its first order on", names.join(", "))
        }
        [] => format!("`bailiwick get {}` lists them", entity.kind()),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    not_found(&format!("{entity} not found"), &next_step)
}
