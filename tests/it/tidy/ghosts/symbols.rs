//! The functions that a linked program has, by its symbol table (ELF, 64 bits, little end first).

use std::collections::BTreeSet;

/// A section that holds symbols, and the size of one of them.
const SYMTAB: u64 = 2;
const SYMBOL: usize = 24;

/// How the names of our functions begin; those of a hundred other crates are not taken apart.
const OURS: [&str; 2] = ["_ZN9bailiwick", "_ZN16bailiwick_actors"];

/// The paths of all functions of ours that the program defines: `bailiwick::plan::changes`. What stands in a type or a trait
/// also has a star for it: `bailiwick::node::*::start`, beside `bailiwick::node::Node::start`.
pub(super) fn functions(program: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_ours = |symbol: &&str| OURS.iter().any(|beginning| symbol.starts_with(beginning));
    for symbol in symbols(program).unwrap_or_default().into_iter().filter(is_ours) {
        let path = path(symbol).unwrap_or_default();
        for end in 2..=path.len() {
            // What is inside of a function shows that the function is there, too.
            found.insert(path[..end].join("::"));
            found.insert(format!("{}::*::{}", path[..end - 2].join("::"), path[end - 1]));
        }
    }
    found
}

/// The names of all symbols that are defined.
fn symbols(program: &[u8]) -> Option<Vec<&str>> {
    if program.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (sections, size) = (number(program, 0x28, 8)? as usize, number(program, 0x3a, 2)? as usize);
    let section = |at: u64| program.get(sections + at as usize * size..);
    let table =
        (0..number(program, 0x3c, 2)?).filter_map(section).find(|header| number(header, 4, 4) == Some(SYMTAB))?;
    let names = content(program, section(number(table, 0x28, 4)?)?)?;
    let name = |symbol: &[u8]| {
        let is_defined = number(symbol, 6, 2)? != 0;
        let rest = names.get(number(symbol, 0, 4)? as usize..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        is_defined.then(|| std::str::from_utf8(&rest[..end]).ok()).flatten()
    };
    // Borrowed from the program itself.
    Some(content(program, table)?.chunks_exact(SYMBOL).filter_map(name).collect())
}

/// What a section holds.
fn content<'p>(program: &'p [u8], header: &[u8]) -> Option<&'p [u8]> {
    let (start, size) = (number(header, 0x18, 8)? as usize, number(header, 0x20, 8)? as usize);
    program.get(start..start + size)
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The path in a mangled name, without the hash at its end: `_ZN9bailiwick4plan7changes17h0123456789abcdefE`.
fn path(symbol: &str) -> Option<Vec<&str>> {
    let mut rest = symbol.strip_prefix("_ZN")?;
    let mut path = Vec::new();
    while !rest.starts_with('E') {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let length: usize = rest[..digits].parse().ok()?;
        path.push(rest.get(digits..digits + length)?);
        rest = &rest[digits + length..];
    }
    path.pop()?;
    Some(path)
}

#[test]
fn a_mangled_name_has_its_path() {
    let name = "_ZN9bailiwick4plan7changes28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE";
    assert_eq!(path(name), Some(vec!["bailiwick", "plan", "changes", "_$u7b$$u7b$closure$u7d$$u7d$"]));
    assert_eq!(path("main"), None);
    assert_eq!(path("_ZN9bailiwick"), None);
    assert_eq!(functions(b"#!/bin/sh"), BTreeSet::new());
}
