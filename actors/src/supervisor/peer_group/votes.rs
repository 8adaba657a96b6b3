//! Who shall have a vote: an odd number, as many as the engine allows at most, and never nobody.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    EngineRules,
    roll::{Owner, Roll, Seat},
    verdict::NotChosen,
};
use crate::vocab::{
    guard::{self, Guard},
    sort_by_key,
};

/// The voters of the target, and why others are none.
#[derive(Debug, Default)]
pub(super) struct Voters {
    /// By seat.
    pub votes: Vec<bool>,
    /// Wanted members without a vote, by machine.
    pub left_out: BTreeMap<usize, NotChosen>,
    /// The number is even until another voter is ready.
    pub even_for_now: bool,
    /// The seat that votes because nobody who wants to can.
    pub last: Option<usize>,
}

/// Somebody who wants a vote and could have one.
#[derive(Clone, Copy, Debug)]
struct Entrant {
    machine: usize,
    seat: usize,
    /// Whether it votes now.
    present: bool,
    ready: bool,
    primary: bool,
    lag_ms: u64,
}

/// The entrants, in the order of machines, and those who are not ready.
fn entrants(roll: &Roll<'_>, left_out: &mut BTreeMap<usize, NotChosen>) -> Vec<Entrant> {
    let mut entrants = Vec::with_capacity(roll.seat_of.len());
    for (machine, seat) in roll.seat_of.iter().enumerate() {
        let Some(seat) = *seat else { continue };
        if !roll.machines[machine].wants_vote {
            continue;
        }
        let it = &roll.seats[seat];
        let (present, ready) = (it.member.is_voter(), it.is_ready());
        if present || ready {
            let (primary, lag_ms) = (it.is_primary(), it.lag_ms());
            entrants.push(Entrant { machine, seat, present, ready, primary, lag_ms });
        } else {
            left_out.insert(machine, NotChosen::NotReady);
        }
    }
    entrants
}

/// The seat that keeps a vote when nobody who wants one could have it.
///
/// A set without a voter is lost, so what votes now goes on: who is ready before who is not, a machine's member before
/// one without, the primary before others. Where nobody votes at all, the first wanted member gets a vote.
fn last_voter(roll: &Roll<'_>) -> Option<usize> {
    let rank = |(_, seat): &(usize, &Seat<'_>)| {
        let (is_owned, place) = match seat.owner {
            Owner::Machine(machine) => (true, machine),
            Owner::SecondOf(_) | Owner::Nobody | Owner::Gone => (false, usize::MAX),
        };
        let is_wanted = is_owned && roll.machines[place].wants_vote;
        let (votes, ready, primary) = (seat.member.is_voter(), seat.is_ready() || seat.is_primary(), seat.is_primary());
        (!votes, !(ready && votes), !is_wanted, !is_owned, !primary, place, seat.member.id)
    };
    let seats = roll.seats.iter().enumerate().filter(|(_, seat)| seat.owner != Owner::Gone);
    seats.min_by_key(rank).map(|(at, _)| at)
}

/// Chooses the voters. `more_can_come` says whether another wanted member may become ready later.
pub(super) fn choose(roll: &Roll<'_>, rules: &EngineRules, more_can_come: bool) -> Voters {
    let mut voters = Voters { votes: vec![false; roll.seats.len()], ..Voters::default() };
    let mut chosen = entrants(roll, &mut voters.left_out);
    if chosen.is_empty() {
        voters.last = last_voter(roll);
        voters.last.into_iter().for_each(|seat| voters.votes[seat] = true);
        return voters;
    }
    keep_to_the_limit(&mut chosen, rules.voters_max, &mut voters.left_out);
    if chosen.len().is_multiple_of(2) {
        // Where a vote cannot be taken without losing the member, the missing voter is waited for instead.
        voters.even_for_now = !rules.can_demote && more_can_come && chosen.len() < rules.voters_max;
        if !voters.even_for_now {
            let left = leave_one_out(&mut chosen);
            voters.left_out.insert(left.machine, NotChosen::WouldBeEven);
        }
    }
    chosen.iter().for_each(|entrant| voters.votes[entrant.seat] = true);
    voters
}

/// Over the limit the primary comes first, then healthy voters, then all others in the order of machines.
fn keep_to_the_limit(chosen: &mut Vec<Entrant>, max: usize, left_out: &mut BTreeMap<usize, NotChosen>) {
    if chosen.len() <= max {
        return;
    }
    sort_by_key(chosen, |entrant| (!entrant.primary, !(entrant.present && entrant.ready), entrant.machine));
    let over = chosen.drain(max..);
    left_out.extend(over.map(|entrant| (entrant.machine, NotChosen::VotersFull { max })));
    sort_by_key(chosen, |entrant| entrant.machine);
}

/// The last one who has no vote yet; else, of the voters, one that is not healthy, the one furthest behind, the first of
/// them. The primary only if all are said to be primary, when no step is taken anyway.
///
/// # Panics
/// If nobody is there to be left out.
fn leave_one_out(chosen: &mut Vec<Entrant>) -> Entrant {
    let newest = chosen.iter().rposition(|entrant| !entrant.present);
    let spares = guard::holds(Guard::LeaderIsNotLeftOut);
    let rank = |entrant: &Entrant| (spares && entrant.primary, entrant.ready, Reverse(entrant.lag_ms), entrant.machine);
    let weakest = || (0..chosen.len()).min_by_key(|at| rank(&chosen[*at]));
    let at = newest.or_else(weakest).expect("an even number that is not 0 has a first one");
    chosen.remove(at)
}
