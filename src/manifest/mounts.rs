//! Where filesystems are mounted: no place is given to two.

use std::collections::BTreeMap;

use bailiwick_actors::storage_rules::is_within;

use super::{
    problem::{Code, Problem, Problems},
    read::{Known, Read, add},
    source::Source,
    wish::{Document, Wish},
};

/// Refuses a path on a machine that is another filesystem's already, or lies inside of its place, or around it: which of the
/// two is mounted first nobody promises, and the second would hide what is in the first.
pub(super) fn check(documents: &[Read], known: Option<&Known>, sources: &[Source], problems: &mut Problems) {
    let mut taken: BTreeMap<String, String> = known.map(|known| known.mounts.clone()).unwrap_or_default();
    for Read { document: Document { place, wish, .. }, .. } in documents {
        let Wish::FilesystemAttachment { spec } = wish else { continue };
        let Some(path) = &spec.path else { continue };
        let own = spec.stream_name();
        let machine = format!("{}:", spec.machine);
        let on_machine = taken.range(machine.clone()..).take_while(|(name, _)| name.starts_with(&machine));
        let mut others = on_machine.filter(|(name, _)| **name != own);
        if let Some((name, other)) = others.find(|(_, other)| is_within(path, other) || is_within(other, path)) {
            let filesystem = &name[machine.len()..];
            let message = format!("on machine {}, filesystem {filesystem} is mounted at {other}", spec.machine);
            let problem = Problem::new(place.clone(), "spec.path", Code::Duplicate, message);
            add(problem.next("choose a path that is neither that path nor inside or above it"), sources, problems);
            continue;
        }
        taken.insert(own, path.clone());
    }
}
