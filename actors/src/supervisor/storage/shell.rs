//! What agents say about devices, on its way to the storage supervisor.

use actix::{Context, Handler, Message};

use super::{Command, Sighted, State, changes};
use crate::{
    supervisor::shell::SupervisorActor,
    vocab::{EffectId, Name},
};

/// The agent of this instance of a machine sees these block devices, and no others.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct DevicesSeen {
    pub machine: Name,
    pub instance: EffectId,
    pub devices: Vec<Sighted>,
}

impl Handler<DevicesSeen> for SupervisorActor<State> {
    type Result = ();

    fn handle(&mut self, seen: DevicesSeen, ctx: &mut Context<Self>) {
        let changes = changes(&self.view, &seen.machine, seen.instance, &seen.devices);
        if !changes.is_empty() {
            self.decide_later(Command::Observe { changes }, ctx);
        }
    }
}
