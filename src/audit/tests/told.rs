//! Stories and causes.

use std::sync::Arc;

use bailiwick_actors::{
    machine,
    policy::Document,
    ports::{Condition, Healthy},
    testing::Desk,
    volume_attachment,
};
use bailiwick_journal::{Filter, Journal, Position, StreamId};

use super::journals::{busy, empty};
use crate::{
    audit::{About, Side, Source, Why, why},
    words::Line,
};

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

/// A whole entity.
fn whole(entity: StreamId) -> About {
    About::Entity { entity, side: None }
}

#[test]
fn every_entry_is_told_in_one_line_and_no_derived_forms() {
    let journal = empty();
    busy(&journal);
    let head = journal.head().position;
    let entries = journal.read(Position(1), head, &Filter::all());
    let lines: Vec<String> = entries.map(|entry| Line::of(&entry.expect("readable")).to_string()).collect();
    assert_eq!(lines.len() as u64, head.0);
    for line in &lines {
        assert!(!line.contains('{') && !line.contains('\n'), "{line}");
    }
    assert!(lines.iter().any(|line| line.contains("because another attempt may succeed")));
}

/// Why an entity is as it is at the end.
fn why_at_end(journal: &dyn Journal, about: &About) -> Why {
    why::why(journal, about, journal.head().position).expect("readable").expect("it has a history")
}

#[test]
fn after_a_loss_and_a_replacement_why_tells_of_the_loss_and_how_it_was_seen() {
    let journal = empty();
    let mut desk = busy(&journal);
    desk.now = desk.now.after(1_000);
    desk.lose("db");
    desk.settle();
    desk.report_node("db", true);
    let why = why_at_end(&*journal, &whole(stream("machine/db")));
    let steps: Vec<(&str, &str)> =
        why.steps.iter().map(|step| (step.line.stream.as_str(), step.line.code.as_str())).collect();
    let lost = steps.iter().position(|step| *step == ("machine/db", "instance-gone")).expect("the loss is told");
    let seen = steps[lost + 1];
    assert_eq!(seen.0, "supervisor/machines", "{why}");
    assert_eq!(why.steps[lost + 1].source, Source::Observation, "{why}");
    assert!(why.steps[lost].ordered_by.is_some(), "{why}");
}

/// A machine whose agent has reported that all is well.
fn well() -> (Arc<dyn Journal>, Desk) {
    let journal = empty();
    let mut desk = Desk::new(journal.clone());
    desk.revise(Document::default());
    desk.declare_machine("web");
    desk.settle();
    desk.report_node("web", true);
    (journal, desk)
}

#[test]
fn a_silence_that_is_over_is_not_why_a_machine_is_as_it_is() {
    let (journal, mut desk) = well();
    let last_seen = desk.now;
    desk.now = desk.now.after(3_600_000);
    desk.report_silent("web", last_seen);
    let told = || why_at_end(&*journal, &whole(stream("machine/web"))).steps[0].line.what();
    assert!(told().contains("will be given up at"), "{}", told());
    desk.report_node("web", true);
    assert_eq!(told(), "became healthy");
}

#[test]
fn what_its_agent_says_now_is_why_a_machine_is_unhealthy_and_what_it_said_before_is_not() {
    // given a machine that somebody looked at, with a condition that nothing follows from
    let (journal, mut desk) = well();
    let told = || why_at_end(&*journal, &whole(stream("machine/web"))).steps[0].line.what();
    assert!(told().contains("created instance"), "{}", told());
    desk.machine("web", machine::Command::Hold { reason: "its disk".into(), until: None });
    desk.machine("web", machine::Command::Unhold);
    assert_eq!(told(), "hold ended");
    // when its workload ends again and again
    let workload = |healthy| Condition { kind: "WorkloadRunning/app".into(), healthy, text: "its exits".into() };
    desk.report_conditions("web", vec![workload(Healthy::No)]);
    // then that is told, until it runs
    assert!(told().contains("WorkloadRunning/app"), "{}", told());
    desk.report_conditions("web", vec![workload(Healthy::Yes)]);
    assert_eq!(told(), "hold ended");
}

#[test]
fn an_attachment_that_each_start_finds_unchanged_is_explained_by_how_it_came_about() {
    let journal = empty();
    let mut desk = Desk::new(journal.clone());
    desk.revise(Document::default());
    desk.declare_machine("db");
    desk.declare_volume("data");
    desk.attach("db", "data");
    desk.settle();
    let why = || why_at_end(&*journal, &whole(stream("volume-attachment/db:data")));
    let before = why();
    assert!(before.steps[0].line.what().contains("attached it at"), "{before}");
    for _ in 0..3 {
        desk.attachment("db:data", volume_attachment::Command::Reattach);
        desk.settle();
    }
    assert_eq!(why().steps, before.steps, "{}", why());
}

#[test]
fn each_side_of_an_entity_can_be_asked_about() {
    let journal = empty();
    let mut desk = busy(&journal);
    desk.report_node("db", true);
    let of = |side| About::Entity { entity: stream("machine/db"), side: Some(Side::parse(side).expect("a side")) };
    let health = why_at_end(&*journal, &of("health"));
    assert_eq!(health.steps[0].source, Source::Observation, "{health}");
    assert_eq!(health.side, Some("health"));
    let spec = why_at_end(&*journal, &of("spec"));
    assert_eq!((spec.steps.len(), spec.steps[0].source), (1, Source::Wish), "{spec}");
    assert_eq!(why::why(&*journal, &of("drain"), journal.head().position).unwrap(), None);
}

#[test]
fn why_of_a_declaration_ends_at_who_wished_it() {
    let journal = empty();
    busy(&journal);
    let entries = super::journals::entries(&*journal);
    let declared = entries.iter().find(|entry| entry.header.stream.as_str() == "volume/data").unwrap();
    let about = About::Entry(declared.header.position);
    let why = why_at_end(&*journal, &about);
    assert_eq!((why.steps.len(), why.steps[0].source), (1, Source::Wish));
    assert_eq!(why.steps[0].line.principal, "operator");
}

#[test]
fn what_followed_from_a_declaration_is_told_in_order_and_names_nobody_elses_doings() {
    let journal = empty();
    busy(&journal);
    let entries = super::journals::entries(&*journal);
    let declared = entries.iter().find(|entry| entry.header.stream.as_str() == "machine/web").unwrap();
    let about = About::Entry(declared.header.position);
    let followed = why::following(&*journal, &about, journal.head().position).unwrap().unwrap();
    let positions: Vec<u64> = followed.steps.iter().map(|step| step.line.position).collect();
    assert!(positions.len() > 3 && positions.is_sorted(), "{followed}");
    for step in &followed.steps {
        assert_eq!(step.line.stream, "machine/web", "{followed}");
    }
}

#[test]
fn what_an_entry_rests_on_has_it_among_its_consequences() {
    let journal = empty();
    busy(&journal);
    let mut pairs = 0;
    for position in (1..=journal.head().position.0).map(Position) {
        for cause in why::causes(&*journal, position).unwrap() {
            let consequences = why::consequences(&*journal, cause).unwrap();
            assert!(consequences.contains(&position), "{position} rests on {cause}, which has {consequences:?}");
            pairs += 1;
        }
    }
    assert!(pairs > 40, "{pairs}");
}

#[test]
fn every_step_is_named_by_the_one_it_is_told_for() {
    let journal = empty();
    busy(&journal);
    for position in 1..=journal.head().position.0 {
        let why = why_at_end(&*journal, &About::Entry(Position(position)));
        for step in &why.steps[1..] {
            let is_named = why.steps.iter().any(|later| later.causes.contains(&step.line.position));
            assert!(is_named, "entry {} in {why}", step.line.position);
            assert!(step.line.position < position, "{why}");
        }
    }
}

#[test]
fn why_of_what_was_not_there_yet_is_none() {
    let journal = empty();
    busy(&journal);
    let of = |entity, at| why::why(&*journal, &whole(stream(entity)), Position(at)).unwrap();
    assert_eq!(of("volume/data", 1), None);
    assert_eq!(of("volume/none", 99), None);
    assert_eq!(why::why(&*journal, &About::Entry(Position(9_999)), Position(9_999)).unwrap(), None);
}

#[test]
fn a_cause_that_is_not_earlier_or_not_there_is_said_and_not_followed() {
    let journal = empty();
    busy(&journal);
    let copy = super::journals::copied(&*journal, |entry, draft| {
        if entry.header.stream.as_str() == "volume/data" {
            draft.meta.cause = Some(entry.header.position);
            draft.meta.cites = vec!["volume/other@7".parse().expect("a cite")];
        }
    });
    let why = why_at_end(&*copy, &whole(stream("volume/data")));
    assert_eq!(why.steps.len(), 1, "{why}");
    assert_eq!(why.steps[0].unfounded.len(), 2, "{why}");
    assert!(why.to_string().contains("it cites volume/other@7, which the journal does not hold"), "{why}");
}

#[test]
fn of_a_long_history_the_nearest_steps_are_told_and_where_to_go_on() {
    let journal = empty();
    busy(&journal);
    let about = whole(stream("machine/db"));
    let why = why::why_up_to(&*journal, &about, journal.head().position, 2).unwrap().unwrap();
    assert_eq!(why.steps.len(), 2);
    assert!(!why.further.is_empty() && why.to_string().contains("continue with: bailiwick why @"), "{why}");
}
