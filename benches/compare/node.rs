//! The actors above the journal: commands from end to end, and what an idle entity takes of memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use actix::{Actor, Context};
use bailiwick::{
    actors::{
        contract::{Decider, Entity, PolicyInForce},
        machine::{self, Command as Ask},
        policy::Document,
        ports::{
            Answer, BulkAnswer, Clock, CreateMachine, InstanceStatus, Listing, MachineInstance, MachineProvider,
            StartedMachine,
        },
        schedule::ScheduleActor,
        shell::{
            self, AnyCommand, EntityActor, Executor, Limits, Origin, Providers, Registry, Running, Services, Stats,
            TakenOver, assemble,
        },
        vocab::{EffectId, Fault, InstanceId, Timestamp, derived_uuid},
    },
    journal::{Config, Journal, LocalJournal, StreamId},
};
use tokio::task::LocalSet;

use crate::{
    Fallible, Options,
    commits::median,
    quiet,
    table::{Good, Row, Table},
    writers::{self, Shape},
};

const COMMANDS: &str = "end to end: durable commands, 64 callers / journal alone";
const MEMORY: &str = "bytes of an idle entity actor / bare actix actor, same state";
const CALLERS: usize = 64;
/// Machines that each caller goes round.
const MACHINES_EACH: usize = 8;
const ACTORS: usize = 200_000;
const NOW_MS: u64 = 1_764_000_000_000;

pub fn measure(options: &Options, table: &mut Table) -> Fallible<()> {
    if options.wants(COMMANDS) {
        commands(options, table)?;
    }
    if options.wants(MEMORY) {
        let (entity, bare) = (child("entity")?, child("bare")?);
        let sides = format!("{entity:.0} bytes | bare: {bare:.0} bytes");
        table.add(Row { name: MEMORY, value: entity / bare, target: 2.0, stretch: 1.5, good: Good::AtMost, sides });
    }
    Ok(())
}

fn commands(options: &Options, table: &mut Table) -> Fallible<()> {
    let (mut quotients, mut nodes, mut journals) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        quiet::wait(options.patience)?;
        let scratch = tempfile::tempdir_in(&options.dir)?;
        let alone = writers::against_journal(&scratch.path().join("alone"), Shape::Writers(64), options.time())?.per_s;
        let node = end_to_end(&scratch.path().join("node"), options.time())?;
        quotients.push(node / alone);
        nodes.push(node);
        journals.push(alone);
    }
    let sides = format!("{:.0}/s | journal: {:.0}/s", median(nodes), median(journals));
    let value = median(quotients);
    table.add(Row { name: COMMANDS, value, target: 0.7, stretch: 0.9, good: Good::AtLeast, sides });
    Ok(())
}

/// Machines are made, and then relabelled by 64 callers for a while: commands a second.
fn end_to_end(dir: &Path, time: Duration) -> Fallible<f64> {
    let (journal, _) = LocalJournal::open(Config { dir: dir.to_owned(), now_ms: NOW_MS, ..Config::default() })?;
    let journal = Arc::new(journal);
    let shared: Arc<dyn Journal> = journal.clone();
    let per_s = actix::System::new().block_on(async move {
        let mut providers = Providers::default();
        providers.machines.insert("bench".parse()?, Arc::new(Ready));
        let running = assemble(shared, Arc::new(Standing), providers, Limits::default()).await?;
        for number in 0..CALLERS * MACHINES_EACH {
            relabel(&running, number, 0).await?;
        }
        settle(&running).await?;
        let local = LocalSet::new();
        let (begun, until) = (Instant::now(), Instant::now() + time);
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let running = running.clone();
                local.spawn_local(async move {
                    let mut done = 0u64;
                    while Instant::now() < until {
                        done += 1;
                        let machine = caller * MACHINES_EACH + done as usize % MACHINES_EACH;
                        relabel(&running, machine, done).await.map_err(|error| error.to_string())?;
                    }
                    Ok::<_, String>(done)
                })
            })
            .collect();
        let done = local
            .run_until(async {
                let mut done = 0;
                for caller in callers {
                    done += caller.await??;
                }
                Fallible::Ok(done)
            })
            .await?;
        Fallible::Ok(done as f64 / begun.elapsed().as_secs_f64())
    })?;
    drop(journal);
    Ok(per_s)
}

async fn relabel(running: &Running, number: usize, round: u64) -> Fallible<()> {
    let labels = [("round".to_owned(), round.to_string())].into();
    let spec = machine::Spec { labels, ..machine::Spec::with_provider("bench".parse()?) };
    let id = derived_uuid(&format!("bench {number} {round}"));
    let origin =
        Origin { id, principal: "operator".into(), cause: None, cites: Vec::new(), routine: false, expected: None };
    let stream = StreamId::new(machine::State::KIND, &format!("m{number}"))?;
    let ask = shell::Ask { stream, command: AnyCommand::from(Ask::Declare(Arc::new(spec))), origin };
    running.registry.send(ask).await??;
    Ok(())
}

/// Until nothing is under way any more.
async fn settle(running: &Running) -> Fallible<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut quiet = 0;
    while quiet < 5 {
        let stats: shell::RegistryStats = running.registry.send(Stats).await?;
        quiet = if stats.asks == 0 && stats.calls == 0 { quiet + 1 } else { 0 };
        if Instant::now() > deadline {
            return Err("the node does not settle".into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// A clock that stands: times are not what is measured.
#[derive(Debug)]
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp(NOW_MS)
    }
}

/// Makes every machine at once.
#[derive(Debug)]
struct Ready;

impl MachineProvider for Ready {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        let made = |create: CreateMachine| {
            let instance = InstanceId(format!("i-{}", create.machine));
            let (facts, status) = (BTreeMap::new(), InstanceStatus::Running);
            let made = MachineInstance { effect: create.id, instance, machine: create.machine, facts, status };
            Ok(made.into())
        };
        Box::pin(async move { Ok(machines.into_iter().map(made).collect()) })
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(async move { Ok(ids.iter().map(|_| Ok(())).collect()) })
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        // Partial: what it lacks says nothing.
        Box::pin(async move { Ok(Listing { complete: false, as_of: Timestamp(0), items: Vec::new() }) })
    }
}

/// Measures one kind of actor in a process of its own, whose memory nothing else has used.
fn child(kind: &str) -> Fallible<f64> {
    let output = Command::new(std::env::current_exe()?).args(["--actors", kind]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().parse().map_err(|_| format!("{}: {text}", output.status).into())
}

/// What the child does: bytes for each actor.
pub fn actors(kind: &str) -> Fallible<f64> {
    let kind = kind.to_owned();
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (journal, _) = LocalJournal::open(Config { dir: scratch.path().join("journal"), ..Config::default() })?;
    let journal: Arc<dyn Journal> = Arc::new(journal);
    actix::System::new().block_on(async move {
        let policy = PolicyInForce { reference: None, document: Document::default() };
        let services = Rc::new(Services::new(
            journal,
            Arc::new(Standing),
            Providers::default(),
            Limits::default(),
            policy,
            TakenOver::default(),
            BTreeSet::new(),
        ));
        let schedule = ScheduleActor::new(services.clone()).start();
        let registry = Registry::new(services.clone(), schedule.clone()).start();
        let executor = Executor::new(services.clone(), registry.downgrade()).start();
        let streams: Vec<StreamId> = (0..ACTORS)
            .map(|number| StreamId::new(machine::State::KIND, &format!("m{number}")))
            .collect::<Result<_, _>>()?;
        let before = resident()?;
        match kind.as_str() {
            "entity" => {
                let mut all = Vec::with_capacity(ACTORS);
                for stream in streams {
                    let entity = Entity::<machine::State>::new(stream);
                    let (executor, schedule) = (executor.downgrade(), schedule.downgrade());
                    all.push(EntityActor::new(entity, services.clone(), executor, schedule).start());
                    tokio::task::yield_now().await;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
                report(before, all.len())
            }
            _ => {
                let mut all = Vec::with_capacity(ACTORS);
                for stream in streams {
                    all.push(Bare { _stream: stream, _state: machine::State::default() }.start());
                    tokio::task::yield_now().await;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
                report(before, all.len())
            }
        }
    })
}

struct Bare {
    _stream: StreamId,
    _state: machine::State,
}

impl Actor for Bare {
    type Context = Context<Self>;
}

fn report(before: u64, count: usize) -> Fallible<f64> {
    Ok((resident()? - before) as f64 / count as f64)
}

/// Resident memory in bytes, at the usual size of a page.
fn resident() -> Fallible<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("a short line")?.parse()?;
    Ok(pages * 4096)
}
