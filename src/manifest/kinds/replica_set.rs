//! `kind: ReplicaSet`.

use bailiwick_actors::{
    replica_set::{Rhythm, Seat, Spec},
    vocab::{Address, Scope},
};

use crate::manifest::{
    fields::{Field, Fields, Reading},
    limits,
    problem::Code,
    read::Reference,
};

pub(super) fn replica_set(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<Spec> {
    let fields = Fields::of(spec, &["engine", "servers", "seats", "oneHost", "space"], reading)?;
    let engine = fields
        .require("engine", "etcd", reading)
        .and_then(|field| Reference::named("engine", &field, references, reading));
    let servers = match fields.get("servers") {
        None => Some(1),
        Some(field) => servers(&field, reading),
    };
    let one_host = match fields.get("oneHost") {
        None => false,
        Some(field) => field.truth(reading)?,
    };
    let space = match fields.get("space") {
        None => None,
        Some(field) => Some(field.name(reading)?),
    };
    let items = fields.require("seats", "[{machine: …}]", reading)?.items(limits::SEATS_MAX, reading)?;
    let seats: Vec<Option<Seat>> = items.iter().map(|item| seat(item, references, reading)).collect();
    let seats = seats.into_iter().collect::<Option<Vec<Seat>>>()?;
    Some(Spec { engine: engine?, servers: servers?, seats, one_host, rhythm: Rhythm::default(), space })
}

fn servers(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u32> {
    match field.number(reading)? {
        number if number % 2 == 1 && number <= 7 => Some(number),
        number => {
            let message = format!("{number} is not a valid number of voters");
            field.refuse(reading, Code::WrongType, message, "write 1, 3, 5 or 7")
        }
    }
}

fn seat(item: &Field<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Seat> {
    let fields = Fields::of(item, &["machine", "address", "addresses", "peerPort", "clientPort"], reading)?;
    let machine = fields
        .require("machine", "some-machine", reading)
        .and_then(|field| Reference::named("machine", &field, references, reading));
    let addresses = match (fields.get("addresses"), fields.get("address")) {
        (Some(field), None) => addresses(&field, reading),
        (Some(field), Some(_)) => {
            let next = "add it to the addresses, or remove them";
            field.refuse(reading, Code::Duplicate, "a seat has either an address or addresses", next)
        }
        (None, _) => {
            let one = fields.require("address", "10.0.0.1", reading);
            one.and_then(|field| Some(vec![plain(field.line(reading)?)]))
        }
    };
    let peer_port = fields.require("peerPort", "2380", reading).and_then(|field| port(&field, reading));
    let client_port = match fields.get("clientPort") {
        None => peer_port,
        Some(field) => port(&field, reading),
    };
    Some(Seat { machine: machine?, addresses: addresses?, peer_port: peer_port?, client_port: client_port? })
}

fn addresses(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Vec<Address>> {
    let items = field.items(limits::ADDRESSES_MAX, reading)?;
    items.iter().map(|item| address(item, reading)).collect()
}

/// An address of which nothing else is known.
fn plain(value: &str) -> Address {
    Address { value: value.to_owned(), scope: Scope::Unknown, space: None, port: None }
}

fn address(item: &Field<'_>, reading: &mut Reading<'_>) -> Option<Address> {
    let fields = Fields::of(item, &["value", "scope", "space"], reading)?;
    let value = fields.require("value", "10.0.0.1", reading).and_then(|field| Some(field.line(reading)?.to_owned()));
    let scope = match fields.get("scope") {
        None => Some(Scope::Unknown),
        Some(field) => scope(&field, reading),
    };
    let space = match fields.get("space") {
        None => None,
        Some(field) => Some(field.name(reading)?.to_string()),
    };
    Some(Address { value: value?, scope: scope?, space, port: None })
}

/// The scopes by the names that Juju gives them.
const SCOPES: [(&str, Scope); 5] = [
    ("public", Scope::Public),
    ("local-cloud", Scope::LocalCloud),
    ("local-fan", Scope::LocalFan),
    ("local-machine", Scope::LocalMachine),
    ("link-local", Scope::LinkLocal),
];

fn scope(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Scope> {
    let text = field.line(reading)?;
    match SCOPES.iter().find(|(name, _)| *name == text) {
        Some((_, scope)) => Some(*scope),
        None => {
            let next = "write public, local-cloud, local-fan, local-machine or link-local";
            field.refuse(reading, Code::WrongType, format!("`{text}` is not an address scope"), next)
        }
    }
}

fn port(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u16> {
    let number = field.number(reading)?;
    match u16::try_from(number) {
        Ok(port) if port > 0 => Some(port),
        _ => {
            field.refuse(reading, Code::WrongType, format!("{number} is not a port"), "write a number from 1 to 65535")
        }
    }
}
