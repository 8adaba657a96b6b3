//! The prefixes of a journal: all of it up to the end of some block, on a disk of its own.

use std::{fmt::Write as _, io, sync::Arc};

use bailiwick_journal::{ExportError, ImportError, Position, ReadOnlyJournal, disk::SimulatedDisk, import_on};
use serde_json::{Value, json};

/// A journal, ready to be cut at the end of each of its blocks: what a crash leaves is never less than a whole block.
#[derive(Clone, Debug)]
pub struct Prefixes {
    /// The exported journal: the line that names it, and the lines of each block.
    first_line: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    lines: String,
    last: Position,
    hash: String,
}

/// Why a journal could not be cut.
#[derive(Debug, thiserror::Error)]
pub enum PrefixesError {
    #[error("the journal cannot be read")]
    Export(#[from] ExportError),
    #[error("the lines of the journal are invalid: {0}")]
    Malformed(&'static str),
    #[error("a prefix of the journal is not a valid journal")]
    Import(#[from] ImportError),
}

impl Prefixes {
    /// Reads a journal.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(journal: &ReadOnlyJournal) -> Result<Self, PrefixesError> {
        let mut text = Vec::new();
        journal.export(&mut text)?;
        let text = String::from_utf8(text).map_err(|_| PrefixesError::Malformed("not UTF-8"))?;
        let mut lines = text.lines();
        let first_line = lines.next().ok_or(PrefixesError::Malformed("it is empty"))?.to_owned();
        let mut blocks: Vec<Block> = Vec::new();
        for line in lines {
            // Only the beginning of a block names one; the last line is written anew for each prefix.
            if line.starts_with(r#"{"block":"#) {
                blocks.push(Block::begun_by(line)?);
            } else if !line.starts_with(r#"{"end":"#) {
                let block = blocks.last_mut().ok_or(PrefixesError::Malformed("an entry before every block"))?;
                block.add(line);
            }
        }
        Ok(Self { first_line, blocks })
    }

    /// The last position of each prefix, in order.
    pub fn ends(&self) -> Vec<Position> {
        self.blocks.iter().map(|block| block.last).collect()
    }

    /// Everything up to this position, which has to be the end of a prefix, in the lines of an export.
    ///
    /// # Errors
    /// If no block ends there.
    pub fn export(&self, to: Position) -> Result<String, PrefixesError> {
        let kept = self.blocks.partition_point(|block| block.last <= to);
        let last = kept.checked_sub(1).map(|last| &self.blocks[last]);
        let last = last.filter(|block| block.last == to).ok_or(PrefixesError::Malformed("no block ends there"))?;
        let mut text = format!("{}\n", self.first_line);
        for block in &self.blocks[..kept] {
            text.push_str(&block.lines);
        }
        let end = json!({ "end": { "blocks": kept, "entries": to.0, "hash": last.hash } });
        writeln!(text, "{end}").expect("a string takes everything");
        Ok(text)
    }

    /// A disk with everything up to this position on it, which has to be the end of a prefix.
    ///
    /// # Errors
    /// If it cannot be written there.
    pub fn disk(&self, to: Position) -> Result<SimulatedDisk, PrefixesError> {
        let disk = SimulatedDisk::new();
        import_on(&mut io::Cursor::new(self.export(to)?), Arc::new(disk.clone()))?;
        Ok(disk)
    }
}

impl Block {
    fn begun_by(line: &str) -> Result<Self, PrefixesError> {
        let value: Value = serde_json::from_str(line).map_err(|_| PrefixesError::Malformed("a line is not JSON"))?;
        let (Some(first), Some(count), Some(hash)) =
            (value["first"].as_u64(), value["count"].as_u64(), value["hash"].as_str())
        else {
            return Err(PrefixesError::Malformed("a block does not say what is in it"));
        };
        let last = Position((first + count).saturating_sub(1));
        Ok(Self { lines: format!("{line}\n"), last, hash: hash.to_owned() })
    }

    fn add(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }
}
