//! The windows in which a rollout may replace machines: `windows` of a deployment, and of a policy's `rollouts`.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::{BadWindows, Day, Window, Windows};

use super::period::period;
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        hint::nearest,
        problem::Code,
        tree::Body,
    },
    text::cut,
};

/// `always`, or a list of windows.
pub(super) fn windows(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Windows> {
    if let Body::Text { text, .. } = &field.node.body {
        if &**text == "always" {
            return Some(Windows::default());
        }
        let message = format!("expected `always` or a list of windows, found {:?}", cut(text, 40));
        return field.refuse(reading, Code::WrongType, message, EXAMPLE);
    }
    let items = field.items(Windows::MOST, reading)?;
    if items.is_empty() {
        return field.refuse(reading, Code::Conflict, "no window: it never opens", "write `always`, or remove it");
    }
    // All problems are told at once.
    let read: Vec<Option<Window>> = items.iter().map(|item| window(item, reading)).collect();
    let windows = Windows(read.into_iter().collect::<Option<_>>()?);
    let Err(problem) = windows.check() else { return Some(windows) };
    let (place, next) = match problem {
        BadWindows::NoDay(place) | BadWindows::NoTimeOfDay(place) | BadWindows::TooShort(place) => (place, EXAMPLE),
        BadWindows::OverlapsItself(place) => (place, "shorten `for`, or name fewer days"),
        BadWindows::Overlap(_, place) => (place, "make one window of both, or shorten one of them"),
        BadWindows::TooMany { .. } => (0, "name fewer"),
    };
    items.get(place)?.refuse(reading, Code::Conflict, problem.to_string(), next)
}

const EXAMPLE: &str = "write `windows: [{days: [sat, sun], from: \"22:00\", for: 4h}]`";

fn window(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Window> {
    let fields = Fields::of(field, &["days", "from", "for"], reading)?;
    let days = match fields.get("days") {
        None => Some(Day::ALL.into()),
        Some(field) => days(&field, reading),
    };
    let from = fields.require("from", "\"22:00\"", reading).and_then(|field| time_of_day(&field, reading));
    let length = fields.require("for", "4h", reading).and_then(|field| length(&field, reading));
    Some(Window { days: days?, from_minute: from?, for_ms: length? })
}

fn days(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeSet<Day>> {
    let items = field.items(Day::ALL.len(), reading)?;
    if items.is_empty() {
        let next = "name days such as [sat, sun], or remove it for every day";
        return field.refuse(reading, Code::Conflict, "no day: the window never opens", next);
    }
    let mut days = BTreeSet::new();
    for item in items {
        let day = day(&item, reading)?;
        if !days.insert(day) {
            return item.refuse(reading, Code::Duplicate, format!("{day} is already named"), "name it once");
        }
    }
    Some(days)
}

fn day(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Day> {
    let text = field.text(reading)?;
    let known = || Day::ALL.into_iter().map(Day::as_str);
    Day::ALL.into_iter().find(|day| day.as_str() == text).or_else(|| {
        let lower = text.to_ascii_lowercase();
        let next = match known().find(|day| lower.starts_with(day)).or_else(|| nearest(text, known())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("use {}", known().collect::<Vec<_>>().join(", ")),
        };
        field.refuse(reading, Code::WrongType, format!("unknown day {:?}", cut(text, 40)), next)
    })
}

/// `22:00`, in minutes after midnight.
fn time_of_day(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u16> {
    let text = field.text(reading)?;
    let two = |part: &str, most: u16| {
        let is_whole = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u16>().ok().filter(|number| is_whole && *number <= most)
    };
    let read = text.split_once(':').and_then(|(hour, minute)| Some(two(hour, 23)? * 60 + two(minute, 59)?));
    read.or_else(|| {
        let message = format!("{:?} is not a time of day", cut(text, 40));
        field.refuse(reading, Code::WrongType, message, "write hours and minutes in UTC, from 00:00 to 23:59")
    })
}

fn length(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
    match period(field, reading)? {
        0 => field.refuse(reading, Code::BadDuration, "open for 0: the window never opens", "write at least 1m"),
        ms if ms < Windows::SHORTEST_MS => {
            field.refuse(reading, Code::BadDuration, "the window is open for less than a minute", "write at least 1m")
        }
        ms => Some(ms),
    }
}
