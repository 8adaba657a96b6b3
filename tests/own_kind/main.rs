//! Somebody else's kind, `examples/own_kind.rs`: what the built-in kinds are held to holds of it as well.

#[allow(dead_code, reason = "an example is a program")]
#[path = "../../examples/own_kind.rs"]
mod own_kind;
#[allow(dead_code, reason = "shared with the tests of the command line")]
#[path = "../it/up/support.rs"]
mod support;

mod forms;
mod node;
mod program;
mod simulated;

use std::sync::Once;

use own_kind::VirtualIp;

/// Registers the kind, once for all tests of this process.
fn registered() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| bailiwick::register::<VirtualIp>().expect("nobody has that name"));
}
