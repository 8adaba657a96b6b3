//! Commands by id, versions that cannot move, and groups (A6, A8).

use bailiwick_actors::{
    machine,
    shell::{AnyCommand, AskError, AskGroup, Expected, Origin},
    vocab::derived_uuid,
    volume,
};
use bailiwick_journal::{AppendError, Journal, Room, StreamId, Version, digest};

use crate::support::{Bench, after_ms, ask, attachment, codes, machine_of, on_a_system, stream, told};

fn group(id: &str, commands: Vec<(StreamId, AnyCommand)>) -> AskGroup {
    let origin = Origin {
        id: derived_uuid(id),
        principal: "operator".into(),
        cause: None,
        cites: Vec::new(),
        routine: false,
        expected: None,
    };
    let content = digest(format!("{commands:?}").as_bytes());
    AskGroup { commands, origin, content }
}

fn reserve(volume: &str) -> AnyCommand {
    AnyCommand::from(machine::Command::ReserveAttachment { volume: volume.parse().unwrap() })
}

#[test]
fn the_same_id_gets_the_first_answer_also_after_a_restart() {
    let journal = on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let first = told(&node, ask("machine/m", machine_of("a"), "one")).await.unwrap();
        let again = told(&node, ask("machine/m", machine_of("a"), "one")).await.unwrap();
        assert!(!first.repeated && again.repeated);
        assert_eq!((first.position, &first.code, &first.text), (again.position, &again.code, &again.text));
        bench.journal.reopened()
    });
    on_a_system(async {
        let bench = Bench::over(journal);
        let node = bench.start().await;
        let again = told(&node, ask("machine/m", machine_of("a"), "one")).await.unwrap();
        assert!(again.repeated);
        assert_eq!(codes(&bench.journal, "machine/m").iter().filter(|code| *code == "newly-declared").count(), 1);
    });
}

#[test]
fn the_first_start_records_the_policy_before_anything_else() {
    on_a_system(async {
        // Given a node that was never started, when it starts
        let bench = Bench::new();
        let _node = bench.start().await;
        // Then the settings are in the journal before anybody decides by them
        assert_eq!(codes(&bench.journal, "policy/default"), ["revised"]);
        assert!(bench.journal.streams("").iter().all(|stream| stream.kind() == "policy"), "nothing else was decided");
    });
}

#[test]
fn the_same_id_with_another_content_or_target_is_refused() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "one")).await.unwrap();
        let reused = Err(AskError::CommandReused { id: derived_uuid("one") });
        assert_eq!(told(&node, ask("machine/m", machine_of("b"), "one")).await, reused);
        assert_eq!(told(&node, ask("machine/n", machine_of("a"), "one")).await, reused);
    });
}

#[test]
fn a_version_cannot_move_under_an_append() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "declared")).await.unwrap();
        after_ms(10).await;
        bench.journal.hold();
        let asked: Vec<_> = (0..8)
            .map(|number| node.registry.send(ask("machine/m", reserve(&format!("v{number}")), &format!("{number}"))))
            .collect();
        after_ms(1).await;
        assert_eq!(bench.journal.held(), 1, "the others wait in the mailbox");
        bench.journal.release();
        let mut versions = Vec::new();
        for answer in asked {
            versions.push(answer.await.unwrap().unwrap().version.0);
        }
        let first = versions[0];
        assert_eq!(versions, (first..first + 8).collect::<Vec<_>>());
    });
}

#[test]
fn a_command_that_expects_an_earlier_version_does_nothing_and_its_id_stays_free() {
    on_a_system(async {
        // Given a machine that has changed since somebody looked
        let bench = Bench::new();
        let node = bench.start().await;
        let declared = told(&node, ask("machine/m", machine_of("a"), "one")).await.unwrap();
        told(&node, ask("machine/m", reserve("data"), "two")).await.unwrap();
        let entries = bench.journal.head().position;
        // When he asks for something as it was then, alone and in a group
        let expecting = |version| Some(Expected { stream: stream("machine/m"), version });
        let mut late = ask("machine/m", reserve("logs"), "three");
        late.origin.expected = expecting(declared.version);
        let mut together = group("four", vec![(stream("machine/m"), reserve("logs"))]);
        together.origin.expected = expecting(declared.version);
        // Then nothing is decided
        let now = bench.journal.version(&stream("machine/m"));
        let changed = AskError::Changed { stream: stream("machine/m"), version: now };
        assert_eq!(told(&node, late).await.unwrap_err(), changed);
        assert_eq!(node.registry.send(together).await.unwrap().unwrap_err(), changed);
        assert_eq!(bench.journal.head().position, entries);
        // And the same request is decided once he has looked again; asked twice, he gets the first answer, whatever has changed
        let mut again = ask("machine/m", reserve("logs"), "three");
        again.origin.expected = expecting(now);
        assert!(!told(&node, again).await.unwrap().repeated);
        let mut again = ask("machine/m", reserve("logs"), "three");
        again.origin.expected = expecting(now);
        assert!(told(&node, again).await.unwrap().repeated);
        let mut together = group("five", vec![(stream("machine/m"), reserve("tmp"))]);
        together.origin.expected = expecting(bench.journal.version(&stream("machine/m")));
        assert!(node.registry.send(together).await.unwrap().unwrap().done);
    });
}

#[test]
fn a_group_happens_as_a_whole_or_not_at_all() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let volume = AnyCommand::from(volume::Command::ReserveAttachment { machine: "m".parse().unwrap() });
        let commands = vec![
            (stream("machine/m"), machine_of("a")),
            (stream("machine/m"), reserve("v")),
            (stream("volume/v"), volume),
        ];
        let answer = node.registry.send(group("g", commands.clone())).await.unwrap().unwrap();
        assert!(!answer.done);
        assert_eq!(answer.answers[2].code, "not-declared");
        assert!(codes(&bench.journal, "machine/m").is_empty(), "what was not refused was not done either");
        assert_eq!(codes(&bench.journal, "volume/v"), ["not-declared"], "the refusal is recorded");
        let again = node.registry.send(group("g", commands)).await.unwrap().unwrap();
        assert!(!again.done);
        assert_eq!(codes(&bench.journal, "volume/v").len(), 1);
    });
}

#[test]
fn several_commands_of_a_group_for_one_stream_are_decided_one_after_the_other() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let commands = vec![
            (stream("machine/m"), machine_of("a")),
            (stream("machine/m"), reserve("v")),
            (stream("machine/m"), reserve("w")),
        ];
        let answer = node.registry.send(group("g", commands.clone())).await.unwrap().unwrap();
        assert!(answer.done);
        assert_eq!(answer.answers.last().unwrap().version, Version(4));
        let again = node.registry.send(group("g", commands)).await.unwrap().unwrap();
        assert!(again.done && again.answers.iter().all(|answer| answer.repeated));
    });
}

/// A machine that was declared together with a unit of an application was made at once, without what the unit asks for.
#[test]
fn what_follows_from_a_group_goes_out_when_all_of_it_is_known() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let assign = AnyCommand::from(machine::Command::Assign { application: "shop".parse().unwrap() });
        let commands = vec![
            (stream("machine/m"), machine_of("a")),
            (stream("machine/n"), machine_of("a")),
            (stream("machine/m"), assign),
        ];
        assert!(node.registry.send(group("g", commands)).await.unwrap().unwrap().done);
        after_ms(10).await;
        let calls = bench.provider("a").state().calls.clone();
        // Otherwise both would have gone out in one call.
        assert_eq!(calls, [("create", vec!["n".to_owned()]), ("create", vec!["m".to_owned()])]);
        assert!(codes(&bench.journal, "machine/m").contains(&"start-prepared".to_owned()));
    });
}

#[test]
fn a_group_in_conflict_is_decided_again() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let conflict =
            || AppendError::Conflict { stream: stream("machine/m"), expected: Version(0), found: Version(1) };
        bench.journal.refuse_next(conflict());
        let done = node.registry.send(group("g", vec![(stream("machine/m"), machine_of("a"))])).await.unwrap().unwrap();
        assert!(done.done);
        for _ in 0..16 {
            bench.journal.refuse_next(conflict());
        }
        let contended = node.registry.send(group("h", vec![(stream("machine/n"), machine_of("a"))])).await.unwrap();
        assert_eq!(contended, Err(AskError::Contended));
    });
}

#[test]
fn groups_and_single_commands_for_the_same_entities_get_along() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        told(&node, ask("machine/m", machine_of("a"), "declared")).await.unwrap();
        after_ms(10).await;
        let mut groups = Vec::new();
        let mut singles = Vec::new();
        for number in 0..50 {
            let both =
                vec![(stream("machine/m"), reserve(&format!("g{number}"))), (stream("machine/n"), machine_of("a"))];
            groups.push(node.registry.send(group(&format!("g{number}"), both)));
            singles.push(node.registry.send(ask("machine/m", reserve(&format!("s{number}")), &format!("s{number}"))));
        }
        for answer in groups {
            assert!(matches!(answer.await.unwrap(), Ok(answer) if answer.done));
        }
        for answer in singles {
            assert_eq!(answer.await.unwrap().unwrap().code, "attachment-wanted");
        }
    });
}

#[test]
fn a_disk_that_is_nearly_full_refuses_new_work_only() {
    on_a_system(async {
        let bench = Bench::new();
        let node = bench.start().await;
        let full = AppendError::NearlyFull(Room { free_bytes: 1 << 20, reserved_bytes: 256 << 20 });
        bench.journal.refuse_next(full.clone());
        let (to, command) = attachment("m");
        assert_eq!(told(&node, ask(&to, command.clone(), "1")).await, Err(AskError::NotRecorded(full)));
        assert!(told(&node, ask(&to, command, "1")).await.is_ok());
    });
}
