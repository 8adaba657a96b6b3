//! The calls of one process: those that wait for another about the same thing, and those under way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bailiwick_actors::vocab::{EffectId, Fault, FaultCode};
use serde_json::Value;
use tokio::{sync::oneshot, time::Instant};

use super::{
    busy::Held,
    trouble::Trouble,
    wire::{Hello, Operation},
};

/// One request.
#[derive(Debug)]
pub(super) struct Call {
    pub operation: Operation,
    /// The ids that it may change; they are busy as long as it exists.
    pub held: Held,
    /// What follows the operation in the request: nothing, or a comma and further members.
    pub body: String,
    pub answer: oneshot::Sender<Result<Value, Fault>>,
}

impl Call {
    fn end(self, result: Result<Value, Fault>) {
        drop(self.held);
        // The caller may have gone: then nobody needs the answer.
        let _ = self.answer.send(result);
    }

    /// It is not made.
    pub fn refuse(self, trouble: &Trouble) {
        let fault = trouble.not_begun(self.operation.nature());
        self.end(Err(fault));
    }

    /// It is not made, for a reason of its own.
    pub fn refuse_with(self, fault: Fault) {
        self.end(Err(fault));
    }
}

/// The calls of one process.
#[derive(Debug, Default)]
pub(super) struct Table {
    last_id: u64,
    waiting: VecDeque<Call>,
    /// With the moment when they went out.
    under_way: BTreeMap<u64, (Instant, Call)>,
    changing: BTreeSet<EffectId>,
    /// What the process can do; everything, as long as it has not said so.
    hello: Option<Hello>,
}

impl Table {
    pub fn add(&mut self, call: Call) {
        self.waiting.push_back(call);
    }

    /// How many wait or are under way.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.under_way.len()
    }

    pub fn owes_answers(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Since when the oldest call is under way.
    pub fn oldest(&self) -> Option<Instant> {
        self.under_way.first_key_value().map(|(_, (since, _))| *since)
    }

    /// The process has said what it can do.
    pub fn set_hello(&mut self, hello: Hello) {
        self.hello = Some(hello);
    }

    /// A new id, for a request that is none of ours.
    pub fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The lines of all that can go out now: no call overtakes an earlier one about the same thing.
    pub fn ready(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut ahead = BTreeSet::new();
        for call in std::mem::take(&mut self.waiting) {
            if call.answer.is_closed() {
                continue;
            }
            if self.hello.as_ref().is_some_and(|hello| !call.operation.is_offered(hello)) {
                let text = format!("the provider does not offer {}", call.operation.as_str());
                call.refuse_with(Fault::new(FaultCode::Unimplemented, text));
                continue;
            }
            let is_free = |id: &EffectId| !self.changing.contains(id) && !ahead.contains(id);
            if call.held.ids().iter().all(is_free) {
                lines.push(self.begin(call));
            } else {
                ahead.extend(call.held.ids().iter().copied());
                self.waiting.push_back(call);
            }
        }
        lines
    }

    fn begin(&mut self, mut call: Call) -> Vec<u8> {
        let id = self.next_id();
        self.changing.extend(call.held.ids().iter().copied());
        // What has been said need not be kept.
        let line = request(id, call.operation, &std::mem::take(&mut call.body));
        self.under_way.insert(id, (Instant::now(), call));
        line
    }

    /// An answer came; says whose progress is over before it is handed on.
    pub fn answer(
        &mut self,
        id: u64,
        result: Result<Value, Fault>,
        over: impl FnOnce(&[EffectId]),
    ) -> Result<(), Trouble> {
        let Some((_, call)) = self.under_way.remove(&id) else {
            return Err(if id == 0 || self.last_id < id {
                Trouble::UnknownCall(id)
            } else {
                Trouble::AnsweredTwice(id)
            });
        };
        let ids = call.held.ids();
        for id in ids {
            self.changing.remove(id);
        }
        over(ids);
        call.end(result);
        Ok(())
    }

    /// Whether a call is under way and about this.
    pub fn is_about(&self, call: u64, effect: EffectId) -> bool {
        self.under_way.get(&call).is_some_and(|(_, call)| call.held.ids().contains(&effect))
    }

    pub fn is_changing(&self, effect: EffectId) -> bool {
        self.changing.contains(&effect)
    }

    /// Nothing will be answered any more.
    pub fn fail(&mut self, trouble: &Trouble) {
        self.changing.clear();
        for (_, call) in std::mem::take(&mut self.under_way).into_values() {
            let fault = trouble.under_way(call.operation.nature());
            call.end(Err(fault));
        }
        for call in std::mem::take(&mut self.waiting) {
            call.refuse(trouble);
        }
    }
}

/// A request as a line.
pub(super) fn request(id: u64, operation: Operation, body: &str) -> Vec<u8> {
    format!("{{\"id\":{id},\"op\":\"{}\"{body}}}\n", operation.as_str()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::{super::busy::Busy, *};

    type Told = oneshot::Receiver<Result<Value, Fault>>;

    fn call(busy: &Busy, ids: &[u128]) -> (Call, Told) {
        let (answer, told) = oneshot::channel();
        let ids = ids.iter().map(|n| EffectId(uuid::Uuid::from_u128(*n))).collect();
        (Call { operation: Operation::DeleteMachines, held: busy.hold(ids), body: String::new(), answer }, told)
    }

    fn ids(lines: &[Vec<u8>]) -> Vec<String> {
        lines.iter().map(|line| String::from_utf8_lossy(line).split([':', ',']).nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn no_call_overtakes_another_about_the_same_thing() {
        let (busy, mut table) = (Busy::default(), Table::default());
        let wishes: [&[u128]; 4] = [&[1], &[1, 2], &[2], &[3]];
        let mut told: Vec<Told> = Vec::new();
        for wish in wishes {
            let (call, answer) = call(&busy, wish);
            table.add(call);
            told.push(answer);
        }
        assert_eq!(ids(&table.ready()), ["1", "2"], "the first, and the one about something else");
        assert_eq!(ids(&table.ready()), [""; 0]);
        table.answer(1, Ok(Value::Null), |_| ()).unwrap();
        assert_eq!(ids(&table.ready()), ["3"], "about 1 and 2; the one about 2 alone waits behind it");
        let over = |ids: &[EffectId]| {
            assert_eq!(ids.len(), 2);
            assert!(told[1].try_recv().is_err(), "not before its progress is over");
        };
        table.answer(3, Ok(Value::Null), over).unwrap();
        assert_eq!(ids(&table.ready()), ["4"]);
        assert!(told[1].try_recv().unwrap().is_ok());
    }

    #[test]
    fn who_has_gone_is_not_served() {
        let (busy, mut table) = (Busy::default(), Table::default());
        let (call, told) = call(&busy, &[1]);
        table.add(call);
        drop(told);
        assert!(table.ready().is_empty());
        assert!(!busy.holds(EffectId(uuid::Uuid::from_u128(1))));
    }

    #[test]
    fn answers_to_nothing_and_second_answers_are_told_apart() {
        let (busy, mut table) = (Busy::default(), Table::default());
        let (call, _told) = call(&busy, &[1]);
        table.add(call);
        table.ready();
        assert_eq!(table.answer(2, Ok(Value::Null), |_| ()), Err(Trouble::UnknownCall(2)));
        assert_eq!(table.answer(0, Ok(Value::Null), |_| ()), Err(Trouble::UnknownCall(0)));
        table.answer(1, Ok(Value::Null), |_| ()).unwrap();
        assert_eq!(table.answer(1, Ok(Value::Null), |_| ()), Err(Trouble::AnsweredTwice(1)));
    }

    #[test]
    fn what_was_begun_may_have_happened_and_what_was_not_has_not() {
        let (busy, mut table) = (Busy::default(), Table::default());
        let ((begun, mut told), (behind, mut told_behind)) = (call(&busy, &[1]), call(&busy, &[1]));
        table.add(begun);
        table.add(behind);
        table.ready();
        table.fail(&Trouble::Ended("exit status: 3".into()));
        assert_eq!(told.try_recv().unwrap().unwrap_err().code.as_str(), "aborted");
        assert_eq!(told_behind.try_recv().unwrap().unwrap_err().code.as_str(), "unavailable");
        assert!(!busy.holds(EffectId(uuid::Uuid::from_u128(1))));
    }
}
