//! The description of the API as OpenAPI 3.1: made from the routes as they are, with the types of their handlers.
//!
//! `openapi.json` beside this file is the description of this release. A test compares the two, and says which changes would
//! break those who use the API.

#[cfg(test)]
mod breaking;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, transform::Transform};
use serde_json::{Map, Value, json};

use super::{
    described::{Answer, Describe},
    lists,
    questions::{DESCRIBE, LIST},
    routes::Route,
    wire::problem::Problem,
};

/// Describes these routes.
pub(super) fn document(routes: &[Route]) -> Value {
    let mut describer = Describer::new();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for route in routes {
        let path = route.path.replace(":.*}", "}");
        let asked = route.path.strip_prefix("/v1");
        if !matches!(asked, Some(LIST | DESCRIBE)) {
            let operation = describer.operation(route, &path, &route.described.answer_of());
            paths.entry(path).or_default().insert(route.method.to_lowercase(), operation);
            continue;
        }
        for (kind, row) in lists::kinds() {
            let row = row(&mut describer.answers);
            let answer = match asked {
                Some(LIST) => lists::list_of(&row),
                _ => lists::description_of(&row, &mut describer.answers),
            };
            let path = path.replace("{kind}", kind);
            let operation = describer.operation(route, &path, &Content::json(answer));
            paths.entry(path).or_default().insert(route.method.to_lowercase(), operation);
        }
    }
    describer.document(paths)
}

/// What an answer has in it.
struct Content {
    media: &'static str,
    schema: Inner,
}

enum Inner {
    Named(Describe),
    Said(Schema),
    Text,
}

impl Content {
    fn json(schema: Schema) -> Self {
        Self { media: JSON, schema: Inner::Said(schema) }
    }
}

const JSON: &str = "application/json";

impl super::described::Described {
    fn answer_of(&self) -> Content {
        match self.answer {
            Answer::Json(describe) => Content { media: JSON, schema: Inner::Named(describe) },
            Answer::Text(media) => Content { media, schema: Inner::Text },
        }
    }
}

/// Describes types: what is taken may leave out what has a default, what is answered says all that it has.
struct Describer {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Describer {
    fn new() -> Self {
        let settings = || {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = "/components/schemas".into();
            settings.with_transform(ShortTexts)
        };
        Self {
            requests: SchemaGenerator::new(settings().for_deserialize()),
            answers: SchemaGenerator::new(settings().for_serialize()),
        }
    }

    fn operation(&mut self, route: &Route, path: &str, answer: &Content) -> Value {
        let mut parameters: Vec<Value> = parts(path).map(of_path).collect();
        if let Some(query) = route.described.query {
            parameters.extend(of_query(&shortened(query(&mut self.requests))));
        }
        if route.described.takes_version {
            parameters.push(json!({
                "name": "If-Match", "in": "header", "required": false, "schema": {"type": "string", "pattern": "^\"?[0-9]{1,19}\"?$"},
                "description": "The version of the object as it was seen; if it is another one meanwhile, nothing is done, and the answer is 412",
            }));
        }
        let schema = match &answer.schema {
            Inner::Named(describe) => shortened(describe(&mut self.answers)),
            Inner::Said(schema) => shortened(schema.clone()),
            Inner::Text => json!({"type": "string"}),
        };
        let problem = self.answers.subschema_for::<Problem>();
        let mut operation = json!({
            "operationId": id(route.method, path),
            "summary": route.about,
            "x-needs": route.needs,
            "security": security(route.needs),
            "parameters": parameters,
            "responses": {
                "200": {"description": "Success", "content": {media(answer.media): {"schema": schema}}},
                "default": {"description": "Why not, and what to do next", "content": {JSON: {"schema": problem}}},
            },
        });
        if let Some(body) = route.described.body {
            let schema = shortened(body(&mut self.requests));
            operation["requestBody"] = json!({"required": true, "content": {JSON: {"schema": schema}}});
        }
        operation
    }

    fn document(mut self, paths: BTreeMap<String, Map<String, Value>>) -> Value {
        let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
        for (name, schema) in
            self.requests.take_definitions(true).into_iter().chain(self.answers.take_definitions(true))
        {
            // What is taken and answered alike is described once, as it is answered.
            schemas.insert(name, schema);
        }
        name_forms(&mut schemas);
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "bailiwick",
                "version": env!("CARGO_PKG_VERSION"),
                "summary": "The API of a node: what there is, why it is like that, and what to change",
                "description": "Kinds that a program registers are listed and described like the others. Every failure is a \
                    Problem whose code is stable.",
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "servers": [{"url": "/"}],
            "paths": paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {
                    "token": {"type": "http", "scheme": "bearer", "description": "The token of an account"},
                    "agentToken": {"type": "http", "scheme": "bearer", "description": "The token of a machine's agent"},
                },
            },
        })
    }
}

/// Gives what one form of several has inside a name of its own: `VerbHold`. Generators of clients need one.
fn name_forms(schemas: &mut BTreeMap<String, Value>) {
    let mut named = BTreeMap::new();
    for (name, schema) in schemas.iter_mut() {
        for form in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            let fields = form.get_mut("properties").and_then(Value::as_object_mut);
            for (field, inner) in fields.into_iter().flatten().filter(|(_, inner)| inner["type"] == "object") {
                let own = format!("{name}{}{}", field[..1].to_uppercase(), &field[1..]);
                let reference = json!({"$ref": format!("#/components/schemas/{own}")});
                named.insert(own, std::mem::replace(inner, reference));
            }
        }
    }
    schemas.extend(named);
}

/// The parts of a path that are filled in.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn of_path(name: &str) -> Value {
    let about = match name {
        "kind" => "The kind of object: `machine`",
        "name" => "The name of the object",
        "machine" => "The name of the machine",
        "entry" => "An entry of the journal: `@17`",
        "goal" => "What it should be like: `ready`, `removed`",
        _ => "A part of the path",
    };
    let pattern = match name {
        "kind" => "^[a-z][a-z0-9-]{0,62}$",
        "name" => "^[a-z0-9]([a-z0-9:/-]{0,188}[a-z0-9])?$",
        "entry" => "^@[0-9]{1,19}$",
        _ => "^[a-z][a-z-]{0,62}$",
    };
    let schema = json!({"type": "string", "pattern": pattern});
    json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema})
}

/// The fields of an object as parameters.
fn of_query(object: &Value) -> Vec<Value> {
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = object.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
        never_null(&mut schema);
        let required = required.contains(&Value::from(name.as_str()));
        json!({"name": name, "in": "query", "required": required, "description": about, "schema": schema})
    };
    fields.into_iter().map(parameter).collect()
}

/// What stands in a path is there or not, and never null.
fn never_null(schema: &mut Value) {
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|of| of != "null");
        if let [one] = types.as_slice() {
            schema["type"] = one.clone();
        }
    }
    let named = schema["anyOf"].as_array().and_then(|forms| forms.iter().find(|form| form["type"] != "null"));
    if let Some(named) = named.cloned() {
        *schema = named;
    }
}

/// `GET /v1/entities/machine/{name}` is `get_entities_machine_name`.
fn id(method: &str, path: &str) -> String {
    // The one path that is also there under `/v1`.
    let path = if path == "/metrics" { "root_metrics" } else { path.trim_start_matches("/v1").trim_start_matches('/') };
    let path = format!("{}_{path}", method.to_lowercase());
    path.chars()
        .filter(|letter| !matches!(letter, '{' | '}'))
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect()
}

fn media(media: &str) -> &str {
    media.split(';').next().unwrap_or(media)
}

fn security(needs: &str) -> Value {
    match needs {
        "anyone" => json!([]),
        "agent" => json!([{"agentToken": []}]),
        // Users of the node's own machine need no token on its socket.
        _ => json!([{"token": []}, {}]),
    }
}

/// Texts as documentation has them, for readers of the description: without line breaks and links, and without titles.
#[derive(Clone, Debug)]
struct ShortTexts;

/// Makes one list of forms that are a word each; what each of them means goes into the description of all.
fn one_list_of_words(schema: &mut Schema) {
    let Some(forms) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let (mut words, mut meanings, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for form in forms {
        match (form.get("const"), form.get("enum").and_then(Value::as_array)) {
            (Some(Value::String(word)), _) => {
                let meaning = form.get("description").and_then(Value::as_str);
                meanings.extend(meaning.map(|meaning| format!("`{word}`: {meaning}")));
                words.push(Value::from(word.as_str()));
            }
            (None, Some(some)) if form["type"] == "string" => words.extend(some.iter().cloned()),
            _ => others.push(form.clone()),
        }
    }
    if words.is_empty() {
        return;
    }
    let object = schema.ensure_object();
    let description = object.get("description").and_then(Value::as_str).map(str::to_owned);
    let described: Vec<String> = description.into_iter().chain(meanings).collect();
    if !described.is_empty() {
        object.insert("description".to_owned(), described.join(" ").into());
    }
    if others.is_empty() {
        object.remove("oneOf");
        object.insert("type".to_owned(), "string".into());
        object.insert("enum".to_owned(), words.into());
    } else {
        let all = [json!({"type": "string", "enum": words})].into_iter().chain(others);
        object.insert("oneOf".to_owned(), all.collect());
    }
}

fn shortened(mut schema: Schema) -> Value {
    ShortTexts.transform(&mut schema);
    schema.to_value()
}

impl Transform for ShortTexts {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.as_bool() == Some(true) {
            // Anything at all. Some generators of clients take no other form.
            *schema = Schema::default();
            schema.ensure_object();
        }
        schema.remove("$schema");
        schema.remove("title");
        // What is named twice is taken as if it were named once.
        schema.remove("uniqueItems");
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace("\n\n", " ").replace('\n', " ").replace("[`", "`").replace("`]", "`");
        }
        one_list_of_words(schema);
        schemars::transform::transform_subschemas(self, schema);
    }
}
