//! What a machine of a set asks for comes with it and goes with it, whatever moment everything stops at.

use super::*;
use crate::{
    machine::RemovalReason,
    storage_rules::{ClaimForm, ClaimedBy, FromPool, StorageClaim},
};

const MACHINE: &str = "machine/web-1";
const VOLUME: &str = "volume/web-1-data-0";
const FILES: &str = "filesystem/web-1-files-0";
const BENEATH: &str = "volume/web-1-files-0-volume";

fn claim(called: &str, form: ClaimForm, is_persistent: bool) -> StorageClaim {
    let pool = FromPool { name: "cloud".parse().expect("a pool's name"), attributes: BTreeMap::new() };
    let (size, provider) = (SizeMib(64), name("cloud"));
    StorageClaim { name: name(called), count: 1, size, provider, pool, form, read_only: false, is_persistent }
}

/// Written as the entity decides it; a supervisor's order is answered.
fn decided<D: Decider<View = crate::contract::NoView>>(seen: Seen, stream_text: &str, command: &D::Command) -> Seen
where
    D::Rejection: std::fmt::Debug,
{
    let (own, policy) = (stream(stream_text), Document::default());
    let mut state = D::default();
    let mut at = Version::ZERO;
    for body in seen.events.get(&own).into_iter().flatten() {
        at = at.next();
        state.evolve(at, &D::Event::load(body).expect("readable"));
    }
    let view = &crate::contract::NoView;
    let facts = Facts { stream: &own, next: at.next(), now: Timestamp(5), policy: &policy, view, journal: JOURNAL };
    let decision = state.decide(command, &facts).expect("it is not refused");
    seen.then(stream_text, stored(decision.events))
}

/// A machine of a set that asks for this.
fn asking(claims: Vec<StorageClaim>) -> Seen {
    let spec = machine::Spec { storage: claims, set: Some(name("web")), ..machine::Spec::with_provider(name("cloud")) };
    decided::<machine::State>(Seen::default(), MACHINE, &machine::Command::Declare(spec.into()))
}

fn carried_out(seen: Seen, order: &Order) -> Seen {
    let target = order.target().to_string();
    match order {
        Order::Machine { command, .. } => decided::<machine::State>(seen, &target, command),
        Order::Volume { command, .. } => decided::<volume::State>(seen, &target, command),
        Order::VolumeAttachment { command, .. } => decided::<volume_attachment::State>(seen, &target, command),
        Order::Filesystem { command, .. } => decided::<filesystem::State>(seen, &target, command),
        Order::FilesystemAttachment { command, .. } => decided::<filesystem_attachment::State>(seen, &target, command),
        other => panic!("{other:?} is none of storage"),
    }
}

/// Everything that follows, one order after the other; the targets in order.
fn settled(mut seen: Seen) -> (Seen, Vec<String>) {
    let mut told = Vec::new();
    for _ in 0..50 {
        let about: Vec<String> = seen.versions.keys().map(ToString::to_string).collect();
        let Some(order) = about.iter().flat_map(|stream| seen.look(stream)).next() else { return (seen, told) };
        told.push(order.target().to_string());
        seen = carried_out(seen, &order);
    }
    panic!("it never comes to rest: {told:?}");
}

fn goes(seen: Seen) -> Seen {
    let removal = machine::Removal { why: RemovalReason::ScaleDown, ..Default::default() };
    decided::<machine::State>(seen, MACHINE, &machine::Command::RemoveWith(removal))
}

fn made(seen: Seen, volume_text: &str) -> Seen {
    let at = seen.versions[&stream(volume_text)];
    let requested = volume::Event::CreateRequested { base: volume::Where::Anywhere, at: Timestamp(2) };
    let effect = effect(volume_text, at.next().0);
    let volume = ProvisionedVolume { effect, volume_id: InstanceId("v-1".into()), size: SizeMib(64) };
    seen.then(volume_text, stored([requested, volume::Event::Created { made: volume }]))
}

fn lives(seen: &Seen, volume: &str) -> Option<Life> {
    seen.view.volumes.get(volume).map(|state| state.life)
}

#[test]
fn a_volume_is_declared_and_then_its_attachment() {
    let (seen, told) = settled(asking(vec![claim("data", ClaimForm::Volume, false)]));
    assert_eq!(told, [VOLUME, "volume-attachment/web-1:web-1-data-0"]);
    let volume = seen.view.volumes.get("web-1-data-0").expect("declared");
    assert_eq!(volume.claim, Some(ClaimedBy { machine: name("web-1"), is_persistent: false }));
    assert_eq!((&volume.own.wanted_on, &volume.attached_to), (&Some(name("web-1")), &[name("web-1")].into()));
    assert_eq!(volume.owner, Some(stream(MACHINE)));
}

#[test]
fn a_filesystem_on_a_volume_comes_from_below_and_its_attachment_last() {
    let form = ClaimForm::OnVolume { path: None, is_inside: false };
    let (_, told) = settled(asking(vec![claim("files", form, false)]));
    let mount = "filesystem-attachment/web-1:web-1-files-0";
    assert_eq!(told, [BENEATH, FILES, mount, "volume-attachment/web-1:web-1-files-0-volume"]);
}

#[test]
fn whatever_had_come_of_it_when_its_machine_goes_nothing_is_left() {
    let form = ClaimForm::OnVolume { path: None, is_inside: false };
    for steps in 0..=6 {
        let mut seen = asking(vec![claim("data", ClaimForm::Volume, false), claim("files", form.clone(), true)]);
        for _ in 0..steps {
            let orders = seen.look(MACHINE);
            let Some(order) = orders.first() else { break };
            seen = carried_out(seen, order);
        }
        let (seen, told) = settled(goes(seen));
        let holds = seen.view.machines.get("web-1").is_some_and(machine::State::holds_storage);
        assert!(!holds, "after {steps} steps the machine still waits: {told:?}");
        let left: Vec<&str> = seen.view.volumes.iter().map(|(name, _)| name).collect();
        assert_eq!(left, [""; 0], "after {steps} steps: {told:?}");
        assert_eq!(seen.view.filesystems.iter().count(), 0, "after {steps} steps: {told:?}");
    }
}

#[test]
fn what_was_made_stays_if_it_is_to_and_goes_if_it_is_not() {
    for (is_persistent, expected) in [(true, Some(Life::Alive)), (false, Some(Life::Dead))] {
        let (seen, _) = settled(asking(vec![claim("data", ClaimForm::Volume, is_persistent)]));
        let (seen, _) = settled(goes(made(seen, VOLUME)));
        assert_eq!(lives(&seen, "web-1-data-0"), expected);
        let kept = seen.view.volumes.get("web-1-data-0").and_then(|state| state.kept_of.clone());
        assert_eq!(kept, is_persistent.then(|| name("web-1")));
    }
}

#[test]
fn what_is_attached_elsewhere_by_then_stays() {
    let (seen, _) = settled(asking(vec![claim("data", ClaimForm::Volume, false)]));
    let seen = made(seen, VOLUME);
    let (seen, _) = settled(decided::<volume_attachment::State>(
        seen,
        "volume-attachment/web-1:web-1-data-0",
        &volume_attachment::Command::Remove,
    ));
    let reserve = volume::Command::ReserveAttachment { machine: name("other") };
    let seen = decided::<volume::State>(seen, VOLUME, &reserve);
    let (seen, _) = settled(goes(seen));
    assert_eq!(lives(&seen, "web-1-data-0"), Some(Life::Alive));
}

#[test]
fn what_somebody_detached_is_not_attached_again_nor_made_anew() {
    let (seen, _) = settled(asking(vec![claim("data", ClaimForm::Volume, false)]));
    let remove = volume_attachment::Command::Remove;
    let seen = decided::<volume_attachment::State>(seen, "volume-attachment/web-1:web-1-data-0", &remove);
    let (seen, _) = settled(seen);
    let (seen, _) = settled(decided::<volume::State>(seen, VOLUME, &volume::Command::Remove));
    assert_eq!(seen.look(MACHINE), []);
    assert_eq!(lives(&seen, "web-1-data-0"), None);
}

#[test]
fn a_name_that_is_taken_is_waited_for() {
    let declared = volume::Command::declare(volume::Spec { provider: name("cloud"), size: SizeMib(1) });
    let seen = asking(vec![claim("data", ClaimForm::Volume, false)]);
    let seen = decided::<volume::State>(seen, VOLUME, &declared);
    assert_eq!(seen.look(MACHINE), []);
    // Whose it is goes on its own; then the machine has its own.
    let seen = seen.then(VOLUME, stored([volume::Event::RemovalBegan, volume::Event::Died, volume::Event::Removed]));
    assert_eq!(seen.look(VOLUME).len(), 1);
}
