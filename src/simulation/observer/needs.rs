//! What entities wait for: one another.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::{Life, Name};
use bailiwick_journal::StreamId;

use super::Observer;

impl Observer {
    /// Which of `others` an entity waits for, at the end of the shortest chain of what it cannot do without; itself, if it is
    /// one of them.
    pub fn waits_for(&self, stream: &StreamId, others: &BTreeSet<StreamId>) -> Option<StreamId> {
        let mut known = BTreeSet::from([stream.clone()]);
        let mut next = vec![stream.clone()];
        while !next.is_empty() {
            if let Some(found) = next.iter().find(|stream| others.contains(*stream)) {
                return Some(found.clone());
            }
            next = next.iter().flat_map(|stream| self.needs(stream)).filter(|it| known.insert(it.clone())).collect();
        }
        None
    }

    /// What an entity cannot do without: what it is made of, and where; if it is on its way out, what has to leave it first.
    fn needs(&self, of: &StreamId) -> Vec<StreamId> {
        let name = of.name();
        match of.kind() {
            "machine" => self.needs_of_machine(name),
            "volume" => self.needs_of_volume(name),
            "volume-attachment" => pair(name)
                .map_or(Vec::new(), |(machine, volume)| vec![stream("machine", machine), stream("volume", volume)]),
            "filesystem" => self.needs_of_filesystem(name),
            "filesystem-attachment" => pair(name).map_or(Vec::new(), |(machine, filesystem)| {
                let mut needs = vec![stream("machine", machine), stream("filesystem", filesystem)];
                needs.extend(self.volume_beneath(filesystem).map(|volume| attached(machine, volume.as_str())));
                needs
            }),
            "machine-set" => {
                let of_set = |set: Option<&Name>| set.is_some_and(|set| set.as_str() == name);
                let of_set = |state: &bailiwick_actors::machine::State| {
                    of_set(state.spec.as_ref().and_then(|spec| spec.set.as_ref()))
                };
                let machines = self.fleet.machines.iter().filter(|(_, folded)| of_set(&folded.state));
                machines.map(|(machine, _)| stream("machine", machine)).collect()
            }
            "machine-deployment" => {
                let sets = self.fleet.machine_deployments.get(name).map(|state| state.sets.keys());
                sets.into_iter().flatten().map(|set| stream("machine-set", set.as_str())).collect()
            }
            "replica-set" => {
                let spec = self.fleet.replica_sets.get(name).and_then(|state| state.spec.as_ref());
                let seats = spec.into_iter().flat_map(|spec| &spec.seats);
                seats.map(|seat| stream("machine", seat.machine.as_str())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn needs_of_machine(&self, name: &str) -> Vec<StreamId> {
        let Some(state) = self.fleet.machines.get(name) else { return Vec::new() };
        if state.life == Life::Alive {
            let host = state.spec.iter().filter_map(|spec| spec.parent.as_ref());
            return host.map(|host| stream("machine", host.as_str())).collect();
        }
        let mut needs: Vec<StreamId> = state.attachments.iter().map(|volume| attached(name, volume.as_str())).collect();
        needs.extend(state.mounts.iter().map(|filesystem| mounted(name, filesystem.as_str())));
        needs.extend(state.containers.iter().map(|inner| stream("machine", inner.as_str())));
        needs.extend(state.engaged.iter().map(|set| stream("replica-set", set.as_str())));
        needs
    }

    fn needs_of_volume(&self, name: &str) -> Vec<StreamId> {
        let Some(state) = self.fleet.volumes.get(name) else { return Vec::new() };
        if state.life == Life::Alive {
            return state.own.wanted_on.iter().map(|machine| stream("machine", machine.as_str())).collect();
        }
        let attachment = state.attached_to.iter().map(|machine| attached(machine.as_str(), name));
        attachment
            .chain(state.own.filesystem.iter().map(|filesystem| stream("filesystem", filesystem.as_str())))
            .collect()
    }

    fn needs_of_filesystem(&self, name: &str) -> Vec<StreamId> {
        let Some(state) = self.fleet.filesystems.get(name) else { return Vec::new() };
        if state.life != Life::Alive {
            let ending = format!(":{name}");
            let mounts = self.fleet.filesystem_attachments.iter().filter(|(mount, _)| mount.ends_with(&ending));
            return mounts.map(|(mount, _)| stream("filesystem-attachment", mount)).collect();
        }
        let bound_to = state.spec.iter().filter_map(|spec| spec.machine.as_ref());
        let mut needs: Vec<StreamId> = bound_to.map(|machine| stream("machine", machine.as_str())).collect();
        if let Some(volume) = self.volume_beneath(name) {
            needs.push(stream("volume", volume.as_str()));
            let at = self.fleet.volumes.get(volume.as_str()).and_then(|state| state.attached_to.first());
            needs.extend(at.map(|machine| attached(machine.as_str(), volume.as_str())));
        }
        needs
    }

    fn volume_beneath(&self, filesystem: &str) -> Option<&Name> {
        self.fleet.filesystems.get(filesystem)?.spec.as_ref()?.backing.as_ref()
    }
}

fn pair(name: &str) -> Option<(&str, &str)> {
    name.split_once(':')
}

fn attached(machine: &str, volume: &str) -> StreamId {
    stream("volume-attachment", &format!("{machine}:{volume}"))
}

fn mounted(machine: &str, filesystem: &str) -> StreamId {
    stream("filesystem-attachment", &format!("{machine}:{filesystem}"))
}

fn stream(kind: &str, name: &str) -> StreamId {
    StreamId::new(kind, name).expect("the name of a stream")
}
