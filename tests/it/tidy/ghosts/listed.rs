//! What the program does not call, and stays: each with the reason.

/// Functions by the reason why they stay, which holds for all of them.
pub(super) const LISTED: &[(&str, &[&str])] = &[
    (
        "programs that embed a node call them, as `examples/embed.rs` does",
        &[
            "bailiwick::config::*::machine_provider",
            "bailiwick::config::*::exec_provider",
            "bailiwick::config::*::volume_provider",
            "bailiwick::config::*::filesystem_provider",
            "bailiwick::config::*::engine",
            "bailiwick::config::*::budget",
            "bailiwick::config::*::without_socket",
            "bailiwick::handle::*::wait",
            "bailiwick::handle::operate::*::hold",
            "bailiwick::handle::operate::*::adopt",
            "bailiwick::handle::watch::*::next",
            "bailiwick::handle::watch::*::watch",
            "bailiwick::handle::watch::*::why",
            "bailiwick::handle::watch::*::why_not",
            "bailiwick::handle::block_on",
        ],
    ),
    ("it makes a constant, and is gone when the program runs", &["bailiwick_actors::vocab::added::*::new"]),
    (
        "what a trait answers for those who have no answer of their own: an embedder's providers may, and all of ours have one",
        &[
            "bailiwick_actors::ports::machines::*::lookup",
            "bailiwick_actors::ports::machines::*::cancel",
            "bailiwick::providers::check::*::kill",
        ],
    ),
];
