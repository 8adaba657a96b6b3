//! Kinds that this program has registered.

use super::super::{
    fields::{Field, Fields, Reading},
    hint::nearest,
    problem::Code,
};
use crate::{
    custom_kind::{Asked, Custom},
    text::cut,
};

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
    let mut words = problem.split('`').skip(1).step_by(2);
    let named = words.next().unwrap_or_default();
    let at = fields.get(named);
    let at = at.as_ref().unwrap_or(spec);
    if !problem.starts_with("unknown field") {
        return at.refuse(reading, Code::WrongType, problem, "");
    }
    let known: Vec<&str> = words.collect();
    let next = match nearest(named, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => String::new(),
        None => format!("known here: {}", known.join(", ")),
    };
    at.refuse(reading, Code::UnknownField, format!("unknown field `{}`", cut(named, 60)), next)
}
