//! In which order work goes out to providers, and what goes out together.

use std::collections::BTreeMap;

use crate::vocab::Name;

/// One kind of bulk call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    DeleteMachine,
    DeleteStray,
    DestroyVolume,
    CreateMachine,
    CreateVolume,
    DetachVolume,
    AttachVolume,
    ReleaseVolume,
    DestroyFilesystem,
    ReleaseFilesystem,
    CreateFilesystem,
    DetachFilesystem,
    AttachFilesystem,
    LookAtReplicaSet,
    StepReplicaSet,
    ImportVolume,
    /// Of the custom kind of that name.
    MakeCustom(&'static str),
    UndoCustom(&'static str),
}

impl Operation {
    /// In words: `create-machine`; of a custom kind `make-virtual-ip`.
    pub fn told(self) -> String {
        let word = match self {
            Self::DeleteMachine => "delete-machine",
            Self::DeleteStray => "delete-stray",
            Self::DestroyVolume => "destroy-volume",
            Self::CreateMachine => "create-machine",
            Self::CreateVolume => "create-volume",
            Self::DetachVolume => "detach-volume",
            Self::AttachVolume => "attach-volume",
            Self::ReleaseVolume => "release-volume",
            Self::DestroyFilesystem => "destroy-filesystem",
            Self::ReleaseFilesystem => "release-filesystem",
            Self::CreateFilesystem => "create-filesystem",
            Self::DetachFilesystem => "detach-filesystem",
            Self::AttachFilesystem => "attach-filesystem",
            Self::LookAtReplicaSet => "look-at-replica-set",
            Self::StepReplicaSet => "step-replica-set",
            Self::ImportVolume => "import-volume",
            Self::MakeCustom(kind) => return format!("make-{kind}"),
            Self::UndoCustom(kind) => return format!("undo-{kind}"),
        };
        word.to_owned()
    }
}

/// The groups of one turn, in the order in which they go out. Destroying and releasing are one group, so that a source is
/// asked for both, one after the other, before the next source is.
///
/// Source: the batch order of Juju's storage provisioner; machines stand where they depend on nobody, replica sets
/// after all that their servers may wait for, and custom kinds, which may follow any of these, after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    DeleteMachines,
    DeleteStrays,
    RemoveVolumes,
    CreateMachines,
    CreateVolumes,
    DetachVolumes,
    AttachVolumes,
    RemoveFilesystems,
    CreateFilesystems,
    DetachFilesystems,
    AttachFilesystems,
    LookAtReplicaSets,
    StepReplicaSets,
    UndoCustom,
    MakeCustom,
}

impl Operation {
    fn group(self) -> Group {
        match self {
            Self::DeleteMachine => Group::DeleteMachines,
            Self::DeleteStray => Group::DeleteStrays,
            Self::DestroyVolume | Self::ReleaseVolume => Group::RemoveVolumes,
            Self::CreateMachine => Group::CreateMachines,
            Self::CreateVolume | Self::ImportVolume => Group::CreateVolumes,
            Self::DetachVolume => Group::DetachVolumes,
            Self::AttachVolume => Group::AttachVolumes,
            Self::DestroyFilesystem | Self::ReleaseFilesystem => Group::RemoveFilesystems,
            Self::CreateFilesystem => Group::CreateFilesystems,
            Self::DetachFilesystem => Group::DetachFilesystems,
            Self::AttachFilesystem => Group::AttachFilesystems,
            Self::LookAtReplicaSet => Group::LookAtReplicaSets,
            Self::StepReplicaSet => Group::StepReplicaSets,
            Self::UndoCustom(_) => Group::UndoCustom,
            Self::MakeCustom(_) => Group::MakeCustom,
        }
    }

    /// Whether its calls go out one by one: there is no bulk call, and one that hangs must not hold up others.
    pub fn is_single(self) -> bool {
        matches!(self, Self::LookAtReplicaSet | Self::StepReplicaSet)
    }
}

/// What is ready to go out in one turn, at most one item under each key.
///
/// Batches come out in the order of their groups, then of their sources, and their items in the order of their keys: the
/// same items give the same calls, whatever the order in which they were added. Adding and taking cost the logarithm of
/// their number.
#[derive(Clone, Debug)]
pub struct Turn<K, T, S = Option<Name>> {
    batches: BTreeMap<Place<S>, BTreeMap<K, T>>,
    places: BTreeMap<K, Place<S>>,
}

/// The source has no name where nobody is named who could do it.
type Place<S> = (Group, S, Operation);

/// What goes out as one bulk call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<K, T, S = Option<Name>> {
    pub operation: Operation,
    /// Who is called.
    pub source: S,
    /// In the order of their keys.
    pub items: Vec<(K, T)>,
}

impl<K: Ord + Clone, T, S: Ord + Clone> Turn<K, T, S> {
    /// Adds an item; what stood under the key before is not wanted any more.
    pub fn add(&mut self, operation: Operation, source: S, key: K, item: T) {
        self.remove(&key);
        let place = (operation.group(), source, operation);
        self.places.insert(key.clone(), place.clone());
        self.batches.entry(place).or_default().insert(key, item);
    }

    /// Takes out what stands under a key.
    pub fn remove(&mut self, key: &K) -> Option<T> {
        let place = self.places.remove(key)?;
        let batch = self.batches.get_mut(&place)?;
        let item = batch.remove(key);
        if batch.is_empty() {
            self.batches.remove(&place);
        }
        item
    }

    /// Takes out, in order, as much as may go: `room` is asked once for each operation and source, with the number of items
    /// that are ready, and says how many of them may go. The others stay, and go with what comes meanwhile.
    pub fn take_some(&mut self, mut room: impl FnMut(Operation, &S, usize) -> usize) -> Vec<Batch<K, T, S>> {
        let mut taken = Vec::new();
        for ((_, source, operation), items) in &mut self.batches {
            let count = room(*operation, source, items.len()).min(items.len());
            if count == 0 {
                continue;
            }
            let items: Vec<(K, T)> = std::iter::from_fn(|| items.pop_first()).take(count).collect();
            for (key, _) in &items {
                self.places.remove(key);
            }
            taken.push(Batch { operation: *operation, source: source.clone(), items });
        }
        self.batches.retain(|_, items| !items.is_empty());
        taken
    }

    /// Whether nothing is ready.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl<K, T, S> Default for Turn<K, T, S> {
    fn default() -> Self {
        Self { batches: BTreeMap::new(), places: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Option<Name> {
        Some(text.parse().expect("a name"))
    }

    /// All that is ready may go.
    fn everything<S>(_: Operation, _: &S, ready: usize) -> usize {
        ready
    }

    #[test]
    fn groups_then_sources_then_keys_whatever_came_first() {
        let mut turn = Turn::default();
        turn.add(Operation::AttachVolume, source("b"), "1:2", ());
        turn.add(Operation::ReleaseVolume, source("a"), "4", ());
        turn.add(Operation::DestroyVolume, source("b"), "5", ());
        turn.add(Operation::AttachVolume, source("b"), "1:10", ());
        turn.add(Operation::DestroyVolume, source("a"), "7", ());
        let order: Vec<_> = turn
            .take_some(everything)
            .into_iter()
            .map(|batch| {
                (batch.operation, batch.source, batch.items.into_iter().map(|(key, ())| key).collect::<Vec<_>>())
            })
            .collect();
        let expected = [
            (Operation::DestroyVolume, source("a"), vec!["7"]),
            (Operation::ReleaseVolume, source("a"), vec!["4"]),
            (Operation::DestroyVolume, source("b"), vec!["5"]),
            (Operation::AttachVolume, source("b"), vec!["1:10", "1:2"]),
        ];
        assert_eq!(order, expected);
        assert!(turn.is_empty());
    }

    #[test]
    fn a_key_has_one_item_at_a_time() {
        let mut turn = Turn::default();
        turn.add(Operation::AttachVolume, source("a"), "1:1", "attach");
        turn.add(Operation::DetachVolume, source("a"), "1:1", "detach");
        let batches = turn.take_some(everything);
        assert_eq!(batches.len(), 1);
        assert_eq!(batches[0].items, [("1:1", "detach")]);
    }

    #[test]
    fn what_may_not_go_yet_goes_with_what_comes_meanwhile() {
        let mut turn = Turn::default();
        for key in ["1", "3", "4"] {
            turn.add(Operation::AttachVolume, source("a"), key, ());
        }
        turn.add(Operation::AttachVolume, source("b"), "9", ());
        let keys = |batches: Vec<Batch<&'static str, ()>>| -> Vec<Vec<&str>> {
            batches.into_iter().map(|batch| batch.items.into_iter().map(|(key, ())| key).collect()).collect()
        };
        let of_a = |count| move |_, from: &Option<Name>, _| if *from == source("a") { count } else { 0 };
        assert_eq!(keys(turn.take_some(of_a(2))), [["1", "3"]]);
        turn.add(Operation::AttachVolume, source("a"), "2", ());
        turn.add(Operation::DetachVolume, source("a"), "4", ());
        assert_eq!(keys(turn.take_some(of_a(0))), [] as [Vec<&str>; 0]);
        assert_eq!(keys(turn.take_some(everything)), [vec!["4"], vec!["2"], vec!["9"]]);
        assert!(turn.is_empty());
    }

    /// The order of ten thousand is the same however they come.
    #[test]
    fn ten_thousand_attachments_go_out_in_one_order() {
        let sources = ["local", "loop", "simulated"];
        let key = |number: u64| (number.wrapping_mul(7_919) % 10_000, sources[(number % 3) as usize]);
        let collect = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut turn = Turn::default();
            for number in numbers {
                let (key, name) = key(number);
                turn.add(Operation::AttachVolume, source(name), format!("{key}:data"), number);
            }
            turn.take_some(everything)
        };
        let forwards = collect(&mut (0..10_000));
        assert_eq!(forwards, collect(&mut (0..10_000).rev()));
        assert_eq!(forwards.len(), 3, "one batch for each source");
        assert_eq!(forwards.iter().map(|batch| batch.items.len()).sum::<usize>(), 10_000);
    }
}
