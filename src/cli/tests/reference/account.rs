//! `Account`.

use serde_json::json;

use super::{
    Absent::{Default, None, Required},
    Section,
    kinds::{least, section},
    row,
};

const HASH: &str = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";

pub(super) fn sections() -> Vec<Section> {
    let account = vec![
        row(
            "role",
            "`view`, `operate` or `admin`",
            Required,
            "operate",
            "what it may do; each may do what those before it may",
        ),
        row(
            "kinds",
            "list of kinds, at most 64",
            Default("[]"),
            "[machine, volume]",
            "which objects it may change; none means all",
        ),
        row(
            "users",
            "list of numbers, at most 64",
            Default("[]"),
            "[1000]",
            "user ids of the node's host that are this account when they use the socket",
        ),
        row(
            "tokens",
            "list, at most 16",
            Default("[]"),
            "[{id: 1f2e3d4d, hash: 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f}]",
            "what shows over the network that it is this account; none, and no `users`: nobody is it",
        ),
    ];
    let token = vec![
        row(
            "id",
            "8 hexadecimal digits",
            Required,
            "1f2e3d4d",
            "what it is called: the part before the dot; unique within the account",
        ),
        row(
            "hash",
            "64 hexadecimal digits",
            Required,
            "0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e",
            "BLAKE3 of the whole token",
        ),
        row("expires", "time", None("never"), "2027-01-01T00:00:00Z", "when it is refused from"),
    ];
    let with_token = json!({"role": "view", "tokens": [{"id": "1f2e3d4c", "hash": HASH}]});
    vec![
        section(
            "Account",
            "Who may use the node's API. `apply --prune`, `down` and `delete --all` leave accounts alone.",
            least("Account", json!({"role": "view"})),
            "/spec",
            account,
        ),
        section(
            "tokens of an account",
            "Of each only what it is recognised by: a token itself is in no manifest.",
            least("Account", with_token),
            "/spec/tokens/0",
            token,
        ),
    ]
}
