//! The reasons and rejections of filesystems only, and what holds along walks that are theirs.

use bailiwick_journal::Version;
use proptest::{collection::vec, prelude::*};

use super::{Base, Claim, Command, Event, Filesystem, OwnCommand, OwnEvent, Reason, Rejection, Report, Spec, State};
use crate::{
    contract::given::{Case, JOURNAL, after, case, hold},
    ports::{Backing, BlockDevice},
    storage::tests::{
        NOW, Sample, by, creating, name, not_undone, promises_are_kept, removed, reserved, retry, short_of_patience,
        tried_on,
    },
    vocab::{EffectId, FaultCode, SizeMib, Timestamp},
};

/// The reasons of filesystems only.
pub(crate) const OWN: &[Reason] =
    &[Reason::NewlyDeclared, Reason::NeedsMet, Reason::DeviceMoved, Reason::AlreadyBegun, Reason::GoesWithVolume];

fn on_volume() -> Spec {
    Spec { backing: Some(name("data")), ..Filesystem::spec(64) }
}

fn on(device: &str) -> Base {
    let volume_effect = EffectId::of(JOURNAL, &"volume/data".parse().expect("a stream"), Version(2));
    let device = BlockDevice { name: device.into(), size: SizeMib(64), hardware_id: None };
    Base { backing: Some(Backing { volume: name("data"), volume_effect, device }), over: [].into() }
}

fn declared(spec: Spec) -> Vec<Event> {
    vec![Event::Declared { spec }]
}

fn creating_on_volume() -> Vec<Event> {
    [declared(on_volume()), vec![Event::CreateRequested { base: on("sdb"), at: Timestamp(1) }]].concat()
}

fn provisioned_on_volume() -> Vec<Event> {
    [creating_on_volume(), vec![Event::Created { made: Filesystem::made_at(2, 64) }]].concat()
}

fn undone_on_volume() -> Vec<Event> {
    let undo = [Event::RemovalBegan, Event::Died, Event::DestroyRequested { at: Timestamp(1) }];
    [creating_on_volume(), undo.to_vec()].concat()
}

fn create(base: Base) -> Command {
    Command::Own(OwnCommand::Create(base))
}

fn table() -> Vec<Case<State>> {
    use Reason as R;
    let immutable = |field: &str| Err(Rejection::Immutable { field: field.into() });
    let declare = |spec| Command::declare(spec);
    let claim = Claim { spec: on_volume(), pool: None, by: by("web-1"), owner: None };
    let claimed = vec![Event::Claimed { by: by("web-1") }, Event::AttachmentReserved { machine: name("web-1") }];
    let waiting_on_device = [creating_on_volume(), vec![retry(FaultCode::Unavailable, 5)]].concat();
    vec![
        case([], declare(Filesystem::spec(64)), Ok((R::NewlyDeclared, declared(Filesystem::spec(64))))),
        case(removed(), declare(Filesystem::spec(64)), Ok((R::NewlyDeclared, declared(Filesystem::spec(64))))),
        case(declared(Filesystem::spec(64)), declare(on_volume()), immutable("spec.volume")),
        case([], Command::Claim(Box::new(claim)), Ok((R::MachineAsks, [declared(on_volume()), claimed].concat()))),
        case(
            declared(on_volume()),
            create(on("sdb")),
            Ok((R::NeedsMet, vec![Event::CreateRequested { base: on("sdb"), at: NOW }])),
        ),
        case(
            waiting_on_device,
            create(on("sdc")),
            Ok((R::DeviceMoved, vec![Event::Own(OwnEvent::BackingChanged { backing: on("sdc").backing })])),
        ),
        case(creating(), create(Filesystem::base()), Ok((R::AlreadyBegun, vec![]))),
        case([], create(Filesystem::base()), Err(Rejection::NotDeclared)),
        // On a volume it is as large as that, whatever is asked.
        case(
            creating_on_volume(),
            Command::Report(Report::Created { attempt: 1, made: Filesystem::made_at(2, 63) }),
            Ok((R::StorageMade, vec![Event::Created { made: Filesystem::made_at(2, 63) }])),
        ),
        // It went while it was being made on a volume, and no machine has that any more.
        case(
            undone_on_volume(),
            not_undone(1, FaultCode::Unavailable),
            Ok((R::GoesWithVolume, vec![Event::Destroyed, Event::Removed])),
        ),
        case(
            [undone_on_volume(), vec![Event::AttachmentReserved { machine: name("web") }]].concat(),
            not_undone(1, FaultCode::Unavailable),
            tried_on(FaultCode::Unavailable),
        ),
        // On a volume it is nothing but data there, and goes without a call.
        case(
            provisioned_on_volume(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::Removed])),
        ),
        // It can be mounted on several machines at once.
        case(
            reserved(),
            Command::ReserveAttachment { machine: name("db") },
            Ok((R::AttachmentWanted, vec![Event::AttachmentReserved { machine: name("db") }])),
        ),
    ]
}

#[test]
fn every_reason_and_rejection_of_filesystems_only_has_its_case() {
    hold(&Filesystem::stream(), NOW, &short_of_patience(), table(), OWN, &["not-declared", "immutable"]);
}

#[test]
fn one_that_is_mounted_on_several_machines_dies_with_the_last_of_them() {
    let two = [reserved(), vec![Event::AttachmentReserved { machine: name("db") }, Event::RemovalBegan]].concat();
    let released = |machine| Event::AttachmentReleased { machine: name(machine) };
    let one = [two.clone(), vec![released("db")]].concat();
    let dies = vec![released("web"), Event::Died, Event::DestroyRequested { at: NOW }];
    let release = |machine| Command::ReleaseAttachment { machine: name(machine) };
    let cases = vec![
        case(two, release("db"), Ok((Reason::AttachmentGone, vec![released("db")]))),
        case(one, release("web"), Ok((Reason::LastAttachmentGone, dies))),
    ];
    hold::<State>(&Filesystem::stream(), NOW, &short_of_patience(), cases, &[], &[]);
}

#[test]
fn the_next_one_is_made_over_what_was_destroyed_on_its_volume_and_not_over_what_was_released() {
    let again = |end: &[Event]| {
        let next = [declared(on_volume()), vec![Event::CreateRequested { base: on("sda"), at: Timestamp(9) }]].concat();
        [provisioned_on_volume(), end.to_vec(), next].concat()
    };
    let destroyed = [Event::RemovalBegan, Event::Died, Event::Removed];
    let released = [vec![Event::ReleaseWanted], destroyed.to_vec()].concat();
    assert_eq!(after::<State>(&again(&destroyed)).0.own.destroyed, [Version(2)].into());
    assert_eq!(after::<State>(&again(&released)).0.own.destroyed, [].into());
    let made_anew = [again(&destroyed), vec![Event::Created { made: Filesystem::made_at(7, 64) }]].concat();
    let own = after::<State>(&made_anew).0.own;
    assert_eq!((own.destroyed, own.was_made), ([].into(), true), "nothing is left of what it was made over");
}

#[test]
fn one_on_a_volume_is_made_by_the_one_that_manages_them() {
    assert_eq!(after::<State>(&declared(on_volume())).0.source(), Some(name("managed")));
    assert_eq!(after::<State>(&declared(Filesystem::spec(64))).0.source(), Some(name("local")));
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_filesystem_promises(dice in vec((any::<u8>(), any::<u8>(), any::<u32>()), 0..60)) {
        promises_are_kept::<Filesystem>(&dice, |_, _, kind, value| match kind % 18 {
            16 => Some(Command::declare(if value.is_multiple_of(5) { on_volume() } else { Filesystem::spec(64) })),
            17 => Some(create(if value.is_multiple_of(2) { on("sdb") } else { Filesystem::base() })),
            _ => None,
        });
    }
}
