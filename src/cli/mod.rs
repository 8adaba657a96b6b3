//! The command line: one file per subcommand.

pub mod exit;
pub mod moment;
pub mod output;
pub mod simulate;
