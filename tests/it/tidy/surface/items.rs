//! The items of a crate, module by module.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// What stands in one module.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub items: Vec<Item>,
    pub uses: Vec<Use>,
    /// The public functions of implementations that are of no trait, by the name of the type as it is called here.
    pub functions: Vec<(String, Vec<Member>)>,
}

/// One item that has a name.
#[derive(Debug)]
pub(super) struct Item {
    pub name: String,
    pub is_public: bool,
    pub is_module: bool,
    /// What it is, without its name: `pub fn` and what follows the name.
    pub kind: String,
    pub rest: String,
    /// What belongs to it: the functions of a trait.
    pub members: Vec<Member>,
}

/// A function, a constant or a type of a type or of a trait.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub name: String,
    pub kind: String,
    pub rest: String,
}

/// One path of a `use`.
#[derive(Debug)]
pub(super) struct Use {
    pub is_public: bool,
    pub path: Vec<String>,
    pub name: String,
}

/// All modules of a crate, by their paths, which begin with the name of the crate.
pub(super) type Modules = BTreeMap<Vec<String>, Module>;

/// The modules of the crate whose root is this file.
pub(super) fn of(name: &str, file: &Path) -> Modules {
    let mut reading = Reading { file: file.to_owned(), path: vec![name.to_owned()], found: Modules::new() };
    reading.file();
    reading.found
}

/// The module of a text.
#[cfg(test)]
pub(super) fn of_text(name: &str, text: &str) -> Modules {
    let mut reading = Reading { file: PathBuf::from("lib.rs"), path: vec![name.to_owned()], found: Modules::new() };
    reading.items(text.parse().expect("rust"));
    reading.found
}

struct Reading {
    file: PathBuf,
    path: Vec<String>,
    found: Modules,
}

impl Reading {
    fn file(&mut self) {
        let text = fs::read_to_string(&self.file).unwrap_or_else(|error| panic!("{}: {error}", self.file.display()));
        self.items(text.parse().unwrap_or_else(|error| panic!("{}: {error}", self.file.display())));
    }

    fn items(&mut self, stream: TokenStream) {
        self.found.entry(self.path.clone()).or_default();
        for (attributes, item) in items(stream) {
            if attributes.iter().all(|attribute| is_listed(attribute)) {
                self.item(&attributes, &item);
            }
        }
    }

    fn item(&mut self, attributes: &[String], item: &[TokenTree]) {
        let (is_public, item) = without_visibility(item);
        let body = item.last().and_then(in_braces);
        let Some(at) = item.iter().position(|tree| is_one_of(tree, &BEGINS)) else { return };
        let (kind, head) = (text(&item[..=at]), &item[at + 1..item.len() - 1]);
        let word = item[at].to_string();
        if word == "use" {
            let mut paths = Vec::new();
            expand(&item[at + 1..], &[], &mut paths);
            let uses = paths.into_iter().map(|(path, name)| Use { is_public, path, name });
            return self.here().uses.extend(uses);
        }
        if word == "impl" {
            let (Some(name), Some(body)) = (implemented(head), body) else { return };
            let functions = items(body).into_iter().filter(|(attributes, _)| attributes.iter().all(|a| is_listed(a)));
            let functions = functions.filter_map(|(_, item)| member(&item, false)).collect();
            return self.here().functions.push((name, functions));
        }
        let Some(name) = head.first().map(|name| name.to_string().trim_start_matches("r#").to_owned()) else { return };
        let head = &head[1..];
        let rest = match (&*word, &body) {
            ("const" | "static", _) => text(head.split(|tree| is_punct(tree, '=')).next().unwrap_or_default()),
            ("struct" | "union", Some(body)) => format!("{} {}", text(head), fields(body)),
            ("struct", None) => head.iter().map(of_tuple).collect(),
            ("enum", Some(body)) => format!(
                "{} {{ {} }}",
                text(head),
                parts(&without_attributes(body.clone())).into_iter().map(text).collect::<Vec<_>>().join(", ")
            ),
            ("mod", _) => String::new(),
            _ => text(head),
        };
        let members = match (&*word, &body) {
            ("trait", Some(body)) => items(body.clone()).iter().filter_map(|(_, item)| member(item, true)).collect(),
            _ => Vec::new(),
        };
        let grows =
            if attributes.iter().any(|attribute| attribute == "non_exhaustive") { "#[non_exhaustive] " } else { "" };
        let kind = format!("{grows}{kind}");
        let is_module = word == "mod";
        self.here().items.push(Item { name: name.clone(), is_public, is_module, kind, rest, members });
        if is_module {
            self.module(&name, body);
        }
    }

    fn here(&mut self) -> &mut Module {
        self.found.entry(self.path.clone()).or_default()
    }

    fn module(&mut self, name: &str, body: Option<TokenStream>) {
        self.path.push(name.to_owned());
        if let Some(body) = body {
            self.items(body);
        } else {
            let stem = self.file.file_stem().unwrap_or_default();
            let is_root = ["lib", "main", "mod"].iter().any(|root| stem == *root);
            let folder = if is_root { self.file.with_file_name("") } else { self.file.with_extension("") };
            let beside = folder.join(format!("{name}.rs"));
            let file = if beside.exists() { beside } else { folder.join(name).join("mod.rs") };
            let outer = std::mem::replace(&mut self.file, file);
            self.file();
            self.file = outer;
        }
        self.path.pop();
    }
}

/// The words that say what an item is; `const` before `fn` does not.
const BEGINS: [&str; 12] =
    ["fn", "mod", "impl", "trait", "struct", "enum", "union", "type", "use", "static", "const", "macro_rules"];

/// What a stream is made of: each item with its attributes, as texts without blanks.
fn items(stream: TokenStream) -> Vec<(Vec<String>, Vec<TokenTree>)> {
    let (mut all, mut attributes, mut item) = (Vec::new(), Vec::new(), Vec::<TokenTree>::new());
    for tree in stream {
        if let (Some(hash), TokenTree::Group(group)) = (item.last(), &tree)
            && is_punct(hash, '#')
            && group.delimiter() == Delimiter::Bracket
        {
            attributes.push(group.stream().to_string().split_whitespace().collect());
            item.pop();
            continue;
        }
        let ends = is_punct(&tree, ';') || in_braces(&tree).is_some();
        // `const fn` is a function.
        if is_one_of(&tree, &["fn"]) {
            item.retain(|before| !is_one_of(before, &["const"]));
        }
        item.push(tree);
        if ends {
            all.push((std::mem::take(&mut attributes), std::mem::take(&mut item)));
        }
    }
    all
}

/// Whether an attribute leaves its item in the list.
fn is_listed(attribute: &str) -> bool {
    let is_left_out = attribute.starts_with("cfg(") && (attribute.contains("test") || attribute.contains("not("));
    attribute != "doc(hidden)" && !is_left_out
}

fn without_visibility(item: &[TokenTree]) -> (bool, &[TokenTree]) {
    match item {
        [first, TokenTree::Group(within), rest @ ..]
            if is_one_of(first, &["pub"]) && within.delimiter() == Delimiter::Parenthesis =>
        {
            (false, rest)
        }
        [first, rest @ ..] if is_one_of(first, &["pub"]) => (true, rest),
        _ => (false, item),
    }
}

/// What belongs to a type or a trait, if it is public there.
fn member(item: &[TokenTree], is_of_trait: bool) -> Option<Member> {
    let (is_public, item) = without_visibility(item);
    let at = item.iter().position(|tree| is_one_of(tree, &["fn", "const", "type"]))?;
    let head = item[at + 1..item.len() - 1].split(|tree| is_punct(tree, '=') && is_of_trait).next().unwrap_or_default();
    let (name, rest) = head.split_first()?;
    let given = if is_of_trait && item.last().is_some_and(|last| in_braces(last).is_some()) { " { .. }" } else { "" };
    let kind = text(&item[..=at]);
    (is_public || is_of_trait).then(|| Member { kind, name: name.to_string(), rest: text(rest) + given })
}

/// What stays of a field list: what is public, and a sign that there is more.
fn fields(body: &TokenStream) -> String {
    let mut said = Vec::new();
    let mut is_all = true;
    for field in parts(&without_attributes(body.clone())) {
        match without_visibility(field) {
            (true, field) => said.push(text(field)),
            (false, _) => is_all = false,
        }
    }
    said.extend((!is_all).then(|| "..".to_owned()));
    format!("{{ {} }}", said.join(", "))
}

/// What commas separate, those within `<>` left alone.
fn parts(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_i32, 0);
    for (at, tree) in tokens.iter().enumerate() {
        let is_arrow = at > 0 && is_punct(&tokens[at - 1], '-');
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' && !is_arrow => depth -= 1,
            TokenTree::Punct(punct) if punct.as_char() == ',' && depth == 0 => {
                parts.push(&tokens[begin..at]);
                begin = at + 1;
            }
            _ => (),
        }
    }
    parts.push(&tokens[begin..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// The fields of a tuple among the tokens of a head.
fn of_tuple(tree: &TokenTree) -> String {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            let fields = without_attributes(group.stream());
            let told = parts(&fields).into_iter();
            let told = told.map(|field| match without_visibility(field) {
                (true, field) => text(field),
                (false, _) => "_".to_owned(),
            });
            format!("({})", told.collect::<Vec<_>>().join(", "))
        }
        other => text(std::slice::from_ref(other)),
    }
}

fn without_attributes(stream: TokenStream) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::new();
    for tree in stream {
        match tree {
            _ if kept.last().is_some_and(|hash| is_punct(hash, '#')) => drop(kept.pop()),
            TokenTree::Group(group) => {
                let inner = without_attributes(group.stream()).into_iter().collect();
                kept.push(TokenTree::Group(Group::new(group.delimiter(), inner)));
            }
            other => kept.push(other),
        }
    }
    kept
}

/// The type that functions are given to; none if they are those of a trait.
fn implemented(head: &[TokenTree]) -> Option<String> {
    let (mut depth, mut name) = (0_i32, None);
    for (at, tree) in head.iter().enumerate() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' && !(at > 0 && is_punct(&head[at - 1], '-')) => {
                depth -= 1
            }
            TokenTree::Ident(word) if depth == 0 && word == "for" => return None,
            TokenTree::Ident(word) if depth == 0 && word == "where" => break,
            TokenTree::Ident(word) if depth == 0 => name = Some(word.to_string()),
            _ => (),
        }
    }
    name
}

/// Writes out the paths of a `use`, each with the name that it gives.
fn expand(tokens: &[TokenTree], before: &[String], paths: &mut Vec<(Vec<String>, String)>) {
    for tokens in tokens.split(|tree| is_punct(tree, ',')) {
        let (mut path, mut name) = (before.to_vec(), None);
        let mut is_renamed = false;
        for tree in tokens {
            match tree {
                TokenTree::Ident(word) if word == "as" => is_renamed = true,
                TokenTree::Ident(word) if is_renamed => name = Some(word.to_string()),
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => (),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".to_owned()),
                TokenTree::Group(group) => {
                    expand(&group.stream().into_iter().collect::<Vec<_>>(), &path, paths);
                    path.clear();
                }
                _ => (),
            }
        }
        if let Some(last) = path.last() {
            let name = name.unwrap_or_else(|| last.clone());
            paths.push((path, name));
        }
    }
}

fn is_punct(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_one_of(tree: &TokenTree, words: &[&str]) -> bool {
    matches!(tree, TokenTree::Ident(word) if words.iter().any(|known| word == known))
}

fn in_braces(tree: &TokenTree) -> Option<TokenStream> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

/// Tokens as people write them.
fn text(tokens: &[TokenTree]) -> String {
    let mut text = String::new();
    write(tokens.iter().cloned(), &mut text);
    text
}

fn write(tokens: impl IntoIterator<Item = TokenTree>, text: &mut String) {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    for tree in tokens {
        if let TokenTree::Group(group) = &tree {
            let (open, close) = match group.delimiter() {
                Delimiter::Brace => (" { ", " }"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::None => ("", ""),
            };
            text.push_str(open);
            write(group.stream(), text);
            // Whether the last field has a comma behind it is no difference.
            text.truncate(text.trim_end_matches([' ', ',']).len());
            text.push_str(close);
            continue;
        }
        let next = tree.to_string();
        let last = text.chars().last().unwrap_or(' ');
        let is_word = next.starts_with(is_of_word);
        if is_word && (is_of_word(last) || matches!(last, ')' | ']' | '}') || (last == '>' && !text.ends_with("->"))) {
            text.push(' ');
        }
        match &*next {
            "-" | "=" | "+" if !text.ends_with(' ') => text.push_str(&format!(" {next}")),
            _ => text.push_str(&next),
        }
        if matches!(&*next, "," | "+" | "=") || text.ends_with("->") || (next == ":" && is_of_word(last)) {
            text.push(' ');
        }
        // The second half of `::` belongs to the first one.
        if next == ":" && text.ends_with(": :") {
            text.truncate(text.len() - 3);
            text.push_str("::");
        }
    }
}
