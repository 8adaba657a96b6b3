//! The kinds of objects, as people write them.

use crate::{
    api::query::Parameters,
    cli::{
        Global,
        exit::{CliError, Exit},
        session,
    },
    custom_kind::{self, Custom},
    manifest::nearest,
};

/// The kind that people mean.
pub(in crate::cli) fn kind_of(text: &str) -> Result<&'static str, CliError> {
    match text {
        "machine" | "machines" | "m" => Ok("machine"),
        "machine-set" | "machine-sets" | "machineset" | "machinesets" | "ms" => Ok("machine-set"),
        "machine-deployment" | "machine-deployments" | "machinedeployment" | "machinedeployments" | "md" => {
            Ok("machine-deployment")
        }
        "machine-class" | "machine-classes" | "machineclass" | "machineclasses" | "mc" => Ok("machine-class"),
        "volume" | "volumes" | "v" => Ok("volume"),
        "volume-attachment" | "volume-attachments" | "attachment" | "attachments" | "va" => Ok("volume-attachment"),
        "filesystem" | "filesystems" | "fs" => Ok("filesystem"),
        "filesystem-attachment" | "filesystem-attachments" | "fa" => Ok("filesystem-attachment"),
        "policy" | "policies" => Ok("policy"),
        "provider" | "providers" => Ok("provider"),
        "replica-set" | "replica-sets" | "replicaset" | "replicasets" | "rs" => Ok("replica-set"),
        "member" | "members" => Ok("member"),
        "space" | "spaces" => Ok("space"),
        "subnet" | "subnets" => Ok("subnet"),
        "image-metadata" | "images" => Ok("image-metadata"),
        "agent-binary" | "agent-binaries" => Ok("agent-binary"),
        "application" | "applications" | "apps" => Ok("application"),
        "model" | "models" => Ok("model"),
        "account" | "accounts" => Ok("account"),
        "juju-model" | "juju-models" => Ok("juju-model"),
        "juju-application" | "juju-applications" => Ok("juju-application"),
        "juju-machine" | "juju-machines" => Ok("juju-machine"),
        _ => custom_kind(text).map(|kind| kind.name).ok_or_else(|| unknown_kind(text)),
    }
}

/// Why a kind that is none of this program's cannot be listed: another program has it, or nobody.
pub(super) fn not_ours(global: &Global, kind: &str, unknown: CliError) -> CliError {
    match session::is_in_journal(global, Parameters { kind: Some(kind.to_owned()), ..Parameters::default() }) {
        Ok(false) => unknown,
        Err(error) => error,
        Ok(true) => {
            let message = format!("the journal has entries of kind {kind}, which this program does not know");
            let next = format!("use the program that registers it; `bailiwick log --kind {kind}` lists the entries");
            CliError::new(Exit::NotFound, "not-found", message).next(next)
        }
    }
}

/// The registered kind that people mean: `virtual-ip`, `virtual-ips`, `VirtualIp`.
fn custom_kind(text: &str) -> Option<&'static Custom> {
    let is_it = |kind: &&'static Custom| {
        kind.name == text || text.strip_suffix('s') == Some(kind.name) || kind.manifest.eq_ignore_ascii_case(text)
    };
    custom_kind::all().into_iter().find(is_it)
}

/// The kinds, as `get` lists them.
const KINDS: [&str; 22] = [
    "machines",
    "machine-sets",
    "machine-deployments",
    "machine-classes",
    "volumes",
    "volume-attachments",
    "filesystems",
    "filesystem-attachments",
    "policies",
    "providers",
    "replica-sets",
    "members",
    "spaces",
    "subnets",
    "image-metadata",
    "agent-binaries",
    "applications",
    "models",
    "accounts",
    "juju-models",
    "juju-applications",
    "juju-machines",
];

/// The kind as a heading of its objects.
pub(in crate::cli) fn plural(kind: &str) -> &str {
    KINDS.into_iter().find(|plural| kind_of(plural).is_ok_and(|known| known == kind)).unwrap_or(kind)
}

fn unknown_kind(text: &str) -> CliError {
    let custom = custom_kind::all();
    let all: Vec<&str> = KINDS.into_iter().chain(custom.iter().map(|kind| kind.name)).collect();
    let near = nearest(text, all.iter().copied()).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    let (last, all) = all.split_last().expect("there are kinds");
    CliError::usage(format!("unknown kind {text:?}")).next(format!("{near}use {} or {last}", all.join(", ")))
}
