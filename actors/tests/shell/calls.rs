//! Provider calls: sorted, bounded, timed out, and independent of one another (A8, A13, A15).

use bailiwick_actors::{
    machine::{self, Report},
    ports::{InstanceStatus, MachineInstance},
    shell::{AnyCommand, AskGroup, Origin},
    vocab::{EffectId, Fault, FaultCode, InstanceId, derived_uuid},
};
use bailiwick_journal::{Journal as _, Outcome, Version};

use crate::support::{Bench, Mood, after_ms, ask, codes, machine_of, on_a_system, stream, told};

pub async fn declare(node: &bailiwick_actors::shell::Running, names: &[String], provider: &str) {
    let commands = names.iter().map(|name| (stream(&format!("machine/{name}")), machine_of(provider))).collect();
    let id = derived_uuid(&format!("{names:?}"));
    let origin =
        Origin { id, principal: "operator".into(), cause: None, cites: Vec::new(), routine: false, expected: None };
    assert!(node.registry.send(AskGroup { commands, origin, content: [0; 16] }).await.unwrap().unwrap().done);
}

#[test]
fn what_is_ready_together_goes_out_as_one_sorted_call() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let names: Vec<String> = ["c", "a", "b", "e", "d"].map(str::to_owned).to_vec();
        declare(&node, &names, "a").await;
        after_ms(10).await;
        let calls = bench.provider("a").state().calls.clone();
        assert_eq!(calls, [("create", ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec())]);
    });
}

#[test]
fn calls_to_a_provider_are_bounded_in_number_and_size() {
    on_a_system(async {
        let mut bench = Bench::new();
        bench.limits.calls_max = 3;
        bench.limits.bulk_max = 10;
        let node = bench.start().await;
        bench.provider("a").set(Mood::Slow { ms: 1_000 });
        let names: Vec<String> = (0..100).map(|number| format!("m{number:03}")).collect();
        declare(&node, &names, "a").await;
        after_ms(60_000).await;
        let state = bench.provider("a").state();
        assert_eq!(state.instances.len(), 100);
        assert_eq!(state.under_way_max, 3);
        assert!(state.calls.iter().all(|(_, items)| items.len() <= 10));
    });
}

#[test]
fn a_call_without_an_answer_is_unknown_and_asked_for_by_id() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Hanging);
        declare(&node, &["m".to_owned()], "a").await;
        after_ms(121_000).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "outcome-unknown");
        bench.provider("a").set(Mood::Willing);
        after_ms(30_000).await;
        let calls: Vec<&str> = bench.provider("a").state().calls.iter().map(|(name, _)| *name).collect();
        assert_eq!(calls, ["create", "lookup", "create"]);
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "instance-made");
    });
}

#[test]
fn a_call_that_nobody_wants_any_more_is_cut_short() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Hanging);
        declare(&node, &["m".to_owned(), "n".to_owned()], "a").await;
        after_ms(10).await;
        bench.provider("a").set(Mood::Willing);
        told(&node, ask("machine/m", AnyCommand::from(machine::Command::Remove), "go")).await.unwrap();
        after_ms(10).await;
        // Far below the call's time-out: the delete did not have to wait for it.
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "instance-absent");
        // The other machine of the same bulk call is told that nobody knows, and asks by id.
        assert_eq!(codes(&bench.journal, "machine/n").last().unwrap(), "outcome-unknown");
        after_ms(30_000).await;
        assert_eq!(codes(&bench.journal, "machine/n").last().unwrap(), "instance-made");
        let state = bench.provider("a").state();
        let calls: Vec<&str> = state.calls.iter().map(|(name, _)| *name).collect();
        // What may have been made was not seen yet, so it is looked at before it is deleted.
        assert_eq!(calls, ["create", "lookup", "delete", "lookup", "create"]);
    });
}

/// The instance that another control plane has made under the first id of a machine.
fn of_another(bench: &Bench, machine: &str) -> MachineInstance {
    let (effect, instance) =
        (EffectId::of(bench.journal.id(), &stream(&format!("machine/{machine}")), Version(2)), "theirs".into());
    let facts = [(MachineInstance::NONCE.to_owned(), "supervisor/machines:theirs".to_owned())].into();
    let (instance, machine) = (InstanceId(instance), machine.parse().unwrap());
    MachineInstance { effect, instance, machine, facts, status: InstanceStatus::Running }
}

#[test]
fn what_another_control_plane_has_started_is_never_deleted() {
    on_a_system(async {
        let bench = Bench::new();
        let theirs = of_another(&bench, "m");
        bench.provider("a").state().instances.insert(theirs.effect, theirs.clone());
        let node = bench.start().await;
        let remove = || AnyCommand::from(machine::Command::Remove);
        // Its create is refused, and then it is removed.
        declare(&node, &["m".to_owned()], "a").await;
        after_ms(10).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "started-by-other");
        told(&node, ask("machine/m", remove(), "go")).await.unwrap();
        after_ms(10).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "instance-spared");
        // It is taken for an orphan.
        let stray = of_another(&bench, "n");
        bench.provider("a").state().instances.insert(stray.effect, stray.clone());
        let found = machine::Command::RemoveStray { provider: "a".parse().unwrap(), instance: stray.clone() };
        told(&node, ask("machine/n", AnyCommand::from(found), "stray")).await.unwrap();
        after_ms(10).await;
        assert_eq!(codes(&bench.journal, "machine/n").last().unwrap(), "started-by-other");
        let state = bench.provider("a").state();
        assert_eq!(state.instances.len(), 2);
        assert!(state.calls.iter().all(|(call, _)| *call != "delete"), "{:?}", state.calls);
    });
}

#[test]
fn whose_it_is_is_looked_at_before_what_may_have_been_made_is_deleted() {
    on_a_system(async {
        let bench = Bench::new();
        let theirs = of_another(&bench, "m");
        bench.provider("a").state().instances.insert(theirs.effect, theirs);
        bench.provider("a").set(Mood::Hanging);
        let node = bench.start().await;
        declare(&node, &["m".to_owned()], "a").await;
        after_ms(10).await;
        // It is removed while nobody knows how its create went.
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        told(&node, ask("machine/m", AnyCommand::from(machine::Command::Remove), "go")).await.unwrap();
        after_ms(10).await;
        // Where nobody can tell, nothing is deleted.
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "worth-retrying");
        bench.provider("a").set(Mood::Willing);
        after_ms(60_000).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "started-by-other");
        let state = bench.provider("a").state();
        assert_eq!(state.instances.len(), 1);
        assert!(state.calls.iter().all(|(call, _)| *call != "delete"), "{:?}", state.calls);
    });
}

#[test]
fn a_retry_of_the_same_call_cuts_nothing_short() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Slow { ms: 60_000 });
        declare(&node, &["m".to_owned()], "a").await;
        after_ms(10).await;
        let again = AnyCommand::from(machine::Command::RetryProvisioning);
        assert_eq!(told(&node, ask("machine/m", again, "again")).await.unwrap().code, "nothing-to-retry");
        after_ms(61_000).await;
        assert!(bench.provider("a").state().cancelled.is_empty());
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "instance-made");
    });
}

#[test]
fn a_provider_that_hangs_does_not_hold_up_another() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Hanging);
        let stuck: Vec<String> = (0..50).map(|number| format!("a{number}")).collect();
        for name in &stuck {
            declare(&node, std::slice::from_ref(name), "a").await;
        }
        declare(&node, &["sound".to_owned()], "b").await;
        after_ms(10).await;
        assert_eq!(codes(&bench.journal, "machine/sound").last().unwrap(), "instance-made");
        assert_eq!(bench.provider("a").state().instances.len(), 0);
    });
}

#[test]
fn a_bulk_call_that_fails_as_a_whole_fails_only_for_what_is_in_it() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        declare(&node, &["x".to_owned(), "y".to_owned()], "a").await;
        after_ms(10).await;
        bench.provider("a").set(Mood::Willing);
        declare(&node, &["z".to_owned()], "a").await;
        after_ms(10).await;
        assert_eq!(codes(&bench.journal, "machine/x").last().unwrap(), "worth-retrying");
        assert_eq!(codes(&bench.journal, "machine/z").last().unwrap(), "instance-made");
        after_ms(30_000).await;
        assert_eq!(codes(&bench.journal, "machine/y").last().unwrap(), "instance-made");
    });
}

#[test]
fn a_provider_that_nobody_has_is_an_error_of_the_entity() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        declare(&node, &["m".to_owned()], "nobody").await;
        // Several times in a row: its provider may come with the node's next start.
        after_ms(120_000).await;
        assert_eq!(codes(&bench.journal, "machine/m").last().unwrap(), "not-retryable");
    });
}

#[test]
fn a_late_report_is_recorded_as_such_and_changes_nothing() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Failing(FaultCode::Unavailable));
        declare(&node, &["m".to_owned()], "a").await;
        after_ms(10).await;
        let version = told(&node, ask("machine/m", machine_of("a"), "no change")).await.unwrap().version;
        let fault = Fault::new(FaultCode::Internal, "late");
        let late = AnyCommand::from(machine::Command::Report(Report::CreateFailed { attempt: 1, fault }));
        let answer = told(&node, ask("machine/m", late, "late")).await.unwrap();
        assert_eq!((answer.outcome, answer.code.as_str()), (Outcome::Nothing, "stale-report"));
        assert_eq!(answer.version, version);
        assert!(answer.position.is_some(), "it is on record");
    });
}

#[test]
fn after_a_restart_the_provider_is_asked_before_anything_is_made() {
    let journal = on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        bench.provider("a").set(Mood::Hanging);
        declare(&node, &["m".to_owned()], "a").await;
        after_ms(10).await;
        bench.journal.reopened()
    });
    on_a_system(async {
        let bench = Bench::over(journal);
        let node = bench.start().await;
        assert_eq!(node.resumed.busy, [stream("machine/m")]);
        after_ms(10).await;
        let calls: Vec<&str> = bench.provider("a").state().calls.iter().map(|(name, _)| *name).collect();
        assert_eq!(calls, ["lookup", "create"]);
        assert_eq!(bench.provider("a").calls_of("create"), 1);
    });
}
