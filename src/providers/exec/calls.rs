//! Calls as their caller sees them: items on lines of bounded length, and one checked answer for each.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::{InstanceStatus, Listing, Lookup, MachineInstance},
    supervisor::machines::AgentReport,
    vocab::{EffectId, Fault, FaultCode, Timestamp},
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{
    ExecProvider, owner,
    shared::Order,
    table::Call,
    trouble::Trouble,
    trust::{self, Found},
    wire::{self, Hello, Nature, Operation, Page},
};
use crate::providers::known::is_blotted;

/// So many items go into one request, so that its answer fits on a line: a machine has at most 9 KiB.
const ITEMS_MAX: usize = 100;
/// What a request has beside its items.
const FRAME_BYTES: usize = 128;
/// An older list says nothing about how machines are now.
const REPORT_AGE_MAX_MS: u64 = 15_000;
/// A list of more has gone astray.
const PAGES_MAX: usize = 10_000;
const LIST_ITEMS_MAX: usize = 1_000_000;

/// Some of the items, on one line.
struct Part {
    places: std::ops::Range<usize>,
    ids: Vec<EffectId>,
    body: String,
}

type Told = oneshot::Receiver<Result<Value, Fault>>;

impl ExecProvider {
    /// What the process has said about itself.
    pub(super) async fn hello(&self) -> Result<Hello, Fault> {
        let (answer, told) = oneshot::channel();
        let not_there = || Trouble::Stopped.not_begun(Nature::Lists);
        let orders = self.orders.as_ref().ok_or_else(not_there)?;
        orders.send(Order::Hello(answer)).await.map_err(|_| not_there())?;
        told.await.map_err(|_| not_there())?
    }

    /// One bulk call whose items are wishes: one checked answer for each.
    pub(super) async fn bulk<T>(
        &self,
        operation: Operation,
        wishes: Vec<(EffectId, String)>,
        check: impl Fn(usize, Value) -> Result<T, Fault>,
    ) -> Result<Vec<Result<T, Fault>>, Fault> {
        let count = wishes.len();
        let mut results: Vec<Option<Result<T, Fault>>> = Vec::new();
        results.resize_with(count, || None);
        let mut asked = Vec::new();
        for part in self.parts(wishes) {
            asked.push((part.places.clone(), self.ask(operation, part.ids, part.body).await));
        }
        let is_one = asked.len() == 1;
        for (places, told) in asked {
            match self.items(operation, places.len(), told).await {
                // All of it failed, and nothing is known about the items but that.
                Err(fault) if is_one && places.len() == count => return Err(fault),
                Err(fault) => places.for_each(|at| results[at] = Some(Err(fault.clone()))),
                Ok(items) => {
                    for (at, item) in places.zip(items) {
                        let item = item.and_then(|value| owner::ours(value, self.owner));
                        results[at] = Some(item.and_then(|value| check(at, value)));
                    }
                }
            }
        }
        let too_long = || Err(Fault::new(FaultCode::OutOfRange, "the request is too long for one line"));
        Ok(results.into_iter().map(|result| result.unwrap_or_else(too_long)).collect())
    }

    /// One bulk call whose answers have nothing in them.
    pub(super) async fn undo(
        &self,
        operation: Operation,
        wishes: Vec<(EffectId, String)>,
    ) -> Result<Vec<Result<(), Fault>>, Fault> {
        self.bulk(operation, wishes, |_, _| Ok(())).await
    }

    /// Asks by id. What is just being changed is not asked about: nobody can tell.
    pub(super) async fn look<T>(
        &self,
        operation: Operation,
        ids: Vec<EffectId>,
        check: Found<T>,
    ) -> Result<Vec<Result<Lookup<T>, Fault>>, Fault> {
        let idle: Vec<usize> = (0..ids.len()).filter(|at| !self.shared.busy.holds(ids[*at])).collect();
        let wishes: Vec<_> = idle.iter().map(|at| (ids[*at], wire::json(&ids[*at]))).collect();
        let found = self.bulk(operation, wishes, |at, value| check(ids[idle[at]], value)).await?;
        let mut answers: Vec<Result<Lookup<T>, Fault>> = Vec::new();
        answers.resize_with(ids.len(), || Ok(Lookup::Unknown));
        for (at, answer) in idle.into_iter().zip(found) {
            answers[at] = answer;
        }
        Ok(answers)
    }

    /// All machines it has, which takes the place of their agents' reports.
    pub(super) async fn list_all(&self) -> Result<Listing<MachineInstance>, Fault> {
        let (told, zones) = self.pages(Operation::ListMachines, trust::listed).await?;
        self.shared.take_zones(trust::zones(zones));
        let (mut items, mut reports) = (Vec::new(), Vec::new());
        for (instance, conditions) in told.items {
            if instance.status == InstanceStatus::Running {
                let (machine, effect) = (instance.machine.clone(), instance.effect);
                // Nobody runs our workloads inside: a drain has nothing to wait for.
                let (provider, running) = (Some(self.name.clone()), Some(BTreeSet::new()));
                reports.push(AgentReport { machine, provider, effect, conditions, running });
            }
            items.push(instance);
        }
        self.report(told.as_of, reports);
        let listing = Listing { complete: told.complete, as_of: told.as_of, items };
        Ok(trust::without_twins(listing, |instance| instance.effect))
    }

    /// Everything of one kind that it has, page by page; and the zones that the first page names.
    pub(super) async fn pages<T>(
        &self,
        operation: Operation,
        read: fn(Value) -> Result<T, Fault>,
    ) -> Result<(Listing<T>, Vec<String>), Fault> {
        // What the list describes is not older than this, less the age that it has by its own account.
        let asked = self.clock.now();
        let mut listing = Listing { complete: true, as_of: asked, items: Vec::new() };
        let (mut after, mut zones): (Option<String>, Vec<String>) = (None, Vec::new());
        for _ in 0..PAGES_MAX {
            let body = after.as_ref().map(|after| format!(",\"after\":{}", wire::json(after))).unwrap_or_default();
            let value = answer(self.ask(operation, Vec::new(), body).await, Nature::Lists).await?;
            let page: Page = serde_json::from_value(value).map_err(|error| trust::nonsense("list", &error))?;
            if after.is_none() {
                zones = page.zones;
            }
            listing.complete &= page.complete;
            listing.as_of = listing.as_of.min(Timestamp(asked.0.saturating_sub(page.age_ms)));
            for item in page.items {
                if let Some(owner) = owner::foreign(&item, self.owner) {
                    tracing::debug!(provider = %self.name, owner, "an item of the list belongs to another journal");
                    continue;
                }
                match read(item) {
                    Ok(item) => listing.items.push(item),
                    Err(fault) => {
                        tracing::warn!(provider = %self.name, %fault, "an item of the list is passed over");
                        listing.complete = false;
                    }
                }
            }
            match page.next {
                // What it goes on with is given back to it, and would be another one.
                Some(next) if is_blotted(&next) => {
                    return Err(Fault::new(FaultCode::Unknown, trust::of_secret("what its list goes on with")));
                }
                None => return Ok((listing, zones)),
                Some(next) if after.as_ref() == Some(&next) => break,
                Some(_) if LIST_ITEMS_MAX < listing.items.len() => break,
                Some(next) => after = Some(next),
            }
        }
        Err(Fault::new(FaultCode::Internal, "the provider's list does not end"))
    }

    /// There are no agents in its machines, so the list speaks for them, if it is not too old for that.
    fn report(&self, as_of: Timestamp, reports: Vec<AgentReport>) {
        if self.clock.now().since(as_of) <= REPORT_AGE_MAX_MS {
            // Where nobody listens, or not fast enough, the next list is as good.
            let _ = self.reports.try_send(reports);
        }
    }

    /// The items in parts that fit on a line. One that fits on none is in no part.
    fn parts(&self, wishes: Vec<(EffectId, String)>) -> Vec<Part> {
        let bytes_max = self.limits.line_bytes_max.saturating_sub(FRAME_BYTES);
        let mut parts: Vec<Part> = Vec::new();
        for (at, (id, json)) in wishes.into_iter().enumerate() {
            if bytes_max < json.len() {
                continue;
            }
            match parts.last_mut() {
                Some(part)
                    if part.places.end == at
                        && part.places.len() < ITEMS_MAX
                        && part.body.len() + 1 + json.len() <= bytes_max =>
                {
                    part.places.end += 1;
                    part.ids.push(id);
                    part.body.push(',');
                    part.body.push_str(&json);
                }
                _ => parts.push(Part { places: at..at + 1, ids: vec![id], body: json }),
            }
        }
        for part in &mut parts {
            part.body = format!(",\"items\":[{}]", part.body);
        }
        parts
    }

    async fn ask(&self, operation: Operation, ids: Vec<EffectId>, body: String) -> Result<Told, Fault> {
        let refused = || Trouble::Stopped.not_begun(operation.nature());
        let orders = self.orders.as_ref().ok_or_else(refused)?;
        let ids = if operation.nature() == Nature::Changes { ids } else { Vec::new() };
        let (answer, told) = oneshot::channel();
        let call = Call { operation, held: self.shared.busy.hold(ids), body, answer };
        orders.send(Order::Call(call)).await.map_err(|_| refused())?;
        Ok(told)
    }

    /// The results of the items of one request, each for itself.
    async fn items(
        &self,
        operation: Operation,
        count: usize,
        told: Result<Told, Fault>,
    ) -> Result<Vec<Result<Value, Fault>>, Fault> {
        let value = answer(told, operation.nature()).await?;
        let Value::Array(items) = value else {
            return Err(Fault::new(FaultCode::Unknown, "the provider's answer is not a list of results"));
        };
        if items.len() != count {
            let text = format!("the provider gave {} answers to {count} questions", items.len());
            return Err(Fault::new(FaultCode::Unknown, text));
        }
        let neither = || Err(Fault::new(FaultCode::Unknown, "a result of the provider is neither `ok` nor `fault`"));
        Ok(items.into_iter().map(|value| wire::item(value).unwrap_or_else(neither)).collect())
    }
}

async fn answer(told: Result<Told, Fault>, nature: Nature) -> Result<Value, Fault> {
    // Nobody answers what was still in the queue when the provider was stopped.
    told?.await.unwrap_or_else(|_| Err(Trouble::Stopped.not_begun(nature)))
}
