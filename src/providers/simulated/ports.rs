//! What is asked of the provider, and what that does to its world.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::{
        Answer, AttachVolume, AttachmentInfo, BulkAnswer, CreateMachine, CreateVolume, DetachVolume, Listing, Lookup,
        MachineInstance, MachineProvider, Progress, ProvisionedVolume, StartedMachine, VolumeProvider,
    },
    vocab::{EffectId, Fault, FaultCode, Zone},
};

use super::{Change, LOOKUP_MACHINE, SimulatedInstance, SimulatedProvider, WorldState, cut_off, gone};

impl MachineProvider for SimulatedProvider {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        let plan = |state: &WorldState, create: &CreateMachine| {
            let max = state.faults.get(&self.name).and_then(|faults| faults.instances_max);
            if max.is_some_and(|max| max <= state.instances_of(&self.name)) && !state.instances.contains_key(&create.id)
            {
                return Err(Fault::new(FaultCode::ResourceExhausted, "the quota is used up"));
            }
            let wanted = create.zone.as_ref().map(|zone| zone.0.as_str());
            let is_made = state.instances.contains_key(&create.id);
            if !is_made && state.zones.has_no_place(&self.name, wanted, self.clock.now()) {
                return cut_off("machine");
            }
            Ok(Change::CreateMachine(self.name.clone(), Box::new(create.clone())))
        };
        let outcome = |state: &mut WorldState, create: &CreateMachine| match state.instances.get(&create.id) {
            Some(instance) => Ok(instance.started()),
            None => gone("instance"),
        };
        Box::pin(self.change("create-machine", machines, |create| create.id, plan, outcome))
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        let plan = |state: &WorldState, id: &EffectId| match state.is_cut_off(id, self.clock.now()) {
            true => cut_off("machine"),
            false => Ok(Change::DeleteMachine(*id)),
        };
        Box::pin(self.change("delete-machine", ids, |id| *id, plan, |_, _| Ok(())))
    }

    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        let find = |state: &WorldState, id: &EffectId| state.instances.get(id).map(SimulatedInstance::started);
        Box::pin(self.ask(LOOKUP_MACHINE, ids, find))
    }

    fn cancel(&self, id: EffectId) {
        self.cancelled.cancel(id);
    }

    fn progress(&self, id: EffectId) -> Option<Progress> {
        let state = self.world.at(self.clock.now());
        let tells = state.faults.get(&self.name).is_some_and(|faults| faults.tells_progress);
        let text = "being created".to_owned();
        (tells && state.is_in_the_air(id)).then_some(Progress { id, text, percent: None })
    }

    fn zones(&self) -> BTreeSet<Zone> {
        self.world.zones_of(&self.name)
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        Box::pin(self.list_instances())
    }
}

impl VolumeProvider for SimulatedProvider {
    fn cancel(&self, id: EffectId) {
        self.cancelled.cancel(id);
    }

    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume> {
        let plan = |state: &WorldState, create: &CreateVolume| {
            let max = state.faults.get(&self.name).and_then(|faults| faults.volumes_max);
            if max.is_some_and(|max| max <= state.volumes_of(&self.name)) && !state.volumes.contains_key(&create.id) {
                return Err(Fault::new(FaultCode::ResourceExhausted, "the quota of volumes is used up"));
            }
            Ok(Change::CreateVolume(self.name.clone(), create.clone()))
        };
        let outcome = |state: &mut WorldState, create: &CreateVolume| match state.volumes.get(&create.id) {
            Some(volume) => Ok(volume.seen.clone()),
            None => gone("volume"),
        };
        Box::pin(self.change("create-volume", volumes, |create| create.id, plan, outcome))
    }

    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        let plan = |state: &WorldState, id: &EffectId| {
            if state.attachments.values().any(|attachment| attachment.made.volume_effect == *id) {
                return Err(Fault::new(FaultCode::FailedPrecondition, "the volume is attached"));
            }
            Ok(Change::DestroyVolume(*id))
        };
        Box::pin(self.change("destroy-volume", ids, |id| *id, plan, |_, _| Ok(())))
    }

    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        let find = |state: &WorldState, id: &EffectId| state.volumes.get(id).map(|volume| volume.seen.clone());
        Box::pin(self.ask("lookup-volume", ids, find))
    }

    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo> {
        let plan = |state: &WorldState, attach: &AttachVolume| match state
            .is_cut_off(&attach.machine_effect, self.clock.now())
        {
            true => cut_off("machine"),
            false => Ok(Change::Attach(self.name.clone(), Box::new(attach.clone()))),
        };
        let outcome = |state: &mut WorldState, attach: &AttachVolume| match state.attachments.get(&attach.id) {
            Some(attachment) => Ok(attachment.info.clone()),
            // It has not happened: the world says why.
            None => state.attach(self.name.clone(), attach.clone()),
        };
        Box::pin(self.change("attach-volume", attachments, |attach| attach.id, plan, outcome))
    }

    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()> {
        let plan = |state: &WorldState, detach: &DetachVolume| match state
            .is_cut_off(&detach.machine_effect, self.clock.now())
        {
            true => cut_off("machine"),
            false => Ok(Change::Detach(detach.id)),
        };
        Box::pin(self.change("detach-volume", attachments, |detach| detach.id, plan, |_, _| Ok(())))
    }

    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>> {
        let find = |state: &WorldState, id: &EffectId| state.attachments.get(id).map(|found| found.info.clone());
        Box::pin(self.ask("lookup-attachment", ids, find))
    }
}
