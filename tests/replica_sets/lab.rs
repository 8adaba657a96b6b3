//! Where a suite runs: three machines that may have a server, and ways to make and break them.

use std::{collections::BTreeMap, future::Future, time::Duration};

use bailiwick_actors::{
    ports::{
        ReplicaSetEngine,
        replica_set::{
            Action, Change, Contact, MACHINE_TAG, Member, MemberId, MemberState, Observation, Outcome, Priority,
        },
    },
    vocab::{Fault, Name},
};

/// How long something may take to become true, in looks of 100 ms.
const LOOKS_MAX: u32 = 400;

/// Servers on the machines `m1`, `m2` and `m3`, kept by one engine.
pub trait Lab {
    fn engine(&self) -> &dyn ReplicaSetEngine;
    fn contact(&self) -> Contact;
    /// Whether the engine lets one say who follows a leader that gives way. MongoDB's servers choose by themselves.
    fn chooses_successor(&self) -> bool {
        true
    }
    /// The set begins on `m1`.
    fn begin(&mut self) -> impl Future<Output = ()>;
    /// The server of a machine that has joined is started for the first time.
    fn start_joined(&mut self, machine: &str) -> impl Future<Output = ()>;
    /// The server of a machine stops without warning.
    fn crash(&mut self, machine: &str);
    /// It runs again, with its data.
    fn restart(&mut self, machine: &str) -> impl Future<Output = ()>;

    /// What there is now.
    fn look(&self) -> impl Future<Output = Result<Observation, Fault>> {
        async { self.engine().observe(self.contact()).await }
    }

    /// Waits until what there is is like this.
    fn until(&self, what: &str, is_so: impl Fn(&Observation) -> bool) -> impl Future<Output = Observation> {
        async move {
            let mut last = None;
            for _ in 0..LOOKS_MAX {
                let now = self.look().await;
                match now {
                    Ok(now) if is_so(&now) => return now,
                    now => last = Some(now),
                }
                pause(100).await;
            }
            panic!("{what}: last seen was {last:#?}")
        }
    }

    /// One change of the members as they are now.
    fn change(&self, change: Change) -> impl Future<Output = Outcome> {
        async {
            let now = self.until("committed", |now| now.configuration.committed).await;
            self.engine().change(self.contact(), now.configuration.stamp, vec![change]).await
        }
    }

    /// The same until it is taken: engines refuse what comes too soon, which is what the schedule is for.
    fn change_in_the_end(&self, change: Change) -> impl Future<Output = ()> {
        async move {
            let mut last = None;
            for _ in 0..LOOKS_MAX {
                match self.change(change.clone()).await {
                    Outcome::Done => return,
                    outcome => last = Some(outcome),
                }
                pause(100).await;
            }
            panic!("{change:?} was never taken: {last:?}")
        }
    }

    /// The machine joins, starts, catches up and gets its vote.
    fn add(&mut self, machine: &str) -> impl Future<Output = MemberId> {
        async move {
            let joins = Change::Join { member: newcomer(&self.contact(), machine) };
            self.change_in_the_end(joins).await;
            self.start_joined(machine).await;
            let now = self.until("in sync", |now| ready(now, machine)).await;
            let member = id(&now, machine).expect("it has joined");
            self.change_in_the_end(Change::Promote { member }).await;
            self.until("votes", |now| votes(now, machine)).await;
            member
        }
    }
}

/// Between two looks.
pub async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn newcomer(contact: &Contact, machine: &str) -> Member {
    let server = contact.servers.iter().find(|server| server.machine.as_str() == machine).unwrap();
    Member {
        id: MemberId(u64::from(machine.as_bytes()[1] - b'0')),
        address: server.peer.clone().unwrap().into(),
        tags: [(MACHINE_TAG.to_owned(), machine.to_owned())].into(),
        votes: Some(0),
        priority: Some(Priority::NONE),
        other: BTreeMap::new(),
    }
}

pub fn member<'a>(seen: &'a Observation, machine: &str) -> Option<&'a Member> {
    seen.configuration.members.iter().find(|member| member.machine_tag() == Some(machine))
}

pub fn id(seen: &Observation, machine: &str) -> Option<MemberId> {
    member(seen, machine).map(|member| member.id)
}

pub fn votes(seen: &Observation, machine: &str) -> bool {
    member(seen, machine).is_some_and(Member::is_voter)
}

pub fn ready(seen: &Observation, machine: &str) -> bool {
    let id = id(seen, machine);
    seen.statuses.iter().any(|status| Some(status.id) == id && status.is_ready())
}

/// The machine of the one member that leads.
pub fn leader(seen: &Observation) -> Option<&str> {
    let mut leaders = seen.statuses.iter().filter(|status| status.healthy && status.state == MemberState::Primary);
    let (first, second) = (leaders.next()?, leaders.next());
    let member = seen.configuration.members.iter().find(|member| member.id == first.id)?;
    member.machine_tag().filter(|_| second.is_none())
}

/// Whether an action would be one that a plan may take: for messages.
pub fn told(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// A step down of this leader.
pub fn step_down(seen: &Observation, from: &str, to: &str) -> Action {
    Action::StepDown { primary: id(seen, from).unwrap(), successor: id(seen, to).unwrap() }
}
