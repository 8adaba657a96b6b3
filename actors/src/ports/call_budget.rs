//! How often a provider may be called, and whose turn it is: the time comes in, and what goes out is the answer.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use serde::{Deserialize, Serialize};

use super::Operation;

/// How often a provider may be called: so many calls at once, and so many more as time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct CallBudget {
    /// Thousandths of a call a second, so that one call in a minute can be said.
    per_second_milli: u32,
    burst: u32,
    items_per_call: Option<u32>,
}

/// As it is written: `{perSecond: 5, burst: 10, itemsPerCall: 1}`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    per_second: f64,
    burst: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items_per_call: Option<u32>,
}

/// Says that nobody could keep to a budget, or that it bounds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCallBudget {
    #[error("`perSecond` has to be from 0.001 (one call in 1000 s) to 100000")]
    PerSecond,
    #[error("`burst` has to be from 1 to 100000")]
    Burst,
    #[error("`itemsPerCall` has to be at least 1")]
    ItemsPerCall,
}

impl CallBudget {
    /// The largest number of calls, a second or at once.
    const MAX: u32 = 100_000;

    /// So many calls a second. Unless `burst` is given, as many at once, but at least one.
    ///
    /// # Errors
    /// If no call would ever go out, or it bounds nothing.
    pub fn new(per_second: f64, burst: Option<u32>, items_per_call: Option<u32>) -> Result<Self, InvalidCallBudget> {
        if !(0.001..=f64::from(Self::MAX)).contains(&per_second) {
            return Err(InvalidCallBudget::PerSecond);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between the bounds")]
        let (per_second_milli, usual) = ((per_second * 1_000.0).floor() as u32, per_second.floor().max(1.0) as u32);
        let burst = burst.unwrap_or(usual);
        match (burst, items_per_call) {
            (burst, _) if !(1..=Self::MAX).contains(&burst) => Err(InvalidCallBudget::Burst),
            (_, Some(0)) => Err(InvalidCallBudget::ItemsPerCall),
            _ => Ok(Self { per_second_milli, burst, items_per_call }),
        }
    }

    /// Calls a second, over time.
    pub fn per_second(&self) -> f64 {
        f64::from(self.per_second_milli) / 1_000.0
    }

    /// Calls at once, after a rest.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// Items in one call; as many as the node bundles, if nothing is said.
    pub fn items_per_call(&self) -> Option<usize> {
        self.items_per_call.and_then(|items| usize::try_from(items).ok())
    }

    /// From one call to the next, rounded up: never more often than it says.
    fn interval_us(&self) -> u64 {
        1_000_000_000_u64.div_ceil(u64::from(self.per_second_milli))
    }
}

impl TryFrom<Written> for CallBudget {
    type Error = InvalidCallBudget;

    fn try_from(written: Written) -> Result<Self, InvalidCallBudget> {
        Self::new(written.per_second, written.burst, written.items_per_call)
    }
}

impl From<CallBudget> for Written {
    fn from(budget: CallBudget) -> Self {
        let CallBudget { burst, items_per_call, .. } = budget;
        Self { per_second: budget.per_second(), burst: Some(burst), items_per_call }
    }
}

impl fmt::Display for CallBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_second = self.per_second();
        let unit = if per_second == 1.0 { "call" } else { "calls" };
        write!(f, "{per_second} {unit} a second, {} at once", self.burst())
    }
}

/// What a call is for. Kinds take turns, so that a flood of one holds up no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// Asks, and changes nothing.
    LookUp,
    /// Deletes, destroys, releases or detaches.
    Remove,
    /// Creates, imports or attaches.
    Make,
}

impl CallKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::LookUp, Self::Remove, Self::Make];

    /// As it is told: `look-up`, `remove`, `make`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LookUp => "look-up",
            Self::Remove => "remove",
            Self::Make => "make",
        }
    }

    /// The kind of an operation.
    pub fn of(operation: Operation) -> Self {
        match operation {
            Operation::LookAtReplicaSet => Self::LookUp,
            Operation::DeleteMachine
            | Operation::DeleteStray
            | Operation::DestroyVolume
            | Operation::ReleaseVolume
            | Operation::DetachVolume
            | Operation::DestroyFilesystem
            | Operation::ReleaseFilesystem
            | Operation::DetachFilesystem
            | Operation::UndoCustom(_) => Self::Remove,
            Operation::CreateMachine
            | Operation::CreateVolume
            | Operation::ImportVolume
            | Operation::AttachVolume
            | Operation::CreateFilesystem
            | Operation::AttachFilesystem
            | Operation::StepReplicaSet
            | Operation::MakeCustom(_) => Self::Make,
        }
    }
}

/// A bucket of calls that fills as time passes, as the moment at which it will be full.
///
/// It begins empty: a node that starts does not know what the one before it has called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    interval_us: u64,
    /// How long before it is full a call may be taken out.
    slack_us: u64,
    full_at_us: u64,
}

impl Bucket {
    fn empty(budget: &CallBudget, now_us: u64) -> Self {
        let interval_us = budget.interval_us();
        let slack_us = interval_us * u64::from(budget.burst - 1);
        Self { interval_us, slack_us, full_at_us: now_us + slack_us + interval_us }
    }

    fn next_at_us(&self) -> u64 {
        self.full_at_us.saturating_sub(self.slack_us)
    }

    fn take(&mut self, now_us: u64) -> bool {
        let may_go = self.next_at_us() <= now_us;
        if may_go {
            self.full_at_us = self.full_at_us.max(now_us) + self.interval_us;
        }
        may_go
    }
}

/// The calls that wait for the budget of one provider.
///
/// The kind that went out longest ago is next; of one kind, first come, first served.
#[derive(Clone, Debug)]
pub struct CallQueue<T> {
    budget: CallBudget,
    bucket: Bucket,
    waiting: BTreeMap<CallKind, VecDeque<T>>,
    /// The number of the last call of each kind.
    last: BTreeMap<CallKind, u64>,
    /// Calls that went out.
    calls: u64,
}

impl<T> CallQueue<T> {
    /// Nobody waits, and nothing is saved up.
    pub fn new(budget: CallBudget, now_us: u64) -> Self {
        let bucket = Bucket::empty(&budget, now_us);
        Self { budget, bucket, waiting: BTreeMap::new(), last: BTreeMap::new(), calls: 0 }
    }

    /// What it keeps to.
    pub fn budget(&self) -> &CallBudget {
        &self.budget
    }

    /// Calls that went out.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// When the next call may go out: a moment that has passed, if one may go now.
    pub fn next_at_us(&self) -> u64 {
        self.bucket.next_at_us()
    }

    /// Whether a call goes out now, before anybody who waits: nobody does, and the budget has it.
    pub fn goes_at_once(&mut self, kind: CallKind, now_us: u64) -> bool {
        self.waiting() == 0 && self.goes(kind, now_us)
    }

    /// Waits for its turn.
    pub fn wait(&mut self, kind: CallKind, item: T) {
        self.waiting.entry(kind).or_default().push_back(item);
    }

    /// Lets go of those that are not wanted any more.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&T) -> bool) {
        self.waiting.values_mut().for_each(|items| items.retain(&mut is_wanted));
    }

    /// Whose turn it is, if a call may go out now.
    pub fn next(&mut self, now_us: u64) -> Option<T> {
        let has_some = |kind: &CallKind| self.waiting.get(kind).is_some_and(|items| !items.is_empty());
        let longest_ago = |kind: &CallKind| (self.last.get(kind).copied().unwrap_or_default(), *kind);
        let kind = CallKind::ALL.into_iter().filter(has_some).min_by_key(longest_ago)?;
        if !self.goes(kind, now_us) {
            return None;
        }
        self.waiting.get_mut(&kind)?.pop_front()
    }

    fn goes(&mut self, kind: CallKind, now_us: u64) -> bool {
        let goes = self.bucket.take(now_us);
        if goes {
            self.calls += 1;
            self.last.insert(kind, self.calls);
        }
        goes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000;

    fn budget(per_second: f64, burst: u32) -> CallBudget {
        CallBudget::new(per_second, Some(burst), None).expect("a budget")
    }

    #[test]
    fn nothing_is_saved_up_at_first_then_a_burst_and_then_so_many_a_second() {
        let mut queue: CallQueue<()> = CallQueue::new(budget(2.0, 5), 0);
        let mut go = |from_us: u64, to_us: u64| {
            (from_us..to_us).step_by(1_000).filter(|now| queue.goes_at_once(CallKind::Make, *now)).count()
        };
        assert_eq!(go(0, SECOND / 2), 0, "a node that starts does not know what was called before");
        assert_eq!(go(SECOND / 2, SECOND), 1);
        assert_eq!(go(10 * SECOND, 10 * SECOND + 1), 1, "the first of a burst");
        assert_eq!(go(10 * SECOND + 1, 10 * SECOND + 1_000 * 6), 4, "and the rest of it");
        assert_eq!(go(11 * SECOND, 21 * SECOND), 21, "two a second, and one that was saved up meanwhile");
    }

    #[test]
    fn kinds_take_turns_whoever_came_first() {
        let mut queue = CallQueue::new(budget(1.0, 1), 0);
        for number in 0..100 {
            queue.wait(CallKind::Make, format!("make {number}"));
        }
        queue.wait(CallKind::Remove, "remove 0".into());
        queue.wait(CallKind::Remove, "remove 1".into());
        queue.wait(CallKind::LookUp, "look 0".into());
        let out: Vec<String> = (1..8).filter_map(|second| queue.next(second * SECOND)).collect();
        assert_eq!(out, ["look 0", "remove 0", "make 0", "remove 1", "make 1", "make 2", "make 3"]);
        assert!(!queue.goes_at_once(CallKind::Remove, 100 * SECOND), "nobody goes before those that wait");
    }

    #[test]
    fn what_is_not_wanted_any_more_costs_nothing() {
        let mut queue = CallQueue::new(budget(1.0, 1), 0);
        queue.wait(CallKind::Make, "one");
        queue.wait(CallKind::Make, "two");
        queue.retain(|item| *item != "one");
        assert_eq!((queue.next(SECOND), queue.next(SECOND), queue.calls()), (Some("two"), None, 1));
    }

    #[test]
    fn a_budget_that_bounds_nothing_or_lets_nothing_out_is_refused() {
        let bad = |text: &str| serde_json::from_str::<CallBudget>(text).expect_err(text).to_string();
        for text in [r#"{"perSecond": 0}"#, r#"{"perSecond": -1}"#, r#"{"perSecond": 0.0001}"#, r#"{"perSecond": 1e9}"#]
        {
            assert!(bad(text).contains("`perSecond`"), "{text}");
        }
        assert!(bad(r#"{"perSecond": 1, "burst": 0}"#).contains("`burst`"));
        assert!(bad(r#"{"perSecond": 1, "burst": 100001}"#).contains("`burst`"));
        assert!(bad(r#"{"perSecond": 1, "itemsPerCall": 0}"#).contains("`itemsPerCall`"));
        assert!(bad(r#"{"perSecond": 1, "brust": 1}"#).contains("brust"));
        let usual: CallBudget = serde_json::from_str(r#"{"perSecond": 0.2}"#).unwrap();
        assert_eq!((usual.burst(), usual.to_string().as_str()), (1, "0.2 calls a second, 1 at once"));
    }

    proptest! {
        /// Whatever is asked when: no window has more calls than the budget allows; nobody waits longer than three kinds
        /// take; and as long as somebody waits, no call that could go out stays.
        #[test]
        fn no_window_has_more_calls_and_no_kind_starves(
            per_second_milli in 100_u32..5_000,
            burst in 1_u32..8,
            asked in prop::collection::vec((0_u64..3_000, 0_usize..3), 1..120),
        ) {
            let budget = budget(f64::from(per_second_milli) / 1_000.0, burst);
            let mut queue = CallQueue::new(budget, 0);
            let (mut now_us, mut went) = (0, Vec::new());
            let mut waits_since: BTreeMap<usize, usize> = BTreeMap::new();
            for (number, (pause_ms, kind)) in asked.iter().enumerate() {
                now_us += pause_ms * 1_000;
                while let Some((item, _)) = queue.next(now_us) {
                    went.push((now_us, item));
                }
                let kind = CallKind::ALL[*kind];
                if queue.goes_at_once(kind, now_us) {
                    went.push((now_us, number));
                } else {
                    prop_assert!(queue.waiting() > 0 || queue.next_at_us() > now_us);
                    waits_since.insert(number, went.len());
                    queue.wait(kind, (number, kind));
                }
            }
            while queue.waiting() > 0 {
                now_us = now_us.max(queue.next_at_us());
                let (item, _) = queue.next(now_us).expect("one may go");
                went.push((now_us, item));
            }
            prop_assert_eq!(went.len(), asked.len());
            for (first, (from_us, _)) in went.iter().enumerate() {
                for (last, (to_us, _)) in went.iter().enumerate().skip(first) {
                    let most = u64::from(burst) + (to_us - from_us) * u64::from(per_second_milli) / 1_000_000_000;
                    prop_assert!((last - first + 1) as u64 <= most);
                }
            }
            for (number, before) in waits_since {
                let kind = asked[number].1;
                let ahead = asked[..number].iter().filter(|(_, other)| *other == kind).count();
                let at = went.iter().position(|(_, item)| *item == number).expect("it went");
                prop_assert!(at - before <= 3 * (ahead + 1));
            }
        }
    }
}
