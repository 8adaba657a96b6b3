//! `kind: ReplicaSet`.

use bailiwick_actors::replica_set::{Rhythm, Seat, Spec};

use crate::manifest::{
    check::Reference,
    fields::{Field, Fields, Reading},
    limits,
    problem::Code,
};

pub(super) fn replica_set(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<Spec> {
    let fields = Fields::of(spec, &["engine", "servers", "seats", "oneHost"], reading)?;
    let engine = fields.require("engine", "etcd", reading).and_then(|field| field.name(reading));
    let servers = match fields.get("servers") {
        None => Some(1),
        Some(field) => servers(&field, reading),
    };
    let one_host = match fields.get("oneHost") {
        None => false,
        Some(field) => field.truth(reading)?,
    };
    let items = fields.require("seats", "[{machine: …}]", reading)?.items(limits::SEATS_MAX, reading)?;
    let seats: Vec<Option<Seat>> = items.iter().map(|item| seat(item, references, reading)).collect();
    let seats = seats.into_iter().collect::<Option<Vec<Seat>>>()?;
    Some(Spec { engine: engine?, servers: servers?, seats, one_host, rhythm: Rhythm::default() })
}

fn servers(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u32> {
    match field.number(reading)? {
        number if number % 2 == 1 && number <= 7 => Some(number),
        number => {
            let message = format!("{number} servers cannot vote");
            field.refuse(
                reading,
                Code::WrongType,
                message,
                "write 1, 3, 5 or 7: an odd number, so that one can be lost",
            )
        }
    }
}

fn seat(item: &Field<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Seat> {
    let fields = Fields::of(item, &["machine", "address", "peerPort", "clientPort"], reading)?;
    let machine = fields.require("machine", "some-machine", reading).and_then(|field| {
        let name = field.name(reading)?;
        let place = reading.place(field.node.at);
        references.push(Reference { kind: "machine", name: name.clone(), place, field: field.path });
        Some(name)
    });
    let address =
        fields.require("address", "10.0.0.1", reading).and_then(|field| Some(field.line(reading)?.to_owned()));
    let peer_port = fields.require("peerPort", "2380", reading).and_then(|field| port(&field, reading));
    let client_port = match fields.get("clientPort") {
        None => peer_port,
        Some(field) => port(&field, reading),
    };
    Some(Seat { machine: machine?, address: address?, peer_port: peer_port?, client_port: client_port? })
}

fn port(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u16> {
    let number = field.number(reading)?;
    match u16::try_from(number) {
        Ok(port) if port > 0 => Some(port),
        _ => field.refuse(reading, Code::WrongType, format!("{number} is no port"), "write a number from 1 to 65535"),
    }
}
