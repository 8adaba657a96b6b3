//! Whose something is: what another journal's node made is not ours, whatever its id.

use bailiwick_actors::vocab::{Fault, FaultCode};
use serde_json::Value;
use uuid::Uuid;

use crate::text::cut;

/// What a provider tells of one thing, unless it belongs to another journal. A provider that keeps no owners tells none.
pub(super) fn ours(told: Value, owner: Option<Uuid>) -> Result<Value, Fault> {
    match foreign(&told, owner) {
        None => Ok(told),
        Some(other) => {
            let text = format!(
                "it belongs to journal {}, not to this node's; use another name, or another account of the provider",
                cut(other, 64)
            );
            Err(Fault::new(FaultCode::FailedPrecondition, text))
        }
    }
}

/// Whose it is, if it is another journal's: of a thing, or of what a lookup found.
pub(super) fn foreign(told: &Value, owner: Option<Uuid>) -> Option<&str> {
    let thing = told.get("present").unwrap_or(told);
    let named = thing.get("owner")?.as_str()?;
    let owner = owner?;
    (named.parse() != Ok(owner)).then_some(named)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_another_journal_owns_is_not_ours() {
        let (us, them) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let ours_of = |told: Value| ours(told, Some(us)).map_err(|fault| (fault.code, fault.text));
        for told in [json!({"effect": "x"}), json!({"owner": us}), json!({"present": {"owner": us}}), json!("absent")] {
            assert_eq!(ours_of(told.clone()), Ok(told));
        }
        for told in [json!({"owner": them}), json!({"present": {"owner": them}}), json!({"owner": "somebody"})] {
            let (code, text) = ours_of(told).expect_err("it is theirs");
            assert!(code == FaultCode::FailedPrecondition && text.contains("another account"), "{text}");
        }
        // Outside of a node nobody owns anything.
        assert_eq!(foreign(&json!({"owner": them}), None), None);
    }
}
