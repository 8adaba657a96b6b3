//! Asking a running node over its socket.
