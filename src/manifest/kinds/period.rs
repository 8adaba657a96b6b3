//! Periods of time, as people write them.

use crate::{
    manifest::{
        duration,
        fields::{Field, Reading},
        problem::Code,
    },
    text::cut,
};

/// In milliseconds.
pub(super) fn period(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
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

/// As [`period`], and not nothing.
pub(super) fn positive_period(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
    match period(field, reading)? {
        0 => field.refuse(reading, Code::BadDuration, "must be longer than 0", "write at least 1ms"),
        ms => Some(ms),
    }
}
