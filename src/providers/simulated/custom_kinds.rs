//! What registered kinds have made in the simulated world.

use super::{
    SimulatedProvider, WorldState,
    change::{Change, SimulatedCustom},
    gone,
};
use crate::custom_kind::CustomKind;
use bailiwick_actors::{
    contract::Stored,
    custom::Provider,
    ports::{BulkAnswer, Lookup},
    vocab::{EffectId, Fault, FaultCode},
};

impl SimulatedCustom {
    fn read<K: CustomKind>(&self) -> Result<K::Made, Fault> {
        K::Made::load(&self.made).map_err(|error| Fault::new(FaultCode::Internal, error.to_string()))
    }
}

impl<K: CustomKind> Provider<K> for SimulatedProvider {
    fn make(&self, wishes: Vec<(EffectId, K::Wish)>) -> BulkAnswer<'_, K::Made> {
        let plan = |_: &WorldState, (id, wish): &(EffectId, K::Wish)| {
            let made = K::simulated(*id, wish).store();
            let made = made.map_err(|error| Fault::new(FaultCode::Internal, error.to_string()))?;
            let thing = SimulatedCustom { provider: self.name.clone(), kind: K::KIND, made };
            Ok(Change::MakeCustom(*id, Box::new(thing)))
        };
        let outcome = |state: &mut WorldState, (id, _): &(EffectId, K::Wish)| match state.custom.get(id) {
            Some(thing) => thing.read::<K>(),
            None => gone("thing"),
        };
        Box::pin(self.change("create-custom", wishes, |(id, _)| *id, plan, outcome))
    }

    fn undo(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        let plan = |_: &WorldState, id: &EffectId| Ok(Change::UndoCustom(*id));
        Box::pin(self.change("delete-custom", ids, |id| *id, plan, |_, _| Ok(())))
    }

    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<K::Made>> {
        let find = |state: &WorldState, id: &EffectId| state.custom.get(id).and_then(|thing| thing.read::<K>().ok());
        Box::pin(self.ask("lookup-custom", ids, find))
    }

    fn cancel(&self, id: EffectId) {
        self.cancelled.cancel(id);
    }
}
