//! How far the node's time is from the clock of its host.

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Filter, Journal, JournalNote, NOTE_STREAM, Position, ReadError};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Calendar, Correction, Fleet, position_at};
use crate::words::period;

/// Less than this is no difference, in milliseconds: a time service draws clocks this far.
pub const TOLERANCE_MS: u64 = 15_000;

/// The node's time and the host's clock, which differ: one of them was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockStep {
    /// The node's time.
    pub time_ms: u64,
    /// What the clock shows. Like all times of an answer it becomes a time of day by the [`Calendar`].
    pub clock_ms: u64,
    /// How far what is recorded now is ahead of the clock, corrected or not, in milliseconds.
    #[serde(skip)]
    pub back_ms: u64,
    /// How far the node's time is ahead of the clock; negative if it is behind.
    pub ahead_ms: i64,
    /// The first entry that was written at a time that the clock has not reached; none if there is none.
    pub since_entry: Option<u64>,
    /// The same in words, with what helps.
    pub text: String,
}

impl ClockStep {
    /// The difference, if there is one.
    ///
    /// # Errors
    /// If a header of the journal cannot be read.
    pub fn between(
        journal: &dyn Journal,
        calendar: &Calendar,
        recorded: Timestamp,
        clock: Timestamp,
    ) -> Result<Option<Self>, ReadError> {
        let time = calendar.shown(recorded);
        if !is_step(time, clock) {
            return Ok(None);
        }
        let behind = position_at(journal, calendar.recorded(clock))?;
        let since_entry = (behind < journal.head().position).then(|| behind.next().0);
        let (time_ms, clock_ms, back_ms) = (recorded.0, calendar.recorded(clock).0, recorded.since(clock));
        let ahead_ms = i64::try_from(i128::from(time.0) - i128::from(clock.0)).unwrap_or(i64::MAX);
        let by = period(ahead_ms.unsigned_abs());
        let helps = "if the clock is right, run `bailiwick clock correct`";
        let text = match (ahead_ms > 0, since_entry) {
            (true, Some(entry)) => {
                format!(
                    "the node's time has been {by} ahead of this host's clock since entry {entry} or earlier; {helps}"
                )
            }
            (true, None) => {
                format!("the node's time is {by} ahead of this host's clock, which was set back; {helps}")
            }
            (false, _) => format!("this host's clock was set {by} ahead; the node's time follows it at the next start"),
        };
        Ok(Some(Self { time_ms, clock_ms, back_ms, ahead_ms, since_entry, text }))
    }
}

/// The node's time, the host's clock, and what was recorded about how they differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockReport {
    /// The node's time as it is shown.
    pub time: String,
    /// The node's time as it is recorded, in milliseconds since 1970.
    #[serde(rename = "recorded")]
    pub recorded_ms: u64,
    /// What the host's clock shows; none where nobody looked.
    pub clock: Option<String>,
    /// How they differ; none if they do not.
    pub step: Option<ClockStep>,
    pub corrections: Vec<Correction>,
}

impl ClockReport {
    /// How it is.
    ///
    /// # Errors
    /// As [`ClockStep::between`].
    pub fn of(journal: &dyn Journal, fleet: &Fleet) -> Result<Self, ReadError> {
        let step = match fleet.clock {
            Some(clock) => ClockStep::between(journal, &fleet.calendar, fleet.time, clock)?,
            None => None,
        };
        Ok(Self {
            // Written as recorded here, and shown by the calendar as all times of an answer are.
            time: fleet.time.to_string(),
            recorded_ms: fleet.time.0,
            clock: fleet.clock.map(|clock| fleet.calendar.recorded(clock).to_string()),
            step,
            corrections: fleet.calendar.corrections().to_vec(),
        })
    }
}

/// Whether the two differ by more than clocks are drawn.
pub fn is_step(time: Timestamp, clock: Timestamp) -> bool {
    time.0.abs_diff(clock.0) > TOLERANCE_MS
}

/// A moment of the host's clock, as the node's time has it while the two differ.
pub fn on_node_time(moment: Timestamp, time: Timestamp, clock: Timestamp) -> Timestamp {
    if !is_step(time, clock) {
        return moment;
    }
    let ahead_ms = i128::from(time.0) - i128::from(clock.0);
    Timestamp(u64::try_from(i128::from(moment.0).saturating_add(ahead_ms)).unwrap_or(0))
}

/// A start so long after the last entry is more often a wrong clock than a long rest: 90 days.
const GAP_MS: u64 = 90 * 86_400_000;

/// For so long after such a start it is told.
const GAP_TOLD_MS: u64 = 86_400_000;

/// That the clock at the last entry, which a start has just written, was far ahead of the entry before it.
///
/// # Errors
/// As [`ClockStep::between`].
pub fn gap(journal: &dyn Journal) -> Result<Option<String>, ReadError> {
    gap_before(journal, journal.head().position, Timestamp(journal.head().time_ms))
}

/// The same of the last start, for a day, and since when; none if the clock was corrected since.
///
/// # Errors
/// As [`ClockStep::between`].
pub fn gap_at_start(journal: &dyn Journal, now: Timestamp) -> Result<Option<(String, Timestamp)>, ReadError> {
    let notes = Filter { streams: [NOTE_STREAM.parse().expect("a valid name")].into(), ..Filter::all() };
    let Some(last) = journal.read_back(Position(1), journal.head().position, &notes).next() else { return Ok(None) };
    let last = last?;
    let began = Timestamp(last.header.meta.time_ms);
    let is_start =
        last.events.first().is_some_and(|note| matches!(JournalNote::decode(note), Ok(JournalNote::WriterOpened(_))));
    if !is_start || began.after(GAP_TOLD_MS) < now {
        return Ok(None);
    }
    Ok(gap_before(journal, last.header.position, began)?.map(|text| (text, began)))
}

fn gap_before(journal: &dyn Journal, start: Position, began: Timestamp) -> Result<Option<String>, ReadError> {
    let Some(before) = start.0.checked_sub(1).filter(|before| *before > 0).map(Position) else { return Ok(None) };
    let Some(header) = journal.read_headers(before, before, &Filter::all()).next() else { return Ok(None) };
    let before_ms = header?.meta.time_ms;
    let gap_ms = began.0.saturating_sub(before_ms);
    Ok((gap_ms > GAP_MS).then(|| {
        let (by, last) = (period(gap_ms), Timestamp(before_ms));
        format!(
            "the last entry before this start is {by} old ({last}); if this host's clock is wrong, stop the node now and \
             correct the clock: the node's time never goes back"
        )
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bailiwick_actors::testing::Desk;
    use bailiwick_journal::{LocalJournal, disk::SimulatedDisk};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_difference_is_told_with_its_size_and_the_entry_from_which_on_the_clock_was_ahead() {
        let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 1_000).expect("new");
        let journal: Arc<dyn Journal> = Arc::new(journal);
        let mut desk = Desk::new(journal.clone());
        desk.declare_machine("web");
        desk.now = desk.now.after(60_000);
        desk.declare_machine("db");
        let head = journal.head();
        let time = Timestamp(head.time_ms);
        assert_eq!(
            ClockStep::between(&*journal, &Calendar::default(), time, Timestamp(time.0 - TOLERANCE_MS)).unwrap(),
            None
        );
        // The clock has not reached what was written after the first entries.
        let step = ClockStep::between(&*journal, &Calendar::default(), time.after(10_800_000), Timestamp(2_000))
            .unwrap()
            .expect("a step");
        assert!(step.ahead_ms > 10_800_000, "{step:?}");
        let since = step.since_entry.expect("entries are ahead");
        let at = |position: u64| {
            let position = Position(position);
            journal.read_headers(position, position, &Filter::all()).next().unwrap().unwrap().meta.time_ms
        };
        assert!(at(since) > 2_000 && at(since - 1) <= 2_000, "{step:?}");
        assert!(
            step.text.starts_with("the node's time has been 3h00m ") && step.text.contains(&format!("entry {since}")),
            "{step:?}"
        );
        let set_ahead =
            ClockStep::between(&*journal, &Calendar::default(), time, time.after(7_200_000)).unwrap().expect("a step");
        assert_eq!((set_ahead.ahead_ms, set_ahead.since_entry), (-7_200_000, None));
        assert!(set_ahead.text.contains("set 2h00m ahead"), "{set_ahead:?}");
    }

    #[test]
    fn a_moment_of_the_clock_is_moved_by_the_difference_and_by_nothing_less() {
        let (time, clock) = (Timestamp(50_000_000), Timestamp(10_000_000));
        assert_eq!(on_node_time(Timestamp(11_000_000), time, clock), Timestamp(51_000_000));
        assert_eq!(on_node_time(Timestamp(11_000_000), clock.after(1_000), clock), Timestamp(11_000_000));
        assert_eq!(on_node_time(Timestamp(1), clock, time), Timestamp(0));
    }
}
