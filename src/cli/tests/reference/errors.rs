//! Exit codes and error codes, from the code.

use std::{collections::BTreeSet, fs, path::Path};

use bailiwick_actors::vocab::{FaultClass, FaultCode};

use crate::{cli::exit::Exit, handle::NotOffered, manifest::Code};

pub(super) fn page() -> String {
    let mut page = String::from(
        "# Errors\n\nGenerated from the code. An error has a code, a message, causes, and a next step; with `-o json` it is one object on one \
         line of standard error. Codes and exit codes are stable.\n\n## Exit codes\n\n| exit code | meaning | error codes |\n|---|---|---|\n",
    );
    for exit in Exit::ALL {
        let codes = Exit::FAILURES.iter().filter(|(of, _)| *of == exit).flat_map(|(_, codes)| *codes);
        page += &format!("| {} | {} | {} |\n", exit.code(), exit.meaning(), list(codes.copied()));
    }
    page += "\nFrom 64 to 78 they are those of BSD's `sysexits.h`.\n\n## Problems of a manifest\n\nWith exit code 65 each problem has a file, line, \
             column, field, and one of these codes:\n\n";
    page += &list(Code::ALL.iter().map(|code| code.as_str()));
    page += "\n\n## Faults of providers\n\nThe codes are those of gRPC.\n\n| class | codes | what the node does |\n|---|---|---|\n";
    let classes = [
        (FaultClass::Transient, "transient", "tries again"),
        (
            FaultClass::Permanent,
            "permanent",
            "gives up once the same answer has come `retries.permanentMax` times in a row",
        ),
        (FaultClass::Unknown, "unknown", "asks by id whether it happened, then tries again"),
    ];
    for (class, name, done) in classes {
        let codes = FaultCode::ALL.into_iter().filter(|code| code.class() == class);
        page += &format!("| {name} | {} | {done} |\n", list(codes.map(|code| code.as_str())));
    }
    page
}

fn list<'a>(codes: impl IntoIterator<Item = &'a str>) -> String {
    let codes: Vec<String> = codes.into_iter().map(|code| format!("`{code}`")).collect();
    codes.join(", ")
}

/// How errors with a code are begun: what stands between the name of this and the code is a path, as `Exit::NotFound`.
const BEGUN: [&str; 3] = ["CliError::new(", "Self::new(", "Failure::new("];

/// The codes of errors in a source, up to its tests.
fn codes_in(source: &str) -> BTreeSet<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let begun = BEGUN.iter().flat_map(|begun| source.split(begun).skip(1)).filter_map(|rest| {
        let (path, rest) = rest.split_once(',')?;
        let is_path = path.trim().starts_with("Exit::") || path.trim().starts_with("StatusCode::");
        rest.trim_start().strip_prefix('"').filter(|_| is_path)
    });
    let told = source.split("Problem {").skip(1).filter_map(|rest| rest.trim_start().strip_prefix("code: \""));
    begun.chain(told).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
}

fn all_codes(under: &Path) -> BTreeSet<String> {
    let found = fs::read_dir(under).expect("a folder").map(|entry| entry.expect("an entry").path());
    let codes = found.map(|path| match path.is_dir() {
        true => all_codes(&path),
        false => codes_in(&fs::read_to_string(&path).expect("a source")),
    });
    codes.flatten().collect()
}

#[test]
fn every_code_of_an_error_is_in_the_table() {
    // given
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let known: BTreeSet<&str> = Exit::FAILURES.iter().flat_map(|(_, codes)| *codes).copied().collect();
    // when
    let mut used = all_codes(&sources.join("cli"));
    used.append(&mut all_codes(&sources.join("api")));
    used.extend(NotOffered::CODES.map(str::to_owned));
    // then
    assert!(used.contains("no-journal") && used.contains("misdirected") && used.contains("reversed"), "{used:?}");
    let unknown: Vec<_> = used.iter().filter(|code| !known.contains(code.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
