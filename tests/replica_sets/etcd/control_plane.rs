//! The whole control plane over real etcd servers: from one to three, and what becomes of losses.
//!
//! What would run inside a machine is played here: a server is started when its machine has joined, and never with an empty
//! directory under an identity that it had before.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick::{
    clock::SystemClock,
    providers::{etcd::EtcdEngine, simulated::World},
};
use bailiwick_actors::{
    machine,
    ports::{
        Clock, ReplicaSetEngine,
        replica_set::{Action, Change, MemberId, MemberState},
    },
    replay::assert_replays,
    replica_set::{Command, Phase, Rhythm, Seat},
    shell::{AnyCommand, Running},
    testing::MemoryJournal,
};

use super::servers::{Servers, is_there};
use crate::{
    lab::{id, leader, name, pause, ready, votes},
    node::{Bench, Seen, ask, declare_machine, history, set_command, spec, story},
};

/// How long anything may take, in looks of 100 ms.
const LOOKS_MAX: u32 = 900;

struct Plane {
    bench: Bench,
    servers: Servers,
    engine: EtcdEngine,
    seen: Seen,
    /// Machines whose server is to stay as it is: the test has stopped it.
    left_alone: BTreeSet<String>,
    /// Machines whose data is gone.
    lost: BTreeSet<String>,
    machines: Vec<String>,
}

impl Plane {
    async fn new(machines: usize) -> (Self, Running) {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let journal = MemoryJournal::new("etcd");
        let engine = EtcdEngine::default();
        let bench = Bench { journal, machines: World::new(1), clock, engine: Arc::new(engine.clone()) };
        let running = bench.start().await;
        let machines: Vec<String> = (1..=machines).map(|number| format!("m{number}")).collect();
        let mut servers = Servers::new(machines.len());
        servers.begin("m1");
        let plane = Self {
            bench,
            servers,
            engine,
            seen: Seen::default(),
            left_alone: BTreeSet::new(),
            lost: BTreeSet::new(),
            machines,
        };
        for machine in &plane.machines {
            declare_machine(&running, machine, machine).await;
        }
        // Polls are so far apart that what happens to a quiet set is seen only because the engine watches its servers.
        let rhythm = Rhythm { poll_ms: 3_600_000, retry_first_ms: 300, retry_max_ms: 2_000, ..Rhythm::default() };
        let declare = Command::Declare(spec(1, plane.seats(), true, rhythm));
        ask(&running, "replica-set/db", set_command(declare), "declare").await.expect("it is recorded");
        (plane, running)
    }

    fn seats(&self) -> Vec<Seat> {
        let port = |address: &str| address.rsplit_once(':').unwrap().1.parse().unwrap();
        let seat = |server: bailiwick_actors::ports::replica_set::Server| {
            let (peer, client) = (port(&server.peer.unwrap()), port(&server.client));
            Seat::at(server.machine, "127.0.0.1", peer, client)
        };
        self.servers.contact().servers.into_iter().map(seat).collect()
    }

    /// What runs inside the machines does its part.
    async fn inside(&mut self) {
        let Ok(now) = self.engine.observe(self.servers.contact()).await else { return };
        for machine in self.machines.clone() {
            let Some(member) = id(&now, &machine) else { continue };
            let is_new = now.statuses.iter().any(|it| it.id == member && it.state == MemberState::Startup);
            if self.left_alone.contains(&machine) || self.servers.is_running(&machine) {
                continue;
            }
            if is_new && !self.servers.has_data(&machine) {
                self.lost.remove(&machine);
                self.servers.join(&machine, &now.configuration.members);
            } else if self.servers.has_data(&machine) {
                self.servers.restart(&machine);
            }
        }
    }

    async fn until(&mut self, running: &Running, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..LOOKS_MAX {
            self.inside().await;
            let lost = self.lost.clone();
            let sets = |machine: &_| if lost.contains(&format!("{machine}")) { vec![name("db")] } else { vec![] };
            self.bench.agents_report(running, sets).await;
            self.seen.advance(&self.bench.journal);
            if is_so(self) {
                return;
            }
            pause(100).await;
        }
        panic!("{what}: {}\n{}", self.seen.plan_text(), story(&self.bench.journal));
    }

    /// The machines that vote, as the control plane knows it.
    fn voters(&self) -> Vec<&str> {
        let seen = self.seen.set().and_then(|set| set.seen.as_ref());
        let machines = self.machines.iter().map(String::as_str);
        machines.filter(|machine| seen.is_some_and(|seen| votes(seen, machine))).collect()
    }

    fn leader(&self) -> Option<String> {
        leader(self.seen.set()?.seen.as_ref()?).map(str::to_owned)
    }

    fn member(&self, machine: &str) -> Option<MemberId> {
        id(self.seen.set()?.seen.as_ref()?, machine)
    }

    /// The steps that were begun, in order.
    fn steps(&self) -> Vec<Action> {
        let mut steps = Vec::new();
        for (_, state, _) in history(&self.bench.journal) {
            if let Phase::Stepping { step, .. } = state.phase {
                steps.push(step.action);
            }
        }
        steps
    }
}

/// The servers of a machine that is gone are not started again.
async fn remove_machine(plane: &mut Plane, running: &Running, machine: &str) {
    plane.left_alone.insert(machine.to_owned());
    let remove = AnyCommand::from(machine::Command::Remove);
    ask(running, &format!("machine/{machine}"), remove, "remove").await.expect("it is recorded");
}

fn on_a_system<T>(act: impl Future<Output = T>) -> T {
    actix::System::new().block_on(act)
}

#[test]
#[ignore = "takes long"]
fn one_member_becomes_three_one_after_the_other_and_losses_are_made_good() {
    if !is_there() {
        return;
    }
    on_a_system(async {
        let (mut plane, running) = Plane::new(4).await;
        plane.until(&running, "one votes", |it| it.voters() == ["m1"] && it.seen.is_at_rest()).await;

        let enable = set_command(Command::EnableHa { servers: 3 });
        ask(&running, "replica-set/db", enable, "ha").await.expect("it is recorded");
        plane.until(&running, "three vote", |it| it.voters() == ["m1", "m2", "m3"] && it.seen.is_at_rest()).await;
        for (_, state, _) in history(&plane.bench.journal) {
            let members = state.seen.iter().flat_map(|seen| &seen.configuration.members);
            assert!(members.filter(|member| !member.is_voter()).count() <= 1, "one learner at a time");
        }

        // The data of a member is lost: it is removed, and joins anew under another id.
        let leading = plane.leader().expect("one leads");
        let unlucky = ["m2", "m3"].into_iter().find(|machine| **machine != leading).unwrap();
        let before = plane.member(unlucky).unwrap();
        plane.servers.lose_data(unlucky);
        plane.lost.insert(unlucky.to_owned());
        let is_made_good = |it: &Plane| {
            let member = it.member(unlucky);
            member.is_some_and(|member| member != before) && it.voters().len() == 3 && it.seen.is_at_rest()
        };
        plane.until(&running, "it joined anew", is_made_good).await;

        // The leader hangs for a while: another one leads, nobody is thrown out, and it comes back.
        let hanging = plane.leader().expect("one leads");
        let member = plane.member(&hanging);
        plane.servers.pause(&hanging);
        plane.until(&running, "another one leads", |it| it.leader().is_some_and(|leader| leader != hanging)).await;
        let seen_sick = |it: &Plane| {
            let seen = it.seen.set().and_then(|set| set.seen.as_ref());
            seen.is_some_and(|seen| !ready(seen, &hanging) && votes(seen, &hanging))
        };
        plane.until(&running, "it is missed", seen_sick).await;
        plane.servers.go_on(&hanging);
        plane.until(&running, "it is back", |it| it.seen.is_at_rest() && it.leader().is_some()).await;
        assert_eq!(plane.member(&hanging), member, "who hangs for a while stays who it is");

        // The leader's machine goes: before it is removed its replacement votes, and it has handed over.
        let going = plane.leader().expect("one leads");
        let (count, member) = (plane.steps().len(), plane.member(&going).unwrap());
        remove_machine(&mut plane, &running, &going).await;
        let is_replaced = |it: &Plane| it.voters().len() == 3 && it.member(&going).is_none() && it.seen.is_at_rest();
        plane.until(&running, "it was replaced", is_replaced).await;
        let steps = plane.steps().split_off(count);
        let at = |wanted: &dyn Fn(&Action) -> bool| steps.iter().position(wanted);
        let promoted = at(&|step| step.promoted().next().is_some());
        let gave_way = at(&|step| matches!(step, Action::StepDown { primary, .. } if *primary == member));
        let removed = at(&|step| *step == Action::Write { changes: vec![Change::Remove { member }] });
        assert!(promoted.is_some() && promoted < removed, "its replacement votes first: {steps:#?}");
        assert!(gave_way.is_some() && gave_way < removed, "the leader is moved first: {steps:#?}");
        assert_replays(&plane.bench.journal);
    });
}
