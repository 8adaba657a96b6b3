//! What a session makes sure of, and which volumes are noticed to be lost.

use super::*;
use crate::{
    ports::Listing,
    supervisor::storage::{VolumeChange, has_volumes, machines_with_volumes, volume_changes},
    volume::Place,
};

fn session() -> Vec<Body> {
    stored([Event::SessionBegan])
}

fn listing(complete: bool, as_of: u64, items: Vec<ProvisionedVolume>) -> Listing<ProvisionedVolume> {
    Listing { complete, as_of: Timestamp(as_of), items }
}

fn missing(as_of: u64) -> VolumeChange {
    VolumeChange::Missing { volume: name("data"), effect: effect("volume/data", 2), as_of: Timestamp(as_of) }
}

fn back() -> VolumeChange {
    VolumeChange::Back { volume: name("data"), effect: effect("volume/data", 2) }
}

fn observed(change: VolumeChange) -> Vec<Body> {
    stored([Event::VolumesObserved { changes: vec![change] }])
}

fn made() -> ProvisionedVolume {
    ProvisionedVolume { effect: effect("volume/data", 2), volume_id: InstanceId("v-1".into()), size: SizeMib(64) }
}

#[test]
fn what_a_session_is_not_sure_of_is_named_until_it_is() {
    let attachment = stream("volume-attachment/web:data");
    assert!(!declared().view.has_attached(), "nothing is attached that a session could make sure of");
    let seen = attached();
    assert!(seen.view.has_attached());
    let at = seen.position;
    assert_eq!(seen.view.unsure(at), std::slice::from_ref(&attachment), "the session has not begun yet");
    let seen = seen.then("supervisor/storage", session());
    assert_eq!(seen.view.unsure(at), [attachment]);
    let requested = stored([volume_attachment::Event::ReattachRequested { at: Timestamp(8) }]);
    let seen = seen.then("volume-attachment/web:data", requested);
    assert_eq!(seen.view.unsure(at), [], "it is on its way, which its own state tells");
    let info = AttachmentInfo { path: "/vol".into(), read_only: false };
    let done = stored([volume_attachment::Event::Attached { info }]);
    let seen = seen.then("volume-attachment/web:data", done);
    assert_eq!(seen.view.unsure(at), []);
    // The next session begins anew.
    let at = seen.position;
    assert_eq!(seen.then("supervisor/storage", session()).view.unsure(at).len(), 1);
}

#[test]
fn one_list_without_a_volume_tells_nobody_and_two_complete_ones_in_a_row_do() {
    let provider = name("local");
    let seen = attached();
    assert!(has_volumes(&seen.view, &provider) && !has_volumes(&seen.view, &name("other")));
    let changes = |seen: &Seen, listing| volume_changes(&seen.view, &provider, None, &listing);
    assert_eq!(changes(&seen, listing(true, 10, vec![made()])), [], "it is there");
    assert_eq!(changes(&seen, listing(false, 10, vec![])), [], "nothing follows from an incomplete list");
    assert_eq!(changes(&seen, listing(true, 0, vec![])), [], "it may have been made after the list was");
    assert_eq!(volume_changes(&seen.view, &name("other"), None, &listing(true, 10, vec![])), [], "not its provider");
    assert_eq!(changes(&seen, listing(true, 10, vec![])), [missing(10)]);
    let seen = seen.then("supervisor/storage", observed(missing(10)));
    assert_eq!(seen.look("volume/data"), [], "one list is not enough");
    assert_eq!(changes(&seen, listing(true, 10, vec![])), [], "the same list again is no second one");
    assert_eq!(changes(&seen, listing(false, 20, vec![])), []);
    assert_eq!(changes(&seen, listing(false, 20, vec![made()])), [back()], "a list in between shows it");
    let again = seen.then("supervisor/storage", observed(back()));
    assert_eq!(changes(&again, listing(true, 30, vec![])), [missing(30)], "then it is the first one again");
    let again = again.then("supervisor/storage", observed(missing(30)));
    assert_eq!(again.look("volume/data"), []);
    let gone = again.then("supervisor/storage", observed(missing(40)));
    let told = |report| Order::Volume { volume: name("data"), command: volume::Command::Report(report) };
    let effect = effect("volume/data", 2);
    assert_eq!(gone.look("volume/data"), [told(volume::Report::Own(volume::OwnReport::Lost { effect }))]);
    let gone = gone.then("volume/data", stored([volume::Event::Own(volume::OwnEvent::Lost { at: Timestamp(41) })]));
    assert_eq!(gone.look("volume/data"), [], "it is told once");
    assert_eq!(changes(&gone, listing(true, 50, vec![])), []);
    let found = gone.then("supervisor/storage", observed(back()));
    assert_eq!(found.look("volume/data"), [told(volume::Report::Own(volume::OwnReport::Found { effect }))]);
}

#[test]
fn a_list_of_one_machine_says_nothing_of_what_is_inside_of_another() {
    let provider = name("local");
    let place =
        Place { machine: name("web"), machine_effect: effect("machine/web", 2), instance: InstanceId("i-1".into()) };
    let volume = stored([
        volume::Event::Declared { spec: volume::Spec { provider: provider.clone(), size: SizeMib(64) } },
        volume::Event::CreateRequested { base: volume::Where::At(place), at: Timestamp(1) },
    ]);
    let seen = Seen::default().then("machine/web", machine_declared()).then("volume/data", volume);
    assert_eq!(machines_with_volumes(&seen.view, &provider), [].into(), "nothing is made");
    let seen = seen.then("volume/data", volume_made());
    assert_eq!(machines_with_volumes(&seen.view, &provider), [].into(), "its machine does not run");
    let seen = seen.then("machine/web", machine_runs());
    assert_eq!(machines_with_volumes(&seen.view, &provider), [name("web")].into());
    let without =
        |machine: &str| volume_changes(&seen.view, &provider, Some(&name(machine)), &listing(true, 10, vec![]));
    assert_eq!(without("other"), []);
    assert_eq!(without("web").len(), 1);
}
