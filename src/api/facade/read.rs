//! Calls that change nothing.

use std::collections::BTreeSet;

use bailiwick_actors::machine::{self, juju::StatusOf as Of};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    config,
    connection::Call,
    envelope::{Called, body},
    fault::{Fault, NOT_FOUND},
    provisioning,
    seen::{self, Application, Seen, instance_of, is_controller, sharing},
    tag::Tag,
    volumes::ByMachine,
    wire::{
        ConstraintsOf, ContainersOf, Entities, FindToolsParams, Item, LifeOf, ManagerConfigParams, Maybe, One, Results,
        StatusOf, Tools,
    },
};
use crate::juju::{HostPort, MachineId};

/// So many machines are looked at while nobody else can look.
const AT_ONCE: usize = 128;

/// Looks at each machine that is named and may be seen.
async fn each<T: Default + Serialize>(
    call: &Call<'_>,
    look: impl Fn(&Seen<'_>, &MachineId, &machine::State) -> Result<T, Fault>,
) -> Called {
    let Entities { entities } = call.request.params()?;
    let mut results: Vec<Item<T>> = Vec::with_capacity(entities.len());
    for some in entities.chunks(AT_ONCE) {
        let looked = call.look(|seen| {
            let one = |tag: &str| {
                let id = call.rights.seen(tag)?;
                look(seen, &id, seen.machine(&id)?)
            };
            some.iter().map(|entity| Item::from(one(&entity.tag))).collect::<Vec<_>>()
        })?;
        results.extend(looked);
        // Others are answered meanwhile.
        tokio::task::yield_now().await;
    }
    body(&Results { results })
}

pub(super) async fn life(call: &Call<'_>) -> Called {
    each(call, |_, _, state| Ok(LifeOf { life: seen::life(state.life) })).await
}

pub(super) async fn status(call: &Call<'_>, of_instance: bool) -> Called {
    let of = if of_instance { Of::Instance } else { Of::Machine };
    let look =
        |seen: &Seen<'_>, id: &MachineId, state: &machine::State| Ok(seen::status(state, of, seen.declared_at(id)));
    if of_instance {
        return each(call, look).await;
    }
    // This one tells what is no tag from what may not be seen.
    let Entities { entities } = call.request.params()?;
    let results = call.look(|seen| {
        let one = |tag: &str| {
            Tag::parse(tag).ok_or_else(|| Fault::no_tag(tag))?;
            let id = call.rights.seen(tag)?;
            look(seen, &id, seen.machine(&id)?)
        };
        entities.iter().map(|entity| Item::from(one(&entity.tag))).collect()
    })?;
    body(&Results { results })
}

pub(super) async fn availability_zone(call: &Call<'_>) -> Called {
    each(call, |_, id, state| {
        let none = || Fault::new(NOT_FOUND, format!("instance data for machine {id} not found"));
        Ok(One { result: seen::zone_of(state).ok_or_else(none)? })
    })
    .await
}

pub(super) async fn instance_id(call: &Call<'_>) -> Called {
    each(call, |_, id, state| {
        let result = instance_of(state).ok_or_else(|| Fault::not_provisioned(id))?.to_owned();
        Ok(One { result })
    })
    .await
}

pub(super) async fn keep_instance(call: &Call<'_>) -> Called {
    each(call, |seen, id, state| Ok(One { result: state.keeps_instance || seen.said(id).keep_instance })).await
}

pub(super) async fn constraints(call: &Call<'_>) -> Called {
    each(call, |seen, id, state| Ok(ConstraintsOf { constraints: seen.constraints(id, state) })).await
}

pub(super) async fn supported_containers(call: &Call<'_>) -> Called {
    each(call, |_, _, state| {
        let types = &state.record().container_types;
        Ok(ContainersOf { container_types: types.clone(), determined: types.is_some() })
    })
    .await
}

pub(super) async fn distribution_group(call: &Call<'_>) -> Called {
    let applications = call.look(|seen| seen.applications())?;
    each(call, |seen, id, state| {
        let group = group(seen, &applications, id, state);
        let instances = group.iter().filter_map(|id| seen.machine(id).ok().and_then(instance_of));
        let result: BTreeSet<String> = instances.map(str::to_owned).collect();
        Ok(One { result: result.into_iter().collect::<Vec<_>>() })
    })
    .await
}

pub(super) async fn distribution_group_by_machine(call: &Call<'_>) -> Called {
    let applications = call.look(|seen| seen.applications())?;
    each(call, |seen, id, state| {
        let others = group(seen, &applications, id, state).into_iter().filter(|other| other != id);
        let mut result: Vec<String> = others.map(|other| other.to_string()).collect();
        result.sort();
        Ok(Maybe { result: Some(result).filter(|result| !result.is_empty()) })
    })
    .await
}

/// The machines that are kept apart from one another, this one included.
fn group(seen: &Seen<'_>, applications: &[Application], id: &MachineId, state: &machine::State) -> Vec<MachineId> {
    if is_controller(state) {
        return seen.machines().filter(|(_, state)| is_controller(state)).map(|(id, _)| id).collect();
    }
    let sharing = sharing(applications, id);
    sharing.iter().filter_map(|id| MachineId::parse(id)).collect()
}

pub(super) fn transient_errors(call: &Call<'_>) -> Called {
    let results: Vec<Item<StatusOf>> = call.look(|seen| {
        let fits = |(id, state): &(MachineId, &machine::State)| call.rights.sees(id) && instance_of(state).is_none();
        let failed = seen.machines().filter(fits).filter_map(|(id, state)| {
            let status = seen::status(state, Of::Instance, None);
            let is_failed = matches!(status.status.as_str(), "error" | "provisioning error");
            let is_transient = status.data.get("transient") == Some(&Value::Bool(true));
            let (told, life) = (StatusOf { since: None, ..status }, seen::life(state.life));
            (is_failed && is_transient).then(|| Item::from(Ok(StatusOf { id: id.to_string(), life, ..told })))
        });
        failed.collect()
    })?;
    body(&Results { results })
}

pub(super) async fn provisioning_info(call: &Call<'_>) -> Called {
    let version = call.request.version;
    let (applications, storage) = call.look(|seen| (seen.applications(), ByMachine::of(seen)))?;
    each(call, |seen, id, state| {
        let result = provisioning::information(seen, (&applications, &storage), (id, state), version)?;
        Ok(One { result: Some(result) })
    })
    .await
}

pub(super) fn find_tools(call: &Call<'_>) -> Called {
    let wanted: FindToolsParams = call.request.params()?;
    #[derive(Serialize)]
    struct Found {
        list: Vec<Tools>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Fault>,
    }
    let list = call.look(|seen| config::tools(seen, &wanted))?;
    let error = list.is_empty().then(|| Fault::new(NOT_FOUND, "no matching agent binaries available"));
    body(&Found { list, error })
}

#[derive(Debug, Default, Serialize)]
struct ToolsOf {
    tools: Vec<Tools>,
}

/// The programs of agents for the caller's own machine; for any other one, the call is refused.
pub(super) fn tools(call: &Call<'_>) -> Called {
    let Entities { entities } = call.request.params()?;
    let results: Vec<Item<ToolsOf>> = call.look(|seen| {
        let one = |tag: &str| {
            let id = Tag::machine(tag).filter(|id| call.rights.own.as_ref() == Some(id)).ok_or_else(Fault::denied)?;
            let state = seen.machine(&id).map_err(|_| Fault::denied())?;
            let arch = state.record().provisioned.as_ref().and_then(|of| of.hardware.arch.clone());
            let arch = arch.or_else(|| seen.constraints(&id, state).arch).unwrap_or_default();
            let wanted = FindToolsParams { number: seen.agent_version(), arch, ..FindToolsParams::default() };
            let tools = config::tools(seen, &wanted);
            let none = || Fault::new(NOT_FOUND, "no matching agent binaries available");
            Ok(Item::from(if tools.is_empty() { Err(none()) } else { Ok(ToolsOf { tools }) }))
        };
        entities.iter().map(|entity| one(&entity.tag)).collect::<Result<Vec<_>, Fault>>()
    })??;
    body(&Results { results })
}

pub(super) fn container_config(call: &Call<'_>) -> Called {
    body(&call.look(config::container)?)
}

#[derive(Serialize)]
struct Config {
    config: Map<String, Value>,
}

pub(super) fn container_manager_config(call: &Call<'_>) -> Called {
    let ManagerConfigParams { container_type } = call.request.params()?;
    body(&Config { config: call.look(|seen| config::manager(seen, &container_type))? })
}

pub(super) fn model_config(call: &Call<'_>) -> Called {
    body(&Config { config: call.look(|seen| seen.config())? })
}

pub(super) fn controller_config(call: &Call<'_>) -> Called {
    body(&Config { config: call.look(|seen| seen.controller_config())? })
}

pub(super) fn model_uuid(call: &Call<'_>) -> Called {
    body(&One { result: call.look(|seen| seen.model_uuid().to_string())? })
}

/// What clients check this server against.
fn certificate(call: &Call<'_>) -> Result<String, Fault> {
    let said = call.look(|seen| seen.model.controller.ca_certificate.clone())?;
    Ok(said.unwrap_or_else(|| call.connection.shared.facade.ca_pem.to_string()))
}

pub(super) fn ca_cert(call: &Call<'_>) -> Called {
    body(&One { result: STANDARD.encode(certificate(call)?) })
}

pub(super) fn api_host_ports(call: &Call<'_>) -> Called {
    #[derive(Serialize)]
    struct Servers {
        servers: Vec<Vec<HostPort>>,
    }
    let facade = &call.connection.shared.facade;
    body(&Servers { servers: call.look(|seen| facade.host_ports(seen))? })
}

/// Where the servers are reached: those close by first.
fn addresses(call: &Call<'_>) -> Result<Vec<String>, Fault> {
    let facade = &call.connection.shared.facade;
    let servers = call.look(|seen| facade.host_ports(seen))?;
    let text = |at: &HostPort| match at.value.contains(':') {
        true => format!("[{}]:{}", at.value, at.port),
        false => format!("{}:{}", at.value, at.port),
    };
    let of_server = |mut server: Vec<HostPort>| {
        server.sort_by_key(|at| at.scope != "local-cloud");
        server.iter().map(text).collect::<Vec<_>>()
    };
    Ok(servers.into_iter().flat_map(of_server).collect())
}

pub(super) fn api_addresses(call: &Call<'_>) -> Called {
    body(&One { result: addresses(call)? })
}

#[derive(Debug, Default, Serialize)]
struct ApiInfo {
    addresses: Vec<String>,
    cacert: String,
}

pub(super) fn api_info_for_models(call: &Call<'_>) -> Called {
    let Entities { entities } = call.request.params()?;
    let uuid = call.look(|seen| seen.model_uuid())?.to_string();
    let one = |tag: &str| match Tag::parse(tag) {
        Some(Tag::Model(model)) if model == uuid => {
            Ok(ApiInfo { addresses: addresses(call)?, cacert: certificate(call)? })
        }
        Some(Tag::Model(model)) => Err(Fault::new(NOT_FOUND, format!("model {model:?} not found"))),
        _ => Err(Fault::plain(format!("{tag:?} is not a valid model tag"))),
    };
    let results = entities.iter().map(|entity| Item::from(one(&entity.tag))).collect();
    body(&Results { results })
}
