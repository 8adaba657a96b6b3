//! A set of thousands of machines: every decision about it can be stored.

use bailiwick::{
    manifest::{self, Known, Source, Wish},
    simulation::{Happening, Planned, Simulation},
};

/// More than the citations of one decision had room for.
const MACHINES: usize = 2_000;

fn set(machines: usize) -> Vec<Wish> {
    let text = format!(
        "apiVersion: bailiwick/v1
kind: MachineClass
metadata: {{name: small}}
spec: {{provider: simulated}}
---
apiVersion: bailiwick/v1
kind: MachineSet
metadata: {{name: web}}
spec: {{replicas: {machines}, template: {{spec: {{class: small}}}}}}
"
    );
    let manifest = manifest::parse(&[Source::new("large.yaml", text.as_str())], &Known::default()).expect("good");
    manifest.documents.into_iter().map(|document| document.wish).collect()
}

#[test]
#[ignore = "takes long"]
fn a_set_of_thousands_of_machines_comes_up_shrinks_and_goes() {
    let mut simulation = Simulation::new(1);
    let remove = || vec!["machine-set/web".parse().expect("a stream")];
    simulation.script = vec![
        Planned { at_ms: 0, what: Happening::Apply(set(MACHINES)) },
        Planned { at_ms: 600_000, what: Happening::Apply(set(MACHINES / 10)) },
        Planned { at_ms: 1_200_000, what: Happening::Remove(remove()) },
    ];
    let report = simulation.run().expect("a simulation");
    assert!(report.converged && report.wrong.is_empty(), "{:?} {:?}", report.wrong, report.unready.iter().next());
    let created = report.items.get("simulated create-machine").copied().unwrap_or(0);
    assert_eq!(created, MACHINES as u64, "each was made once");
    let removed = report.statuses.values().filter(|status| **status == "removed").count();
    assert_eq!(removed, MACHINES + 1, "all of them are gone, and so is the set");
}
