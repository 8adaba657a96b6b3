//! An explanation as text.

use std::fmt;

use super::{Direction, Source, Step, Why};

/// What is nested deeper is not set in further.
const DEPTH_MAX: usize = 8;

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let lead = "  ".repeat(step.depth.min(DEPTH_MAX));
            writeln!(
                f,
                "{lead}{:>5}  {}  {}: {}",
                step.line.position,
                step.line.time,
                step.line.stream,
                step.line.what()
            )?;
            let margin = " ".repeat(lead.len() + 7);
            writeln!(f, "{margin}{}", step.who())?;
            for text in &step.unfounded {
                writeln!(f, "{margin}inconsistent journal: {text}")?;
            }
        }
        if self.steps.len() == 1 && self.direction == Direction::Consequences {
            writeln!(f, "nothing followed from it, up to entry {}", self.at)?;
        }
        match self.further.as_slice() {
            [] => Ok(()),
            [.., last] if self.direction == Direction::Causes => {
                writeln!(f, "{}; continue with: bailiwick why @{last}", more(self.further.len()))
            }
            [first, ..] => {
                writeln!(f, "{}; continue with: bailiwick why @{first} --forward", more(self.further.len()))
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

fn more(entries: usize) -> String {
    if entries == 1 { "1 more entry".into() } else { format!("{entries} more entries") }
}

impl Step {
    /// The reason, and who or what made it happen.
    fn who(&self) -> String {
        let Self { line, source, ordered_by, .. } = self;
        let principal = &line.principal;
        let who = match (source, ordered_by) {
            (Source::Wish, _) => format!("requested by {principal}"),
            (Source::Observation, _) if principal == "executor" && line.stream.starts_with("replica-set/") => {
                "reported by the engine".into()
            }
            (Source::Observation, _) if principal == "executor" => "reported by the provider".into(),
            (Source::Observation, _) if principal.starts_with("supervisor/") => format!("observed by {principal}"),
            (Source::Observation, _) => format!("reported by {principal}"),
            (Source::DueTime, _) => "triggered by a timer".into(),
            (Source::Order, Some(entry)) => format!("ordered by {principal} in entry {entry}"),
            (Source::Order, None) => format!("ordered by {principal}"),
            (Source::Conclusion, _) => format!("decided by {principal}"),
            (Source::Node, _) if principal == "node" => "by the node itself".into(),
            (Source::Node, _) => format!("requested by {principal}"),
        };
        let has_reason = line.kind == "decision" && !line.because.is_empty() && *source != Source::Conclusion;
        if has_reason { format!("because {}; {who}", line.because) } else { who }
    }
}
