//! The first stored form of volumes: of the time when their commands, events and reports stood in one list each.

use bailiwick_journal::{Body, StreamId};

use super::{Declaration, Spec, Volume, Wanted};
use crate::{
    contract::StoredError,
    storage::FirstForm,
    storage_rules::FromPool,
    vocab::{InstanceId, Name},
};

pub(super) const FIRST_FORM: FirstForm<Volume> = FirstForm {
    commands: &[
        (&[6, 4], &[6, 4, 0]),
        (&[6, 5], &[6, 4, 1]),
        (&[6, 6], &[6, 4, 2]),
        (&[8], &[13, 0]),
        (&[9], &[7]),
        (&[10], &[13, 2]),
        (&[11], &[13, 3]),
        (&[12], &[13, 4]),
        (&[14], &[8]),
        (&[17], &[13, 1]),
        (&[18], &[13, 5]),
        (&[19], &[9]),
        (&[20], &[10]),
        (&[21], &[11]),
        (&[22], &[12]),
    ],
    events: &[
        (&[1], &[1, 0]),
        (&[15], &[25, 0]),
        (&[16], &[1, 1]),
        (&[17], &[25, 1]),
        (&[18], &[25, 2]),
        (&[19], &[15]),
        (&[20], &[25, 3]),
        (&[21], &[25, 4]),
        (&[22], &[16]),
        (&[23], &[25, 5]),
        (&[24], &[17]),
        (&[25], &[25, 6]),
        (&[26], &[25, 7]),
        (&[27], &[18]),
        (&[28], &[19]),
        (&[29], &[25, 8]),
        (&[30], &[20]),
        (&[31], &[25, 9]),
        (&[32], &[21]),
        (&[33], &[22]),
        (&[34], &[23]),
        (&[35], &[24]),
    ],
    verdicts: None,
    declaration,
};

fn declaration(body: &Body) -> Result<Option<Declaration>, StoredError> {
    let Some((number, rest)) = body.bytes.split_first_chunk() else { return Ok(None) };
    let rest = Body { schema: body.schema, bytes: rest.to_vec() };
    let (spec, wanted, pool, owner) = match u32::from_le_bytes(*number) {
        0 => (bailiwick_journal::decode(&rest)?, Wanted::default(), None, None),
        7 => {
            let (spec, machine): (Spec, Name) = bailiwick_journal::decode(&rest)?;
            (spec, Wanted { machine: Some(machine), import: None }, None, None)
        }
        13 => {
            let (spec, import, machine): (Spec, InstanceId, Option<Name>) = bailiwick_journal::decode(&rest)?;
            (spec, Wanted { machine, import: Some(import) }, None, None)
        }
        15 => {
            let (spec, machine, pool): (Spec, Option<Name>, FromPool) = bailiwick_journal::decode(&rest)?;
            (spec, Wanted { machine, import: None }, Some(pool), None)
        }
        16 => {
            let (spec, machine, pool, owner): (Spec, Option<Name>, Option<FromPool>, StreamId) =
                bailiwick_journal::decode(&rest)?;
            (spec, Wanted { machine, import: None }, pool, Some(owner))
        }
        _ => return Ok(None),
    };
    Ok(Some(Declaration { spec, wanted, pool, owner }))
}
