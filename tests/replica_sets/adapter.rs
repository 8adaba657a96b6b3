//! MongoDB's adapter over the model's servers: what can go wrong with one call, one by one. No mongod runs here.

use std::{sync::Arc, time::Duration};

use bailiwick::providers::{
    mongodb::MongoEngine,
    replica_model::{ModelFaults, ModelServers},
};
use bailiwick_actors::{
    ports::{
        Clock, ReplicaSetEngine,
        replica_set::{Action, Change, MemberState, Observation, Outcome, Priority},
    },
    vocab::FaultCode,
};

use crate::{
    lab::{Lab, id, leader, member, name, newcomer, pause, ready, step_down, told, votes},
    model::ModelLab,
    seeds::{Kept, machine_at},
};

/// A set of this many members, all of them voters.
async fn set_of(machines: usize) -> ModelLab {
    let mut lab = ModelLab::new(Kept::MongoAdapter);
    lab.begin().await;
    for machine in ["m2", "m3"].into_iter().take(machines - 1) {
        lab.add(machine).await;
    }
    lab
}

fn joins(lab: &ModelLab, machine: &str) -> Change {
    Change::Join { member: newcomer(&lab.contact(), machine) }
}

/// One change, whatever comes of it, with these faults; then the world is well again.
async fn change_with(lab: &ModelLab, faults: ModelFaults, change: Change) -> Outcome {
    let now = lab.until("committed", |now| now.configuration.committed && leader(now).is_some()).await;
    lab.world.set_faults(faults);
    let outcome = lab.engine().change(lab.contact(), now.configuration.stamp, vec![change]).await;
    lab.world.set_faults(ModelFaults::default());
    outcome
}

fn primaries(seen: &Observation) -> usize {
    seen.statuses.iter().filter(|status| status.state == MemberState::Primary).count()
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_unknown_and_reading_back_tells() {
    let lab = set_of(1).await;
    let lost = ModelFaults { lost_answer_per_mille: 1_000, ..ModelFaults::default() };
    let outcome = change_with(&lab, lost, joins(&lab, "m2")).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{}", told(&outcome));
    lab.until("it was taken", |now| member(now, "m2").is_some()).await;

    let dropped = ModelFaults { dropped_per_mille: 1_000, ..ModelFaults::default() };
    let outcome = change_with(&lab, dropped, joins(&lab, "m3")).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{}", told(&outcome));
    assert!(member(&lab.look().await.unwrap(), "m3").is_none(), "it was not taken");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_comes_late_is_taken_only_if_no_other_came_first() {
    let lab = set_of(1).await;
    let late = ModelFaults { late_per_mille: 1_000, ..ModelFaults::default() };
    let outcome = change_with(&lab, late, joins(&lab, "m2")).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{}", told(&outcome));
    // Another write overtakes it: the late one is of the same version by then, and the server refuses it.
    lab.change_in_the_end(joins(&lab, "m3")).await;
    pause(10_000).await;
    let now = lab.look().await.unwrap();
    assert!(member(&now, "m3").is_some() && member(&now, "m2").is_none(), "{now:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_falls_in_the_middle_of_a_write_leaves_it_unknown() {
    let lab = set_of(3).await;
    let falls = ModelFaults { interrupt_per_mille: 1_000, ..ModelFaults::default() };
    for _ in 0..4 {
        let now = lab.until("all well", |now| ["m1", "m2", "m3"].iter().all(|it| ready(now, it))).await;
        let outcome = change_with(&lab, falls, Change::Level { member: id(&now, "m1").unwrap() }).await;
        assert!(matches!(outcome, Outcome::Unknown(_)), "{}", told(&outcome));
    }
    lab.until("one leads again", |now| leader(now).is_some() && now.configuration.committed).await;
    assert!(lab.world.wrong().is_empty(), "{:?}", lab.world.wrong());
}

#[tokio::test(start_paused = true)]
async fn no_write_before_a_majority_has_the_one_before() {
    let lab = set_of(3).await;
    // Half of the calls that are cut off leave a configuration that only the primary has for a while.
    let slow = ModelFaults { interrupt_per_mille: 700, ..ModelFaults::default() };
    let mut on_the_way = None;
    for _ in 0..40 {
        let now = lab.until("all well", |now| leader(now).is_some() && now.configuration.committed).await;
        let member = id(&now, leader(&now).unwrap()).unwrap();
        change_with(&lab, slow, Change::Level { member }).await;
        let now = lab.look().await.unwrap();
        if !now.configuration.committed && leader(&now).is_some() {
            on_the_way = Some(now);
            break;
        }
    }
    let now = on_the_way.expect("one of them was slow");
    let change = vec![Change::Demote { member: id(&now, "m3").unwrap() }];
    let outcome = lab.engine().change(lab.contact(), now.configuration.stamp, change).await;
    let Outcome::Refused(fault) = &outcome else { panic!("{}", told(&outcome)) };
    assert_eq!(fault.code, FaultCode::FailedPrecondition, "{fault}");
    lab.until("committed", |now| now.configuration.committed).await;
}

#[tokio::test(start_paused = true)]
async fn two_that_say_they_are_primary_are_both_told() {
    let lab = set_of(3).await;
    lab.until("one leads", |now| primaries(now) == 1).await;
    lab.world.set_faults(ModelFaults { two_primaries_per_mille: 1_000, ..ModelFaults::default() });
    lab.until("two lead", |now| primaries(now) > 1).await;
    lab.world.set_faults(ModelFaults::default());
    lab.until("one leads", |now| primaries(now) == 1).await;
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_tuned_stays_through_every_step() {
    let mut lab = set_of(2).await;
    let (set, m1) = (name("db"), name("m1"));
    lab.world.set_priority(&set, &m1, Priority::new(2.5).unwrap());
    lab.add("m3").await;
    let now = lab.until("three vote", |now| votes(now, "m3") && leader(now).is_some()).await;
    let victim = ["m2", "m3"].into_iter().find(|machine| leader(&now) != Some(machine)).unwrap();
    let moved = Change::Move { member: id(&now, victim).unwrap(), address: "10.1.0.9:7".into() };
    lab.change_in_the_end(moved).await;
    lab.change_in_the_end(Change::Demote { member: id(&now, victim).unwrap() }).await;
    assert_eq!(lab.world.member(&set, &m1).unwrap().priority, Priority::new(2.5));
    // The model remembers every field, tag, setting and term that a write did not carry.
    assert!(lab.world.wrong().is_empty(), "{:?}", lab.world.wrong());
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_only_the_configuration_knows_is_found() {
    let lab = set_of(2).await;
    let now = lab.until("one leads", |now| leader(now) == Some("m1") && ready(now, "m2")).await;
    let Action::StepDown { primary, successor } = step_down(&now, "m1", "m2") else { unreachable!() };
    assert_eq!(lab.engine().step_down(lab.contact(), primary, successor).await, Outcome::Done);
    let mut contact = lab.contact();
    contact.servers.retain(|server| server.machine == name("m1"));
    let mut now = lab.engine().observe(contact.clone()).await.unwrap();
    for _ in 0..100 {
        if now.configuration.committed {
            break;
        }
        pause(100).await;
        now = lab.engine().observe(contact.clone()).await.unwrap();
    }
    assert_eq!(leader(&now), Some("m2"), "m2 is none of those that we were told of");
    let level = vec![Change::Level { member: successor }];
    assert_eq!(lab.engine().change(contact, now.configuration.stamp, level).await, Outcome::Done);
}

#[tokio::test(start_paused = true)]
async fn who_is_asked_of_another_set_says_so_and_nobody_is_nobody() {
    let mut lab = ModelLab::new(Kept::MongoAdapter);
    let fault = lab.look().await.unwrap_err();
    assert_eq!(fault.code, FaultCode::Uninitialized, "they answer, and nothing has begun: {fault}");
    for machine in ["m1", "m2", "m3"] {
        lab.crash(machine);
    }
    assert_eq!(lab.look().await.unwrap_err().code, FaultCode::Unavailable);
    for machine in ["m1", "m2", "m3"] {
        lab.restart(machine).await;
    }
    lab.begin().await;
    let mut contact = lab.contact();
    contact.set = name("another");
    let fault = lab.engine().observe(contact.clone()).await.unwrap_err();
    assert_eq!(fault.code, FaultCode::FailedPrecondition, "{fault}");
    let first = newcomer(&lab.contact(), "m1");
    let outcome = lab.engine().initiate(contact, first).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "{}", told(&outcome));
    assert!(lab.clock.now().0 > 0);
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_is_killed_is_noticed_by_what_the_servers_say() {
    let lab = set_of(3).await;
    let is_well = |now: &Observation| leader(now).is_some() && ["m1", "m2", "m3"].iter().all(|it| ready(now, it));
    let seen = lab.until("all well", is_well).await;
    let servers = ModelServers::new(lab.world.clone(), lab.clock.clone(), machine_at);
    let engine = MongoEngine::new(Arc::new(servers)).watching();
    // In virtual time.
    let watch = |seconds, seen| tokio::time::timeout(Duration::from_secs(seconds), engine.watch(lab.contact(), seen));

    watch(600, seen.clone()).await.expect_err("while they say the same nothing is noticed");

    let primary = leader(&seen).expect("one leads").to_owned();
    lab.world.crash(&name(&primary), lab.clock.now());
    watch(10, seen).await.expect("it is noticed within a few looks");
}
