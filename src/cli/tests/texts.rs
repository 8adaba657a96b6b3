//! The printed lists of what is said of states and of the command line. `BLESS=1` writes them anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use bailiwick_journal::StreamId;
use clap::CommandFactory;
use serde_json::Value;

use super::Cli;
use crate::{
    view::{Fleet, goals, status, upcoming, why_not},
    words::tests::is_as_read,
};

/// What was said of the states of entities.
#[derive(Default)]
pub(super) struct States {
    /// By what it is about.
    told: BTreeMap<String, BTreeSet<String>>,
    names: BTreeSet<String>,
}

impl States {
    /// What `get` and `why-not` say of one row of a list.
    pub(super) fn add_row(&mut self, fleet: &Fleet, kind: &str, row: &Value) {
        let Some(name) = row["name"].as_str() else { return };
        self.names.extend(name.split(':').map(str::to_owned));
        if let Some(detail) = row["detail"].as_str() {
            self.add(&format!("{kind}: detail"), detail.to_owned());
        }
        let Ok(entity) = format!("{kind}/{name}").parse::<StreamId>() else { return };
        for wanted in goals(kind) {
            let Some(unmet) = why_not(fleet, &entity, wanted).and_then(|answer| answer.unmet) else { continue };
            let sentence = format!("{} | {} | {}", unmet.precondition, unmet.because, unmet.satisfied_by);
            self.add(&format!("{kind}: why-not {wanted}"), sentence);
        }
    }

    /// What `status` and `schedule` say of all.
    pub(super) fn add_fleet(&mut self, fleet: &Fleet) {
        let status = status(fleet);
        for row in status.trouble.into_iter().chain(status.progress) {
            self.add("status", row.why);
        }
        for due in upcoming(fleet, 100) {
            self.add("schedule", due.why);
        }
    }

    fn add(&mut self, about: &str, sentence: String) {
        self.told.entry(about.to_owned()).or_default().insert(sentence);
    }

    /// A sentence without what differs between alike ones.
    fn shape(&self, sentence: &str) -> String {
        let is_part = |letter: char| letter.is_alphanumeric() || "-_:.".contains(letter);
        let word = |word: &str| {
            let bare = word.trim_matches(|letter| !is_part(letter)).trim_matches([':', '.']);
            let is_name = |part: &str| self.names.contains(part) || part.contains(|it: char| it.is_ascii_digit());
            if bare.split(['/', ':']).any(is_name) { "#".to_owned() } else { word.to_owned() }
        };
        sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// Compares the first of the sentences that are alike.
    pub(super) fn are_as_read(&self) {
        let mut list = String::from("What is said of states: for why-not what is missing, why, and what helps.\n");
        for (about, sentences) in &self.told {
            writeln!(list, "\n# {about}").expect("a text");
            let mut shapes = BTreeSet::new();
            for sentence in sentences.iter().filter(|sentence| shapes.insert(self.shape(sentence))) {
                writeln!(list, "{sentence}").expect("a text");
            }
        }
        is_as_read("states.txt", &list);
    }
}

fn help(list: &mut String, path: &str, command: &mut clap::Command) {
    writeln!(list, "# {path}\n\n{}", command.render_long_help()).expect("a text");
    // What all commands have is told once.
    for inner in command.get_subcommands_mut().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        let path = format!("{path} {}", inner.get_name());
        *inner =
            inner.clone().mut_args(|argument| if argument.is_global_set() { argument.hide(true) } else { argument });
        help(list, &path, inner);
    }
}

#[test]
fn the_help_is_the_one_that_was_read() {
    let mut command = Cli::command().term_width(100).mut_args(|argument| argument.hide_env_values(true));
    command.build();
    let mut list = String::new();
    help(&mut list, "bailiwick", &mut command);
    is_as_read("help.txt", &list);
}
