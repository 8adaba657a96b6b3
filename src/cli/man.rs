//! `bailiwick man`: the pages of the manual.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, CommandFactory};

use super::{
    Cli,
    exit::{CliError, Exit},
    progress::say,
};

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder for the pages, such as ~/.local/share/man/man1; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn main(args: ManArgs) -> Result<Exit, CliError> {
    write_into(&args.dir).map_err(|error| {
        CliError::new(Exit::Error, "unwritable", format!("cannot write pages into {}", args.dir.display()))
            .because(&error)
    })?;
    say(&format!("the manual is in {}", args.dir.display()));
    Ok(Exit::Ok)
}

/// Writes a page for each command that people use.
fn write_into(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    // What the environment of whoever writes them holds is no part of the manual.
    clap_mangen::generate_to(Cli::command().mut_args(|argument| argument.hide_env_values(true)), dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let scratch = tempfile::tempdir().expect("a folder");
        let dir = scratch.path().join("man1");
        write_into(&dir).expect("written");
        let count = fs::read_dir(&dir).expect("readable").count();
        assert!(count > 60, "{count}");
        let page = fs::read_to_string(dir.join("bailiwick-rollout-undo.1")).expect("a page");
        assert!(page.contains("revision"), "{page}");
        assert!(!dir.join("bailiwick-agent.1").exists(), "nobody has to know it");
    }
}
