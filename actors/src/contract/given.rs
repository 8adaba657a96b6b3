//! Given a past, when a command comes, then this is the answer: what the tests of all kinds share.

use std::{collections::BTreeSet, fmt};

use bailiwick_journal::{Body, Entry, StreamId, Version};
use uuid::Uuid;

use super::{Code, Decider, Decision, Facts, Invariant, NoView, Stored, StoredFacts, Verdict, Written};
use crate::{
    policy::Document,
    vocab::{Effort, Outlook, Timestamp},
};

/// The journal that all of them are in.
pub(crate) const JOURNAL: Uuid = Uuid::from_u128(1);

/// The answer that is expected: a reason with events, or a rejection.
pub(crate) type Then<D> = Result<(<D as Decider>::Reason, Vec<<D as Decider>::Event>), <D as Decider>::Rejection>;

/// One row of a table: what happened, what is asked, what is answered.
pub(crate) struct Case<D: Decider> {
    pub(crate) past: Vec<D::Event>,
    pub(crate) command: D::Command,
    pub(crate) then: Then<D>,
    /// When it is asked, if not when all others are.
    pub(crate) now: Option<Timestamp>,
}

/// A case in one line.
pub(crate) fn case<D: Decider>(
    past: impl IntoIterator<Item = D::Event>,
    command: D::Command,
    then: Then<D>,
) -> Case<D> {
    Case { past: past.into_iter().collect(), command, then, now: None }
}

impl<D: Decider> Case<D> {
    /// The same at another time.
    pub(crate) fn at(self, now: Timestamp) -> Self {
        Self { now: Some(now), ..self }
    }
}

/// The facts of an entry of that journal, as it keeps them.
pub(crate) fn facts() -> Body {
    StoredFacts { journal: JOURNAL }.store().expect("small")
}

/// The first entry of a journal, with these events of a stream.
pub(crate) fn entry(stream: &str, time_ms: u64, events: Vec<Body>) -> Entry {
    let written = Written { time_ms, ..Written::first(stream.parse().expect("a stream")) };
    written.with(Body::default(), events)
}

/// The state after some events, and its version.
pub(crate) fn after<D: Decider>(events: &[D::Event]) -> (D, Version) {
    let mut state = D::default();
    let mut version = Version::ZERO;
    for event in events {
        version = version.next();
        state.evolve(version, event);
    }
    (state, version)
}

/// What a state answers.
pub(crate) fn answer<D: Decider<View = NoView>>(
    stream: &StreamId,
    (state, version): &(D, Version),
    command: &D::Command,
    now: Timestamp,
    policy: &Document,
) -> Verdict<D> {
    let facts = Facts { stream, next: version.next(), now, policy, view: &NoView, journal: JOURNAL };
    state.decide(command, &facts)
}

/// Holds every row of a table, and that the table has a row for every reason and every rejection in `rejections`.
pub(crate) fn hold<D>(
    stream: &StreamId,
    now: Timestamp,
    policy: &Document,
    cases: Vec<Case<D>>,
    all: &[D::Reason],
    rejections: &[&str],
) where
    D: Decider<View = NoView>,
    D::Reason: Ord + fmt::Debug,
{
    let mut seen = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for Case { past, command, then, now: own } in cases {
        let given = after::<D>(&past);
        let verdict = answer(stream, &given, &command, own.unwrap_or(now), policy);
        match &then {
            Ok((reason, _)) => drop(seen.insert(reason.clone())),
            Err(rejection) => drop(refused.insert(rejection.code())),
        }
        let expected = then.map(|(reason, events)| Decision { reason, events });
        assert_eq!(verdict, expected, "given {past:?}\nwhen {command:?}");
        let events = verdict.iter().flat_map(|decision| &decision.events);
        let behind = after::<D>(&past.iter().chain(events).cloned().collect::<Vec<_>>());
        let broken = Invariant::broken(D::INVARIANTS, &given.0, &behind.0);
        assert!(broken.is_none(), "given {past:?}\nwhen {command:?}\nbreaks: {broken:?}");
        round_trip::<D>(&command, &verdict);
    }
    let missing: Vec<_> = all.iter().filter(|reason| !seen.contains(*reason)).collect();
    assert!(missing.is_empty(), "no case gives {missing:?}");
    assert_eq!(refused, rejections.iter().copied().collect(), "the rejections that have a case");
}

/// Everything that is said comes back from its stored form.
fn round_trip<D: Decider>(command: &D::Command, verdict: &Verdict<D>) {
    let again = |body| D::Command::load(&body).expect("readable");
    assert_eq!(again(command.store().expect("small")), *command);
    for event in verdict.iter().flat_map(|decision| &decision.events) {
        assert_eq!(D::Event::load(&event.store().expect("small")).expect("readable"), *event);
    }
}

/// A walk: each command is made from the state that it meets. Checks at every step what holds for every kind, and calls
/// `step` with the state before, what was decided, and the state after.
pub(crate) fn walk<D: Decider<View = NoView>>(
    stream: &StreamId,
    policy: &Document,
    dice: &[(u8, u8, u32)],
    command: impl Fn(&D, Version, u8, u8) -> D::Command,
    step: impl Fn(&D, &D, &[D::Event]),
) {
    let mut now = Timestamp(1_000_000);
    let mut events: Vec<D::Event> = Vec::new();
    let mut live = (D::default(), Version::ZERO);
    for (kind, value, wait) in dice {
        now = now.after(u64::from(*wait));
        let command = command(&live.0, live.1, *kind, *value);
        let verdict = answer(stream, &live, &command, now, policy);
        assert_eq!(answer(stream, &live, &command, now, policy), verdict, "the same inputs give the same answer");
        let Ok(decision) = verdict else { continue };
        let before = live.0.clone();
        for event in &decision.events {
            live.1 = live.1.next();
            live.0.evolve(live.1, event);
        }
        let broken = Invariant::broken(D::INVARIANTS, &before, &live.0);
        assert!(broken.is_none(), "{command:?} breaks: {broken:?}");
        step(&before, &live.0, &decision.events);
        events.extend(decision.events);
        assert_eq!(after::<D>(&events), live, "a reload gives the same state");
        assert_eq!(live.0.pending(&NoView), live.0.clone().pending(&NoView), "what is owed follows from the state");
    }
}

/// What a kind of storage says of what takes long to be undone.
pub(crate) struct Undoing<D: Decider> {
    /// Being undone since 5 ms.
    pub(crate) past: Vec<D::Event>,
    pub(crate) wake: fn(Timestamp) -> D::Command,
    pub(crate) wake_at: fn(Timestamp) -> D::Effect,
    pub(crate) pauses: fn(Timestamp) -> D::Event,
    pub(crate) overdue: fn(Timestamp) -> D::Event,
    pub(crate) begins: D::Event,
    /// Overdue, nothing waits, not due yet.
    pub(crate) reasons: [D::Reason; 3],
    pub(crate) status: fn(&D) -> &'static str,
}

/// The deadline of undoing is said once, also where the next attempt is due at the same time: the rule
/// `contract::wake_to_undo`.
pub(crate) fn is_said_to_be_blocked_once<D>(stream: &StreamId, kind: Undoing<D>)
where
    D: Decider<View = NoView>,
    D::Reason: fmt::Debug,
{
    let Undoing { past, wake, wake_at, pauses, overdue, begins, reasons: [too_long, nothing_waits, not_due], status } =
        kind;
    let deadline = Timestamp(5 + 15 * 60_000);
    let at = |given: &[D::Event], due, now| {
        answer(stream, &after::<D>(given), &wake(due), now, &Document::default()).expect("done")
    };
    let owed = |given: &[D::Event]| after::<D>(given).0.pending(&NoView);
    assert!(owed(&past).contains(&wake_at(deadline)), "it is waited for while it is tried");
    let decision = at(&past, deadline, deadline);
    assert_eq!((decision.reason, decision.events), (too_long, vec![overdue(deadline)]));
    assert_eq!(at(&past, Timestamp(7), deadline).reason, nothing_waits, "something else was due");

    let waiting: Vec<D::Event> = past.into_iter().chain([pauses(deadline.after(1))]).collect();
    assert_eq!(owed(&waiting), [wake_at(deadline)].into(), "what comes first");
    let both = at(&waiting, deadline, deadline.after(1));
    assert_eq!(both.events, [overdue(deadline.after(1)), begins]);
    let said: Vec<D::Event> = waiting.into_iter().chain([overdue(deadline)]).collect();
    assert_eq!((status(&after::<D>(&said).0), owed(&said)), ("blocked", [wake_at(deadline.after(1))].into()));
    assert_eq!(at(&said, deadline, deadline).reason, not_due, "it is said once");
}

/// Who waits is woken when its time comes; before that only at the deadline of what it undoes.
pub(crate) fn is_woken<D: Decider<View = NoView>>(
    state: &D,
    (waits, undoing): (Option<&Effort>, Option<&Effort>),
    wake_at: fn(Timestamp) -> D::Effect,
) -> bool {
    let Some(Outlook::Waiting { until, .. }) = waits.map(|effort| &effort.outlook) else { return true };
    let deadline = undoing.and_then(Effort::deadline).filter(|deadline| deadline < until);
    state.pending(&NoView).contains(&wake_at(deadline.unwrap_or(*until)))
}
