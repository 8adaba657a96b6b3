//! A volume leaves a machine that is drained when the turn of its workload has come, and the machine hears of it.

use super::*;

/// The workload that uses `data` is to end, and another one after it.
fn ending(seen: Seen, how: &[machine::Event]) -> Seen {
    let (until, at) = (Timestamp(99), Timestamp(8));
    let plan = |title: &str, volume: &str| {
        let volumes = [name(volume)].into();
        machine::TurnPlan { workload: name(title), volumes, wave: 0, grace_ms: 5 }
    };
    let began = [
        machine::Event::DrainBegan { until, at, turns: vec![plan("db", "data"), plan("web", "logs")] },
        machine::Event::TurnBegan { workload: name("db"), is_forced: false, until },
    ];
    seen.then("machine/web", stored(how.iter().cloned().chain(began)))
}

/// It has ended, and its volume is to leave.
fn ended(how: &[machine::Event]) -> Seen {
    let ended = machine::Event::WorkloadEnded { workload: name("db"), volumes: [name("data")].into() };
    ending(attached(), how).then("machine/web", stored([ended]))
}

fn noted() -> Order {
    let command = machine::Command::NoteDetached { effect: effect("machine/web", 2), volume: name("data") };
    Order::Machine { machine: name("web"), command }
}

const DIES: [machine::Event; 1] = [machine::Event::RemovalBegan { at: Timestamp(8) }];

#[test]
fn a_volume_waits_for_the_end_of_who_uses_it_and_not_for_the_others() {
    assert_eq!(ending(attached(), &DIES).look("machine/web"), []);
    assert_eq!(ended(&DIES).look("machine/web"), [order(volume_attachment::Command::Remove)]);
}

#[test]
fn the_volume_of_a_machine_that_is_only_replaced_is_detached_and_stays_so_until_the_next_instance() {
    let machine_effect = effect("machine/web", 2);
    let seen = ended(&[]);
    assert_eq!(seen.look("machine/web"), [order(volume_attachment::Command::Detach { machine_effect })]);
    let requested = stored([volume_attachment::Event::DetachRequested { at: Timestamp(9) }]);
    let seen = seen.then("volume-attachment/web:data", requested);
    assert_eq!(seen.look("machine/web"), [], "it is being detached");
    let detached = stored([volume_attachment::Event::Detached]);
    let seen = seen.then("volume-attachment/web:data", detached);
    assert_eq!(seen.look("volume-attachment/web:data"), [noted()]);
    let left = stored([machine::Event::VolumeDetached { volume: name("data") }]);
    let seen = seen.then("machine/web", left);
    assert_eq!(seen.look("machine/web"), [], "it is not attached again to what is about to go");
}

#[test]
fn a_volume_that_is_attached_to_nothing_is_waited_for_by_nobody() {
    let ready = declared().then("machine/web", machine_runs());
    let over = machine::Event::WorkloadEnded { workload: name("db"), volumes: [name("data")].into() };
    let seen = ending(ready, &[]).then("machine/web", stored([over]));
    assert_eq!(seen.look("machine/web"), [noted()]);
}

#[test]
fn what_is_mounted_from_a_volume_leaves_before_it() {
    let mounted = || files_mounted(files_made(files_declared(attached())).then("supervisor/storage", seen_as("sdb")));
    let machine_effect = effect("machine/web", 2);
    for (how, first, then) in [
        (&DIES[..], filesystem_attachment::Command::Remove, volume_attachment::Command::Remove),
        (
            &[][..],
            filesystem_attachment::Command::Detach { machine_effect },
            volume_attachment::Command::Detach { machine_effect },
        ),
    ] {
        assert_eq!(ending(mounted(), how).look("machine/web"), [], "it is used");
        let ended = machine::Event::WorkloadEnded { workload: name("db"), volumes: [name("data")].into() };
        let seen = ending(mounted(), how).then("machine/web", stored([ended]));
        let unmount = Order::FilesystemAttachment { machine: name("web"), filesystem: name("files"), command: first };
        let orders = seen.look("machine/web");
        assert!(orders.iter().all(|order| *order == unmount) && !orders.is_empty(), "{orders:?}");
        let mut unmounted = vec![filesystem_attachment::Event::DetachRequested { at: Timestamp(8) }];
        unmounted.push(filesystem_attachment::Event::Detached);
        if how == DIES {
            unmounted.insert(0, filesystem_attachment::Event::RemovalBegan);
            unmounted.push(filesystem_attachment::Event::Removed);
        }
        let seen = seen.then("filesystem-attachment/web:files", stored(unmounted));
        let orders = seen.look("filesystem-attachment/web:files");
        assert!(orders.contains(&order(then.clone())), "{orders:?}");
    }
}
