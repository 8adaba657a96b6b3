//! What of a crate can be reached from outside.

use std::collections::BTreeSet;

use super::items::{Item, Module, Modules};

/// A name may be handed on so many times; longer chains go in a circle, and what is looked for was written by a macro.
const USES_MAX: u32 = 8;

/// A line for each public item, by the path at which it is reached.
pub(super) fn lines(name: &str, modules: &Modules) -> Vec<String> {
    let mut reaching = Reaching { modules, found: BTreeSet::new(), within: Vec::new() };
    let root = vec![name.to_owned()];
    reaching.module(&root, name);
    let mut found: Vec<(String, String)> = reaching.found.into_iter().collect();
    found.sort();
    found.into_iter().map(|(_, line)| line).collect()
}

struct Reaching<'m> {
    modules: &'m Modules,
    /// The path of each, and its line.
    found: BTreeSet<(String, String)>,
    /// The modules that are being read, so that none is read inside of itself.
    within: Vec<Vec<String>>,
}

impl Reaching<'_> {
    /// Tells what stands in a module, as reached at this path.
    fn module(&mut self, at: &[String], path: &str) {
        let Some(module) = self.modules.get(at) else { return };
        if self.within.iter().any(|within| within == at) {
            return;
        }
        self.within.push(at.to_vec());
        for item in module.items.iter().filter(|item| item.is_public) {
            self.item(at, item, &format!("{path}::{}", item.name));
        }
        for used in module.uses.iter().filter(|used| used.is_public) {
            self.used(at, &used.path, path, &used.name);
        }
        self.within.pop();
    }

    fn item(&mut self, at: &[String], item: &Item, path: &str) {
        self.told(&item.kind, path, &item.rest);
        for member in &item.members {
            self.member(&member.kind, path, &member.name, &member.rest);
        }
        let mut inner = at.to_vec();
        inner.push(item.name.clone());
        if item.is_module {
            return self.module(&inner, path);
        }
        // Its functions may stand anywhere in the crate.
        for (place, module) in self.modules {
            for (name, functions) in &module.functions {
                if self.leads_to(place, name, &inner) {
                    for function in functions {
                        self.member(&function.kind, path, &function.name, &function.rest);
                    }
                }
            }
        }
    }

    fn told(&mut self, kind: &str, path: &str, rest: &str) {
        // Bounds, and the type of a constant, without a name before them.
        let (colon, rest) = rest.strip_prefix(':').map_or(("", rest), |rest| (": ", rest.trim_start()));
        let space = if rest.starts_with('{') { " " } else { "" };
        self.found.insert((path.to_owned(), format!("{kind} {path}{colon}{space}{rest}")));
    }

    fn member(&mut self, kind: &str, path: &str, name: &str, rest: &str) {
        self.told(kind, &format!("{path}::{name}"), rest);
    }

    /// Whether a name that is used in a module is that of this item.
    fn leads_to(&self, place: &[String], name: &str, item: &[String]) -> bool {
        let module = &self.modules[place];
        if module.items.iter().any(|other| other.name == name && !other.is_module) {
            return item.split_last().is_some_and(|(last, before)| last == name && before == place);
        }
        let used = module.uses.iter().find(|used| used.name == name);
        used.and_then(|used| self.found_at(place, &used.path, USES_MAX)).is_some_and(|found| found == item)
    }

    fn used(&mut self, at: &[String], path: &[String], reached: &str, name: &str) {
        let Some((last, before)) = path.split_last() else { return };
        if last == "*" {
            let Some(from) = self.absolute(at, before) else { return };
            return self.module(&from, reached);
        }
        let to = format!("{reached}::{name}");
        let Some(found) = self.found_at(at, path, USES_MAX) else {
            // Another crate's, or what a macro has written.
            self.found.insert((to.clone(), format!("use {to} = {}", path.join("::"))));
            return;
        };
        let Some((last, place)) = found.split_last() else { return };
        let items = self.modules.get(place).map_or(&[][..], |module: &Module| &module.items);
        for item in items.iter().filter(|item| item.name == *last) {
            self.item(place, item, &to);
        }
    }

    /// The item that a path leads to, where it is defined.
    fn found_at(&self, at: &[String], path: &[String], uses_max: u32) -> Option<Vec<String>> {
        let absolute = self.absolute(at, path)?;
        let (name, place) = absolute.split_last()?;
        let module = self.modules.get(place)?;
        if module.items.iter().any(|item| item.name == *name) {
            return Some(absolute);
        }
        let used = module.uses.iter().find(|used| used.name == *name)?;
        self.found_at(place, &used.path, uses_max.checked_sub(1)?)
    }

    /// A path written out from the crate on; none if it leads to another crate.
    fn absolute(&self, at: &[String], path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut from = match &**first {
            "crate" => at[..1].to_vec(),
            "self" => at.to_vec(),
            "super" => at[..at.len() - 1].to_vec(),
            name => {
                let module = self.modules.get(at)?;
                let is_here = module.items.iter().any(|item| item.name == name);
                let mut from = at.to_vec();
                from.push(is_here.then(|| name.to_owned())?);
                from
            }
        };
        for segment in rest {
            if segment == "super" {
                from.pop();
            } else {
                from.push(segment.clone());
            }
        }
        Some(from)
    }
}

#[test]
fn what_can_be_reached_is_told_where_it_is_reached() {
    let text = "
        mod inner {
            pub struct Row { pub a: Map<u8, u8>, pub c: u8, b: u8 }
            impl Row { pub const fn new(a: u8) -> Self { Row { a, b: 0 } } fn hidden(&self) {} }
            pub(crate) struct Kept;
            pub fn lost() {}
        }
        mod more { use super::inner::Row; impl<T: Fn() -> u8> Row { pub fn more(self, of: &[T]) -> Vec<T> where T: Copy {} } }
        pub mod deep { #[non_exhaustive] #[derive(Debug)] pub enum Why { #[default] No, Yes(#[from] Map<u8, u8>), } #[doc(hidden)] pub fn gone() {} }
        pub use inner::Row as Line;
        pub use other::Thing;
        pub trait Shows { const A: u8; fn a(&self); fn b(&self) -> u8 { 1 } }
        #[cfg(test)] pub fn tested() {}
        pub const TEN: u8 = 10; pub struct Pair(pub u8, u8);";
    let found = lines("x", &super::items::of_text("x", text));
    assert_eq!(
        found,
        [
            "struct x::Line { a: Map<u8, u8>, c: u8, .. }",
            "fn x::Line::more(self, of: &[T]) -> Vec<T> where T: Copy",
            "fn x::Line::new(a: u8) -> Self",
            "struct x::Pair(u8, _)",
            "trait x::Shows",
            "const x::Shows::A: u8",
            "fn x::Shows::a(&self)",
            "fn x::Shows::b(&self) -> u8 { .. }",
            "const x::TEN: u8",
            "use x::Thing = other::Thing",
            "mod x::deep",
            "#[non_exhaustive] enum x::deep::Why { No, Yes(Map<u8, u8>) }",
        ]
    );
}
