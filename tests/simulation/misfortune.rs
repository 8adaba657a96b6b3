//! What can be made to go wrong with a simulated provider, one thing at a time.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick::{
    actors::{
        machine::Spec,
        ports::{
            AttachVolume, Clock, CreateMachine, CreateVolume, InstanceStatus, Lookup, MachineInstance, MachineProvider,
            VolumeProvider,
        },
        vocab::{EffectId, Fault, FaultCode, InstanceId, Name, SizeMib, Timestamp, Uid, Zone},
    },
    providers::simulated::{Faults, SimulatedProvider, World},
};
use tokio::time::Instant;

/// The runtime's virtual time.
struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp(u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

/// Far beyond the end of every test here.
const EVER: Timestamp = Timestamp(u64::MAX);

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn zone(text: &str) -> Zone {
    Zone(text.to_owned())
}

fn effect(n: u128) -> EffectId {
    EffectId(uuid::Uuid::from_u128(n))
}

/// A provider on a very bad day: a bit of everything.
pub fn nasty() -> Faults {
    Faults {
        latency_ms: (1, 3_000),
        fail_per_mille: 150,
        lost_answer_per_mille: 100,
        hang_per_mille: 20,
        unknown_lookup_per_mille: 100,
        partial_list_per_mille: 150,
        stale_list_per_mille: 150,
        fail_list_per_mille: 50,
        miscount_per_mille: 30,
        ..Faults::default()
    }
}

fn world(seed: u64, faults: Faults) -> (World, SimulatedProvider) {
    let world = World::new(seed);
    world.set_faults(&name("simulated"), faults);
    let provider = SimulatedProvider::new(name("simulated"), world.clone(), Arc::new(VirtualClock(Instant::now())));
    (world, provider)
}

fn wish(n: u128, in_zone: Option<&str>) -> CreateMachine {
    CreateMachine {
        id: effect(n),
        machine: name(&format!("m-{n}")),
        uid: Uid(uuid::Uuid::from_u128(n)),
        spec: Arc::new(Spec::with_provider(name("simulated"))),
        zone: in_zone.map(zone),
        class: None,
        secrets: Default::default(),
        start: None,
        config: None,
        nonce: None,
        join: None,
    }
}

async fn create(provider: &SimulatedProvider, wish: CreateMachine) -> Result<MachineInstance, Fault> {
    provider.create(vec![wish]).await?.remove(0).map(|made| made.instance)
}

async fn lookup(provider: &SimulatedProvider, n: u128) -> Lookup<MachineInstance> {
    provider.lookup(vec![effect(n)]).await.unwrap().remove(0).unwrap().map(|found| found.instance)
}

fn code<T>(answer: Result<T, Fault>) -> Option<FaultCode> {
    answer.err().map(|fault| fault.code)
}

#[tokio::test(start_paused = true)]
async fn instances_are_spread_over_zones_or_made_where_they_are_wanted() {
    let (world, provider) = world(1, Faults::default());
    world.set_zones(&name("simulated"), vec![zone("a"), zone("b"), zone("c")]);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for n in 0..9 {
        *counts.entry(create(&provider, wish(n, None)).await.unwrap().facts["zone"].clone()).or_default() += 1;
    }
    assert_eq!(counts, BTreeMap::from([("a".into(), 3), ("b".into(), 3), ("c".into(), 3)]));
    assert_eq!(create(&provider, wish(20, Some("b"))).await.unwrap().facts["zone"], "b");
    assert_eq!(create(&provider, wish(21, Some("nowhere"))).await.unwrap().facts["zone"], "a");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_seen_or_done_in_a_zone_that_is_dark() {
    let (world, provider) = world(2, Faults::default());
    let simulated = name("simulated");
    world.set_zones(&simulated, vec![zone("a"), zone("b")]);
    create(&provider, wish(1, Some("a"))).await.unwrap();
    let there = create(&provider, wish(2, Some("b"))).await.unwrap();
    let volume = CreateVolume {
        id: effect(5),
        volume: name("data"),
        uid: Uid(uuid::Uuid::nil()),
        size: SizeMib(1),
        pool: None,
        tags: Default::default(),
    };
    provider.create_volumes(vec![volume]).await.unwrap().remove(0).unwrap();
    world.add_zone_outage(&simulated, &zone("b"), Timestamp(0), EVER);

    let listing = provider.list().await.unwrap();
    assert!(!listing.complete, "what cannot be seen is not gone");
    assert_eq!(listing.items.iter().map(|item| item.effect).collect::<Vec<_>>(), [effect(1)]);
    assert_eq!(lookup(&provider, 2).await, Lookup::Unknown);
    assert_eq!(lookup(&provider, 9).await, Lookup::Unknown, "it may be where nobody can see");
    assert!(matches!(lookup(&provider, 1).await, Lookup::Present(_)));
    assert_eq!(code(create(&provider, wish(3, Some("b"))).await), Some(FaultCode::Unavailable));
    assert_eq!(create(&provider, wish(4, None)).await.unwrap().facts["zone"], "a", "there is room elsewhere");
    let gone = provider.delete(vec![effect(2), effect(1)]).await.unwrap();
    assert_eq!(gone.into_iter().map(code).collect::<Vec<_>>(), [Some(FaultCode::Unavailable), None]);
    let attach = AttachVolume {
        id: effect(6),
        machine: there.machine.clone(),
        machine_effect: there.effect,
        instance: there.instance.clone(),
        volume: name("data"),
        volume_effect: effect(5),
        volume_id: InstanceId("v".into()),
        read_only: false,
    };
    assert_eq!(code(provider.attach_volumes(vec![attach]).await.unwrap().remove(0)), Some(FaultCode::Unavailable));
    assert_eq!(
        world.reporting(Timestamp(1)).into_iter().map(|(machine, _)| machine.to_string()).collect::<Vec<_>>(),
        ["m-4"]
    );

    world.stop_faults();
    assert!(provider.list().await.unwrap().complete);
    assert_eq!(lookup(&provider, 2).await, Lookup::Present(there));
    assert_eq!(lookup(&provider, 9).await, Lookup::Absent);
}

#[tokio::test(start_paused = true)]
async fn where_all_zones_are_dark_nothing_is_made() {
    let (world, provider) = world(3, Faults::default());
    world.add_zone_outage(&name("simulated"), &zone("a"), Timestamp(0), EVER);
    assert_eq!(code(create(&provider, wish(1, None)).await), Some(FaultCode::Unavailable));
    assert!(world.snapshot().instances.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_zone_can_die_with_everything_in_it() {
    let (world, provider) = world(4, Faults::default());
    world.set_zones(&name("simulated"), vec![zone("a"), zone("b")]);
    for n in 0..6 {
        create(&provider, wish(n, None)).await.unwrap();
    }
    assert_eq!(world.kill_zone(&name("simulated"), &zone("b")), 3);
    let stopped =
        provider.list().await.unwrap().items.into_iter().filter(|item| item.status == InstanceStatus::Stopped);
    assert!(stopped.into_iter().all(|item| item.facts["zone"] == "b"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_breaks_off_has_happened_up_to_there() {
    let (mut whole, mut partial) = (0, 0);
    for seed in 0..40 {
        let (world, provider) = world(seed, Faults { break_off_per_mille: 1000, ..Faults::default() });
        let wishes: Vec<CreateMachine> = (0..10).map(|n| wish(n, None)).collect();
        let answers = provider.create(wishes).await;
        let made = world.snapshot().instances.len();
        let is_made = |n: usize| world.snapshot().instances.contains_key(&effect(n as u128));
        assert!((0..10).all(|n| is_made(n) == (n < made)), "the first ones, and no others");
        match answers {
            Err(fault) => {
                whole += 1;
                assert_eq!(fault.code, FaultCode::Aborted);
            }
            Ok(answers) => {
                partial += 1;
                assert!(answers.iter().enumerate().all(|(n, answer)| answer.is_ok() == (n < made)));
                let codes = answers.into_iter().filter_map(code).collect::<std::collections::BTreeSet<_>>();
                assert!(codes.iter().all(|code| *code == FaultCode::Unavailable), "{codes:?}");
            }
        }
    }
    assert!(whole > 5 && partial > 5, "{whole} and {partial}");
}

#[tokio::test(start_paused = true)]
async fn quotas_hold_for_volumes_and_for_calls() {
    let (_, provider) = world(6, Faults { volumes_max: Some(2), ..Faults::default() });
    let volume = |n: u128| CreateVolume {
        id: effect(n),
        volume: name(&format!("v-{n}")),
        uid: Uid(uuid::Uuid::from_u128(n)),
        size: SizeMib(1),
        pool: None,
        tags: Default::default(),
    };
    let mut codes = Vec::new();
    for n in [1, 2, 3, 1] {
        codes.push(code(provider.create_volumes(vec![volume(n)]).await.unwrap().remove(0)));
    }
    assert_eq!(codes, [None, None, Some(FaultCode::ResourceExhausted), None], "what is there is given again");

    let (_, provider) = world(7, Faults { calls_per_minute_max: Some(3), latency_ms: (0, 0), ..Faults::default() });
    let mut codes = Vec::new();
    for _ in 0..5 {
        codes.push(code(provider.list().await));
    }
    let exhausted = Some(FaultCode::ResourceExhausted);
    assert_eq!(codes, [None, None, None, exhausted, exhausted]);
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    assert_eq!(code(provider.list().await), None, "a minute later there is room again");
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_misbehaves_in_the_same_way() {
    let mut histories = std::collections::BTreeSet::new();
    for seed in [1, 1, 2, 2, 3, 3] {
        let (world, provider) = world(seed, Faults { break_off_per_mille: 500, ..nasty() });
        let mut history = String::new();
        for n in 0..20 {
            let call = provider.create(vec![wish(n, None), wish(n + 100, None)]);
            history += &format!("{:?}\n", tokio::time::timeout(std::time::Duration::from_secs(9), call).await);
        }
        histories.insert((seed, format!("{history}{:?}", world.snapshot())));
    }
    assert_eq!(histories.len(), 3);
}
