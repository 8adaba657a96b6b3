//! The description that is checked in is that of the code, and no change that breaks users goes unnoticed.

use std::{env, fs, path::Path};

use serde_json::{Value, json};

use super::{Describer, breaking::breaking, document};
use crate::api::server::all_routes;

/// The description of this release, beside the code.
const FILE: &str = "src/api/openapi.json";

#[test]
fn the_description_that_is_checked_in_is_that_of_the_routes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let now = document(&all_routes());
    let text = format!("{now:#}\n");
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    if text == checked_in {
        return;
    }
    let before: Value = serde_json::from_str(&checked_in).unwrap_or_default();
    let broken = breaking(&before, &now);
    let bless = env::var("BLESS").unwrap_or_default();
    assert!(
        broken.is_empty() || bless == "breaking",
        "{FILE}: whoever uses the API breaks by this; BLESS=breaking writes it all the same:\n{}",
        broken.join("\n")
    );
    assert!(!bless.is_empty(), "{FILE} is not the description of this API: BLESS=1 writes it anew");
    fs::write(path, text).expect("written");
}

#[test]
fn what_is_taken_and_answered_under_one_name_is_one_thing() {
    let mut describer = Describer::new();
    for route in all_routes() {
        let answer = route.described.answer_of();
        drop(describer.operation(&route, &route.path, &answer));
    }
    let answers = describer.answers.take_definitions(true);
    for (name, taken) in describer.requests.take_definitions(true) {
        assert!(
            answers.get(&name).is_none_or(|answered| *answered == taken),
            "{name}: {taken:#}\n{:#}",
            answers[&name]
        );
    }
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let document = document(&all_routes());
    let operations = document["paths"]
        .as_object()
        .expect("paths")
        .values()
        .flat_map(|path| path.as_object().expect("methods").values());
    let mut names: Vec<&str> = operations.filter_map(|operation| operation["operationId"].as_str()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(all > 60, "{all}");
}

/// A description with one operation.
fn one(parameters: &Value, body: &Value, answer: &Value) -> Value {
    json!({"paths": {"/v1/x": {"post": {
        "parameters": parameters,
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"200": {"content": {"application/json": {"schema": answer}}}},
    }}}, "components": {"schemas": {}}})
}

#[test]
fn what_breaks_users_is_told_and_what_is_added_does_not() {
    let object =
        |required: &[&str], fields: Value| json!({"type": "object", "required": required, "properties": fields});
    let text = json!({"type": "string"});
    let before = one(
        &json!([{"name": "at", "in": "query", "required": false, "schema": text}]),
        &object(&["a"], json!({"a": text, "b": text})),
        &object(&["c"], json!({"c": text})),
    );
    let breaks = |parameters: Value, body: Value, answer: Value| breaking(&before, &one(&parameters, &body, &answer));
    let at = json!([{"name": "at", "in": "query", "required": false, "schema": text}]);
    let (body, answer) = (object(&["a"], json!({"a": text, "b": text})), object(&["c"], json!({"c": text})));
    assert_eq!(breaks(at.clone(), body.clone(), answer.clone()), Vec::<String>::new());
    assert_eq!(breaking(&before, &json!({"paths": {}})), ["/v1/x is gone"]);
    let cases = [
        (json!([]), body.clone(), answer.clone(), "post /v1/x: the parameter at is gone"),
        (
            json!([{"name": "at", "in": "query", "required": true, "schema": text}]),
            body.clone(),
            answer.clone(),
            "post /v1/x: the parameter at is required",
        ),
        (at.clone(), object(&["a"], json!({"a": text})), answer.clone(), "post /v1/x takes: b is gone"),
        (
            at.clone(),
            object(&["a", "b"], json!({"a": text, "b": text})),
            answer.clone(),
            "post /v1/x takes: b is required",
        ),
        (
            at.clone(),
            object(&["a"], json!({"a": {"type": "integer"}, "b": text})),
            answer.clone(),
            "post /v1/x takes: a: \"string\" is \"integer\"",
        ),
        (at.clone(), body.clone(), object(&[], json!({})), "post /v1/x answers: c is gone"),
        (at.clone(), body.clone(), object(&[], json!({"c": text})), "post /v1/x answers: c may be left out"),
    ];
    for (parameters, body, answer, told) in cases {
        assert_eq!(breaks(parameters, body, answer), [told]);
    }
    // A new parameter that may be left out, a new field that may be left out, a new field in the answer.
    let more = json!([{"name": "at", "in": "query", "required": false, "schema": text}, {"name": "n", "in": "query", "required": false, "schema": text}]);
    let added = breaks(
        more,
        object(&["a"], json!({"a": text, "b": text, "z": text})),
        object(&["c", "d"], json!({"c": text, "d": text})),
    );
    assert_eq!(added, Vec::<String>::new());
}
