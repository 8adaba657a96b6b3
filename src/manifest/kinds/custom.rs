//! Kinds that this program has registered.

use super::super::{
    fields::{Field, Fields, Reading},
    problem::Code,
};
use crate::custom_kind::{Asked, Custom};

/// What a spec of this kind asks for.
pub(super) fn asked(kind: &Custom, spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<Asked> {
    match (kind.read)(spec.json()) {
        Ok(asked) => Some(asked),
        Err(problem) => refuse(&problem, spec, reading),
    }
}

/// Refuses a spec for a problem that its own type has with it.
pub(super) fn refuse<T>(problem: &str, spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<T> {
    let fields = Fields::any(spec, reading)?;
    // The field that it is about, where the problem names one that is there.
    let named = problem.split('`').nth(1).and_then(|name| fields.get(name));
    let code = if problem.starts_with("unknown field") { Code::UnknownField } else { Code::WrongType };
    named.as_ref().unwrap_or(spec).refuse(reading, code, problem, "")
}
