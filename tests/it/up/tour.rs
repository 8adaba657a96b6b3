//! README's tour, line by line: every command of its `console` blocks is given to one shell, from the state that the lines
//! before it left, and prints what README says it prints.
//!
//! A block is fenced by "```console". A line `$ …` is a command; what stands below it, down to the next one, is all that it
//! prints, on both outputs. It ends with 0 unless its line ends in `# exit code N`. Two marks and a few values that differ by
//! run are allowed for ([`alike`]). One that ends in `&` is given the time to print what it shall.
//!
//! Blocks fenced by "```console needs WHAT" are a session of their own, where there is WHAT; where there is not, that is said,
//! and where `BAILIWICK_CI` is set it is a failure.

mod alike;
mod blocks;
mod session;

use std::{fs, io::Write, path::Path, process::Command};

use self::{
    blocks::{Block, Step, blocks},
    session::{Ports, Session},
};
use super::{
    inside::inside,
    support::{Lab, eventually},
};

/// What blocks may need, each with the test that runs them.
const NEEDS: [&str; 3] = ["", "loop-devices", "etcd"];

fn tour() -> Vec<Block> {
    blocks(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README"))
}

/// Runs all blocks that need this, in their order.
fn take(lab: &Lab, needs: &str) {
    let steps: Vec<Step> =
        tour().into_iter().filter(|block| block.needs == needs).flat_map(|block| block.steps).collect();
    assert!(!steps.is_empty(), "README has no block that needs {needs:?}");
    let mut session = Session::begin(lab.data(), &Ports::free());
    let mut wrong = String::new();
    for step in &steps {
        let Step { line, command, printed, code, .. } = step;
        let ran = session.run(step);
        if ran.code != *code || !alike::alike(printed, &ran.printed) {
            wrong += &format!(
                "README.md:{line}: $ {command}\nended with {} and printed:\n{}\nand README says {code} and:\n{printed}\n",
                ran.code, ran.printed
            );
        }
    }
    session.end();
    assert!(wrong.is_empty(), "{wrong}");
    eventually("nothing of it runs any more", || lab.processes().is_empty());
}

fn not_tested(what: &str) {
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "README's tour cannot be tested here: no {what}");
    writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: a part of README's tour needs {what}").expect("told");
}

#[test]
fn the_tour_works_as_printed() {
    take(&Lab::new(), "");
}

#[test]
fn the_tour_of_storage_works_as_printed() {
    if let Some(inside) = inside() {
        take(&inside.lab, "loop-devices");
    }
}

#[test]
fn the_tour_of_a_replica_set_works_as_printed() {
    let is_there = |tool: &str| Command::new(tool).arg("--help").output().is_ok();
    if ["etcd", "etcdctl"].into_iter().all(is_there) {
        take(&Lab::new(), "etcd");
    } else {
        not_tested("etcd and etcdctl");
    }
}

#[test]
fn every_block_is_run_by_a_test() {
    let tour = tour();
    for block in &tour {
        assert!(NEEDS.contains(&&*block.needs), "README.md:{}: nobody runs what needs {:?}", block.line, block.needs);
        assert!(!block.steps.is_empty(), "README.md:{}: a block without a command", block.line);
    }
    for needs in NEEDS {
        assert!(tour.iter().any(|block| block.needs == needs), "no block needs {needs:?}");
    }
}
