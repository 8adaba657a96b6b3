//! A provider in memory, on virtual time, with seeded faults.
//!
//! What it makes stands in a [`World`] of its own, which goes on when the node crashes. A call that has been sent happens
//! even if its caller is gone by then; that is what makes lost answers, crashes and time-outs interesting.

mod change;
mod custom_kinds;
mod dice;
mod faults;
mod filesystems;
mod invariants;
mod ports;
mod reach;
mod secrets;
mod world;
mod zones;

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{Clock, Listing, Lookup, MachineInstance},
    vocab::{EffectId, Fault, FaultCode, Name, Timestamp},
};

pub use change::{SimulatedCustom, Thing};
pub use dice::Dice;
pub use faults::Faults;
pub use filesystems::{SimulatedFilesystem, SimulatedMount};
pub use invariants::{Claims, WorldInvariant, check};
pub use secrets::SimulatedSecrets;
pub use world::{SimulatedAttachment, SimulatedInstance, SimulatedVolume, World, WorldState};

use super::cancelled::{Cancelled, canceled};
use change::Change;

/// Makes machines and volumes in a [`World`].
#[derive(Clone)]
pub struct SimulatedProvider {
    name: Name,
    world: World,
    clock: Arc<dyn Clock>,
    watch: Option<Watch>,
    cancelled: Arc<Cancelled>,
}

/// Is told before a call has been made and before it is answered.
pub type Watch = Arc<dyn Fn(&'static str) + Send + Sync>;

impl fmt::Debug for SimulatedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedProvider").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What becomes of one call.
struct Fate {
    /// From the call to what it does, and from there to the answer.
    there_ms: u64,
    back_ms: u64,
    faults: Faults,
    answer: Ending,
    happens: bool,
}

/// How a call ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Answered,
    Lost(FaultCode),
    Never,
    Miscounted,
}

impl SimulatedProvider {
    /// A provider of this name in a world. The clock tells the time of the world, which nobody sets back.
    pub fn new(name: Name, world: World, clock: Arc<dyn Clock>) -> Self {
        Self { name, world, clock, watch: None, cancelled: Arc::default() }
    }

    /// As this one; somebody watches its calls.
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    fn tell(&self, point: &'static str) {
        if let Some(watch) = &self.watch {
            watch(point);
        }
    }

    /// The call has been made; decides what becomes of it.
    fn fate(&self, operation: &str) -> Result<Fate, (u64, Fault)> {
        self.tell("before-call");
        let now = self.clock.now();
        let mut state = self.world.at(now);
        *state.calls.entry(format!("{} {operation}", self.name)).or_default() += 1;
        let faults = state.faults.get(&self.name).cloned().unwrap_or_default();
        let out = state.outages.iter().any(|(name, from, to)| *name == self.name && *from <= now && now < *to);
        let dice = &mut state.dice;
        let (least, most) = faults.latency_ms;
        let (there_ms, back_ms) = (dice.between(least, most) / 2, dice.between(least, most) / 2);
        let lost = dice.happens(faults.lost_answer_per_mille);
        let how_lost = [Ending::Lost(FaultCode::DeadlineExceeded), Ending::Lost(FaultCode::Unknown), Ending::Never]
            [dice.below(3) as usize];
        let hangs = dice.happens(faults.hang_per_mille);
        let happens = dice.below(2) == 0 || !hangs;
        let miscounted = dice.happens(faults.miscount_per_mille);
        if out {
            return Err((there_ms, Fault::new(FaultCode::Unavailable, "the provider cannot be reached")));
        }
        if state.is_too_often(&self.name, now, faults.calls_per_minute_max) {
            return Err((there_ms, Fault::new(FaultCode::ResourceExhausted, "too many calls in a minute")));
        }
        let answer = if hangs {
            Ending::Never
        } else if lost {
            how_lost
        } else if miscounted {
            Ending::Miscounted
        } else {
            Ending::Answered
        };
        Ok(Fate { there_ms, back_ms, faults, answer, happens })
    }

    /// One bulk call that changes the world, unless all of it is cancelled first. What has been sent happens all the same.
    async fn change<I, T>(
        &self,
        operation: &str,
        items: Vec<I>,
        id: fn(&I) -> EffectId,
        plan: impl Fn(&WorldState, &I) -> Result<Change, Fault>,
        outcome: impl Fn(&mut WorldState, &I) -> Result<T, Fault>,
    ) -> Result<Vec<Result<T, Fault>>, Fault> {
        let ids: BTreeSet<EffectId> = items.iter().map(id).collect();
        *self.world.state().items.entry(format!("{} {operation}", self.name)).or_default() += items.len() as u64;
        self.cancelled.begin(&ids);
        tokio::select! {
            biased;
            answer = self.change_all(operation, items, plan, outcome) => answer,
            () = self.cancelled.all(&ids) => Err(canceled()),
        }
    }

    /// `plan` says for each item what it does or why it fails, `outcome` what is
    /// answered once it has been done.
    async fn change_all<I, T>(
        &self,
        operation: &str,
        items: Vec<I>,
        plan: impl Fn(&WorldState, &I) -> Result<Change, Fault>,
        outcome: impl Fn(&mut WorldState, &I) -> Result<T, Fault>,
    ) -> Result<Vec<Result<T, Fault>>, Fault> {
        let fate = match self.fate(operation) {
            Ok(fate) => fate,
            Err((wait_ms, fault)) => {
                pause(wait_ms).await;
                return Err(fault);
            }
        };
        let (failures, is_torn) = {
            let now = self.clock.now();
            let mut state = self.world.at(now);
            let mut failures: Vec<Option<Fault>> =
                items.iter().map(|_| chance_of_failure(&mut state.dice, &fate.faults)).collect();
            let is_torn = break_off(&mut state.dice, &fate.faults, &mut failures);
            for (item, failure) in items.iter().zip(&failures) {
                if failure.is_none()
                    && fate.happens
                    && let Ok(change) = plan(&state, item)
                {
                    state.send(Timestamp(now.0 + fate.there_ms), change);
                }
            }
            (failures, is_torn)
        };
        pause(fate.there_ms).await;
        let mut answers: Vec<Result<T, Fault>> = {
            let mut state = self.world.at(self.clock.now());
            let answer = |(item, failure): (&I, Option<Fault>)| match failure {
                Some(fault) => Err(fault),
                None => {
                    plan(&state, item)?;
                    outcome(&mut state, item)
                }
            };
            items.iter().zip(failures).map(answer).collect()
        };
        self.tell("after-call");
        pause(fate.back_ms).await;
        match fate.answer {
            Ending::Answered if is_torn => Err(Fault::new(FaultCode::Aborted, "the call was cut off")),
            Ending::Answered => Ok(answers),
            Ending::Lost(code) => Err(Fault::new(code, "the answer was lost")),
            Ending::Miscounted => {
                answers.pop();
                Ok(answers)
            }
            Ending::Never => std::future::pending().await,
        }
    }

    /// One bulk call that only asks.
    async fn ask<T>(
        &self,
        operation: &str,
        ids: Vec<EffectId>,
        find: impl Fn(&WorldState, &EffectId) -> Option<T>,
    ) -> Result<Vec<Result<Lookup<T>, Fault>>, Fault> {
        let fate = match self.fate(operation) {
            Ok(fate) => fate,
            Err((wait_ms, fault)) => {
                pause(wait_ms).await;
                return Err(fault);
            }
        };
        pause(fate.there_ms).await;
        let answers = {
            let now = self.clock.now();
            let mut state = self.world.at(now);
            let is_dark = operation == LOOKUP_MACHINE && state.zones.any_is_out(&self.name, now);
            ids.iter()
                .map(|id| {
                    let unknown = state.dice.happens(fate.faults.unknown_lookup_per_mille);
                    Ok(match find(&state, id) {
                        _ if unknown || state.is_in_the_air(*id) || state.is_cut_off(id, now) => Lookup::Unknown,
                        // It may stand where nobody can see.
                        None if is_dark => Lookup::Unknown,
                        Some(present) => Lookup::Present(present),
                        None => Lookup::Absent,
                    })
                })
                .collect()
        };
        self.tell("after-call");
        pause(fate.back_ms).await;
        match fate.answer {
            Ending::Answered | Ending::Miscounted => Ok(answers),
            Ending::Lost(code) => Err(Fault::new(code, "the answer was lost")),
            Ending::Never => std::future::pending().await,
        }
    }

    async fn list_instances(&self) -> Result<Listing<MachineInstance>, Fault> {
        let fate = match self.fate("list-machines") {
            Ok(fate) => fate,
            Err((wait_ms, fault)) => {
                pause(wait_ms).await;
                return Err(fault);
            }
        };
        pause(fate.there_ms).await;
        let listing = {
            let now = self.clock.now();
            let mut state = self.world.at(now);
            let of_us = state.instances.values().filter(|instance| instance.provider == self.name);
            let in_sight = of_us.filter(|instance| !state.zones.is_out(&self.name, instance.zone(), now));
            let items: Vec<MachineInstance> = in_sight.map(|instance| instance.seen.clone()).collect();
            let is_dark = state.zones.any_is_out(&self.name, now);
            let fails = state.dice.happens(fate.faults.fail_list_per_mille);
            let partial = state.dice.happens(fate.faults.partial_list_per_mille);
            let stale = state.dice.happens(fate.faults.stale_list_per_mille);
            let left_out = state.dice.below(items.len() as u64 + 1) as usize;
            let earlier = state.earlier_lists.get(&self.name).cloned().filter(|_| stale && !is_dark);
            let (as_of, mut items) = earlier.unwrap_or_else(|| {
                // What lacks a zone is not told again later as if it had been all.
                if !is_dark {
                    state.earlier_lists.insert(self.name.clone(), (now, items.clone()));
                }
                (now, items)
            });
            if partial && left_out < items.len() {
                items.remove(left_out);
            }
            if fails {
                Err(Fault::new(FaultCode::Unavailable, "the list cannot be had now"))
            } else {
                Ok(Listing { complete: !partial && !is_dark, as_of, items })
            }
        };
        self.tell("after-call");
        pause(fate.back_ms).await;
        match fate.answer {
            Ending::Never => std::future::pending().await,
            Ending::Lost(code) => Err(Fault::new(code, "the answer was lost")),
            Ending::Answered | Ending::Miscounted => listing,
        }
    }
}

const LOOKUP_MACHINE: &str = "lookup-machine";

/// What comes after the place where a call breaks off does not happen; says whether nobody is told about the rest either.
fn break_off(dice: &mut Dice, faults: &Faults, failures: &mut [Option<Fault>]) -> bool {
    // Not thrown where it never happens, so that histories from before it existed stay what they were.
    if faults.break_off_per_mille == 0 || !dice.happens(faults.break_off_per_mille) {
        return false;
    }
    let reached = dice.below(failures.len() as u64 + 1) as usize;
    for failure in &mut failures[reached..] {
        *failure = Some(Fault::new(FaultCode::Unavailable, "the call was cut off before this"));
    }
    dice.below(2) == 0
}

/// Nothing is done in a zone that cannot be reached.
fn cut_off<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::new(FaultCode::Unavailable, format!("the zone of the {what} cannot be reached")))
}

async fn pause(wait_ms: u64) {
    tokio::time::sleep(Duration::from_millis(wait_ms)).await;
}

fn chance_of_failure(dice: &mut Dice, faults: &Faults) -> Option<Fault> {
    let fails = dice.happens(faults.fail_per_mille);
    let code = faults.fail_codes.get(dice.below(faults.fail_codes.len() as u64) as usize);
    let code = code.copied().unwrap_or(FaultCode::Internal);
    fails.then(|| Fault::new(code, "the provider says no"))
}

fn gone<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::new(FaultCode::Aborted, format!("the {what} was made and is gone")))
}
