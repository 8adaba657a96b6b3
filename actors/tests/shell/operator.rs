//! What operators and the harvest do, with a provider behind it.

use bailiwick_actors::{
    machine::Command,
    ports::{InstanceStatus, MachineInstance},
    shell::{AnyCommand, Running},
    vocab::{EffectId, FaultCode, InstanceId, Name},
};
use uuid::Uuid;

use crate::support::{Bench, Mood, after_ms, ask, codes, machine_of, on_a_system, told};

fn stranger() -> MachineInstance {
    MachineInstance {
        effect: EffectId(Uuid::from_u128(7)),
        instance: InstanceId("i-strange".into()),
        machine: "m".parse().unwrap(),
        facts: [].into(),
        status: InstanceStatus::Running,
    }
}

async fn tell(node: &Running, command: Command, id: &str) -> String {
    told(node, ask("machine/m", AnyCommand::from(command), id)).await.unwrap().code
}

fn provider() -> Name {
    "a".parse().unwrap()
}

#[test]
fn a_stray_is_deleted_by_its_own_id_and_the_machines_own_instance_stays() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "declare")).await.unwrap();
        after_ms(1_000).await;
        bench.provider("a").state().instances.insert(stranger().effect, stranger());
        let remove = || Command::RemoveStray { provider: provider(), instance: stranger() };
        assert_eq!(tell(&node, remove(), "stray").await, "stray-unknown");
        after_ms(1_000).await;
        let left: Vec<EffectId> = bench.provider("a").state().instances.keys().copied().collect();
        assert_eq!((left.len(), left.contains(&stranger().effect)), (1, false));
        // Its own instance is not a stray, whoever says so.
        let own = bench.provider("a").state().instances.values().next().cloned().unwrap();
        let command = Command::RemoveStray { provider: provider(), instance: own };
        assert_eq!(tell(&node, command, "own").await, "already-its-own");
        after_ms(1_000).await;
        assert_eq!(bench.provider("a").state().instances.len(), 1);
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "already-its-own");
    });
}

#[test]
fn a_held_machine_makes_no_attempt_until_the_hold_ends_also_across_a_restart() {
    let journal = on_a_system(async {
        let bench = Bench::new();
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "declare")).await.unwrap();
        after_ms(1_000).await;
        assert_eq!(bench.provider("a").calls_of("create"), 1);
        let hold = Command::Hold { reason: "wait".into(), until: None };
        assert_eq!(tell(&node, hold, "hold").await, "operator-holds");
        after_ms(3_600_000).await;
        assert_eq!(bench.provider("a").calls_of("create"), 1, "the next attempt was due long ago");
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "on-hold");
        bench.journal.reopened()
    });
    on_a_system(async {
        let bench = Bench::over(journal);
        let node = bench.start().await;
        after_ms(3_600_000).await;
        assert_eq!(bench.provider("a").calls_of("create"), 0);
        assert_eq!(tell(&node, Command::Unhold, "unhold").await, "operator-releases");
        after_ms(60_000).await;
        assert_eq!(bench.provider("a").state().instances.len(), 1);
    });
}

#[test]
fn a_disowned_instance_is_adopted_under_its_old_id_and_deleted_by_it() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "declare")).await.unwrap();
        after_ms(1_000).await;
        assert_eq!(tell(&node, Command::Disown, "disown").await, "operator-disowns");
        after_ms(60_000).await;
        let instance = bench.provider("a").state().instances.values().next().cloned().expect("it stays");
        let adopt = Command::Adopt { provider: provider(), instance: instance.clone() };
        assert_eq!(tell(&node, adopt, "adopt").await, "operator-adopts");
        assert_eq!(tell(&node, Command::Remove, "remove").await, "removal-asked");
        after_ms(1_000).await;
        let state = bench.provider("a").state();
        assert!(state.instances.is_empty(), "{:?}", state.instances);
        assert!(state.calls.contains(&("delete", vec![instance.effect.to_string()])));
    });
}
