//! A check that cannot fail is none: every campaign is run once with something broken on purpose, and has to say so.

use std::process::{Command, Stdio};

use crate::runner::{Failure, Place, Plan};

/// Campaign, trials that are enough to find the planted fault, and what it has to say of it.
const PLANTS: &[(&str, u64, &str)] = &[
    ("kill", 40, "LOST"),
    ("damage", 20, "SILENT LOSS"),
    ("power_cut", 50, ""),
    ("power_cut_simulated", 50, ""),
    ("power_cut_archiving", 150, "had been durable"),
    ("fail_at_n", 20, "LOST"),
    ("fail_at_n_simulated", 1, ""),
    ("full_disk", 1, "LOST"),
    ("trace", 100, "BEFORE ITS SYNC"),
    ("fuzz", 1_000, "bytes were allocated"),
    ("large", 1_000, "entries of 1001 were read"),
];

pub fn run(_: &Plan) -> Result<String, Failure> {
    let mut found = Vec::new();
    for (campaign, trials, word) in PLANTS {
        let story = one(campaign, *trials, word).map_err(|story| Failure { trial: 0, story })?;
        found.push(story);
    }
    Ok(format!("{} planted faults found:\n    {}", found.len(), found.join("\n    ")))
}

fn one(campaign: &str, trials: u64, word: &str) -> Result<String, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    // What a failure keeps for whoever looks into it goes with this.
    let place = Place::new()?;
    let output = Command::new(this)
        .env("TMPDIR", place.path())
        .args([campaign, "--exact", "--plant", "--trials", &trials.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = said.lines().find(|line| line.starts_with(&format!("campaign {campaign} FAILED:")));
    match failed {
        Some(line) if !output.status.success() && line.contains(word) => Ok(line.chars().take(200).collect()),
        _ => Err(format!("{campaign} did not find what was planted; it said: {said}")),
    }
}
