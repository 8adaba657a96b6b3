//! The node over HTTP/JSON on a Unix socket.

pub mod wire;
