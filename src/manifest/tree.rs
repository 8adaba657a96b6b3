//! From text to nodes that know their place.
//!
//! What a parser says is taken piece by piece, and every bound is checked before anything grows. The text is YAML, or JSON alone
//! where the program was built without the feature `yaml`.

#[cfg(any(test, not(feature = "yaml")))]
mod json;
#[cfg(feature = "yaml")]
mod yaml;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

#[cfg(not(feature = "yaml"))]
pub(super) use json::Documents;
#[cfg(feature = "yaml")]
pub(super) use yaml::Documents;

use super::{limits, problem::Code};
use crate::text::cut;

/// Line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub line: u32,
    pub column: u32,
}

/// One value.
#[derive(Debug)]
pub(super) struct Node {
    pub at: Spot,
    pub body: Body,
    /// Levels of lists and mappings, this one included.
    depth: usize,
    /// What it would cost to have it once more: its texts in bytes, every value counted as at least 16.
    weight: usize,
}

#[derive(Debug)]
pub(super) enum Body {
    /// `plain` is a text without quotes, which may mean a number or a truth value.
    Text {
        text: Rc<str>,
        plain: bool,
    },
    List(Vec<Rc<Node>>),
    /// In the order of the source, without doubles.
    Mapping(Vec<(Key, Rc<Node>)>),
}

#[derive(Clone, Debug)]
pub(super) struct Key {
    pub at: Spot,
    pub text: Rc<str>,
}

/// What is wrong with the text as such.
#[derive(Debug)]
pub(super) struct Flaw {
    pub at: Spot,
    pub code: Code,
    pub message: String,
}

impl Node {
    /// Whether it says that there is nothing: absent, `null` or `~`.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.body, Body::Text { text, plain: true } if matches!(&**text, "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// A document, and what was wrong with it without keeping it from being read (a key given twice).
#[derive(Debug)]
pub(super) struct Tree {
    pub root: Rc<Node>,
    pub flaws: Vec<Flaw>,
}

/// A document that is being read: the open lists and mappings, outermost first.
#[derive(Default)]
struct Building {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
    flaws: Vec<Flaw>,
    nodes: usize,
}

struct Open {
    at: Spot,
    anchor: usize,
    content: Growing,
}

enum Growing {
    List(Vec<Rc<Node>>),
    Mapping { entries: Vec<(Key, Rc<Node>)>, key: Option<Key> },
}

impl Building {
    fn open(&mut self, at: Spot, anchor: usize, content: Growing) -> Result<(), Flaw> {
        if self.open.len() == limits::DEPTH_MAX {
            return Err(too_deep(at));
        }
        self.open.push(Open { at, anchor, content });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Flaw> {
        let Open { at, anchor, content } = self.open.pop().expect("the parser closes what it opened");
        let body = match content {
            Growing::List(items) => Body::List(items),
            Growing::Mapping { entries, .. } => Body::Mapping(self.settled(entries)?),
        };
        let children: Vec<&Rc<Node>> = match &body {
            Body::List(items) => items.iter().collect(),
            Body::Mapping(entries) => entries.iter().map(|(_, value)| value).collect(),
            Body::Text { .. } => Vec::new(),
        };
        let depth = 1 + children.iter().map(|child| child.depth).max().unwrap_or(0);
        let weight = children.iter().fold(16, |sum: usize, child| sum.saturating_add(child.weight));
        self.finished(anchor, Rc::new(Node { at, body, depth, weight }))
    }

    /// Puts a finished value where it belongs: into the list or mapping that is open, or at the root.
    fn finished(&mut self, anchor: usize, node: Rc<Node>) -> Result<(), Flaw> {
        self.nodes += 1;
        if self.nodes > limits::NODES_MAX {
            let message = format!("more than {} values in one document", limits::NODES_MAX);
            return Err(flaw(node.at, Code::TooMany, message));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Growing::List(items)) => items.push(node),
            Some(Growing::Mapping { entries, key }) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(as_key(&node)?),
            },
        }
        Ok(())
    }

    /// The entries with merge keys (`<<`) carried out and later doubles of a key reported and left out.
    fn settled(&mut self, entries: Vec<(Key, Rc<Node>)>) -> Result<Vec<(Key, Rc<Node>)>, Flaw> {
        let mut seen: BTreeMap<Rc<str>, Spot> = BTreeMap::new();
        let mut kept = Vec::with_capacity(entries.len());
        let mut merged = Vec::new();
        for (key, value) in entries {
            if &*key.text == "<<" {
                merged.push(value);
            } else if let Some(first) = seen.get(&key.text) {
                if self.flaws.len() < limits::PROBLEMS_MAX {
                    let first = if first.line == 0 { String::new() } else { format!(", first in line {}", first.line) };
                    let message = format!("duplicate field `{}`{first}", cut(&key.text, 60));
                    self.flaws.push(flaw(key.at, Code::Duplicate, message));
                }
            } else {
                seen.insert(key.text.clone(), key.at);
                kept.push((key, value));
            }
        }
        let mut present: BTreeSet<Rc<str>> = seen.into_keys().collect();
        for (key, value) in merged.iter().map(mappings_of).collect::<Result<Vec<_>, _>>()?.concat() {
            if present.insert(key.text.clone()) {
                kept.push((key, value));
            }
        }
        Ok(kept)
    }
}

/// What a merge key brings: the entries of a mapping, or of a list of mappings.
fn mappings_of(value: &Rc<Node>) -> Result<Vec<(Key, Rc<Node>)>, Flaw> {
    let wrong = |at| flaw(at, Code::WrongType, "`<<` takes a mapping or a list of mappings");
    match &value.body {
        Body::Mapping(entries) => Ok(entries.clone()),
        Body::Text { .. } => Err(wrong(value.at)),
        Body::List(items) => {
            let mut all = Vec::new();
            for item in items {
                let Body::Mapping(entries) = &item.body else { return Err(wrong(item.at)) };
                all.extend(entries.iter().cloned());
            }
            Ok(all)
        }
    }
}

fn as_key(node: &Node) -> Result<Key, Flaw> {
    match &node.body {
        Body::Text { text, .. } => Ok(Key { at: node.at, text: text.clone() }),
        Body::List(_) | Body::Mapping(_) => Err(flaw(node.at, Code::WrongType, "a field name must be a string")),
    }
}

fn text_node(at: Spot, text: Rc<str>, plain: bool) -> Node {
    let weight = text.len().max(16);
    Node { at, body: Body::Text { text, plain }, depth: 0, weight }
}

fn too_deep(at: Spot) -> Flaw {
    flaw(at, Code::TooDeep, format!("nested more than {} levels deep", limits::DEPTH_MAX))
}

fn flaw(at: Spot, code: Code, message: impl Into<String>) -> Flaw {
    Flaw { at, code, message: message.into() }
}
