//! Stories and causes.

use bailiwick_journal::{Filter, Position, StreamId};

use super::journals::{busy, empty};
use crate::{
    audit::{Cause, story, why},
    words::find_entity,
};

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

#[test]
fn a_story_has_one_line_per_entry_and_no_derived_forms() {
    let journal = empty();
    busy(&journal);
    let head = journal.head().position;
    let lines: Vec<String> =
        story(&*journal, Position(1), head, &Filter::all()).map(|line| line.expect("readable").to_string()).collect();
    assert_eq!(lines.len() as u64, head.0);
    for line in &lines {
        assert!(!line.contains('{') && !line.contains('\n'), "{line}");
    }
    assert!(lines.iter().any(|line| line.contains("because the failure may pass, so it is tried again later")));
}

#[test]
fn why_leads_from_a_lost_attachment_to_what_was_seen_of_the_world() {
    let journal = empty();
    let mut desk = busy(&journal);
    desk.now = desk.now.after(1_000);
    desk.lose("db");
    desk.settle();
    let chain = why::why(&*journal, &stream("machine/db"), journal.head().position).unwrap().unwrap();
    assert_eq!(chain.origin, Cause::World);
    assert_eq!(chain.chain.last().unwrap().line.stream, "supervisor/machines");
    let positions: Vec<u64> = chain.chain.iter().map(|link| link.line.position).collect();
    assert!(positions.is_sorted_by(|later, earlier| later > earlier), "{positions:?}");
}

#[test]
fn why_of_a_declaration_ends_at_the_operator() {
    let journal = empty();
    busy(&journal);
    let entries = super::journals::entries(&*journal);
    let declared = entries.iter().find(|entry| entry.header.stream.as_str() == "volume/data").unwrap();
    let chain = why::why(&*journal, &stream("volume/data"), declared.header.position).unwrap().unwrap();
    assert_eq!(chain.origin, Cause::Outside);
    assert_eq!(chain.chain.len(), 1);
    assert_eq!(chain.chain[0].line.principal, "operator");
}

#[test]
fn why_of_what_was_not_there_yet_is_none() {
    let journal = empty();
    busy(&journal);
    assert_eq!(why::why(&*journal, &stream("volume/data"), Position(1)).unwrap(), None);
    assert_eq!(why::why(&*journal, &stream("volume/none"), Position(99)).unwrap(), None);
}

#[test]
fn a_cause_that_is_not_earlier_is_said_and_not_followed() {
    let journal = empty();
    busy(&journal);
    let copy = super::journals::copied(&*journal, |entry, draft| {
        if entry.header.stream.as_str() == "volume/data" {
            draft.meta.cause = Some(entry.header.position);
        }
    });
    let chain = why::why(&*copy, &stream("volume/data"), copy.head().position).unwrap().unwrap();
    assert_eq!(chain.origin, Cause::Impossible { position: chain.chain[0].line.position });
}

#[test]
fn entities_are_found_as_people_name_them_and_near_ones_are_offered() {
    let journal = empty();
    busy(&journal);
    for text in ["machine/db", "machines/db", "machine db", "db", "m/db"] {
        assert_eq!(find_entity(&*journal, text), Ok(stream("machine/db")), "{text}");
    }
    assert_eq!(find_entity(&*journal, "attachment/db:data"), Ok(stream("volume-attachment/db:data")));
    let unknown = find_entity(&*journal, "volume/date").unwrap_err();
    assert_eq!(unknown.near, [stream("volume/data")]);
    assert!(unknown.to_string().contains("did you mean volume/data?"));
}
