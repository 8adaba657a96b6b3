//! One seed, one history: in this process and in any other.

use std::{env, process::Command};

use crate::seeds::bad_day;

/// The seeds that are compared.
const SEEDS: std::ops::Range<u64> = 1_000..1_012;

fn hashes() -> Vec<String> {
    SEEDS.map(|seed| bad_day(seed).run().unwrap_or_else(|error| panic!("{error:?}")).journal_hash).collect()
}

/// The other half of the next test, which starts it in a process of its own; by itself it has nothing to do.
#[test]
fn hashes_for_another_process() {
    if env::var_os("BAILIWICK_TELL_HASHES").is_some() {
        println!("hashes {}", hashes().join(" "));
    }
}

#[test]
#[ignore = "takes long"]
fn a_seed_gives_the_same_journal_in_every_process() {
    let there = Command::new(env::current_exe().unwrap())
        .args(["--exact", "determinism::hashes_for_another_process", "--nocapture", "--test-threads=1"])
        .env("BAILIWICK_TELL_HASHES", "1")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&there.stdout).into_owned();
    let here = hashes();
    let line = output.split("hashes ").nth(1).unwrap_or_else(|| panic!("no hashes in {output}"));
    let there: Vec<String> = line.lines().next().unwrap_or_default().split(' ').map(str::to_owned).collect();
    assert_eq!(here, there);
    let different: std::collections::BTreeSet<&String> = here.iter().collect();
    assert_eq!(different.len(), here.len(), "other seeds give other journals");
}
