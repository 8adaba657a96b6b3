//! Storage of a set's machines on bad days: whatever goes wrong, once the set is gone what goes with machines is gone, and what
//! stays is there.

use bailiwick::{
    actors::storage_rules::{PoolSettings, ProviderType},
    manifest::Wish,
    providers::simulated::Dice,
    simulation::{CrashAt, CrashKind, Devices, Happening, Planned, Simulation},
};

use crate::{
    first::wishes_with_pools,
    misfortune::nasty,
    trials::{Trials, trials},
};

/// What machines of the deployment come with is from pool `fast`.
fn wishes(text: &str) -> Vec<Wish> {
    let attributes = [("provider".to_owned(), "simulated".to_owned())].into();
    let settings = PoolSettings { provider: ProviderType::External, attributes };
    wishes_with_pools(text, [("fast".parse().expect("the name of a pool"), settings)].into())
}

fn deployment(version: u64, replicas: u64) -> String {
    format!(
        "
apiVersion: bailiwick/v1
kind: MachineDeployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  revisionHistoryLimit: 0
  template:
    metadata: {{labels: {{version: v{version}}}}}
    spec:
      provider: simulated
      workloads: [{{name: app, command: [app]}}]
      storage:
        data: {{volume: 'simulated,64M', persistent: false}}
        files: {{filesystem: 'simulated,16M', persistent: false}}
        kept: 'simulated,8M'
        scratch: {{volume: 'fast,4M', persistent: false}}
"
    )
}

/// Half an hour in which machines come and go, and break; then the deployment goes, and all is calm.
fn bad_half_hour(seed: u64) -> Simulation {
    let mut dice = Dice::named(seed, "storage of sets");
    let simulated = || "simulated".parse().expect("a name");
    let mut simulation = Simulation::new(seed);
    let mut at = |at_ms: u64, what: Happening| simulation.script.push(Planned { at_ms, what });
    at(0, Happening::Misbehave { provider: simulated(), faults: Box::new(nasty()) });
    at(1_000, Happening::Apply(wishes(&deployment(1, 2))));
    for _ in 0..2 + dice.below(4) {
        let change = deployment(1 + dice.below(2), dice.below(4));
        at(10_000 + dice.below(1_500_000), Happening::Apply(wishes(&change)));
        let machine = format!("web-1-{}", 1 + dice.below(3)).parse().expect("a name");
        let at_ms = 10_000 + dice.below(1_500_000);
        match dice.below(3) {
            0 => at(at_ms, Happening::Kill(machine)),
            1 => at(at_ms, Happening::Vanish(machine)),
            _ => at(at_ms, Happening::Outage { provider: simulated(), for_ms: dice.below(100_000) }),
        }
    }
    at(1_800_000, Happening::Remove(vec!["machine-deployment/web".parse().expect("a stream")]));
    at(2_400_000, Happening::Calm);
    for round in 1..10 {
        at(2_400_000 + round * 600_000, Happening::RetryFailed);
    }
    simulation.script.sort_by_key(|planned| planned.at_ms);
    simulation.devices = Some(Devices::default());
    simulation.until_ms = 10 * 3_600_000;
    for _ in 0..dice.below(6) {
        let kind = CrashKind::ALL[dice.below(2) as usize];
        simulation.crashes.push(CrashAt { point: 1 + dice.below(1_500), kind });
    }
    simulation
}

#[test]
fn nothing_of_what_goes_with_machines_is_left() {
    nothing_is_left(1);
}

#[test]
#[ignore = "takes long"]
fn nothing_of_what_goes_with_machines_is_left_with_many_seeds() {
    nothing_is_left(6);
}

fn nothing_is_left(usual: u64) {
    let Trials { seeds, is_single } = trials(usual);
    let (mut failed, mut kept, mut crashes, mut came, mut again) = (Vec::new(), 0, 0, 0, 0);
    for seed in seeds {
        let report = bad_half_hour(seed).run().unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
        let left = report.statuses.iter().filter(|(_, status)| **status != "removed");
        let left: Vec<(&String, &&str)> = left.collect();
        let is_to_stay = |(name, status): &(&String, &&str)| name.contains("-kept-") && **status == "available";
        if !report.wrong.is_empty() || !report.converged || !left.iter().all(is_to_stay) {
            failed.push(format!("seed {seed}: converged: {}, {:?}, {left:?}", report.converged, report.wrong));
        }
        kept += left.len();
        let told = |words: &str| report.story.iter().filter(|line| line.what.contains(words)).count();
        came += told("came with instance");
        again += told("waits for the next one of its machine");
        crashes += report.crashes;
    }
    assert!(failed.is_empty(), "SEED=n shows one:\n{}", failed.join("\n"));
    assert!(is_single || (kept > 0 && crashes > 0), "{kept} kept, {crashes} crashes");
    let is_long = usual > 1;
    assert!(
        is_single || (came > 0 && (again > 0 || !is_long)),
        "{came} came with an instance, {again} waited for the next one"
    );
}
