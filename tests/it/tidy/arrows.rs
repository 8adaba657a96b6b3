//! Arrows point down: a room may use what stands below it, nothing above it, and nothing beside it. The rooms inside of the
//! journal are held by `layers`.

use super::{Fault, source::Source};

/// The rooms from the bottom to the top; rooms in one row do not know one another.
///
/// One departure from the order that the house began with, because data comes before those who speak of it: `declared` is
/// the part of a kind that is written down by people (`machine/spec.rs` and its like, and the settings in `policy/document.rs`). It knows
/// nothing but words, so contract, ports and all kinds may speak of it. And with it `ports` stands below the kinds, whose
/// commands hold what a port reports.
const ROOMS: &[&[&str]] = &[
    &["journal"],
    &["vocab"],
    // Rules over words and numbers (directives, pools, sizes): whoever declares, decides or provides storage speaks of them.
    &["storage_rules"],
    &["declared"],
    &["schedule"],
    &["contract"],
    &["ports"],
    // What the two kinds of storage share, and the two kinds of attachments.
    &["storage"],
    &["attachment"],
    &[
        "document",
        "machine",
        "machine_set",
        "machine_class",
        "machine_deployment",
        "volume",
        "filesystem",
        "volume_attachment",
        "filesystem_attachment",
        "replica_set",
        "member",
        "policy",
        "provider",
    ],
    &["supervisor"],
    // Both take the one step of the contract: with a mailbox, and with what is recorded.
    &["shell", "replay"],
    // Kinds that another program brings along.
    &["custom"],
    &["testing"],
    &["text", "clock", "ownership", "guide", "juju"],
    // What entries say to people; read models and the audit both tell them.
    &["words"],
    // How people see those kinds.
    &["custom_kind"],
    &["view", "audit", "manifest"],
    &["plan"],
    // The JSON shapes of the API: `api::wire`.
    &["wire"],
    &["client"],
    &["agent"],
    // Signed heads of the journal.
    &["signing"],
    &["providers"],
    &["config"],
    // What a running node can be asked: the API serves it, `node` puts both together.
    &["handle"],
    &["api", "web"],
    &["node"],
    &["simulation"],
    // What goes wrong with a real journal is tried in the simulation.
    &["chaos"],
    // Says to all of these that there is another kind.
    &["register"],
    &["cli"],
    &["main"],
];

/// The public names of the room `declared`.
const DECLARED: [&str; 38] = [
    "Account",
    "Role",
    "Token",
    "DrainOrder",
    "GiveUpBy",
    "Judged",
    "Zones",
    "ZoneBlame",
    "NextZone",
    "LastRound",
    "NoZone",
    "Retries",
    "RetryBy",
    "Spec",
    "InstanceConfig",
    "Base",
    "Constraints",
    "StartParameters",
    "Workload",
    "spec",
    "Document",
    "Machines",
    "Storage",
    "WhenLost",
    "ReplicaSets",
    "PeerRules",
    "document",
    "Reconciliation",
    "Drain",
    "Throttle",
    "Overshoot",
    "Outage",
    "Readings",
    "ReportReading",
    "TaintReading",
    "UndeployedReading",
    "AskReading",
    "reconciliation",
];

/// Settings, written down by people.
const SETTINGS: [&str; 3] = ["policy/document.rs", "policy/reconciliation.rs", "policy/zones.rs"];

fn row(room: &str) -> Option<usize> {
    ROOMS.iter().position(|rooms| rooms.contains(&room))
}

/// Which room a file stands in; none if it may know everyone (a crate's façade, tests, examples).
fn room_of(path: &str) -> Option<String> {
    if path.starts_with("journal/src/") {
        return Some("journal".to_owned());
    }
    let (rest, is_actors) = match (path.strip_prefix("actors/src/"), path.strip_prefix("src/")) {
        (Some(rest), _) => (rest, true),
        (None, Some(rest)) => (rest, false),
        (None, None) => return None,
    };
    if rest == "lib.rs" {
        return None;
    }
    if is_actors && (rest.ends_with("/shell.rs") || rest.contains("/shell/")) {
        return Some("shell".to_owned());
    }
    if is_actors && (rest.ends_with("/spec.rs") || rest == "document/account.rs" || SETTINGS.contains(&rest)) {
        return Some("declared".to_owned());
    }
    if rest.starts_with("api/wire") {
        return Some("wire".to_owned());
    }
    let first = rest.split('/').next().unwrap_or(rest);
    Some(first.trim_end_matches(".rs").to_owned())
}

/// Which room a path leads to; none if it leads out of the workspace or stays relative.
fn target(source: &str, segments: &[String]) -> Option<String> {
    let is_actors = source.starts_with("actors/");
    let is_journal = source.starts_with("journal/");
    let (first, mut rest) = segments.split_first()?;
    let in_actors = match first.as_str() {
        "bailiwick_journal" => return Some("journal".to_owned()),
        "bailiwick_actors" => true,
        "crate" if is_journal => return None,
        "crate" if is_actors => true,
        "crate" | "bailiwick" => match rest.first()?.as_str() {
            "journal" => return Some("journal".to_owned()),
            "actors" => {
                rest = &rest[1..];
                true
            }
            _ => false,
        },
        _ => return None,
    };
    let (room, rest) = rest.split_first()?;
    // A re-export at the root of a crate, or a macro: not a room.
    if room.starts_with(|letter: char| letter.is_uppercase()) || room == "*" {
        return None;
    }
    if in_actors && rest.first().is_some_and(|next| next == "shell") {
        return Some("shell".to_owned());
    }
    let is_kind = ROOMS.iter().any(|row| row.contains(&"machine") && row.contains(&room.as_str()));
    if in_actors && is_kind && rest.first().is_some_and(|item| DECLARED.contains(&item.as_str())) {
        return Some("declared".to_owned());
    }
    if !in_actors && room == "api" && rest.first().is_some_and(|next| next == "wire") {
        return Some("wire".to_owned());
    }
    Some(room.clone())
}

/// `super::` written out, as far as the file's own place tells.
pub(super) fn absolute(source: &str, segments: &[String]) -> Vec<String> {
    let supers = segments.iter().take_while(|segment| *segment == "super").count();
    if supers == 0 {
        return segments.to_vec();
    }
    let inside = source.split_once("src/").map_or("", |(_, inside)| inside);
    let mut modules: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if modules.last() == Some(&"mod") {
        modules.pop();
    }
    // A module inside the file makes one more step; then the path stays in the file, which is no arrow.
    modules.truncate(modules.len().saturating_sub(supers));
    let mut path = vec!["crate".to_owned()];
    path.extend(modules.iter().map(|module| (*module).to_owned()));
    path.extend(segments[supers..].iter().cloned());
    path
}

pub(super) fn faults(source: &Source) -> Vec<Fault> {
    let name = source.name();
    let Some(from) = room_of(&name) else { return Vec::new() };
    let Some(from_row) = row(&from) else {
        return vec![format!("{name}: `{from}` is a new room; say in tests/it/tidy/arrows.rs where it stands")];
    };
    let mut faults = Vec::new();
    for path in source.paths().iter().filter(|path| !path.is_test) {
        let segments = absolute(&name, &path.segments);
        let Some(to) = target(&name, &segments) else { continue };
        let what = path.segments.join("::");
        let place = source.place(path.line);
        match row(&to) {
            _ if to == from => (),
            None => faults.push(format!("{place}: `{what}`: nothing is known of a room `{to}`")),
            Some(to_row) if to_row < from_row => (),
            Some(to_row) if to_row == from_row => {
                faults.push(format!(
                    "{place}: `{what}`: `{from}` and `{to}` stand side by side and do not know each other"
                ));
            }
            Some(_) => faults.push(format!("{place}: `{what}`: `{to}` stands above `{from}`, and arrows point down")),
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn faults_in(path: &str, text: &str) -> Vec<Fault> {
        faults(&Source::new(Path::new(path), text))
    }

    #[test]
    fn a_good_arrow_is_let_through() {
        for (path, text) in [
            ("actors/src/machine/decide.rs", "use crate::{contract::Facts, vocab::{Name, Life}}; use super::State;"),
            ("actors/src/machine/shell.rs", "use crate::{shell::Registry, ports::Machines};"),
            ("actors/src/ports/machines.rs", "use crate::machine::{Spec, Workload};"),
            ("actors/src/machine/decide.rs", "use crate::policy::Document;"),
            ("src/api/server.rs", "use crate::{api::wire::Node, view, actors::machine::Spec};"),
            ("src/api/server.rs", "use crate::handle::Handle;"),
            ("src/lib.rs", "pub use crate::node::Node;"),
            ("src/view/a.rs", "#[cfg(test)] mod tests { use crate::node::Node; }"),
            ("tests/it/x.rs", "use bailiwick::cli;"),
        ] {
            assert_eq!(faults_in(path, text), [""; 0], "{path}: {text}");
        }
    }

    #[test]
    fn a_planted_arrow_is_found() {
        for (path, text) in [
            ("actors/src/vocab/ids.rs", "use crate::machine::Spec;"),
            ("actors/src/machine/decide.rs", "use crate::{vocab, volume::State};"),
            ("actors/src/machine/decide.rs", "use super::super::volume::State;"),
            ("actors/src/machine/decide.rs", "fn f() { crate::shell::now() }"),
            ("actors/src/machine/decide.rs", "use crate::machine::shell::Performer;"),
            ("actors/src/ports/machines.rs", "use crate::machine::State;"),
            ("actors/src/machine/spec.rs", "use crate::ports::Lookup;"),
            ("actors/src/machine/decide.rs", "use crate::policy::State;"),
            ("src/view/machines.rs", "use crate::audit::why;"),
            ("src/view/machines.rs", "use bailiwick::cli::exit::Exit;"),
            ("src/agent/link.rs", "use crate::api::{server, wire};"),
            ("src/node.rs", "fn f() -> Result<(), crate::cli::exit::CliError> { todo() }"),
            ("src/api/server.rs", "use crate::node::Node;"),
            ("src/surprise.rs", ""),
            ("src/node.rs", "use crate::surprise::Box;"),
        ] {
            assert_eq!(faults_in(path, text).len(), 1, "{path}: {text}: {:?}", faults_in(path, text));
        }
    }
}
