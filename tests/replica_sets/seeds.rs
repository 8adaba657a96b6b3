//! Many seeds over the models: whatever goes wrong, no step does harm, and once it stops everything settles.

use std::{
    collections::BTreeSet,
    io::Write,
    sync::{Arc, Mutex},
};

use bailiwick::providers::{
    mongodb::MongoEngine,
    replica_model::{Flavor, ModelEngine, ModelFaults, ModelServers, ModelWorld},
    simulated::{Dice, World},
};
use bailiwick_actors::{
    machine,
    policy::{self, Document, PeerRules, ReplicaSets},
    ports::{Clock, ReplicaSetEngine, replica_set::MemberId},
    replay::assert_replays,
    replica_set::{Command, Rhythm, Seat},
    shell::{AnyCommand, Running},
    testing::MemoryJournal,
    vocab::{Name, Timestamp},
};
use bailiwick_journal::Position;
use tokio::time::Instant;

use crate::{
    crash_points::Cut,
    lab::{name, pause},
    node::{Bench, Seen, ask, declare_machine, history, set_command, spec, story},
    told::strayed,
    trials::{Trials, trials},
};

/// For so long things go wrong, in milliseconds.
const TROUBLE_MS: u64 = 1_200_000;
/// By then everything has to have settled: the longest retry is 5 min, and there are several steps to go.
const SETTLED_BY_MS: u64 = TROUBLE_MS + 5_400_000;

/// Virtual time that goes on over several runs of the node.
#[derive(Debug, Default)]
struct VirtualClock(Mutex<(u64, Option<Instant>)>);

impl VirtualClock {
    fn begin(&self) {
        self.0.lock().unwrap().1 = Some(Instant::now());
    }

    fn end(&self) {
        let now = self.now().0;
        *self.0.lock().unwrap() = (now, None);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let (before, began) = *self.0.lock().unwrap();
        Timestamp(before + began.map_or(0, |began| u64::try_from(began.elapsed().as_millis()).unwrap()))
    }
}

/// Who keeps the set of a run.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    /// The model, as an engine by itself.
    Model(Flavor),
    /// MongoDB's adapter, over the model's servers and their commands.
    MongoAdapter,
}

impl Kept {
    pub const BY_MONGODB: [Self; 2] = [Self::Model(Flavor::Mongodb), Self::MongoAdapter];
    pub const ALL: [Self; 3] = [Self::Model(Flavor::Mongodb), Self::MongoAdapter, Self::Model(Flavor::Etcd)];

    pub fn flavor(self) -> Flavor {
        match self {
            Self::Model(flavor) => flavor,
            Self::MongoAdapter => Flavor::Mongodb,
        }
    }

    pub fn engine(self, world: &ModelWorld, clock: Arc<dyn Clock>) -> Arc<dyn ReplicaSetEngine> {
        match self {
            Self::Model(_) => Arc::new(ModelEngine::new(world.clone(), clock)),
            Self::MongoAdapter => {
                Arc::new(MongoEngine::new(Arc::new(ModelServers::new(world.clone(), clock, machine_at))))
            }
        }
    }
}

/// The machine at an address: `m3` at `10.0.0.3:7`, and wherever it moves to.
pub fn machine_at(address: &str) -> Option<Name> {
    let (host, _) = address.rsplit_once(':')?;
    format!("m{}", host.rsplit_once('.')?.1).parse().ok()
}

/// What goes wrong, or is asked.
#[derive(Clone, Debug)]
pub enum Trouble {
    Crash(u16),
    Start(u16),
    LoseData(u16),
    EnableHa(i64),
    /// Unless fewer than four would stay.
    Remove(u16),
    RemoveAnyway(u16),
    Move(u16),
    /// Both at once.
    MoveTwo(u16, u16),
    NodeCrashes,
    /// Without waiting for anything.
    RemoveByForce(u16),
    /// Somebody else edits the set: takes the vote of the member of a machine.
    StrangerTakesVote(u16),
    /// The same, between a plan of ours and its write.
    StrangerComesBetween(u16),
    /// Another policy comes into force.
    Rules(PeerRules),
}

/// A very bad day: a bit of everything.
fn nasty() -> ModelFaults {
    ModelFaults {
        latency_ms: (1, 1_500),
        look_fail_per_mille: 150,
        refuse_per_mille: 200,
        lost_answer_per_mille: 150,
        late_per_mille: 100,
        dropped_per_mille: 100,
        two_primaries_per_mille: 150,
        interrupt_per_mille: 80,
    }
}

fn script(dice: &mut Dice) -> Vec<(u64, Trouble)> {
    let mut script = Vec::new();
    for _ in 0..dice.between(4, 14) {
        let machine = u16::try_from(dice.between(1, 5)).unwrap();
        let trouble = match dice.below(12) {
            0..=2 => Trouble::Crash(machine),
            3..=4 => Trouble::Start(machine),
            5 => Trouble::LoseData(machine),
            6..=7 => Trouble::EnableHa([3, 5, 0][usize::try_from(dice.below(3)).unwrap()]),
            8 => Trouble::Remove(machine),
            9 => Trouble::Move(machine),
            _ => Trouble::NodeCrashes,
        };
        script.push((dice.between(5_000, TROUBLE_MS), trouble));
    }
    script.push((dice.between(1_000, 60_000), Trouble::EnableHa(3)));
    script.sort_by_key(|(at, _)| *at);
    script
}

pub struct Run {
    pub bench: Bench,
    pub world: ModelWorld,
    /// Where the node ends once, if it does.
    cut: Option<Cut>,
    clock: Arc<VirtualClock>,
    seen: Seen,
    script: Vec<(u64, Trouble)>,
    next: usize,
    seats: Vec<Seat>,
    servers: u32,
    is_calm: bool,
    /// For so long things go wrong, and by then everything has to have settled.
    trouble_ms: u64,
    settled_by_ms: u64,
}

#[derive(Debug, PartialEq)]
pub enum Ended {
    NodeCrashed,
    Settled,
    NotSettled,
}

impl Run {
    fn new(kept: Kept, seed: u64) -> Self {
        let clock = Arc::new(VirtualClock::default());
        let world = ModelWorld::new(kept.flavor(), seed);
        let engine = kept.engine(&world, clock.clone());
        let (journal, machines) = (MemoryJournal::new(&format!("seed {seed}")), World::new(seed));
        let bench = Bench { journal, machines, clock: clock.clone(), engine };
        let seat = |number: u16| Seat::at(name(&format!("m{number}")), &format!("10.0.0.{number}"), 7, 7);
        let seats = (1..=5).map(seat).collect();
        let script = script(&mut Dice::named(seed, "trouble"));
        world.set_faults(nasty());
        Self {
            bench,
            world,
            cut: None,
            clock,
            seen: Seen::default(),
            script,
            next: 0,
            seats,
            servers: 1,
            is_calm: false,
            trouble_ms: TROUBLE_MS,
            settled_by_ms: SETTLED_BY_MS,
        }
    }

    /// A run in which only this happens, at these times in seconds; three servers are asked for at the start.
    pub fn scripted(kept: Kept, script: &[(u64, Trouble)]) -> Self {
        let mut run = Self::new(kept, 1);
        run.world.set_faults(ModelFaults::default());
        run.servers = 3;
        run.script = script.iter().map(|(at_s, trouble)| (at_s * 1_000, trouble.clone())).collect();
        run.trouble_ms = run.script.last().map_or(0, |(at, _)| at + 60_000);
        run.settled_by_ms = run.trouble_ms + 1_800_000;
        run
    }

    /// The node ends once, right after this entry; of what it asks the engine for from then on all is done, or nothing.
    pub fn cut_after(mut self, entry: Position, is_done: bool) -> Self {
        self.bench.journal.hold_after(entry);
        let cut = Cut::new(self.bench.journal.clone(), entry);
        self.bench.engine = cut.engine(self.bench.engine, is_done);
        self.cut = Some(cut);
        self
    }

    /// One run of the node after the other, until all is over.
    pub fn run(&mut self) -> Ended {
        loop {
            let system = actix::System::with_tokio_rt(|| {
                tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
            });
            let ended = system.block_on(async {
                self.clock.begin();
                let cut = self.cut.clone();
                let ended = tokio::select! {
                    biased;
                    ended = self.live() => ended,
                    () = Cut::reached(cut) => Ended::NodeCrashed,
                };
                self.clock.end();
                ended
            });
            if let Some(cut) = self.cut.take_if(|cut| cut.is_reached()) {
                cut.is_over();
                self.bench.journal = self.bench.journal.reopened();
            }
            if ended != Ended::NodeCrashed {
                return ended;
            }
        }
    }

    async fn live(&mut self) -> Ended {
        let running = self.bench.start().await;
        if self.next == 0 {
            for seat in self.seats.clone() {
                declare_machine(&running, seat.machine.as_str(), seat.machine.as_str()).await;
            }
            self.declare(&running, 0).await;
        }
        loop {
            let now = self.clock.now();
            let world = self.world.clone();
            self.bench.agents_report(&running, |machine| world.lost_on(machine)).await;
            while let Some((_, trouble)) = self.script.get(self.next).filter(|(at, _)| *at <= now.0).cloned() {
                if matches!(trouble, Trouble::NodeCrashes) {
                    self.next += 1;
                    return Ended::NodeCrashed;
                }
                // What the node did not hear to its end is asked again.
                self.happen(&running, trouble).await;
                self.next += 1;
            }
            self.seen.advance(&self.bench.journal);
            if now.0 >= self.trouble_ms && !self.is_calm {
                self.is_calm = true;
                self.world.set_faults(ModelFaults::default());
                self.world.start_all(now);
            }
            if self.is_calm && self.next == self.script.len() && self.seen.is_at_rest() {
                return Ended::Settled;
            }
            if now.0 >= self.settled_by_ms {
                return Ended::NotSettled;
            }
            pause(5_000).await;
        }
    }

    async fn declare(&mut self, running: &Running, round: usize) {
        let spec = spec(self.servers, self.seats.clone(), false, Rhythm::default());
        let id = format!("declare {round}");
        ask(running, "replica-set/db", set_command(Command::Declare(spec)), &id).await.expect("it is recorded");
    }

    async fn happen(&mut self, running: &Running, trouble: Trouble) {
        let now = self.clock.now();
        let machine = |number: u16| name(&format!("m{number}"));
        let id = format!("trouble {}", self.next + 1);
        match trouble {
            Trouble::Crash(number) => self.world.crash(&machine(number), now),
            Trouble::Start(number) => self.world.start(&machine(number), now),
            Trouble::LoseData(number) => {
                // Nobody survives the loss of more than a minority.
                let voting = self.world.voting(&name("db"));
                let has_lost = |name: &Name| !self.world.lost_on(name).is_empty();
                if voting.len() >= 3 && !voting.iter().any(has_lost) {
                    self.world.lose_data(&machine(number), now);
                }
            }
            Trouble::EnableHa(servers) => {
                let command = set_command(Command::EnableHa { servers });
                ask(running, "replica-set/db", command, &id).await.expect("it is recorded");
                self.seen.advance(&self.bench.journal);
                self.servers = self.seen.set().and_then(|set| set.spec.as_ref()).map_or(1, |spec| spec.servers);
            }
            Trouble::Remove(number) | Trouble::RemoveAnyway(number) => {
                let alive = self.seen.view.machines.iter().count();
                // A set begins on its first seat, and on the next one if that is gone for good. Whether it has begun is not
                // known before somebody has seen it.
                let was_seen = self.seen.set().is_some_and(|set| set.seen.is_some());
                let may_go = number != 1 || was_seen;
                if (alive >= 4 && may_go) || matches!(trouble, Trouble::RemoveAnyway(_)) {
                    let remove = AnyCommand::from(machine::Command::Remove);
                    ask(running, &format!("machine/m{number}"), remove, &id).await.expect("it is recorded");
                }
            }
            Trouble::Move(number) => {
                self.moves(number);
                self.declare(running, self.next + 1).await;
            }
            Trouble::MoveTwo(one, other) => {
                self.moves(one);
                self.moves(other);
                self.declare(running, self.next + 1).await;
            }
            Trouble::RemoveByForce(number) => {
                let how = machine::Removal { force: true, ..Default::default() };
                let remove = AnyCommand::from(machine::Command::RemoveWith(how));
                ask(running, &format!("machine/m{number}"), remove, &id).await.expect("it is recorded");
            }
            Trouble::StrangerComesBetween(number) => {
                self.world.take_vote_before_the_next_write(&name("db"), &machine(number));
            }
            Trouble::StrangerTakesVote(number) => self.world.take_vote(&name("db"), &machine(number), now),
            Trouble::Rules(rules) => {
                let document = Document { replica_sets: ReplicaSets { rules }, ..Document::default() };
                let revise = AnyCommand::from(policy::Command::Revise(Box::new(document)));
                ask(running, "policy/default", revise, &id).await.expect("it is recorded");
            }
            Trouble::NodeCrashes => (),
        }
    }

    fn moves(&mut self, number: u16) {
        self.seats[usize::from(number) - 1].addresses[0].value = format!("10.1.{}.{number}", self.next + 1);
    }

    /// Whoever voted at some moment was flagged at that moment.
    pub fn unflagged(&self) -> Vec<String> {
        let history = history(&self.bench.journal);
        let real = self.world.history(&name("db"));
        let mut wrong = Vec::new();
        for (at, voters) in &real {
            // All that was durable by then; of entries of the same millisecond one may have come after it.
            let before = history.iter().rev().find(|(time, ..)| *time < at.0);
            let within = history.iter().filter(|(time, ..)| *time == at.0);
            let flags: BTreeSet<MemberId> =
                before.into_iter().chain(within).flat_map(|(_, state, _)| state.flags.iter().copied()).collect();
            // Before anything was seen nothing is known of the first member but its machine.
            let is_known = history.iter().any(|(time, state, _)| *time <= at.0 && state.seen.is_some());
            if is_known && !voters.is_subset(&flags) {
                wrong.push(format!("at {at} {voters:?} vote, and {flags:?} are flagged"));
            }
        }
        for pair in history.windows(2) {
            let [(_, before, _), (time, after, _)] = pair else { continue };
            let lowered = before.flags.difference(&after.flags).next().is_some();
            let voters = real.iter().rev().find(|(at, _)| at.0 <= *time).map(|(_, voters)| voters);
            let is_covered = voters.is_none_or(|voters| voters.is_subset(&after.flags));
            if lowered && !is_covered {
                wrong.push(format!("at {time} flags went down to {:?}, and {voters:?} vote", after.flags));
            }
        }
        wrong
    }

    pub fn story(&self) -> String {
        format!("{:?}\n{}", self.script, story(&self.bench.journal))
    }
}

fn seeds_settle(kept: Kept, usual: u64) {
    let Trials { seeds, is_single } = trials(usual);
    let (mut failed, mut steps) = (Vec::new(), 0);
    for seed in seeds {
        let mut run = Run::new(kept, seed);
        let ended = run.run();
        let mut wrong = run.world.wrong();
        wrong.extend(run.unflagged());
        wrong.extend(strayed(&run.bench.journal));
        assert_replays(&run.bench.journal);
        steps += run.world.history(&name("db")).len();
        if ended != Ended::Settled {
            wrong.push(format!("it has not settled: {}", run.seen.plan_text()));
        }
        if is_single {
            say(&run.story());
        }
        if !wrong.is_empty() {
            failed.push(format!("seed {seed}: {}", wrong.join("; ")));
        }
    }
    say(&format!("{kept:?}: votes changed {steps} times"));
    assert!(failed.is_empty(), "{} seeds failed, the first: {}", failed.len(), failed[0]);
}

fn say(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").unwrap();
}

#[test]
fn every_seed_settles_and_does_no_harm() {
    seeds_settle(Kept::Model(Flavor::Mongodb), 5);
    seeds_settle(Kept::Model(Flavor::Etcd), 5);
    seeds_settle(Kept::MongoAdapter, 5);
}

#[test]
#[ignore = "takes long"]
fn every_seed_of_many_over_the_model_of_mongodb_settles_and_does_no_harm() {
    seeds_settle(Kept::Model(Flavor::Mongodb), 40);
}

#[test]
#[ignore = "takes long"]
fn every_seed_of_many_over_the_model_of_etcd_settles_and_does_no_harm() {
    seeds_settle(Kept::Model(Flavor::Etcd), 40);
}

#[test]
#[ignore = "takes long"]
fn every_seed_of_many_over_mongodbs_adapter_settles_and_does_no_harm() {
    seeds_settle(Kept::MongoAdapter, 40);
}
