//! The first stored form of filesystems: of the time when they had lists of commands, events and reasons of their own.

use bailiwick_journal::{Body, StreamId};

use super::{Declaration, Filesystem, Spec, Wanted};
use crate::{contract::StoredError, storage::FirstForm, storage_rules::FromPool};

pub(super) const FIRST_FORM: FirstForm<Filesystem> = FirstForm {
    commands: &[
        (&[2], &[7]),
        (&[3], &[2]),
        (&[4], &[3]),
        (&[5], &[4]),
        (&[6], &[13, 0]),
        (&[7], &[5]),
        (&[8], &[6]),
        (&[9], &[8]),
        (&[12], &[9]),
        (&[13], &[10]),
        (&[14], &[11]),
        (&[15], &[12]),
    ],
    events: &[
        (&[2], &[25, 0]),
        (&[3], &[2]),
        (&[4], &[3]),
        (&[5], &[4]),
        (&[6], &[16]),
        (&[7], &[5]),
        (&[8], &[6]),
        (&[9], &[7]),
        (&[10], &[8]),
        (&[11], &[9]),
        (&[12], &[10]),
        (&[13], &[11]),
        (&[14], &[15]),
        (&[15], &[12]),
        (&[16], &[13]),
        (&[17], &[14]),
        (&[18], &[17]),
        (&[19], &[18]),
        (&[20], &[19]),
        (&[21], &[20]),
        (&[22], &[21]),
        (&[23], &[22]),
        (&[24], &[23]),
        (&[25], &[24]),
    ],
    verdicts: Some(VERDICTS),
    declaration,
};

/// Reasons stand under 0, rejections under 1.
const VERDICTS: &[(&[u32], &[u32])] = &[
    (&[0, 2], &[0, 45]),
    (&[0, 3], &[0, 46]),
    (&[0, 4], &[0, 24]),
    (&[0, 5], &[0, 2]),
    (&[0, 6], &[0, 3]),
    (&[0, 7], &[0, 4]),
    (&[0, 8], &[0, 5]),
    (&[0, 9], &[0, 6]),
    (&[0, 10], &[0, 7]),
    (&[0, 11], &[0, 8]),
    (&[0, 12], &[0, 9]),
    (&[0, 13], &[0, 10]),
    (&[0, 14], &[0, 11]),
    (&[0, 15], &[0, 12]),
    (&[0, 16], &[0, 13]),
    (&[0, 17], &[0, 14]),
    (&[0, 18], &[0, 25]),
    (&[0, 19], &[0, 15]),
    (&[0, 20], &[0, 26]),
    (&[0, 21], &[0, 16]),
    (&[0, 22], &[0, 17]),
    (&[0, 23], &[0, 18]),
    (&[0, 24], &[0, 19]),
    (&[0, 25], &[0, 20]),
    (&[0, 26], &[0, 21]),
    (&[0, 27], &[0, 31]),
    (&[0, 28], &[0, 32]),
    (&[0, 29], &[0, 35]),
    (&[0, 30], &[0, 38]),
    (&[0, 31], &[0, 39]),
    (&[0, 32], &[0, 40]),
    (&[0, 33], &[0, 41]),
    (&[0, 34], &[0, 42]),
    (&[0, 35], &[0, 43]),
    (&[0, 36], &[0, 44]),
    (&[0, 37], &[0, 47]),
    (&[1, 3], &[1, 4]),
    (&[1, 4], &[1, 5]),
    (&[1, 5], &[1, 7]),
    (&[1, 6], &[1, 8]),
    (&[1, 7], &[1, 9]),
    (&[1, 8], &[1, 10]),
];

fn declaration(body: &Body) -> Result<Option<Declaration>, StoredError> {
    let Some((number, rest)) = body.bytes.split_first_chunk() else { return Ok(None) };
    let rest = Body { schema: body.schema, bytes: rest.to_vec() };
    let (spec, pool, owner) = match u32::from_le_bytes(*number) {
        0 => (bailiwick_journal::decode(&rest)?, None, None),
        10 => {
            let (spec, pool): (Spec, FromPool) = bailiwick_journal::decode(&rest)?;
            (spec, Some(pool), None)
        }
        11 => {
            let (spec, pool, owner): (Spec, Option<FromPool>, StreamId) = bailiwick_journal::decode(&rest)?;
            (spec, pool, Some(owner))
        }
        _ => return Ok(None),
    };
    Ok(Some(Declaration { spec, wanted: Wanted, pool, owner }))
}
