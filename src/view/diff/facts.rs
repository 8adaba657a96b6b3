//! What is said of one entity, fact by fact: two moments are compared by these.
//!
//! A fact is true or not at a position, whenever somebody looks: no age, no count of attempts, nothing that an idle entity
//! changes by itself. What is `null`, empty or not known is no fact.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Decider,
    document, filesystem, filesystem_attachment,
    machine::{self, Instance, Node},
    machine_class, machine_deployment, machine_set, member, policy,
    ports::{MachineInstance, replica_set::MemberState},
    provider,
    replica_set::{self, Phase},
    supervisor::machines::{self, SightingStatus},
    vocab::{Name, hex},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;
use serde_json::{Value, json};

use super::super::{
    Fleet,
    declared::{self, of},
    documents::says,
    kinds::kind,
    members::{MemberRow, rows as member_rows},
    policies::as_declared,
    rows::{health_word, lost_beneath, node_word, withheld_from},
};
use crate::{
    custom_kind::CustomKind,
    view::{
        planned::Planned,
        told::{Facts, Told},
    },
    words::{started_with, step_in_words},
};

/// The facts of an entity; none if it does not exist. The supervisor of machines always does: it has seen the world.
pub fn facts(fleet: &Fleet, stream: &StreamId) -> Option<Facts> {
    if is_supervisor(stream) {
        return Some(seen(fleet).0);
    }
    if !fleet.exists(stream) {
        return None;
    }
    let mut told = (kind(stream.kind())?.facts)(fleet, stream)?;
    // Most are not, and need not say so.
    told.put("protected", fleet.is_protected(stream).then_some(true));
    Some(told.0)
}

/// Whether a stream is the one that tells what was seen of machines.
pub(super) fn is_supervisor(stream: &StreamId) -> bool {
    stream.kind() == machines::State::KIND && stream.name() == machines::View::NAME
}

pub(in crate::view) fn machine(fleet: &Fleet, stream: &StreamId, state: &machine::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    told.put("health", health_word(&state.health));
    told.put("agent", node_word(&state.node));
    told.show("agentVersion", state.joined.as_ref().map(|joined| &joined.node.agent_version));
    if let Instance::Running { instance, .. } = &state.instance {
        told.show("instance", Some(&instance.instance));
        told.show("effect", Some(instance.effect));
        told.show("zone", instance.zone());
        for (key, value) in instance.facts.iter().filter(|(key, _)| *key != MachineInstance::ZONE) {
            told.put(&format!("facts.{key}"), value);
        }
    }
    told.show("held", state.hold.as_ref().map(|hold| &hold.reason));
    told.show("heldUntil", state.hold.as_ref().and_then(|hold| hold.until));
    told.put("heldBack", state.is_held_back().then_some(true));
    told.put("going", state.goes_because().map(machine::RemovalReason::as_str));
    told.put("withheld", withheld_from(fleet, stream.name()));
    told.names("volumes", &state.attachments);
    told.names("filesystems", &state.mounts);
    told.names("containers", &state.containers);
    told.names("units", &state.units);
    told.names("replicaSets", &state.engaged);
    told.show("startedWith", state.parameters().map(|parameters| started_with(parameters, &[])));
    told.show("class", state.class());
    told.names("strays", state.strays.keys());
    told.names("letGo", &state.kept);
    told.trouble(machine_trouble(state));
    if let Some(spec) = &state.spec {
        told.fields("labels", &spec.labels);
        told.fields("annotations", &spec.annotations);
    }
    told.fields("spec", of(state.spec.as_deref(), declared::machine));
    told
}

fn machine_trouble(state: &machine::State) -> Vec<String> {
    let of_effort = state.effort().and_then(|effort| effort.fault()).map(ToString::to_string);
    let of_start = state.unstartable().map(|(why, _)| why.to_string());
    let conditions = match &state.node {
        Node::Reporting { conditions, .. } | Node::Stale { conditions, .. } => Some(conditions),
        Node::Silent => None,
    };
    let bad = conditions.into_iter().flat_map(BTreeMap::values).filter(|condition| !condition.healthy.is_yes());
    let bad = bad.map(|condition| format!("{}: {}", condition.kind, condition.text));
    let strays = state.strays.values().filter_map(|stray| stray.effort.fault()).map(|fault| format!("stray: {fault}"));
    of_effort.into_iter().chain(of_start).chain(bad).chain(strays).collect()
}

pub(in crate::view) fn volume(fleet: &Fleet, stream: &StreamId, state: &volume::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    if let Some(volume) = state.made() {
        told.show("volumeId", Some(&volume.volume_id));
        told.show("effect", Some(volume.effect));
        told.show("size", Some(volume.size));
    }
    told.show("attachedTo", state.attached_to.first());
    told.show("wantedOn", state.own.wanted_on.as_ref());
    told.show("filesystem", state.own.filesystem.as_ref());
    told.show("zone", state.own.zone.as_ref());
    told.show("pool", state.pool.as_ref().map(|pool| &pool.name));
    told.show("owner", state.owner.as_ref());
    told.show("madeFor", state.claim.as_ref().map(|by| &by.machine));
    told.show("keptOf", state.kept_of.as_ref());
    let lost = state.own.lost.map(|_| "its provider no longer lists it".to_owned());
    told.trouble(state.effort().and_then(|effort| effort.fault()).map(ToString::to_string).into_iter().chain(lost));
    told.fields("spec", declared::of_volume(state));
    told
}

pub(in crate::view) fn attachment(fleet: &Fleet, stream: &StreamId, state: &volume_attachment::State) -> Told {
    let lost = lost_beneath(fleet, stream.name()).filter(|_| state.is_ready());
    let status = if lost.is_some() { "lost" } else { state.status() };
    let mut told = Told::of(status, state.uid(fleet.journal, stream));
    told.show("path", state.attached().map(|(_, info)| &info.path));
    told.show("attachedTo", state.attached().map(|(target, _)| &target.instance));
    let lost = lost.map(|_| "its volume is lost".to_owned());
    told.trouble(state.effort().and_then(|effort| effort.fault()).map(ToString::to_string).into_iter().chain(lost));
    told.fields("spec", of(state.spec.as_ref(), declared::volume_attachment));
    told
}

pub(in crate::view) fn filesystem(fleet: &Fleet, stream: &StreamId, state: &filesystem::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    if let Some(filesystem) = state.made() {
        told.show("filesystemId", Some(&filesystem.filesystem_id));
        told.show("effect", Some(filesystem.effect));
        told.show("size", Some(filesystem.size));
    }
    told.names("attachedTo", &state.attached_to);
    told.show("pool", state.pool.as_ref().map(|pool| &pool.name));
    told.show("owner", state.owner.as_ref());
    told.show("madeFor", state.claim.as_ref().map(|by| &by.machine));
    told.show("keptOf", state.kept_of.as_ref());
    told.trouble(state.effort().and_then(|effort| effort.fault()).map(ToString::to_string));
    told.fields("spec", declared::of_filesystem(state));
    told
}

pub(in crate::view) fn mount(fleet: &Fleet, stream: &StreamId, state: &filesystem_attachment::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    told.show("path", state.attached().map(|(_, info)| &info.mount_point));
    told.show("attachedTo", state.attached().map(|(target, _)| &target.instance));
    told.trouble(state.effort().and_then(|effort| effort.fault()).map(ToString::to_string));
    told.fields("spec", of(state.spec.as_ref(), declared::filesystem_attachment));
    told
}

/// As many digits as the largest number of a machine within its set can have.
const NUMBER_BYTES_MAX: usize = 20;

pub(in crate::view) fn machine_set(fleet: &Fleet, stream: &StreamId, state: &machine_set::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    // A dash and a number come after the name, and what does not fit is cut.
    let stem = stream.name().get(..Name::BYTES_MAX - 1 - NUMBER_BYTES_MAX).unwrap_or(stream.name());
    let named = fleet.machines.beginning_with(stem.trim_end_matches('-')).map(|(_, folded)| &folded.state);
    let is_ours = |machine: &&machine::State| {
        let set = machine.spec.as_ref().and_then(|spec| spec.set.as_ref());
        machine.life.exists() && set.is_some_and(|set| set.as_str() == stream.name())
    };
    let machines: Vec<&machine::State> = named.filter(is_ours).collect();
    told.put("machines", machines.len());
    told.put("readyMachines", machines.iter().filter(|machine| machine.is_ready()).count());
    told.trouble(state.rests_until.map(|_| "a machine that it ordered was refused".to_owned()));
    told.put("frozen", state.frozen.is_some());
    told.fields("spec", of(state.spec.as_ref(), declared::machine_set));
    told
}

pub(in crate::view) fn machine_deployment(fleet: &Fleet, stream: &StreamId, state: &machine_deployment::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    let totals = machine_deployment::status(state).totals;
    told.put("machines", totals.machines);
    told.put("updatedMachines", totals.updated);
    told.put("readyMachines", totals.ready);
    told.put("availableMachines", totals.available);
    told.show("windowOpens", state.awaits);
    told.names("sets", state.sets.keys());
    told.trouble(state.is_late().then(|| "its rollout exceeded its progress deadline".to_owned()));
    told.fields("spec", of(state.spec.as_ref(), declared::machine_deployment));
    told
}

pub(in crate::view) fn machine_class(fleet: &Fleet, stream: &StreamId, state: &machine_class::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    told.put("revision", state.revision);
    told.show("digest", state.content.as_ref().map(|content| content.digest()));
    told.names("machines", &state.users);
    told.fields("spec", of(state.content.as_deref(), declared::machine_class));
    told
}

pub(in crate::view) fn custom<K: CustomKind>(state: &K) -> Told {
    let mut told = Told::default();
    told.put("status", CustomKind::status(state));
    for (column, cell) in K::COLUMNS.iter().zip(state.cells()) {
        told.put(column, cell);
    }
    told.trouble(state.kept().effort().and_then(|effort| effort.fault()).map(ToString::to_string));
    told.fields("spec", state.spec());
    told
}

pub(in crate::view) fn replica_set(fleet: &Fleet, stream: &StreamId, state: &replica_set::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    let members = seen_members(fleet, stream.name(), state);
    let is_leader = |member: &&MemberRow| member.healthy && member.state == Some(MemberState::Primary.name());
    told.show("leader", members.iter().find(is_leader).map(short));
    told.names("members", members.iter().map(short));
    told.names("voters", members.iter().filter(|member| member.votes).map(short));
    told.names("unwell", members.iter().filter(|member| !member.healthy).map(short));
    told.put("term", state.seen.as_ref().map(|seen| seen.configuration.stamp.term));
    for (machine, endpoint) in state.published.iter().flat_map(|published| &published.servers) {
        told.names(&format!("endpoints.{machine}"), &endpoint.addresses);
        told.show(&format!("endpoints.{machine}.internal"), endpoint.internal.as_ref());
    }
    match &state.phase {
        Phase::Stepping { step, .. } => told.put("step", step_in_words(step)),
        Phase::Waiting { fault, .. } => told.trouble([fault.to_string()]),
        Phase::Idle | Phase::Looking | Phase::Settled => (),
    }
    told.fields("spec", of(state.spec.as_ref(), declared::replica_set));
    told
}

/// The members of the configuration that was seen last, in its order.
fn seen_members(fleet: &Fleet, set: &str, state: &replica_set::State) -> Vec<MemberRow> {
    let mut members = member_rows(fleet, set, state, &Planned::default());
    members.retain(|member| member.state.is_some());
    members
}

/// A member within its set: its machine if one stands behind it, else its id.
fn short(member: &MemberRow) -> String {
    member.name.split_once(':').map_or(member.name.as_str(), |(_, name)| name).to_owned()
}

pub(in crate::view) fn member(fleet: &Fleet, stream: &StreamId, state: &member::State) -> Told {
    let mut told = Told::of(state.status(), state.uid(fleet.journal, stream));
    let set = stream.name().split_once(':').map_or("", |(set, _)| set);
    let rows = fleet.replica_sets.get(set).map(|of| member_rows(fleet, set, of, &Planned::default()));
    if let Some(row) = rows.into_iter().flatten().find(|row| row.name == stream.name()) {
        told.put("votes", row.votes);
        told.put("healthy", row.state.is_some().then_some(row.healthy));
        told.put("state", row.state);
        told.put("address", row.address);
        told.put("id", row.id);
    }
    told.put("seat", &state.seat);
    told
}

pub(in crate::view) fn policy(state: &policy::State) -> Told {
    let mut told = Told::default();
    told.put("revision", state.revision);
    told.put("digest", hex(&state.digest));
    told.fields("spec", as_declared(&state.document));
    told.fields("storage", &state.pools);
    told
}

pub(in crate::view) fn provider(state: &provider::State) -> Told {
    let mut told = Told::default();
    told.put("status", state.status());
    told.show("held", state.hold.as_ref().map(|hold| &hold.reason));
    told.show("heldUntil", state.hold.as_ref().and_then(|hold| hold.until));
    told
}

pub(in crate::view) fn document(fleet: &Fleet, stream: &StreamId, state: &document::State) -> Told {
    let mut told = Told::default();
    told.show("uid", Some(state.uid(fleet.journal, stream)));
    told.put("revision", state.revision);
    told.put("digest", hex(&state.digest));
    let mut says = state.content.as_ref().map_or(Value::Null, |content| says(fleet, stream.name(), content));
    if let Some(fields) = says.as_object_mut() {
        match document::Kind::of(stream.kind()) {
            // The subnets of a space have documents of their own.
            Some(document::Kind::Space) => drop(fields.remove("subnets")),
            // That a token has expired is no change of the account, and which of them changed is told by their ids.
            Some(document::Kind::Account) => {
                let tokens = fields.get("tokens").map(by_id).unwrap_or_default();
                fields.insert("tokens".to_owned(), tokens);
            }
            _ => (),
        }
    }
    told.fields("spec", says);
    told
}

/// The tokens of an account, each under its id, and of their hashes as much as tells them apart.
fn by_id(tokens: &Value) -> Value {
    let token = |token: &Value| {
        let hash: String = token["hash"].as_str()?.chars().take(8).collect();
        Some((token["id"].as_str()?.to_owned(), json!({"hash": hash, "expires": token["expires"]})))
    };
    Value::Object(tokens.as_array().into_iter().flatten().filter_map(token).collect())
}

/// What the supervisor of machines has seen that is of no machine: providers that do not answer, and instances that nobody
/// knows.
fn seen(fleet: &Fleet) -> Told {
    let mut told = Told::default();
    for (provider, fault) in &fleet.seen.failing {
        told.show(&format!("failing.{provider}"), Some(fault));
    }
    for (provider, since) in &fleet.seen.out {
        told.show(&format!("out.{provider}"), Some(since));
    }
    for (effect, sighting) in &fleet.seen.sightings {
        if sighting.unclaimed.is_some() && sighting.status != SightingStatus::Gone {
            let name =
                sighting.instance.as_ref().map_or_else(|| "an instance".to_owned(), |it| it.instance.to_string());
            told.put(&format!("unknown.{effect}"), format!("{name} of {}", sighting.provider));
        }
    }
    told
}
