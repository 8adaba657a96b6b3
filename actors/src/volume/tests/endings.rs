//! What is left when a volume, or what was on it, goes.

use super::*;

#[test]
fn what_filesystems_left_is_kept_until_one_is_made_over_it() {
    let left = |filesystem: &str, version| Cite::new(filesystem.parse().expect("a stream"), Version(version));
    let went = |filesystem: &str, of: &[Cite], instead| {
        let leaves = Leftovers { of: of.iter().cloned().collect(), instead };
        let reserved = Event::FilesystemReserved { filesystem: name(filesystem) };
        vec![reserved, Event::FilesystemReleased { filesystem: name(filesystem), leaves }]
    };
    let (files, more) = (left("filesystem/files", 2), left("filesystem/more", 2));
    let leftovers = |events: &[Event]| after::<State>(events).0.leftovers.into_keys().collect::<Vec<_>>();
    let first = [provisioned(), went("files", std::slice::from_ref(&files), true)].concat();
    assert_eq!(leftovers(&first), std::slice::from_ref(&files));
    // One that was never made may have left something as well, and one that never began has changed nothing.
    let tried = [first.clone(), went("more", std::slice::from_ref(&more), false), went("none", &[], false)].concat();
    assert_eq!(leftovers(&tried), [files, more.clone()]);
    let over = [first.clone(), went("more", std::slice::from_ref(&more), true)].concat();
    assert_eq!(leftovers(&over), [more]);
    let released = [first, went("kept", &[], true)].concat();
    assert_eq!(leftovers(&released), [], "its data is to stay");
}

#[test]
fn what_is_dying_is_not_made_any_more() {
    let dying = [waiting(5), vec![Event::AttachmentReserved { machine: name("web") }, Event::RemovalBegan]].concat();
    assert_eq!(after::<State>(&dying).0.pending(&NoView), [].into());
    // The failure was none that left nothing for certain.
    let dead = [dying, vec![Event::Died, Event::DestroyRequested { at: NOW }]].concat();
    assert_eq!(
        after::<State>(&dead).0.pending(&NoView),
        owed(Effect::Destroy { of: Version(2), attempt: 1 }, 1_000_000)
    );
}

#[test]
fn what_is_released_is_not_destroyed() {
    let going = [provisioned(), vec![Event::ReleaseWanted, Event::RemovalBegan, Event::Died]].concat();
    let going = [going, vec![Event::DestroyRequested { at: NOW }]].concat();
    assert_eq!(
        after::<State>(&going).0.pending(&NoView),
        owed(Effect::Release { of: Version(2), attempt: 1 }, 1_000_000)
    );
    let given_up = Event::DestroyGivenUp { fault: fault(FaultCode::Unimplemented) };
    let (state, _) = after::<State>(&[going, vec![given_up]].concat());
    assert_eq!((state.status(), state.pending(&NoView)), ("failed", [].into()), "nothing is asked for any more");
}

#[test]
fn what_is_lost_is_told_and_nothing_is_done_about_it() {
    let (state, _) = after::<State>(&lost());
    assert_eq!((state.status(), state.is_ready(), state.pending(&NoView)), ("lost", false, [].into()));
    let (state, _) = after::<State>(&[lost(), vec![Event::Found]].concat());
    assert_eq!((state.status(), state.is_ready()), ("reserved", true));
    let going = [Event::AttachmentReleased { machine: name("web") }, Event::RemovalBegan, Event::Died];
    let (state, _) = after::<State>(&[lost(), going.into(), vec![Event::DestroyRequested { at: NOW }]].concat());
    assert_eq!((state.status(), state.lost), ("destroying", None), "that it is gone is asked by its id");
}
