//! What opening found and did, for people and for the opening's note.

use std::{fmt, time::Duration};

use uuid::Uuid;

use crate::{Head, WriterOpened};

/// What opening found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenReport {
    pub journal: Uuid,
    /// The journal was made just now.
    pub created: bool,
    /// Counts the writers, from 1.
    pub epoch: u64,
    /// The last writer had stopped in order. What was damaged since is told beside it.
    pub clean: bool,
    /// Where the log ended, before this opening's own note.
    pub head: Head,
    pub streams: usize,
    /// Blocks that the block store did not have yet, where it was opened with the journal: normal after a crash.
    pub caught_up_blocks: u64,
    /// Why the block store was built anew from the log.
    pub store_rebuilt: Option<String>,
    /// Why there is no block store: everything is read from the log.
    pub store_unavailable: Option<String>,
    /// Blocks of the log that were damaged and were taken from the block store.
    pub log_filled_blocks: u64,
    /// Where the damaged log was put aside, relative to the journal's folder.
    pub damaged_log: Option<String>,
    /// Bytes that were cut off behind the last block: a write that was never acknowledged.
    pub torn_cut: Option<u64>,
    /// The `FORMAT` file was missing or damaged and was written anew: head file and log say whose journal it is.
    pub format_rewritten: bool,
    /// The head file was missing or damaged and was written anew.
    pub head_rewritten: bool,
    /// The index was taken from a checkpoint; the inside of full segments is read behind the opening, and what the block store
    /// lacks is found and put there too.
    pub by_checkpoint: bool,
    /// Why there was a checkpoint, and everything was read all the same.
    pub checkpoint_ignored: Option<String>,
    pub duration: Duration,
}

impl OpenReport {
    /// Whether anything was damaged; catching up and cutting a torn write are not repairs.
    pub fn repaired(&self) -> bool {
        self.store_rebuilt.is_some() || self.damaged_log.is_some() || self.head_rewritten || self.format_rewritten
    }
}

/// What of it the journal records about itself.
impl From<&OpenReport> for WriterOpened {
    fn from(report: &OpenReport) -> Self {
        Self {
            epoch: report.epoch,
            clean: report.clean,
            caught_up_blocks: report.caught_up_blocks,
            store_rebuilt: report.store_rebuilt.is_some(),
            log_filled_blocks: report.log_filled_blocks,
            torn_cut: report.torn_cut.is_some(),
            head_rewritten: report.head_rewritten,
            format_rewritten: report.format_rewritten,
        }
    }
}

impl fmt::Display for OpenReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match (self.created, self.clean) {
            (true, _) => "new journal",
            (false, true) => "clean",
            (false, false) => "unclean stop",
        };
        write!(f, "{how}, epoch {}, {} entries in {} blocks", self.epoch, self.head.position, self.head.block)?;
        if self.by_checkpoint {
            f.write_str("; loaded from its index checkpoint")?;
        }
        if let Some(problem) = &self.checkpoint_ignored {
            write!(f, "; read in full, without its index checkpoint ({problem})")?;
        }
        if self.caught_up_blocks > 0 {
            write!(f, "; {} caught up in the store", blocks(self.caught_up_blocks))?;
        }
        if let Some(bytes) = self.torn_cut {
            write!(f, "; cut off {bytes} bytes of an unacknowledged write")?;
        }
        if let Some(reason) = &self.store_rebuilt {
            write!(f, "; REPAIRED: block store rebuilt from the log ({reason})")?;
        }
        if let Some(aside) = &self.damaged_log {
            let filled = blocks(self.log_filled_blocks);
            write!(f, "; REPAIRED: log rewritten, {filled} restored from the store (old log: {aside})")?;
        }
        if self.format_rewritten {
            f.write_str("; REPAIRED: FORMAT file rewritten")?;
        }
        if self.head_rewritten {
            f.write_str("; REPAIRED: head file rewritten")?;
        }
        match &self.store_unavailable {
            Some(problem) => write!(f, "; DEGRADED: no block store ({problem})"),
            None => Ok(()),
        }
    }
}

/// "1 block", "2 blocks".
fn blocks(number: u64) -> String {
    if number == 1 { "1 block".to_owned() } else { format!("{number} blocks") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    #[test]
    fn a_report_says_what_was_found_and_done_and_nothing_else() {
        let clean = OpenReport {
            journal: Uuid::nil(),
            created: false,
            epoch: 3,
            clean: true,
            head: Head { position: Position(7), time_ms: 1, block: 5, hash: [0; 32] },
            streams: 2,
            caught_up_blocks: 0,
            store_rebuilt: None,
            store_unavailable: None,
            log_filled_blocks: 0,
            damaged_log: None,
            torn_cut: None,
            format_rewritten: false,
            head_rewritten: false,
            by_checkpoint: false,
            checkpoint_ignored: None,
            duration: Duration::ZERO,
        };
        assert_eq!(clean.to_string(), "clean, epoch 3, 7 entries in 5 blocks");
        let all = OpenReport {
            clean: false,
            caught_up_blocks: 1,
            store_rebuilt: Some("a hole".into()),
            store_unavailable: Some("no room".into()),
            log_filled_blocks: 2,
            damaged_log: Some("log.damaged-1".into()),
            torn_cut: Some(9),
            format_rewritten: true,
            head_rewritten: true,
            by_checkpoint: true,
            checkpoint_ignored: Some("it is damaged".into()),
            ..clean
        };
        let told = [
            "unclean stop, epoch 3, 7 entries in 5 blocks",
            "loaded from its index checkpoint",
            "read in full, without its index checkpoint (it is damaged)",
            "1 block caught up in the store",
            "cut off 9 bytes of an unacknowledged write",
            "REPAIRED: block store rebuilt from the log (a hole)",
            "REPAIRED: log rewritten, 2 blocks restored from the store (old log: log.damaged-1)",
            "REPAIRED: FORMAT file rewritten",
            "REPAIRED: head file rewritten",
            "DEGRADED: no block store (no room)",
        ];
        assert_eq!(all.to_string(), told.join("; "));
    }
}
