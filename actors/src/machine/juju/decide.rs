//! What follows from what a client says.

use std::collections::BTreeMap;

use super::{Command, Dependents, Event, NewInstance, Provisioned, Refusal, Said, State, StatusOf, network::merged};
use crate::{
    contract::Decision,
    machine::{
        Event as Happened, Instance, Job, Reason, Rejection, attachments,
        verdict::{Facts, Verdict},
    },
    ports::{CreatedStorage, Device, InstanceStatus, MachineInstance},
    vocab::{EffectId, Life, Name},
};

/// The statuses that are told by clients.
const STARTED: [&str; 3] = ["started", "stopped", "pending"];
const ERROR: &str = "error";
/// The statuses of an instance that are the machine's as well.
const FAILED: [&str; 2] = [ERROR, "provisioning error"];

pub(in crate::machine) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    let record = state.record();
    match command {
        Command::SetPassword { salt, hash } => {
            news(record.password != Some((*salt, *hash)), Event::PasswordSet { salt: *salt, hash: *hash })
        }
        Command::SetStatus { of, said } => set_status(state, *of, said, facts),
        Command::SetInstance(new) => set_instance(state, new, &CreatedStorage::default(), facts),
        Command::SetInstanceAndStorage { instance, storage } => set_instance(state, instance, storage, facts),
        Command::EnsureDead { dependents } => ensure_dead(state, dependents, facts),
        Command::Remove => remove(state),
        Command::MarkForRemoval if state.life != Life::Dead => refuse(Refusal::NotDead),
        Command::MarkForRemoval => news(!record.marked, Event::MarkedForRemoval),
        Command::SetProfiles { .. } if !is_provisioned(state) => refuse(Refusal::NotProvisioned),
        Command::SetProfiles { profiles } => {
            news(record.profiles != *profiles, Event::ProfilesSet { profiles: profiles.clone() })
        }
        Command::SetContainerTypes { .. } if state.life == Life::Dead => refuse(Refusal::Dead),
        Command::SetContainerTypes { types } => {
            let is_known = record.container_types.as_ref() == Some(types);
            news(!is_known, Event::ContainerTypesSet { types: types.clone() })
        }
        // What sees no device at all has not looked.
        Command::ObserveDevices { devices } if devices.is_empty() => Ok(Decision::nothing(Reason::ClientToldBefore)),
        Command::ObserveDevices { devices } => told_devices(state, merged(&record.devices, devices)),
        Command::ReleaseAddresses => {
            let without = |device: &Device| Device { addresses: Vec::new(), ..device.clone() };
            told_devices(state, record.devices.iter().map(without).collect())
        }
    }
}

fn refuse(why: Refusal) -> Verdict {
    Err(Rejection::Client(why))
}

fn news(is_news: bool, event: Event) -> Verdict {
    if !is_news {
        return Ok(Decision::nothing(Reason::ClientToldBefore));
    }
    Ok(Decision::because(Reason::ClientTold, [Happened::Client(event)]))
}

fn told_devices(state: &State, devices: Vec<Device>) -> Verdict {
    news(state.record().devices != devices, Event::DevicesSet { devices })
}

fn is_provisioned(state: &State) -> bool {
    matches!(state.instance, Instance::Running { .. }) || state.record().provisioned.is_some()
}

/// What happens to an instance is told of its machine as well if it failed.
fn set_status(state: &State, of: StatusOf, said: &Said, facts: &Facts<'_>) -> Verdict {
    let own = Said { status: ERROR.into(), ..said.clone() };
    let said_too = (of == StatusOf::Instance && FAILED.contains(&said.status.as_str())).then_some(own);
    for said in (of == StatusOf::Machine).then_some(said).into_iter().chain(&said_too) {
        match said.status.as_str() {
            ERROR if said.info.is_empty() => return refuse(Refusal::ErrorWithoutInfo),
            ERROR => (),
            "down" => return refuse(Refusal::StatusReserved { status: said.status.clone() }),
            status if STARTED.contains(&status) => (),
            _ => return refuse(Refusal::StatusUnknown { status: said.status.clone() }),
        }
    }
    let all = std::iter::once((of, said.clone())).chain(said_too.map(|said| (StatusOf::Machine, said)));
    let is_news = |(of, said): &(StatusOf, Said)| state.record().status(*of).is_none_or(|known| known.said != *said);
    let event = |(of, said)| Happened::Client(Event::StatusSet { of, said, at: facts.now });
    let events: Vec<Happened> = all.filter(is_news).map(event).collect();
    if events.is_empty() {
        return Ok(Decision::nothing(Reason::ClientToldBefore));
    }
    Ok(Decision::because(Reason::ClientTold, events))
}

/// Once: what is there stays, also where the same is said again.
fn set_instance(state: &State, new: &NewInstance, storage: &CreatedStorage, facts: &Facts<'_>) -> Verdict {
    let (Some(nonce), false) = (new.nonce, new.instance.0.is_empty()) else { return refuse(Refusal::NoInstanceId) };
    if !state.is_external() {
        return refuse(Refusal::NodeProvisions);
    }
    if state.life != Life::Alive {
        return refuse(Refusal::NotAlive);
    }
    let Ok(machine) = facts.stream.name().parse::<Name>() else { return Err(Rejection::NotDeclared) };
    let mut events = Vec::new();
    let effect = match &state.instance {
        Instance::Creating(effort) => state.effect_of(facts.journal, facts.stream, effort.intent),
        // An operator let go of what it had.
        Instance::None => {
            events.push(Happened::CreateRequested { at: facts.now });
            EffectId::of(facts.journal, facts.stream, facts.next)
        }
        Instance::Running { .. } | Instance::Lost { .. } | Instance::Deleting { .. } => {
            return refuse(Refusal::AlreadyProvisioned);
        }
    };
    let zone = new.hardware.zone.clone().map(|zone| (MachineInstance::ZONE.to_owned(), zone));
    let instance = MachineInstance {
        effect,
        instance: new.instance.clone(),
        machine,
        facts: zone.into_iter().collect::<BTreeMap<_, _>>(),
        status: InstanceStatus::Running,
    };
    let provisioned = Provisioned {
        instance: new.instance.clone(),
        nonce,
        display_name: new.display_name.clone(),
        hardware: new.hardware.clone(),
    };
    events.push(Happened::Client(Event::Provisioned(Box::new(provisioned))));
    let record = state.record();
    if record.profiles != new.profiles {
        events.push(Happened::Client(Event::ProfilesSet { profiles: new.profiles.clone() }));
    }
    let devices = merged(&record.devices, &new.devices);
    if record.devices != devices {
        events.push(Happened::Client(Event::DevicesSet { devices }));
    }
    events.push(Happened::Created { instance, at: facts.now });
    events.extend(storage_told(state, storage));
    Ok(Decision::because(Reason::ClientProvisioned, events))
}

/// What came with an earlier instance did not come with this one.
fn storage_told(state: &State, storage: &CreatedStorage) -> Option<Happened> {
    let is_news = state.record().storage != *storage;
    is_news.then(|| Happened::Client(Event::StorageCreated { storage: Box::new(storage.clone()) }))
}

/// What follows for the record from an instance that its provider has created, and tells nothing beside.
pub(in crate::machine) fn came_alone(state: &State) -> Vec<Happened> {
    storage_told(state, &CreatedStorage::default()).into_iter().collect()
}

/// As [`came_alone`], of one of which this is told. What an earlier instance had for a network is gone with that.
pub(in crate::machine) fn came_with(state: &State, network: &[Device], storage: &CreatedStorage) -> Vec<Happened> {
    let devices = merged(&[], network);
    let is_news = !devices.is_empty() && state.record().devices != devices;
    let network = is_news.then_some(Happened::Client(Event::DevicesSet { devices }));
    network.into_iter().chain(storage_told(state, storage)).collect()
}

fn ensure_dead(state: &State, dependents: &Dependents, facts: &Facts<'_>) -> Verdict {
    if state.life == Life::Dead {
        return Ok(Decision::nothing(Reason::AlreadyGoing));
    }
    if !state.is_external() {
        return refuse(Refusal::NodeProvisions);
    }
    let Dependents { units, containers, storage } = dependents;
    if state.spec.as_ref().is_some_and(|spec| spec.jobs.contains(&Job::ManageModel)) {
        return refuse(Refusal::Controller { voting: !state.engaged.is_empty() });
    }
    if !units.is_empty() {
        return refuse(Refusal::HasUnits { units: units.clone() });
    }
    if !containers.is_empty() {
        return refuse(Refusal::HostsContainers { containers: containers.clone() });
    }
    if !storage.is_empty() {
        return refuse(Refusal::HasStorage { storage: storage.clone() });
    }
    if state.protected {
        return Err(Rejection::Protected);
    }
    if let Some(hold) = &state.hold {
        return Err(Rejection::Held { reason: hold.reason.clone() });
    }
    let began = (state.life == Life::Alive).then_some(Happened::RemovalBegan { at: facts.now });
    let skipped = attachments::skipped(state);
    let events = began.into_iter().chain(skipped).chain([Happened::Died]);
    let deletion = (state.instance != Instance::None).then_some(Happened::DeleteRequested { at: facts.now });
    Ok(Decision::because(Reason::ClientEnded, events.chain(deletion)))
}

fn remove(state: &State) -> Verdict {
    match state.life {
        _ if !state.is_external() => refuse(Refusal::NodeProvisions),
        Life::Alive => refuse(Refusal::StillAlive),
        Life::Dead => {
            let deleted = matches!(state.instance, Instance::Deleting { .. }).then_some(Happened::Deleted);
            Ok(Decision::because(Reason::ClientRemoved, deleted.into_iter().chain([Happened::Removed])))
        }
        _ => refuse(Refusal::NotDead),
    }
}
