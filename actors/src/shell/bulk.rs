//! One call for many items: when it is its turn, within its time, and one answer per item.

use super::{budgets::Calls, calls::Item};
use crate::{
    ports::{BulkAnswer, CallKind},
    vocab::{EffectId, Fault, FaultCode},
};

/// A call that is made when it is its turn.
pub(super) type InTurn<'c, 'p, T> = Box<dyn FnOnce() -> BulkAnswer<'p, T> + 'c>;

/// One bulk call, when it is its turn, and within its time: exactly one answer per item, whatever the provider does.
pub(super) async fn bulk<T>(
    calls: &Calls<'_>,
    kind: CallKind,
    items: usize,
    call: InTurn<'_, '_, T>,
) -> Vec<Result<T, Fault>> {
    let whole = |fault: Fault| (0..items).map(|_| Err(fault.clone())).collect();
    if items == 0 {
        return Vec::new();
    }
    calls.enter(kind).await;
    let limit = calls.limit;
    let answers: Vec<Result<T, Fault>> = match tokio::time::timeout(limit, call()).await {
        Ok(Ok(answers)) if answers.len() == items => answers.into_iter().map(harmless).collect(),
        Ok(Ok(answers)) => {
            let text = format!("the provider gave {} answers to {items} questions", answers.len());
            whole(Fault::new(FaultCode::Unknown, text))
        }
        Ok(Err(fault)) => whole(Fault::new(fault.code, fault.text)),
        Err(_) => {
            let text = format!("no answer within {} ms; the call may still take effect", limit.as_millis());
            whole(Fault::new(FaultCode::DeadlineExceeded, text))
        }
    };
    calls.answered(kind, &answers);
    answers
}

fn harmless<T>(result: Result<T, Fault>) -> Result<T, Fault> {
    result.map_err(|fault| Fault::new(fault.code, fault.text))
}

/// The answers to a bulk call, each turned into something else.
pub(super) fn each<'a, T: 'a, U>(answers: BulkAnswer<'a, T>, turn: impl Fn(T) -> U + Send + 'a) -> BulkAnswer<'a, U> {
    Box::pin(async move { Ok(answers.await?.into_iter().map(|answer| answer.map(&turn)).collect()) })
}

/// The effect ids of these.
pub(crate) fn ids<'i, W: 'i>(items: impl IntoIterator<Item = &'i Item<W>>) -> Vec<EffectId> {
    items.into_iter().map(|item| item.id).collect()
}
