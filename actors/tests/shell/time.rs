//! Due times (A9), and wall clocks that are set.

use std::sync::atomic::Ordering;

use bailiwick_actors::{
    machine::Command,
    schedule::{StartSchedule, Upcoming},
    shell::{AnyCommand, Running},
    vocab::{FaultCode, Timestamp},
};
use bailiwick_journal::StreamId;

use crate::support::{Bench, EPOCH_MS, Mood, after_ms, ask, codes, machine_of, on_a_system, told};

async fn upcoming(node: &Running) -> Vec<(Timestamp, StreamId)> {
    node.schedule.send(Upcoming { limit: 10_000 }).await.unwrap()
}

#[test]
fn after_a_crash_every_due_time_is_the_same_to_the_millisecond() {
    let (journal, before) = on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        for number in 0..200 {
            told(&node, ask(&format!("machine/m{number}"), machine_of("a"), &format!("{number}"))).await.unwrap();
            after_ms(number % 7).await;
        }
        after_ms(5).await;
        let before = upcoming(&node).await;
        (bench.journal.reopened(), before)
    });
    assert_eq!(before.len(), 200);
    on_a_system(async move {
        let bench = Bench::over(journal);
        let node = bench.start().await;
        let mut after = upcoming(&node).await;
        let mut expected = before;
        after.sort();
        expected.sort();
        assert_eq!(after, expected);
        // None is doubled: each attempt goes out once, at its time.
        after_ms(30_000).await;
        assert_eq!(bench.provider("a").state().instances.len(), 200);
        let attempts = bench.journal.entries().iter().filter(|e| e.header.meta.code == "retry-due").count();
        assert_eq!(attempts, 200);
    });
}

#[test]
#[ignore = "takes long"]
fn a_million_due_times_are_a_normal_day() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let waiting: Vec<(StreamId, Timestamp)> = (0..1_000_000u64)
            .map(|number| (StreamId::new("member", &number.to_string()).unwrap(), Timestamp(EPOCH_MS + number)))
            .collect();
        let registry = node.registry.downgrade();
        node.schedule.send(StartSchedule { registry, waiting }).await.unwrap();
        after_ms(2_000_000).await;
        assert!(upcoming(&node).await.is_empty());
    });
}

#[test]
fn a_wall_clock_that_is_set_back_delays_nothing() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
        after_ms(100).await;
        bench.clock.set_by_ms.store(-24 * 3_600_000, Ordering::SeqCst);
        bench.provider("a").set(Mood::Willing);
        after_ms(30_000).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "instance-made");
    });
}

#[test]
fn a_clock_behind_the_journal_delays_nothing_after_a_restart() {
    let journal = on_a_system(async {
        let bench = Bench::new();
        bench.clock.set_by_ms.store(24 * 3_600_000, Ordering::SeqCst);
        let node = bench.start().await;
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
        after_ms(100).await;
        bench.journal.reopened()
    });
    on_a_system(async {
        let bench = Bench::over(journal);
        let _node = bench.start().await;
        after_ms(60_000).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "instance-made");
        let times: Vec<u64> = bench.journal.entries().iter().map(|entry| entry.header.meta.time_ms).collect();
        assert!(times.is_sorted());
    });
}

#[test]
fn a_due_time_is_never_early() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
        after_ms(3_600_000).await;
        let entries = bench.journal.entries();
        let ends: Vec<(u64, &str)> =
            entries.iter().map(|e| (e.header.meta.time_ms, e.header.meta.code.as_str())).collect();
        let failed = ends.iter().filter(|(_, code)| *code == "worth-retrying").map(|(time, _)| *time);
        let tried = ends.iter().filter(|(_, code)| *code == "retry-due").map(|(time, _)| *time);
        let waits: Vec<u64> = failed.zip(tried).map(|(failed, tried)| tried - failed).collect();
        assert_eq!(waits[..3], [10_000, 20_000, 40_000]);
    });
}

#[test]
fn of_two_wake_ups_of_one_entity_the_first_is_armed_and_then_the_other() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        // Given a machine that may take twenty minutes to become well,
        told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
        after_ms(10).await;
        let [(joins, _)] = upcoming(&node).await[..] else { panic!("one thing is due") };
        // when it is held for one of them,
        let until = Timestamp(EPOCH_MS + 60_000);
        let hold = Command::Hold { reason: "looked at".into(), until: Some(until) };
        told(&node, ask("machine/m", AnyCommand::from(hold), "2")).await.unwrap();
        after_ms(10).await;
        // then the end of the hold comes first,
        assert_eq!(upcoming(&node).await, [(until, "machine/m".parse().unwrap())]);
        after_ms(60_000).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "hold-over");
        // and what is due later is not forgotten.
        assert_eq!(upcoming(&node).await, [(joins, "machine/m".parse().unwrap())]);
        after_ms(20 * 60_000).await;
        assert!(codes(&bench.journal, "machine/m").contains(&"time-over".to_owned()));
    });
}
