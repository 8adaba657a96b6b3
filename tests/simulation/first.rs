use std::collections::BTreeMap;

use bailiwick::{
    actors::storage_rules::{PoolName, PoolSettings, StorageConfig},
    manifest::{self, Known, Source, Wish},
    simulation::{Happening, Planned, Simulation},
};

pub fn wishes(text: &str) -> Vec<Wish> {
    wishes_with_pools(text, BTreeMap::new())
}

/// As [`wishes`], with these pools beside those that there always are.
pub fn wishes_with_pools(text: &str, pools: BTreeMap<PoolName, PoolSettings>) -> Vec<Wish> {
    let known = Known { storage: StorageConfig { pools, ..StorageConfig::default() }, ..Known::default() };
    let manifest = manifest::parse(&[Source::new("test", text.as_bytes().to_vec())], &known);
    manifest.unwrap_or_else(|error| panic!("{error}")).documents.into_iter().map(|document| document.wish).collect()
}

pub const LAB: &str = "
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: alpha}
spec: {provider: simulated}
---
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: beta}
spec: {provider: simulated}
---
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: gamma}
spec: {provider: simulated}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: data}
spec: {provider: simulated, size: 64M}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: logs}
spec: {provider: simulated, size: 1G}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: alpha, volume: data}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: beta, volume: logs}
";

#[test]
fn a_lab_comes_up_and_goes() {
    let mut simulation = Simulation::new(1);
    simulation.script = vec![
        Planned { at_ms: 0, what: Happening::Apply(wishes(LAB)) },
        Planned { at_ms: 60_000, what: Happening::Remove(vec!["machine/alpha".parse().unwrap()]) },
    ];
    let report = simulation.run().unwrap();
    assert_eq!(report.wrong, Vec::<String>::new());
    assert!(report.converged);
    assert_eq!(report.statuses["machine/alpha"], "removed");
    assert_eq!(report.statuses["volume/data"], "available");
    assert_eq!(report.statuses["volume-attachment/beta:logs"], "attached");
}

#[test]
fn the_first_machines_do_not_wait_for_the_next_poll_of_their_provider() {
    // Given a node that polled its provider when it started, for nobody, and will again in three seconds.
    let set = "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {name: web}\n\
               spec: {replicas: 2, template: {spec: {provider: simulated}}}\n";
    let applied_ms = 7_000;
    let mut simulation = Simulation::new(1);
    simulation.script = vec![Planned { at_ms: applied_ms, what: Happening::Apply(wishes(set)) }];
    // When its first machines are declared in between, which are to be spread over its zones.
    let report = simulation.run().unwrap();
    // Then it is asked for them at once.
    assert_eq!(report.wrong, Vec::<String>::new());
    assert!(report.converged_ms.is_some_and(|ms| ms < 20_000), "{:?} {:?}", report.converged_ms, report.called_ms);
}
