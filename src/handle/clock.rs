//! The way back to the clock, after it was ahead once.

use bailiwick_journal::{
    AppendError, Journal, JournalNote, NOTE_STREAM, Position, ReadError, Version, append_blocking,
};
use uuid::Uuid;

use super::Handle;
use crate::view::{ClockStep, Correction, time_of};

/// Why the node's time was not corrected.
#[derive(Debug, thiserror::Error)]
pub enum CorrectError {
    /// The two agree.
    #[error("the node's time matches the clock; nothing to correct")]
    Nothing,
    /// The clock is ahead: then the node's time is not what is wrong.
    #[error("{}", .0.text)]
    Behind(ClockStep),
    #[error("the correction was not recorded")]
    Append(#[from] AppendError),
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
}

impl Handle {
    /// Records that the journal's times are ahead of the host's clock, and since when. Returns once that is durable: from
    /// then on times are shown, and understood, by the clock. Recorded times, due times and waits stay as they are. The same
    /// id again gets the first answer.
    ///
    /// # Errors
    /// If the node's time is not ahead, or the journal fails.
    pub fn correct_clock(&self, id: Uuid) -> Result<Correction, CorrectError> {
        let journal = &*self.shared.journal;
        let notes = NOTE_STREAM.parse().expect("a valid name");
        loop {
            let (step, expected) = self.look(|fleet| {
                let step = ClockStep::between(journal, &fleet.calendar, fleet.time, self.clock());
                step.map(|step| (step, journal.version(&notes)))
            })??;
            let (note, time_ms) = match step {
                None => return self.recorded_correction(id)?.ok_or(CorrectError::Nothing),
                Some(step) if step.ahead_ms < 0 => return Err(CorrectError::Behind(step)),
                Some(step) => (correction(journal, &step)?, self.now().0),
            };
            let draft = note.draft("clock-corrected", id, &self.principal, expected, time_ms);
            match append_blocking(journal, vec![draft]) {
                Err(AppendError::Conflict { .. }) => (),
                Err(AppendError::Repeated { .. }) | Ok(_) => {
                    return self.recorded_correction(id)?.ok_or(CorrectError::Nothing);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What this command recorded; none if it never did.
    fn recorded_correction(&self, id: Uuid) -> Result<Option<Correction>, ReadError> {
        let journal = &*self.shared.journal;
        let notes = NOTE_STREAM.parse().expect("a valid name");
        for entry in journal.read_stream(&notes, Version(1)) {
            let entry = entry?;
            if entry.header.meta.command_id == id
                && let Some(Ok(JournalNote::ClockCorrected { since_ms, back_ms })) =
                    entry.events.first().map(JournalNote::decode)
            {
                return Ok(Some(Correction { entry: entry.header.position.0, since_ms, back_ms }));
            }
        }
        Ok(None)
    }
}

/// From the first entry on that is ahead, or from now on.
fn correction(journal: &dyn Journal, step: &ClockStep) -> Result<JournalNote, ReadError> {
    let since_ms = match step.since_entry {
        Some(entry) => time_of(journal, Position(entry))?,
        None => step.time_ms,
    };
    Ok(JournalNote::ClockCorrected { since_ms, back_ms: step.back_ms })
}
