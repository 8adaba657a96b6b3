//! How the orders of a supervisor reach those whom they are for.

use std::{collections::BTreeSet, time::Duration};

use actix::{AsyncContext, Context, Handler, Message};
use bailiwick_journal::{Position, crash};
use uuid::Uuid;

use super::{Supervise, SupervisorActor};
use crate::{
    shell::{AnyCommand, Ask, AskError, Origin},
    supervisor::{
        Order, Ordered,
        order::{Issued, Orders},
    },
};

/// How long after an overload an order is sent again.
pub(super) const AGAIN: Duration = Duration::from_millis(500);
/// Orders of one supervisor that are on their way at one time: half of the 4,096 commands that the node takes at a time, so
/// that none comes back because there were too many of them, and that others have their say. As many as that, so that what
/// is ordered is under way before the reports of what was ordered first are all taken in.
const ON_THEIR_WAY_MAX: usize = 2_048;

/// When an order was issued: by which entry, and its command id. This is the order in which they are sent.
type Place = (Position, Uuid);

/// Which orders were sent.
#[derive(Debug, Default)]
pub(super) struct Sending {
    /// The last that was sent for the first time; all before it were sent, too.
    last: Option<Place>,
    /// Those that were not taken.
    again: BTreeSet<Place>,
    on_their_way: usize,
}

/// An order that is to be sent.
struct Next<O> {
    place: Place,
    issued: Issued<O>,
    /// Whether it was not sent before in this life of the node.
    is_first: bool,
}

impl Sending {
    /// The next one to be sent, if there is room.
    fn next<O: Ordered>(&mut self, orders: &Orders<O>) -> Option<Next<O>> {
        if self.on_their_way >= ON_THEIR_WAY_MAX {
            return None;
        }
        while let Some(place) = self.again.pop_first() {
            if let Some(issued) = orders.get(&place.1) {
                return Some(Next { place, issued: issued.clone(), is_first: false });
            }
        }
        let (place, issued) = orders.after(self.last)?;
        self.last = Some(place);
        Some(Next { place, issued: issued.clone(), is_first: true })
    }
}

/// An order is not on its way any more.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
struct Over {
    place: Place,
    /// Its answer, if it has one, comes with the journal.
    is_taken: bool,
}

impl<S: Supervise> SupervisorActor<S> {
    /// Sends the orders that wait for an answer and were not sent yet.
    pub(super) fn send_orders(&mut self, ctx: &mut Context<Self>) {
        while let Some(Next { place, issued, is_first }) = self.sending.next(S::orders(&self.view)) {
            let Issued { order, target: stream, by, cites } = issued;
            self.sending.on_their_way += 1;
            let principal = self.entity.stream().to_string();
            let origin = Origin { id: place.1, principal, cause: Some(by), cites, routine: false, expected: None };
            let ask = Ask { stream: stream.clone(), command: order.into(), origin };
            crash::point("before-order-sent");
            let answer = self.registry.send(ask);
            let supervisor = ctx.address().downgrade();
            // A task of its own: a future of this actor would be polled with every message to it.
            actix::spawn(async move {
                let is_taken = match answer.await {
                    // One that is out of service, or a node that stops, is not asked again before the next start.
                    Ok(Ok(_)) | Ok(Err(AskError::Quarantined { .. } | AskError::Stopping)) | Err(_) => true,
                    Ok(Err(error)) => {
                        // On a full disk that may go on for long, twice a second for each of them.
                        match is_first {
                            true => {
                                tracing::warn!(%stream, %error, "an order was refused; sending it again until it is accepted")
                            }
                            false => tracing::debug!(%stream, %error, "an order was refused again"),
                        }
                        tokio::time::sleep(AGAIN).await;
                        false
                    }
                };
                if let Some(supervisor) = supervisor.upgrade() {
                    let _ = supervisor.send(Over { place, is_taken }).await;
                }
            });
        }
    }
}

impl<S: Supervise> Handler<Over> for SupervisorActor<S> {
    type Result = ();

    fn handle(&mut self, Over { place, is_taken }: Over, ctx: &mut Self::Context) {
        self.sending.on_their_way -= 1;
        if !is_taken {
            self.sending.again.insert(place);
        }
        self.send_orders(ctx);
    }
}

impl From<Order> for AnyCommand {
    fn from(order: Order) -> Self {
        match order {
            Order::Machine { command, .. } => Self::from(command),
            Order::Volume { command, .. } => Self::from(command),
            Order::VolumeAttachment { command, .. } => Self::from(command),
            Order::ReplicaSet { command, .. } => Self::from(command),
            Order::Filesystem { command, .. } => Self::from(command),
            Order::FilesystemAttachment { command, .. } => Self::from(command),
            Order::Member { command, .. } => Self::from(command),
            Order::MachineSet { command, .. } => Self::from(command),
            Order::MachineDeployment { command, .. } => Self::from(command),
            Order::MachineClass { command, .. } => Self::from(command),
        }
    }
}
