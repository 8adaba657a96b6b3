//! What every engine keeps, whoever it speaks to.

use bailiwick_actors::{
    ports::replica_set::{Action, Change, MemberId, Outcome, Stamp},
    vocab::FaultCode,
};

use crate::lab::{Lab, id, leader, member, newcomer, ready, step_down, told, votes};

/// The whole suite, on a lab where nothing has begun.
pub async fn every_engine_keeps_this(lab: &mut impl Lab) {
    nothing_is_there_before_it_begins(lab).await;
    lab.begin().await;
    the_first_member_leads_and_votes(lab).await;
    what_does_not_fit_is_refused_and_changes_nothing(lab).await;
    one_joins_without_a_vote_and_is_promoted_when_it_has_caught_up(lab).await;
    lab.add("m3").await;
    a_crashed_member_is_seen_as_such_and_comes_back(lab).await;
    the_leader_gives_way_to_the_one_it_is_told(lab).await;
    a_member_is_removed_and_is_gone(lab).await;
}

async fn nothing_is_there_before_it_begins(lab: &impl Lab) {
    let fault = lab.look().await.expect_err("nothing is there");
    assert!(matches!(fault.code, FaultCode::Uninitialized | FaultCode::Unavailable), "{fault}");
}

async fn the_first_member_leads_and_votes(lab: &impl Lab) {
    let now = lab.until("one leads", |now| leader(now) == Some("m1") && now.configuration.committed).await;
    assert_eq!(now.configuration.members.len(), 1);
    assert!(votes(&now, "m1") && ready(&now, "m1"));
    let first = now.configuration.members[0].clone();
    let again = lab.engine().initiate(lab.contact(), first).await;
    assert_eq!(again, Outcome::Done, "it has begun with this member");
}

async fn what_does_not_fit_is_refused_and_changes_nothing(lab: &impl Lab) {
    let before = lab.look().await.unwrap();
    let nobody = MemberId(4_242);
    for change in [Change::Promote { member: nobody }, Change::Remove { member: nobody }] {
        let outcome = lab.change(change.clone()).await;
        assert!(matches!(outcome, Outcome::Refused(_)), "{change:?}: {}", told(&outcome));
    }
    let stamp = before.configuration.stamp;
    let old = Stamp { version: stamp.version.wrapping_sub(1), ..stamp };
    let joins = vec![Change::Join { member: newcomer(&lab.contact(), "m2") }];
    let outcome = lab.engine().change(lab.contact(), old, joins).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "planned on another configuration: {}", told(&outcome));
    assert_eq!(lab.look().await.unwrap().configuration, before.configuration);
}

async fn one_joins_without_a_vote_and_is_promoted_when_it_has_caught_up(lab: &mut impl Lab) {
    let before = lab.look().await.unwrap();
    lab.change_in_the_end(Change::Join { member: newcomer(&lab.contact(), "m2") }).await;
    let joined = lab.until("it has joined", |now| member(now, "m2").is_some()).await;
    assert!(!votes(&joined, "m2"), "nobody joins with a vote");
    assert!(!ready(&joined, "m2"), "nobody is ready at once");
    assert_ne!(joined.configuration.stamp, before.configuration.stamp, "another configuration has another stamp");
    lab.start_joined("m2").await;
    let synced = lab.until("it has caught up", |now| ready(now, "m2")).await;
    assert!(!votes(&synced, "m2"), "nobody gets a vote by itself");
    lab.change_in_the_end(Change::Promote { member: id(&synced, "m2").unwrap() }).await;
    let now = lab.until("it votes", |now| votes(now, "m2")).await;
    assert_eq!(now.configuration.members.len(), 2);
}

async fn a_crashed_member_is_seen_as_such_and_comes_back(lab: &mut impl Lab) {
    let now = lab.until("one leads", |now| leader(now).is_some()).await;
    let victim = if leader(&now) == Some("m3") { "m2" } else { "m3" };
    lab.crash(victim);
    let now = lab.until("it is missed", |now| !ready(now, victim) && leader(now).is_some()).await;
    assert!(votes(&now, victim), "who is not there still votes");
    assert!(now.configuration.committed, "two of three go on");
    lab.restart(victim).await;
    lab.until("it is back", |now| ready(now, victim)).await;
}

async fn the_leader_gives_way_to_the_one_it_is_told(lab: &impl Lab) {
    let now = lab.until("one leads", |now| leader(now).is_some()).await;
    let from = leader(&now).unwrap().to_owned();
    let to = ["m1", "m2", "m3"].into_iter().find(|machine| *machine != from).unwrap();
    let take = async |action: Action| {
        let Action::StepDown { primary, successor } = action else { unreachable!() };
        lab.engine().step_down(lab.contact(), primary, successor).await
    };
    let wrong = take(step_down(&now, to, &from)).await;
    assert!(matches!(wrong, Outcome::Refused(_)), "asked of one that does not lead: {}", told(&wrong));
    let right = take(step_down(&now, &from, to)).await;
    assert_eq!(right, Outcome::Done);
    let is_other = |now: &str| if lab.chooses_successor() { now == to } else { now != from };
    lab.until("the other one leads", |now| leader(now).is_some_and(is_other)).await;
}

async fn a_member_is_removed_and_is_gone(lab: &impl Lab) {
    let now = lab.until("one leads and all are well", |now| {
        leader(now).is_some() && ["m1", "m2", "m3"].into_iter().all(|machine| ready(now, machine))
    });
    let now = now.await;
    let victim = ["m1", "m2", "m3"].into_iter().find(|machine| leader(&now) != Some(machine)).unwrap();
    let member = id(&now, victim).unwrap();
    // Where a vote can be taken it is taken first; where it cannot, the member goes with it.
    if now.rules.can_demote {
        lab.change_in_the_end(Change::Demote { member }).await;
    }
    lab.change_in_the_end(Change::Remove { member }).await;
    let now = lab.until("it is gone", |now| !now.configuration.members.iter().any(|it| it.id == member)).await;
    assert_eq!(now.configuration.members.len(), 2);
}
