//! What is planned for what is there, what is going, and what comes from pools.

use std::sync::Arc;

use bailiwick_actors::{
    shell::AnyCommand,
    storage_rules::{FromPool, PoolName, StorageConfig, StorageKind},
    testing::Desk,
    volume,
};
use bailiwick_journal::{Journal, LocalJournal, disk::SimulatedDisk};
use uuid::Uuid;

use super::*;
use crate::manifest::{self, Known, Source};

fn desk() -> (Arc<dyn Journal>, Desk) {
    let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 1_000).expect("new");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let desk = Desk::new(journal.clone());
    (journal, desk)
}

fn volume(name: &str, spec: &str) -> String {
    format!("---\napiVersion: bailiwick/v1\nkind: Volume\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
}

fn planned(fleet: &Fleet, text: &str, storage: &StorageConfig) -> Plan {
    let known = Known { storage: storage.clone(), ..Known::default() };
    let manifest = manifest::parse(&[Source::new("lab.yaml", text)], &known).expect("a good manifest");
    plan(fleet, &manifest.documents, Prune::No)
}

fn actions(plan: &Plan) -> Vec<(Action, &str, &[String])> {
    plan.steps.iter().map(|step| (step.action, step.entity.as_str(), step.fields.as_slice())).collect()
}

#[test]
fn what_is_going_is_asked_all_the_same_so_that_it_refuses() {
    let (journal, mut desk) = desk();
    desk.declare_machine("db");
    desk.declare_volume("data");
    desk.attach("db", "data");
    desk.settle();
    desk.volume("data", volume::Command::Remove);
    let fleet = Fleet::at_head(&*journal).expect("readable");
    assert_eq!(fleet.life(&"volume/data".parse().expect("a stream")), Some(Life::Dying));
    let spec = fleet.volumes.get("data").and_then(|state| state.spec.clone()).expect("declared");
    let same = volume("data", &format!("provider: {}, size: {}", spec.provider, spec.size));
    let plan = planned(&fleet, &same, &StorageConfig::default());
    assert_eq!(actions(&plan)[0], (Action::Refuse, "volume/data", &[][..]));
    let [(_, command)] = &plan.commands[..] else { panic!("{plan:?}") };
    assert!(matches!(command.get(), Some(volume::Command::Declare(_))), "{command:?}");
}

#[test]
fn a_forced_release_keeps_the_data() {
    let (journal, mut desk) = desk();
    desk.declare_machine("db");
    desk.declare_volume("data");
    desk.declare_volume("free");
    desk.attach("db", "data");
    desk.settle();
    let fleet = Fleet::at_head(&*journal).expect("readable");
    let how = Going { force: true, release: true, ..Going::default() };
    for name in ["data", "free"] {
        let stream: StreamId = format!("volume/{name}").parse().expect("a stream");
        let plan = removal(&fleet, std::slice::from_ref(&stream), how, &BTreeSet::new());
        for (_, command) in plan.commands.into_iter().filter(|(asked, _)| *asked == stream) {
            desk.volume(name, command.take().expect("a volume is asked as one"));
        }
    }
    let fleet = Fleet::at_head(&*journal).expect("readable");
    for name in ["data", "free"] {
        let state = fleet.volumes.get(name).expect("declared");
        assert_eq!((state.life, state.removal), (Life::Dead, volume::Removal::Release), "{name}");
    }
}

#[test]
fn what_names_no_pool_comes_from_the_default_and_stays_where_it_came_from() {
    let (journal, mut desk) = desk();
    let fast: PoolName = "fast".parse().expect("a pool's name");
    let mut config: StorageConfig = serde_json::from_str(
        r#"{"default-block-pool": "fast",
            "pools": {"fast": {"provider": "exec", "attributes": {"provider": "mine", "tier": "gold"}}}}"#,
    )
    .expect("a document");
    let fleet = Fleet::at_head(&*journal).expect("readable");
    let plan = planned(&fleet, &volume("data", "size: 64M"), &config);
    let (stream, command) = plan.commands.first().expect("a command");
    let Some(volume::Command::Declare(declaration)) = command.get() else { panic!("{command:?}") };
    let (spec, pool) = (&declaration.spec, declaration.pool.as_ref().expect("a pool"));
    assert_eq!(declaration.wanted, volume::Wanted::default());
    assert_eq!(spec.provider.as_str(), "mine");
    let attributes = [("tier".to_owned(), "gold".to_owned())].into();
    assert_eq!(*pool, FromPool { name: fast, attributes });

    desk.volume(stream.name(), command.clone().take().expect("it is one"));
    let fleet = Fleet::at_head(&*journal).expect("readable");
    *config.default_of_mut(StorageKind::Block) = Some("simulated".parse().expect("a pool's name"));
    let again = planned(&fleet, &volume("data", "size: 64M"), &config);
    assert_eq!(actions(&again), [(Action::Unchanged, "volume/data", &[][..])], "another default is for new ones");
    let named = planned(&fleet, &volume("data", "size: 64M, pool: simulated"), &config);
    let fields = ["spec.provider".to_owned(), "spec.pool".to_owned()];
    assert_eq!(actions(&named), [(Action::Change, "volume/data", &fields[..])], "which the volume refuses");
}

fn machine_with(storage: &str) -> String {
    format!(
        "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: web}}\nspec: {{provider: desk, storage: {{{storage}}}}}\n"
    )
}

/// Carries out what was planned, as far as the desk knows the kinds.
fn carry_out(desk: &mut Desk, plan: Plan) {
    for (stream, command) in plan.commands {
        if let Some(command) = command.get::<machine::Command>() {
            desk.machine(stream.name(), command.clone());
        } else if let Some(command) = command.get::<volume::Command>() {
            desk.volume(stream.name(), command.clone());
        } else {
            desk.attachment(stream.name(), command.take().expect("the desk knows no others"));
        }
    }
    desk.settle();
}

#[test]
fn what_a_machine_asks_for_comes_once_and_goes_with_it_unless_it_is_persistent() {
    let (journal, mut desk) = desk();
    let text = machine_with("logs: 'simulated,8M,2', data: {volume: 'simulated,8M', persistent: true}");
    let storage = StorageConfig::default();
    let planned_now = |text: &str| planned(&Fleet::at_head(&*journal).expect("readable"), text, &storage);
    let first = planned_now(&text);
    let made = [
        (Action::Create, "machine/web", &[][..]),
        (Action::Create, "volume/web-data-0", &[]),
        (Action::Create, "volume/web-logs-0", &[]),
        (Action::Create, "volume/web-logs-1", &[]),
    ];
    let mut told = actions(&first);
    told.retain(|(_, entity, _)| !entity.starts_with("volume-attachment"));
    told.sort_by_key(|(_, entity, _)| *entity);
    assert_eq!(told, made);
    carry_out(&mut desk, first);

    let again = planned_now(&text);
    assert!(!again.changes(), "{again:?}");
    let fleet = Fleet::at_head(&*journal).expect("readable");
    for name in ["web-logs-0", "web-logs-1", "web-data-0"] {
        let state = fleet.volumes.get(name).expect("declared");
        assert!(state.is_ready() && !state.attached_to.is_empty(), "{name}: {state:?}");
    }

    let removal = removal(&fleet, &["machine/web".parse().expect("a stream")], Going::default(), &BTreeSet::new());
    let gone: BTreeSet<&str> = removal.steps.iter().map(|step| step.entity.as_str()).collect();
    assert!(gone.contains("volume/web-logs-0") && gone.contains("volume/web-logs-1"), "{gone:?}");
    assert!(!gone.contains("volume/web-data-0") && gone.contains("volume-attachment/web:web-data-0"), "{gone:?}");
    carry_out(&mut desk, removal);
    let fleet = Fleet::at_head(&*journal).expect("readable");
    let left: Vec<&str> = fleet.volumes.iter().filter(|(_, f)| f.state.life.exists()).map(|(name, _)| name).collect();
    assert_eq!(left, ["web-data-0"]);
    assert!(fleet.volumes.get("web-data-0").is_some_and(|state| state.attached_to.is_empty() && state.is_ready()));
}

#[test]
fn what_is_there_for_its_own_sake_is_not_taken_for_a_machine() {
    let (journal, mut desk) = desk();
    desk.declare_volume("web-logs-0");
    let fleet = Fleet::at_head(&*journal).expect("readable");
    let plan = planned(&fleet, &machine_with("logs: 'simulated,64M'"), &StorageConfig::default());
    let told = actions(&plan);
    let (action, _, fields) = told.iter().find(|(_, entity, _)| *entity == "volume/web-logs-0").expect("planned");
    assert!(*action == Action::Change && fields.contains(&"owner".to_owned()), "which the volume refuses: {fields:?}");
    let command = plan.commands.iter().find(|(stream, _)| stream.name() == "web-logs-0").expect("asked");
    let entry = desk.volume("web-logs-0", command.1.clone().take().expect("a volume is asked as one"));
    assert_eq!(entry.header.meta.outcome, bailiwick_journal::Outcome::Refused);
}

#[test]
fn protection_ends_before_what_it_would_refuse_and_begins_after_there_is_something_to_protect() {
    let (journal, mut desk) = desk();
    let set = |protect: &str, replicas: u32| {
        format!(
            "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: web{protect}}}\n\
             spec: {{replicas: {replicas}, template: {{spec: {{provider: simulated}}}}}}\n"
        )
    };
    let kinds = |plan: &Plan| {
        let kind = |(_, command): &(StreamId, AnyCommand)| match command.get() {
            Some(machine_set::Command::Declare(spec)) => format!("declare {}", spec.replicas),
            Some(machine_set::Command::Protect { on }) => format!("protect {on}"),
            Some(machine_set::Command::Remove) => "remove".to_owned(),
            _ if command.get() == Some(&machine::Command::Remove) => "remove a machine".to_owned(),
            _ => format!("{command:?}"),
        };
        plan.commands.iter().map(kind).collect::<Vec<_>>()
    };
    let storage = StorageConfig::default();
    let fleet = Fleet::at_head(&*journal).expect("readable");
    let new = planned(&fleet, &set(", protect: true", 2), &storage);
    assert_eq!(kinds(&new), ["declare 2", "protect true"]);
    for (stream, command) in new.commands {
        desk.machine_set(stream.name(), command.take().expect("a set is asked as one"));
    }
    let fleet = Fleet::at_head(&*journal).expect("readable");
    let web: StreamId = "machine-set/web".parse().expect("a stream");
    assert!(fleet.is_protected(&web));
    assert!(planned(&fleet, &set("", 2), &storage).commands.is_empty(), "who says nothing leaves it as it is");
    let smaller = planned(&fleet, &set(", protect: false", 1), &storage);
    assert_eq!(kinds(&smaller), ["protect false", "declare 1"]);
    assert_eq!(smaller.steps[0].fields, ["spec.replicas", "metadata.protect"]);
    let same = planned(&fleet, &set(", protect: false", 2), &storage);
    assert_eq!(actions(&same)[0], (Action::Change, "machine-set/web", &["metadata.protect".to_owned()][..]));
}

const ACCOUNT: &str =
    "---\napiVersion: bailiwick/v1\nkind: Account\nmetadata: {name: ada}\nspec: {role: admin, users: [1000]}\n";

/// What is planned of what no manifest declares any more.
fn undeclared(fleet: &Fleet, prune: Prune) -> Vec<(Action, String)> {
    let steps = plan(fleet, &[], prune).steps;
    steps.into_iter().map(|step| (step.action, step.entity)).collect()
}

#[test]
fn an_account_that_no_manifest_declares_is_neither_pruned_nor_mentioned() {
    // given an account and a space
    let (journal, mut desk) = desk();
    let space = "---\napiVersion: bailiwick/v1\nkind: Space\nmetadata: {name: inner}\nspec: {}\n";
    let fleet = Fleet::at_head(&*journal).expect("readable");
    for (stream, command) in planned(&fleet, &format!("{ACCOUNT}{space}"), &StorageConfig::default()).commands {
        let Some(document::Command::Declare(content)) = command.take() else { panic!("{stream}") };
        desk.declare_document(stream.name(), *content);
    }
    let fleet = Fleet::at_head(&*journal).expect("readable");
    assert!(fleet.exists(&"account/ada".parse().expect("a stream")));
    // when none of them is declared, then only the space is said to stay, or goes
    assert_eq!(undeclared(&fleet, Prune::No), [(Action::Keep, "space/inner".to_owned())]);
    assert_eq!(undeclared(&fleet, Prune::Yes), [(Action::Remove, "space/inner".to_owned())]);
    // when the account is named, then it goes
    let ada: StreamId = "account/ada".parse().expect("a stream");
    let going = removal(&fleet, std::slice::from_ref(&ada), Going::default(), &BTreeSet::new());
    assert_eq!(actions(&going), [(Action::Remove, "account/ada", &[][..])]);
}
