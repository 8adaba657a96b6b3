//! The same views live, at the head, and at any earlier moment.

mod accounts;
mod frozen;
mod unmounted;
mod voters;

use std::sync::Arc;

use bailiwick_actors::{
    machine, policy,
    ports::{Condition, Healthy},
    testing::Desk,
    vocab::{Fault, FaultCode, Timestamp},
};
use bailiwick_journal::{Filter, Journal, LocalJournal, Outcome, Position, StreamId, disk::SimulatedDisk};
use uuid::Uuid;

use super::*;

fn desk() -> (Arc<dyn Journal>, Desk) {
    let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 1_000).expect("new");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let desk = Desk::new(journal.clone());
    (journal, desk)
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

/// A machine with a volume; another machine whose instance cannot be made.
fn lab() -> (Arc<dyn Journal>, Desk) {
    let (journal, mut desk) = desk();
    desk.faults.insert(stream("machine/web"), [Fault::new(FaultCode::Unavailable, "no room")].into());
    desk.declare_machine("web");
    desk.declare_machine("db");
    desk.declare_volume("data");
    desk.attach("db", "data");
    desk.settle();
    desk.report_node("db", true);
    (journal, desk)
}

#[test]
fn a_fleet_that_follows_is_the_fleet_that_is_folded_anew_at_every_position() {
    let (journal, _) = lab();
    let head = journal.head().position;
    let mut live = Fleet::at(&*journal, Position(0)).unwrap();
    for entry in journal.read(Position(1), head, &Filter::all()) {
        live.apply(&entry.unwrap()).unwrap();
        assert_eq!(Fleet::at(&*journal, live.position).unwrap(), live);
    }
    assert_eq!(live.position, head);
}

#[test]
fn what_failed_is_found_by_its_fault() {
    let (journal, _) = lab();
    let fleet = Fleet::at_head(&*journal).unwrap();
    assert_eq!(failed(&fleet, |fault| fault.code == FaultCode::Unavailable), [stream("machine/web")]);
    assert!(failed(&fleet, |fault| fault.code == FaultCode::Internal).is_empty());
}

#[test]
fn who_was_given_up_is_told_with_the_next_try_by_itself() {
    let (journal, mut desk) = desk();
    let mut policy = policy::Document::default();
    policy.machines.attempts_max = 1;
    desk.revise(policy);
    desk.faults.insert(stream("machine/web"), [Fault::new(FaultCode::Unavailable, "no room")].into());
    desk.declare_machine("web");
    desk.settle();
    let again = desk.now.after(1_800_000);
    let fleet = Fleet::at_head(&*journal).unwrap();
    let web = machines(&fleet).remove(0);
    assert_eq!((web.status, web.next_try_ms), ("failed", Some(again.0)));
    let told = web.detail.unwrap();
    assert!(told.starts_with("gave up after attempt 1: unavailable: no room; tried again in 30m00s ("), "{told}");
    assert_eq!(
        upcoming(&fleet, 9).first().map(|next| (next.entity.as_str(), next.due_ms)),
        Some(("machine/web", again.0))
    );
    let unmet = why_not(&fleet, &stream("machine/web"), "ready").and_then(|answer| answer.unmet).unwrap();
    assert_eq!(unmet.next_look_ms, Some(again.0));
    assert_eq!(
        unmet.satisfied_by,
        "a new series of attempts, by itself, or `bailiwick retry machine/web` to retry now"
    );
    // What nobody can do is left to an operator.
    desk.faults.insert(stream("machine/web"), [Fault::new(FaultCode::InvalidArgument, "no such image")].into());
    desk.now = again;
    desk.wake(&stream("machine/web"), again);
    desk.settle();
    let fleet = Fleet::at_head(&*journal).unwrap();
    let web = machines(&fleet).remove(0);
    assert_eq!((web.status, web.next_try_ms), ("failed", None));
}

#[test]
fn rows_say_how_things_are_and_what_stands_in_the_way() {
    let (journal, _) = lab();
    let fleet = Fleet::at_head(&*journal).unwrap();
    let machines = machines(&fleet);
    let [db, web] = machines.as_slice() else { panic!("{machines:?}") };
    assert_eq!((db.name.as_str(), db.status, db.node, db.ready), ("db", "ready", "reporting", true));
    assert_eq!(db.attachments, ["data"]);
    assert_eq!((web.status, web.ready), ("creating", false));
    assert!(web.detail.as_ref().unwrap().starts_with("unavailable: no room; attempt 2 in "));
    assert!(web.next_try_ms.is_some());
    let volumes = volumes(&fleet);
    assert_eq!((volumes[0].status, volumes[0].size.as_str()), ("reserved", "64M"));
    let attachments = attachments(&fleet);
    assert_eq!((attachments[0].status, attachments[0].path.as_deref()), ("attached", Some("/vol")));
}

#[test]
fn a_machine_that_goes_says_why() {
    let (journal, mut desk) = lab();
    let why = machine::RemovalReason::ScaleDown;
    desk.machine("db", machine::Command::RemoveWith(machine::Removal { why, ..Default::default() }));
    let fleet = Fleet::at_head(&*journal).unwrap();
    let machines = machines(&fleet);
    assert_eq!((machines[0].going, machines[1].going), (Some("scale-down"), None));
    assert!(
        machines[0].detail.as_ref().unwrap().starts_with("being removed because its set needs fewer machines"),
        "{machines:?}"
    );
    let described = describe(&*journal, &fleet, &stream("machine/db")).unwrap().expect("it is there");
    assert_eq!(serde_json::to_value(described).unwrap()["going"], "scale-down");
    let progress = status(&fleet).progress;
    let told = progress.iter().find(|told| told.entity == "machine/db").expect("it is on its way");
    assert!(told.why.starts_with("being removed because its set needs fewer machines"), "{progress:?}");
}

#[test]
fn the_same_moment_by_position_or_time_shows_the_same() {
    let (journal, desk) = lab();
    let head = journal.head();
    assert_eq!(position_at(&*journal, desk.now).unwrap(), head.position);
    assert_eq!(position_at(&*journal, Timestamp(0)).unwrap(), Position::ZERO);
    for header in journal.read_headers(Position(1), head.position, &Filter::all()) {
        let header = header.unwrap();
        let at = position_at(&*journal, Timestamp(header.meta.time_ms)).unwrap();
        let time =
            |position| journal.read_headers(position, position, &Filter::all()).next().unwrap().unwrap().meta.time_ms;
        assert!(at >= header.position);
        assert_eq!(time(at), header.meta.time_ms);
        assert!(at == head.position || time(at.next()) > header.meta.time_ms);
    }
    assert_eq!(position_of(&*journal, Some(At::Position(9_999))).unwrap(), None);
    assert_eq!(position_of(&*journal, None).unwrap(), Some(head.position));
}

#[test]
fn status_counts_everything_and_lists_what_is_in_trouble() {
    let (journal, _) = lab();
    let status = status(&Fleet::at_head(&*journal).unwrap());
    assert_eq!((status.total, status.ready), (4, 3));
    let counts: Vec<_> = status.counts.iter().map(|count| (count.kind, count.status, count.count)).collect();
    let expected = [
        ("machine", "creating", 1),
        ("machine", "ready", 1),
        ("volume", "reserved", 1),
        ("volume-attachment", "attached", 1),
    ];
    assert_eq!(counts, expected);
    let [trouble] = status.trouble.as_slice() else { panic!("{:?}", status.trouble) };
    assert_eq!(trouble.entity, "machine/web");
}

#[test]
fn pending_is_empty_once_everything_is_as_declared_and_again_when_it_is_gone() {
    let (journal, mut desk) = lab();
    let open = |journal: &dyn Journal| pending(&Fleet::at_head(journal).unwrap());
    assert_eq!(open(&*journal).iter().map(|open| open.entity.as_str()).collect::<Vec<_>>(), ["machine/web"]);
    assert!(desk.wake_next());
    desk.settle();
    let why = open(&*journal)[0].why.clone();
    assert!(why.starts_with("no health report yet; it has until "), "{why}");
    desk.report_node("web", true);
    assert_eq!(open(&*journal), []);
    desk.machine("db", machine::Command::Remove);
    assert_eq!(open(&*journal)[0].status, "dying");
    desk.settle();
    assert_eq!(open(&*journal), []);
    let left: Vec<String> = declared(&Fleet::at_head(&*journal).unwrap()).iter().map(ToString::to_string).collect();
    assert_eq!(left, ["machine/web", "volume/data"]);
}

#[test]
fn a_description_tells_every_status_with_its_reason() {
    let (journal, mut desk) = lab();
    desk.wake_next();
    desk.settle();
    desk.report_node("web", false);
    let fleet = Fleet::at_head(&*journal).unwrap();
    let web = describe(&*journal, &fleet, &stream("machine/web")).unwrap().unwrap();
    let statuses: Vec<&str> = web.history.iter().map(|history| history.status.as_str()).collect();
    assert_eq!(statuses, ["unhealthy", "starting", "creating"]);
    assert_eq!(web.history[2].because, "it was declared and has no instance yet");
    assert_eq!(web.conditions.len(), 1);
    assert_eq!(web.last_operation.as_ref().unwrap().principal, "agent:machine/web");
    let json = serde_json::to_value(&web).unwrap();
    assert_eq!((json["name"].as_str(), json["status"].as_str()), (Some("web"), Some("unhealthy")));
    // Earlier, it was waiting.
    let waiting = journal
        .read_stream(&stream("machine/web"), bailiwick_journal::Version::ZERO)
        .map(Result::unwrap)
        .find(|entry| entry.header.meta.code == "worth-retrying")
        .unwrap();
    let then = Fleet::at(&*journal, waiting.header.position).unwrap();
    let effort = describe(&*journal, &then, &stream("machine/web")).unwrap().unwrap().effort.unwrap();
    assert_eq!((effort.outlook, effort.attempt, effort.fault_code), ("waiting", 2, Some("unavailable")));
    // Web waits for its second attempt, and db for its agent.
    let next: Vec<String> = upcoming(&then, 10).into_iter().map(|next| next.entity).collect();
    assert_eq!(next, ["machine/web", "machine/db"]);
    assert_eq!(upcoming(&then, 0), []);
    assert_eq!(describe(&*journal, &then, &stream("machine/none")).unwrap(), None);
}

#[test]
fn the_log_is_newest_first_and_takes_every_filter() {
    let (journal, _) = lab();
    let all = LogFilter { limit: 1_000, ..LogFilter::default() };
    let lines = log(&*journal, &all).unwrap();
    assert_eq!(lines.len() as u64, journal.head().position.0);
    assert!(lines.is_sorted_by(|later, earlier| later.position > earlier.position));
    let only = |filter: LogFilter| log(&*journal, &filter).unwrap();
    let machines = only(LogFilter { kind: Some("machine".into()), ..all.clone() });
    assert!(machines.iter().all(|line| line.stream.starts_with("machine/")) && machines.len() > 3);
    let data = only(LogFilter { entity: Some(stream("volume/data")), outcome: Some(Outcome::Done), ..all.clone() });
    assert!(data.iter().all(|line| line.stream == "volume/data" && line.outcome == "done"));
    let (since, until) = (Some(At::Position(3)), Some(At::Position(5)));
    let some: Vec<u64> = only(LogFilter { since, until, ..all.clone() }).iter().map(|line| line.position).collect();
    assert_eq!(some, [5, 4, 3]);
    let middle = lines[lines.len() / 2].clone();
    let from_then = only(LogFilter { since: Some(At::Time(middle.time_ms)), ..all.clone() });
    assert!(from_then.iter().all(|line| line.time_ms >= middle.time_ms) && from_then.contains(&middle));
    assert_eq!(only(LogFilter { limit: 2, ..all }).len(), 2);
}

#[test]
fn near_names_are_offered() {
    let (journal, _) = lab();
    let fleet = Fleet::at_head(&*journal).unwrap();
    assert_eq!(near_matches(&fleet, &stream("volume/date")), ["volume/data"]);
    assert_eq!(near_matches(&fleet, &stream("volume/nothing-like-it")), [] as [&str; 0]);
}

#[test]
fn a_volume_that_is_lost_is_trouble_and_so_is_what_it_is_attached_to() {
    let (journal, mut desk) = lab();
    let effect = match &Fleet::at_head(&*journal).unwrap().volumes.get("data").unwrap().storage {
        bailiwick_actors::volume::Storage::Provisioned { made, .. } => made.effect,
        other => panic!("{other:?}"),
    };
    let report = |report| bailiwick_actors::volume::Command::Report(report);
    desk.volume(
        "data",
        report(bailiwick_actors::volume::Report::Own(bailiwick_actors::volume::OwnReport::Lost { effect })),
    );
    let fleet = Fleet::at_head(&*journal).unwrap();
    let (volume, attachment) = (&volumes(&fleet)[0], &attachments(&fleet)[0]);
    assert_eq!((volume.status, volume.ready), ("lost", false));
    assert_eq!((attachment.status, attachment.ready), ("lost", false));
    assert!(attachment.detail.as_ref().is_some_and(|why| why.starts_with("its volume is lost")), "{attachment:?}");
    let row = &storage(&fleet)[0];
    assert_eq!(row.status, "error");
    assert!(row.detail.as_ref().is_some_and(|why| why.contains("no longer lists it")), "{row:?}");
    let trouble = |fleet: &Fleet| status(fleet).trouble.into_iter().map(|it| it.entity).collect::<Vec<_>>();
    let lost = trouble(&fleet);
    assert!(["volume/data", "volume-attachment/db:data"].iter().all(|it| lost.contains(&(*it).to_owned())), "{lost:?}");
    desk.volume(
        "data",
        report(bailiwick_actors::volume::Report::Own(bailiwick_actors::volume::OwnReport::Found { effect })),
    );
    let fleet = Fleet::at_head(&*journal).unwrap();
    assert_eq!((volumes(&fleet)[0].status, attachments(&fleet)[0].status), ("reserved", "attached"));
}

#[test]
fn a_detach_that_takes_too_long_says_who_blocks_since_when_and_what_there_is_to_do() {
    let (journal, mut desk) = lab();
    let (attachment, volume) = (stream("volume-attachment/db:data"), stream("volume/data"));
    let busy = || Fault::new(FaultCode::Unavailable, "somebody has it open");
    desk.faults.insert(attachment.clone(), std::iter::repeat_with(busy).take(50).collect());
    desk.volume("data", bailiwick_actors::volume::Command::Remove);
    let fleet = || Fleet::at_head(&*journal).unwrap();
    desk.settle();
    let is_due = |fleet: &Fleet| {
        let due = upcoming(fleet, 50).into_iter().find(|due| due.why.contains("reported as blocked"));
        due.map(|due| due.entity)
    };
    assert_eq!(is_due(&fleet()), Some(attachment.to_string()));
    let looked = why_not(&fleet(), &attachment, "removed").and_then(|answer| answer.unmet).expect("it is there");
    assert!(looked.satisfied_by.contains("reported as blocked") && looked.next_look_ms.is_some(), "{looked:?}");

    for _ in 0..40 {
        if attachments(&fleet())[0].status == "blocked" {
            break;
        }
        desk.wake_next();
        desk.settle();
    }
    let fleet = fleet();
    assert_eq!((attachments(&fleet)[0].status, is_due(&fleet)), ("blocked", None));
    let row = &storage(&fleet)[0];
    assert!(row.status == "error" && row.detail.as_ref().is_some_and(|why| why.contains("--force")), "{row:?}");
    let blocker = blockers(&fleet, &volume).remove(0);
    assert!(blocker.by == attachment.to_string() && blocker.since_ms.is_some(), "{blocker:?}");
    for entity in [&attachment, &volume] {
        let unmet = why_not(&fleet, entity, "removed").and_then(|answer| answer.unmet).expect("it is there");
        let force = format!("`bailiwick delete {attachment} --force`");
        assert!(unmet.satisfied_by.contains(&force) && unmet.next_look_ms.is_some(), "{entity}: {unmet:?}");
        assert!(unmet.because.contains("somebody has it open"), "{entity}: {unmet:?}");
    }
    assert!(why_not(&fleet, &attachment, "running").is_none());
}

#[test]
fn what_is_to_come_counts_from_the_moment_that_is_looked_at() {
    // given a machine whose second attempt is due
    let (journal, _) = lab();
    let mut fleet = Fleet::at_head(&*journal).unwrap();
    let due = Timestamp(machines(&fleet)[1].next_try_ms.expect("it is tried again"));
    let mut detail = |time: Timestamp| {
        fleet.time = time;
        machines(&fleet)[1].detail.clone().unwrap_or_default()
    };
    // when it is looked at before, and after
    let (before, after) = (detail(Timestamp(due.0 - 2_500)), detail(due.after(1)));
    // then it is told how long it was until then, and that it is due
    assert!(before.starts_with("unavailable: no room; attempt 2 in 2s (00:00:"), "{before}");
    assert!(after.starts_with("unavailable: no room; attempt 2 now (due since 00:00:"), "{after}");
}

#[test]
fn an_instance_that_is_listed_after_its_deletion_was_confirmed_is_trouble_at_once() {
    // given: a machine that was removed, as its provider confirmed
    let (journal, mut desk) = lab();
    let running = desk.provider.instances.iter().find(|(_, instance)| instance.machine.as_str() == "db");
    let (effect, instance) = running.map(|(effect, instance)| (*effect, instance.clone())).expect("it runs");
    desk.attachment("db:data", bailiwick_actors::volume_attachment::Command::Remove);
    desk.settle();
    desk.machine("db", machine::Command::Remove);
    desk.settle();
    let troubled = || {
        let status = status(&Fleet::at_head(&*journal).unwrap());
        status.trouble.into_iter().find(|trouble| trouble.entity == "machine/db")
    };
    assert_eq!(troubled(), None);
    // when: its provider lists its instance all the same
    desk.provider.instances.insert(effect, instance);
    for _ in 0..2 {
        desk.now = desk.now.after(1_000);
        desk.list();
    }
    // then
    let told = troubled().expect("it is told before it is deleted again");
    assert_eq!(told.status, "left-behind");
    assert!(told.why.contains("still lists it"), "{told:?}");
}

#[test]
fn why_a_machine_is_not_replaced_names_its_hold_its_keeping_and_what_does_not_count() {
    let (journal, mut desk) = lab();
    let because = || {
        let answer =
            why_not(&Fleet::at_head(&*journal).unwrap(), &stream("machine/db"), "replaced").expect("a machine");
        answer.unmet.expect("something is missing").because
    };
    assert_eq!(because(), "it is healthy");
    // A condition that does not count is no reason, and no health either.
    let bad = Condition { kind: "WorkloadRunning/w".into(), healthy: Healthy::No, text: "exit code 3".into() };
    let effect = desk.provider.instances.iter().find(|(_, it)| it.machine.as_str() == "db").map(|(effect, _)| *effect);
    let report = machine::Report::Node { effect: effect.expect("it runs"), conditions: vec![bad] };
    desk.machine("db", machine::Command::Report(report));
    assert_eq!(because(), "WorkloadRunning/w (exit code 3) is not one of its nodeConditions");
    desk.machine("db", machine::Command::Hold { reason: "its disk".into(), until: None });
    assert_eq!(because(), "it is held (its disk): nothing is replaced until the hold ends");
}
