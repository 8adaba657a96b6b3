//! From a run that fails to the smallest one that fails in the same way.

use std::path::Path;

use super::{Run, Verdict, run_once};
use crate::{
    providers::simulated::Faults,
    simulation::{DiskSpace, EventLine, ScenarioError, ScenarioFile},
};

/// What was left.
#[derive(Clone, Debug)]
pub struct Shrunk {
    pub file: ScenarioFile,
    pub run: Run,
    /// How many runs it took.
    pub runs: u64,
}

/// A part of a scenario of which some may be left out.
type Part = (fn(&ScenarioFile) -> usize, fn(&ScenarioFile, &[bool]) -> ScenarioFile);

/// What is left out: first what happens, which is most; then what is declared; then what a provider does wrong.
const PARTS: [Part; 4] = [
    (|file| file.events.iter().filter(|line| is_bad(line)).count(), without_events),
    (|file| file.crashes.len(), |file, kept| ScenarioFile { crashes: only(&file.crashes, kept), ..file.clone() }),
    (
        |file| file.documents().len(),
        |file, kept| ScenarioFile {
            manifest: Some(only(&file.documents(), kept).join("---\n")).filter(|text| !text.is_empty()),
            ..file.clone()
        },
    ),
    (|file| file.faults.len() * FAULTS.len(), without_faults),
];

/// Leaves out whatever can be left out while the verdict stays the same in kind. `follow` is called after each run with how
/// many there were, and answers whether to go on; what was left by then is the answer.
///
/// # Errors
/// If the scenario is none.
pub fn shrink(file: &ScenarioFile, path: &Path, follow: &dyn Fn(u64) -> bool) -> Result<Shrunk, ScenarioError> {
    let run = run_once(file, path)?;
    let mut shrinking = Shrinking { path, follow, best: file.clone(), run, runs: 1, is_over: !follow(1) };
    loop {
        let before = shrinking.best.clone();
        PARTS.iter().for_each(|part| shrinking.part(part));
        if shrinking.is_over || shrinking.best == before {
            let Shrinking { best, run, runs, .. } = shrinking;
            return Ok(Shrunk { file: best, run, runs });
        }
    }
}

struct Shrinking<'s> {
    path: &'s Path,
    follow: &'s dyn Fn(u64) -> bool,
    best: ScenarioFile,
    run: Run,
    runs: u64,
    is_over: bool,
}

impl Shrinking<'_> {
    /// Leaves out as much of a part as can be: halves first, then quarters, down to single ones.
    fn part(&mut self, (count, without): &Part) {
        let mut size = count(&self.best).div_ceil(2);
        while size > 0 && !self.is_over {
            let mut from = 0;
            while from < count(&self.best) && !self.is_over {
                let kept: Vec<bool> = (0..count(&self.best)).map(|at| at < from || from + size <= at).collect();
                let candidate = without(&self.best, &kept);
                // What was left out moves the others up.
                from += if self.fails_as_before(candidate) { 0 } else { size };
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    fn fails_as_before(&mut self, candidate: ScenarioFile) -> bool {
        if candidate == self.best {
            return false;
        }
        // What names something that was left out is no scenario any more.
        let Ok(run) = run_once(&candidate, self.path) else { return false };
        self.runs += 1;
        self.is_over = !(self.follow)(self.runs);
        if !is_of(&run.verdict, &self.run.verdict) {
            return false;
        }
        (self.best, self.run) = (candidate, run);
        true
    }
}

/// Whether it fails as that one did: nothing is stuck that was not stuck there, and one of the same things is violated.
fn is_of(verdict: &Verdict, earlier: &Verdict) -> bool {
    let what = |line: &String| line.split(':').next().unwrap_or_default().to_owned();
    match (verdict, earlier) {
        (Verdict::Stuck { entities }, Verdict::Stuck { entities: earlier }) => {
            entities.iter().all(|entity| earlier.contains(entity))
        }
        (Verdict::Violated { wrong }, Verdict::Violated { wrong: earlier }) => {
            wrong.iter().any(|line| earlier.iter().any(|earlier| what(earlier) == what(line)))
        }
        (verdict, earlier) => verdict.as_str() == earlier.as_str(),
    }
}

/// Whether a line makes something go wrong, or asks for something. What ends the bad day stays: without it nothing has to
/// settle.
fn is_bad(line: &EventLine) -> bool {
    line.calm.is_none() && line.retry_failed.is_none() && line.disk != Some(DiskSpace::Free)
}

fn without_events(file: &ScenarioFile, kept: &[bool]) -> ScenarioFile {
    let mut kept = kept.iter();
    let events = file.events.iter().filter(|line| !is_bad(line) || kept.next().copied().unwrap_or(true));
    ScenarioFile { events: events.cloned().collect(), ..file.clone() }
}

fn only<T: Clone>(all: &[T], kept: &[bool]) -> Vec<T> {
    all.iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| item.clone()).collect()
}

/// What a provider may do wrong, one by one.
const FAULTS: [fn(&mut Faults, Faults); 10] = [
    |faults, usual| faults.latency_ms = usual.latency_ms,
    |faults, usual| faults.fail_per_mille = usual.fail_per_mille,
    |faults, usual| faults.lost_answer_per_mille = usual.lost_answer_per_mille,
    |faults, usual| faults.hang_per_mille = usual.hang_per_mille,
    |faults, usual| faults.unknown_lookup_per_mille = usual.unknown_lookup_per_mille,
    |faults, usual| faults.partial_list_per_mille = usual.partial_list_per_mille,
    |faults, usual| faults.stale_list_per_mille = usual.stale_list_per_mille,
    |faults, usual| faults.fail_list_per_mille = usual.fail_list_per_mille,
    |faults, usual| faults.miscount_per_mille = usual.miscount_per_mille,
    |faults, usual| faults.break_off_per_mille = usual.break_off_per_mille,
];

fn without_faults(file: &ScenarioFile, kept: &[bool]) -> ScenarioFile {
    let mut file = file.clone();
    for (faults, kept) in file.faults.values_mut().zip(kept.chunks(FAULTS.len())) {
        let left_out = FAULTS.iter().zip(kept).filter(|(_, kept)| !**kept);
        left_out.for_each(|(leave_out, _)| leave_out(faults, Faults::default()));
    }
    file
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What a provider does: how many things there may be, and what it tells. Nothing goes wrong by that.
    const KEPT: [&str; 5] = ["failCodes", "instancesMax", "volumesMax", "tellsProgress", "callsPerMinuteMax"];

    #[test]
    fn every_fault_of_a_provider_can_be_left_out() {
        // given a provider that does everything wrong
        let usual = serde_json::to_value(Faults::default()).expect("plain data");
        let Value::Object(fields) = &usual else { panic!("{usual}") };
        let worst = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::Number(_) => json!(500),
                Value::Array(_) if name == "latencyMs" => json!([1, 2]),
                value => value.clone(),
            };
            (name.clone(), value)
        };
        let worst: serde_json::Map<String, Value> = fields.iter().map(worst).collect();
        let mut faults: Faults = serde_json::from_value(Value::Object(worst.clone())).expect("faults");
        let changed = worst.iter().filter(|(name, value)| fields[*name] != **value).count();
        assert_eq!(changed + KEPT.len(), fields.len());
        // when each one is left out
        FAULTS.iter().for_each(|leave_out| leave_out(&mut faults, Faults::default()));
        // then it does nothing wrong
        assert_eq!(faults, Faults::default());
        assert_eq!(changed, FAULTS.len());
    }
}
