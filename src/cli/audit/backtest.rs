//! `bailiwick audit backtest`: what another policy would have decided.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use bailiwick_actors::{
    policy::Document,
    vocab::{Call, Timestamp},
};
use bailiwick_journal::Position;
use clap::Args;
use serde::Serialize;

use super::{
    super::{
        Global,
        exit::{CliError, Exit},
        junit::{Case, junit},
        output::{Cell, Table},
    },
    ask, counts, divergences,
    gate::{Gate, Judged},
};
use crate::{
    api::query::Query,
    audit::{Backtest, Difference, Flip, FlipGroup, Options},
    manifest::{self, ManifestError, Wish},
    text::cut,
    words::count,
};

#[derive(Debug, Args)]
pub(in crate::cli) struct BacktestArgs {
    /// An export, or the journal of a stopped node: its folder, or a data directory [default: that of --data-dir, whose node
    /// may run]
    #[arg(value_name = "JOURNAL")]
    pub(super) journal: Option<PathBuf>,
    /// Decide under the policy in this manifest
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Stop at this entry
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
    /// List every decision that differs, with all that differs in it; not only the first three of each sort, and of each the first
    /// three differences
    #[arg(long)]
    all: bool,
    /// Exit with 3 if this holds, as in 'flip(delete) > 0', and with 0 otherwise; may be repeated. flip(WORD) counts decisions:
    /// any, verdict, events, due-time, or those with a create, delete, attach, detach or reconfigure. gained(CALL) and lost(CALL)
    /// count calls that a provider would have got besides, or would not have got
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<Gate>,
    /// Write the result to this file, in the form of JUnit
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the result to this file, in Markdown: a comment for a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// What is shown to programs.
#[derive(Serialize)]
struct Shown<'b> {
    #[serde(flatten)]
    backtest: &'b Backtest,
    gates: Vec<Judged>,
}

pub(super) fn main(global: &Global, args: &BacktestArgs) -> Result<Exit, CliError> {
    let options = Options { all: true, to: args.to.map(Position) };
    let query = Query::Backtest { document: Box::new(policy(&args.policy)?), options };
    let backtest: Backtest = ask(global, args.journal.as_ref(), &query)?;
    let gates: Vec<Judged> = args.fail_on.iter().map(|gate| gate.judge(&backtest)).collect();
    let shown = Shown { backtest: &backtest, gates };
    if let Some(file) = &args.junit {
        written_as_junit(file, &shown)?;
    }
    if let Some(file) = &args.markdown {
        fs::write(file, markdown(&args.policy, &shown)).map_err(|error| {
            CliError::new(Exit::Disk, "unwritable", format!("cannot write {}", file.display())).because(&error)
        })?;
    }
    let shows =
        if args.all { Shows { most: usize::MAX, letters: usize::MAX } } else { Shows { most: 3, letters: 120 } };
    global.output.show(&shown, || table(&shown, shows))?;
    let has_failed = shown.gates.iter().any(|gate| gate.failed);
    Ok(match (args.fail_on.is_empty(), has_failed, backtest.is_same()) {
        (false, true, _) => Exit::GateFailed,
        (false, false, _) | (true, _, true) => Exit::Ok,
        (true, _, false) => Exit::Differences,
    })
}

/// How much is listed.
#[derive(Clone, Copy, Debug)]
struct Shows {
    /// Decisions of a sort, and differences of a decision.
    most: usize,
    /// Of a difference: what is stored may be long.
    letters: usize,
}

/// The one policy in a manifest.
pub(super) fn policy(file: &Path) -> Result<Document, CliError> {
    let unusable = |error: ManifestError| {
        CliError { message: "the policy is invalid".into(), ..error.into() }.next("see examples/policy.yaml")
    };
    let sources = manifest::sources(&[file.to_owned()]).map_err(unusable)?;
    let manifest = manifest::parse_open(&sources).map_err(unusable)?;
    let policies: Vec<Document> = manifest
        .documents
        .into_iter()
        .filter_map(|document| match document.wish {
            Wish::Policy { document, .. } => Some(*document),
            _ => None,
        })
        .collect();
    match <[Document; 1]>::try_from(policies) {
        Ok([document]) => Ok(document),
        Err(found) => {
            let message = format!("{} has {} policies; exactly one is needed", file.display(), found.len());
            Err(CliError::new(Exit::Usage, "usage", message).next("see examples/policy.yaml"))
        }
    }
}

/// What came of it, in a sentence.
fn verdict(backtest: &Backtest) -> String {
    match (backtest.verdict_flips + backtest.event_flips, backtest.due_time_flips) {
        (0, 0) => "every decision would have been the same".to_owned(),
        (0, _) => "every decision would have been the same, some at other times".to_owned(),
        (1, _) => "1 decision would have been different".to_owned(),
        (flips, _) => format!("{flips} decisions would have been different"),
    }
}

/// How decisions of a sort would have been different.
fn change(group: &FlipGroup) -> String {
    match group.flip {
        Flip::Verdict => format!("{} instead of {}", group.redecided, group.recorded),
        Flip::Events => format!("{} with other events", group.recorded),
        Flip::DueTime => format!("{}, due at another time", group.recorded),
    }
}

/// `with create, without delete`; none if providers notice nothing.
fn calls(group: &FlipGroup) -> Option<String> {
    let names = |calls: &[Call]| calls.iter().map(|call| call.as_str()).collect::<Vec<_>>().join(", ");
    match (group.lost.is_empty(), group.gained.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("without {}", names(&group.lost))),
        (true, false) => Some(format!("with {}", names(&group.gained))),
        (false, false) => Some(format!("with {}, without {}", names(&group.gained), names(&group.lost))),
    }
}

fn table(shown: &Shown<'_>, shows: Shows) -> Table {
    let backtest = shown.backtest;
    let mut table = Table::fields();
    let is_other = backtest.verdict_flips + backtest.event_flips > 0;
    let says = verdict(backtest);
    table.add([Cell::from("under that policy"), if is_other { Cell::bad(says) } else { Cell::good(says) }]);
    let counted = [
        ("entries", backtest.entries),
        ("decisions", backtest.decisions),
        ("other answers", backtest.verdict_flips),
        ("other events", backtest.event_flips),
        ("other due times", backtest.due_time_flips),
    ];
    counts(&mut table, &counted);
    for (call, flips) in &backtest.calls {
        table.add([Cell::from(format!("{call} calls")), format!("{} more, {} fewer", flips.gained, flips.lost).into()]);
    }
    for group in &backtest.groups {
        let what = calls(group).map_or_else(|| change(group), |calls| format!("{}, {calls}", change(group)));
        table.add([Cell::from(format!("{} of {}", group.count, group.kind)), what.into()]);
        let flips = backtest.flips.iter().filter(|flip| group.has(flip));
        let mut listed = 0;
        for flip in flips.take(shows.most) {
            listed += 1;
            table.add([Cell::from("  at"), format!("{} {} {}", flip.position, flip.time, flip.stream).into()]);
            for difference in flip.differences.iter().take(shows.most) {
                let told = told(difference, group.flip);
                table.add([Cell::from(""), format!("    {}", cut(&told, shows.letters)).into()]);
            }
            let more = flip.differences.len().saturating_sub(shows.most);
            if more > 0 {
                table.add([Cell::from(""), format!("    and {}", count(more, "more difference")).into()]);
            }
        }
        if group.count > listed {
            let more = format!("{} more, the first of all at {}", group.count - listed, group.first);
            table.add([Cell::from(""), Cell::from(format!("    {more}"))]);
        }
    }
    divergences(&mut table, "unsound", &backtest.unsound);
    for gate in &shown.gates {
        let says = format!("{}: {} found", gate.condition, gate.found);
        table.add([Cell::from("fail on"), if gate.failed { Cell::bad(says) } else { Cell::good(says) }]);
    }
    table
}

/// What would have been different: a due time as a moment, anything else as it is stored.
fn told(difference: &Difference, flip: Flip) -> String {
    let moment = |value: &serde_json::Value| value.as_u64().map(|ms| Timestamp(ms).to_string());
    match (flip, moment(&difference.redecided), moment(&difference.recorded)) {
        (Flip::DueTime, Some(redecided), Some(recorded)) => format!("due at {redecided} instead of {recorded}"),
        _ => difference.to_string(),
    }
}

/// Each condition is a check; without any, that nothing differs is one.
fn written_as_junit(file: &Path, shown: &Shown<'_>) -> Result<(), CliError> {
    let all: Vec<String> = shown.backtest.flips.iter().map(ToString::to_string).collect();
    if shown.gates.is_empty() {
        let trouble = (!shown.backtest.is_same()).then_some(("decisions differ", &all[..]));
        return junit(file, "backtest", [Case { name: "every decision is the same".to_owned(), trouble }].into_iter());
    }
    let case = |gate: &Judged| Case {
        name: format!("not {}", gate.condition),
        trouble: gate.failed.then_some(("the condition holds", &all[..])),
    };
    junit(file, "backtest", shown.gates.iter().map(case))
}

/// A comment for a pull request.
fn markdown(policy: &Path, shown: &Shown<'_>) -> String {
    let backtest = shown.backtest;
    let name = policy.file_name().map_or_else(|| "a policy".into(), |name| name.to_string_lossy().into_owned());
    let mut text = format!("### Backtest of `{}`\n\n", code(&name));
    let (entries, decisions) = (backtest.entries, backtest.decisions);
    writeln!(text, "Of {decisions} decisions in {entries} entries: **{}**.", verdict(backtest)).expect("a string");
    if !backtest.groups.is_empty() {
        text += "\n| decisions | of | what | calls | first at entry |\n| --: | --- | --- | --- | --: |\n";
    }
    for group in &backtest.groups {
        let (count, kind, what, first) = (group.count, &group.kind, change(group), group.first);
        let calls = calls(group).unwrap_or_default();
        writeln!(text, "| {count} | {kind} | {what} | {calls} | {first} |").expect("a string takes everything");
    }
    if backtest.unsound_entries > 0 {
        let count = backtest.unsound_entries;
        writeln!(text, "\n**{count} entries do not fit whatever the policy is**: see `bailiwick audit replay --all`.")
            .expect("a string takes everything");
    }
    if !shown.gates.is_empty() {
        text += "\n| condition | found | |\n| --- | --: | --- |\n";
    }
    for Judged { condition, found, failed } in &shown.gates {
        let word = if *failed { "**fails**" } else { "passes" };
        writeln!(text, "| `{condition}` | {found} | {word} |").expect("a string takes everything");
    }
    text
}

/// What may stand between backticks.
fn code(text: &str) -> String {
    text.chars().map(|letter| if letter == '`' || letter.is_control() { ' ' } else { letter }).collect()
}
