//! What an instance is started with. Pure rules over what is seen. Source: Juju's provisioning information.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::machine;

use super::{
    config::{text, user_data},
    fault::{Fault, NOT_FOUND},
    seen::{ALPHA, Application, Seen, Subnet, is_controller, units_on},
    volumes::{self, ByMachine, Wanted},
    wire::{BaseOf, ProvisioningInfo, Topology, VolumeParams},
};
use crate::juju::{LxdProfile, MachineId};

/// What a machine's instance is started with, as this version of the facade tells it.
///
/// # Errors
/// If one of its spaces is no place for it.
pub(super) fn information(
    seen: &Seen<'_>,
    (applications, storage): (&[Application], &ByMachine),
    (id, state): (&MachineId, &machine::State),
    version: u64,
) -> Result<ProvisioningInfo, Fault> {
    let config = seen.config();
    let said = seen.said(id);
    let constraints = seen.constraints(id, state);
    let here = |application: &&Application| {
        application.said.units.values().flatten().any(|at| at == id.as_str()) && !application.said.subordinate
    };
    let on_it: Vec<&Application> = applications.iter().filter(here).collect();
    let mut bindings: BTreeMap<String, String> = BTreeMap::new();
    let mut bound: BTreeSet<String> = BTreeSet::new();
    for application in &on_it {
        for (endpoint, space) in &application.said.bindings {
            if constraints.spaces.iter().any(|wish| wish.strip_prefix('^') == Some(space)) {
                return Err(Fault::plain(format!(
                    "negative space constraint {space:?} conflicts with {} endpoint binding for {endpoint:?}",
                    application.name
                )));
            }
            bound.insert(space.clone());
            bindings.insert(endpoint.clone(), seen.provider_space(space).unwrap_or_else(|| space.clone()));
        }
    }
    let is_wanted = |space: &&String| !space.starts_with('^');
    let topology = if version < 10 {
        let first = constraints.spaces.iter().find(is_wanted);
        let subnets = first.map(|space| subnets_of(seen, &config, space)).transpose()?;
        Topology::Subnets { subnets_to_zones: subnets }
    } else {
        let wished: BTreeSet<String> = constraints.spaces.iter().filter(is_wanted).cloned().collect();
        topology(seen, &config, &wished, bound)?
    };
    let base = state.spec.as_ref().and_then(|spec| spec.base.as_ref());
    let version_of = base.map(|base| base.channel.split('/').next().unwrap_or_default()).unwrap_or_default();
    let images = seen.images(version_of, constraints.arch.as_deref(), text(&config, "image-stream"));
    let pool = constraints.root_disk_source.as_ref().and_then(|name| seen.pool(name));
    let root_disk = pool.map(|(provider, attributes)| VolumeParams { provider, attributes, ..VolumeParams::default() });
    let Wanted { volumes, attachments: volume_attachments } = volumes::wanted(seen, storage, id, state);
    let placement = state.spec.as_ref().and_then(|spec| spec.placement.as_ref()).map(ToString::to_string);
    let profile =
        |application: &&Application| seen.model.lxd_profiler && application.said.lxd_profile != LxdProfile::default();
    Ok(ProvisioningInfo {
        base: base.map(|base| BaseOf { name: base.os.clone(), channel: base.channel.clone() }).unwrap_or_default(),
        placement: if said.placement.is_empty() { placement.unwrap_or_default() } else { said.placement },
        jobs: jobs(state),
        root_disk,
        volumes,
        volume_attachments,
        tags: tags(seen, applications, id, state),
        image_metadata: images,
        endpoint_bindings: bindings,
        controller_config: seen.controller_config(),
        cloudinit_userdata: user_data(&config),
        charm_lxd_profiles: on_it.iter().copied().filter(profile).map(|it| profile_name(seen, it)).collect(),
        topology,
        constraints,
    })
}

/// What a profile of an application is called: `juju-default-mysql-3`.
pub(super) fn profile_name(seen: &Seen<'_>, application: &Application) -> String {
    format!("juju-{}-{}-{}", seen.model_name(), application.name, application.said.charm_revision)
}

fn jobs(state: &machine::State) -> Vec<&'static str> {
    if is_controller(state) { vec!["JobHostUnits", "JobManageModel"] } else { vec!["JobHostUnits"] }
}

fn tags(
    seen: &Seen<'_>,
    applications: &[Application],
    id: &MachineId,
    state: &machine::State,
) -> BTreeMap<String, String> {
    let units = units_on(applications, id);
    let mut tags = seen.resource_tags();
    tags.insert("juju-machine-id".to_owned(), format!("{}-{}", seen.model_name(), id.tag()));
    if is_controller(state) {
        tags.insert("juju-is-controller".to_owned(), "true".to_owned());
    }
    if !units.is_empty() {
        tags.insert("juju-units-deployed".to_owned(), units.join(" "));
    }
    tags.extend(state.spec.iter().flat_map(|spec| spec.tags.clone()));
    tags
}

type Config = serde_json::Map<String, serde_json::Value>;

/// The zones of each subnet of a space, by the provider's name for the subnet.
fn subnets_of(seen: &Seen<'_>, config: &Config, space: &str) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    if !seen.has_space(space) {
        let message = format!("matching subnets to zones: space with name {space:?} not found");
        return Err(Fault::new(NOT_FOUND, message));
    }
    let subnets: Vec<_> = seen.subnets().filter(|subnet| subnet.space == space).collect();
    if subnets.is_empty() {
        return Err(Fault::plain(format!(
            "matching subnets to zones: cannot use space {space:?} as deployment target: no subnets"
        )));
    }
    // These two have subnets in all zones.
    let needs_zones = !matches!(text(config, "type"), "azure" | "openstack");
    let has_zones = |it: &Subnet<'_>| !needs_zones || !it.zones.is_empty();
    let usable = subnets.into_iter().filter(|it| !it.provider_id.is_empty() && has_zones(it));
    Ok(usable.map(|subnet| (subnet.provider_id.to_owned(), subnet.zones)).collect())
}

/// The subnets of all spaces that it has to reach; nothing if that is only the space that there always is.
fn topology(
    seen: &Seen<'_>,
    config: &Config,
    wished: &BTreeSet<String>,
    bound: BTreeSet<String>,
) -> Result<Topology, Fault> {
    let alpha = BTreeSet::from([ALPHA.to_owned()]);
    let spaces: BTreeSet<String> = wished.iter().cloned().chain(bound).collect();
    if spaces.is_empty() || (spaces == alpha && *wished != alpha) {
        return Ok(Topology::default());
    }
    let (mut subnet_zones, mut space_subnets) = (BTreeMap::new(), BTreeMap::new());
    for space in spaces {
        let subnets = subnets_of(seen, config, &space)?;
        space_subnets.insert(space, subnets.keys().cloned().collect());
        subnet_zones.extend(subnets);
    }
    Ok(Topology::Spaces { subnet_zones: Some(subnet_zones), space_subnets: Some(space_subnets) })
}
