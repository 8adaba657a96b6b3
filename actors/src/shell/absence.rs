//! What a provider says is not there: asked by id before it is believed.
//!
//! A provider that answers a delete with `not-found` may be wrong (it looked in another region, or its cloud had not caught
//! up), and what is believed to be gone is never deleted again. So only a lookup that says `absent` counts.

use super::{budgets::Calls, bulk::bulk};
use crate::{
    ports::{BulkAnswer, CallKind, Lookup},
    vocab::{EffectId, Fault, FaultCode},
};

/// How a bulk delete, destroy, release or detach went: `not-found` is a success only where a lookup says `absent`.
/// `results` has one answer for each of `ids`.
pub(super) async fn confirmed<'p>(
    calls: &Calls<'_>,
    ids: &[EffectId],
    mut results: Vec<Result<(), Fault>>,
    lookup: Box<dyn FnOnce(Vec<EffectId>) -> BulkAnswer<'p, Lookup<()>> + '_>,
) -> Vec<Result<(), Fault>> {
    let is_not_found = |result: &Result<(), Fault>| matches!(result, Err(fault) if fault.code == FaultCode::NotFound);
    let places: Vec<usize> = (0..results.len()).filter(|place| is_not_found(&results[*place])).collect();
    if places.is_empty() {
        return results;
    }
    let asked: Vec<EffectId> = places.iter().map(|place| ids[*place]).collect();
    let known = bulk(calls, CallKind::LookUp, places.len(), Box::new(|| lookup(asked))).await;
    for (place, known) in places.into_iter().zip(known) {
        results[place] = match known {
            Ok(Lookup::Absent) => Ok(()),
            Ok(Lookup::Present(())) => Err(Fault::new(
                FaultCode::Internal,
                "the provider answered not-found, but a lookup by id still finds it; it is asked again",
            )),
            Ok(Lookup::Unknown) => Err(Fault::new(
                FaultCode::Unknown,
                "the provider answered not-found, but cannot confirm that it is gone",
            )),
            Err(fault) => Err(fault),
        };
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, time::Duration};

    use uuid::Uuid;

    use super::super::{Budgets, CallTimes, Holds};

    fn id(n: u128) -> EffectId {
        EffectId(Uuid::from_u128(n))
    }

    fn not_found() -> Result<(), Fault> {
        Err(Fault::new(FaultCode::NotFound, "no such thing"))
    }

    async fn judged(known: Vec<Result<Lookup<()>, Fault>>) -> Vec<Result<(), Option<FaultCode>>> {
        let busy = Err(Fault::new(FaultCode::FailedPrecondition, "attached"));
        let mut results = vec![Ok(()), busy];
        results.extend(known.iter().map(|_| not_found()));
        let ids: Vec<EffectId> = (0..results.len() as u128).map(id).collect();
        let lookup = |asked: Vec<EffectId>| -> BulkAnswer<'static, Lookup<()>> {
            assert_eq!(asked, ids[2..], "only what was not found is asked for");
            Box::pin(std::future::ready(Ok(known)))
        };
        let (budgets, times, holds) = (Budgets::new(&BTreeMap::new()), CallTimes::default(), Holds::default());
        let calls = Calls::new((&budgets, &times, &holds), None, Vec::new(), Duration::from_secs(1));
        let judged = confirmed(&calls, &ids, results, Box::new(lookup)).await;
        judged.into_iter().map(|result| result.map_err(|fault| Some(fault.code))).collect()
    }

    #[tokio::test]
    async fn not_found_counts_only_where_a_lookup_says_absent() {
        let silent = Err(Fault::new(FaultCode::Unavailable, "no answer"));
        let known = vec![Ok(Lookup::Absent), Ok(Lookup::Present(())), Ok(Lookup::Unknown), silent];
        let expected = [
            Ok(()),
            Err(Some(FaultCode::FailedPrecondition)),
            Ok(()),
            Err(Some(FaultCode::Internal)),
            Err(Some(FaultCode::Unknown)),
            Err(Some(FaultCode::Unavailable)),
        ];
        assert_eq!(judged(known).await, expected);
    }

    #[tokio::test]
    async fn nothing_is_asked_where_nothing_was_said_to_be_missing() {
        let lookup = |_| -> BulkAnswer<'static, Lookup<()>> { panic!("nobody has to be asked") };
        let (budgets, times, holds) = (Budgets::new(&BTreeMap::new()), CallTimes::default(), Holds::default());
        let calls = Calls::new((&budgets, &times, &holds), None, Vec::new(), Duration::from_secs(1));
        assert_eq!(confirmed(&calls, &[id(1)], vec![Ok(())], Box::new(lookup)).await, [Ok(())]);
    }
}
