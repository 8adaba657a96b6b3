//! What runs inside a local machine.
