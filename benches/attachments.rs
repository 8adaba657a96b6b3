//! Ten thousand attachments become due at one moment: `cargo bench --bench attachments`.
//!
//! A whole node on a real journal, with providers that answer at once. Volumes are made first, while their machines wait for
//! an instance; then all machines run. Measured, by the journal's own times, is how long after the first entry of that the
//! last attachment was scheduled: ordered, its intent recorded, and with the executor, which groups what is ready into bulk
//! calls while it makes and reports the first of them. The demand: at most one second on two cores. Measured as well: until
//! the last was handed to its provider, and until all were attached and that recorded.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bailiwick::{
    Config, Node,
    actors::{
        contract::{Decider as _, Stored as _},
        ports::{
            Answer, AttachVolume, AttachmentInfo, BulkAnswer, CreateMachine, CreateVolume, DetachVolume,
            InstanceStatus, Listing, Lookup, MachineInstance, MachineProvider, ProvisionedVolume, StartedMachine,
            VolumeProvider,
        },
        shell::AskError,
        vocab::{EffectId, Fault, InstanceId, Timestamp},
        volume_attachment,
    },
    config::journal_dir,
    handle::ApplyError,
    journal::{Body, Filter, Journal as _, Position, ReadOnlyJournal},
    manifest::{self, Source},
    plan::Prune,
};
use tokio::sync::watch;
use uuid::Uuid;

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ATTACHMENTS: usize = 10_000;
const MACHINES: usize = 100;
/// Documents in one request.
const AT_ONCE: usize = 1_000;

/// Makes everything at once, but machines only when it is told to; notes every bulk call to attach.
struct Fake {
    may_run: watch::Receiver<bool>,
    attached: Mutex<Vec<(Instant, Vec<String>)>>,
}

fn now<T: Send + 'static>(answers: Vec<Result<T, Fault>>) -> BulkAnswer<'static, T> {
    Box::pin(std::future::ready(Ok(answers)))
}

impl MachineProvider for Fake {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        let mut may_run = self.may_run.clone();
        Box::pin(async move {
            // An error means that the bench is over.
            drop(may_run.wait_for(|may| *may).await);
            let made = |create: CreateMachine| {
                let made = MachineInstance {
                    effect: create.id,
                    instance: InstanceId(format!("i-{}", create.machine)),
                    machine: create.machine,
                    facts: BTreeMap::new(),
                    status: InstanceStatus::Running,
                };
                Ok(made.into())
            };
            Ok(machines.into_iter().map(made).collect())
        })
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        now(ids.iter().map(|_| Ok(())).collect())
    }

    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        now(ids.iter().map(|_| Ok(Lookup::Absent)).collect())
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        let none = Listing { complete: false, as_of: Timestamp(0), items: Vec::new() };
        Box::pin(std::future::ready(Ok(none)))
    }
}

impl VolumeProvider for Fake {
    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        let made = |create: CreateVolume| {
            let volume_id = InstanceId(format!("v-{}", create.volume));
            Ok(ProvisionedVolume { effect: create.id, volume_id, size: create.size })
        };
        now(volumes.into_iter().map(made).collect())
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        now(ids.iter().map(|_| Ok(())).collect())
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        now(ids.iter().map(|_| Ok(Lookup::Absent)).collect())
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        let keys = attachments.iter().map(|wish| format!("{}:{}", wish.machine, wish.volume)).collect();
        self.attached.lock().expect("nobody panics").push((Instant::now(), keys));
        let info = |wish: AttachVolume| Ok(AttachmentInfo { path: format!("/v/{}", wish.volume), read_only: false });
        now(attachments.into_iter().map(info).collect())
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        now(attachments.iter().map(|_| Ok(())).collect())
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        now(ids.iter().map(|_| Ok(Lookup::Absent)).collect())
    }
}

fn main() {
    bailiwick::cli::allocator::settle();
    let scratch = tempfile::tempdir().expect("a directory");
    let data = scratch.path().join("data");
    let (run, may_run) = watch::channel(false);
    let fake = Arc::new(Fake { may_run, attached: Mutex::default() });
    let name = || "fake".parse().expect("a name");
    let config = Config::new(&data).without_socket();
    let config = config.machine_provider(name(), fake.clone()).volume_provider(name(), fake.clone());
    let node = Node::start(config).expect("it starts");
    let handle = node.handle();
    for documents in documents().chunks(AT_ONCE) {
        let source = Source::new("bench", documents.join("\n---\n").as_bytes());
        let manifest = manifest::parse(&[source], &handle.known().expect("readable")).expect("it makes sense");
        // As any client does: what is refused because there is too much to do is asked again, under the same id.
        let request = Uuid::new_v4();
        while let Err(error) = handle.wait(handle.apply(&manifest.documents, Prune::No, request)) {
            assert!(matches!(error, ApplyError::Ask(AskError::Overloaded)), "{error}");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
    let is_made = |fleet: &bailiwick::view::Fleet| fleet.volumes.iter().filter(|(_, v)| v.state.is_ready()).count();
    wait_until(|| handle.look(is_made).expect("readable") == ATTACHMENTS);
    let before = handle.head();
    let begun = Instant::now();
    run.send_replace(true);
    wait_until(|| {
        fake.attached.lock().expect("nobody panics").iter().map(|(_, keys)| keys.len()).sum::<usize>() >= ATTACHMENTS
    });
    let calls = fake.attached.lock().expect("nobody panics").clone();
    let last = calls.iter().map(|(at, _)| *at).max().expect("there are calls");
    let attached =
        |fleet: &bailiwick::view::Fleet| fleet.attachments.iter().filter(|(_, a)| a.state.is_ready()).count();
    wait_until(|| handle.look(attached).expect("readable") == ATTACHMENTS);
    let all = begun.elapsed();
    let entries = handle.head().0 - before.0;
    node.stop().expect("it stops");
    assert!(calls.iter().all(|(_, keys)| keys.is_sorted()), "items go out in the order of their keys");
    let journal = ReadOnlyJournal::open(&journal_dir(&data)).expect("it is whole");
    bailiwick::actors::replay::assert_replays(&journal);
    let first = journal.read(before.next(), journal.head().position, &Filter::all()).next();
    let first = Timestamp(first.expect("machines ran").expect("readable").header.meta.time_ms);
    let last_intent = intents(&journal).into_iter().max().unwrap_or(first);
    let scheduled = Duration::from_millis(last_intent.since(first));
    let took = last.duration_since(begun);
    println!("{ATTACHMENTS} attachments on {MACHINES} machines");
    println!("until the last was scheduled:              {scheduled:.3?} (demanded: at most 1 s)");
    println!("until the last was handed to its provider: {took:.3?}");
    println!("until all were attached, and recorded:     {all:.3?} ({entries} entries)");
    println!("bulk calls: {}, of {:.1} items on average", calls.len(), ATTACHMENTS as f64 / calls.len() as f64);
    println!("every decision comes out the same when it is made again: yes");
}

/// When each intent to attach was recorded.
fn intents(journal: &ReadOnlyJournal) -> Vec<Timestamp> {
    let filter = Filter { kinds: vec![volume_attachment::State::KIND.to_owned()], ..Filter::all() };
    let entries = journal.read(Position(1), journal.head().position, &filter);
    let entries = entries.map(|entry| entry.expect("readable"));
    let is_intent = |body: &Body| {
        let event = volume_attachment::Event::load(body).expect("readable");
        matches!(event, volume_attachment::Event::AttachRequested { .. })
    };
    let intents = entries.filter(|entry| entry.events.iter().any(is_intent));
    let times: Vec<Timestamp> = intents.map(|entry| Timestamp(entry.header.meta.time_ms)).collect();
    assert_eq!(times.len(), ATTACHMENTS, "each was scheduled once");
    times
}

fn documents() -> Vec<String> {
    let machine = |n: usize| {
        format!("apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: m{n}}}\nspec: {{provider: fake}}")
    };
    let volume = |n: usize| {
        let name = format!("{{name: v{n}}}");
        format!("apiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name}\nspec: {{provider: fake, size: 1M}}")
    };
    let attachment = |n: usize| {
        let spec = format!("{{machine: m{}, volume: v{n}}}", n % MACHINES);
        format!("apiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {spec}")
    };
    let volumes = (0..ATTACHMENTS).map(volume);
    (0..MACHINES).map(machine).chain(volumes).chain((0..ATTACHMENTS).map(attachment)).collect()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::park_timeout(Duration::from_millis(2));
    }
}
