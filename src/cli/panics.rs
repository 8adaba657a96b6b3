//! What is printed of a panic that the journal catches: one line, where everybody else's has a stack trace.

use std::panic::{self, PanicHookInfo};

/// The threads on which sled works, its own and those that the journal gives it. It panics on some kinds of damage; the
/// journal catches that, and goes on with its log.
const CAUGHT: [&str; 5] = ["journal-open", "journal-store", "journal-read", "journal-watch", "sled-"];

/// Has panics on these threads told as a warning of one line.
pub(super) fn tell_in_one_line() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| match line(std::thread::current().name(), info) {
        Some(line) => tracing::warn!("{line}"),
        None => usual(info),
    }));
}

fn line(thread: Option<&str>, info: &PanicHookInfo<'_>) -> Option<String> {
    let thread = thread.filter(|name| CAUGHT.iter().any(|caught| name.starts_with(caught)))?;
    let message = info.payload_as_str().unwrap_or("no message");
    let first = message.lines().next().unwrap_or_default();
    let place = info.location().map(|at| format!(" at {}:{}", crate_path(at.file()), at.line())).unwrap_or_default();
    Some(format!("the block store failed inside sled and counts as damaged: {first} ({thread}{place})"))
}

/// A file's path without what lies before its crate.
fn crate_path(file: &str) -> &str {
    let source = file.rfind("/src/").unwrap_or(0);
    file[..source].rfind('/').map_or(file, |at| &file[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_its_crate() {
        assert_eq!(
            crate_path("/home/me/registry/sled-0.34.7/src/pagecache/mod.rs"),
            "sled-0.34.7/src/pagecache/mod.rs"
        );
        assert_eq!(crate_path("journal/src/background/mod.rs"), "journal/src/background/mod.rs");
    }
}
