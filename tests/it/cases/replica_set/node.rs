//! The node: what its replica sets supervisor has seen, and the policy in force.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick::actors::{
    contract::{Decider, Facts},
    machine,
    policy::Document,
    ports::{
        InstanceStatus, MachineInstance,
        replica_set::{
            Configuration, EngineRules, Member, MemberId, MemberState, MemberStatus, Observation, Stamp, Step,
        },
    },
    replica_set::{self, Rhythm, Seat, Spec},
    supervisor::{
        Order,
        peer_group::Verdict,
        replica_sets::{Command, Event, Plan, State, View, plan},
    },
    testing::Past,
    vocab::{EffectId, InstanceId, Name, Timestamp},
};
use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::given::{Input, MachineText, StatusText, address, member};

const JOURNAL: Uuid = Uuid::from_u128(1);

/// A set with its machines, of which nothing else is known.
pub(super) struct Node {
    past: Past<View>,
    set: Name,
    seen: Observation,
    policy: Document,
}

fn name(text: &str) -> Result<Name, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("names are checked")
}

impl Node {
    /// The machines of the case run; the set has seen its members. Whoever wants a vote has one of the first seats.
    pub fn of(input: Input, policy: &str) -> Result<Self, String> {
        let policy = Document::named(policy).ok_or(format!("no node can be put under a policy {policy:?}"))?;
        let set = name("set")?;
        let mut past = Past::default();
        let mut seats: Vec<(bool, Seat)> = Vec::new();
        for machine in input.machines {
            happened(&mut past, &machine, &set)?;
            let is_wanted = machine.wants_vote && machine.life.as_deref() != Some("dead");
            let addresses = machine.addresses.into_iter().map(address).collect();
            let (peer_port, client_port) = (input.mongo_port, input.mongo_port);
            seats.push((!is_wanted, Seat { machine: name(&machine.id)?, addresses, peer_port, client_port }));
        }
        seats.sort_by_key(|(is_unwanted, _)| *is_unwanted);
        let spec = Spec {
            engine: name("mongodb")?,
            servers: seats.iter().filter(|(is_unwanted, _)| !is_unwanted).count() as u32,
            seats: seats.into_iter().map(|(_, seat)| seat).collect(),
            one_host: false,
            rhythm: Rhythm::default(),
            space: input.ha_space.filter(|space| !space.is_empty()).map(|space| name(&space)).transpose()?,
        };
        past.happened(&stream("replica-set/set"), [replica_set::Event::Declared { spec }]);
        let members = input.members.into_iter().map(member).collect::<Result<_, String>>()?;
        let seen = Observation {
            configuration: Configuration { stamp: Stamp::default(), committed: true, members },
            statuses: input.statuses.into_iter().map(status).collect::<Result<_, String>>()?,
            rules: EngineRules::mongodb(),
        };
        Ok(Self { past, set, seen, policy }.seen())
    }

    /// Its servers say how it is.
    fn seen(mut self) -> Self {
        let observation = self.seen.clone();
        self.past.happened(&stream("replica-set/set"), [replica_set::Event::Seen { observation }]);
        self
    }

    /// The members are these, and are as they were.
    pub fn after(mut self, members: Vec<Member>) -> Self {
        self.seen.configuration.members = members;
        self.seen()
    }

    fn orders(&self) -> Vec<Order> {
        let own = stream("supervisor/replica-sets");
        let (now, view) = (Timestamp(9), &self.past.view);
        let facts = Facts { stream: &own, next: Version(1), now, policy: &self.policy, view, journal: JOURNAL };
        let look = Command::Look { about: vec![stream("replica-set/set")] };
        let decision = State.decide(&look, &facts).expect("it refuses nothing");
        decision.events.into_iter().map(|Event::Issued { order, .. }| order).collect()
    }

    /// What the supervisor plans, of which it orders the first step and nothing else.
    pub fn verdict(&self) -> Result<Verdict, String> {
        let state = self.past.view.sets.get(self.set.as_str()).ok_or("there is no set")?;
        let planned = plan(&self.past.view.machines, &self.set, state, self.policy.replica_sets.rules);
        let Some(Plan::Desired(verdict)) = planned else { return Err(format!("the plan is {planned:?}")) };
        let first = (*verdict).as_ref().ok().and_then(|desired| desired.steps.first());
        let ordered: Vec<Step> = self.orders().into_iter().filter_map(step).collect();
        if first != ordered.first() || ordered.len() > 1 {
            return Err(format!("planned {first:?} first, ordered {ordered:?}"));
        }
        Ok(*verdict)
    }

    /// Where the servers of the set are to be found, as the supervisor has it published.
    pub fn published(&self) -> BTreeSet<String> {
        let endpoints = |order| match order {
            Order::ReplicaSet { command: replica_set::Command::Publish(endpoints), .. } => Some(endpoints.servers),
            _ => None,
        };
        let servers = self.orders().into_iter().filter_map(endpoints).flat_map(BTreeMap::into_values);
        servers.flat_map(|endpoint| endpoint.addresses).collect()
    }
}

fn step(order: Order) -> Option<Step> {
    match order {
        Order::ReplicaSet { command: replica_set::Command::TakeStep { step, .. }, .. } => Some(step),
        _ => None,
    }
}

/// The machine was made, stays for the set, and may have died since.
fn happened(past: &mut Past<View>, text: &MachineText, set: &Name) -> Result<(), String> {
    use machine::Event;
    let stream = stream(&format!("machine/{}", name(&text.id)?));
    let (at, machine) = (Timestamp(1), name(&text.id)?);
    let effect = EffectId::of(JOURNAL, &stream, Version(2));
    let instance = InstanceId(format!("i-{machine}"));
    let (facts, status) = (BTreeMap::new(), InstanceStatus::Running);
    let mut events = vec![
        Event::Declared { spec: Arc::new(machine::Spec::with_provider(name("case")?)) },
        Event::CreateRequested { at },
        Event::Created { instance: MachineInstance { effect, instance, machine, facts, status }, at },
        Event::Engaged { set: set.clone() },
    ];
    match text.life.as_deref() {
        None | Some("alive") => (),
        Some("dying") => events.push(Event::RemovalBegan { at }),
        Some("dead") => events.extend([Event::RemovalBegan { at }, Event::Died]),
        Some(life) => return Err(format!("there is no life {life:?}")),
    }
    past.happened(&stream, events);
    Ok(())
}

fn status(text: StatusText) -> Result<MemberStatus, String> {
    let known = MemberState::NAMES.iter().find(|(_, name)| *name == text.state);
    let (state, _) = *known.ok_or(format!("there is no state {:?}", text.state))?;
    Ok(MemberStatus { id: MemberId(text.id), healthy: text.healthy, state, lag_ms: None })
}
