//! `kind: Policy`.

use bailiwick_actors::{
    policy::{
        self, AskReading, DrainOrder, GiveUpBy, Judged, LastRound, NextZone, NoZone, PeerRules, ReportReading, RetryBy,
        TaintReading, UndeployedReading, WhenLost, ZoneBlame,
    },
    storage_rules::check_mount_point,
    vocab::HarvestMode,
};

use super::{
    period::{period, positive_period},
    windows::windows,
};
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        hint::nearest,
        limits,
        problem::Code,
    },
    text::cut,
};

pub(super) fn policy(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<policy::Document> {
    let known = ["like", "machines", "storage", "harvest", "health", "retries", "zones", "replicaSets", "rollouts"];
    let fields = Fields::of(spec, &known, reading)?;
    // What is said beside it is laid over it, and read even if nobody knows it: all problems are told at once.
    let base = fields.get("like").map_or_else(|| Some(policy::Document::default()), |field| like(&field, reading));
    let is_known = base.is_some();
    let mut document = base.unwrap_or_default();
    if let Some(section) = fields.get("machines") {
        machine_settings(&section, &mut document.machines, reading);
    }
    if let Some(section) = fields.get("storage") {
        storage_settings(&section, &mut document.storage, reading);
    }
    if let Some(section) = fields.get("harvest") {
        harvest_settings(&section, &mut document.harvest, reading);
    }
    if let Some(section) = fields.get("health") {
        health_settings(&section, &mut document.reconciliation, reading);
    }
    if let Some(section) = fields.get("retries") {
        retry_settings(&section, &mut document, reading);
    }
    if let Some(section) = fields.get("zones") {
        zone_settings(&section, &mut document.zones, reading);
    }
    if let Some(fields) = fields.get("replicaSets").and_then(|section| Fields::of(&section, &["rules"], reading)) {
        set(&fields, "rules", &mut document.replica_sets.rules, peer_rules, reading);
    }
    if let Some(fields) = fields.get("rollouts").and_then(|section| Fields::of(&section, &["windows"], reading)) {
        set(&fields, "windows", &mut document.rollouts.windows, windows, reading);
    }
    is_known.then_some(document)
}

/// The policy of this name, whose settings hold where the manifest says nothing.
fn like(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<policy::Document> {
    let text = field.text(reading)?;
    policy::Document::named(text).or_else(|| {
        let next = match nearest(text, policy::Document::names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known policies: {}", policy::Document::names().collect::<Vec<_>>().join(", ")),
        };
        field.refuse(reading, Code::DanglingReference, format!("there is no policy {:?}", cut(text, 40)), next)
    })
}

fn machine_settings(section: &Field<'_>, settings: &mut policy::Machines, reading: &mut Reading<'_>) {
    let known =
        ["attemptsMax", "retryFirst", "retryMax", "callTimeout", "poll", "nodeStale", "restartGrace", "whenLost"];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    set(&fields, "attemptsMax", &mut settings.attempts_max, Field::number, reading);
    set(&fields, "retryFirst", &mut settings.retry_first_ms, period, reading);
    set(&fields, "retryMax", &mut settings.retry_max_ms, period, reading);
    set(&fields, "callTimeout", &mut settings.call_timeout_ms, positive_period, reading);
    set(&fields, "poll", &mut settings.poll_ms, positive_period, reading);
    set(&fields, "nodeStale", &mut settings.node_stale_ms, positive_period, reading);
    set(&fields, "restartGrace", &mut settings.restart_grace_ms, period, reading);
    set(&fields, "whenLost", &mut settings.when_lost, when_lost, reading);
}

fn storage_settings(section: &Field<'_>, settings: &mut policy::Storage, reading: &mut Reading<'_>) {
    let known = ["attemptsMax", "retryFirst", "retryMax", "callTimeout", "mountDir"];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    set(&fields, "attemptsMax", &mut settings.attempts_max, Field::number, reading);
    set(&fields, "retryFirst", &mut settings.retry_first_ms, period, reading);
    set(&fields, "retryMax", &mut settings.retry_max_ms, period, reading);
    set(&fields, "callTimeout", &mut settings.call_timeout_ms, positive_period, reading);
    set(&fields, "mountDir", &mut settings.mount_dir, mount_dir, reading);
}

fn mount_dir(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Option<String>> {
    let text = field.line(reading)?;
    match check_mount_point(text) {
        Ok(()) => Some(Some(text.to_owned())),
        Err(error) => field.refuse(reading, Code::WrongType, format!("{:?}: {error}", cut(text, 40)), ""),
    }
}

fn harvest_settings(section: &Field<'_>, settings: &mut policy::Harvest, reading: &mut Reading<'_>) {
    let Some(fields) = Fields::of(section, &["mode", "sightingsMin", "grace"], reading) else { return };
    set(&fields, "mode", &mut settings.mode, harvest_mode, reading);
    set(&fields, "sightingsMin", &mut settings.sightings_min, Field::number, reading);
    set(&fields, "grace", &mut settings.grace_ms, period, reading);
}

fn health_settings(section: &Field<'_>, settings: &mut policy::Reconciliation, reading: &mut Reading<'_>) {
    let known = [
        "creationTimeout",
        "healthTimeout",
        "recheck",
        "nodeConditions",
        "bareReport",
        "criticalTaint",
        "undeployed",
        "askProvider",
        "replacementsMax",
        "zoneSilentMin",
        "allSilentMin",
        "outageAfter",
        "outageCheck",
        "overshootUp",
        "overshootDown",
        "drainTimeout",
        "drainSkipAfter",
        "drainOrder",
        "evictionRetry",
        "evictionsMax",
        "workloadEnd",
        "volumeDetach",
        "keepFailed",
        "keepFailedMax",
    ];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    set(&fields, "creationTimeout", &mut settings.creation_timeout_ms, positive_period, reading);
    set(&fields, "healthTimeout", &mut settings.health_timeout_ms, positive_period, reading);
    set(&fields, "recheck", &mut settings.health_recheck_ms, positive_period, reading);
    set(&fields, "nodeConditions", &mut settings.node_conditions, condition_names, reading);
    set(&fields, "bareReport", &mut settings.readings.bare_report, bare_report, reading);
    set(&fields, "criticalTaint", &mut settings.readings.critical_taint, critical_taint, reading);
    set(&fields, "undeployed", &mut settings.readings.undeployed, undeployed, reading);
    set(&fields, "askProvider", &mut settings.readings.ask_provider, ask_provider, reading);
    set(&fields, "replacementsMax", &mut settings.throttle.replacements_max, Field::number, reading);
    set(&fields, "zoneSilentMin", &mut settings.throttle.zone_silent_min, Field::number, reading);
    set(&fields, "allSilentMin", &mut settings.outage.all_silent_min, Field::number, reading);
    set(&fields, "outageAfter", &mut settings.outage.after_ms, period, reading);
    set(&fields, "outageCheck", &mut settings.outage.check_ms, positive_period, reading);
    set(&fields, "overshootUp", &mut settings.overshoot.up, Field::number, reading);
    set(&fields, "overshootDown", &mut settings.overshoot.down, Field::number, reading);
    set(&fields, "evictionRetry", &mut settings.drain.eviction_retry_ms, positive_period, reading);
    set(&fields, "evictionsMax", &mut settings.drain.evictions_max, Field::number, reading);
    set(&fields, "workloadEnd", &mut settings.drain.end_buffer_ms, positive_period, reading);
    set(&fields, "volumeDetach", &mut settings.drain.volume_detach_ms, period, reading);
    set(&fields, "keepFailed", &mut settings.keep.failed_ms, period, reading);
    set(&fields, "keepFailedMax", &mut settings.keep.most, Field::number, reading);
    set(&fields, "drainTimeout", &mut settings.drain.timeout_ms, period, reading);
    let orders = [("lowest-first", DrainOrder::LowestFirst), ("highest-first", DrainOrder::HighestFirst)];
    set(&fields, "drainOrder", &mut settings.drain.order, |field, reading| one_of(field, orders, reading), reading);
    set(&fields, "drainSkipAfter", &mut settings.drain.skip_after_ms, period, reading);
}

fn bare_report(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<ReportReading> {
    one_of(field, [("healthy", ReportReading::Healthy), ("unhealthy", ReportReading::Unhealthy)], reading)
}

fn critical_taint(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<TaintReading> {
    one_of(field, [("holds-all", TaintReading::HoldsAll), ("holds-joining", TaintReading::HoldsJoining)], reading)
}

fn undeployed(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<UndeployedReading> {
    let choices = [("everyone", UndeployedReading::Everyone), ("unlimited", UndeployedReading::Unlimited)];
    one_of(field, choices, reading)
}

fn ask_provider(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<AskReading> {
    let choices = [("never", AskReading::Never), ("first", AskReading::First), ("decides", AskReading::Decides)];
    one_of(field, choices, reading)
}

fn retry_settings(section: &Field<'_>, document: &mut policy::Document, reading: &mut Reading<'_>) {
    let known = ["by", "short", "medium", "long", "permanentMax", "judged", "giveUpBy", "again"];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    let periods = &mut document.reconciliation;
    set(&fields, "by", &mut document.retries.by, retry_by, reading);
    set(&fields, "permanentMax", &mut document.retries.permanent_max, Field::number, reading);
    set(&fields, "judged", &mut document.retries.judged, judged, reading);
    set(&fields, "giveUpBy", &mut document.retries.give_up_by, give_up_by, reading);
    set(&fields, "again", &mut document.retries.again_ms, period, reading);
    set(&fields, "short", &mut periods.retry_short_ms, positive_period, reading);
    set(&fields, "medium", &mut periods.retry_medium_ms, positive_period, reading);
    set(&fields, "long", &mut periods.retry_long_ms, positive_period, reading);
}

fn zone_settings(section: &Field<'_>, settings: &mut policy::Zones, reading: &mut Reading<'_>) {
    let Some(fields) = Fields::of(section, &["blame", "next", "lastRound", "whenNone"], reading) else { return };
    let blame = [("capacity", ZoneBlame::Capacity), ("any", ZoneBlame::Any)];
    set(&fields, "blame", &mut settings.blame, |field, reading| one_of(field, blame, reading), reading);
    let next = [("at-once", NextZone::AtOnce), ("after-wait", NextZone::AfterWait)];
    set(&fields, "next", &mut settings.next, |field, reading| one_of(field, next, reading), reading);
    let last = [("all", LastRound::All), ("one", LastRound::One)];
    set(&fields, "lastRound", &mut settings.last_round, |field, reading| one_of(field, last, reading), reading);
    let none = [("wait", NoZone::Wait), ("give-up", NoZone::GiveUp)];
    set(&fields, "whenNone", &mut settings.when_none, |field, reading| one_of(field, none, reading), reading);
}

fn retry_by(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<RetryBy> {
    one_of(field, [("backoff", RetryBy::Backoff), ("fault-code", RetryBy::FaultCode)], reading)
}

fn give_up_by(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<GiveUpBy> {
    one_of(field, [("attempts", GiveUpBy::Attempts), ("age", GiveUpBy::Age)], reading)
}

fn peer_rules(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<PeerRules> {
    let text = field.text(reading)?;
    let known = PeerRules::ALL.into_iter().find(|rules| rules.name() == text);
    if known.is_none() {
        let message = format!("expected `default`, `juju-2019`, `juju-2.9` or `juju-3.x`, found {:?}", cut(text, 40));
        return field.refuse(reading, Code::WrongType, message, "");
    }
    known
}

fn judged(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Judged> {
    one_of(field, [("each", Judged::Each), ("first", Judged::First)], reading)
}

/// The one that the field names.
fn one_of<T, const N: usize>(field: &Field<'_>, choices: [(&str, T); N], reading: &mut Reading<'_>) -> Option<T> {
    let text = field.text(reading)?;
    let names = choices.each_ref().map(|(name, _)| format!("`{name}`"));
    if let Some((_, choice)) = choices.into_iter().find(|(name, _)| *name == text) {
        return Some(choice);
    }
    let (last, others) = names.split_last()?;
    let message = format!("expected {} or {last}, found {:?}", others.join(", "), cut(text, 40));
    field.refuse(reading, Code::WrongType, message, "")
}

fn condition_names(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Vec<String>> {
    let items = field.items(limits::CONDITIONS_MAX, reading)?;
    items.iter().map(|item| item.line(reading).map(str::to_owned)).collect()
}

fn harvest_mode(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<HarvestMode> {
    let text = field.text(reading)?;
    match text.parse() {
        Ok(mode) => Some(mode),
        Err(_) => {
            let message = format!("expected `none`, `unknown`, `destroyed` or `all`, found {:?}", cut(text, 40));
            field.refuse(reading, Code::WrongType, message, "")
        }
    }
}

/// Overwrites a setting with what the field says, if it says something.
fn set<'n, T>(
    fields: &Fields<'n>,
    name: &str,
    setting: &mut T,
    read: impl FnOnce(&Field<'n>, &mut Reading<'_>) -> Option<T>,
    reading: &mut Reading<'_>,
) {
    if let Some(value) = fields.get(name).and_then(|field| read(&field, reading)) {
        *setting = value;
    }
}

fn when_lost(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<WhenLost> {
    one_of(field, [("replace", WhenLost::Replace), ("keep", WhenLost::Keep), ("ignore", WhenLost::Ignore)], reading)
}
