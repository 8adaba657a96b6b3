//! `bailiwick storage`, `attach`, `detach`, `release`, `destroy` and `import`: what operators ask of volumes and filesystems.

use std::time::Duration;

use bailiwick_actors::vocab::{InstanceId, Name, SizeMib};
use bailiwick_journal::StreamId;
use clap::Args;
use serde_json::Value;
use uuid::Uuid;

use super::{
    Global, apply,
    delete::say_blocked,
    exit::{CliError, Exit},
    get::{list, status, text},
    named::entity,
    output::{Column, Table},
    session, wait,
};
use crate::{
    api::{
        query::Query,
        wire::change::{Changed, Import, Remove},
    },
    manifest,
    text::cut,
};

#[derive(Debug, Args)]
pub(super) struct StorageArgs {
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

/// One table of all volumes and filesystems.
pub(super) fn storage(global: &Global, args: StorageArgs) -> Result<Exit, CliError> {
    let rows = session::ask(global, &Query::Storage { at: session::at(args.at.as_deref())? })?;
    global.output.show_list(&rows, || table(&rows))?;
    Ok(Exit::Ok)
}

fn table(rows: &Value) -> Table<7> {
    let mut table = Table::of([
        Column::required("STORAGE"),
        Column::always("POOL"),
        Column::required("SIZE"),
        Column::always("WHERE"),
        Column::required("STATUS"),
        Column::always("DETAIL"),
        Column::wide("FOR"),
    ]);
    for row in rows.as_array().into_iter().flatten() {
        table.add([
            text(&row["storage"]),
            text(&row["pool"]),
            text(&row["size"]),
            list(&row["where"]),
            status(&row["status"]),
            text(&row["detail"]),
            text(&row["owner"]),
        ]);
    }
    table
}

#[derive(Debug, Args)]
pub(super) struct AttachArgs {
    /// A volume or filesystem: `volume/data`, `filesystem/files`
    #[arg(value_name = "KIND/NAME")]
    storage: String,
    /// The machine
    #[arg(value_name = "MACHINE")]
    machine: Name,
    /// Attach it read-only
    #[arg(long)]
    read_only: bool,
    /// Mount path of a filesystem [default: chosen by its provider]
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Wait until everything declared is ready
    #[arg(long)]
    wait: bool,
    /// Time limit of --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: Duration,
}

/// Declares an attachment, as a manifest would.
pub(super) fn attach(global: &Global, args: AttachArgs) -> Result<Exit, CliError> {
    let storage = stored(&args.storage)?;
    let (kind, field) = match storage.kind() {
        "volume" => ("VolumeAttachment", "volume"),
        _ => ("FilesystemAttachment", "filesystem"),
    };
    let mut spec = serde_json::json!({ "machine": args.machine, field: storage.name() });
    if args.read_only {
        spec["readOnly"] = true.into();
    }
    if let Some(path) = &args.path {
        if storage.kind() == "volume" {
            return Err(CliError::usage("a volume is not mounted").next("omit --path, or name a filesystem"));
        }
        spec["path"] = path.as_str().into();
    }
    // Whoever names what is not there hears that, and what it may have meant, not of a manifest that nobody wrote.
    session::require_node(global)?;
    let machine =
        StreamId::new("machine", args.machine.as_str()).map_err(|error| CliError::usage(error.to_string()))?;
    for entity in [storage, machine] {
        session::ask(global, &Query::Describe { entity, at: None })?;
    }
    let document = serde_json::json!({ "apiVersion": "bailiwick/v1", "kind": kind, "spec": spec });
    // JSON is YAML.
    apply::add(global, document.to_string())?;
    if args.wait {
        return wait::until_converged(global, args.timeout);
    }
    Ok(Exit::Ok)
}

#[derive(Debug, Args)]
pub(super) struct DetachArgs {
    /// A volume or filesystem: `volume/data`, `filesystem/files`
    #[arg(value_name = "KIND/NAME")]
    storage: String,
    /// The machine
    #[arg(value_name = "MACHINE")]
    machine: Name,
    #[command(flatten)]
    going: GoingArgs,
}

#[derive(Debug, Args)]
pub(super) struct LeaveArgs {
    /// A volume or filesystem: `volume/data`, `filesystem/files`
    #[arg(value_name = "KIND/NAME")]
    storage: String,
    #[command(flatten)]
    going: GoingArgs,
}

/// How something goes.
#[derive(Debug, Args)]
struct GoingArgs {
    /// Do not wait for its attachments or its provider; what may be left behind is recorded
    #[arg(long)]
    force: bool,
    /// Wait until it is gone
    #[arg(long)]
    wait: bool,
    /// Time limit of --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: Duration,
}

pub(super) fn detach(global: &Global, args: DetachArgs) -> Result<Exit, CliError> {
    let storage = stored(&args.storage)?;
    let kind = format!("{}-attachment", storage.kind());
    let attachment = StreamId::new(&kind, &format!("{}:{}", args.machine, storage.name()));
    let attachment = attachment.map_err(|error| CliError::usage(error.to_string()))?;
    go(global, attachment, &args.going, Remove::default())
}

pub(super) fn release(global: &Global, args: LeaveArgs) -> Result<Exit, CliError> {
    go(global, stored(&args.storage)?, &args.going, Remove { release: true, ..Remove::default() })
}

pub(super) fn destroy(global: &Global, args: LeaveArgs) -> Result<Exit, CliError> {
    go(global, stored(&args.storage)?, &args.going, Remove { destroy: true, ..Remove::default() })
}

fn go(global: &Global, entity: StreamId, going: &GoingArgs, how: Remove) -> Result<Exit, CliError> {
    let remove = Remove { entities: vec![entity.clone()], force: going.force, id: Some(Uuid::new_v4()), ..how };
    let changed: Changed = session::send(global, "/v1/remove", &remove)?;
    apply::show(global, &changed)?;
    say_blocked(global, &changed);
    if going.wait {
        return wait::until_gone(global, &[entity], going.timeout);
    }
    Ok(Exit::Ok)
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The name of the volume here: `volume/old`
    #[arg(value_name = "volume/NAME")]
    volume: String,
    /// The provider of the volume
    #[arg(long, value_name = "PROVIDER")]
    provider: Name,
    /// The provider's id of the volume; for `loop`, a file in `storage/volumes/import` of the machine's directory
    #[arg(long, value_name = "ID")]
    volume_id: String,
    /// The machine that has it, if its provider needs to know
    #[arg(long, value_name = "MACHINE")]
    machine: Option<Name>,
    /// Minimum size; a smaller volume is refused
    #[arg(long, default_value = "1M", value_name = "SIZE", value_parser = size)]
    size: SizeMib,
}

/// Has a volume that is there already taken over, with its data.
pub(super) fn import(global: &Global, args: ImportArgs) -> Result<Exit, CliError> {
    let volume = stored(&args.volume)?;
    if volume.kind() != "volume" {
        return Err(CliError::usage(format!("{volume} is not a volume")).next("write volume/NAME"));
    }
    let import = Import {
        entity: volume,
        provider: args.provider,
        volume_id: InstanceId(args.volume_id),
        machine: args.machine,
        size_mib: args.size.0,
        id: Some(Uuid::new_v4()),
    };
    let changed: Changed = session::send(global, "/v1/import", &import)?;
    apply::show(global, &changed)?;
    Ok(Exit::Ok)
}

fn size(text: &str) -> Result<SizeMib, String> {
    manifest::size(text).ok_or_else(|| format!("{:?} is not a size: write a number with M, G, T or P", cut(text, 40)))
}

/// A volume or filesystem.
fn stored(text: &str) -> Result<StreamId, CliError> {
    let entity = entity(text)?;
    if matches!(entity.kind(), "volume" | "filesystem") {
        return Ok(entity);
    }
    Err(CliError::usage(format!("{entity} is neither a volume nor a filesystem"))
        .next("write volume/NAME or filesystem/NAME"))
}
