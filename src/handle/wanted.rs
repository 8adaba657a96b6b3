//! What the agent of a machine is told.

use bailiwick_actors::{
    filesystem_attachment,
    machine::{self, Instance},
    vocab::{EffectId, Name},
    volume_attachment::Link,
};

use crate::{api::wire::agent, view::Fleet};

/// The interval of reports while an agent is about to be told more, in milliseconds.
const SOON_MS: u64 = 200;

/// What this instance of the machine should look like; none if it is not the one that runs.
pub(super) fn wanted(fleet: &Fleet, machine: &Name, effect: EffectId) -> Option<agent::Answer> {
    let state = fleet.machines.get(machine.as_str())?;
    let Instance::Running { instance, .. } = &state.instance else {
        return None;
    };
    if instance.effect != effect {
        return None;
    }
    let workload = |workload: &machine::Workload| agent::Workload {
        name: workload.name.clone(),
        command: workload.command.clone(),
        env: workload.env.clone(),
    };
    // Whoever is being drained, or was, runs nothing any more.
    let runs = state.spec.iter().filter(|_| state.drain.is_none());
    let workloads = runs.flat_map(|spec| &spec.workloads).map(workload).collect();
    let volume = |volume: &Name| {
        let attachment = fleet.attachments.get(&format!("{machine}:{volume}"))?;
        let Link::Attached { target, info, .. } = &attachment.link else {
            return None;
        };
        (target.machine_effect == effect).then(|| agent::AttachedVolume {
            name: volume.clone(),
            path: info.path.clone().into(),
            read_only: info.read_only,
        })
    };
    let volumes: Vec<_> = state.attachments.iter().filter_map(volume).collect();
    let mounted = |filesystem: &Name| {
        let attachment = fleet.filesystem_attachments.get(&format!("{machine}:{filesystem}"))?;
        let filesystem_attachment::Link::Attached { target, info, .. } = &attachment.link else {
            return None;
        };
        (target.machine_effect == effect).then(|| agent::MountedFilesystem {
            name: filesystem.clone(),
            path: info.mount_point.clone().into(),
            read_only: info.read_only,
        })
    };
    let filesystems: Vec<_> = state.mounts.iter().filter_map(mounted).collect();
    // While something is on its way, the agent asks again soon.
    let is_there = volumes.len() == state.attachments.len() && filesystems.len() == state.mounts.len();
    let is_soon = !is_there || state.is_draining();
    let interval_ms = if is_soon { SOON_MS } else { agent::default_interval_ms() };
    Some(agent::Answer { workloads, volumes, filesystems, interval_ms, stop: false })
}
