//! The stored form of one entry inside a block: the header first, so that a scan can skip the bodies.
//!
//! ```text
//!  0 u32  length of the record         28 u64  time, ms            72 u8 + text  stream
//!  4 u32  where the bodies begin       36 [16] command id              u8 + text  code
//!  8 u64  position                     52 [16] command hash            u8 + text  principal
//! 16 u64  first version                68 u8   kind                    u64        cause, if flag 1
//! 24 u32  number of events             69 u8   outcome                 u64        view, if flag 2
//!                                      70 u8   flags                   u8 + text, u64, [16]  policy, if flag 4
//!                                      71 u8   zero            u8 count, u8 + text, u64  cites, if flag 8
//! bodies: command, facts, verdict, events: u16 schema, u32 length, bytes
//! ```
//!
//! A cite of the entry's own stream has an empty text. Little endian throughout. There is exactly one stored form of an entry, so that an imported journal has the same
//! hashes as the exported one. The caller of [`Record::at`] has checked the block's checksum; the bounds are checked
//! all the same.

mod cursor;

use uuid::Uuid;

use crate::{Draft, Entry, EntryKind, Header, Meta, Outcome, Position, StreamId, Version};
use cursor::Cursor;

/// The length of an entry without texts, options and bodies.
pub(crate) const FIXED: usize = 72;
const FLAG_CAUSE: u8 = 1;
const FLAG_VIEW: u8 = 2;
const FLAG_POLICY: u8 = 4;
const FLAG_CITES: u8 = 8;

/// The longest code, principal and policy name, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 255;

/// Appends the stored form of a draft, with position and first version left zero for [`place`].
pub(crate) fn encode(draft: &Draft, to: &mut Vec<u8>) {
    let meta = &draft.meta;
    let start = to.len();
    to.extend_from_slice(&[0; 24]);
    to.extend_from_slice(&(draft.events.len() as u32).to_le_bytes());
    to.extend_from_slice(&meta.time_ms.to_le_bytes());
    to.extend_from_slice(meta.command_id.as_bytes());
    to.extend_from_slice(&meta.command_hash);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let flags = flag(meta.cause.is_some(), FLAG_CAUSE)
        | flag(meta.view.is_some(), FLAG_VIEW)
        | flag(meta.policy.is_some(), FLAG_POLICY)
        | flag(!meta.cites.is_empty(), FLAG_CITES);
    to.extend_from_slice(&[kind_byte(meta.kind), outcome_byte(meta.outcome), flags, 0]);
    put_text(to, draft.stream.as_str());
    put_text(to, &meta.code);
    put_text(to, &meta.principal);
    for position in [meta.cause, meta.view].into_iter().flatten() {
        to.extend_from_slice(&position.0.to_le_bytes());
    }
    if let Some(policy) = &meta.policy {
        put_text(to, &policy.name);
        to.extend_from_slice(&policy.revision.to_le_bytes());
        to.extend_from_slice(&policy.digest);
    }
    if !meta.cites.is_empty() {
        debug_assert!(meta.cites.len() <= Draft::CITES_MAX, "cites are counted before they are encoded");
        to.push(meta.cites.len() as u8);
        for cite in &meta.cites {
            put_text(to, if cite.stream == draft.stream { "" } else { cite.stream.as_str() });
            to.extend_from_slice(&cite.version.0.to_le_bytes());
        }
    }
    let bodies_at = (to.len() - start) as u32;
    for body in [&draft.command, &draft.facts, &draft.verdict].into_iter().chain(&draft.events) {
        to.extend_from_slice(&body.schema.to_le_bytes());
        to.extend_from_slice(&(body.bytes.len() as u32).to_le_bytes());
        to.extend_from_slice(&body.bytes);
    }
    let length = (to.len() - start) as u32;
    to[start..start + 4].copy_from_slice(&length.to_le_bytes());
    to[start + 4..start + 8].copy_from_slice(&bodies_at.to_le_bytes());
}

/// Writes position and first version into an encoded record.
pub(crate) fn place(record: &mut [u8], position: Position, first_version: Version) {
    record[8..16].copy_from_slice(&position.0.to_le_bytes());
    record[16..24].copy_from_slice(&first_version.0.to_le_bytes());
}

/// The length of an encoded record.
pub(crate) fn length(record: &[u8]) -> usize {
    u32::from_le_bytes(record[..4].try_into().expect("a record begins with its length")) as usize
}

/// The problem with a record that cannot be read.
pub(crate) type Malformed = &'static str;

/// A view of one stored entry; nothing is decoded before it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    header: &'a [u8],
    bodies: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record at the beginning of `bytes`, and what follows it.
    #[inline]
    pub(crate) fn at(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Malformed> {
        let mut cursor = Cursor(bytes);
        let length = cursor.u32()? as usize;
        let bodies_at = cursor.u32()? as usize;
        if length > bytes.len() || bodies_at > length || bodies_at < FIXED {
            return Err("a record's length is impossible");
        }
        let (record, rest) = bytes.split_at(length);
        let (header, bodies) = record.split_at(bodies_at);
        Ok((Self { header, bodies }, rest))
    }

    #[inline]
    pub(crate) fn position(&self) -> Position {
        Position(self.fixed_u64(8))
    }

    #[inline]
    pub(crate) fn first_version(&self) -> Version {
        Version(self.fixed_u64(16))
    }

    #[inline]
    pub(crate) fn events(&self) -> u32 {
        u32::from_le_bytes(self.header[24..28].try_into().expect("four bytes"))
    }

    #[inline]
    pub(crate) fn time_ms(&self) -> u64 {
        self.fixed_u64(28)
    }

    pub(crate) fn command_id(&self) -> Uuid {
        Uuid::from_bytes(self.header[36..52].try_into().expect("sixteen bytes"))
    }

    pub(crate) fn command_hash(&self) -> [u8; 16] {
        self.header[52..68].try_into().expect("sixteen bytes")
    }

    pub(crate) fn bytes(&self) -> usize {
        self.header.len() + self.bodies.len()
    }

    /// The stream's text, not checked to be a name.
    #[inline]
    pub(crate) fn stream_text(&self) -> Result<&'a str, Malformed> {
        Cursor(&self.header[FIXED..]).text()
    }

    pub(crate) fn header(&self) -> Result<Header, Malformed> {
        let mut cursor = Cursor(&self.header[68..]);
        let kind = kind_of(cursor.u8()?)?;
        let outcome = outcome_of(cursor.u8()?)?;
        let flags = cursor.u8()?;
        if flags > 15 || cursor.u8()? != 0 {
            return Err("unknown flags");
        }
        let stream: StreamId = cursor.text()?.parse().map_err(|_| "the stream has no valid name")?;
        let code = cursor.text()?.to_owned();
        let principal = cursor.text()?.to_owned();
        let mut position_if = |flag: u8| -> Result<Option<Position>, Malformed> {
            if flags & flag == 0 { Ok(None) } else { cursor.u64().map(|number| Some(Position(number))) }
        };
        let cause = position_if(FLAG_CAUSE)?;
        let view = position_if(FLAG_VIEW)?;
        let policy = if flags & FLAG_POLICY == 0 { None } else { Some(cursor.policy()?) };
        let cites = if flags & FLAG_CITES == 0 { Vec::new() } else { cursor.cites(&stream)? };
        if !cursor.0.is_empty() {
            return Err("a header has trailing bytes");
        }
        let meta = Meta {
            kind,
            outcome,
            code,
            time_ms: self.time_ms(),
            command_id: self.command_id(),
            command_hash: self.command_hash(),
            cause,
            principal,
            policy,
            view,
            cites,
        };
        let first_version = self.first_version();
        if first_version == Version::ZERO || self.position() == Position::ZERO {
            return Err("a record was never placed");
        }
        Ok(Header { position: self.position(), stream, first_version, events: self.events(), meta })
    }

    pub(crate) fn entry(&self) -> Result<Entry, Malformed> {
        let header = self.header()?;
        let mut cursor = Cursor(self.bodies);
        let (command, facts, verdict) = (cursor.body()?, cursor.body()?, cursor.body()?);
        if header.events as usize > Draft::EVENTS_MAX {
            return Err("too many events");
        }
        let mut events = Vec::with_capacity(header.events as usize);
        for _ in 0..header.events {
            events.push(cursor.body()?);
        }
        if !cursor.0.is_empty() {
            return Err("a record has trailing bytes");
        }
        Ok(Entry { header, command, facts, verdict, events })
    }

    /// Shows the events' schemas and bytes, where they lie.
    pub(crate) fn each_event<E: From<Malformed>>(
        &self,
        mut visit: impl FnMut(u16, &'a [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cursor = Cursor(self.bodies);
        for _ in 0..3 {
            cursor.body_bytes()?;
        }
        for _ in 0..self.events() {
            let (schema, bytes) = cursor.body_bytes()?;
            visit(schema, bytes)?;
        }
        Ok(())
    }

    #[inline]
    fn fixed_u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.header[at..at + 8].try_into().expect("eight bytes"))
    }
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    debug_assert!(text.len() <= TEXT_BYTES_MAX, "texts are bounded before they are encoded");
    to.push(text.len() as u8);
    to.extend_from_slice(text.as_bytes());
}

fn kind_byte(kind: EntryKind) -> u8 {
    match kind {
        EntryKind::Decision => 0,
        EntryKind::Note => 1,
    }
}

fn kind_of(byte: u8) -> Result<EntryKind, Malformed> {
    match byte {
        0 => Ok(EntryKind::Decision),
        1 => Ok(EntryKind::Note),
        _ => Err("unknown kind of entry"),
    }
}

fn outcome_byte(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Nothing => 1,
        Outcome::Refused => 2,
    }
}

fn outcome_of(byte: u8) -> Result<Outcome, Malformed> {
    match byte {
        0 => Ok(Outcome::Done),
        1 => Ok(Outcome::Nothing),
        2 => Ok(Outcome::Refused),
        _ => Err("unknown outcome"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Body, PolicyRef};

    /// A placed record with all optional parts and one event.
    pub(crate) fn stored() -> Vec<u8> {
        let body = |text: &str| Body { schema: 3, bytes: text.into() };
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome: Outcome::Refused,
            code: "worth-retrying".into(),
            time_ms: 77,
            command_id: Uuid::from_u128(5),
            command_hash: [6; 16],
            cause: Some(Position(8)),
            principal: "operator".into(),
            policy: Some(PolicyRef { name: "default".into(), revision: 2, digest: [9; 16] }),
            view: Some(Position(7)),
            cites: vec!["machine/0@3".parse().unwrap(), "volume/data@2".parse().unwrap()],
        };
        let draft = Draft {
            stream: "machine/0".parse().unwrap(),
            expected: Version::ZERO,
            meta,
            command: body("command"),
            facts: body(""),
            verdict: body("verdict"),
            events: vec![body("event")],
        };
        let mut bytes = Vec::new();
        encode(&draft, &mut bytes);
        place(&mut bytes, Position(9), Version(4));
        bytes
    }

    fn number(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    fn set(bytes: &mut [u8], at: usize, number: u32) {
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    /// With another number at a place that follows from the bytes.
    fn problem_with(at: fn(&[u8]) -> usize, value: impl FnOnce(&[u8]) -> u32) -> Malformed {
        problem(|bytes| {
            let (at, value) = (at(bytes), value(bytes));
            set(bytes, at, value);
        })
    }

    fn problem(change: impl FnOnce(&mut Vec<u8>)) -> Malformed {
        let mut bytes = stored();
        change(&mut bytes);
        match Record::at(&bytes) {
            Err(problem) => problem,
            Ok((record, _)) => record.entry().expect_err("is refused"),
        }
    }

    #[test]
    fn a_record_comes_back_with_what_follows_it() {
        let bytes = [stored(), vec![1, 2]].concat();
        let (record, rest) = Record::at(&bytes).unwrap();
        assert_eq!((rest, record.bytes()), (&[1, 2][..], bytes.len() - 2));
        assert_eq!((record.position(), record.first_version(), record.events()), (Position(9), Version(4), 1));
        assert_eq!((record.time_ms(), record.command_id(), record.command_hash()), (77, Uuid::from_u128(5), [6; 16]));
        let entry = record.entry().unwrap();
        assert_eq!((entry.header.meta.cause, entry.header.meta.view), (Some(Position(8)), Some(Position(7))));
        let cites: Vec<String> = entry.header.meta.cites.iter().map(ToString::to_string).collect();
        assert_eq!(cites, ["machine/0@3", "volume/data@2"]);
        assert_eq!(entry.header.meta.policy.as_ref().map(|policy| policy.revision), Some(2));
        assert_eq!((entry.facts.schema, entry.events[0].bytes.as_slice()), (3, &b"event"[..]));
    }

    #[test]
    fn impossible_lengths_are_refused() {
        let impossible = "a record's length is impossible";
        assert_eq!(problem(|bytes| bytes.truncate(bytes.len() - 1)), impossible);
        assert_eq!(problem(|bytes| set(bytes, 0, u32::MAX)), impossible);
        assert_eq!(problem(|bytes| set(bytes, 4, FIXED as u32 - 1)), impossible);
        assert_eq!(problem_with(|_| 4, |bytes| number(bytes, 0) + 1), impossible);
        // The bounds themselves are possible, and then there is too little of the rest.
        assert_eq!(problem(|bytes| set(bytes, 4, FIXED as u32)), "a record ends too early");
        assert_ne!(problem_with(|_| 4, |bytes| number(bytes, 0)), impossible);
    }

    #[test]
    fn what_no_version_writes_is_refused() {
        assert_eq!(problem(|bytes| bytes[68] = 2), "unknown kind of entry");
        assert_eq!(problem(|bytes| bytes[69] = 3), "unknown outcome");
        assert_eq!(problem(|bytes| bytes[70] = 16), "unknown flags");
        assert_eq!(problem(|bytes| bytes[71] = 1), "unknown flags");
        assert_eq!(problem(|bytes| bytes[73] = b'M'), "the stream has no valid name");
        assert_eq!(problem(|bytes| bytes[73] = 0xFF), "a text is not UTF-8");
        assert_eq!(problem(|bytes| place(bytes, Position::ZERO, Version(1))), "a record was never placed");
        assert_eq!(problem(|bytes| place(bytes, Position(1), Version::ZERO)), "a record was never placed");
    }

    #[test]
    fn bytes_that_nothing_asked_for_are_refused() {
        let in_header = problem(|bytes| {
            let (length, bodies_at) = (number(bytes, 0), number(bytes, 4));
            bytes.insert(bodies_at as usize, 0);
            set(bytes, 0, length + 1);
            set(bytes, 4, bodies_at + 1);
        });
        assert_eq!(in_header, "a header has trailing bytes");
        let behind_bodies = problem(|bytes| {
            bytes.push(0);
            let length = bytes.len() as u32;
            set(bytes, 0, length);
        });
        assert_eq!(behind_bodies, "a record has trailing bytes");
    }

    #[test]
    fn events_and_bodies_are_bounded() {
        assert_eq!(problem(|bytes| set(bytes, 24, 2)), "a record ends too early");
        assert_eq!(problem(|bytes| set(bytes, 24, 0)), "a record has trailing bytes");
        assert_eq!(problem(|bytes| set(bytes, 24, Draft::EVENTS_MAX as u32)), "a record ends too early");
        assert_eq!(problem(|bytes| set(bytes, 24, Draft::EVENTS_MAX as u32 + 1)), "too many events");
        let body_at: fn(&[u8]) -> usize = |bytes| number(bytes, 4) as usize + 2;
        let long = Draft::BODY_BYTES_MAX as u32;
        assert_eq!(problem_with(body_at, |_| long), "a record ends too early");
        assert_eq!(problem_with(body_at, |_| long + 1), "a body is too long");
    }
}
