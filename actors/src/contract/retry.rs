//! Whether and when to try again.

use super::{Decider, Decision};
use crate::{
    policy::{Document, GiveUpBy, Judged, RetryBy},
    schedule::backoff_ms,
    vocab::{Effort, Fault, FaultClass, FaultCode, Outlook, Timestamp},
};

/// How often and how soon an operation is tried again. Comes from the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryRule {
    /// 0 means no limit.
    pub attempts_max: u32,
    pub first_ms: u64,
    pub max_ms: u64,
    /// How many attempts in a row may end in the very same fault, where time alone does not mend it; 0 means no limit.
    pub alike_max: u32,
    /// How many attempts in a row have to end in the same fault of a permanent class, before that is believed; 0 means that
    /// it never is.
    pub permanent_max: u32,
    /// Which of them are asked.
    pub judged: Judged,
    /// What fails after that is not tried again; none where only the number of attempts counts.
    pub ends: Option<Timestamp>,
    /// What is tried. What is to go is never given up.
    pub work: Attempted,
    /// Waits that follow from the fault; none where they follow from the number of attempts.
    pub by_fault: Option<WaitsByFault>,
    /// How long after the last attempt of a series a new one begins by itself, where the fault may pass; 0 means never.
    pub again_ms: u64,
}

/// How long is waited before the next attempt, by what the last one failed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitsByFault {
    /// After what may soon be better.
    pub soon_ms: u64,
    /// After all else.
    pub late_ms: u64,
}

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempted {
    /// Something is made, attached or mounted.
    Making,
    /// Something is deleted, destroyed, released, detached or unmounted. Giving that up would leave something behind
    /// that nobody wants, so it is tried on for ever.
    Removing,
}

/// Storage is tried without end, except where it fails for one and the same reason again and again: with the waits of the
/// default policy that is most of a working day. Then somebody has to look, and says when to go on.
const STORAGE_ALIKE_MAX: u32 = 20;

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The same again at `until`.
    Retry { until: Timestamp },
    /// Ask again by id at `until`: nobody knows whether it happened.
    Ask { until: Timestamp },
    /// No attempt is left; a new series begins by itself at `again`.
    Exhausted { again: Option<Timestamp> },
    /// It has taken too long; a new series begins by itself at `again`.
    TooLate { again: Option<Timestamp> },
    /// Trying the same again cannot help.
    Hopeless,
}

impl RetryRule {
    /// How a machine's instance is tried again to be made, or to be removed.
    pub fn of_machine(policy: &Document, work: Attempted) -> Self {
        let periods = &policy.reconciliation;
        let late_ms = match work {
            Attempted::Making => periods.retry_medium_ms,
            Attempted::Removing => periods.retry_long_ms,
        };
        let by_fault = match policy.retries.by {
            RetryBy::Backoff => None,
            RetryBy::FaultCode => Some(WaitsByFault { soon_ms: periods.retry_short_ms, late_ms }),
        };
        Self {
            attempts_max: policy.machines.attempts_max,
            first_ms: policy.machines.retry_first_ms,
            max_ms: policy.machines.retry_max_ms,
            alike_max: 0,
            permanent_max: policy.retries.permanent_max,
            judged: policy.retries.judged,
            ends: None,
            work,
            by_fault,
            again_ms: policy.retries.again_ms,
        }
    }

    /// How the making of an instance is tried again that was asked for then, and may take so long where age counts.
    pub fn of_making(policy: &Document, asked: Timestamp, timeout_ms: u64) -> Self {
        let ends = (policy.retries.give_up_by == GiveUpBy::Age).then(|| asked.after(timeout_ms));
        Self { ends, ..Self::of_machine(policy, Attempted::Making) }
    }

    /// How something of a volume, a filesystem or an attachment is tried again.
    pub fn of_storage(policy: &Document, work: Attempted) -> Self {
        Self {
            attempts_max: policy.storage.attempts_max,
            first_ms: policy.storage.retry_first_ms,
            max_ms: policy.storage.retry_max_ms,
            alike_max: STORAGE_ALIKE_MAX,
            permanent_max: policy.retries.permanent_max,
            judged: policy.retries.judged,
            ends: None,
            work,
            by_fault: None,
            again_ms: policy.retries.again_ms,
        }
    }

    /// How long is waited after this fault.
    pub fn wait_ms(self, effort: &Effort, fault: &Fault) -> u64 {
        use FaultCode::{Aborted, DeadlineExceeded, Unavailable, Unknown};
        match self.by_fault {
            None => backoff_ms(effort.in_series().saturating_add(1), self.first_ms, self.max_ms),
            Some(waits) if matches!(fault.code, Unknown | DeadlineExceeded | Aborted | Unavailable) => waits.soon_ms,
            Some(waits) => waits.late_ms,
        }
    }

    /// What follows when the effort's present attempt ends in this fault.
    pub fn after(self, effort: &Effort, fault: &Fault, now: Timestamp) -> Next {
        let until = now.after(self.wait_ms(effort, fault));
        let again = self.again_after(fault, now);
        let exhausted = self.attempts_max != 0 && self.attempts_max <= effort.in_series();
        let is_late = self.ends.is_some_and(|ends| ends < now);
        let may_end = self.work == Attempted::Making;
        match fault.code.class() {
            FaultClass::Permanent if may_end && self.believes(effort, fault) => Next::Hopeless,
            _ if may_end && exhausted => Next::Exhausted { again },
            _ if may_end && is_late => Next::TooLate { again },
            FaultClass::Transient if may_end && self.is_hopeless(effort, fault) => Next::Hopeless,
            FaultClass::Permanent | FaultClass::Transient => Next::Retry { until },
            FaultClass::Unknown => Next::Ask { until },
        }
    }
}

impl RetryRule {
    /// When a series that ended in this fault is followed by another one. What cannot be done is not tried by itself.
    fn again_after(self, fault: &Fault, now: Timestamp) -> Option<Timestamp> {
        let may_pass = fault.code.class() != FaultClass::Permanent;
        (may_pass && self.again_ms != 0).then(|| now.after(self.again_ms))
    }

    /// Whether it is believed that something cannot be done, now that one more attempt was answered so.
    fn believes(self, effort: &Effort, fault: &Fault) -> bool {
        match self.judged {
            Judged::Each => self.permanent_max != 0 && self.permanent_max <= effort.of_one_code_with(fault),
            Judged::First => effort.in_series() <= 1,
        }
    }

    /// Whether one more attempt ended in the same fault as all of the last ones, and nothing but somebody who changes
    /// something will end that. What a provider lacks at the moment may come by itself.
    fn is_hopeless(self, effort: &Effort, fault: &Fault) -> bool {
        let may_pass = matches!(fault.code, FaultCode::Unavailable | FaultCode::ResourceExhausted);
        self.alike_max != 0 && !may_pass && self.alike_max <= effort.alike_with(fault)
    }
}

/// Why something was tried again, or was not: what all kinds that try say, each with its own reason of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryWord {
    StaleReport,
    WorthRetrying,
    OutcomeUnknown,
    RetriesExhausted,
    NotRetryable,
    RetryDue,
    NotDueYet,
    NothingWaits,
    OperatorRetries,
    NothingToRetry,
}

/// A kind's own reasons for trying again.
pub trait RetryReasons: Sized {
    /// The reason of this name.
    fn of(word: RetryWord) -> Self;
}

/// Gives a kind whose reasons have the names of [`RetryWord`] the part that all kinds which try have in common.
macro_rules! retry_reasons {
    ($reason:ident) => {
        impl $crate::contract::RetryReasons for $reason {
            fn of(word: $crate::contract::RetryWord) -> Self {
                use $crate::contract::RetryWord as Word;
                match word {
                    Word::StaleReport => Self::StaleReport,
                    Word::WorthRetrying => Self::WorthRetrying,
                    Word::OutcomeUnknown => Self::OutcomeUnknown,
                    Word::RetriesExhausted => Self::RetriesExhausted,
                    Word::NotRetryable => Self::NotRetryable,
                    Word::RetryDue => Self::RetryDue,
                    Word::NotDueYet => Self::NotDueYet,
                    Word::NothingWaits => Self::NothingWaits,
                    Word::OperatorRetries => Self::OperatorRetries,
                    Word::NothingToRetry => Self::NothingToRetry,
                }
            }
        }
    };
}
pub(crate) use retry_reasons;

/// A failed attempt, and what its kind says in either case.
pub struct Failed<'a, D: Decider> {
    pub effort: &'a Effort,
    /// The attempt that the report is about.
    pub attempt: u32,
    pub fault: &'a Fault,
    pub retry: fn(Timestamp, Fault) -> D::Event,
    /// With the time at which a new series begins by itself, if one does.
    pub give_up: fn(Fault, Option<Timestamp>) -> D::Event,
}

impl<D: Decider> std::fmt::Debug for Failed<'_, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Failed").field("attempt", &self.attempt).field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl<D: Decider> Failed<'_, D>
where
    D::Reason: RetryReasons,
{
    /// What follows: another attempt later, or none.
    pub fn decide(self, rule: RetryRule, now: Timestamp) -> Decision<D> {
        if !self.effort.is_trying(self.attempt) {
            return Decision::nothing(D::Reason::of(RetryWord::StaleReport));
        }
        let fault = self.fault.clone();
        let (word, event) = match rule.after(self.effort, self.fault, now) {
            Next::Retry { until } => (RetryWord::WorthRetrying, (self.retry)(until, fault)),
            Next::Ask { until } => (RetryWord::OutcomeUnknown, (self.retry)(until, fault)),
            Next::Exhausted { again } | Next::TooLate { again } => {
                (RetryWord::RetriesExhausted, (self.give_up)(fault, again))
            }
            Next::Hopeless => (RetryWord::NotRetryable, (self.give_up)(fault, None)),
        };
        Decision::because(D::Reason::of(word), [event])
    }
}

/// Something is due: the next attempt begins if it is the one that is waited for.
pub fn wake<D: Decider>(effort: Option<&Effort>, now: Timestamp, begun: D::Event) -> Decision<D>
where
    D::Reason: RetryReasons,
{
    match effort.and_then(Effort::next_attempt) {
        Some(at) if at <= now => Decision::because(D::Reason::of(RetryWord::RetryDue), [begun]),
        Some(_) => Decision::nothing(D::Reason::of(RetryWord::NotDueYet)),
        None => Decision::nothing(D::Reason::of(RetryWord::NothingWaits)),
    }
}

/// As [`wake`], for what has a deadline while it is undone: if that is what was waited for, it is said first.
pub fn wake_to_undo<D: Decider>(
    (effort, undoing): (Option<&Effort>, Option<&Effort>),
    (due, now): (Timestamp, Timestamp),
    overdue: (D::Reason, D::Event),
    begun: D::Event,
) -> Decision<D>
where
    D::Reason: RetryReasons,
{
    let woken = wake(effort, now, begun);
    if !undoing.is_some_and(|effort| effort.deadline() == Some(due) && due <= now) {
        return woken;
    }
    let (reason, event) = overdue;
    Decision::because(reason, [event].into_iter().chain(woken.events))
}

/// An operator asks to try again what was given up, or waits.
pub fn try_again<D: Decider>(effort: Option<&Effort>, begun: D::Event) -> Decision<D>
where
    D::Reason: RetryReasons,
{
    match effort.map(|effort| &effort.outlook) {
        Some(Outlook::GivenUp { .. } | Outlook::Waiting { .. }) => {
            Decision::because(D::Reason::of(RetryWord::OperatorRetries), [begun])
        }
        Some(Outlook::Trying) | None => Decision::nothing(D::Reason::of(RetryWord::NothingToRetry)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Document;
    use bailiwick_journal::Version;

    fn after_the_same(times: u32, rule: RetryRule, fault: &Fault) -> Next {
        let mut effort = Effort::begun(Version(1), Timestamp(0));
        for _ in 1..times {
            effort.wait(Timestamp(1), fault.clone());
            effort.begin();
        }
        rule.after(&effort, fault, Timestamp(2))
    }

    #[test]
    fn the_wait_follows_from_the_number_of_attempts_or_from_the_fault() {
        let mut policy = Document::default();
        let wait = |policy: &Document, work, code, times| match after_the_same(
            times,
            RetryRule::of_machine(policy, work),
            &Fault::new(code, "no"),
        ) {
            Next::Retry { until } | Next::Ask { until } => until.since(Timestamp(2)),
            next => panic!("{next:?}"),
        };
        assert_eq!(wait(&policy, Attempted::Making, FaultCode::Internal, 1), 10_000, "as before there was a choice");
        assert_eq!(wait(&policy, Attempted::Removing, FaultCode::Unavailable, 2), 20_000);
        policy.retries.by = RetryBy::FaultCode;
        for code in [FaultCode::Unknown, FaultCode::DeadlineExceeded, FaultCode::Aborted, FaultCode::Unavailable] {
            for work in [Attempted::Making, Attempted::Removing] {
                assert_eq!(wait(&policy, work, code, 1), 15_000, "{code}");
                assert_eq!(wait(&policy, work, code, 9), 15_000, "{code}, however often");
            }
        }
        assert_eq!(wait(&policy, Attempted::Making, FaultCode::ResourceExhausted, 3), 180_000);
        assert_eq!(wait(&policy, Attempted::Removing, FaultCode::Internal, 3), 600_000);
    }

    #[test]
    fn the_same_cause_again_and_again_ends_the_trying_of_storage() {
        let policy = Document::default();
        let storage = RetryRule::of_storage(&policy, Attempted::Making);
        let machines = RetryRule::of_machine(&policy, Attempted::Making);
        let gone = Fault::new(FaultCode::NotFound, "the file is missing");
        assert!(matches!(after_the_same(19, storage, &gone), Next::Retry { .. }));
        assert_eq!(after_the_same(20, storage, &gone), Next::Hopeless);
        assert!(matches!(after_the_same(10, machines, &gone), Next::Retry { .. }), "they have a limit of their own");
        for code in [FaultCode::Unavailable, FaultCode::ResourceExhausted] {
            assert!(matches!(after_the_same(90, storage, &Fault::new(code, "no")), Next::Retry { .. }), "{code}");
        }
        let unknown = Fault::new(FaultCode::DeadlineExceeded, "no answer");
        assert!(matches!(after_the_same(90, storage, &unknown), Next::Ask { .. }), "what nobody knows is asked for");
    }

    #[test]
    fn one_permanent_answer_is_not_believed_and_the_same_several_times_in_a_row_is() {
        let policy = Document::default();
        for code in FaultCode::ALL.into_iter().filter(|code| code.class() == FaultClass::Permanent) {
            for rule in
                [RetryRule::of_machine(&policy, Attempted::Making), RetryRule::of_storage(&policy, Attempted::Making)]
            {
                let no = Fault::new(code, "no");
                assert!(matches!(after_the_same(1, rule, &no), Next::Retry { .. }), "{code}");
                assert!(matches!(after_the_same(2, rule, &no), Next::Retry { .. }), "{code}");
                assert_eq!(after_the_same(3, rule, &no), Next::Hopeless, "{code}");
                assert_eq!(after_the_same(1, RetryRule { permanent_max: 1, ..rule }, &no), Next::Hopeless, "{code}");
                let for_ever = RetryRule { permanent_max: 0, attempts_max: 0, ..rule };
                assert!(matches!(after_the_same(90, for_ever, &no), Next::Retry { .. }), "{code}: no limit");
                let first = RetryRule { judged: Judged::First, ..rule };
                assert_eq!(after_the_same(1, first, &no), Next::Hopeless, "{code}: the first one is believed");
                assert!(matches!(after_the_same(4, first, &no), Next::Retry { .. }), "{code}: and no later one");
            }
        }
    }

    #[test]
    fn permanent_answers_count_by_their_code_and_from_the_last_other_one() {
        let rule = RetryRule::of_machine(&Document::default(), Attempted::Making);
        let answer = |code, request: u32| Fault::new(code, format!("request {request} failed"));
        let mut effort = Effort::begun(Version(1), Timestamp(0));
        let fails = |effort: &mut Effort, code, request| {
            let fault = answer(code, request);
            let next = rule.after(effort, &fault, Timestamp(2));
            effort.wait(Timestamp(1), fault);
            effort.begin();
            next
        };
        use FaultCode::{InvalidArgument, PermissionDenied, Unavailable};
        for code in [InvalidArgument, InvalidArgument, Unavailable, PermissionDenied, PermissionDenied] {
            assert!(!matches!(fails(&mut effort, code, 1), Next::Hopeless), "{code}");
        }
        assert_eq!(fails(&mut effort, PermissionDenied, 2), Next::Hopeless);
    }

    #[test]
    fn a_series_that_ended_in_what_may_pass_is_followed_by_another_one() {
        let mut policy = Document::default();
        policy.retries.permanent_max = 0;
        let last = |policy: &Document, code| {
            let rule = RetryRule::of_machine(policy, Attempted::Making);
            match after_the_same(rule.attempts_max, rule, &Fault::new(code, "no")) {
                Next::Exhausted { again } => again.map(|at| at.since(Timestamp(2))),
                next => panic!("{code}: {next:?}"),
            }
        };
        for code in FaultCode::ALL {
            let may_pass = code.class() != FaultClass::Permanent;
            assert_eq!(last(&policy, code), may_pass.then_some(1_800_000), "{code}");
        }
        policy.retries.again_ms = 0;
        assert_eq!(last(&policy, FaultCode::Unavailable), None, "never, where the policy says so");
        let periods =
            ["default", "juju-2016", "gardener-0.49"].map(|name| Document::named(name).map(|it| it.retries.again_ms));
        assert_eq!(periods, [Some(1_800_000), Some(60_000), Some(0)]);
    }

    #[test]
    fn what_is_to_go_is_tried_on_for_ever() {
        let policy = Document::default();
        for code in FaultCode::ALL {
            for rule in [
                RetryRule::of_machine(&policy, Attempted::Removing),
                RetryRule::of_storage(&policy, Attempted::Removing),
            ] {
                let next = after_the_same(500, rule, &Fault::new(code, "no"));
                let (Next::Retry { until } | Next::Ask { until }) = next else { panic!("{code}: {next:?}") };
                assert!(until.since(Timestamp(2)) <= rule.max_ms, "{code}: and not more and more rarely");
            }
        }
    }

    #[test]
    fn a_permanent_answer_is_tried_on_where_the_policy_says_so() {
        let mut policy = Document::default();
        policy.retries.permanent_max = 0;
        let no = Fault::new(FaultCode::InvalidArgument, "no");
        let rule = RetryRule::of_machine(&policy, Attempted::Making);
        assert!(matches!(after_the_same(10, rule, &no), Next::Retry { .. }));
        assert_eq!(
            after_the_same(11, rule, &no),
            Next::Exhausted { again: None },
            "the number of attempts counts all the same"
        );
    }

    #[test]
    fn making_ends_by_age_where_the_policy_says_so() {
        let mut policy = Document::default();
        policy.retries.give_up_by = GiveUpBy::Age;
        policy.machines.attempts_max = 0;
        let fault = Fault::new(FaultCode::Unavailable, "no");
        let making = |now| {
            let effort = Effort::begun(Version(1), Timestamp(5));
            RetryRule::of_making(&policy, effort.since, 100).after(&effort, &fault, Timestamp(now))
        };
        assert!(matches!(making(105), Next::Ask { .. } | Next::Retry { .. }), "not before its time is over");
        assert_eq!(making(106), Next::TooLate { again: Some(Timestamp(106).after(policy.retries.again_ms)) });
        let rule = RetryRule::of_making(&policy, Timestamp(5), 100);
        assert!(matches!(after_the_same(90, rule, &fault), Next::Retry { .. }), "however often it failed");
        let removing = RetryRule { ends: Some(Timestamp(0)), ..RetryRule::of_machine(&policy, Attempted::Removing) };
        assert!(matches!(after_the_same(1, removing, &fault), Next::Retry { .. }), "what is to go is tried on");
    }

    #[test]
    fn another_cause_in_between_begins_the_count_anew() {
        let rule = RetryRule::of_storage(&Document::default(), Attempted::Making);
        let (one, other) = (Fault::new(FaultCode::NotFound, "one"), Fault::new(FaultCode::NotFound, "other"));
        let mut effort = Effort::begun(Version(1), Timestamp(0));
        for fault in [&one; 18].into_iter().chain([&other]) {
            effort.wait(Timestamp(1), fault.clone());
            effort.begin();
        }
        assert!(matches!(rule.after(&effort, &one, Timestamp(2)), Next::Retry { .. }));
        effort.give_up(other, None);
        effort.begin();
        assert_eq!(effort.alike_with(&one), 1, "an operator who says again begins anew, too");
    }
}
