//! A node inside another program, with a provider of the program's own: `cargo run --example embed`.

use std::{collections::BTreeMap, io::Write, sync::Arc, sync::Mutex, thread, time::Duration};

use bailiwick::actors::ports::{
    Answer, BulkAnswer, Clock, CreateMachine, InstanceStatus, Listing, MachineInstance, MachineProvider, StartedMachine,
};
use bailiwick::actors::vocab::{EffectId, Fault, InstanceId};
use bailiwick::{Config, Node, audit::About, clock::SystemClock, manifest, plan::Prune};

/// Machines that are entries in a map. What it is asked for under one id it makes once: that is the whole contract.
#[derive(Default)]
struct Rack(Mutex<BTreeMap<EffectId, MachineInstance>>, SystemClock);

impl MachineProvider for Rack {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        Box::pin(async move { Ok(machines.into_iter().map(|wanted| Ok(self.make(wanted).into())).collect()) })
    }
    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        self.0.lock().unwrap().retain(|id, _| !ids.contains(id));
        Box::pin(async move { Ok(vec![Ok(()); ids.len()]) })
    }
    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        let (as_of, items) = (self.1.now(), self.0.lock().unwrap().values().cloned().collect());
        Box::pin(async move { Ok(Listing { complete: true, as_of, items }) })
    }
}

impl Rack {
    fn make(&self, CreateMachine { id, machine, .. }: CreateMachine) -> MachineInstance {
        let (instance, status) = (InstanceId(format!("slot-{id}")), InstanceStatus::Running);
        let made = MachineInstance { effect: id, instance, machine, facts: BTreeMap::new(), status };
        self.0.lock().unwrap().entry(id).or_insert(made).clone()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::temp_dir().join(format!("bailiwick-embed-{}", std::process::id()));
    let rack = Arc::new(Rack::default());
    let node = Node::start(Config::new(&dir).machine_provider("rack".parse()?, rack).without_socket())?;
    // JSON is read with and without the feature `yaml`.
    let text = r#"{"apiVersion": "bailiwick/v1", "kind": "Machine", "metadata": {"name": "blade"}, "spec": {"provider": "rack"}}"#;
    let wishes = manifest::parse(&[manifest::Source::new("inline", text)], &manifest::Known::default())?;
    let handle = node.handle(); // can be cloned, sent, and used on any async runtime; `wait` needs none
    handle.wait(handle.apply(&wishes.documents, Prune::No, "6b1f0f0e-2f5a-4b1e-9c55-0a8d0c1f7e11".parse()?))?;
    while !handle.look(|fleet| fleet.machines.get("blade").is_some_and(|blade| blade.status() == "starting"))? {
        thread::sleep(Duration::from_millis(10));
    }
    // What an operator does from outside, the program does with the same orders, and reads the same answers.
    let (blade, mut decisions) = ("machine/blade".parse()?, handle.watch(handle.head()));
    handle.wait(handle.hold(&blade, "a look inside", None, "6b1f0f0e-2f5a-4b1e-9c55-0a8d0c1f7e12".parse()?))?;
    let held = handle.wait(decisions.next())?;
    assert_eq!((held.header.stream.as_str(), held.header.meta.code.as_str()), ("machine/blade", "operator-holds"));
    let why = handle.why(&About::Entity { entity: blade, side: None })?.expect("it was just held");
    std::io::stdout().write_all(why.to_string().as_bytes())?;
    let said = format!("machine/blade runs, and {} journal entries say why\n", handle.head());
    std::io::stdout().write_all(said.as_bytes())?;
    node.stop()?;
    Ok(std::fs::remove_dir_all(dir)?)
}
