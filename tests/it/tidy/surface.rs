//! The public API of the three crates, as a printed list: what is added, changed or taken away is read before it goes in.
//! `BLESS=1` writes it anew.
//!
//! The list is that of the default build. What is hidden from the documentation is no API, and what macros write and which
//! traits are implemented is not looked at.

mod items;
mod reached;

use super::{hold_list, root};

/// The crates, and where they begin.
const CRATES: [(&str, &str); 3] = [
    ("bailiwick", "src/lib.rs"),
    ("bailiwick_actors", "actors/src/lib.rs"),
    ("bailiwick_journal", "journal/src/lib.rs"),
];

#[test]
fn the_public_api_is_the_one_that_was_read() {
    let mut list = String::from("The public API of the default build, by crate. BLESS=1 writes the list anew.\n");
    for (name, file) in CRATES {
        let lines = reached::lines(name, &items::of(name, &root().join(file)));
        list += &format!("\n# {name}\n{}\n", lines.join("\n"));
    }
    hold_list("api.txt", &list, "another public API than was read last (BLESS=1 keeps it)");
}
