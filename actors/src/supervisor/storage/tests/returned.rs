//! Volumes that were destroyed, as their provider said, and that it still shows.

use super::*;
use crate::{
    ports::Listing,
    supervisor::storage::{VolumeChange, has_volumes, volume_changes},
};

fn destroyed(first: Vec<volume::Event>) -> Seen {
    let spec = volume::Spec { provider: name("local"), size: SizeMib(64) };
    let made = [
        volume::Event::Declared { spec },
        volume::Event::CreateRequested { base: volume::Where::Anywhere, at: Timestamp(1) },
    ];
    let going =
        [volume::Event::RemovalBegan, volume::Event::Died, volume::Event::DestroyRequested { at: Timestamp(2) }];
    Seen::default()
        .then("volume/data", stored(made))
        .then("volume/data", volume_made())
        .then("volume/data", stored(first))
        .then("volume/data", stored(going))
        .then("volume/data", stored([volume::Event::Destroyed, volume::Event::Removed]))
}

fn changes(seen: &Seen, as_of: u64) -> Vec<VolumeChange> {
    let (effect, volume_id) = (effect("volume/data", 2), InstanceId("v-1".into()));
    let items = vec![ProvisionedVolume { effect, volume_id, size: SizeMib(64) }];
    volume_changes(&seen.view, &name("local"), None, &Listing { complete: false, as_of: Timestamp(as_of), items })
}

fn returned(as_of: u64) -> VolumeChange {
    VolumeChange::Returned { volume: name("data"), effect: effect("volume/data", 2), as_of: Timestamp(as_of) }
}

fn observed(seen: Seen, as_of: u64) -> Seen {
    assert_eq!(changes(&seen, as_of), [returned(as_of)]);
    seen.then("supervisor/storage", stored([Event::VolumesObserved { changes: vec![returned(as_of)] }]))
}

fn destroy_again() -> Order {
    let command = volume::Command::Own(volume::OwnCommand::DestroyReturned { provider: name("local"), of: Version(2) });
    Order::Volume { volume: name("data"), command }
}

#[test]
fn a_destroyed_volume_that_two_lists_show_is_destroyed_again() {
    let seen = destroyed(vec![]);
    assert!(has_volumes(&seen.view, &name("local")), "its provider is asked on");
    assert_eq!(changes(&seen, 0), [], "the list is older than the end of the volume");
    let seen = observed(seen, 10);
    assert_eq!(seen.look("volume/data"), [], "one list is not enough");
    assert_eq!(changes(&seen, 10), [], "the same list again is no second one");
    let seen = observed(seen, 20);
    assert_eq!(changes(&seen, 30), [], "that is known");
    assert_eq!(seen.look("volume/data"), [destroy_again()]);
    let back =
        volume::Event::Own(volume::OwnEvent::Returned { provider: name("local"), of: Version(2), at: Timestamp(21) });
    let seen = seen.then("volume/data", stored([back]));
    assert_eq!(seen.look("volume/data"), [], "it is on its way");
    // The provider says again that it is gone, and is wrong again.
    let seen = seen.then("volume/data", stored([volume::Event::Destroyed, volume::Event::Removed]));
    assert_eq!(seen.look("volume/data"), []);
    let seen = observed(observed(seen, 40), 50);
    assert_eq!(seen.look("volume/data"), [destroy_again()]);
}

#[test]
fn a_volume_that_its_provider_was_to_let_go_of_may_be_shown() {
    let seen = destroyed(vec![volume::Event::ReleaseWanted]);
    assert_eq!(changes(&seen, 10), []);
    assert!(!has_volumes(&seen.view, &name("local")));
}

#[test]
fn what_is_left_of_an_earlier_volume_of_the_name_waits_for_the_later_one() {
    let seen = observed(observed(destroyed(vec![]), 10), 20);
    let spec = volume::Spec { provider: name("local"), size: SizeMib(64) };
    let seen = seen.then("volume/data", stored([volume::Event::Declared { spec }]));
    assert_eq!(seen.look("volume/data"), []);
    let seen = seen.then("volume/data", stored([volume::Event::RemovalBegan, volume::Event::Removed]));
    assert_eq!(seen.look("volume/data"), [destroy_again()]);
}
