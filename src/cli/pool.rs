//! `bailiwick pool`: where storage comes from; and `add-storage`, which has some come from there.

use std::{collections::BTreeMap, time::Duration};

use bailiwick_actors::{
    storage_rules::{
        Directive, Minimum, PoolName, PoolSettings, ProviderType, StorageConfig, StorageKind, demand, directives,
    },
    vocab::Name,
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Global, apply,
    exit::{CliError, Exit},
    get::{list, map, text},
    output::{Column, Table},
    session, wait,
};
use crate::{
    api::{
        query::Query,
        wire::change::{ChangePool, Decided, PoolChange},
    },
    manifest::limits,
};

#[derive(Debug, Subcommand)]
pub(super) enum PoolCommand {
    /// Create a pool
    Create(CreateArgs),
    /// List pools
    List(ListArgs),
    /// Remove a pool; storage created from it is kept
    Remove(RemoveArgs),
    /// Set the default pool of volumes or filesystems; existing storage is kept
    Default(DefaultArgs),
}

#[derive(Debug, Args)]
pub(super) struct DefaultArgs {
    /// The kind of storage
    #[arg(value_enum)]
    what: What,
    /// The pool [default: the built-in one, `loop` for volumes, `rootfs` for filesystems]
    #[arg(value_name = "POOL")]
    pool: Option<PoolName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    Volumes,
    Filesystems,
}

#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// Its name: a letter, then letters, digits, hyphens or question marks
    #[arg(value_name = "POOL")]
    name: PoolName,
    /// Its provider: loop, tmpfs, rootfs, directory, local, or exec or external with `provider=NAME`
    #[arg(value_name = "PROVIDER")]
    provider: ProviderType,
    /// Attributes for the provider: `volume-type=ssd`; recorded and shown: never put secrets here
    #[arg(value_name = "NAME=VALUE", value_parser = attribute)]
    attributes: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// As of this moment: an entry (`@41`), a time, or how long ago (`-2h`)
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    /// The pool to remove
    #[arg(value_name = "POOL")]
    name: PoolName,
}

fn attribute(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| "write NAME=VALUE".to_owned())
}

pub(super) fn main(global: &Global, command: PoolCommand) -> Result<Exit, CliError> {
    match command {
        PoolCommand::List(args) => {
            let rows = session::ask(global, &Query::Pools { at: session::at(args.at.as_deref())? })?;
            global.output.show_list(&rows, || table(&rows))?;
            Ok(Exit::Ok)
        }
        PoolCommand::Create(CreateArgs { name, provider, attributes }) => {
            let settings = PoolSettings { provider, attributes: attributes.into_iter().collect() };
            change(global, PoolChange::Create { name, settings })
        }
        PoolCommand::Remove(RemoveArgs { name }) => change(global, PoolChange::Remove { name }),
        PoolCommand::Default(DefaultArgs { what, pool: name }) => {
            let kind = match what {
                What::Volumes => StorageKind::Block,
                What::Filesystems => StorageKind::Filesystem,
            };
            change(global, PoolChange::Default { kind, name })
        }
    }
}

fn change(global: &Global, change: PoolChange) -> Result<Exit, CliError> {
    let wanted = ChangePool { change, id: Some(Uuid::new_v4()) };
    let decided: Decided = session::send(global, "/v1/pools", &wanted)?;
    global.output.show(&decided, || {
        let mut table = Table::of([Column::always("ENTITY"), Column::always("BECAUSE")]);
        table.add([decided.entity.as_str().into(), decided.reason.as_str().into()]);
        table
    })?;
    Ok(Exit::Ok)
}

fn table(rows: &Value) -> Table<7> {
    let mut table = Table::of([
        Column::required("POOL"),
        Column::required("PROVIDER"),
        Column::required("MAKES"),
        Column::required("INSIDE"),
        Column::always("DEFAULT"),
        Column::always("ATTRIBUTES"),
        Column::wide("OWN"),
    ]);
    let yes = |value: &Value| if *value == true { "yes" } else { "no" };
    for row in rows.as_array().into_iter().flatten() {
        table.add([
            text(&row["name"]),
            text(&row["provider"]),
            text(&row["makes"]),
            yes(&row["inside"]).into(),
            list(&row["default"]),
            map(&row["attributes"]),
            yes(&row["own"]).into(),
        ]);
    }
    table
}

#[derive(Debug, Args)]
pub(super) struct AddStorageArgs {
    /// The machine to attach it to
    #[arg(value_name = "MACHINE")]
    machine: Name,
    /// Its name, with optional pool, count and size in any order: `data`, `data=1G`, `data=fast,10G,2`
    #[arg(required = true, value_name = "NAME[=POOL,COUNT,SIZE]")]
    storage: Vec<String>,
    /// Create filesystems instead of volumes, unless the pool decides
    #[arg(long)]
    filesystem: bool,
    /// Wait until everything declared is ready
    #[arg(long)]
    wait: bool,
    /// Time limit of --wait: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: Duration,
}

/// Declares storage and its attachments to one machine: all of it or nothing.
pub(super) fn add_storage(global: &Global, args: AddStorageArgs) -> Result<Exit, CliError> {
    let wanted = directives(&args.storage)
        .map_err(|error| CliError::usage(error.to_string()).next("write NAME or NAME=POOL,COUNT,SIZE"))?;
    let pools = session::ask(global, &Query::Pools { at: None })?;
    let kind = if args.filesystem { StorageKind::Filesystem } else { StorageKind::Block };
    let mut documents = Vec::new();
    for (name, directive) in &wanted {
        let has_value = args.storage.iter().any(|text| text.starts_with(&format!("{name}=")));
        documents.extend(documents_for(&args.machine, name, directive, has_value, kind, &pools)?);
    }
    let text: Vec<String> = documents.iter().map(Value::to_string).collect();
    apply::add(global, text.join("\n---\n"))?;
    if args.wait {
        return wait::until_converged(global, args.timeout);
    }
    Ok(Exit::Ok)
}

/// Where storage comes from that names no pool, as the list of pools tells.
fn defaults(pools: &Value) -> StorageConfig {
    let default_of = |kind: &str| {
        let mut rows = pools.as_array().into_iter().flatten();
        let row = rows.find(|row| row["default"].as_array().is_some_and(|kinds| kinds.iter().any(|of| of == kind)))?;
        row["name"].as_str()?.parse().ok()
    };
    StorageConfig {
        default_block_pool: default_of("volumes"),
        default_filesystem_pool: default_of("filesystems"),
        ..StorageConfig::default()
    }
}

fn documents_for(
    machine: &Name,
    name: &Name,
    directive: &Directive,
    has_value: bool,
    kind: StorageKind,
    pools: &Value,
) -> Result<Vec<Value>, CliError> {
    let demand = demand(kind, has_value.then_some(directive), Minimum::default(), &defaults(pools));
    let pool = demand.pool.to_string();
    let row = pools.as_array().into_iter().flatten().find(|row| row["name"] == pool.as_str());
    let row = row.ok_or_else(|| {
        CliError::new(Exit::NotFound, "no-such-pool", format!("pool {pool} not found"))
            .next("`bailiwick pool list` lists all pools")
    })?;
    if limits::CLAIM_COUNT_MAX < demand.count {
        return Err(CliError::usage(format!("{name}: at most {} at once", limits::CLAIM_COUNT_MAX)));
    }
    let (kind, attachment, field) = match row["makes"].as_str() {
        Some("filesystems") => ("Filesystem", "FilesystemAttachment", "filesystem"),
        _ => ("Volume", "VolumeAttachment", "volume"),
    };
    let mut documents = Vec::new();
    for number in 0..demand.count {
        let name = if demand.count == 1 { name.to_string() } else { format!("{name}-{number}") };
        let mut spec = BTreeMap::from([("pool", row["name"].clone()), ("size", demand.size.to_string().into())]);
        if row["inside"] == true {
            spec.insert("machine", machine.as_str().into());
        }
        let version = "bailiwick/v1";
        documents.push(json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name }, "spec": spec }));
        let spec = json!({ "machine": machine, field: name });
        documents.push(json!({ "apiVersion": version, "kind": attachment, "spec": spec }));
    }
    Ok(documents)
}
