//! The provider of what Juju's clients make.

/// The provider whose machines and volumes are made and removed by clients of the facade: the node calls nobody for them.
pub const EXTERNAL: &str = "external";
