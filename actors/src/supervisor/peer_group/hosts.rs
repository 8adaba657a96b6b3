//! Who is reached where: no address twice, none empty, and who is there goes before who comes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use super::{addresses::HostPort, snapshot::MemberId};

/// A member of the configuration that is to stay, and where it is to be reached.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    /// For the caller: who it is.
    pub who: usize,
    /// Of two that are reached at one address, the lower rank keeps it. It follows from what shall be, and not from who
    /// leads or votes now: that changes from step to step, and whoever is kept must not change with it.
    pub rank: (bool, usize, MemberId),
    /// As the configuration has it; may be empty.
    pub present: &'a str,
    /// What that means, however it is spelled.
    pub meant: &'a HostPort<'a>,
    /// Another address, if its machine gives one.
    pub wish: Option<Cow<'a, str>>,
}

/// What came of the claims.
#[derive(Debug, Default)]
pub(super) struct Hosts<'a> {
    /// By claimant: where it is reached in the target; none if it has no address.
    pub address: Vec<Option<Cow<'a, str>>>,
    /// Claimants that did not get what they wished for.
    pub refused: BTreeSet<usize>,
    taken: BTreeSet<HostPort<'a>>,
}

impl Hosts<'_> {
    /// A newcomer gets its address only if nobody has it.
    pub(super) fn admit(&mut self, address: &str) -> bool {
        self.taken.insert(HostPort::of(address).into_owned())
    }
}

/// One claim while it is being settled, by what its addresses mean.
struct Case<'c, 'a> {
    claim: &'c Claim<'a>,
    present: &'a HostPort<'a>,
    wish: Option<HostPort<'c>>,
}

impl<'c, 'a> Case<'c, 'a> {
    fn of(claim: &'c Claim<'a>) -> Self {
        // Nearly everybody stays, and equal texts need no second look.
        let wish = claim.wish.as_deref().filter(|wish| *wish != claim.present).map(HostPort::of);
        let wish = wish.filter(|wish| wish != claim.meant);
        Self { claim, present: claim.meant, wish }
    }
}

/// Settles all claims of so many members.
pub(super) fn settle<'a>(claims: &[Claim<'a>], members: usize) -> Hosts<'a> {
    let mut cases: Vec<Case<'_, 'a>> = claims.iter().map(Case::of).collect();
    cases.sort_by_key(|case| case.claim.rank);
    let exchanged = in_circles(&cases);
    // By address: who has it. Those who stay come first, so nobody who moves can take their place.
    let mut taken: BTreeMap<&HostPort<'_>, usize> = BTreeMap::new();
    let mut staying = vec![false; cases.len()];
    let mut refused = exchanged.clone();
    let mut waiting: VecDeque<usize> = VecDeque::new();
    for (at, case) in cases.iter().enumerate() {
        if case.wish.is_some() && !exchanged.contains(&at) {
            waiting.push_back(at);
        } else if !case.present.is_empty() && !taken.contains_key(case.present) {
            taken.insert(case.present, at);
            staying[at] = true;
        }
    }
    while let Some(at) = waiting.pop_front() {
        let case = &cases[at];
        if let (Some(wish), false) = (&case.wish, refused.contains(&at))
            && !taken.contains_key(wish)
        {
            taken.insert(wish, at);
            continue;
        }
        // It stays where it is. Whoever was to move there does not.
        refused.insert(at);
        match taken.get(case.present) {
            _ if case.present.is_empty() => continue,
            Some(other) if staying[*other] => continue,
            Some(other) => {
                refused.insert(*other);
                waiting.push_back(*other);
            }
            None => (),
        }
        taken.insert(case.present, at);
        staying[at] = true;
    }
    let refused = refused.iter().map(|at| cases[*at].claim.who).collect();
    let mut hosts = Hosts { address: vec![None; members], refused, taken: BTreeSet::new() };
    let mut had: Vec<HostPort<'a>> = Vec::with_capacity(taken.len());
    for (host, at) in &taken {
        let Case { claim, present, .. } = &cases[*at];
        let moved = claim.wish.clone().filter(|_| !staying[*at]);
        hosts.address[claim.who] = Some(moved.unwrap_or(Cow::Borrowed(claim.present)));
        had.push(if staying[*at] { (*present).clone() } else { (*host).clone().into_owned() });
    }
    // They come in order, so that the set is made in one go.
    hosts.taken = had.into_iter().collect();
    hosts
}

/// Claimants whose way is barred by others who want to move, in a circle. A server takes no write in which an address goes
/// from one member to another, so a circle has no first step.
fn in_circles(cases: &[Case<'_, '_>]) -> BTreeSet<usize> {
    let mut barred: BTreeSet<usize> = BTreeSet::new();
    // By address: how many are there and want to leave, and who wants to go there.
    let mut leaving: BTreeMap<&HostPort<'_>, usize> = BTreeMap::new();
    let mut coming: BTreeMap<&HostPort<'_>, Vec<usize>> = BTreeMap::new();
    for (at, case) in cases.iter().enumerate() {
        let Some(wish) = case.wish.as_ref() else { continue };
        barred.insert(at);
        *leaving.entry(case.present).or_default() += 1;
        coming.entry(wish).or_default().push(at);
    }
    let is_free = |host: &&HostPort<'_>| !leaving.contains_key(*host);
    let mut free: VecDeque<&HostPort<'_>> = coming.keys().copied().filter(is_free).collect();
    while let Some(host) = free.pop_front() {
        for at in coming.remove(host).unwrap_or_default() {
            barred.remove(&at);
            let left = leaving.entry(cases[at].present).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                free.push_back(cases[at].present);
            }
        }
    }
    barred
}
