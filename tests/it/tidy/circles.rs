//! No file imports, over others, from one that imports from it: whoever reads one can read it on top of what it stands on. A
//! module and its own children may know each other, and what a module hands on is its own.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, source::Source};

/// The way to a module, from the crate's folder: `["actors", "machine", "health"]`.
type Way = Vec<String>;

pub(super) fn faults(sources: &[Source]) -> Vec<Fault> {
    let rooms = Rooms::of(sources);
    let circles = rooms.circles();
    let told = |circle: &Vec<String>| {
        let inside: BTreeSet<&String> = circle.iter().collect();
        let arrows = circle.iter().flat_map(|from| {
            let to = rooms.arrows[from].iter().filter(|(to, _)| inside.contains(to));
            to.map(move |(to, name)| format!("\n  {from} takes {name} from {to}"))
        });
        format!("a circle of imports: {}{}", circle.join(", "), arrows.collect::<String>())
    };
    circles.iter().map(told).collect()
}

/// The files of the product, and what each takes from which.
struct Rooms {
    arrows: BTreeMap<String, BTreeMap<String, String>>,
}

impl Rooms {
    fn of(sources: &[Source]) -> Self {
        let product: Vec<&Source> = sources.iter().filter(|source| is_product(&source.name())).collect();
        let modules: BTreeMap<Way, &Source> = product.iter().map(|source| (way_to(&source.name()), *source)).collect();
        let mut arrows = BTreeMap::new();
        for (way, source) in &modules {
            let mut to: BTreeMap<String, String> = BTreeMap::new();
            for named in source.paths().into_iter().filter(|named| !named.is_test) {
                let Some(target) = follow(&modules, way, &named.segments) else { continue };
                if !way.starts_with(&target) && !target.starts_with(way) {
                    to.entry(modules[&target].name()).or_insert_with(|| named.segments.join("::"));
                }
            }
            arrows.insert(source.name(), to);
        }
        Self { arrows }
    }

    /// The files that can be reached from each other, in groups of more than one.
    fn circles(&self) -> Vec<Vec<String>> {
        let reach = |from: &String| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(file) = open.pop() {
                open.extend(self.arrows[file].keys().filter(|to| seen.insert((*to).clone())));
            }
            seen
        };
        let reached: BTreeMap<&String, BTreeSet<String>> = self.arrows.keys().map(|file| (file, reach(file))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (file, seen) in &reached {
            if seen.contains(*file) {
                circles.insert(seen.iter().filter(|other| reached[other].contains(*file)).cloned().collect());
            }
        }
        circles.into_iter().collect()
    }
}

fn is_product(file: &str) -> bool {
    let is_inside = ["src/", "actors/src/", "journal/src/"].iter().any(|room| file.starts_with(room));
    let is_for_tests = ["/tests/", "/testing/"].iter().any(|part| file.contains(part)) || file.ends_with("/tests.rs");
    is_inside && !is_for_tests
}

fn way_to(file: &str) -> Way {
    // The root crate has no folder of its own.
    let below = if file.starts_with("src/") { format!("root/{file}") } else { file.to_owned() };
    let inside = below.trim_end_matches(".rs").trim_end_matches("/mod");
    inside.split('/').filter(|part| !matches!(*part, "src" | "lib")).map(str::to_owned).collect()
}

/// The module that a path leads to; none if it leads out of the crate.
fn follow(modules: &BTreeMap<Way, &Source>, from: &Way, segments: &[String]) -> Option<Way> {
    let (first, mut rest) = segments.split_first()?;
    let mut at = match first.as_str() {
        "crate" => vec![from.first()?.clone()],
        "self" => from.clone(),
        "super" => from.split_last()?.1.to_vec(),
        child => {
            let mut at = from.clone();
            at.push(child.to_owned());
            modules.contains_key(&at).then_some(at)?
        }
    };
    while let Some((next, behind)) = rest.split_first() {
        let mut below = at.clone();
        below.push(next.clone());
        if next == "super" {
            at.pop();
        } else if modules.contains_key(&below) {
            at = below;
        } else {
            break;
        }
        rest = behind;
    }
    modules.contains_key(&at).then_some(at)
}

#[test]
fn a_circle_is_found_unless_it_is_of_a_module_and_its_children() {
    use std::path::Path;

    let sources = [
        ("actors/src/a/mod.rs", "mod b; mod c; mod d; pub use b::B; use d::D;"),
        ("actors/src/a/b.rs", "use super::c::C;"),
        ("actors/src/a/c.rs", "use crate::a::b::B;"),
        ("actors/src/a/d.rs", "use super::{B, c::C}; #[cfg(test)] mod tests { use super::super::b::B; }"),
    ]
    .map(|(file, text)| Source::new(Path::new(file), text));
    let circles = Rooms::of(&sources).circles();
    assert_eq!(circles, [["actors/src/a/b.rs", "actors/src/a/c.rs"].map(str::to_owned).to_vec()]);
}
