//! The API beside its own description: whatever is sent, the answers are as described; and a client that is generated from it
//! does what the README shows.
//!
//! Both need Python tools ([`PROGRAMS`]); where they are missing that is said, and where `BAILIWICK_CI` is set it is a failure.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value, json};

use super::network::Site;

/// What makes requests from a description, and what makes a client of it: `.ci/python.txt`.
const PROGRAMS: [&str; 2] = ["schemathesis", "openapi-python-client"];

/// Whether the tools are there.
fn is_equipped() -> bool {
    let is_there =
        |program: &&str| Command::new(program).arg("--version").output().is_ok_and(|told| told.status.success());
    let Some(missing) = PROGRAMS.iter().find(|program| !is_there(program)) else { return true };
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "the API's description cannot be tested here: no {missing}");
    let told =
        format!("NOT TESTED FOR REAL: the API's description needs {missing}; run: pip install -r .ci/python.txt\n");
    std::io::stderr().lock().write_all(told.as_bytes()).expect("told");
    false
}

/// A node with something of nearly every kind, from the examples, and the token of an admin.
fn site() -> (Site, String) {
    let site = Site::new(&[]);
    let token = site.account(&["ada", "--role", "admin"]);
    for example in ["lab", "web", "rollout", "fleet"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{example}.yaml"));
        site.lab().run(&["apply", path.to_str().expect("text")]).code(0);
    }
    (site, token)
}

/// Narrows the names in paths to objects that there are, so that most questions are about something.
fn only_what_there_is(site: &Site, token: &str, document: &mut Value) {
    for (path, methods) in document["paths"].as_object_mut().into_iter().flatten() {
        let Some(kind) = path.strip_prefix("/v1/entities/").and_then(|rest| rest.strip_suffix("/{name}")) else {
            continue;
        };
        let rows = site.ask_with(token, "GET", &format!("/v1/entities/{kind}"), "").body;
        let names: Vec<&Value> = rows.as_array().into_iter().flatten().map(|row| &row["name"]).collect();
        if !names.is_empty() {
            methods["get"]["parameters"][0]["schema"] = json!({"type": "string", "enum": names});
        }
    }
}

/// What the node says of its API, in a file.
fn written(site: &Site, token: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
    let answer = site.ask_with(token, "GET", "/v1/openapi.json", "");
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut document = answer.body;
    change(&mut document);
    let path = site.lab().data().join("../openapi.json");
    fs::write(&path, document.to_string()).expect("written");
    path.canonicalize().expect("a path")
}

#[test]
#[ignore = "takes long"]
fn whatever_is_asked_is_answered_as_described_and_never_by_an_error_of_the_node() {
    if !is_equipped() {
        return;
    }
    let (site, token) = site();
    let mut operations = 0;
    let description = written(&site, &token, |document| {
        let paths = document["paths"].as_object().into_iter().flatten();
        operations = paths.map(|(_, methods)| methods.as_object().map_or(0, Map::len)).sum();
        close(document);
        only_what_there_is(&site, &token, document);
    });
    let examples = std::env::var("EXAMPLES").unwrap_or_else(|_| "12".to_owned());
    let mut asked = Command::new("schemathesis");
    asked.arg("run").arg(&description).args(["--url", &site.url(), "--max-examples", &examples, "--seed", "24"]);
    asked.arg("--tls-verify").arg(site.lab().data().join("tls/ca.pem"));
    asked.args(["--header", &format!("Authorization: Bearer {token}")]);
    // Events never end, and agents are on the node's own machine.
    asked.args(["--exclude-path", "/v1/watch", "--exclude-path-regex", "^/v1/agents/"]);
    asked.args(["--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--suppress-health-check", "all"]);
    let told = asked.current_dir(site.lab().data().join("..")).output().expect("it runs");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{text}\n{}", String::from_utf8_lossy(&told.stderr));
    // All but the events.
    let asked = format!("{} passed", operations - 1);
    assert!(operations > 60 && text.matches(&asked).count() == 2, "not all was asked: {text}");
    assert!(site.ask_with(&token, "GET", "/v1/status", "").status == 200, "the node goes on");
}

/// What is looked at: no 5xx, and status, media type and every field of each answer as described; what the description does
/// not allow is refused.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection";

/// Lets no answer have fields that are not described. Users get no such promise: answers may have more in later releases.
fn close(document: &mut Value) {
    let (mut taken, mut answered, mut parts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for operation in
        document["paths"].as_object().into_iter().flatten().flat_map(|(_, methods)| methods.as_object()).flatten()
    {
        named(document, &operation.1["requestBody"], &mut taken);
        named(document, &operation.1["responses"], &mut answered);
    }
    parts_of_others(document, &mut parts);
    let all: Vec<String> = answered.difference(&taken).filter(|name| !parts.contains(*name)).cloned().collect();
    for name in all {
        close_schema(&mut document["components"]["schemas"][&name]);
    }
    for methods in document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut()) {
        for operation in methods.as_object_mut().into_iter().flat_map(|methods| methods.values_mut()) {
            close_schema(&mut operation["responses"]["200"]["content"]["application/json"]["schema"]);
        }
    }
}

fn name_of(value: &Value) -> Option<&str> {
    value["$ref"].as_str()?.rsplit('/').next()
}

/// The names that a schema rests on.
fn named(document: &Value, value: &Value, names: &mut BTreeSet<String>) {
    if let Some(name) = name_of(value)
        && names.insert(name.to_owned())
    {
        named(document, &document["components"]["schemas"][name], names);
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|value| named(document, value, names)),
        Value::Array(values) => values.iter().for_each(|value| named(document, value, names)),
        _ => (),
    }
}

/// The names whose fields stand among those of another.
fn parts_of_others(value: &Value, names: &mut BTreeSet<String>) {
    names.extend(value["allOf"].as_array().into_iter().flatten().filter_map(name_of).map(str::to_owned));
    match value {
        Value::Object(fields) => fields.values().for_each(|value| parts_of_others(value, names)),
        Value::Array(values) => values.iter().for_each(|value| parts_of_others(value, names)),
        _ => (),
    }
}

fn close_schema(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    let is_open = fields.contains_key("properties") || fields.contains_key("allOf");
    if is_open && !fields.contains_key("additionalProperties") {
        fields.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(inner) {
            close_schema(inner);
        }
    }
    for inner in ["properties", "$defs"] {
        fields
            .get_mut(inner)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flat_map(|all| all.values_mut())
            .for_each(close_schema);
    }
    for inner in ["anyOf", "oneOf"] {
        fields.get_mut(inner).and_then(Value::as_array_mut).into_iter().flatten().for_each(close_schema);
    }
}

#[test]
#[ignore = "takes long"]
fn a_client_that_is_generated_from_the_description_does_what_the_readme_shows() {
    if !is_equipped() {
        return;
    }
    let site = Site::new(&[]);
    let token = site.account(&["ada", "--role", "operate"]);
    let description = written(&site, &token, |_| ());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = site.lab().data().join("../client");
    fs::create_dir(&folder).expect("a directory");
    let mut made = Command::new("openapi-python-client");
    made.arg("generate").arg("--path").arg(&description).args(["--meta", "none", "--fail-on-warning"]);
    made.arg("--config").arg(root.join(".ci/python-client.json"));
    let made = made.arg("--output-path").arg(folder.join("bailiwick_client")).output().expect("it runs");
    assert!(
        made.status.success(),
        "{}{}",
        String::from_utf8_lossy(&made.stdout),
        String::from_utf8_lossy(&made.stderr)
    );
    let mut tour = Command::new(interpreter());
    tour.arg(root.join("tests/it/up/client_tour.py")).arg(root.join("examples/lab.yaml"));
    tour.env("PYTHONPATH", &folder).env("NODE", site.url()).env("TOKEN", &token);
    let told = tour.env("CA", site.lab().data().join("tls/ca.pem")).output().expect("it runs");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{text}\n{}", String::from_utf8_lossy(&told.stderr));
    assert!(text.ends_with("everything is gone\n"), "{text}");
}

/// The Python that has what the generated client needs: the one that the generator runs with.
fn interpreter() -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&paths).find(|folder| folder.join(PROGRAMS[1]).exists()).expect("it was just run");
    found.join("python3")
}
