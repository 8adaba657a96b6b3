//! A source file as a flat list of tokens.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One file of the workspace.
#[derive(Debug)]
pub(super) struct Source {
    /// From the workspace's root.
    pub path: PathBuf,
    pub tokens: Vec<Token>,
}

/// One token. Brackets are tokens of their own.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub text: String,
    pub line: usize,
    pub is_test: bool,
}

/// A path as it stands in the source, groups in `use` written out: `crate::a::{b, c::d}` is two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub segments: Vec<String>,
    /// What it is called from then on: the last segment, or what stands behind `as`.
    pub name: String,
    pub line: usize,
    pub is_test: bool,
}

impl Source {
    /// Reads a source.
    pub(super) fn new(path: &Path, text: &str) -> Self {
        let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let in_tests = path.iter().any(|part| part == "tests" || part == "tests.rs" || part == "benches");
        let mut tokens = Vec::new();
        flatten(stream, in_tests, &mut tokens);
        Self { path: path.to_owned(), tokens }
    }

    /// Where a token stands, for messages.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// The path with slashes.
    pub(super) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The places at which these tokens stand one after the other.
    pub(super) fn runs(&self, wanted: &[&str]) -> Vec<usize> {
        let fits = |window: &[Token]| window.iter().zip(wanted).all(|(token, text)| token.text == *text);
        self.tokens.windows(wanted.len()).enumerate().filter(|(_, window)| fits(window)).map(|(at, _)| at).collect()
    }

    /// Every path with two segments or more, in `use` lines and anywhere else.
    pub(super) fn paths(&self) -> Vec<Named> {
        let mut paths = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let is_path = is_word(self.text(at)) && self.is_double_colon(at + 1);
            at = if is_path { self.expand(at, &[], &mut paths) } else { at + 1 };
        }
        paths
    }

    /// What a file hands on: the paths of its `pub use` lines.
    pub(super) fn handed_on(&self) -> Vec<Named> {
        let mut paths = Vec::new();
        for at in self.runs(&["use"]) {
            let before: Vec<&str> = self.tokens[at.saturating_sub(4)..at].iter().map(|token| &*token.text).collect();
            if matches!(before[..], [.., "pub"] | ["pub", "(", _, ")"]) {
                self.expand(at + 1, &[], &mut paths);
            }
        }
        paths
    }

    /// Writes out the path that begins at a token; answers where it ends.
    fn expand(&self, mut at: usize, before: &[String], paths: &mut Vec<Named>) -> usize {
        let mut segments = before.to_vec();
        let (line, is_test) = (self.tokens[at].line, self.tokens[at].is_test);
        loop {
            match self.text(at) {
                "{" => {
                    at += 1;
                    while at < self.tokens.len() && self.text(at) != "}" {
                        if is_word(self.text(at)) || matches!(self.text(at), "*" | "{") {
                            at = self.expand(at, &segments, paths);
                        } else {
                            at += 1;
                        }
                    }
                    return at + 1;
                }
                word => {
                    segments.push(word.to_owned());
                    at += 1;
                }
            }
            let goes_on =
                self.is_double_colon(at) && (is_word(self.text(at + 2)) || matches!(self.text(at + 2), "{" | "*"));
            if !goes_on {
                let is_renamed = self.text(at) == "as";
                let last = segments.last().map_or("", String::as_str);
                let name = if is_renamed { self.text(at + 1) } else { last }.to_owned();
                paths.push(Named { segments, name, line, is_test });
                return if is_renamed { at + 2 } else { at };
            }
            at += 2;
        }
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    fn is_double_colon(&self, at: usize) -> bool {
        self.text(at) == ":" && self.text(at + 1) == ":"
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Writes a stream out. What follows `#[cfg(test)]`, up to the end of the item, is test code.
fn flatten(stream: TokenStream, is_test: bool, tokens: &mut Vec<Token>) {
    let mut item_is_test = is_test;
    let mut after_hash = false;
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: &str, line| tokens.push(Token { text: text.to_owned(), line, is_test: item_is_test });
        match tree {
            TokenTree::Ident(ident) => push(&ident.to_string(), line),
            TokenTree::Literal(literal) => push(&literal.to_string(), line),
            TokenTree::Punct(punct) => {
                push(&punct.as_char().to_string(), line);
                after_hash = punct.as_char() == '#';
                if punct.as_char() == ';' {
                    item_is_test = is_test;
                }
                continue;
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::None => ("", ""),
                };
                push(open, line);
                flatten(group.stream(), item_is_test, tokens);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line, is_test: item_is_test });
                if after_hash && is_test_attribute(&group.stream()) {
                    item_is_test = true;
                } else if group.delimiter() == Delimiter::Brace {
                    item_is_test = is_test;
                }
            }
        }
        after_hash = false;
    }
}

fn is_test_attribute(attribute: &TokenStream) -> bool {
    let text = attribute.to_string();
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not")
}

#[test]
fn paths_are_written_out() {
    let text = "use crate::{a::{b, c as d}, e::*}; fn f() { crate::g::h::<T>(); x.y(); let _: super::z::Z; }";
    let found: Vec<String> =
        Source::new(Path::new("src/x.rs"), text).paths().iter().map(|path| path.segments.join("::")).collect();
    assert_eq!(found, ["crate::a::b", "crate::a::c", "crate::e::*", "crate::g::h", "super::z::Z"]);
}

#[test]
fn what_is_handed_on_is_found_with_its_new_name() {
    let text = "pub use a::{B, c::D as E}; pub(crate) use f::G; use h::I; pub fn f() {} use j::K;";
    let source = Source::new(Path::new("src/x.rs"), text);
    let found: Vec<(String, String)> =
        source.handed_on().into_iter().map(|path| (path.segments.join("::"), path.name)).collect();
    let wanted = [("a::B", "B"), ("a::c::D", "E"), ("f::G", "G")];
    assert_eq!(found, wanted.map(|(path, name)| (path.to_owned(), name.to_owned())));
}

#[test]
fn test_code_is_told_apart() {
    let text =
        "fn a() {} #[cfg(test)] mod tests { fn b() {} } fn c() {} #[cfg(not(test))] fn d() {} #[cfg(test)] use e;";
    let source = Source::new(Path::new("src/x.rs"), text);
    let tests: Vec<&str> = ["a", "b", "c", "d", "e"]
        .into_iter()
        .filter(|name| source.tokens.iter().any(|token| token.text == *name && token.is_test))
        .collect();
    assert_eq!(tests, ["b", "e"]);
}
