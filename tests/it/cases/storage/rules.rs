//! Cases about directives, pools and parameters: rules over plain data.

use std::collections::BTreeMap;

use bailiwick::actors::{
    storage_rules::{
        Attributes, Directive, DirectiveMapError, EbsError, EbsVolumeType, PoolName, directives, ebs_volume,
    },
    vocab::SizeMib,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::read;

/// `pool` is "" where none is given, `size_mib` 0.
fn directive_json(directive: &Directive) -> Value {
    json!({
        "pool": directive.pool.as_ref().map_or("", PoolName::as_str),
        "count": directive.count,
        "size_mib": directive.size.map_or(0, |size| size.0),
    })
}

fn compare(expected: &Value, got: &Value) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}

/// A case says either what comes out or which error.
fn expected(ok: Option<Value>, error: Option<String>) -> Result<Value, String> {
    match (ok, error) {
        (Some(ok), None) => Ok(json!({"ok": ok})),
        (None, Some(error)) => Ok(json!({"error": error})),
        _ => Err("the runner does not understand the case: it needs one of ok and error".to_owned()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectiveMap {
    args: Vec<String>,
    /// Decides only whether a case applies.
    #[serde(rename = "must_have")]
    _must_have: bool,
    ok: Option<Value>,
    error: Option<String>,
}

pub(super) fn directive_map(case: &Value) -> Result<(), String> {
    let case: DirectiveMap = read(case)?;
    let got = match directives(&case.args) {
        Ok(map) => {
            let map: BTreeMap<String, Value> =
                map.iter().map(|(name, directive)| (name.to_string(), directive_json(directive))).collect();
            json!({"ok": map})
        }
        Err(error) => json!({"error": match error {
            DirectiveMapError::BadForm { .. } => "bad_form",
            DirectiveMapError::RepeatedName { .. } => "repeated_name",
            DirectiveMapError::BadValue { .. } => "bad_value",
        }}),
    };
    compare(&expected(case.ok, case.error)?, &got)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ebs {
    size_mib: u64,
    attrs: BTreeMap<String, Value>,
    result: Value,
}

/// The store's own word for a type.
fn store_word(of: EbsVolumeType) -> &'static str {
    match of {
        EbsVolumeType::Standard => "standard",
        EbsVolumeType::Gp2 => "gp2",
        EbsVolumeType::Io1 => "io1",
        EbsVolumeType::St1 => "st1",
        EbsVolumeType::Sc1 => "sc1",
    }
}

pub(super) fn ebs(case: &Value) -> Result<(), String> {
    let case: Ebs = read(case)?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let attributes: Attributes = case.attrs.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let got = match ebs_volume(SizeMib(case.size_mib), &attributes) {
        Ok(volume) => json!({"ok": {"type": store_word(volume.kind), "gib": volume.gib, "iops": volume.iops}}),
        Err(error) => match error {
            EbsError::TooBig { gib, max_gib } => json!({"error": "too_big", "gib": gib, "max": max_gib}),
            EbsError::TooSmall { gib, min_gib } => json!({"error": "too_small", "gib": gib, "min": min_gib}),
            EbsError::IopsRatio { max_per_gib } => json!({"error": "iops_ratio", "max": max_per_gib}),
            EbsError::IopsNotAllowed => json!({"error": "iops_not_allowed"}),
            EbsError::IopsRequired => json!({"error": "iops_required"}),
            EbsError::IopsNoNumber { .. } => json!({"error": "iops_no_number"}),
            EbsError::UnknownType { .. } => json!({"error": "unknown_type"}),
        },
    };
    compare(&case.result, &got)
}
