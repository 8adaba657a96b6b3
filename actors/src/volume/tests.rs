//! The reasons and rejections of volumes only, and what holds along walks that are theirs.

use bailiwick_journal::{Cite, Version};
use proptest::{collection::vec, prelude::*};

use super::{
    AtCreation, Command, Declaration, Event, Leftovers, OwnCommand, OwnEvent, OwnReport, Place, Reason, Rejection,
    Report, Spec, State, Tags, Volume, VolumeFacts, Wanted, Where,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, after, case, hold},
    },
    ports::{AttachmentInfo, ProvisionedVolume},
    storage::tests::{
        NOW, Sample, attempt, by, creating, dead, dying, name, not_undone, owner, pool, promises_are_kept, provisioned,
        releasing, removed, reserved, short_of_patience, tried_on,
    },
    storage_rules::FromPool,
    vocab::{EffectId, FaultCode, InstanceId, SizeMib, Timestamp, Zone},
};

/// The reasons of volumes only.
pub(crate) const OWN: &[Reason] = &[
    Reason::NewlyDeclared,
    Reason::WaitsForMachine,
    Reason::MachineReady,
    Reason::AlreadyBegun,
    Reason::FilesystemWanted,
    Reason::FilesystemGone,
    Reason::FilesystemUnknown,
    Reason::AwaitsFilesystem,
    Reason::StorageLost,
    Reason::StorageFound,
    Reason::StorageReturned,
    Reason::DeclaredAnew,
    Reason::CameWithInstance,
    Reason::WentWithInstance,
    Reason::InstanceReplaced,
];

fn lost() -> Vec<Event> {
    [reserved(), vec![Event::Own(OwnEvent::Lost { at: Timestamp(4) })]].concat()
}

fn shown(is_shown: bool, at: u64) -> Command {
    let effect = Volume::effect(at);
    Command::Report(Report::Own(if is_shown { OwnReport::Found { effect } } else { OwnReport::Lost { effect } }))
}

/// It was destroyed, and is shown all the same.
fn returned() -> Command {
    Command::Own(OwnCommand::DestroyReturned { provider: name("local"), of: Version(2) })
}

fn back() -> Event {
    Event::Own(OwnEvent::Returned { provider: name("local"), of: Version(2), at: NOW })
}

fn released_and_back() -> Vec<Event> {
    [releasing(), vec![Event::Destroyed, Event::Removed, back()]].concat()
}

fn declare(machine: Option<&str>, import: Option<&str>, from: Option<FromPool>) -> Command {
    let import = import.map(|id| InstanceId(id.into()));
    let wanted = Wanted { machine: machine.map(name), import };
    Declaration { wanted, pool: from, ..Declaration::of(Volume::spec(64)) }.into()
}

fn tags(team: &str) -> Tags {
    [("team".to_owned(), team.to_owned())].into()
}

fn tagged(team: &str) -> Command {
    Command::declare_tagged(Declaration::of(Volume::spec(64)), tags(team))
}

fn tag(team: &str) -> Event {
    Event::Own(OwnEvent::Tagged { tags: tags(team) })
}

fn imported() -> Vec<Event> {
    let mut events = creating();
    events.insert(1, Event::Own(OwnEvent::ImportWanted { volume_id: InstanceId("old.img".into()) }));
    events
}

fn placed() -> Vec<Event> {
    vec![Event::Declared { spec: Volume::spec(64) }, Event::Own(OwnEvent::WantedOn { machine: name("web") })]
}

fn place() -> Place {
    let machine_effect = EffectId::of(JOURNAL, &"machine/web".parse().expect("a stream"), Version(2));
    Place { machine: name("web"), machine_effect, instance: InstanceId("i-1".into()) }
}

fn told() -> VolumeFacts {
    VolumeFacts { hardware_id: Some("serial-1".into()), persistent: true }
}

fn at_creation() -> AtCreation {
    AtCreation { machine: name("web"), info: AttachmentInfo { path: "/dev/sda1".into(), read_only: false } }
}

fn holding() -> Vec<Event> {
    [provisioned(), vec![reserve_files()]].concat()
}

fn reserve_files() -> Event {
    Event::Own(OwnEvent::FilesystemReserved { filesystem: name("files") })
}

fn let_go(filesystem: &str) -> Command {
    Command::Own(OwnCommand::ReleaseFilesystem { filesystem: name(filesystem), leaves: Leftovers::default() })
}

fn released_files() -> Event {
    Event::Own(OwnEvent::FilesystemReleased { filesystem: name("files"), leaves: Leftovers::default() })
}

fn declarations() -> Vec<Case<State>> {
    use Reason as R;
    let immutable = |field: &str| Err(Rejection::Immutable { field: field.into() });
    let declared = || Event::Declared { spec: Volume::spec(64) };
    let begun = || Event::CreateRequested { base: Where::Anywhere, at: NOW };
    let create = |place| Command::Own(OwnCommand::Create { place });
    let import_wanted = Event::Own(OwnEvent::ImportWanted { volume_id: InstanceId("old.img".into()) });
    let from_fast = || Event::TakenFrom { pool: pool("fast") };
    vec![
        case([], declare(None, None, None), Ok((R::NewlyDeclared, vec![declared(), begun()]))),
        case(removed(), declare(None, None, None), Ok((R::NewlyDeclared, vec![declared(), begun()]))),
        case([], declare(Some("web"), None, None), Ok((R::WaitsForMachine, placed()))),
        case(placed(), declare(Some("web"), None, None), Ok((R::AlreadyAsDeclared, vec![]))),
        case(placed(), declare(Some("db"), None, None), immutable("spec.machine")),
        case([], tagged("a"), Ok((R::NewlyDeclared, vec![declared(), tag("a"), begun()]))),
        case(vec![declared(), tag("a")], tagged("a"), Ok((R::AlreadyAsDeclared, vec![]))),
        case(vec![declared(), tag("a")], tagged("b"), immutable("spec.tags")),
        case(vec![declared(), tag("a")], declare(None, None, None), immutable("spec.tags")),
        case(creating(), tagged("a"), immutable("spec.tags")),
        case(
            placed(),
            create(place()),
            Ok((R::MachineReady, vec![Event::CreateRequested { base: Where::At(place()), at: NOW }])),
        ),
        case(
            placed(),
            Command::Own(OwnCommand::CreateIn { place: place(), zone: Zone("a".into()) }),
            Ok((
                R::MachineReady,
                vec![
                    Event::CreateRequested { base: Where::At(place()), at: NOW },
                    Event::Own(OwnEvent::SitedIn { zone: Zone("a".into()) }),
                ],
            )),
        ),
        case(creating(), create(place()), Ok((R::AlreadyBegun, vec![]))),
        case([], create(place()), Err(Rejection::NotDeclared)),
        case(
            [],
            declare(None, Some("old.img"), None),
            Ok((R::NewlyDeclared, vec![declared(), import_wanted, begun()])),
        ),
        case(imported(), declare(None, Some("old.img"), None), Ok((R::AlreadyAsDeclared, vec![]))),
        case(imported(), declare(None, Some("other.img"), None), immutable("spec.import")),
        case(
            [],
            declare(None, None, Some(pool("fast"))),
            Ok((R::NewlyDeclared, vec![declared(), from_fast(), begun()])),
        ),
        case(
            [],
            declare(Some("web"), None, Some(pool("fast"))),
            Ok((R::WaitsForMachine, [vec![declared(), from_fast()], placed().split_off(1)].concat())),
        ),
        case(reserved(), Command::ReserveAttachment { machine: name("db") }, {
            Err(Rejection::AttachedElsewhere { machine: name("web") })
        }),
        case(
            creating(),
            Command::Report(Report::Own(OwnReport::Made {
                attempt: 1,
                volume: Volume::made_at(2, 64),
                facts: told(),
                attached: Some(at_creation()),
            })),
            Ok((
                R::StorageMade,
                vec![
                    Event::Created { made: Volume::made_at(2, 64) },
                    Event::Own(OwnEvent::Described { facts: told() }),
                    Event::Own(OwnEvent::AttachedAtCreation { at_creation: at_creation() }),
                ],
            )),
        ),
    ]
}

/// A volume of provider `external`, which waits for machine `web`.
fn external() -> Vec<Event> {
    let spec = Spec { provider: name("external"), ..Volume::spec(64) };
    [vec![Event::Declared { spec }], placed().split_off(1)].concat()
}

fn came_with_instance() -> Command {
    Command::Report(Report::Own(OwnReport::CameWith {
        place: place(),
        zone: Some(Zone("a".into())),
        volume_id: InstanceId("v-1".into()),
        size: SizeMib(65),
        facts: told(),
    }))
}

fn came() -> Vec<Event> {
    let made = ProvisionedVolume {
        effect: EffectId::of(JOURNAL, &Volume::stream(), Version(3)),
        volume_id: InstanceId("v-1".into()),
        size: SizeMib(65),
    };
    vec![
        Event::Own(OwnEvent::CameWith { place: place(), made }),
        Event::Own(OwnEvent::SitedIn { zone: Zone("a".into()) }),
        Event::Own(OwnEvent::Described { facts: told() }),
    ]
}

/// One that is not persistent.
fn came_and_stays_not() -> Vec<Event> {
    let facts = VolumeFacts { persistent: false, ..told() };
    [external(), came(), vec![Event::Own(OwnEvent::Described { facts })]].concat()
}

fn went_with_instance() -> Command {
    let machine_effect = place().machine_effect;
    Command::Report(Report::Own(OwnReport::WentWith { machine_effect }))
}

fn instance_replaced() -> Command {
    let machine_effect = place().machine_effect;
    Command::Report(Report::Own(OwnReport::InstanceReplaced { machine_effect }))
}

fn of_clients() -> Vec<Case<State>> {
    use Reason as R;
    let spec = || Spec { provider: name("external"), ..Volume::spec(64) };
    vec![
        case(external(), came_with_instance(), Ok((R::CameWithInstance, came()))),
        case([external(), came()].concat(), came_with_instance(), Ok((R::StaleReport, vec![]))),
        case(placed(), came_with_instance(), Ok((R::StaleReport, vec![]))),
        case(removed(), came_with_instance(), Err(Rejection::NotDeclared)),
        // Without a machine nobody makes it, nor is anybody asked to.
        case([], Declaration::of(spec()).into(), Ok((R::WaitsForMachine, vec![Event::Declared { spec: spec() }]))),
        case(
            came_and_stays_not(),
            went_with_instance(),
            Ok((R::WentWithInstance, vec![Event::RemovalBegan, Event::Died, Event::Removed])),
        ),
        case([external(), came()].concat(), went_with_instance(), Ok((R::StaleReport, vec![]))),
        case(
            [came_and_stays_not(), vec![Event::Protected { on: true }]].concat(),
            went_with_instance(),
            Ok((R::StaleReport, vec![])),
        ),
        // Its machine gets another instance: it waits for that, whoever protects it.
        case(
            [came_and_stays_not(), vec![Event::Protected { on: true }]].concat(),
            instance_replaced(),
            Ok((R::InstanceReplaced, vec![Event::Own(OwnEvent::WentToComeAgain)])),
        ),
        case([external(), came()].concat(), instance_replaced(), Ok((R::StaleReport, vec![]))),
        case(
            [came_and_stays_not(), vec![Event::Own(OwnEvent::WentToComeAgain)]].concat(),
            instance_replaced(),
            Ok((R::StaleReport, vec![])),
        ),
        // Nobody is asked to destroy it.
        case(
            [external(), came()].concat(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan, Event::Died, Event::Removed])),
        ),
    ]
}

fn endings() -> Vec<Case<State>> {
    use Reason as R;
    let with_filesystem = || Command::Own(OwnCommand::RemoveWithFilesystem);
    let reserve = |filesystem| Command::Own(OwnCommand::ReserveFilesystem { filesystem: name(filesystem) });
    let holds = || Err(Rejection::HoldsFilesystem { filesystem: name("files") });
    let dies = || vec![Event::Died, Event::DestroyRequested { at: NOW }];
    vec![
        case([creating(), vec![Event::Protected { on: true }]].concat(), with_filesystem(), Err(Rejection::Protected)),
        case(provisioned(), reserve("files"), Ok((R::FilesystemWanted, vec![reserve_files()]))),
        case(dying(), reserve("files"), Err(Rejection::Leaving { life: crate::vocab::Life::Dying })),
        case(holding(), Command::Remove, holds()),
        case(holding(), reserve("more"), holds()),
        case(holding(), let_go("files"), Ok((R::FilesystemGone, vec![released_files()]))),
        case(holding(), let_go("more"), Ok((R::FilesystemUnknown, vec![]))),
        case(holding(), with_filesystem(), Ok((R::AwaitsFilesystem, vec![Event::RemovalBegan]))),
        case(provisioned(), with_filesystem(), Ok((R::RemovalAsked, [vec![Event::RemovalBegan], dies()].concat()))),
        // It dies with the last that it waits for: the filesystem on it, or its attachment.
        case(
            [holding(), vec![Event::RemovalBegan]].concat(),
            let_go("files"),
            Ok((R::FilesystemGone, [vec![released_files()], dies()].concat())),
        ),
        case(
            [dying(), vec![reserve_files()]].concat(),
            Command::ReleaseAttachment { machine: name("web") },
            Ok((R::AttachmentGone, vec![Event::AttachmentReleased { machine: name("web") }])),
        ),
        case(removed(), returned(), Ok((R::StorageReturned, vec![back()]))),
        case(provisioned(), returned(), Ok((R::DeclaredAnew, vec![]))),
        case(vec![], returned(), Err(Rejection::NotDeclared)),
        // What came back is destroyed, also where the one before was to be let go of.
        case(released_and_back(), not_undone(1, FaultCode::Unimplemented), tried_on(FaultCode::Unimplemented)),
        case(
            released_and_back(),
            Command::Report(Report::Destroyed { attempt: 1 }),
            Ok((R::StorageAbsent, vec![Event::Destroyed, Event::Removed])),
        ),
        case(provisioned(), shown(false, 2), Ok((R::StorageLost, vec![Event::Own(OwnEvent::Lost { at: NOW })]))),
        case(dying(), shown(false, 2), Ok((R::StorageLost, vec![Event::Own(OwnEvent::Lost { at: NOW })]))),
        case(provisioned(), shown(false, 1), Ok((R::StaleReport, vec![]))),
        case(creating(), shown(false, 2), Ok((R::StaleReport, vec![]))),
        case(lost(), shown(false, 2), Ok((R::StaleReport, vec![]))),
        case(lost(), shown(true, 2), Ok((R::StorageFound, vec![Event::Own(OwnEvent::Found)]))),
        case(provisioned(), shown(true, 2), Ok((R::StaleReport, vec![]))),
        case(dead(), shown(true, 2), Ok((R::StaleReport, vec![]))),
    ]
}

#[test]
fn every_reason_and_rejection_of_volumes_only_has_its_case() {
    let rejections = ["not-declared", "leaving", "immutable", "attached-elsewhere", "holds-filesystem", "protected"];
    let cases = declarations().into_iter().chain(endings()).chain(of_clients()).collect();
    hold(&Volume::stream(), NOW, &short_of_patience(), cases, OWN, &rejections);
}

#[test]
fn one_that_a_machine_of_a_set_asks_for_has_room_for_the_filesystem_on_it() {
    let claim = super::Claim {
        spec: Volume::spec(64),
        pool: pool("fast"),
        by: by("web-1"),
        owner: Some(owner("web-1")),
        filesystem: Some(name("files")),
    };
    let then = [crate::storage::tests::claimed(), vec![reserve_files()]].concat();
    let cases = vec![case([], Command::Claim(Box::new(claim)), Ok((Reason::MachineAsks, then)))];
    hold::<State>(&Volume::stream(), NOW, &short_of_patience(), cases, &[], &[]);
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_volume_promises(dice in vec((any::<u8>(), any::<u8>(), any::<u32>()), 0..60)) {
        promises_are_kept::<Volume>(&dice, |state, version, kind, value| {
            let intent = state.intent().unwrap_or(version);
            let machine = if value.is_multiple_of(3) { "db" } else { "web" };
            Some(match kind % 24 {
                16 => declare(Some(machine), None, None),
                17 => declare(None, Some(machine), None),
                18 => Command::Own(OwnCommand::Create { place: place() }),
                19 => Command::Own(OwnCommand::ReserveFilesystem { filesystem: name("files") }),
                20 => let_go("files"),
                21 => Command::Own(OwnCommand::RemoveWithFilesystem),
                22 => shown(value.is_multiple_of(2), intent.0),
                23 => Command::Report(Report::Own(OwnReport::Made {
                    attempt: attempt(state, value),
                    volume: Volume::made_at(intent.0, 64),
                    facts: told(),
                    attached: value.is_multiple_of(2).then(at_creation),
                })),
                _ => return None,
            })
        });
    }
}

#[test]
fn what_filesystems_left_is_kept_until_one_is_made_over_it() {
    let left = |filesystem: &str, version| Cite::new(filesystem.parse().expect("a stream"), Version(version));
    let went = |filesystem: &str, of: &[Cite], instead| {
        let leaves = Leftovers { of: of.iter().cloned().collect(), instead };
        let reserved = Event::Own(OwnEvent::FilesystemReserved { filesystem: name(filesystem) });
        vec![reserved, Event::Own(OwnEvent::FilesystemReleased { filesystem: name(filesystem), leaves })]
    };
    let (files, more) = (left("filesystem/files", 2), left("filesystem/more", 2));
    let leftovers = |events: &[Event]| after::<State>(events).0.own.leftovers.into_keys().collect::<Vec<_>>();
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
fn what_is_lost_is_told_and_nothing_is_done_about_it() {
    let (state, _) = after::<State>(&lost());
    assert_eq!((state.status(), state.is_ready(), state.pending(&NoView)), ("lost", false, [].into()));
    let (state, _) = after::<State>(&[lost(), vec![Event::Own(OwnEvent::Found)]].concat());
    assert_eq!((state.status(), state.is_ready()), ("reserved", true));
    let going = [Event::AttachmentReleased { machine: name("web") }, Event::RemovalBegan, Event::Died];
    let (state, _) = after::<State>(&[lost(), going.into(), vec![Event::DestroyRequested { at: NOW }]].concat());
    assert_eq!((state.status(), state.own.lost), ("destroying", None), "that it is gone is asked by its id");
}
