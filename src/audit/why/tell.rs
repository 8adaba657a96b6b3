//! An explanation as text.

use std::fmt;

use super::{Direction, Source, Step, Why};

/// What is nested deeper is not set in further.
const DEPTH_MAX: usize = 8;

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let lead = "  ".repeat(step.depth.min(DEPTH_MAX));
            writeln!(f, "{lead}{:>5}  {}  {}: {}", step.line.position, step.line.time, step.line.stream, step.what())?;
            let margin = " ".repeat(lead.len() + 7);
            writeln!(f, "{margin}{}", step.who())?;
            for text in &step.unfounded {
                writeln!(f, "{margin}the journal is wrong here: {text}")?;
            }
        }
        if self.steps.len() == 1 && self.direction == Direction::Consequences {
            writeln!(f, "nothing followed from it up to entry {}", self.at)?;
        }
        match self.further.as_slice() {
            [] => Ok(()),
            [.., last] if self.direction == Direction::Causes => {
                writeln!(f, "and {} more; go on with: bailiwick why @{last}", entries(self.further.len()))
            }
            [first, ..] => {
                writeln!(f, "and {} more; go on with: bailiwick why @{first} --forward", entries(self.further.len()))
            }
        }?;
        let mut policies: Vec<&str> = self.steps.iter().filter_map(|step| step.line.policy.as_deref()).collect();
        policies.sort_unstable();
        policies.dedup();
        if !policies.is_empty() {
            writeln!(f, "policy in force: {}", policies.join(", "))?;
        }
        Ok(())
    }
}

fn entries(count: usize) -> String {
    if count == 1 { "1 entry".into() } else { format!("{count} entries") }
}

impl Step {
    /// What happened, or that nothing did.
    fn what(&self) -> String {
        match self.line.outcome {
            "refused" => format!("refused to {}", self.line.asked),
            _ if self.line.happened.is_empty() => format!("nothing to do: {}", self.line.asked),
            _ => self.line.happened.join("; "),
        }
    }

    /// Who made it happen, and the reason.
    fn who(&self) -> String {
        let Self { line, source, ordered_by, .. } = self;
        let principal = &line.principal;
        let who = match (source, ordered_by) {
            (Source::Wish, _) => format!("{principal} asked for it"),
            (Source::Observation, _) if principal == "executor" => "the provider answered".into(),
            (Source::Observation, _) => format!("{principal} reported it"),
            (Source::DueTime, _) => "its time had come".into(),
            (Source::Order, Some(entry)) => format!("{principal} ordered it in entry {entry}"),
            (Source::Order, None) => format!("{principal} ordered it"),
            (Source::Conclusion, _) => format!("{principal} concluded it"),
            (Source::Node, _) => "the node did it by itself".into(),
        };
        if line.because.is_empty() || *source == Source::Conclusion { who } else { format!("{who}: {}", line.because) }
    }
}
