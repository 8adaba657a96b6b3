//! The functions of a crate's sources, without those of its tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::super::root;

/// One function, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// `bailiwick::plan::policies::changes`; in a type or a trait, which has a star instead of a name: `bailiwick::plan::*::of`.
    pub name: String,
    pub file: String,
    pub line: usize,
}

/// Under which conditions an item is in the program that is built for tests. What stands under any other is not looked at: it
/// is for tests, or another build has it.
const BUILT: [&str; 5] = [
    "cfg(not(test))",
    "cfg(feature=\"shell\")",
    "cfg(feature=\"crash-points\")",
    "cfg(not(feature=\"mongodb\"))",
    "cfg(unix)",
];

/// The functions of a crate whose root is this file.
pub(super) fn of(name: &str, file: &Path) -> Vec<Function> {
    let mut reading = Reading { file: file.to_owned(), path: vec![name.to_owned()], found: Vec::new() };
    reading.file();
    reading.found
}

/// The functions of the module that stands in this file, and of the modules below it.
pub(super) fn of_file(path: &[&str], file: &Path) -> Vec<Function> {
    let path = path.iter().map(|name| (*name).to_owned()).collect();
    let mut reading = Reading { file: root().join(file), path, found: Vec::new() };
    reading.file();
    reading.found
}

/// Where the reading is, and what it has found.
struct Reading {
    file: PathBuf,
    path: Vec<String>,
    found: Vec<Function>,
}

impl Reading {
    fn file(&mut self) {
        let text = fs::read_to_string(&self.file).unwrap_or_else(|error| panic!("{}: {error}", self.file.display()));
        self.items(text.parse().unwrap_or_else(|error| panic!("{}: {error}", self.file.display())));
    }

    /// Reads items one after the other.
    fn items(&mut self, stream: TokenStream) {
        let mut item = Vec::new();
        let mut is_built = true;
        for tree in stream {
            let ends = match &tree {
                TokenTree::Punct(punct) => punct.as_char() == ';',
                TokenTree::Group(group) => {
                    let is_attribute = matches!(item.last(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#');
                    if is_attribute && group.delimiter() == Delimiter::Bracket {
                        is_built &= is_built_under(&group.stream());
                        item.clear();
                        continue;
                    }
                    group.delimiter() == Delimiter::Brace
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => false,
            };
            item.push(tree);
            if ends {
                if is_built {
                    self.item(&item);
                }
                (is_built, item) = (true, Vec::new());
            }
        }
    }

    /// Reads one item, without its attributes.
    fn item(&mut self, item: &[TokenTree]) {
        let Some((word, name, line)) = kind(item) else { return };
        let body = match item.last() {
            Some(TokenTree::Group(group)) => Some(group.stream()),
            _ => None,
        };
        match (&*word, body) {
            ("fn", Some(_)) => self.found(&name, line),
            ("mod", Some(body)) => self.within(&name, |reading| reading.items(body)),
            ("mod", None) => self.module(&name),
            ("impl", Some(body)) if !is_of_a_trait(item) => self.within("*", |reading| reading.items(body)),
            ("trait", Some(body)) => self.within("*", |reading| reading.items(body)),
            _ => (),
        }
    }

    fn found(&mut self, name: &str, line: usize) {
        let file = self.file.strip_prefix(root()).unwrap_or(&self.file).display().to_string();
        let name = format!("{}::{}", self.path.join("::"), name.trim_start_matches("r#"));
        self.found.push(Function { name, file, line });
    }

    fn within(&mut self, name: &str, read: impl FnOnce(&mut Self)) {
        self.path.push(name.trim_start_matches("r#").to_owned());
        read(self);
        self.path.pop();
    }

    /// Reads a module that stands in a file of its own.
    fn module(&mut self, name: &str) {
        let stem = self.file.file_stem().unwrap_or_default();
        let is_root = ["lib", "main", "mod"].iter().any(|root| stem == *root);
        let folder = if is_root { self.file.with_file_name("") } else { self.file.with_extension("") };
        let beside = folder.join(format!("{name}.rs"));
        let file = if beside.exists() { beside } else { folder.join(name).join("mod.rs") };
        let outer = std::mem::replace(&mut self.file, file);
        self.within(name, Self::file);
        self.file = outer;
    }
}

/// What an item is, the word after that, and the line: (`fn`, `changes`, 7). What no functions stand in has no such word.
fn kind(item: &[TokenTree]) -> Option<(String, String, usize)> {
    let mut words = item.iter().filter_map(|tree| match tree {
        TokenTree::Ident(word) => Some((word.to_string(), word.span().start().line)),
        _ => None,
    });
    let ends = |word: &str| matches!(word, "static" | "type" | "struct" | "enum" | "use" | "macro_rules");
    let begins = |word: &str| matches!(word, "fn" | "mod" | "impl" | "trait");
    let mut is_const = false;
    loop {
        let (word, line) = words.next()?;
        match &*word {
            word if begins(word) => {
                let name = words.next().map(|(name, _)| name).unwrap_or_default();
                return Some((word.to_owned(), name, line));
            }
            "const" => is_const = true,
            "unsafe" | "async" | "pub" | "extern" => (),
            word if is_const || ends(word) => return None,
            _ => (),
        }
    }
}

/// Whether an attribute leaves its item in the program.
fn is_built_under(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    !text.starts_with("cfg(") || BUILT.contains(&&*text)
}

/// Whether an implementation is that of a trait: it has a `for` that no lifetimes follow.
fn is_of_a_trait(item: &[TokenTree]) -> bool {
    item.windows(2).any(|pair| {
        let is_for = matches!(&pair[0], TokenTree::Ident(word) if word == "for");
        is_for && !matches!(&pair[1], TokenTree::Punct(next) if next.as_char() == '<')
    })
}

#[test]
fn functions_are_found_where_they_stand_and_tests_are_not() {
    let text = "
        use std::fmt; const A: fn(u8) -> u8 = b; pub const fn b(x: u8) -> u8 { fn inner() {} x }
        impl<T> Row<T> where T: for<'a> Fn(&'a u8) { pub async fn c(&self) {} #[cfg(test)] fn d() {} }
        impl fmt::Display for Row<u8> { fn fmt(&self) {} }
        trait Shows { fn asked(&self); fn given(&self) -> u8 { 1 } }
        #[cfg(test)] mod tests { fn e() {} }
        #[cfg(feature = \"testing\")] #[derive(Debug)] pub fn f() {}
        #[cfg(not(test))] #[must_use] fn g() {}
        mod inside { pub(super) unsafe fn h() {} }
        macro_rules! write { () => { fn i() {} } }";
    let mut reading = Reading { file: PathBuf::from("x.rs"), path: vec!["x".to_owned()], found: Vec::new() };
    reading.items(text.parse().expect("rust"));
    let names: Vec<&str> = reading.found.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["x::b", "x::*::c", "x::*::given", "x::g", "x::inside::h"]);
    assert_eq!(reading.found[1].line, 3);
}
