//! No function of the product is there for tests alone.
//!
//! The functions come from the sources, and what is reachable from `main` from the symbols of the linked programs, which are ours
//! and the one of the example with a kind of its own: the linker
//! leaves out what nothing refers to, and what is built for tests is not optimised, so nothing is gone for being inlined.
//! What cannot be seen like this (functions of trait implementations, which their traits ask for, and what macros write) is not
//! looked at.

mod functions;
mod listed;
#[path = "../../own_kind/program.rs"]
mod program;
mod symbols;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use functions::Function;
use listed::LISTED;

use super::{Fault, hold, root};

/// The crates of which every function has to be in the program, and where they begin.
const PRODUCT: [(&str, &str); 2] = [("bailiwick_actors", "actors/src/lib.rs"), ("bailiwick", "src/lib.rs")];

fn product() -> Vec<Function> {
    PRODUCT.iter().flat_map(|(name, file)| functions::of(name, &root().join(file))).collect()
}

/// Every function that the linked programs have. Their symbols are read once for all tests.
fn linked() -> &'static BTreeSet<String> {
    static LINKED: LazyLock<BTreeSet<String>> = LazyLock::new(read_linked);
    &LINKED
}

fn read_linked() -> BTreeSet<String> {
    let mut functions = BTreeSet::new();
    for path in [PathBuf::from(env!("CARGO_BIN_EXE_bailiwick")), program::program()] {
        functions.extend(symbols::functions(&fs::read(path).expect("the program was built for this test")));
    }
    functions
}

#[test]
fn no_function_is_there_for_tests_alone() {
    hold(faults(&product(), linked(), LISTED));
}

/// What is neither linked nor listed; and what is listed, and is linked all the same, or not there any more.
fn faults(functions: &[Function], linked: &BTreeSet<String>, listed: &[(&str, &[&str])]) -> Vec<Fault> {
    let listed: BTreeSet<&str> = listed.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let ghosts = functions.iter().filter(|function| !linked.contains(&function.name));
    let unlisted = ghosts.filter(|ghost| !listed.contains(&*ghost.name)).map(|ghost| {
        let Function { name, file, line } = ghost;
        format!(
            "{file}:{line}: nothing but tests can call `{name}`: it goes, or moves to them, or is listed with a reason"
        )
    });
    let stale = listed.iter().filter_map(|name| {
        let is_there = functions.iter().any(|function| function.name == *name);
        match (is_there, linked.contains(*name)) {
            (false, _) => Some(format!("`{name}` is listed as for tests alone and is not there any more")),
            (true, true) => Some(format!("`{name}` is listed as for tests alone, and the program has it")),
            (true, false) => None,
        }
    });
    unlisted.chain(stale).collect()
}

fn function(name: &str) -> Function {
    Function { name: name.to_owned(), file: "src/x.rs".to_owned(), line: 7 }
}

#[test]
fn a_ghost_is_found_and_so_is_an_exception_that_is_none() {
    let functions = ["a::live", "a::*::ghost", "a::embedded", "a::risen"].map(function);
    let linked: BTreeSet<String> = ["a::live", "a::risen"].map(str::to_owned).into();
    let listed: &[(&str, &[&str])] = &[("for embedders", &["a::embedded", "a::risen", "a::gone"])];
    let faults = faults(&functions, &linked, listed);
    assert_eq!(faults.len(), 3, "{faults:#?}");
    assert!(faults[0].starts_with("src/x.rs:7: nothing but tests can call `a::*::ghost`"), "{faults:#?}");
    assert!(faults[1].starts_with("`a::gone` is listed") && faults[1].ends_with("not there any more"), "{faults:#?}");
    assert!(faults[2].starts_with("`a::risen` is listed") && faults[2].ends_with("the program has it"), "{faults:#?}");
}

#[test]
fn the_program_has_what_it_runs_and_nothing_of_what_tests_run() {
    let linked = linked();
    for name in ["bailiwick::cli::main", "bailiwick_actors::policy::named::*::named"] {
        assert!(linked.contains(name), "{name} is not in the program, or its symbols were not understood");
    }
    // The product's own tests, and the desk that they share, are in its crates and in none of its programs.
    assert!(!linked.iter().any(|name| name.starts_with("bailiwick_actors::testing::desk::")));
    let desk = functions::of_file(&["bailiwick_actors", "testing", "desk"], Path::new("actors/src/testing/desk.rs"));
    assert!(!desk.is_empty() && !faults(&desk, linked, &[]).is_empty());
}
