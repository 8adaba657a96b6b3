//! `bailiwick repro`: a find, run again.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, OutputError, Table},
};
use crate::chaos::{Found, Repro};

#[derive(Debug, Subcommand)]
pub(super) enum ReproCommand {
    /// Run finds again; exits with 3 if one does not come out as it did where it was found
    Run(RunArgs),
    /// Print a test in Rust that runs a find, and demands that it settles
    ToTest(ToTestArgs),
}

#[derive(Debug, Args)]
pub(super) struct ToTestArgs {
    /// The file, as `bailiwick chaos` wrote it; the test reads it at this path
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The files, as `bailiwick chaos` wrote them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Check that they settle by now, as they do once the fault is mended
    #[arg(long)]
    settled: bool,
}

/// One of them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Again {
    file: PathBuf,
    release: String,
    found: Found,
    now: Found,
    same: bool,
}

pub(super) fn main(global: &Global, command: ReproCommand) -> Result<Exit, CliError> {
    match command {
        ReproCommand::Run(args) => run(global, args),
        ReproCommand::ToTest(args) => {
            let text = as_test(&args.file, &Repro::read(&args.file)?);
            let written = io::stdout().lock().write_all(text.as_bytes());
            written.map_err(|error| CliError::from(OutputError::Write(error)))?;
            Ok(Exit::Ok)
        }
    }
}

/// A test that goes into the `tests` folder of a crate which has this one among its dependencies.
fn as_test(file: &Path, find: &Repro) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let (path, Found { verdict, .. }, release) = (file.display().to_string(), &find.found, &find.release);
    let lines: String = verdict.lines().iter().map(|line| format!("//!   {line}\n")).collect();
    let verdict = verdict.as_str();
    format!(
        "//! Found with release {release} ({verdict}):\n{lines}
use std::path::Path;

use bailiwick::chaos::Repro;

#[test]
fn {name}_settles() {{
    let file = Path::new({path:?});
    let now = Repro::read(file).and_then(|find| find.run(file)).expect(\"a find that can be run\");
    assert!(now.is_settled(), \"{{:?}}\", now.verdict);
}}
"
    )
}

fn run(global: &Global, args: RunArgs) -> Result<Exit, CliError> {
    let mut all = Vec::new();
    for file in args.files {
        let repro = Repro::read(&file)?;
        let now = repro.run(&file)?;
        let same = now.verdict == repro.found.verdict;
        all.push(Again { file, release: repro.release, found: repro.found, now, same });
    }
    let is_good = all.iter().all(|one| if args.settled { one.now.is_settled() } else { one.same });
    global.output.show(&all, || table(&all))?;
    Ok(if is_good { Exit::Ok } else { Exit::GateFailed })
}

fn table(all: &[Again]) -> Table<5> {
    let mut table = Table::of(["FILE", "FOUND BY", "FOUND", "NOW", "SAME"].map(Column::always));
    for one in all {
        let now = one.now.verdict.as_str();
        let now = if one.now.is_settled() { Cell::good(now) } else { Cell::bad(now) };
        let same = if one.same { "yes" } else { "no" };
        let file = one.file.display().to_string();
        table.add([file.into(), one.release.as_str().into(), one.found.verdict.as_str().into(), now, same.into()]);
        for line in one.now.verdict.lines() {
            table.add([Cell::from(""), "".into(), "".into(), format!("  {line}").into(), "".into()]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::{Verdict, What};
    use crate::simulation::ScenarioFile;

    #[test]
    fn a_test_has_a_name_and_says_what_was_found() {
        let path = Path::new("tests/repro/Entry-7 disk.bwrepro");
        let file = ScenarioFile::parse(path, "seed: 1\nuntil: 1h\n").expect("a scenario");
        let verdict = Verdict::Stuck { entities: vec!["machine/a is creating".into()] };
        let find = Repro {
            release: "1.2.3".into(),
            found: Found { verdict, journal: None },
            what: What::Scenario(Box::new(file)),
        };
        let text = as_test(path, &find);
        assert!(text.starts_with("//! Found with release 1.2.3 (stuck):\n//!   machine/a is creating\n\n"), "{text}");
        assert!(text.contains("fn entry_7_disk_settles() {"), "{text}");
        assert!(text.contains(r#"Path::new("tests/repro/Entry-7 disk.bwrepro")"#), "{text}");
    }
}
