//! The folders of the journal are its layers: a file uses its own folder and those below, never one above. And no files
//! use each other in a circle, except a parent and its own children.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Fault, arrows::absolute, source::Source};

/// The folders of `journal/src` from the bottom to the top.
const LAYERS: &[&str] = &[
    "model",
    "disk",
    "format",
    "api",
    "blocks",
    "log",
    "index",
    "checkpoint",
    "core",
    "commit",
    "background",
    "open",
    "local",
    "tools",
    "testing",
];
const CRATE: &str = "journal/src/";
/// Re-exports that lead to another one, at most so many times.
const HOPS_MAX: usize = 8;

/// A module's names from the crate's root; none for the root itself.
type Module = Vec<String>;

/// The modules of the crate, and what each hands on under which name.
struct Crate<'a> {
    files: BTreeMap<Module, &'a Source>,
    handed_on: BTreeMap<(Module, String), Vec<String>>,
}

/// Which module a file is.
fn module_of(file: &str) -> Option<Module> {
    let inside = file.strip_prefix(CRATE)?.strip_suffix(".rs")?;
    let mut names: Module = inside.split('/').map(str::to_owned).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib")) {
        names.pop();
    }
    Some(names)
}

impl<'a> Crate<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let files = sources.iter().filter_map(|source| Some((module_of(&source.name())?, source))).collect();
        let mut all = Self { files, handed_on: BTreeMap::new() };
        let mut handed_on = BTreeMap::new();
        for (module, source) in &all.files {
            for path in source.handed_on().into_iter().filter(|path| !path.is_test) {
                if let Some(from_root) = all.path_from_root(module, source, &path.segments) {
                    handed_on.insert((module.clone(), path.name), from_root);
                }
            }
        }
        all.handed_on = handed_on;
        all
    }

    /// A path as seen from the crate's root; none if it leads out of the crate.
    fn path_from_root(&self, module: &Module, source: &Source, segments: &[String]) -> Option<Vec<String>> {
        let path = absolute(&source.name(), segments);
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            child => {
                let is_child = self.files.contains_key(&[module.as_slice(), &[child.to_owned()]].concat());
                is_child.then(|| [module.as_slice(), &path].concat())
            }
        }
    }

    /// The module in which the thing at the end of a path stands; none if nobody hands it on.
    fn home(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        for _ in 0..HOPS_MAX {
            let is_module = |length: &usize| self.files.contains_key(&path[..*length]);
            let length = (0..=path.len()).rev().find(is_module)?;
            let (module, rest) = path.split_at(length);
            let Some(name) = rest.first() else { return Some(module.to_vec()) };
            match self.handed_on.get(&(module.to_vec(), name.clone())) {
                Some(further) => path = [further.as_slice(), &rest[1..]].concat(),
                None => return (length > 0).then(|| module.to_vec()),
            }
        }
        None
    }
}

pub(super) fn faults(sources: &[Source]) -> Vec<Fault> {
    let all = Crate::of(sources);
    let mut faults = Vec::new();
    let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, source) in all.files.iter().filter(|(module, _)| !module.is_empty()) {
        let Some(layer) = layer(module) else {
            faults.push(format!("{}: stands in none of the journal's layers", source.name()));
            continue;
        };
        for path in source.paths().iter().filter(|path| !path.is_test) {
            let Some(from_root) = all.path_from_root(module, source, &path.segments) else { continue };
            let (place, what) = (source.place(path.line), path.segments.join("::"));
            match all.home(&from_root) {
                None => faults.push(format!("{place}: `{what}`: it is not seen where that stands; name its module")),
                Some(home) if home == *module => (),
                Some(home) => {
                    if self::layer(&home).is_none_or(|other| other > layer) {
                        faults.push(format!(
                            "{place}: `{what}`: `{}` stands above `{}`, and arrows point down",
                            home[0], module[0]
                        ));
                    }
                    uses.entry(module.clone()).or_default().insert(home);
                }
            }
        }
    }
    faults.extend(circles(&uses));
    faults
}

fn layer(module: &Module) -> Option<usize> {
    LAYERS.iter().position(|layer| Some(*layer) == module.first().map(String::as_str))
}

/// Files that use each other in a circle, each circle once. A parent and its own children may.
fn circles(uses: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Fault> {
    let are_family = |one: &Module, other: &Module| one.starts_with(other) || other.starts_with(one);
    let used_by = |module: &Module| -> Vec<Module> {
        let used = uses.get(module).into_iter().flatten();
        used.filter(|other| !are_family(module, other)).cloned().collect()
    };
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for start in uses.keys().filter(|start| !start.is_empty()) {
        let Some(circle) = way_back(start, &used_by).filter(|_| !seen.contains(start)) else { continue };
        let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
        faults.push(format!("{CRATE}: these use each other in a circle: {}", names.join(" -> ")));
        seen.extend(circle);
    }
    faults
}

/// The shortest way from a file over others back to itself.
fn way_back(start: &Module, used_by: &dyn Fn(&Module) -> Vec<Module>) -> Option<Vec<Module>> {
    let mut waiting = VecDeque::from([vec![start.clone()]]);
    let mut reached = BTreeSet::new();
    while let Some(way) = waiting.pop_front() {
        for next in used_by(way.last()?) {
            let further = [way.as_slice(), std::slice::from_ref(&next)].concat();
            if next == *start {
                return Some(further);
            }
            if reached.insert(next) {
                waiting.push_back(further);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn faults_in(files: &[(&str, &str)]) -> Vec<Fault> {
        let source = |(path, text): &(&str, &str)| Source::new(Path::new(&format!("{CRATE}{path}")), text);
        faults(&files.iter().map(source).collect::<Vec<_>>())
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod model; mod log; mod open; pub use model::Head; pub use open::Report;");
    const MODEL: (&str, &str) = ("model/mod.rs", "mod head; pub use head::Head;");
    const HEAD: (&str, &str) = ("model/head.rs", "pub struct Head;");

    #[test]
    fn arrows_that_point_down_and_between_parent_and_child_are_let_through() {
        let faults = faults_in(&[
            ROOT,
            MODEL,
            HEAD,
            ("log/mod.rs", "mod scan; use scan::Scanned; use crate::Head; pub struct Tip;"),
            ("log/scan.rs", "use super::Tip; pub struct Scanned; use std::io;"),
            ("open/mod.rs", "use crate::{log::Tip, model::Head}; pub struct Report;"),
            ("open/judge.rs", "use crate::log::scan::{self, Scanned}; #[cfg(test)] mod tests { use crate::tools::X; }"),
        ]);
        assert_eq!(faults, [""; 0]);
    }

    #[test]
    fn an_arrow_that_points_up_is_found_however_it_is_written() {
        for text in [
            "use crate::open::Report;",
            "use crate::Report;",
            "use super::super::open::Report;",
            "fn f() { crate::open::look() }",
            "pub(crate) use crate::open::Report as Seen;",
        ] {
            let faults = faults_in(&[ROOT, MODEL, HEAD, ("log/scan.rs", text), ("open/mod.rs", "pub struct Report;")]);
            assert_eq!(faults.len(), 1, "{text}: {faults:?}");
            assert!(faults[0].contains("`open` stands above `log`"), "{text}: {faults:?}");
        }
    }

    #[test]
    fn a_circle_is_found_also_where_a_parent_hands_on_what_its_child_has() {
        let parent = ("log/mod.rs", "mod a; mod b; mod c; pub(crate) use a::A;");
        let faults = faults_in(&[
            ROOT,
            MODEL,
            HEAD,
            parent,
            ("log/a.rs", "use super::b::B; pub struct A;"),
            ("log/b.rs", "use crate::log::c::C; pub struct B;"),
            ("log/c.rs", "use crate::log::A; pub struct C;"),
        ]);
        assert_eq!(faults, [format!("{CRATE}: these use each other in a circle: log/a -> log/b -> log/c -> log/a")]);
    }

    #[test]
    fn a_file_outside_of_the_layers_and_a_name_that_nobody_hands_on_are_found() {
        let faults = faults_in(&[ROOT, MODEL, HEAD, ("shared.rs", ""), ("log/a.rs", "use crate::Surprise;")]);
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
