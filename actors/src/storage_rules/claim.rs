//! Storage that every machine of a set asks for, for itself.
//!
//! What it is called follows from the machine's name, so it is the same after every restart: `web-1-data-0` is the first thing
//! that machine `web-1` asks for as `data`, and `web-1-data-0-volume` the volume beneath, if that is a filesystem on one. The
//! name of a set's machine ends in a number, and no part of a claim's name is a number, so each name can be taken apart in one
//! way only, and no two machines come to the same. What is too long for a name is cut, and marked with a digest of the whole.

use bailiwick_journal::digest;
use serde::{Deserialize, Serialize};

use super::FromPool;
use crate::vocab::{EXTERNAL, Name, SizeMib, hex};

/// Storage that a machine asks for under one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StorageClaim {
    pub name: Name,
    /// How many.
    pub count: u32,
    /// How large each is.
    pub size: SizeMib,
    /// Who makes it, and the pool that said so.
    pub provider: Name,
    pub pool: FromPool,
    pub form: ClaimForm,
    pub read_only: bool,
    /// Whether its data stays when its machine goes.
    pub is_persistent: bool,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ClaimForm {
    Volume,
    Filesystem {
        /// Where it is mounted; none leaves that to the provider that mounts it.
        path: Option<String>,
        /// Whether it is inside of its machine.
        is_inside: bool,
    },
    /// A filesystem on a volume of its own.
    OnVolume {
        path: Option<String>,
        is_inside: bool,
    },
}

/// One volume or filesystem that a machine asks for, or a filesystem and the volume beneath.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed<'c> {
    pub claim: &'c StorageClaim,
    pub volume: Option<Name>,
    pub filesystem: Option<Name>,
}

/// For which machine something was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClaimedBy {
    pub machine: Name,
    /// Whether its data stays when that machine goes.
    pub is_persistent: bool,
}

impl StorageClaim {
    /// Whether storage of a set's machines can be claimed under this name: no part of it is a number.
    pub fn may_be_called(name: &Name) -> bool {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        !name.as_str().split('-').any(is_number)
    }

    /// Where each is mounted, if that is said.
    pub fn path(&self) -> Option<&String> {
        match &self.form {
            ClaimForm::Volume => None,
            ClaimForm::Filesystem { path, .. } | ClaimForm::OnVolume { path, .. } => path.as_ref(),
        }
    }

    fn claimed(&self, machine: &Name, number: u32) -> Claimed<'_> {
        let called = |ending| derived(&format!("{machine}-{}-{number}{ending}", self.name));
        let (volume, filesystem) = match self.form {
            ClaimForm::Volume => (Some(called("")), None),
            ClaimForm::Filesystem { .. } => (None, Some(called(""))),
            ClaimForm::OnVolume { .. } => (Some(called("-volume")), Some(called(""))),
        };
        Claimed { claim: self, volume, filesystem }
    }
}

/// Everything that a machine of this name asks for.
pub fn claimed<'c>(machine: &Name, claims: &'c [StorageClaim]) -> impl Iterator<Item = Claimed<'c>> {
    claims.iter().flat_map(move |claim| (0..claim.count).map(move |number| claim.claimed(machine, number)))
}

/// The volumes that a machine of this name asks for and that are to come with its instance, each with its claim.
pub fn claimed_with_instance<'c>(
    machine: &Name,
    claims: &'c [StorageClaim],
) -> impl Iterator<Item = (Name, &'c StorageClaim)> {
    let with_it = claimed(machine, claims).filter(|claimed| claimed.claim.provider.as_str() == EXTERNAL);
    with_it.filter_map(|Claimed { claim, volume, .. }| Some((volume?, claim)))
}

fn derived(text: &str) -> Name {
    if let Ok(name) = text.parse() {
        return name;
    }
    let mark = format!("h{}", hex(&digest(text.as_bytes())[..6]));
    let stem = text.get(..Name::BYTES_MAX - 1 - mark.len()).unwrap_or(text).trim_end_matches('-');
    format!("{stem}-{mark}").parse().expect("a name, a dash and letters are a name")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn claim(name: &str, count: u32, form: ClaimForm) -> StorageClaim {
        StorageClaim {
            name: name.parse().unwrap(),
            count,
            size: SizeMib(64),
            provider: "local".parse().unwrap(),
            pool: FromPool { name: "local".parse().unwrap(), attributes: Default::default() },
            form,
            read_only: false,
            is_persistent: false,
        }
    }

    fn names(machine: &str, claims: &[StorageClaim]) -> Vec<String> {
        let both = |claimed: Claimed<'_>| claimed.volume.into_iter().chain(claimed.filesystem);
        let machine = machine.parse().unwrap();
        let names = claimed(&machine, claims).flat_map(both);
        names.map(|name| name.to_string()).collect()
    }

    #[test]
    fn names_follow_from_the_machine_and_the_claim() {
        let files = ClaimForm::OnVolume { path: None, is_inside: false };
        let claims = [claim("data", 2, ClaimForm::Volume), claim("files", 1, files)];
        let expected = ["web-1-data-0", "web-1-data-1", "web-1-files-0-volume", "web-1-files-0"];
        assert_eq!(names("web-1", &claims), expected);
    }

    #[test]
    fn what_is_too_long_is_cut_and_stays_apart() {
        let claims = [claim(&"x".repeat(40), 3, ClaimForm::Volume)];
        let machine = format!("{}-7", "m".repeat(60));
        let names = names(&machine, &claims);
        assert!(names.iter().all(|name| name.len() <= Name::BYTES_MAX), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3, "{names:?}");
    }

    proptest! {
        #[test]
        fn no_two_machines_of_sets_come_to_the_same_name(
            sets in proptest::collection::vec(("[a-c0-1](-?[a-c0-1]){0,5}", 1u32..12, "[a-c0-1](-?[a-c0-1]){0,5}"), 2..40)
        ) {
            let fits = |(_, _, name): &(String, u32, String)| StorageClaim::may_be_called(&name.parse().unwrap());
            let sets: BTreeSet<_> = sets.into_iter().filter(fits).collect();
            let machines: BTreeSet<(String, String)> =
                sets.into_iter().map(|(set, number, name)| (format!("{set}-{number}"), name)).collect();
            let mut all = BTreeSet::new();
            for (machine, name) in &machines {
                let files = ClaimForm::OnVolume { path: None, is_inside: false };
                for claimed in names(machine, &[claim(name, 2, files)]) {
                    prop_assert!(all.insert(claimed.clone()), "{claimed}, again from {machine} and {name}");
                }
            }
        }
    }
}
