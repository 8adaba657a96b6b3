//! Actors that break (A1, A2, A3).

use std::collections::BTreeMap;

use bailiwick_actors::{
    machine,
    shell::{AnyCommand, AskError},
    testing::{Plant, plant},
};

use crate::support::{Bench, after_ms, ask, codes, machine_of, on_a_system, stats, stream, told};

fn reserve(volume: &str) -> AnyCommand {
    AnyCommand::from(machine::Command::ReserveAttachment { volume: volume.parse().unwrap() })
}

#[test]
fn a_panic_in_a_core_is_journaled_and_the_actor_comes_back_from_the_journal() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
        after_ms(10).await;
        let before = told(&node, ask("machine/m", reserve("v0"), "2")).await.unwrap();
        plant(Plant::Core, &stream("machine/m"), 1);
        let broken = told(&node, ask("machine/m", reserve("v1"), "3")).await;
        assert_eq!(broken, Err(AskError::Crashed { stream: stream("machine/m") }));
        let after = told(&node, ask("machine/m", reserve("v2"), "4")).await.unwrap();
        assert_eq!(after.version, before.version.next());
        let written = codes(&bench.journal, "machine/m");
        assert_eq!(written.iter().filter(|code| *code == "crashed").count(), 1, "{written:?}");
        assert_eq!(written.last().unwrap(), "attachment-wanted");
    });
}

#[test]
fn others_do_not_notice_a_panic() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        plant(Plant::Core, &stream("machine/broken"), u32::MAX);
        let broken = node.registry.send(ask("machine/broken", machine_of("a"), "1"));
        let sound = node.registry.send(ask("machine/sound", machine_of("a"), "2"));
        assert!(broken.await.unwrap().is_err());
        assert_eq!(sound.await.unwrap().unwrap().code, "newly-declared");
        plant(Plant::Core, &stream("machine/broken"), 0);
    });
}

#[test]
fn an_actor_that_breaks_again_and_again_is_quarantined_and_the_rest_goes_on() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        plant(Plant::Core, &stream("machine/m"), 5);
        for attempt in 0..5 {
            let broken = told(&node, ask("machine/m", machine_of("a"), &format!("{attempt}"))).await;
            assert_eq!(broken, Err(AskError::Crashed { stream: stream("machine/m") }), "attempt {attempt}");
            after_ms(1).await;
        }
        let refused = told(&node, ask("machine/m", machine_of("a"), "sound again")).await;
        assert_eq!(refused, Err(AskError::Quarantined { stream: stream("machine/m") }));
        assert_eq!(stats(&node).await.quarantined, [stream("machine/m")]);
        assert_eq!(codes(&bench.journal, "machine/m"), ["crashed", "crashed", "crashed", "crashed", "quarantined"]);
        assert!(told(&node, ask("machine/n", machine_of("a"), "n")).await.is_ok());
    });
}

#[test]
fn breaks_that_are_far_apart_do_not_quarantine() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        plant(Plant::Core, &stream("machine/m"), 12);
        for attempt in 0..12 {
            assert!(told(&node, ask("machine/m", machine_of("a"), &format!("{attempt}"))).await.is_err());
            after_ms(30_000).await;
        }
        assert!(told(&node, ask("machine/m", machine_of("a"), "sound again")).await.is_ok());
    });
}

#[test]
fn an_actor_that_ends_by_a_panic_is_noticed_and_counts_once_however_many_wait() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "declared")).await.unwrap();
        after_ms(10).await;
        bench.journal.hold();
        let first = node.registry.send(ask("machine/m", reserve("v0"), "held"));
        let waiting: Vec<_> = (0..20)
            .map(|number| node.registry.send(ask("machine/m", reserve(&format!("w{number}")), &format!("w{number}"))))
            .collect();
        after_ms(1).await;
        plant(Plant::Handler, &stream("machine/m"), 1);
        bench.journal.release();
        assert!(first.await.unwrap().is_ok());
        for answer in waiting {
            assert_eq!(answer.await.unwrap(), Err(AskError::Crashed { stream: stream("machine/m") }));
        }
        let again = told(&node, ask("machine/m", reserve("w3"), "w3")).await.unwrap();
        assert!(!again.repeated, "it was not done, so the same id is done now");
        let written = codes(&bench.journal, "machine/m");
        assert_eq!(written.iter().filter(|code| *code == "crashed").count(), 1, "{written:?}");
        assert!(stats(&node).await.quarantined.is_empty());
    });
}

#[test]
fn what_a_broken_actor_owed_is_carried_out_by_the_next_one() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        plant(Plant::Core, &stream("machine/m"), 0);
        told(&node, ask("machine/m", machine_of("a"), "1")).await.unwrap();
        // Its report breaks it: the executor reports again, to another actor.
        plant(Plant::Core, &stream("machine/m"), 2);
        after_ms(5_000).await;
        assert!(codes(&bench.journal, "machine/m").contains(&"instance-made".to_owned()));
        assert_eq!(bench.provider("a").state().instances.len(), 1);
    });
}

#[test]
fn an_invariant_that_does_not_hold_is_counted_once_for_each_object() {
    on_a_system(async {
        // given a journal after whose last entry a machine is being removed that nobody asked to go
        let mut bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/sound", machine_of("a"), "1")).await.unwrap();
        told(&node, ask("machine/broken", machine_of("a"), "2")).await.unwrap();
        after_ms(10).await;
        assert_eq!(stats(&node).await.broken, BTreeMap::new());
        drop(node);
        bench.forge("machine/broken", &machine::Event::Died);
        // when a node starts over it, and the machine is asked for something
        let node = bench.start().await;
        after_ms(10).await;
        for (volume, id) in [("v1", "3"), ("v2", "4")] {
            drop(told(&node, ask("machine/broken", reserve(volume), id)).await);
        }
        // then what does not hold is told by name, once
        let broken = stats(&node).await.broken;
        assert_eq!(broken, BTreeMap::from([(("machine", "removal-has-a-beginning"), 1)]));
    });
}
