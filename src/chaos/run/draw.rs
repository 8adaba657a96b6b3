//! A bad day, drawn from a seed: a scenario with everything that may go wrong on it, and then a calm in which it has to settle.

use std::collections::BTreeMap;

use bailiwick_actors::vocab::Name;

use super::{CALM_MS, MINUTE_MS, RETRIES};
use crate::{
    manifest::Wish,
    providers::simulated::{Dice, Faults},
    simulation::{CrashKind, CrashLine, DiskSpace, EventLine, For, Happening, Scenario, ScenarioFile},
};

/// How long things go wrong for, at least, and beyond the last event of the scenario.
const BAD_MS: u64 = 30 * MINUTE_MS;
/// The most things of a kind that go wrong.
const FAULTS_MAX: u64 = 5;
/// Crashes come at one of the first points: a few dozen calls and appends.
const POINTS: u64 = 2_000;

/// The scenario on a bad day. Without `is_drawn` only its own faults happen; they end as well.
pub(super) fn bad_day(file: &ScenarioFile, scenario: &Scenario, seed: u64, is_drawn: bool) -> ScenarioFile {
    let mut day = ScenarioFile { seed, ..file.clone() };
    let over_ms = scenario.script.last().map_or(0, |planned| planned.at_ms) + BAD_MS;
    if is_drawn {
        Drawing { dice: Dice::named(seed, "a bad day"), over_ms, day: &mut day }.draw(scenario);
    }
    let at = |ms: u64| EventLine { at: period(ms), ..EventLine::default() };
    day.events.push(EventLine { calm: Some(true), disk: Some(DiskSpace::Free), ..at(over_ms) });
    let again = |round| EventLine { retry_failed: Some(true), ..at(over_ms + round * 10 * MINUTE_MS) };
    day.events.extend((1..=RETRIES).map(again));
    day.until = period(scenario.until_ms.max(over_ms + CALM_MS));
    // What is to come out of the scenario need not come out of such a day; that all is as declared does.
    day.expect = Default::default();
    day
}

/// `90000ms`
fn period(ms: u64) -> String {
    format!("{ms}ms")
}

struct Drawing<'d> {
    dice: Dice,
    /// When nothing goes wrong any more.
    over_ms: u64,
    day: &'d mut ScenarioFile,
}

impl Drawing<'_> {
    fn draw(&mut self, scenario: &Scenario) {
        for provider in &scenario.providers {
            if !self.day.faults.contains_key(provider.as_str()) {
                let faults = self.faults();
                self.day.faults.insert(provider.to_string(), faults);
            }
            for _ in 0..self.dice.below(3) {
                let outage = self.lasting(provider.as_str(), 10);
                self.event(|line| line.outage = Some(outage));
            }
        }
        let machines = machines(scenario);
        for _ in 0..self.dice.below(FAULTS_MAX + 1) {
            let Some(machine) = self.one_of(&machines) else { break };
            match self.dice.below(4) {
                0 => self.event(|line| line.kill = Some(machine)),
                1 => self.event(|line| line.vanish = Some(machine)),
                2 => self.event(|line| line.cling = Some(machine)),
                _ => {
                    let silence = self.lasting(&machine, 25);
                    self.event(|line| line.silence = Some(silence));
                }
            }
        }
        for _ in 0..self.dice.below(FAULTS_MAX + 1) {
            let kind = self.kind();
            match self.dice.below(5) {
                0 => self.event(|line| line.crash = Some(kind)),
                1 => self.event(|line| line.disk = Some(DiskSpace::Full)),
                2 => self.event(|line| line.disk = Some(DiskSpace::Free)),
                3 => {
                    let suspend = period(self.dice.below(20 * MINUTE_MS));
                    self.event(|line| line.suspend = Some(suspend));
                }
                _ => {
                    let hours = self.dice.below(72);
                    self.event(|line| line.jump = Some(format!("{hours}h")));
                }
            }
        }
        for _ in 0..self.dice.below(FAULTS_MAX + 1) {
            let (point, kind) = (1 + self.dice.below(POINTS), self.kind());
            self.day.crashes.push(CrashLine { point, kind });
        }
        self.day.crashes.sort_by_key(|line| line.point);
        self.day.crashes.dedup_by_key(|line| line.point);
    }

    fn event(&mut self, what: impl FnOnce(&mut EventLine)) {
        let mut line = EventLine { at: period(1_000 + self.dice.below(self.over_ms - 1_000)), ..EventLine::default() };
        what(&mut line);
        self.day.events.push(line);
    }

    fn kind(&mut self) -> CrashKind {
        if self.dice.below(2) == 0 { CrashKind::Kill } else { CrashKind::PowerCut }
    }

    fn lasting(&mut self, of: &str, minutes_max: u64) -> For {
        For { of: of.to_owned(), r#for: period(1_000 + self.dice.below(minutes_max * MINUTE_MS)) }
    }

    fn one_of(&mut self, names: &[String]) -> Option<String> {
        self.dice.choose(names).cloned()
    }

    /// Half of the days each fault does not happen at all.
    fn faults(&mut self) -> Faults {
        let mut often = |most: u64| {
            let per_mille = self.dice.below(most + 1);
            if self.dice.below(2) == 0 { 0 } else { u16::try_from(per_mille).unwrap_or(0) }
        };
        let (fail_per_mille, lost_answer_per_mille, hang_per_mille) = (often(300), often(200), often(30));
        let (unknown_lookup_per_mille, partial_list_per_mille) = (often(200), often(200));
        let (stale_list_per_mille, fail_list_per_mille) = (often(200), often(100));
        let (miscount_per_mille, break_off_per_mille) = (often(50), often(50));
        Faults {
            latency_ms: (1, 1 + self.dice.below(5_000)),
            fail_per_mille,
            lost_answer_per_mille,
            hang_per_mille,
            unknown_lookup_per_mille,
            partial_list_per_mille,
            stale_list_per_mille,
            fail_list_per_mille,
            miscount_per_mille,
            break_off_per_mille,
            ..Faults::default()
        }
    }
}

/// The machines that are declared at some moment, and the first ones of sets.
fn machines(scenario: &Scenario) -> Vec<String> {
    let applied = scenario.script.iter().filter_map(|planned| match &planned.what {
        Happening::Apply(wishes) => Some(wishes),
        _ => None,
    });
    let mut names: BTreeMap<String, ()> = BTreeMap::new();
    for wish in applied.flatten() {
        let numbered = |set: &Name, between: &str| (1..=3).map(|number| format!("{set}{between}-{number}")).collect();
        let told: Vec<String> = match wish {
            Wish::Machine { name, .. } => vec![name.to_string()],
            Wish::MachineSet { name, .. } => numbered(name, ""),
            Wish::MachineDeployment { name, .. } => numbered(name, "-1"),
            _ => Vec::new(),
        };
        names.extend(told.into_iter().map(|name| (name, ())));
    }
    names.into_keys().collect()
}
