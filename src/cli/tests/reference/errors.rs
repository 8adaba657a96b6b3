//! Exit codes and error codes, from the code.

use bailiwick_actors::vocab::{FaultClass, FaultCode};

use crate::{cli::exit::Exit, manifest::Code};

pub(super) fn page() -> String {
    let mut page = String::from(
        "# Errors\n\nWritten from the code. An error has a code, a message, causes, and a next step; with `-o json` it is one object on one \
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
            "gives up once the same answer came `retries.permanentMax` times in a row",
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
