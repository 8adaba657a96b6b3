//! Arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
enum Command {
    /// What runs inside a local machine
    Agent(bailiwick::agent::AgentArgs),
}

fn main() -> ExitCode {
    let Command::Agent(args) = Command::parse();
    ExitCode::from(bailiwick::agent::main(args))
}
