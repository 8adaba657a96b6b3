//! One thing that is done to a journal's files, and what can be expected of the journal then.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    dice::Dice,
    runner::{copy, files},
    stores::{self, Store},
};

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Log,
    Sled,
    Head,
    Format,
    Snapshot,
    Lock,
}

/// What was done, and what can be expected of the journal then.
pub struct Done {
    pub what: String,
    /// Each thing that is not as it was: what it is, and its name as it stands in a report.
    pub touched: Vec<(Part, String)>,
    /// Nothing that was acknowledged is gone from both log and block store.
    pub recoverable: bool,
}

impl Done {
    pub fn touches(&self, part: Part) -> bool {
        self.touched.iter().any(|touched| touched.0 == part)
    }
}

pub fn put_back(dir: &Path, yesterday: &Path, part: &str) -> std::io::Result<()> {
    let (from, to) = (yesterday.join(part), dir.join(part));
    if from.is_dir() {
        fs::remove_dir_all(&to)?;
        copy(&from, &to)
    } else {
        fs::copy(&from, &to).map(drop)
    }
}

fn part_of(name: &str) -> Part {
    match name.split('/').next() {
        Some("log") => Part::Log,
        Some("sled") => Part::Sled,
        Some("head") => Part::Head,
        Some("FORMAT") => Part::Format,
        Some("lock") => Part::Lock,
        _ => Part::Snapshot,
    }
}

/// Does one thing to one file or folder.
pub fn damage(dir: &Path, store: &Store, foreign: &Path, dice: &mut Dice) -> std::io::Result<Done> {
    let part = match dice.below(20) {
        0..=8 => Part::Log,
        9..=14 => Part::Sled,
        15..=17 => Part::Head,
        18 if dice.one_in(2) => Part::Format,
        18 => Part::Lock,
        _ => Part::Snapshot,
    };
    let name_of = |file: &Path| file.strip_prefix(dir).unwrap_or(file).to_string_lossy().into_owned();
    if dice.one_in(8) && matches!(part, Part::Log | Part::Sled | Part::Head) {
        let name = match part {
            Part::Log => "log",
            Part::Sled => "sled",
            _ => "head",
        };
        put_back(dir, &store.yesterday, name)?;
        let recoverable = part != Part::Log || store.stored_block == store.tip_block;
        return Ok(Done { what: format!("{name} from yesterday"), touched: vec![(part, name.into())], recoverable });
    }
    let all = files(dir);
    let victims: Vec<&PathBuf> = all.iter().filter(|file| part_of(&name_of(file)) == part).collect();
    let victim = dice.pick(&victims).as_path();
    let name = name_of(victim);
    let mut touched = vec![victim];
    let newest: Vec<Option<u64>> = all.iter().map(|file| stores::newest_block(file)).collect();
    let kind = dice.below(8);
    let mut foreigner = false;
    let what = match kind {
        0..=5 => {
            let mut bytes = fs::read(victim)?;
            let (length, written) = (bytes.len(), fs::metadata(victim)?.modified()?);
            let story = change(&mut bytes, kind, dice);
            let by_itself = length == bytes.len() && dice.one_in(2);
            fs::write(victim, bytes)?;
            if by_itself {
                // A medium that loses bits changes no times.
                fs::File::options().write(true).open(victim)?.set_modified(written)?;
            }
            if by_itself { format!("{story}, by itself") } else { story }
        }
        6 if dice.one_in(2) => {
            let other = dice.pick(&all);
            swap(victim, other)?;
            touched.push(other);
            format!("swapped with {}", name_of(other))
        }
        6 if foreign.join(&name).exists() => {
            fs::copy(foreign.join(&name), victim)?;
            foreigner = true;
            "that of another journal".to_owned()
        }
        _ => {
            fs::remove_file(victim)?;
            "deleted".to_owned()
        }
    };
    let touched: Vec<(Part, String)> =
        touched.into_iter().map(|file| (part_of(&name_of(file)), name_of(file))).collect();
    let has = |part| touched.iter().any(|touched| touched.0 == part);
    // Of a log file that was hit, the block store has to have all blocks.
    let stored = all.iter().zip(&newest).all(|(file, newest)| {
        let hit = touched.iter().any(|touched| touched.1 == name_of(file) && touched.0 == Part::Log);
        !hit || newest.is_none_or(|newest| newest <= store.stored_block)
    });
    // A damaged end is only cut where the head file says how far the log had reached.
    let vouched = !(store.torn && has(Part::Head));
    // Head file and log say together whose journal it is, unless FORMAT says that it is another's.
    let known = !has(Part::Format) || !(foreigner || has(Part::Head) || has(Part::Log));
    let recoverable = known && vouched && (!has(Part::Log) || stored && !has(Part::Sled) && !has(Part::Head));
    Ok(Done { what: format!("{name} {what}"), touched, recoverable })
}

fn swap(one: &Path, other: &Path) -> std::io::Result<()> {
    let (first, second) = (fs::read(one)?, fs::read(other)?);
    fs::write(one, second)?;
    fs::write(other, first)
}

/// Damages bytes; says how.
fn change(bytes: &mut Vec<u8>, kind: u64, dice: &mut Dice) -> String {
    // Files are filled ahead with zeros: half of the time it is what was written that is hit.
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let length = if dice.one_in(2) { written } else { bytes.len() };
    let at = dice.index(length);
    match kind {
        0 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        1 | 2 => {
            let bit = dice.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            format!("bit {bit} of byte {at} flipped")
        }
        3 => {
            let page = at / 4096 * 4096;
            let end = bytes.len().min(page + 4096);
            bytes[page.min(end)..end].fill(0);
            format!("page at {page} zeroed")
        }
        4 => {
            let keep = written.saturating_sub(1 + dice.index(20_000));
            bytes.truncate(keep);
            format!("tail cut at {keep} of {written}")
        }
        _ => {
            let from = written.saturating_sub(1 + dice.index(15 * 4096)) / 4096 * 4096;
            bytes[from..].fill(0);
            format!("last pages from {from} zeroed")
        }
    }
}
