//! Sessions make sure of what is attached, and volumes that their provider does not show any more are noticed.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use bailiwick_actors::{
    machine,
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, Clock, CreateVolume, DetachVolume, Listing, Lookup,
        ProvisionedVolume, VolumeProvider,
    },
    shell::{AnyCommand, Limits, Providers, Running, assemble},
    testing::MemoryJournal,
    vocab::{EffectId, Fault, InstanceId, Name, SizeMib},
    volume, volume_attachment,
};

use crate::support::{Bench, WallClock, after_ms, ask, codes, on_a_system, told};

/// Volumes on a shelf, some of which are not shown.
struct Shelf {
    clock: Arc<WallClock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    volumes: BTreeSet<ProvisionedVolume>,
    is_hidden: bool,
    is_partial: bool,
    lists: usize,
}

impl VolumeProvider for Shelf {
    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        let make = |wish: CreateVolume| {
            let (effect, volume_id) = (wish.id, InstanceId("v".into()));
            let made = ProvisionedVolume { effect, volume_id, size: wish.size };
            self.state.lock().unwrap().volumes.insert(made.clone());
            Ok(made)
        };
        let made = volumes.into_iter().map(make).collect();
        Box::pin(async move { Ok(made) })
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(async move { Ok(ids.iter().map(|_| Ok(())).collect()) })
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        Box::pin(async move { Ok(ids.iter().map(|_| Ok(Lookup::Absent)).collect()) })
    }

    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        let mut state = self.state.lock().unwrap();
        state.lists += 1;
        let items = if state.is_hidden { Vec::new() } else { state.volumes.iter().cloned().collect() };
        let listing = Listing { complete: !state.is_partial, as_of: self.clock.now(), items };
        Box::pin(async move { Ok(listing) })
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        let info = |wish: &AttachVolume| Ok(AttachmentInfo { path: "/v".into(), read_only: wish.read_only });
        Box::pin(async move { Ok(attachments.iter().map(info).collect()) })
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        Box::pin(async move { Ok(attachments.iter().map(|_| Ok(())).collect()) })
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        Box::pin(async move { Ok(ids.iter().map(|_| Ok(Lookup::Absent)).collect()) })
    }
}

async fn start(journal: &MemoryJournal, shelf: &Arc<Shelf>) -> Running {
    let mut providers = Providers::default();
    providers.volumes.insert("shelf".parse().unwrap(), shelf.clone());
    assemble(Arc::new(journal.clone()), shelf.clock.clone(), providers, Limits::default()).await.unwrap()
}

/// Longer than a node waits between two lists.
const A_WHILE_MS: u64 = 6_000;

#[test]
fn a_volume_is_lost_after_two_complete_lists_and_found_again() {
    on_a_system(async {
        let journal = Bench::new().journal.clone();
        let shelf = Arc::new(Shelf { clock: WallClock::new(), state: Mutex::default() });
        let node = start(&journal, &shelf).await;
        let spec = volume::Spec { provider: "shelf".parse().unwrap(), size: SizeMib(1) };
        let declare = AnyCommand::from(volume::Command::declare(spec));
        told(&node, ask("volume/data", declare, "declare")).await.unwrap();
        after_ms(10 * A_WHILE_MS).await;
        let quiet = journal.entries().len();
        assert!(shelf.state.lock().unwrap().lists > 5);
        let is_told = |code: &str| codes(&journal, "volume/data").iter().filter(|told| *told == code).count();
        {
            let mut state = shelf.state.lock().unwrap();
            (state.is_hidden, state.is_partial) = (true, true);
        }
        after_ms(10 * A_WHILE_MS).await;
        assert_eq!(journal.entries().len(), quiet, "an incomplete list says nothing, and a quiet node writes nothing");
        shelf.state.lock().unwrap().is_partial = false;
        let lists = shelf.state.lock().unwrap().lists;
        while shelf.state.lock().unwrap().lists == lists {
            after_ms(50).await;
        }
        after_ms(50).await;
        assert_eq!(is_told("storage-lost"), 0, "one list is not enough");
        after_ms(10 * A_WHILE_MS).await;
        assert_eq!((is_told("storage-lost"), is_told("storage-found")), (1, 0));
        shelf.state.lock().unwrap().is_hidden = false;
        after_ms(A_WHILE_MS).await;
        assert_eq!((is_told("storage-lost"), is_told("storage-found")), (1, 1));
        assert_eq!(shelf.state.lock().unwrap().volumes.len(), 1, "nothing was made in its place");
    });
}

#[test]
fn what_cannot_be_let_go_of_is_given_up_at_once() {
    on_a_system(async {
        let journal = Bench::new().journal.clone();
        let shelf = Arc::new(Shelf { clock: WallClock::new(), state: Mutex::default() });
        let node = start(&journal, &shelf).await;
        let spec = volume::Spec { provider: "shelf".parse().unwrap(), size: SizeMib(1) };
        let declare = AnyCommand::from(volume::Command::declare(spec));
        told(&node, ask("volume/data", declare, "declare")).await.unwrap();
        after_ms(A_WHILE_MS).await;
        told(&node, ask("volume/data", AnyCommand::from(volume::Command::Release), "release")).await.unwrap();
        after_ms(10 * 3_600_000).await;
        let codes = codes(&journal, "volume/data");
        assert_eq!(codes.last().map(String::as_str), Some("cannot-release"), "{codes:?}");
        assert_eq!(shelf.state.lock().unwrap().volumes.len(), 1, "its data is there");
    });
}

/// More attachments than orders fit into one entry of the journal (4,096 events) go with their machine.
#[test]
fn a_machine_with_more_attachments_than_one_entry_holds_is_removed() {
    const ATTACHMENTS: usize = 4_100;
    on_a_system(async {
        let journal = Bench::new().journal.clone();
        let shelf = Arc::new(Shelf { clock: WallClock::new(), state: Mutex::default() });
        let node = start(&journal, &shelf).await;
        for number in 0..ATTACHMENTS {
            let volume: Name = format!("v{number}").parse().unwrap();
            let spec = volume_attachment::Spec { machine: "web".parse().unwrap(), volume, read_only: false };
            let declare = AnyCommand::from(volume_attachment::Command::Declare(spec));
            let (stream, id) = (format!("volume-attachment/web:v{number}"), format!("declare {number}"));
            told(&node, ask(&stream, declare, &id)).await.unwrap();
        }
        let spec = machine::Spec::with_provider("nobody".parse().unwrap());
        let declare = AnyCommand::from(machine::Command::Declare(spec.into()));
        told(&node, ask("machine/web", declare, "declare")).await.unwrap();
        told(&node, ask("machine/web", AnyCommand::from(machine::Command::Remove), "remove")).await.unwrap();
        after_ms(A_WHILE_MS).await;
        let is_removed = |stream: &str| codes(&journal, stream).last().map(String::as_str) == Some("never-connected");
        assert!(is_removed("volume-attachment/web:v0"));
        assert!(is_removed(&format!("volume-attachment/web:v{}", ATTACHMENTS - 1)));
        let own = journal.entries().into_iter().filter(|entry| entry.header.stream.to_string() == "supervisor/storage");
        let orders: Vec<u32> = own.map(|entry| entry.header.events).filter(|events| *events > 0).collect();
        assert_eq!(orders, [4_095, 5], "two decisions hold them");
    });
}
