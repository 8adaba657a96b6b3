//! The lists: every kind with its rows, and what they look like.

use std::collections::BTreeSet;

use bailiwick_actors::document;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::{described::Describe, wire::problem::Problem};
use crate::view::{self, Description, DocumentRow, Fleet};

/// One kind whose entities are listed.
struct List {
    kind: &'static str,
    rows: fn(&Fleet) -> Result<Value, Problem>,
    row: Describe,
}

/// All kinds that this crate has, but for documents.
const LISTS: [List; 12] = [
    List { kind: "machine", rows: |fleet| json(&view::machines(fleet)), row: |to| row(view::machines, to) },
    List { kind: "machine-set", rows: |fleet| json(&view::machine_sets(fleet)), row: |to| row(view::machine_sets, to) },
    List {
        kind: "machine-deployment",
        rows: |fleet| json(&view::machine_deployments(fleet)),
        row: |to| row(view::machine_deployments, to),
    },
    List {
        kind: "machine-class",
        rows: |fleet| json(&view::machine_classes(fleet)),
        row: |to| row(view::machine_classes, to),
    },
    List { kind: "volume", rows: |fleet| json(&view::volumes(fleet)), row: |to| row(view::volumes, to) },
    List {
        kind: "volume-attachment",
        rows: |fleet| json(&view::attachments(fleet)),
        row: |to| row(view::attachments, to),
    },
    List { kind: "filesystem", rows: |fleet| json(&view::filesystems(fleet)), row: |to| row(view::filesystems, to) },
    List {
        kind: "filesystem-attachment",
        rows: |fleet| json(&view::filesystem_attachments(fleet)),
        row: |to| row(view::filesystem_attachments, to),
    },
    List { kind: "replica-set", rows: |fleet| json(&view::replica_sets(fleet)), row: |to| row(view::replica_sets, to) },
    List { kind: "member", rows: |fleet| json(&view::members(fleet)), row: |to| row(view::members, to) },
    List { kind: "policy", rows: |fleet| json(&view::policies(fleet)), row: |to| row(view::policies, to) },
    List { kind: "provider", rows: |fleet| json(&view::providers(fleet)), row: |to| row(view::providers, to) },
];

/// What a row of this list looks like.
fn row<R: JsonSchema>(_: fn(&Fleet) -> Vec<R>, to: &mut SchemaGenerator) -> Schema {
    to.subschema_for::<R>()
}

/// The rows of a kind; none if nobody knows it.
pub(super) fn rows(fleet: &Fleet, kind: &str) -> Option<Result<Value, Problem>> {
    if let Some(list) = LISTS.iter().find(|list| list.kind == kind) {
        return Some((list.rows)(fleet));
    }
    match document::Kind::of(kind) {
        Some(kind) => Some(json(&view::documents(fleet, kind))),
        None => view::added_rows(fleet).find(|(name, _)| *name == kind).map(|(_, rows)| json(&rows)),
    }
}

/// The kinds that this crate has, each with what its row looks like.
pub(super) fn kinds() -> impl Iterator<Item = (&'static str, Describe)> {
    let documents = document::Kind::ALL.into_iter().map(|kind| (kind.as_str(), document_row as Describe));
    LISTS.iter().map(|list| (list.kind, list.row)).chain(documents)
}

/// The fields that rows of a kind can have; none where another program brings the kind.
pub(crate) fn fields(kind: &str) -> BTreeSet<String> {
    let Some((_, row)) = kinds().find(|(name, _)| *name == kind) else { return BTreeSet::new() };
    let mut schemas =
        SchemaGenerator::new(SchemaSettings::default().with(|settings| settings.inline_subschemas = true));
    let schema = row(&mut schemas);
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(|(name, _)| name.clone()).chain(["protected".to_owned()]).collect()
}

fn document_row(to: &mut SchemaGenerator) -> Schema {
    to.subschema_for::<DocumentRow>()
}

/// What a list of such rows looks like.
pub(super) fn list_of(row: &Schema) -> Schema {
    let protected = json_schema!({
        "type": "object",
        "properties": {"protected": {"type": "boolean", "description": "Whether it is protected from deletion; left out if not."}},
    });
    json_schema!({"type": "array", "items": {"allOf": [row, protected]}})
}

/// What the description of an object with such a row looks like.
pub(super) fn description_of(row: &Schema, to: &mut SchemaGenerator) -> Schema {
    json_schema!({"allOf": [row, to.subschema_for::<Description>()]})
}

/// A row of any kind.
#[derive(Debug)]
pub(super) enum AnyRow {}

impl JsonSchema for AnyRow {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyRow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

/// A description of an object of any kind.
pub(super) type AnyDescription = AnyRow;

/// A view as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(value).map_err(|error| Problem {
        code: "internal".into(),
        message: "cannot write the answer as JSON".into(),
        detail: vec![error.to_string()],
        next_step: None,
    })
}
