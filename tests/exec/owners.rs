//! Two nodes on one account of a provider: what one has made is nobody's for the other.

use bailiwick::actors::{
    ports::{CreateVolume, Lookup, MachineProvider, VolumeProvider},
    vocab::{FaultCode, SizeMib, Uid},
};
use uuid::Uuid;

use crate::support::{Ground, effect, fault, has_python, name, sample, start, within};

fn volume() -> CreateVolume {
    CreateVolume {
        id: effect(1),
        volume: name("data"),
        uid: Uid(Uuid::from_u128(1)),
        size: SizeMib(16),
        pool: None,
        tags: Default::default(),
    }
}

#[tokio::test]
async fn what_another_journal_owns_is_neither_taken_over_nor_listed() {
    // Given a provider that keeps owners, and a node of one journal that has made a volume with it
    let ground = Ground::new();
    if !has_python() {
        return;
    }
    let program = sample();
    let of = |owner| {
        let mut config = ground.config(&["python3", program.to_str().unwrap()]);
        config.owner = Some(Uuid::from_u128(owner));
        start(config)
    };
    let ours = of(1);
    within(ours.create_volumes(vec![volume()])).await.unwrap()[0].clone().unwrap();
    assert_eq!(within(ours.list_volumes()).await.unwrap().items.len(), 1);
    drop(ours);
    // when the node of another journal works with it
    let theirs = of(2);
    // then the same id is refused with what helps, and the list is complete without it
    let told = within(theirs.create_volumes(vec![volume()])).await.unwrap().remove(0);
    fault(told, FaultCode::FailedPrecondition, "another account of the provider");
    let told = within(theirs.lookup_volumes(vec![effect(1)])).await.unwrap().remove(0);
    fault(told, FaultCode::FailedPrecondition, "belongs to journal 00000000-0000-0000-0000-000000000001");
    let listing = within(theirs.list_volumes()).await.unwrap();
    assert!(listing.complete && listing.items.is_empty(), "{listing:?}");
    assert!(within(theirs.list()).await.unwrap().items.is_empty());
    drop(theirs);
    // and it is still there for the one that made it
    let found = within(of(1).lookup_volumes(vec![effect(1)])).await.unwrap().remove(0);
    assert!(matches!(found, Ok(Lookup::Present(_))), "{found:?}");
}
