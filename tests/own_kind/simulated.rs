use std::sync::Arc;

use bailiwick::{
    chaos::{Setup, Sweep, sweep},
    journal::ReadOnlyJournal,
    manifest::{self, Known, Source, Wish},
    providers::simulated::Faults,
    simulation::{Happening, Planned, Simulation},
};

use crate::registered;

fn manifest(address: &str) -> String {
    let machine = |name| {
        format!(
            "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {name}, labels: {{web: 'yes'}}}}\n\
             spec: {{provider: simulated}}\n---\n"
        )
    };
    format!("{}{}{address}", machine("a"), machine("b"))
}

const ADDRESS: &str =
    "apiVersion: bailiwick/v1\nkind: VirtualIp\nmetadata: {name: front}\nspec: {provider: simulated, label: web}\n";

fn wishes(text: &str) -> Vec<Wish> {
    let manifest = manifest::parse(&[Source::new("test", text.as_bytes().to_vec())], &Known::default());
    manifest.unwrap_or_else(|error| panic!("{error}")).documents.into_iter().map(|document| document.wish).collect()
}

/// Two machines and an address, which moves when the first machine goes, and goes in the end.
fn script() -> Vec<Planned> {
    let remove = |entity: &str| Happening::Remove(vec![entity.parse().expect("a stream")]);
    vec![
        Planned { at_ms: 0, what: Happening::Apply(wishes(&manifest(ADDRESS))) },
        Planned { at_ms: 600_000, what: remove("machine/a") },
        Planned { at_ms: 1_800_000, what: remove("virtual-ip/front") },
    ]
}

#[test]
fn it_moves_with_its_machine_and_goes_and_nothing_is_left() {
    registered();
    let mut simulation = Simulation::new(1);
    simulation.script = script();
    let (report, kept) = simulation.run_and_keep().expect("it runs");
    assert_eq!((report.wrong.as_slice(), report.converged), (&[][..], true));
    assert_eq!(report.statuses["virtual-ip/front"], "removed");
    assert!(kept.world.custom.is_empty(), "{:?}", kept.world.custom);
    let told: Vec<String> = report.story.iter().map(ToString::to_string).collect();
    let of_address = told.iter().filter(|line| line.contains("virtual-ip/front")).count();
    assert!(of_address > 8, "{told:#?}");
}

#[test]
fn whatever_providers_do_it_is_made_once_and_never_left_behind() {
    registered();
    for seed in 1..=40 {
        let mut simulation = Simulation::new(seed);
        let faults = Faults {
            fail_per_mille: 200,
            lost_answer_per_mille: 150,
            hang_per_mille: 50,
            miscount_per_mille: 50,
            unknown_lookup_per_mille: 100,
            ..Faults::default()
        };
        let provider = "simulated".parse().expect("a name");
        simulation.script = script();
        simulation
            .script
            .insert(0, Planned { at_ms: 0, what: Happening::Misbehave { provider, faults: Box::new(faults) } });
        simulation.script.push(Planned { at_ms: 3_000_000, what: Happening::Calm });
        simulation.script.push(Planned { at_ms: 3_000_001, what: Happening::RetryFailed });
        simulation.until_ms = 14_400_000;
        let (report, kept) = simulation.run_and_keep().expect("it runs");
        assert_eq!((report.wrong.as_slice(), report.converged), (&[][..], true), "seed {seed}");
        assert!(kept.world.custom.is_empty(), "seed {seed}: {:?}", kept.world.custom);
    }
}

#[test]
fn a_node_converges_from_every_prefix_of_its_journal() {
    registered();
    let mut simulation = Simulation::new(3);
    simulation.script = script();
    let (report, kept) = simulation.run_and_keep().expect("it runs");
    assert!(report.converged, "{report:#?}");
    let journal = ReadOnlyJournal::open_on(Arc::new(kept.disk)).expect("a journal that nobody has open");
    let swept: Sweep = sweep(&journal, Setup::default(), &|_, _| true).expect("it can be swept");
    let with_calls = swept.trials.iter().filter(|trial| trial.stream == "virtual-ip/front" && trial.calls > 0).count();
    assert!(swept.boundaries > 15 && with_calls > 2, "{swept:#?}");
    assert_eq!(swept.converged, swept.trials.len(), "{swept:#?}");
}

#[test]
fn what_is_wrong_with_its_declaration_is_told_with_its_place() {
    registered();
    let told = |spec: &str| {
        let text = format!("apiVersion: bailiwick/v1\nkind: VirtualIp\nmetadata: {{name: front}}\nspec: {spec}\n");
        let error = manifest::parse(&[Source::new("ip.yaml", text)], &Known::default()).expect_err("it is wrong");
        error.to_string()
    };
    let unknown = told("{provider: files, lable: web}");
    assert!(unknown.contains("ip.yaml:4") && unknown.contains("unknown field `lable`"), "{unknown}");
    let missing = told("{provider: files}");
    assert!(missing.contains("missing field `label`"), "{missing}");
    let kind = "apiVersion: bailiwick/v1\nkind: VirtualIP\nmetadata: {name: front}\nspec: {}\n";
    let error = manifest::parse(&[Source::new("ip.yaml", kind)], &Known::default()).expect_err("it is wrong");
    assert!(error.to_string().contains("did you mean `VirtualIp`?"), "{error}");
}
