//! What people are told of members: lists, descriptions, reasons, and gauges.

use bailiwick::{
    audit::{About, Source, why::why},
    providers::replica_model::Flavor,
    view::{Fleet, Load, describe, members, metrics, replica_sets},
    words::Line,
};
use bailiwick_actors::testing::MemoryJournal;
use bailiwick_journal::{Filter, Journal, Position, StreamId, Version};

use crate::{
    scenarios::settled,
    seeds::{Kept, Run, Trouble},
};

/// Where the stream of each member differs from what its set has seen last.
pub fn strayed(journal: &MemoryJournal) -> Vec<String> {
    let fleet = Fleet::at_head(journal).expect("it can be read");
    let mut wrong = Vec::new();
    for row in members(&fleet) {
        let Some(known) = fleet.members.get(&row.name) else {
            wrong.push(format!("nobody follows {}", row.name));
            continue;
        };
        let seen = known.seen.as_ref();
        let is_same =
            row.id == seen.map(|seen| seen.id.to_string()) && row.votes == seen.is_some_and(|seen| seen.votes);
        if !is_same || row.flagged != known.flagged || known.task.is_some() {
            wrong.push(format!("{} is known as {known:?} and seen as {row:?}", row.name));
        }
    }
    wrong
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

fn grown() -> Run {
    settled(Kept::Model(Flavor::Mongodb), &[(300, Trouble::Crash(2)), (310, Trouble::Start(2))])
}

#[test]
fn every_member_is_listed_with_what_it_is_and_why() {
    let run = grown();
    let journal = &run.bench.journal;
    assert_eq!(strayed(journal), Vec::<String>::new());
    let fleet = Fleet::at_head(journal).expect("it can be read");
    let rows = members(&fleet);
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (row.name.as_str(), row.status)).collect();
    let voters = [("db:m1", "voter"), ("db:m2", "voter"), ("db:m3", "voter")];
    assert_eq!(told, [&voters[..], &[("db:m4", "learner"), ("db:m5", "learner")]].concat());
    assert!(rows.iter().all(|row| row.uid.is_some() && row.healthy), "{rows:#?}");
    assert!(rows[1].why.as_deref().is_some_and(|why| why.contains("caught up")), "{:?}", rows[1].why);
}

#[test]
fn a_member_is_described_with_every_status_that_it_had() {
    let run = grown();
    let journal = &run.bench.journal;
    let fleet = Fleet::at_head(journal).expect("it can be read");
    let member = stream("member/db:m2");
    let described = describe(journal, &fleet, &member).expect("it can be read").expect("it is known");
    let mut had: Vec<&str> = described.history.iter().map(|history| history.status.as_str()).collect();
    had.reverse();
    let life = ["declared", "joining", "learner", "voter"];
    let at: Vec<Option<usize>> = life.iter().map(|status| had.iter().position(|it| it == status)).collect();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{had:?}");
}

#[test]
fn why_a_member_is_as_it_is_leads_over_its_supervisor_to_what_its_set_saw() {
    let run = grown();
    let journal = &run.bench.journal;
    let about = About::Entity { entity: stream("member/db:m3"), side: None };
    let why = why(journal, &about, journal.head().position).expect("it can be read").expect("known");
    let first = &why.steps[0];
    assert_eq!((first.source, first.line.principal.as_str()), (Source::Order, "supervisor/replica-sets"), "{why}");
    assert_eq!(why.steps[1].line.stream, "replica-set/db", "{why}");
    assert!(first.causes.contains(&why.steps[1].line.position), "{why}");
}

#[test]
fn why_a_set_is_as_it_is_tells_of_the_failover_and_not_of_one_that_was_down_for_a_while() {
    // Given a set whose primary was down for a while, so that another leads
    let about = About::Entity { entity: stream("replica-set/db"), side: None };
    let run = settled(Kept::Model(Flavor::Mongodb), &[(300, Trouble::Crash(1)), (420, Trouble::Start(1))]);
    let journal = &run.bench.journal;
    let reports: Vec<(u64, String)> = journal
        .read_stream(&stream("replica-set/db"), Version(1))
        .map(|entry| Line::of(&entry.expect("it is in memory")))
        .filter_map(|line| Some((line.position, line.happened.iter().find(|text| text.contains("primary"))?.clone())))
        .collect();
    let led_by =
        |text: &str| text.split("primary ").nth(1).and_then(|rest| rest.split([',', ' ']).next()).map(str::to_owned);
    let now = led_by(&reports.last().expect("it was seen").1);
    let since = reports.iter().rev().take_while(|(_, text)| led_by(text) == now).last().expect("it leads");
    // Then that is told first, and what it was like as of any moment in between.
    let told = |at: u64| why(journal, &about, Position(at)).expect("it can be read").expect("known");
    let now = told(journal.head().position.0);
    assert_eq!((now.steps[0].line.position, now.steps[0].source), (since.0, Source::Observation), "{now}");
    let (gone, _) = reports.iter().find(|(_, text)| text.contains("not healthy: 1 (m1)")).expect("it was seen down");
    let then = told(*gone);
    assert_eq!((then.steps[0].line.position, since.0 > *gone), (*gone, true), "{now}\n{then}");
    // What is seen by the way was observed; what was asked for was reported.
    assert!(then.to_string().contains("observed by supervisor/replica-sets"), "{then}");
    let first = told(reports.first().expect("it was seen").0);
    assert!(first.to_string().contains("reported by the engine"), "{first}");
    assert!(!format!("{now}{then}{first}").contains("last read; reported by the provider"), "{now}\n{then}");

    // And of one that was down and did not lead, nothing is told once it is back.
    let run = grown();
    let journal = &run.bench.journal;
    let told = why(journal, &about, journal.head().position).expect("it can be read").expect("known");
    assert!(!told.steps[0].line.happened[0].contains("engine reported: 3"), "{told}");
}

#[test]
fn every_entry_about_members_has_words() {
    let run = grown();
    let journal = &run.bench.journal;
    for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
        let line = Line::of(&entry.expect("it is in memory"));
        assert!(!line.asked.contains("unknown to this version"), "{line}");
    }
}

#[test]
fn gauges_tell_of_members_and_endpoints_of_servers() {
    let run = grown();
    let fleet = Fleet::at_head(&run.bench.journal).expect("it can be read");
    let text = metrics(&fleet, &Load::default());
    let line = "bailiwick_replica_set_member{set=\"db\",machine=\"m1\",address=\"10.0.0.1:7\",state=\"PRIMARY\"} 1\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("bailiwick_replica_set_voters{set=\"db\"} 3\n"), "{text}");
    let set = replica_sets(&fleet).pop().expect("there is one");
    assert_eq!(set.endpoints["m2"].addresses, ["10.0.0.2:7"]);
    assert_eq!(set.endpoints["m2"].internal.as_deref(), Some("10.0.0.2:7"));
    assert_eq!(set.plan, Vec::<String>::new(), "there is nothing left to be done");
}
