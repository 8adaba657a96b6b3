//! What every side of a comparison writes: entries with one event of about 124 bytes.

use bailiwick::journal::{Body, Draft, EntryKind, Meta, Outcome, StreamId, Version, encode, testing};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An event as a control plane has them: a few numbers, an id, two or three short texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub entity: String,
    pub version: u64,
    pub at_us: u64,
    pub command: [u8; 16],
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum What {
    Requested { series: String, zone: String, constraint: String },
    Started { instance: String, address: String },
    AttachPlanned { host: String, device: String, read_only: bool },
    RetryScheduled { attempt: u32, delay_ms: u64, reason: String },
    SetComputed { voters: u32, primary: String, reason: String },
}

/// Splitmix64: the same numbers in every run.
pub fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

pub fn event(stream: u64, version: u64) -> Event {
    let a = mixed(stream << 32 ^ version);
    let (b, c) = (mixed(a), mixed(a ^ 0xA5A5));
    let mut command = [0; 16];
    command[..8].copy_from_slice(&a.to_le_bytes());
    command[8..].copy_from_slice(&b.to_le_bytes());
    let what = match c % 5 {
        0 => What::Requested {
            series: "ubuntu-24.04".into(),
            zone: format!("zone-{}", b % 7),
            constraint: format!("cores={} mem={}M", a % 64, b % 65_536),
        },
        1 => What::Started {
            instance: format!("i-{a:016x}"),
            address: format!("10.{}.{}.{}", a & 255, b & 255, c & 255),
        },
        2 => What::AttachPlanned {
            host: format!("machine-{:06}", a % 100_000),
            device: format!("/dev/disk/by-id/wwn-{b:016x}"),
            read_only: a & 1 == 0,
        },
        3 => What::RetryScheduled {
            attempt: (a % 9) as u32,
            delay_ms: b % 600_000,
            reason: format!("provider quota exceeded, request {:08x}", a as u32),
        },
        _ => What::SetComputed {
            voters: (a % 7) as u32,
            primary: format!("machine-{:06}", a % 7),
            reason: format!("member {} lost its vote in term {}", b % 7, c % 4_096),
        },
    };
    let at_us = 1_700_000_000_000_000 + version * 137;
    Event { entity: format!("entity-{stream:08}"), version, at_us, command, what }
}

/// The decision that leads to version `version` of a stream, `version` from 1.
pub fn draft(name: &StreamId, stream: u64, version: u64, time_ms: u64) -> Draft {
    let event = event(stream, version);
    let meta = Meta {
        kind: EntryKind::Decision,
        outcome: Outcome::Done,
        code: "worth-retrying".into(),
        time_ms,
        command_id: Uuid::from_bytes(event.command),
        command_hash: event.command,
        cause: None,
        principal: "operator".into(),
        policy: None,
        view: None,
        cites: Vec::new(),
    };
    Draft {
        stream: name.clone(),
        expected: Version(version - 1),
        meta,
        command: Body { schema: 1, bytes: event.command.repeat(2) },
        facts: Body { schema: 1, bytes: event.command.to_vec() },
        verdict: Body { schema: 1, bytes: 7u32.to_le_bytes().to_vec() },
        events: vec![encode(1, &event).expect("an event fits a body")],
    }
}

/// The name of a stream.
pub fn stream(number: u64) -> StreamId {
    format!("machine/entity-{number:08}").parse().expect("a valid name")
}

/// The bytes that every other store is given for a draft.
pub fn bytes(draft: &Draft) -> Vec<u8> {
    testing::encoded(draft)
}
