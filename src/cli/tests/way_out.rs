//! Nothing stands where nobody can help: what does not go on by itself has a command that leads out, and `why-not` names it.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::{Decider, Entity, Known, NoView, PolicyInForce},
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set,
    ports::replica_set::MemberState,
    provider, replica_set,
    shell::AnyCommand,
    vocab::Life,
    volume, volume_attachment,
};
use bailiwick_journal::{Filter, Journal, Position, ReadOnlyJournal, StreamId, Version};

use super::journals;
use crate::{
    config::journal_dir,
    plan::{Going, protecting, removal, retrying},
    view::{Fleet, WhyNot, declared, goals, why_not},
};

/// A journal at a moment.
struct Moment<'a> {
    journal: &'a dyn Journal,
    fleet: &'a Fleet,
}

/// What is to be done with the state of a kind.
macro_rules! of_kind {
    ($kind:expr, $state:ident => $then:expr, $else:expr) => {
        match $kind {
            machine::State::KIND => {
                type $state = machine::State;
                $then
            }
            volume::State::KIND => {
                type $state = volume::State;
                $then
            }
            volume_attachment::State::KIND => {
                type $state = volume_attachment::State;
                $then
            }
            filesystem::State::KIND => {
                type $state = filesystem::State;
                $then
            }
            filesystem_attachment::State::KIND => {
                type $state = filesystem_attachment::State;
                $then
            }
            machine_set::State::KIND => {
                type $state = machine_set::State;
                $then
            }
            machine_deployment::State::KIND => {
                type $state = machine_deployment::State;
                $then
            }
            machine_class::State::KIND => {
                type $state = machine_class::State;
                $then
            }
            replica_set::State::KIND => {
                type $state = replica_set::State;
                $then
            }
            _ => $else,
        }
    };
}

impl Moment<'_> {
    fn entity<D: Decider<View = NoView>>(&self, stream: &StreamId) -> Entity<D> {
        let mut entity = Entity::new(stream.clone());
        for entry in self.journal.read_stream(stream, Version(1)) {
            let entry = entry.expect("a readable entry");
            if entry.header.position <= self.fleet.position {
                entity.take_in(&entry).expect("an entry that can be understood");
            }
        }
        entity
    }

    /// Whether the world still owes it something, or a time is due: then it goes on by itself.
    fn goes_on(&self, stream: &StreamId) -> bool {
        of_kind!(stream.kind(), D => !self.entity::<D>(stream).state().pending(&NoView).is_empty(), true)
    }

    /// Whether a server of a replica set copies its data: the engine tells when it is done.
    fn copies(&self, stream: &StreamId) -> bool {
        let state = self.fleet.replica_sets.get(stream.name()).filter(|_| stream.kind() == replica_set::State::KIND);
        let seen = state.and_then(|state| state.seen.as_ref());
        seen.is_some_and(|seen| seen.statuses.iter().any(|it| it.healthy && it.state == MemberState::Startup2))
    }

    /// Whether the command changes something; none if it is refused.
    fn decided(&self, stream: &StreamId, command: &AnyCommand) -> Option<bool> {
        macro_rules! decided {
            ($state:ty, $command:expr) => {{
                let policy = PolicyInForce { reference: None, document: self.fleet.policy() };
                let (now, view, journal) = (self.fleet.time, &NoView, self.journal.id());
                let known = Known { now, policy: policy.into(), view, view_at: None, journal };
                let verdict = self.entity::<$state>(stream).decide($command, &known);
                verdict.ok().map(|decision| !decision.events.is_empty())
            }};
        }
        macro_rules! of_any {
            ($($kind:ident),*) => {{
                $(if let Some(command) = command.get::<$kind::Command>() {
                    return decided!($kind::State, command);
                })*
                Some(false)
            }};
        }
        of_any!(
            machine,
            volume,
            volume_attachment,
            filesystem,
            filesystem_attachment,
            machine_set,
            machine_deployment,
            machine_class,
            replica_set,
            provider
        )
    }

    fn leads_out(&self, stream: &StreamId, command: &AnyCommand) -> bool {
        self.decided(stream, command) == Some(true)
    }

    /// What asks for the same as a command line does; nothing for one that this test does not know.
    fn asks(&self, line: &[&str]) -> Option<Vec<(StreamId, AnyCommand)>> {
        let (verb, rest) = line.split_first()?;
        if let ["rollout", "resume", name] = line {
            let deployment = StreamId::new(machine_deployment::State::KIND, name).ok()?;
            return Some(vec![(deployment, AnyCommand::from(machine_deployment::Command::Resume))]);
        }
        let named = rest.iter().filter(|word| !word.starts_with('-'));
        let entities: Vec<StreamId> = named.map(|word| word.parse()).collect::<Result<_, _>>().ok()?;
        let entity = entities.first()?.clone();
        let force = rest.contains(&"--force");
        let going = |how: Going| removal(self.fleet, &entities, how, &BTreeSet::new()).commands;
        Some(match *verb {
            "retry" | "retry-provisioning" => vec![(entity.clone(), retrying(&entity)?)],
            "unprotect" => vec![(entity.clone(), protecting(&entity, false)?)],
            "unhold" if entity.kind() == machine_set::State::KIND => {
                vec![(entity, AnyCommand::from(machine_set::Command::Unhold))]
            }
            "unhold" if entity.kind() == provider::State::KIND => {
                vec![(entity, AnyCommand::from(provider::Command::Unhold))]
            }
            "thaw" => vec![(entity, AnyCommand::from(machine_set::Command::Thaw))],
            "unhold" => vec![(entity, AnyCommand::from(machine::Command::Unhold))],
            "delete" | "remove" | "detach" => going(Going { force, ..Going::default() }),
            "destroy" => going(Going { force, destroy: true, ..Going::default() }),
            "release" => going(Going { force, release: true, ..Going::default() }),
            _ => return None,
        })
    }

    /// The answer for who is in the way in the end, if it waits for others.
    fn asked(&self, stream: &StreamId, wanted: &str) -> Option<(StreamId, WhyNot)> {
        let (mut stream, mut wanted) = (stream.clone(), wanted.to_owned());
        for _ in 0..8 {
            let answer = why_not(self.fleet, &stream, &wanted)?;
            let Some(other) = answer.unmet.as_ref().and_then(|unmet| unmet.blocked_by.as_ref()?.parse().ok()) else {
                return Some((stream, answer));
            };
            wanted = if self.fleet.life(&other) == Some(Life::Alive) { "ready" } else { "removed" }.to_owned();
            stream = other;
        }
        None
    }

    /// What is wrong with what somebody is told who finds this standing still; nothing if it is not, or if that helps.
    fn stands_without_help(&self, stream: &StreamId) -> Option<String> {
        let life = self.fleet.life(stream).filter(|life| life.exists())?;
        let wanted = if life == Life::Alive { "ready" } else { "removed" };
        if !goals(stream.kind()).contains(&wanted) || self.goes_on(stream) {
            return None;
        }
        let Some((blocking, answer)) = self.asked(stream, wanted) else {
            return Some(format!("{stream}: who is asked waits in a circle"));
        };
        let unmet = answer.unmet?;
        if unmet.next_look_ms.is_some() || (blocking != *stream && self.goes_on(&blocking)) {
            return None;
        }
        if self.copies(stream) && unmet.satisfied_by.starts_with("nothing to do") {
            return None;
        }
        let lines: Vec<Vec<&str>> = commands(&unmet.satisfied_by);
        let asks: Vec<_> = lines.iter().filter_map(|line| self.asks(line)).flatten().collect();
        let helps = asks.iter().any(|(stream, command)| self.leads_out(stream, command));
        let is_told =
            || unmet.satisfied_by.contains("`bailiwick apply`") || unmet.satisfied_by.contains("`bailiwick adopt");
        (!helps && !is_told()).then(|| format!("{stream} {wanted}: {blocking}: {unmet:?}"))
    }
}

/// What is wrong with what is told of how something that is there could be removed; nothing if it can be done like that.
fn misled(moment: &Moment<'_>, stream: &StreamId) -> Option<String> {
    let is_asked = moment.fleet.life(stream) == Some(Life::Alive) && goals(stream.kind()).contains(&"removed");
    let unmet = why_not(moment.fleet, stream, "removed").filter(|_| is_asked)?.unmet?;
    // A protection ends as a hold does, and is looked at in a test of its own.
    let lines = commands(&unmet.satisfied_by);
    let asks = lines.first().and_then(|line| moment.asks(line)).filter(|_| lines[0][0] != "unprotect")?;
    let refused = asks.iter().find(|(stream, command)| moment.decided(stream, command).is_none())?;
    Some(format!("{stream} in entry {}: {} is refused by {}", moment.fleet.position, unmet.satisfied_by, refused.0))
}

#[test]
#[ignore = "takes long"]
fn what_is_told_to_be_missing_for_a_removal_can_be_done() {
    let root = tempfile::tempdir().expect("a folder");
    let (mut wrong, mut held) = (BTreeSet::new(), 0);
    for made in journals::all(root.path()) {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        // The smallest journals have holds, and classes that are used.
        let quiet_ms = if made.name.contains('-') { 0 } else { QUIET_MS };
        moments(&journal, quiet_ms, |moment, stream| {
            held += usize::from(moment.fleet.machines.get(stream.name()).is_some_and(|state| state.hold.is_some()));
            wrong.extend(misled(moment, stream).map(|told| format!("{}: {told}", made.name)));
        });
    }
    let first: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} are misled: {first:#?}", wrong.len());
    assert!(held > 0, "a machine is held");
}

/// The command lines of this program that a text names.
fn commands(text: &str) -> Vec<Vec<&str>> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(|line| Some(line.strip_prefix("bailiwick ")?.split(' ').collect())).collect()
}

/// When nothing happens for so long, every supervisor has had its turn: what stands still now stands still.
const QUIET_MS: u64 = 5_000;

/// Every moment of a journal after which nothing happens for a while, with all entities that there are.
fn quiet_moments(journal: &dyn Journal, look: impl FnMut(&Moment<'_>, &StreamId)) {
    moments(journal, QUIET_MS, look);
}

/// The same, of moments after which nothing happens for so long.
fn moments(journal: &dyn Journal, quiet_ms: u64, mut look: impl FnMut(&Moment<'_>, &StreamId)) {
    let mut fleet = Fleet::default();
    fleet.journal = journal.id();
    let all = Filter::all();
    let mut entries = journal.read(Position(1), journal.head().position, &all).peekable();
    while let Some(entry) = entries.next() {
        let entry = entry.expect("a readable entry");
        fleet.apply(&entry).expect("an entry that can be understood");
        let next_ms = entries.peek().map(|next| next.as_ref().expect("a readable entry").header.meta.time_ms);
        if next_ms.is_none_or(|next_ms| quiet_ms <= next_ms.saturating_sub(entry.header.meta.time_ms)) {
            let moment = Moment { journal, fleet: &fleet };
            declared(&fleet).iter().for_each(|stream| look(&moment, stream));
        }
    }
}

#[test]
fn who_finds_something_standing_still_is_told_a_command_that_leads_out() {
    let root = tempfile::tempdir().expect("a folder");
    let (mut wrong, mut asked) = (BTreeSet::new(), 0);
    // What was put there by hand has no supervisors that it could wait for.
    for made in journals::all(root.path()).into_iter().filter(|made| made.name != "by-hand") {
        let journal = ReadOnlyJournal::open(&journal_dir(&made.dir)).expect("a whole journal");
        quiet_moments(&journal, |moment, stream| {
            asked += 1;
            if let Some(told) = moment.stands_without_help(stream) {
                wrong.insert(format!("{}, entry {}: {told}", made.name, moment.fleet.position));
            }
        });
    }
    let first: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} of {asked}: {first:#?}", wrong.len());
    assert!(asked > 500, "{asked} entities at quiet moments");
}
