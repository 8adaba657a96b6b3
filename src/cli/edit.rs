//! `bailiwick edit`: opens an object's manifest in an editor, and applies what comes out of it.
//!
//! The manifest is written anew from what was declared last. The node is asked first whether it would change nothing as it is:
//! only then does it say all of the object, and an edit changes what the user changed and no more.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use bailiwick_journal::StreamId;
use clap::Args;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    Global, apply,
    exit::{CliError, Exit},
    named::object,
    progress::say,
    session,
};
use crate::{
    api::{
        query::Query,
        wire::change::{Changed, Declare, File},
    },
    manifest::{self, Source},
    plan::Action,
};

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// The object: `machine/web`, `machine web`, or `web` if only one object is called so
    #[arg(required = true, num_args = 1..=2, value_name = "KIND/NAME")]
    entity: Vec<String>,
}

pub(super) fn main(global: &Global, args: EditArgs) -> Result<Exit, CliError> {
    let entity = object(global, &args.entity, None)?;
    let before = described(global, &entity)?;
    let text = manifest_of(&entity, &before)?;
    says_all(global, &entity, &text)?;
    let file = Draft::write(&entity, &text)?;
    let edited = file.edited()?;
    if edited == text {
        file.remove();
        say("nothing was changed");
        return Ok(Exit::Ok);
    }
    apply_edited(global, &entity, &before, edited).map_err(|error| file.kept(error))?;
    file.remove();
    Ok(Exit::Ok)
}

fn described(global: &Global, entity: &StreamId) -> Result<Value, CliError> {
    session::ask_node(global, &Query::Describe { entity: entity.clone(), at: None })
}

/// Applies the text, unless it is about something else, or the object was declared otherwise meanwhile.
fn apply_edited(global: &Global, entity: &StreamId, before: &Value, text: String) -> Result<(), CliError> {
    let manifest = manifest::parse_open(&[Source::new(&entity.to_string(), text.as_str())])?;
    match manifest.documents.as_slice() {
        [document] if document.wish.stream() == *entity => (),
        _ => {
            let message = format!("the text does not declare {entity} and nothing else");
            return Err(CliError::new(Exit::BadInput, "invalid-manifest", message)
                .next("leave kind and name as they are; `bailiwick apply FILE` declares something else"));
        }
    }
    if described(global, entity)?["spec"] != before["spec"] {
        let message = format!("{entity} was declared otherwise meanwhile");
        return Err(CliError::new(Exit::Refused, "contended", message).next("edit it again"));
    }
    let mut changed: Changed = session::send(global, "/v1/apply", &declare(text))?;
    changed.steps.retain(|step| step.action != Action::Keep);
    apply::show(global, &changed)
}

fn declare(text: String) -> Declare {
    let file = File { name: "the edited text".into(), text };
    Declare { files: vec![file], prune: false, id: Some(Uuid::new_v4()) }
}

/// The manifest of what was declared last.
fn manifest_of(entity: &StreamId, described: &Value) -> Result<String, CliError> {
    let kind = entity.kind();
    let spec = &described["spec"];
    let named = |kind: &str, name: &Value| name.as_str().map(|name| format!("{kind}/{name}"));
    let owner = described["owner"].as_str().map(str::to_owned);
    let owner = owner.or_else(|| named("machine-set", &spec["set"]));
    let owner = owner.or_else(|| named("machine-deployment", &spec["deployment"]));
    let Some(kind) = manifest::declared_as(kind).filter(|_| kind != "account" && spec.is_object()) else {
        let next = match kind {
            "account" => "use `bailiwick account`: what is kept of tokens is for nobody to write",
            "member" => "edit its replica set",
            _ => "apply a manifest of it",
        };
        return Err(not_editable(entity, "it is not kept as a manifest").next(next));
    };
    if let Some(owner) = owner {
        return Err(not_editable(entity, &format!("{owner} made it")).next(format!("edit {owner}")));
    }
    let mut metadata = Map::new();
    if !matches!(kind, "VolumeAttachment" | "FilesystemAttachment") {
        metadata.insert("name".into(), entity.name().into());
    }
    for part in ["labels", "annotations"] {
        if described[part].as_object().is_some_and(|texts| !texts.is_empty()) {
            metadata.insert(part.into(), described[part].clone());
        }
    }
    if described["protected"] == true {
        metadata.insert("protect".into(), true.into());
    }
    let document = if metadata.is_empty() {
        json!({"apiVersion": "bailiwick/v1", "kind": kind, "spec": spec})
    } else {
        json!({"apiVersion": "bailiwick/v1", "kind": kind, "metadata": metadata, "spec": spec})
    };
    serde_saphyr::to_string(&document)
        .map_err(|error| not_editable(entity, "its manifest cannot be written").because(&error))
}

fn not_editable(entity: &StreamId, why: &str) -> CliError {
    CliError::new(Exit::Refused, "not-editable", format!("{entity} cannot be edited: {why}"))
}

/// Whether the node would change nothing if the text was applied as it is.
fn says_all(global: &Global, entity: &StreamId, text: &str) -> Result<(), CliError> {
    let cannot =
        |why: &str| not_editable(entity, why).next("change the manifest that it was declared with, and apply it");
    let planned: Result<Changed, CliError> = session::send(global, "/v1/plan", &declare(text.to_owned()));
    let planned = match planned {
        Err(error) if error.exit == Exit::BadInput => return Err(cannot("what is kept of it is not its manifest")),
        planned => planned?,
    };
    let own = planned.steps.iter().find(|step| step.entity == entity.as_str());
    match own {
        Some(step) if step.action == Action::Unchanged => Ok(()),
        Some(step) => Err(cannot(&format!("its manifest would not say all of it: {}", step.fields.join(", ")))),
        None => Err(cannot("the node does not know its manifest")),
    }
}

/// The file that is edited.
struct Draft(PathBuf);

impl Draft {
    /// Only its owner reads it.
    fn write(entity: &StreamId, text: &str) -> Result<Self, CliError> {
        let name = entity.to_string().replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-', "-");
        let path = env::temp_dir().join(format!("bailiwick-{name}-{}.yaml", Uuid::new_v4().simple()));
        let written = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        written.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
            CliError::new(Exit::Error, "unwritable", format!("cannot write {}", path.display())).because(&error)
        })?;
        Ok(Self(path))
    }

    /// What the user's editor made of it.
    fn edited(&self) -> Result<String, CliError> {
        let named =
            ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok().filter(|it| !it.trim().is_empty()));
        let edited = run_editor(&named.unwrap_or_else(|| "vi".to_owned()), &self.0);
        let read = edited.and_then(|()| {
            fs::read_to_string(&self.0).map_err(|error| {
                CliError::new(Exit::NoInput, "unreadable", format!("cannot read {}", self.0.display())).because(&error)
            })
        });
        read.inspect_err(|_| self.remove())
    }

    fn remove(&self) {
        // What is left in the folder for temporary files goes with them.
        fs::remove_file(&self.0).ok();
    }

    /// Says where the text is that was not applied.
    fn kept(&self, error: CliError) -> CliError {
        let next = format!("{}; the text is kept: `bailiwick apply {}`", error.next_step, self.0.display());
        error.next(next)
    }
}

/// Runs an editor, which may be a command with options, on a file.
fn run_editor(editor: &str, file: &Path) -> Result<(), CliError> {
    let line = format!("{editor} \"$1\"");
    let failed = |message: String| {
        CliError::new(Exit::Error, "editor", message)
            .next("set EDITOR to an editor that waits, such as `vi` or `code --wait`")
    };
    let ended: io::Result<_> = Command::new("sh").arg("-c").arg(line).arg("sh").arg(file).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("the editor `{editor}` failed: {status}; nothing was changed"))),
        Err(error) => Err(failed(format!("cannot run the editor `{editor}`; nothing was changed")).because(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(entity: &str, described: &Value) -> Result<String, CliError> {
        manifest_of(&entity.parse().expect("a stream"), described)
    }

    #[test]
    fn a_manifest_is_written_from_what_was_declared() {
        let machine = json!({
            "labels": {"tier": "web"}, "annotations": {}, "protected": true,
            "spec": {"provider": "local", "workloads": [{"name": "a", "command": ["true"]}]},
        });
        let text = written("machine/web", &machine).expect("a manifest");
        let source = Source::new("it", text.as_str());
        let manifest = manifest::parse_open(&[source]).expect("a good one");
        assert_eq!(manifest.documents.len(), 1, "{text}");
        assert_eq!(manifest.documents[0].wish.stream().as_str(), "machine/web");
        assert_eq!(manifest.documents[0].protect, Some(true));
        let attachment = json!({"spec": {"machine": "web", "volume": "data"}});
        let text = written("volume-attachment/web:data", &attachment).expect("a manifest");
        let manifest = manifest::parse_open(&[Source::new("it", text.as_str())]).expect("a good one");
        assert_eq!(manifest.documents[0].wish.stream().as_str(), "volume-attachment/web:data");
    }

    #[test]
    fn what_others_made_and_what_no_manifest_says_is_not_edited() {
        let refused = |entity: &str, described: Value| written(entity, &described).expect_err("a refusal");
        let of_set = refused("machine/web-1", json!({"spec": {"provider": "local", "set": "web"}}));
        assert_eq!((&*of_set.code, &*of_set.next_step), ("not-editable", "edit machine-set/web"));
        assert!(refused("account/ada", json!({"spec": {"role": "view"}})).next_step.contains("bailiwick account"));
        assert!(refused("member/a:1", json!({"spec": {}})).next_step.contains("replica set"));
        assert!(refused("machine/gone", json!({"spec": null})).next_step.contains("apply"));
    }

    #[test]
    fn an_editor_may_have_options_and_one_that_fails_is_told() {
        let file = Draft::write(&"machine/web".parse().expect("a stream"), "a: 1\n").expect("written");
        run_editor("sed -i -e s/1/2/", &file.0).expect("it runs");
        assert_eq!(fs::read_to_string(&file.0).expect("the text"), "a: 2\n");
        let failed = run_editor("false #", &file.0).expect_err("it fails");
        assert_eq!(&*failed.code, "editor");
        let kept = file.kept(failed);
        assert!(kept.next_step.contains(&file.0.display().to_string()), "{kept:?}");
        file.remove();
        assert!(!file.0.exists());
    }
}
