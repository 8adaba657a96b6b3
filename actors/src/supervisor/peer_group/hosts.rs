//! Who is reached where: no address twice, none empty, and who is there goes before who comes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use super::{addresses::HostPort, snapshot::MemberId};
use crate::vocab::sort_by_key;

/// A number for each address, whatever its spelling; 0 is that of an empty one.
#[derive(Debug, Default)]
pub(super) struct Numbers<'a>(BTreeMap<HostPort<'a>, usize>);

impl<'a> Numbers<'a> {
    pub(super) fn of(&mut self, host: HostPort<'a>) -> usize {
        if host.is_empty() {
            return 0;
        }
        let next = self.0.len() + 1;
        *self.0.entry(host).or_insert(next)
    }

    /// The number of a text that does not last.
    pub(super) fn of_text(&mut self, text: &str) -> usize {
        let host = HostPort::of(text);
        match self.0.get(&host) {
            Some(number) => *number,
            None => self.of(host.into_owned()),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// A member of the configuration that is to stay, and where it is to be reached.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    /// For the caller: who it is.
    pub who: usize,
    /// Of two that are reached at one address, the lower rank keeps it. It follows from what shall be, and not from who
    /// leads or votes now: that changes from step to step, and the choice of those that are kept must not change with it.
    pub rank: (bool, usize, MemberId),
    /// As the configuration has it; may be empty.
    pub present: &'a str,
    /// Its number.
    pub host: usize,
    /// Another address with its number, if its machine gives one.
    pub wish: Option<(Cow<'a, str>, usize)>,
}

/// What came of the claims.
#[derive(Debug, Default)]
pub(super) struct Hosts<'a> {
    /// By claimant: where it is reached in the target, with the number; none if it has no address.
    pub address: Vec<Option<(Cow<'a, str>, usize)>>,
    /// Claimants that did not get what they wished for.
    pub refused: BTreeSet<usize>,
    /// By number.
    taken: Vec<bool>,
}

impl Hosts<'_> {
    /// A newcomer gets its address only if nobody has it.
    pub(super) fn admit(&mut self, host: usize) -> bool {
        self.taken.resize(self.taken.len().max(host + 1), false);
        !std::mem::replace(&mut self.taken[host], true)
    }
}

impl Claim<'_> {
    fn wish(&self) -> Option<usize> {
        self.wish.as_ref().map(|(_, host)| *host)
    }
}

/// Settles all claims of so many members, to so many addresses.
pub(super) fn settle<'a>(mut claims: Vec<Claim<'a>>, members: usize, numbers: &Numbers<'_>) -> Hosts<'a> {
    sort_by_key(&mut claims, |claim| claim.rank);
    let exchanged = in_circles(&claims);
    // By address: who has it. Those who stay come first, so nobody who moves can take their place.
    let mut taken: Vec<Option<usize>> = vec![None; numbers.count() + 1];
    let mut staying = vec![false; claims.len()];
    let mut waiting: VecDeque<usize> = VecDeque::new();
    for (at, claim) in claims.iter().enumerate() {
        if claim.wish.is_some() && !exchanged.contains(&at) {
            waiting.push_back(at);
        } else if claim.host != 0 && taken[claim.host].is_none() {
            taken[claim.host] = Some(at);
            staying[at] = true;
        }
    }
    let mut refused = exchanged;
    while let Some(at) = waiting.pop_front() {
        let claim = &claims[at];
        if let (Some(wish), false) = (claim.wish(), refused.contains(&at))
            && taken[wish].is_none()
        {
            taken[wish] = Some(at);
            continue;
        }
        // It stays where it is. The one that was to move there does not.
        refused.insert(at);
        match taken[claim.host] {
            _ if claim.host == 0 => continue,
            Some(other) if staying[other] => continue,
            Some(other) => {
                refused.insert(other);
                waiting.push_back(other);
            }
            None => (),
        }
        taken[claim.host] = Some(at);
        staying[at] = true;
    }
    let refused = refused.iter().map(|at| claims[*at].who).collect();
    let is_taken = taken.iter().map(Option::is_some).collect();
    let mut hosts = Hosts { address: vec![None; members], refused, taken: is_taken };
    for (host, at) in taken.into_iter().enumerate() {
        let Some(at) = at else { continue };
        let claim = &mut claims[at];
        let moved = claim.wish.take().filter(|_| !staying[at]);
        let address = moved.map_or(Cow::Borrowed(claim.present), |(address, _)| address);
        hosts.address[claim.who] = Some((address, host));
    }
    hosts
}

/// Claimants whose way is barred by others who want to move, in a circle. A server takes no write in which an address goes
/// from one member to another, so a circle has no first step.
fn in_circles(claims: &[Claim<'_>]) -> BTreeSet<usize> {
    let mut barred: BTreeSet<usize> = BTreeSet::new();
    // By address: how many are there and want to leave, and who wants to go there.
    let mut leaving: BTreeMap<usize, usize> = BTreeMap::new();
    let mut coming: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, claim) in claims.iter().enumerate() {
        let Some(wish) = claim.wish() else { continue };
        barred.insert(at);
        *leaving.entry(claim.host).or_default() += 1;
        coming.entry(wish).or_default().push(at);
    }
    let is_free = |host: &usize| !leaving.contains_key(host);
    let mut free: VecDeque<usize> = coming.keys().copied().filter(is_free).collect();
    while let Some(host) = free.pop_front() {
        for at in coming.remove(&host).unwrap_or_default() {
            barred.remove(&at);
            let left = leaving.entry(claims[at].host).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                free.push_back(claims[at].host);
            }
        }
    }
    barred
}
