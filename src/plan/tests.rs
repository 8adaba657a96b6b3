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
    assert!(matches!(&plan.commands[..], [(_, AnyCommand::Volume(volume::Command::Declare(_)))]));
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
    let Some((stream, AnyCommand::Volume(command))) = plan.commands.first() else { panic!("{plan:?}") };
    let volume::Command::DeclareFrom { spec, machine: None, pool } = command else { panic!("{command:?}") };
    assert_eq!(spec.provider.as_str(), "mine");
    let attributes = [("tier".to_owned(), "gold".to_owned())].into();
    assert_eq!(*pool, FromPool { name: fast, attributes });

    desk.volume(stream.name(), command.clone());
    let fleet = Fleet::at_head(&*journal).expect("readable");
    *config.default_of_mut(StorageKind::Block) = Some("simulated".parse().expect("a pool's name"));
    let again = planned(&fleet, &volume("data", "size: 64M"), &config);
    assert_eq!(actions(&again), [(Action::Unchanged, "volume/data", &[][..])], "another default is for new ones");
    let named = planned(&fleet, &volume("data", "size: 64M, pool: simulated"), &config);
    let fields = ["spec.provider".to_owned(), "spec.pool".to_owned()];
    assert_eq!(actions(&named), [(Action::Change, "volume/data", &fields[..])], "which the volume refuses");
}
