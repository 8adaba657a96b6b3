//! Calls that change something: each item is a command to a machine, decided and journaled with the client as its principal.

use actix_web::rt::{spawn, task::JoinHandle};
use bailiwick_actors::{
    contract::Decider,
    machine::{
        self,
        juju::{Command, Dependents, NewInstance, Said, StatusOf as Of},
    },
    ports::{Address, Device, Origin},
    shell::{Answer, AnyCommand},
    vocab::InstanceId,
};
use bailiwick_journal::{Outcome, StreamId};
use serde_json::json;
use uuid::Uuid;

use super::{
    connection::Call,
    envelope::{Called, body, nothing},
    fault::{BAD_REQUEST, Fault, NOT_SUPPORTED},
    identity::hashed,
    seen::{self, Application, Seen, units_on},
    tag::Tag,
    volumes,
    wire::{
        Done, Entities, Entity, EntityStatus, InstanceInfo, InstancesInfo, Item, MachineContainersParams,
        MachineNetwork, NetworkConfig, Passwords, ProfileArgs, Results, Statuses,
    },
};
use crate::juju::MachineId;

/// So many commands are decided at the same time.
const AT_ONCE: usize = 256;
/// The longest stored form of what is said of one machine at once, in bytes: it is journaled.
const SAID_BYTES_MAX: usize = 32 * 1024;
/// The shortest password of an agent. Source: Juju.
const PASSWORD_BYTES_MIN: usize = 24;

/// A command, and the machine that it is for.
type Order = (MachineId, Command);

/// What a refusal is told as, by the number of the order, the machine and the code of the refusal; none leaves that to all.
type Told<'t> = &'t dyn Fn(usize, &MachineId, &str) -> Option<Fault>;

/// Gives these orders, and tells what came of each in the same order.
async fn give(call: &Call<'_>, orders: Vec<Result<Order, Fault>>, told: Told<'_>) -> Called {
    let results = given(call, orders, told).await;
    body(&Results { results: results.into_iter().map(Item::<Done>::from).collect() })
}

async fn given(call: &Call<'_>, orders: Vec<Result<Order, Fault>>, told: Told<'_>) -> Vec<Result<Done, Fault>> {
    let mut results: Vec<Result<Done, Fault>> = Vec::with_capacity(orders.len());
    let mut orders = orders.into_iter().peekable();
    while orders.peek().is_some() {
        let asked: Vec<_> = orders.by_ref().take(AT_ONCE).map(|order| asked(call, order)).collect();
        for asked in asked {
            let result = match asked {
                Err(fault) => Err(fault),
                Ok((id, answer)) => match answer.await {
                    Ok(Ok(answer)) => done(&id, &answer, &|id, code| told(results.len(), id, code)),
                    Ok(Err(fault)) => Err(fault),
                    Err(error) => Err(Fault::node(&error)),
                },
            };
            results.push(result);
        }
    }
    results
}

type Waited = (MachineId, JoinHandle<Result<Answer, Fault>>);

/// Asks a machine, and does not wait for its answer. Whatever is asked of one machine is decided in the order of the asking.
fn asked(call: &Call<'_>, order: Result<Order, Fault>) -> Result<Waited, Fault> {
    let (id, command) = order?;
    let name = id.name().ok_or_else(|| Fault::no_machine(&id))?;
    let stream = StreamId::new(machine::State::KIND, name.as_str()).map_err(|error| Fault::node(&error))?;
    let identity = call.connection.identity.borrow().clone();
    let principal = identity.map(|identity| identity.principal()).unwrap_or_default();
    let node = call.connection.shared.node.in_the_name_of(principal);
    let nth = call.commands.replace(call.commands.get() + 1);
    let request = format!("{} {nth}", call.request.number);
    let command_id = Uuid::new_v5(&call.connection.id, request.as_bytes());
    let command = AnyCommand::from(machine::Command::Client(command));
    let answer = spawn(async move { node.ask(stream, command, command_id).await.map_err(Fault::from) });
    Ok((id, answer))
}

/// What an answer is told as.
fn done(id: &MachineId, answer: &Answer, told: &dyn Fn(&MachineId, &str) -> Option<Fault>) -> Result<Done, Fault> {
    if answer.outcome != Outcome::Refused {
        return Ok(Done {});
    }
    Err(match (told(id, &answer.code), answer.code.as_str()) {
        (Some(fault), _) => fault,
        (None, "not-declared") => Fault::no_machine(id),
        (None, "not-provisioned") => Fault::not_provisioned(id),
        (None, "node-provisions") => Fault::new(NOT_SUPPORTED, format!("machine {id}: {}", answer.text)),
        (None, "held" | "protected") => Fault::new("operation is blocked", format!("machine {id}: {}", answer.text)),
        (None, _) => Fault::plain(format!("machine {id}: {}", answer.text)),
    })
}

/// The machine that a tag names, if the client may see it and it is there.
fn there(call: &Call<'_>, seen: &Seen<'_>, tag: &str) -> Result<MachineId, Fault> {
    let id = call.rights.seen(tag)?;
    seen.machine(&id).map(|_| id)
}

/// The same order for each of these.
fn orders(
    call: &Call<'_>,
    entities: &[Entity],
    order: impl Fn(&Seen<'_>, MachineId) -> Result<Order, Fault>,
) -> Result<Vec<Result<Order, Fault>>, Fault> {
    call.look(|seen| {
        let one = |entity: &Entity| order(seen, there(call, seen, &entity.tag)?);
        entities.iter().map(one).collect()
    })
}

pub(super) async fn set_passwords(call: &Call<'_>) -> Called {
    let Passwords { changes } = call.request.params()?;
    let orders = call.look(|seen| {
        let one = |tag: &str, password: &str| {
            let id = there(call, seen, tag)?;
            if password.len() < PASSWORD_BYTES_MIN {
                let length = password.len();
                let message = format!("password is only {length} bytes long, and is not a valid Agent password");
                return Err(Fault::plain(message));
            }
            let salt = *Uuid::new_v4().as_bytes();
            let hash = *hashed(&salt, password).as_bytes();
            Ok((id, Command::SetPassword { salt, hash }))
        };
        changes.iter().map(|change| one(&change.tag, &change.password)).collect()
    })?;
    give(call, orders, &|_, _, _| None).await
}

/// A status as it is journaled.
fn said(entity: &EntityStatus) -> Result<Said, Fault> {
    let data = if entity.data.is_empty() { String::new() } else { json!(entity.data).to_string() };
    let said = Said { status: entity.status.clone(), info: entity.info.clone(), data };
    fits(said.status.len() + said.info.len() + said.data.len())?;
    Ok(said)
}

/// Refuses what is too long to be journaled.
fn fits(bytes: usize) -> Result<(), Fault> {
    if bytes <= SAID_BYTES_MAX {
        return Ok(());
    }
    Err(Fault::new(BAD_REQUEST, format!("{bytes} bytes about one machine are too many: at most {SAID_BYTES_MAX}")))
}

pub(super) async fn set_status(call: &Call<'_>) -> Called {
    set(call, Of::Machine).await
}

pub(super) async fn set_instance_status(call: &Call<'_>) -> Called {
    set(call, Of::Instance).await
}

pub(super) async fn set_modification_status(call: &Call<'_>) -> Called {
    set(call, Of::Modification).await
}

async fn set(call: &Call<'_>, of: Of) -> Called {
    let Statuses { entities } = call.request.params()?;
    let orders = call.look(|seen| {
        let one = |entity: &EntityStatus| {
            if of == Of::Machine {
                // This one tells what is no tag from what may not be seen.
                Tag::parse(&entity.tag).ok_or_else(|| Fault::no_tag(&entity.tag))?;
            }
            let id = there(call, seen, &entity.tag)?;
            Ok((id, Command::SetStatus { of, said: said(entity)? }))
        };
        entities.iter().map(one).collect::<Vec<_>>()
    })?;
    give(call, orders, &|nth, _, code| {
        let status = &entities[nth].status;
        match code {
            "status-reserved" => Some(Fault::plain(format!("cannot set status {status:?}"))),
            "status-unknown" => Some(Fault::plain(format!("cannot set invalid status {status:?}"))),
            "error-without-info" => Some(Fault::plain("cannot set status \"error\" without info")),
            _ => None,
        }
    })
    .await
}

/// What depends on a machine.
fn dependents(seen: &Seen<'_>, applications: &[Application], id: &MachineId) -> Result<Dependents, Fault> {
    let state = seen.machine(id)?;
    let containers = seen.machines().filter(|(other, _)| other.parent().as_ref() == Some(id));
    let mut containers: Vec<String> = containers.map(|(other, _)| other.to_string()).collect();
    containers.sort();
    let units = units_on(applications, id);
    Ok(Dependents { units, containers, storage: seen.lasting_storage(state) })
}

pub(super) async fn ensure_dead(call: &Call<'_>) -> Called {
    let Entities { entities } = call.request.params()?;
    // All or nothing: one that is no tag fails the call before anything ends.
    if let Some(entity) = entities.iter().find(|entity| Tag::parse(&entity.tag).is_none()) {
        return Err(Fault::no_tag(&entity.tag));
    }
    let applications = call.look(|seen| seen.applications())?;
    let orders = orders(call, &entities, |seen, id| {
        let dependents = dependents(seen, &applications, &id)?;
        Ok((id, Command::EnsureDead { dependents }))
    })?;
    let depends: Vec<Dependents> = orders
        .iter()
        .map(|order| match order {
            Ok((_, Command::EnsureDead { dependents })) => dependents.clone(),
            _ => Dependents::default(),
        })
        .collect();
    give(call, orders, &|nth, id, code| {
        let of = &depends[nth];
        match code {
            "voting-controller" => Some(controller(id, "voting")),
            "controller" => Some(controller(id, "non-voting")),
            "has-units" => {
                let unit = of.units.first().map_or("", String::as_str);
                Some(Fault::new("machine has assigned units", format!("machine {id} has unit {unit:?} assigned")))
            }
            "hosts-containers" => {
                let containers = of.containers.join(",");
                let message = format!("machine {id} is hosting containers \"{containers}\"");
                Some(Fault::new("machine is hosting containers", message))
            }
            "has-storage" => {
                let message = format!("machine {id} has attachments [{}]", of.storage.join(" "));
                Some(Fault::new("machine has attached storage", message))
            }
            _ => None,
        }
    })
    .await
}

fn controller(id: &MachineId, how: &str) -> Fault {
    Fault::new(super::fault::TRY_AGAIN, format!("machine {id} is still a {how} controller member"))
}

pub(super) async fn remove(call: &Call<'_>) -> Called {
    let Entities { entities } = call.request.params()?;
    let orders = orders(call, &entities, |_, id| Ok((id, Command::Remove)))?;
    give(call, orders, &|_, id, code| match code {
        "still-alive" => Some(Fault::plain(format!("cannot remove machine \"{}\": still alive", id.tag()))),
        "not-dead" => Some(not_dead(id)),
        _ => None,
    })
    .await
}

fn not_dead(id: &MachineId) -> Fault {
    Fault::plain(format!("cannot remove machine {id}: machine is not dead"))
}

pub(super) async fn mark_for_removal(call: &Call<'_>) -> Called {
    let Entities { entities } = call.request.params()?;
    let orders = of_machine_tags(call, entities.iter().map(|it| (it.tag.as_str(), Command::MarkForRemoval)))?;
    give(call, orders, &|_, id, code| (code == "not-dead").then(|| not_dead(id))).await
}

/// Orders of calls that tell what is no machine from what may not be seen.
fn of_machine_tags<'t>(
    call: &Call<'_>,
    wanted: impl Iterator<Item = (&'t str, Command)>,
) -> Result<Vec<Result<Order, Fault>>, Fault> {
    call.look(|seen| {
        let one = |(tag, command): (&str, Command)| {
            Tag::machine(tag).ok_or_else(|| Fault::no_machine_tag(tag))?;
            Ok((there(call, seen, tag)?, command))
        };
        wanted.map(one).collect()
    })
}

pub(super) async fn set_profiles(call: &Call<'_>) -> Called {
    let ProfileArgs { args } = call.request.params()?;
    for arg in &args {
        fits(arg.profiles.iter().map(String::len).sum())?;
    }
    let wanted =
        args.iter().map(|arg| (arg.entity.tag.as_str(), Command::SetProfiles { profiles: arg.profiles.clone() }));
    let orders = of_machine_tags(call, wanted)?;
    let not_provisioned =
        |id: &MachineId| Fault::new(super::fault::NOT_PROVISIONED, format!("machine \"{}\" not provisioned", id.tag()));
    give(call, orders, &|_, id, code| (code == "not-provisioned").then(|| not_provisioned(id))).await
}

pub(super) async fn set_supported_containers(call: &Call<'_>) -> Called {
    let MachineContainersParams { params } = call.request.params()?;
    let orders: Vec<Result<Order, Fault>> = call.look(|seen| {
        let one = |tag: &str, types: &[String]| {
            let id = there(call, seen, tag)?;
            if types.iter().any(|of| matches!(of.as_str(), "" | "none")) {
                return Err(Fault::plain(format!("{id}: \"none\" is not a valid container type")));
            }
            fits(types.iter().map(String::len).sum())?;
            Ok((id, Command::SetContainerTypes { types: types.to_vec() }))
        };
        params.iter().map(|it| one(&it.machine_tag, &it.types)).collect()
    })?;
    let results =
        given(call, orders, &|_, _, code| (code == "dead").then(|| Fault::new("dead", "not found or dead"))).await;
    // What waits to be made there, and cannot be.
    let done = params.iter().zip(&results).filter(|(_, result)| result.is_ok()).map(|(it, _)| it);
    let hopeless: Vec<Result<Order, Fault>> = call.look(|seen| {
        let hosts = done.filter_map(|it| Some((Tag::machine(&it.machine_tag)?, &it.types)));
        let unsupported = |(host, types): (MachineId, &Vec<String>)| {
            let waits = |(id, state): &(MachineId, &machine::State)| {
                let is_there = seen::instance_of(state).is_some();
                id.parent().as_ref() == Some(&host)
                    && !is_there
                    && id.container_type().is_some_and(|of| !types.iter().any(|it| it == of))
            };
            seen.machines().filter(waits).map(|(id, _)| id).collect::<Vec<_>>()
        };
        hosts.flat_map(unsupported).map(|id| Ok(refused_container(id))).collect()
    })?;
    for result in given(call, hopeless, &|_, _, _| None).await {
        if let Err(fault) = result {
            tracing::warn!(problem = fault.message, "an unsupported container was not told so");
        }
    }
    body(&Results { results: results.into_iter().map(Item::from).collect() })
}

/// A container that its host cannot hold is in error.
fn refused_container(id: MachineId) -> Order {
    let data = json!({"type": id.container_type()}).to_string();
    let said = Said { status: "error".into(), info: "unsupported container".into(), data };
    (id, Command::SetStatus { of: Of::Machine, said })
}

pub(super) async fn set_instance(call: &Call<'_>) -> Called {
    let InstancesInfo { machines } = call.request.params()?;
    let orders = call.look(|seen| {
        let one = |told: &InstanceInfo| {
            let id = there(call, seen, &told.tag)?;
            let instance = Box::new(new_instance(told)?);
            let storage = volumes::created(seen, &id, told).map_err(|fault| {
                let Fault { message, code } = fault;
                Fault::new(code, format!("cannot record provisioning info for {:?}: {message}", told.instance))
            })?;
            let command = match storage.is_empty() {
                true => Command::SetInstance(instance),
                false => Command::SetInstanceAndStorage { instance, storage: Box::new(storage) },
            };
            Ok((id, command))
        };
        machines.iter().map(one).collect()
    })?;
    give(call, orders, &|nth, id, code| {
        let problem = match code {
            "no-instance-id" => "instance id and nonce cannot be empty",
            "already-provisioned" => "already set",
            "not-alive" => "not found or dead",
            _ => return None,
        };
        let instance = &machines[nth].instance;
        Some(Fault::plain(format!(
            "cannot record provisioning info for {instance:?}: cannot set instance data for machine \"{id}\": {problem}"
        )))
    })
    .await
}

fn new_instance(told: &InstanceInfo) -> Result<NewInstance, Fault> {
    let text = [&told.instance, &told.display_name].into_iter().chain(&told.profiles).map(String::len).sum::<usize>();
    fits(text + told.network.iter().map(bytes_of).sum::<usize>() + volumes::bytes_of(told))?;
    if told.instance.len() > 255 {
        return Err(Fault::new(BAD_REQUEST, "an instance id has at most 255 bytes"));
    }
    Ok(NewInstance {
        instance: InstanceId(told.instance.clone()),
        nonce: (!told.nonce.is_empty()).then(|| *blake3::hash(told.nonce.as_bytes()).as_bytes()),
        display_name: told.display_name.clone(),
        hardware: seen::hardware(&told.characteristics),
        profiles: told.profiles.clone(),
        devices: told.network.iter().map(|config| device(config, Origin::Provider)).collect(),
    })
}

/// About how many bytes a device takes in the journal.
fn bytes_of(config: &NetworkConfig) -> usize {
    let texts =
        [&config.name, &config.kind, &config.parent, &config.mac, &config.provider_id, &config.cidr, &config.address];
    let addresses = config.addresses.iter().map(|address| address.value.len() + address.cidr.len() + 16);
    texts.iter().map(|text| text.len()).sum::<usize>() + addresses.sum::<usize>() + 32
}

/// A device as it is kept. `by` tells of it where it does not say itself.
fn device(config: &NetworkConfig, by: Origin) -> Device {
    let origin = |said: &str| match said {
        "provider" => Origin::Provider,
        "machine" => Origin::Machine,
        _ => by,
    };
    let address = |value: &str, cidr: &str, config_type: &str, said: &str| Address {
        value: value.to_owned(),
        cidr: if cidr.is_empty() { config.cidr.clone() } else { cidr.to_owned() },
        config: if config_type.is_empty() { config.config_type.clone() } else { config_type.to_owned() },
        origin: origin(said),
        provider_subnet: config.provider_subnet.clone(),
    };
    let mut addresses: Vec<Address> =
        config.addresses.iter().map(|it| address(&it.value, &it.cidr, &it.config_type, &it.origin)).collect();
    if !config.address.is_empty() && addresses.iter().all(|known| known.value != config.address) {
        addresses.insert(0, address(&config.address, "", "", &config.origin));
    }
    Device {
        name: config.name.clone(),
        kind: config.kind.clone(),
        parent: config.parent.clone(),
        mac: config.mac.clone(),
        mtu: config.mtu,
        port: config.port_type.clone(),
        provider_id: config.provider_id.clone(),
        origin: origin(&config.origin),
        addresses,
    }
}

/// The devices that a machine sees, as it says itself.
pub(super) async fn set_network(call: &Call<'_>) -> Called {
    let MachineNetwork { tag, config } = call.request.params()?;
    if call.request.method == "SetHostMachineNetworkConfig" {
        Tag::machine(&tag).ok_or_else(|| Fault::no_machine_tag(&tag))?;
    }
    let own = Tag::machine(&tag).filter(|id| call.rights.own.as_ref() == Some(id)).ok_or_else(Fault::denied)?;
    call.look(|seen| seen.machine(&own).map(|_| ()))?.map_err(|_| Fault::denied())?;
    fits(config.iter().map(bytes_of).sum())?;
    // Version 11 believes what is said of where it comes from; before that, what says nothing is the machine's.
    let devices = config.iter().map(|config| device(config, Origin::Machine)).collect();
    let order = Ok((own, Command::ObserveDevices { devices }));
    given(call, vec![order], &|_, _, _| None).await.into_iter().collect::<Result<Vec<Done>, Fault>>()?;
    nothing()
}

pub(super) async fn release_addresses(call: &Call<'_>) -> Called {
    let Entities { entities } = call.request.params()?;
    let orders = orders(call, &entities, |_, id| match id.parent() {
        Some(_) => Ok((id, Command::ReleaseAddresses)),
        None => {
            let message = format!("cannot mark addresses for removal for \"{}\": not a container", id.tag());
            Err(Fault::plain(message))
        }
    })?;
    give(call, orders, &|_, _, _| None).await
}
