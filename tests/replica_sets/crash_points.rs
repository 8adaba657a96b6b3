//! The node ends at every entry of a set's history, and goes on: nothing is done twice, and the set ends as it always does.
//!
//!     cargo test --test replica_sets crash_points
//!     EVERY=1 cargo test --test replica_sets crash_points

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bailiwick::providers::replica_model::Flavor;
use bailiwick_actors::{
    ports::{
        Answer, ReplicaSetEngine,
        replica_set::{Change, Contact, Member, MemberId, Observation, Outcome, Stamp},
    },
    replay::assert_replays,
    testing::MemoryJournal,
    vocab::Fault,
};
use bailiwick_journal::{Journal, Position};

use crate::{
    lab::{name, pause},
    seeds::{Ended, Kept, Run, Trouble},
    told::strayed,
};

/// A test looks at every so many-th entry, if nobody says otherwise.
const EVERY: usize = 7;

/// Where a node ends.
#[derive(Clone, Debug)]
pub struct Cut {
    journal: MemoryJournal,
    after: Position,
    over: Arc<AtomicBool>,
}

impl Cut {
    pub fn new(journal: MemoryJournal, after: Position) -> Self {
        Self { journal, after, over: Arc::default() }
    }

    /// The engine as this node reaches it: once the entry is there, nothing that it asks for is done, or all of it.
    pub fn engine(&self, engine: Arc<dyn ReplicaSetEngine>, is_done: bool) -> Arc<dyn ReplicaSetEngine> {
        Arc::new(CutOff { cut: self.clone(), engine, is_done })
    }

    /// Whether the entry is there, so that the node that wrote it is at its end.
    pub fn is_reached(&self) -> bool {
        self.journal.head().position >= self.after
    }

    /// The next node is another one.
    pub fn is_over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Ends when the entry is there and what was asked for has had time to happen; never where nothing is cut.
    pub async fn reached(cut: Option<Self>) {
        let Some(cut) = cut else { return pending().await };
        while !cut.is_reached() {
            pause(50).await;
        }
        pause(5_000).await;
    }

    async fn stand(&self, is_done: bool) {
        if !is_done && self.is_reached() && !self.over.load(Ordering::Relaxed) {
            pending().await
        }
    }
}

struct CutOff {
    cut: Cut,
    engine: Arc<dyn ReplicaSetEngine>,
    is_done: bool,
}

impl ReplicaSetEngine for CutOff {
    fn observe(&self, contact: Contact) -> Answer<'_, Result<Observation, Fault>> {
        Box::pin(async {
            self.cut.stand(self.is_done).await;
            self.engine.observe(contact).await
        })
    }

    fn change(&self, contact: Contact, base: Stamp, changes: Vec<Change>) -> Answer<'_, Outcome> {
        Box::pin(async move {
            self.cut.stand(self.is_done).await;
            self.engine.change(contact, base, changes).await
        })
    }

    fn step_down(&self, contact: Contact, primary: MemberId, successor: MemberId) -> Answer<'_, Outcome> {
        Box::pin(async move {
            self.cut.stand(self.is_done).await;
            self.engine.step_down(contact, primary, successor).await
        })
    }

    fn initiate(&self, contact: Contact, first: Member) -> Answer<'_, Outcome> {
        Box::pin(async {
            self.cut.stand(self.is_done).await;
            self.engine.initiate(contact, first).await
        })
    }
}

/// A set of three begins, and the machine of its leader goes.
fn history(kept: Kept) -> Run {
    Run::scripted(kept, &[(300, Trouble::Remove(1))])
}

/// By machine: how many members it has, whether it votes, and how many ids were given away in all.
fn end(run: &Run) -> (BTreeMap<String, bool>, Option<u64>) {
    let machines = (1..=5).map(|number| name(&format!("m{number}")));
    let member = |machine| run.world.member(&name("db"), &machine).map(|member| (machine.to_string(), member));
    let members: Vec<(String, Member)> = machines.filter_map(member).collect();
    let last = members.iter().map(|(_, member)| member.id.0).max();
    (members.into_iter().map(|(machine, member)| (machine, member.is_voter())).collect(), last)
}

/// What is wrong with a run that is over.
fn wrong(run: &Run) -> Vec<String> {
    let mut wrong = run.world.wrong();
    wrong.extend(run.unflagged());
    wrong.extend(strayed(&run.bench.journal));
    wrong
}

fn ends_the_same_wherever_the_node_ends(kept: Kept) {
    // given a history that nothing disturbs
    let mut whole = history(kept);
    assert_eq!((whole.run(), wrong(&whole)), (Ended::Settled, Vec::new()), "{}", whole.story());
    let entries = whole.bench.journal.entries().len();
    let every: usize = std::env::var("EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(EVERY);
    for entry in (1..=entries).step_by(every) {
        for is_done in [false, true] {
            // when the node ends after an entry
            let mut run = history(kept).cut_after(Position(entry as u64), is_done);
            let ended = run.run();
            // then the set ends the same
            let at = format!("after entry {entry} of {entries}, and what it asked for is done: {is_done}");
            assert_eq!((ended, wrong(&run)), (Ended::Settled, Vec::new()), "{at}: {}", run.story());
            assert_eq!(end(&run), end(&whole), "{at}: {}", run.story());
            assert_replays(&run.bench.journal);
        }
    }
}

#[test]
#[ignore = "takes long"]
fn a_set_of_mongodbs_model_ends_the_same_wherever_the_node_ends() {
    ends_the_same_wherever_the_node_ends(Kept::Model(Flavor::Mongodb));
}

#[test]
#[ignore = "takes long"]
fn a_set_of_etcds_model_ends_the_same_wherever_the_node_ends() {
    ends_the_same_wherever_the_node_ends(Kept::Model(Flavor::Etcd));
}

#[test]
#[ignore = "takes long"]
fn a_set_of_mongodbs_adapter_ends_the_same_wherever_the_node_ends() {
    ends_the_same_wherever_the_node_ends(Kept::MongoAdapter);
}
