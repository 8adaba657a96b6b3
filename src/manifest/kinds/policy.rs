//! `kind: Policy`.

use bailiwick_actors::policy::{self, WhenLost};

use crate::{
    manifest::{
        duration,
        fields::{Field, Fields, Reading},
        problem::Code,
    },
    text::cut,
};

pub(super) fn policy(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<policy::Document> {
    let fields = Fields::of(spec, &["machines", "storage"], reading)?;
    let mut document = policy::Document::default();
    if let Some(section) = fields.get("machines") {
        machine_settings(&section, &mut document.machines, reading);
    }
    if let Some(section) = fields.get("storage") {
        storage_settings(&section, &mut document.storage, reading);
    }
    Some(document)
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
    let known = ["attemptsMax", "retryFirst", "retryMax", "callTimeout"];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    set(&fields, "attemptsMax", &mut settings.attempts_max, Field::number, reading);
    set(&fields, "retryFirst", &mut settings.retry_first_ms, period, reading);
    set(&fields, "retryMax", &mut settings.retry_max_ms, period, reading);
    set(&fields, "callTimeout", &mut settings.call_timeout_ms, positive_period, reading);
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

fn period(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
    let text = field.text(reading)?;
    let fault = match duration::parse_ms(text) {
        Ok(ms) => return Some(ms),
        Err(fault) => fault,
    };
    let next = match fault {
        "has no unit" => format!("did you mean `{}s`?", cut(text, 20)),
        _ => "write a number with ms, s, m or h: 500ms, 10s, 1h30m".to_owned(),
    };
    field.refuse(reading, Code::BadDuration, format!("{:?} {fault}", cut(text, 40)), next)
}

fn positive_period(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
    match period(field, reading)? {
        0 => field.refuse(reading, Code::BadDuration, "has to be longer than nothing", "write at least 1ms"),
        ms => Some(ms),
    }
}

fn when_lost(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<WhenLost> {
    match field.text(reading)? {
        "replace" => Some(WhenLost::Replace),
        "keep" => Some(WhenLost::Keep),
        other => {
            let message = format!("expected `replace` or `keep`, found {:?}", cut(other, 40));
            field.refuse(reading, Code::WrongType, message, "")
        }
    }
}
