//! The tours of README and of the guide, line by line: every command of their `console` blocks is given to one shell, from the
//! state that the lines before it left, and prints what the page says it prints.
//!
//! A block is fenced by "```console". A line `$ …` is a command; what stands below it, down to the next one, is all that it
//! prints, on both outputs. It ends with 0 unless its line ends in `# exit code N`. Two marks and a few values that differ by
//! run are allowed for ([`alike`]). One that ends in `&` is given the time to print what it shall.
//!
//! All blocks of one page are one session. Blocks fenced by "```console needs WHAT" are a session of their own, where there is
//! WHAT; where there is not, that is said, and where `BAILIWICK_CI` is set it is a failure.

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

/// The pages with a tour and what it needs, each run by a test.
const TOURS: [(&str, &str); 6] = [
    ("README.md", ""),
    ("src/guide/first-use.md", ""),
    ("src/guide/network.md", ""),
    ("src/guide/operation.md", ""),
    ("src/guide/storage.md", "loop-devices"),
    ("src/guide/replica-sets.md", "etcd"),
];

fn tour(page: &str) -> Vec<Block> {
    blocks(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect("a page"))
}

/// Runs all blocks of this page that need this, in their order.
fn take(lab: &Lab, page: &str, needs: &str) {
    let steps: Vec<Step> =
        tour(page).into_iter().filter(|block| block.needs == needs).flat_map(|block| block.steps).collect();
    assert!(!steps.is_empty(), "{page} has no block that needs {needs:?}");
    let mut session = Session::begin(lab.data(), &Ports::free());
    let mut wrong = String::new();
    for step in &steps {
        let Step { line, command, printed, code, .. } = step;
        let ran = session.run(page, step);
        if ran.code != *code || !alike::alike(printed, &ran.printed) {
            wrong += &format!(
                "{page}:{line}: $ {command}\nended with {} and printed:\n{}\nand the page says {code} and:\n{printed}\n",
                ran.code, ran.printed
            );
        }
    }
    session.end();
    assert!(wrong.is_empty(), "{wrong}");
    eventually("nothing of it runs any more", || lab.processes().is_empty());
}

fn not_tested(what: &str) {
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "a tour cannot be tested here: no {what}");
    writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: a tour of the guide needs {what}").expect("told");
}

#[test]
fn the_short_tour_works_as_printed() {
    take(&Lab::new(), "README.md", "");
}

#[test]
fn the_tour_works_as_printed() {
    take(&Lab::new(), "src/guide/first-use.md", "");
}

#[test]
fn a_backup_is_restored_as_printed() {
    take(&Lab::new(), "src/guide/operation.md", "");
}

#[test]
fn the_tour_of_the_network_works_as_printed() {
    take(&Lab::new(), "src/guide/network.md", "");
}

#[test]
fn the_tour_of_storage_works_as_printed() {
    if let Some(inside) = inside() {
        take(&inside.lab, "src/guide/storage.md", "loop-devices");
    }
}

#[test]
#[ignore = "takes long"]
fn the_tour_of_a_replica_set_works_as_printed() {
    let is_there = |tool: &str| Command::new(tool).arg("--help").output().is_ok();
    if ["etcd", "etcdctl"].into_iter().all(is_there) {
        take(&Lab::new(), "src/guide/replica-sets.md", "etcd");
    } else {
        not_tested("etcd and etcdctl");
    }
}

#[test]
fn every_block_is_run_by_a_test() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide");
    let files = fs::read_dir(guide).expect("the guide").map(|file| file.expect("a file").file_name());
    let pages = files.map(|file| format!("src/guide/{}", file.to_string_lossy())).filter(|page| page.ends_with(".md"));
    for page in pages.chain(["README.md".to_owned()]) {
        let tour = tour(&page);
        for block in &tour {
            let (line, needs) = (block.line, &*block.needs);
            assert!(TOURS.contains(&(&page, needs)), "{page}:{line}: nobody runs what needs {needs:?}");
            assert!(!block.steps.is_empty(), "{page}:{line}: a block without a command");
        }
        for (_, needs) in TOURS.iter().filter(|(with_tour, _)| *with_tour == page) {
            assert!(tour.iter().any(|block| block.needs == *needs), "{page}: no block needs {needs:?}");
        }
    }
}
