//! Kinds that this program has registered.

use super::super::{
    fields::{Field, Fields, Reading},
    problem::Code,
};
use crate::custom_kind::{Asked, Custom};

/// What a spec of this kind asks for.
pub(super) fn asked(kind: &Custom, spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<Asked> {
    let fields = Fields::any(spec, reading)?;
    let refused = match (kind.read)(spec.json()) {
        Ok(asked) => return Some(asked),
        Err(problem) => problem,
    };
    // The field that it is about, where the problem names one that is there.
    let named = refused.split('`').nth(1).and_then(|name| fields.get(name));
    let code = if refused.starts_with("unknown field") { Code::UnknownField } else { Code::WrongType };
    named.as_ref().unwrap_or(spec).refuse(reading, code, refused, "")
}
