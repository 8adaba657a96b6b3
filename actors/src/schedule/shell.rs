//! The actor that owns every due time: one heap, one armed timer.
//!
//! It has no stream. Its heap is what the entities' states say they wait for; firing is a command to the entity, and the
//! entry of that command is the record.

use std::{rc::Rc, time::Duration};

use actix::{Actor, AsyncContext, Context, Handler, Message, SpawnHandle, WrapFuture};
use bailiwick_journal::StreamId;

use super::Timetable;
use crate::{
    shell::{Ask, AskError, Origin, Registry, Services, kind},
    vocab::{Timestamp, derived_uuid},
};

/// Wake-ups that are on their way at one time; the next go when these are answered.
const WAKES_MAX: usize = 64;
/// The longest single wait of the timer: after it the clock is read again.
const ARM_MS_MAX: u64 = 60 * 60 * 1000;
/// How long after an overload a wake-up is tried again.
const AGAIN_MS: u64 = 1_000;

/// This entity waits until `due`, or for nothing any more.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct ScheduledWake {
    pub stream: StreamId,
    pub due: Option<Timestamp>,
}

/// What is due next, soonest first, at most `limit`.
#[cfg(feature = "testing")]
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Vec<(Timestamp, StreamId)>")]
pub struct Upcoming {
    pub limit: usize,
}

/// From now on due times are acted on.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct StartSchedule {
    pub registry: actix::WeakAddr<Registry>,
    pub waiting: Vec<(StreamId, Timestamp)>,
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Tick;

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Woken {
    /// Those that could not be woken now.
    again: Vec<StreamId>,
}

/// Owns every due time.
#[derive(Debug)]
pub struct ScheduleActor {
    services: Rc<Services>,
    registry: Option<actix::WeakAddr<Registry>>,
    timetable: Timetable<StreamId, Timestamp>,
    armed: Option<(Timestamp, SpawnHandle)>,
    waking: bool,
}

impl ScheduleActor {
    /// A schedule with nothing in it, that acts on nothing before it is started.
    pub fn new(services: Rc<Services>) -> Self {
        Self { services, registry: None, timetable: Timetable::default(), armed: None, waking: false }
    }

    fn arm(&mut self, ctx: &mut Context<Self>) {
        let next = self.timetable.next_due().filter(|_| self.registry.is_some() && !self.waking);
        if self.armed.as_ref().map(|(due, _)| *due) == next {
            return;
        }
        if let Some((_, timer)) = self.armed.take() {
            ctx.cancel_future(timer);
        }
        if let Some(due) = next {
            let wait_ms = due.since(self.services.now()).min(ARM_MS_MAX);
            let address = ctx.address().downgrade();
            let timer = async move {
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                if let Some(schedule) = address.upgrade() {
                    let _ = schedule.send(Tick).await;
                }
            };
            let handle = ctx.spawn(timer.into_actor(self));
            self.armed = Some((due, handle));
        }
    }
}

impl Actor for ScheduleActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        // No bound here (0): entities send one due time per recorded step, and one that was turned away would be lost.
        ctx.set_mailbox_capacity(0);
    }
}

impl Handler<StartSchedule> for ScheduleActor {
    type Result = ();

    fn handle(&mut self, start: StartSchedule, ctx: &mut Self::Context) {
        self.registry = Some(start.registry);
        for (stream, due) in start.waiting {
            self.timetable.add(stream, due, due);
        }
        self.arm(ctx);
    }
}

impl Handler<ScheduledWake> for ScheduleActor {
    type Result = ();

    fn handle(&mut self, wake: ScheduledWake, ctx: &mut Self::Context) {
        if self.timetable.due(&wake.stream) == wake.due {
            return;
        }
        self.timetable.remove(&wake.stream);
        if let Some(due) = wake.due {
            self.timetable.add(wake.stream, due, due);
        }
        self.arm(ctx);
    }
}

impl Handler<Tick> for ScheduleActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Self::Context) {
        self.armed = None;
        let Some(registry) = self.registry.as_ref().and_then(actix::WeakAddr::upgrade) else {
            return;
        };
        let now = self.services.now();
        let ready = self.timetable.ready(now);
        if !ready.is_empty() {
            self.waking = true;
            let address = ctx.address().downgrade();
            let wake = async move {
                let again = wake_all(&registry, ready, now).await;
                if let Some(schedule) = address.upgrade() {
                    let _ = schedule.send(Woken { again }).await;
                }
            };
            ctx.spawn(wake.into_actor(self));
        }
        self.arm(ctx);
    }
}

impl Handler<Woken> for ScheduleActor {
    type Result = ();

    fn handle(&mut self, woken: Woken, ctx: &mut Self::Context) {
        self.waking = false;
        let later = self.services.now().after(AGAIN_MS);
        for stream in woken.again {
            self.timetable.add(stream, later, later);
        }
        self.arm(ctx);
    }
}

#[cfg(feature = "testing")]
impl Handler<Upcoming> for ScheduleActor {
    type Result = Vec<(Timestamp, StreamId)>;

    fn handle(&mut self, upcoming: Upcoming, _ctx: &mut Self::Context) -> Self::Result {
        self.timetable.iter().take(upcoming.limit).map(|(due, stream, _)| (due, stream.clone())).collect()
    }
}

/// Wakes entities, a bounded number at a time; the answer is those that could not be woken now.
async fn wake_all(
    registry: &actix::Addr<Registry>,
    ready: Vec<(StreamId, Timestamp)>,
    now: Timestamp,
) -> Vec<StreamId> {
    let mut again = Vec::new();
    for group in ready.chunks(WAKES_MAX) {
        let mut asks = Vec::new();
        for (stream, due) in group {
            let Some(command) = kind(stream.kind()).and_then(|kind| (kind.wake)(*due)) else {
                continue;
            };
            let id = derived_uuid(&format!("wake {stream} {} {}", due.0, now.0));
            let origin = Origin {
                id,
                principal: "schedule".into(),
                cause: None,
                cites: Vec::new(),
                routine: true,
                expected: None,
            };
            asks.push((stream, registry.send(Ask { stream: stream.clone(), command, origin })));
        }
        for (stream, ask) in asks {
            match ask.await {
                Ok(Ok(_)) | Ok(Err(AskError::Quarantined { .. } | AskError::Stopping)) | Err(_) => (),
                // What keeps all of them waiting is told as the node's own trouble, not once a second and entity.
                Ok(Err(error @ (AskError::NotRecorded(_) | AskError::Overloaded))) => {
                    tracing::debug!(%stream, %error, "a wake-up waits");
                    again.push(stream.clone());
                }
                Ok(Err(error)) => {
                    tracing::warn!(%stream, %error, "a wake-up was refused; sending it again");
                    again.push(stream.clone());
                }
            }
        }
    }
    again
}
