//! Accounts are shown as documents are, and are nothing that the node manages.

use bailiwick_actors::document::{Account, Content, Kind, Role, Space, Token};

use super::*;
use crate::view::{documents, near_matches};

/// 2027-01-01T00:00:00Z.
const NEW_YEAR: Timestamp = Timestamp(1_798_761_600_000);

fn ada() -> Content {
    let token = |id: &str, expires| Token { id: id.into(), hash: [0x0f; 32], expires };
    let tokens = vec![token("1f2e3d4c", Some(NEW_YEAR)), token("2f2e3d4c", None)];
    Content::Account(Account { role: Role::Operate, kinds: ["machine".to_owned()].into(), tokens, users: [7].into() })
}

fn strings(streams: &[StreamId]) -> Vec<String> {
    streams.iter().map(ToString::to_string).collect()
}

#[test]
fn what_removes_everything_leaves_accounts_alone() {
    // given an account beside a space
    let (journal, mut desk) = desk();
    desk.declare_document("ada", ada());
    desk.declare_document("inner", Content::Space(Space::default()));
    let fleet = Fleet::at_head(&*journal).unwrap();
    // then it is there, and is found by a name that is nearly its own
    assert!(fleet.exists(&stream("account/ada")));
    assert_eq!(near_matches(&fleet, &stream("account/adda")), ["account/ada"]);
    // and is not among what is declared
    assert_eq!(strings(&declared(&fleet)), ["space/inner"]);
}

#[test]
fn the_accounts_in_force_are_listed_by_name() {
    let (journal, mut desk) = desk();
    let names = |journal: &dyn Journal| {
        let fleet = Fleet::at_head(journal).unwrap();
        fleet.documents.accounts().map(|it| (it.name.to_owned(), it.revision, it.says.role)).collect::<Vec<_>>()
    };
    desk.declare_document("zoe", ada());
    desk.declare_document("ada", ada());
    assert_eq!(names(&*journal), [("ada".to_owned(), 1, Role::Operate), ("zoe".to_owned(), 1, Role::Operate)]);
    desk.remove_document(Kind::Account, "ada");
    assert_eq!(names(&*journal), [("zoe".to_owned(), 1, Role::Operate)]);
}

#[test]
fn a_token_that_has_expired_is_shown_as_such_from_that_moment_on() {
    let (journal, mut desk) = desk();
    desk.declare_document("ada", ada());
    let expired = |time| {
        let mut fleet = Fleet::at_head(&*journal).unwrap();
        fleet.time = time;
        let [row] = &documents(&fleet, Kind::Account)[..] else { panic!("one account") };
        let tokens = row.says["tokens"].as_array().expect("a list");
        tokens.iter().map(|token| token["expired"] == true).collect::<Vec<_>>()
    };
    assert_eq!(expired(Timestamp(NEW_YEAR.0 - 1)), [false, false]);
    assert_eq!(expired(NEW_YEAR), [true, false]);
}
