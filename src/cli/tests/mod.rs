//! Every command that reads, in every output, over journals in which every kind stands in every status.

mod guide;
mod journals;
mod reference;
mod said_again;
mod texts;
mod way_out;

use std::{collections::BTreeSet, thread};

use bailiwick_actors::{
    document,
    vocab::{HarvestMode, Timestamp},
};
use bailiwick_journal::{EntryKind, Filter, Journal, Position, ReadOnlyJournal, StreamId};
use clap::{CommandFactory, Parser};
use serde_json::Value;

use self::journals::Made;
use super::{Cli, Global, exit::Exit, output::collected, run};
use crate::{
    api::query::Query,
    config::journal_dir,
    view::{Fleet, Selector, account, blockers, declared, goals, kinds, statuses, why_not},
    words::readable,
};

/// At how many moments everything is asked, at least.
const POSITIONS_MIN: usize = 100;

/// A journal with so many entries is a long one.
const LONG: u64 = 200;
/// At so many moments of the longest journal each is compared with each: 3,160 pairs, and their number is what takes long.
const COMPARED_MIN: usize = 80;

/// How many entries lie between the moments at which nothing need be new.
const APART: u64 = 24;

/// Commands that change something or look elsewhere, and are run with a node, a provider or a file in other tests.
const ELSEWHERE: [&str; 48] = [
    "repro",
    "storage-helper",
    "man",
    "edit",
    "logs",
    "exec",
    "account",
    "config",
    "doctor",
    "backup",
    "up",
    "down",
    "serve",
    "apply",
    "plan",
    "attach",
    "detach",
    "release",
    "destroy",
    "add-storage",
    "import",
    "delete",
    "retry",
    "hold",
    "unhold",
    "keep",
    "unkeep",
    "protect",
    "unprotect",
    "thaw",
    "adopt",
    "disown",
    "enable-ha",
    "rollout",
    "wait",
    "jobs",
    "journal",
    "chaos",
    "provider",
    "simulate",
    "login",
    "logout",
    "context",
    "completion",
    "agent",
    "help",
    "audit",
    "help",
];

/// The options of a command line that has none.
pub(super) fn global() -> Global {
    Cli::try_parse_from(["bailiwick", "status"]).expect("a line").global
}

/// A moment at which everything is asked, and whom it is asked about.
struct Look {
    position: Position,
    entity: String,
}

/// Every entity of a kind, its status, and whether it has a stream of its own: members of a set that nobody follows do not.
fn words(journal: &dyn Journal, fleet: &Fleet, kind: &str) -> Vec<(String, String, bool)> {
    let rows = Query::List { kind: kind.into(), selector: Selector::default(), at: None }
        .answer(journal, fleet)
        .expect("a list");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.as_array()
        .into_iter()
        .flatten()
        .map(|row| (text(&row["name"]), text(&row["status"]), !row["version"].is_null()))
        .collect()
}

/// The moments at which something is as it never was before in any journal, and some between them.
fn looks(made: &Made, known: &mut BTreeSet<(&'static str, String)>) -> Vec<Look> {
    let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
    let (mut fleet, mut looks) = (Fleet::default(), Vec::new());
    fleet.journal = journal.id();
    let head = journal.head().position;
    for entry in journal.read(Position(1), head, &Filter::all()) {
        let entry = entry.expect("a readable entry");
        fleet.apply(&entry).expect("an entry that can be understood");
        let mut is_new = false;
        let mut entity = None;
        for kind in kinds() {
            for (name, word, is_followed) in words(&journal, &fleet, kind) {
                let is_first = known.insert((kind, word));
                is_new |= is_first;
                if is_followed && (is_first || entity.is_none()) {
                    entity = Some(format!("{kind}/{name}"));
                }
            }
        }
        let position = entry.header.position;
        if is_new || position.0.is_multiple_of(APART) || position == head {
            looks.push(Look { position, entity: entity.unwrap_or_else(|| "policy/default".into()) });
        }
    }
    looks
}

/// Every line that reads, at one moment.
fn lines(look: &Look) -> Vec<Vec<String>> {
    let at = format!("@{}", look.position);
    let earlier = format!("@{}", look.position.0 / 2);
    let entity = look.entity.as_str();
    let mut lines: Vec<Vec<&str>> = vec![
        vec!["status", "--at", &at],
        vec!["storage", "--at", &at],
        vec!["schedule", "--at", &at],
        vec!["harvest", "--dry-run", "--at", &at],
        vec!["pool", "list", "--at", &at],
        vec!["policy", "log", "--at", &at],
        vec!["clock", "show"],
        vec!["log", "--at", &at],
        vec!["describe", entity, "--at", &at],
        vec!["who", entity, "--at", &at],
        vec!["why", entity, "--at", &at],
        vec!["diff", &earlier, &at],
    ];
    lines.extend(kinds().map(|kind| vec!["get", kind, "--at", &at]));
    let kind = entity.split_once('/').map_or("", |(kind, _)| kind);
    lines.extend(goals(kind).iter().map(|wanted| vec!["why-not", entity, wanted, "--at", &at]));
    lines.into_iter().map(|line| line.into_iter().map(str::to_owned).collect()).collect()
}

/// Runs a line as the program does, and says what is wrong with what it prints.
fn wrong(made: &Made, output: &str, line: &[String]) -> Option<String> {
    let dir = made.dir.to_str().expect("a name");
    let all = ["bailiwick", "--data-dir", dir, "-o", output].into_iter().map(str::to_owned).chain(line.iter().cloned());
    let cli = Cli::try_parse_from(all).unwrap_or_else(|error| panic!("{line:?}: {error}"));
    let ended = run(&cli.global, cli.command);
    let (text, gaps) = collected::take();
    let said = format!("{}: {} -o {output}", made.name, line.join(" "));
    match ended {
        Ok(Exit::Ok | Exit::Differences) if !gaps.is_empty() => {
            Some(format!("{said}: nothing stands under {gaps:?}\n{text}"))
        }
        Ok(Exit::Ok | Exit::Differences) if text.is_empty() => Some(format!("{said}: nothing is printed")),
        Ok(Exit::Ok) => None,
        Ok(Exit::Differences) if line[0] == "diff" => None,
        other => Some(format!("{said}: {other:?}")),
    }
}

/// What is wrong with what is printed at these moments.
fn all_wrong(looks: &[(&Made, Look)]) -> Vec<String> {
    let mut failed = Vec::new();
    for (at, (made, look)) in looks.iter().enumerate() {
        for (number, line) in lines(look).into_iter().enumerate() {
            // The widest table has every cell; the other outputs take turns, so that each line is read in each of them.
            failed.extend(wrong(made, "wide", &line));
            let other = ["table", "", "json", "", "yaml", ""][(at + number) % 6];
            if !other.is_empty() {
                failed.extend(wrong(made, other, &line));
            }
        }
    }
    failed
}

#[test]
#[ignore = "takes long"]
fn every_command_that_reads_answers_at_every_kind_of_moment() {
    let root = tempfile::tempdir().expect("a folder");
    let made = journals::all(root.path());
    let mut known = BTreeSet::new();
    let looks: Vec<(&Made, Look)> =
        made.iter().flat_map(|made| looks(made, &mut known).into_iter().map(move |look| (made, look))).collect();
    let positions = looks.len();
    let half = positions.div_ceil(2);
    let failed: Vec<String> = thread::scope(|scope| {
        let halves: Vec<_> = looks.chunks(half).map(|some| scope.spawn(move || all_wrong(some))).collect();
        halves.into_iter().flat_map(|half| half.join().expect("no command panics")).collect()
    });
    let listed: BTreeSet<(&str, String)> =
        kinds().flat_map(|kind| statuses(kind).iter().map(move |word| (kind, (*word).to_owned()))).collect();
    known.retain(|(_, word)| !word.is_empty());
    let never: Vec<_> = listed.difference(&known).collect();
    let unknown: Vec<_> = known.difference(&listed).collect();
    let first: String = failed.iter().take(8).map(|line| format!("\n{line}")).collect();
    assert!(
        failed.is_empty() && never.is_empty() && unknown.is_empty(),
        "in no journal: {never:?}; not listed: {unknown:?}; {} answers are wrong:{first}",
        failed.len()
    );
    assert!(positions >= POSITIONS_MIN, "{positions} positions");
}

/// What `why-not` says against what the lists say of one row.
fn why_not_disagrees(fleet: &Fleet, kind: &str, row: &Value) -> Option<String> {
    let entity: StreamId = format!("{kind}/{}", row["name"].as_str()?).parse().ok()?;
    goals(kind).iter().find_map(|wanted| {
        // Members of a set that nobody follows have no stream of their own.
        let answer =
            why_not(fleet, &entity, wanted).or_else(|| (kind != "member").then(|| panic!("{entity} {wanted}")))?;
        let told =
            answer.unmet.as_ref().is_none_or(|unmet| !unmet.because.is_empty() && !unmet.satisfied_by.is_empty());
        let is_so = match *wanted {
            "ready" if kind == "member" => row["votes"] == true && row["healthy"] == true,
            "ready" => row["ready"] == true,
            "voting" => row["votes"] == true,
            "removed" => row["status"] == "removed",
            _ => answer.holds,
        };
        (answer.holds != is_so || !told).then(|| format!("{entity} {wanted}: {answer:?} of {row}"))
    })
}

/// What is not as declared and is neither trouble nor progress in the status; or a set whose voter is not well and that is
/// no trouble.
fn hidden(journal: &dyn Journal, fleet: &Fleet) -> Option<String> {
    let status = Query::Status { at: None }.answer(journal, fleet).expect("a status");
    let entities = |part: &str| -> Vec<String> {
        let rows = status[part].as_array().into_iter().flatten();
        rows.map(|row| row["entity"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let (trouble, progress) = (entities("trouble"), entities("progress"));
    let list = |kind: &str| {
        Query::List { kind: kind.into(), selector: Selector::default(), at: None }
            .answer(journal, fleet)
            .expect("a list")
    };
    for kind in kinds().filter(|kind| !matches!(*kind, "member" | "policy") && document::Kind::of(kind).is_none()) {
        for row in list(kind).as_array().into_iter().flatten() {
            let entity = format!("{kind}/{}", row["name"].as_str().unwrap_or_default());
            let told = [&trouble, &progress].into_iter().filter(|part| part.contains(&entity)).count();
            if told > 1 || (row["ready"] == false && told == 0) {
                return Some(format!("{entity} is told {told} times: {row}"));
            }
        }
    }
    list("member").as_array().into_iter().flatten().find_map(|row| {
        let set = format!("replica-set/{}", row["set"].as_str().unwrap_or_default());
        let is_sick = row["votes"] == true && row["healthy"] == false && !row["asOfMs"].is_null();
        (is_sick && !trouble.contains(&set)).then(|| format!("{set} is no trouble: {row}"))
    })
}

/// The texts in an answer that name a moment to come and not how long it is until then. Fields that are a moment alone are for
/// programs.
fn without_how_long(answer: &Value, now: Timestamp, found: &mut Vec<String>) {
    match answer {
        Value::String(text) => {
            let words = text.split(|letter: char| letter.is_whitespace() || "(),;".contains(letter));
            let time = |word: &str| word.contains('.').then(|| word.parse::<jiff::Timestamp>().ok()).flatten();
            let is_to_come = |time: jiff::Timestamp| time.as_millisecond() > i64::try_from(now.0).unwrap_or(i64::MAX);
            let ahead = words.filter(|word| *word != text).filter_map(time).any(is_to_come);
            found.extend(ahead.then(|| text.clone()));
        }
        Value::Array(items) => items.iter().for_each(|item| without_how_long(item, now, found)),
        // What happened is told with the times that were meant then.
        Value::Object(fields) => {
            let told = fields.iter().filter(|(name, _)| *name != "lastOperation");
            told.for_each(|(_, value)| without_how_long(value, now, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}

/// Everything that is said of a fleet as it is.
fn all_said(journal: &dyn Journal, fleet: &Fleet) -> Vec<Value> {
    let lists = kinds().map(|kind| Query::List { kind: kind.into(), selector: Selector::default(), at: None });
    let whole = [
        Query::Status { at: None },
        Query::Storage { at: None },
        Query::Schedule { limit: 1_000, at: None },
        Query::Harvest { mode: Some(HarvestMode::All), at: None },
        Query::Pending { at: None },
    ];
    let mut said: Vec<Value> =
        whole.into_iter().chain(lists).map(|query| query.answer(journal, fleet).expect("an answer")).collect();
    for entity in declared(fleet) {
        let goals = goals(entity.kind()).iter().filter_map(|wanted| why_not(fleet, &entity, wanted));
        said.extend(goals.map(|answer| serde_json::to_value(answer).expect("JSON")));
        let blocked = blockers(fleet, &entity).into_iter().map(|blocker| serde_json::to_value(blocker).expect("JSON"));
        said.extend(blocked);
        said.push(Query::Describe { entity, at: None }.answer(journal, fleet).expect("a description"));
    }
    said
}

#[test]
#[ignore = "takes long"]
fn whatever_is_to_come_is_told_with_how_long_it_is_until_then() {
    let root = tempfile::tempdir().expect("a folder");
    let mut with = 0;
    for made in journals::all(root.path()) {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        let mut fleet = Fleet::default();
        fleet.journal = journal.id();
        for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
            let entry = entry.expect("a readable entry");
            fleet.apply(&entry).expect("an entry that can be understood");
            if !entry.header.position.0.is_multiple_of(5) {
                continue;
            }
            let said = all_said(&journal, &fleet);
            let mut found = Vec::new();
            said.iter().for_each(|answer| without_how_long(answer, fleet.time, &mut found));
            assert_eq!(found, [] as [String; 0], "{}, entry {}", made.name, entry.header.position);
            with += said.iter().filter(|answer| answer.to_string().contains(" UTC)")).count();
        }
    }
    assert!(with > 100, "only {with} answers name a moment to come");
}

#[test]
fn why_not_says_of_every_goal_what_the_lists_say_in_words_that_were_read() {
    let root = tempfile::tempdir().expect("a folder");
    let (mut asked, mut told) = (0, texts::States::default());
    for made in journals::all(root.path()) {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        let mut fleet = Fleet::default();
        fleet.journal = journal.id();
        for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
            let entry = entry.expect("a readable entry");
            fleet.apply(&entry).expect("an entry that can be understood");
            if !entry.header.position.0.is_multiple_of(5) {
                continue;
            }
            assert_eq!(hidden(&journal, &fleet), None, "{}, entry {}", made.name, entry.header.position);
            for kind in kinds().filter(|kind| !goals(kind).is_empty()) {
                let rows = Query::List { kind: kind.into(), selector: Selector::default(), at: None }
                    .answer(&journal, &fleet)
                    .expect("a list");
                for row in rows.as_array().into_iter().flatten() {
                    let at = format!("{}, entry {}", made.name, entry.header.position);
                    assert_eq!(why_not_disagrees(&fleet, kind, row), None, "{at}");
                    asked += 1;
                    told.add_row(&fleet, kind, row);
                }
            }
            told.add_fleet(&fleet);
        }
    }
    assert!(asked > 1_000, "{asked} rows");
    told.are_as_read();
}

#[test]
#[ignore = "takes long"]
fn a_diff_of_any_two_moments_is_what_lies_between_them() {
    let root = tempfile::tempdir().expect("a folder");
    let (mut pairs, mut most) = (0, 0);
    for made in journals::all(root.path()) {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        // The longest is looked at closely; the others are many.
        let positions = if journal.head().position.0 >= LONG { COMPARED_MIN } else { 20 };
        let held = account::hold(&made.name, &journal, positions as u64);
        (pairs, most) = (pairs + held, most.max(held));
    }
    assert!(most >= COMPARED_MIN * (COMPARED_MIN - 1) / 2 && pairs > most, "{most} of {pairs} pairs");
}

#[test]
#[ignore = "takes long"]
fn every_command_that_reads_says_the_same_of_an_export() {
    let root = tempfile::tempdir().expect("a folder");
    for made in journals::all(root.path()) {
        // given a journal and its export
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        let mut text = Vec::new();
        journal.export_told(&mut text, &readable).expect("exported");
        let file = root.path().join(format!("{}.jsonl", made.name));
        std::fs::write(&file, text).expect("written");
        let exported = Made { name: format!("{}, exported", made.name), dir: file };
        let look = Look { position: journal.head().position, entity: "policy/default".into() };
        drop(journal);
        // when both are asked
        // (what time it is differs from one question to the next)
        for line in lines(&look).into_iter().filter(|line| line[0] != "clock") {
            // then the answers are the same
            assert_eq!(answer(&made, &line), answer(&exported, &line), "{}: {}", made.name, line.join(" "));
        }
    }
}

fn answer(made: &Made, line: &[String]) -> (Option<u8>, String) {
    let dir = made.dir.to_str().expect("a name");
    let all = ["bailiwick", "--data-dir", dir, "-o", "json"].into_iter().map(str::to_owned).chain(line.iter().cloned());
    let cli = Cli::try_parse_from(all).expect("a line");
    let ended = run(&cli.global, cli.command);
    (ended.ok().map(Exit::code), collected::take().0)
}

#[test]
#[ignore = "takes long"]
fn every_body_in_an_export_can_be_read_by_others() {
    let root = tempfile::tempdir().expect("a folder");
    for made in journals::all(root.path()) {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
            let entry = entry.expect("a readable entry");
            let at = format!("{}, entry {} of {}", made.name, entry.header.position, entry.header.stream);
            let told = readable(&entry).unwrap_or_else(|| panic!("{at}: nothing can be read"));
            assert_eq!(told.events.len(), entry.events.len(), "{at}");
            if entry.header.meta.kind == EntryKind::Decision {
                assert!(told.command.is_some() && told.facts.is_some() && told.verdict.is_some(), "{at}: {told:?}");
            }
        }
    }
}

#[test]
fn every_command_is_run_here_or_elsewhere() {
    let look = Look { position: Position(1), entity: "machine/a".into() };
    let here: BTreeSet<String> = lines(&look).into_iter().map(|line| line[0].clone()).collect();
    let is_run = |name: &str| here.contains(name) || ELSEWHERE.contains(&name);
    let command = Cli::command();
    let forgotten: Vec<&str> =
        command.get_subcommands().map(clap::Command::get_name).filter(|name| !is_run(name)).collect();
    assert!(forgotten.is_empty(), "run by no test: {forgotten:?}");
}
