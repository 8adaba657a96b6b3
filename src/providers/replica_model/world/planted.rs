//! Every invariant of a step finds the step that is planted for it.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::replica_set::{MACHINE_TAG, Member, MemberId},
    testing::name,
    vocab::Timestamp,
};
use serde_json::Value;

use super::{Flavor, ModelWorld, StepInvariant};
use crate::providers::mongodb::document::{document, int};

/// Long after every server came up.
const NOW: Timestamp = Timestamp(10_000_000);

fn member(id: u64, votes: u32) -> Member {
    Member {
        id: MemberId(id),
        address: format!("10.0.0.{id}:27017").into(),
        tags: [(MACHINE_TAG.to_owned(), format!("m{id}"))].into(),
        votes: Some(votes),
        priority: None,
        other: [].into(),
    }
}

/// A set with these members, the first of which leads; and what it found of some steps.
fn found(members: &[Member], steps: impl FnOnce(&mut super::World)) -> Vec<String> {
    let world = ModelWorld::new(Flavor::Mongodb, 1);
    world.stands(&name("m1"), true, Timestamp(0));
    let world = &mut *world.lock();
    world.initiate(&name("db"), &members[0], Timestamp(0)).expect("its server runs");
    let set = world.sets.get_mut(&name("db")).expect("it has begun");
    set.members = members.to_vec();
    steps(world);
    world.wrong.clone()
}

/// What is found of a step that leads to these members, while these are ready.
fn step(before: &[Member], after: &[Member], ready: impl IntoIterator<Item = u64>) -> Vec<String> {
    let ready: BTreeSet<MemberId> = ready.into_iter().map(MemberId).collect();
    found(before, |world| world.check(&name("db"), after, &ready, NOW))
}

/// What is found of a configuration that is written without its settings, in the way that it is written.
fn write(with_limit: bool) -> Vec<String> {
    found(&[member(1, 1)], |world| {
        let reply = world.config_reply(&name("m1"), false, NOW).expect("its server runs");
        let mut config = reply["config"].as_object().expect("a document").clone();
        config.insert("version".into(), int(2));
        config.insert("settings".into(), Value::Object(document([])));
        let mut command = document([("replSetReconfig", config.into())]);
        if with_limit {
            command.insert("maxTimeMS".into(), int(1_000));
        }
        world.run(&name("m1"), &command, NOW).expect("it is taken");
    })
}

#[test]
fn every_invariant_of_a_step_finds_the_step_that_is_planted_for_it() {
    let three = |second, third| [member(1, 1), member(2, second), member(3, third)];
    // given steps that keep all of them, of which nothing is found
    assert_eq!(step(&three(1, 0), &three(1, 1), [1, 2, 3]), Vec::<String>::new());
    // when one breaks one of them
    let planted = [
        (StepInvariant::OneVoterAtATime, step(&three(0, 0), &three(1, 1), [1, 2, 3])),
        (StepInvariant::MajorityStays, step(&three(1, 0), &three(1, 0), [1])),
        (
            StepInvariant::PrimaryKeepsItsVote,
            step(&three(1, 1), &[member(1, 0), member(2, 1), member(3, 1)], [1, 2, 3]),
        ),
        (StepInvariant::VotersAreReady, step(&three(1, 0), &three(1, 1), [1, 2])),
        (StepInvariant::WritesAreGentle, write(false)),
        (StepInvariant::DocumentsStayWhole, write(true)),
    ];
    // then that one is told first
    for (broken, found) in &planted {
        assert!(found.first().is_some_and(|line| line.starts_with(&format!("{broken}: "))), "{broken}: {found:?}");
    }
    assert_eq!(planted.map(|(broken, _)| broken), StepInvariant::ALL);
}
