//! What came out of a simulation.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::StreamId;

use serde::Serialize;

use super::{Awaited, StoryLine};

/// What came out of a simulation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub seed: u64,
    /// One line per decision, in order.
    #[serde(skip)]
    pub story: Vec<StoryLine>,
    /// The chain value over the whole journal, in hex: equal for equal histories.
    pub journal_hash: String,
    /// Whether everything was as declared at the end.
    pub converged: bool,
    /// Since when it was so without a break, in milliseconds from the beginning; none if it was not.
    pub converged_ms: Option<u64>,
    /// Entries in the journal.
    pub entries: u64,
    /// How often each reason was given, by kind and code: `machine newly-declared`.
    pub reasons: BTreeMap<String, u64>,
    /// How often the node crashed.
    pub crashes: u64,
    /// How many points were reached at which it might have crashed.
    pub points: u64,
    /// How often each operation of each provider was called.
    pub calls: BTreeMap<String, u64>,
    /// When each provider was called, in milliseconds from the beginning.
    #[serde(skip)]
    pub called_ms: BTreeMap<String, Vec<u64>>,
    /// How many items of calls that change the world there were.
    pub items: BTreeMap<String, u64>,
    /// The time that has gone by in the simulated world.
    pub virtual_ms: u64,
    /// For how long nothing had been written at the end, in milliseconds.
    #[serde(skip)]
    pub quiet_ms: u64,
    /// One word for each entity.
    pub statuses: BTreeMap<String, &'static str>,
    /// The entities that are not as they should be, or have not gone as they should have.
    pub unready: BTreeSet<StreamId>,
    /// Of these, those that need not be ready, and because of which of the resigned ones, or of those not offered.
    #[serde(skip)]
    pub resting: BTreeMap<StreamId, StreamId>,
    /// Of the others, those that do not go on before an operator gives a command.
    #[serde(skip)]
    pub awaited: BTreeMap<StreamId, Awaited>,
    /// What is an operator's to set going again, such as a machine that was told to let go of its instance.
    #[serde(skip)]
    pub left: BTreeSet<StreamId>,
    /// The entities whose work was given up.
    pub given_up: BTreeSet<StreamId>,
    /// Those of them whose provider does not have what was asked of it.
    #[serde(skip)]
    pub not_offered: BTreeSet<StreamId>,
    /// What must never be: orphans, duplicates, double attachments. Empty if all is well.
    pub wrong: Vec<String>,
}

impl Report {
    /// How often providers were called.
    pub fn calls_total(&self) -> u64 {
        self.calls.values().sum()
    }

    /// The story as text, one line each.
    pub fn story_text(&self) -> String {
        self.story.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Story, statuses and what was not as expected: everything that a person wants to read, and a golden file holds.
    pub fn text(&self, unmet: &[String]) -> String {
        let converged = if self.converged { "converged" } else { "not converged" };
        let after_ms = self.converged_ms.unwrap_or(self.virtual_ms);
        let (seconds, ms) = (after_ms / 1000, after_ms % 1000);
        let mut text = self.story_text();
        text.push_str(&format!(
            "\n{converged} after {seconds}.{ms:03} s: {} entries, {} provider calls, {} crashes, seed {}\n",
            self.entries,
            self.calls_total(),
            self.crashes,
            self.seed
        ));
        if !self.converged && self.unready.is_empty() {
            text.push_str(
                "all objects were ready, but not for long enough to tell whether they stay so: use a later `until`\n",
            );
        }
        for (stream, status) in &self.statuses {
            text.push_str(&format!("  {stream:<32} {status}\n"));
        }
        for line in unmet {
            text.push_str(&format!("not as expected: {line}\n"));
        }
        text.push_str(&format!("journal {}\n", self.journal_hash));
        text
    }
}
