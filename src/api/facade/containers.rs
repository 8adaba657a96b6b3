//! Calls of a host machine about the containers in it.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::machine::juju::CLIENT;
use serde::Serialize;
use serde_json::Value;

use super::{
    config::text,
    connection::Call,
    envelope::{Called, body},
    fault::{Fault, NOT_PROVISIONED},
    network::{Host, Subnet},
    provisioning::profile_name,
    seen::{Seen, instance_of},
    tag::Tag,
    wire::{ContainerDevice, Entities, HostChange, Item, Results},
};
use crate::juju::{LxdProfile, MachineId};

/// The host, which is the caller; `what` is what is prepared.
fn host(call: &Call<'_>, what: &str) -> Result<MachineId, Fault> {
    let identity = call.connection.identity.borrow().clone();
    let Some(host) = call.rights.own.clone() else {
        let tag = identity.map(|identity| identity.principal()).unwrap_or_default();
        return Err(Fault::no_machine_tag(tag.trim_start_matches(CLIENT)));
    };
    let is_there = call.look(|seen| seen.machine(&host).map(|state| instance_of(state).is_some()))??;
    if !is_there {
        let message = format!("cannot prepare container {what}: host machine \"{host}\" not provisioned");
        return Err(Fault::new(NOT_PROVISIONED, message));
    }
    Ok(host)
}

/// The container that a tag names.
fn container(call: &Call<'_>, host: &MachineId, tag: &str) -> Result<MachineId, Fault> {
    let id = Tag::machine(tag).ok_or_else(|| Fault::no_machine_tag(tag))?;
    if !call.rights.sees(&id) {
        return Err(Fault::denied());
    }
    if id.parent().as_ref() != Some(host) {
        let tag = id.tag();
        return Err(Fault::plain(format!("cannot prepare network config for \"{tag}\": not a container")));
    }
    Ok(id)
}

/// What is known of a host, with what the rules about it need.
fn with_host<T>(call: &Call<'_>, host: &MachineId, then: impl FnOnce(&Seen<'_>, &Host<'_>) -> T) -> Result<T, Fault> {
    call.look(|seen| {
        let config = seen.config();
        let state = seen.machine(host)?;
        let subnet = |it: super::seen::Subnet<'_>| {
            let vlan = seen.model.vlans.get(it.cidr).copied().unwrap_or_default();
            let (space, provider_id) = (it.space.to_owned(), it.provider_id.to_owned());
            (it.cidr.to_owned(), Subnet { space, provider_id, vlan })
        };
        let known = Host {
            id: host,
            devices: &state.record().devices,
            subnets: seen.subnets().map(subnet).collect::<BTreeMap<_, _>>(),
            method: text(&config, "container-networking-method"),
            bond_delay: config.get("net-bond-reconfigure-delay").and_then(Value::as_u64).unwrap_or_default(),
            gives_addresses: seen.model.container_addresses && !seen.said(host).manual,
        };
        Ok(then(seen, &known))
    })?
}

/// The spaces that a container says it has to reach, as far as they exist.
fn wanted(seen: &Seen<'_>, container: &MachineId) -> Result<BTreeSet<String>, Fault> {
    let constraints = seen.constraints(container, seen.machine(container)?);
    let positive = constraints.spaces.into_iter().filter(|space| !space.starts_with('^'));
    Ok(positive.filter(|space| seen.has_space(space)).collect())
}

/// What a host is to change.
pub(super) fn host_changes(call: &Call<'_>) -> Called {
    let host = host(call, "network config")?;
    let Entities { entities } = call.request.params()?;
    let one = |tag: &str| -> Result<HostChange, Fault> {
        let container = container(call, &host, tag)?;
        with_host(call, &host, |seen, host| {
            let spaces = host.spaces_for(&container, wanted(seen, &container)?)?;
            host.changes(&spaces)
        })?
    };
    let results = entities.iter().map(|entity| Item::from(one(&entity.tag))).collect();
    body(&Results { results })
}

#[derive(Debug, Default, Serialize)]
struct Interfaces {
    info: Vec<ContainerDevice>,
}

/// The devices that a container gets. `new_only`: one that has an instance already is refused.
pub(super) fn interfaces(call: &Call<'_>, new_only: bool) -> Called {
    let host = host(call, "network config")?;
    let Entities { entities } = call.request.params()?;
    let one = |tag: &str| -> Result<Interfaces, Fault> {
        let container = container(call, &host, tag)?;
        let devices = with_host(call, &host, |seen, host| {
            let state = seen.machine(&container)?;
            if let Some(instance) = instance_of(state).filter(|_| new_only) {
                let message = format!("container \"{container}\" already provisioned as \"{instance}\"");
                return Err(Fault::plain(message));
            }
            let spaces = host.spaces_for(&container, wanted(seen, &container)?)?;
            host.devices_for(&container, &spaces, random_mac)
        })??;
        Ok(Interfaces { info: devices })
    };
    let results = entities.iter().map(|entity| Item::from(one(&entity.tag))).collect();
    body(&Results { results })
}

/// An address of the range that virtual machines use: `00:16:3e`, and the rest by chance.
fn random_mac() -> String {
    let [a, b, c, ..] = *uuid::Uuid::new_v4().as_bytes();
    format!("00:16:3e:{a:02x}:{b:02x}:{c:02x}")
}

#[derive(Debug, Serialize)]
struct Profile {
    profile: LxdProfile,
    name: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Profiles {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lxd_profiles: Vec<Profile>,
}

/// The profiles of the units in a container.
pub(super) fn profiles(call: &Call<'_>) -> Called {
    let host = host(call, "LXD profile")?;
    let Entities { entities } = call.request.params()?;
    let one = |tag: &str| -> Result<Profiles, Fault> {
        let container = container(call, &host, tag)?;
        call.look(|seen| {
            seen.machine(&container)?;
            let has = |application: &super::seen::Application| {
                let mut units = application.said.units.values().flatten();
                application.said.lxd_profile != LxdProfile::default() && units.any(|at| at == container.as_str())
            };
            let applications = seen.applications().into_iter().filter(has);
            let profile =
                |it: super::seen::Application| Profile { name: profile_name(seen, &it), profile: it.said.lxd_profile };
            Ok(Profiles { lxd_profiles: applications.map(profile).collect() })
        })?
    };
    let results = entities.iter().map(|entity| Item::from(one(&entity.tag))).collect();
    body(&Results { results })
}
