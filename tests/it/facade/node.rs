//! A node in this process that clients of the facade reach.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use bailiwick::{
    Config, Handle, Node,
    actors::{
        machine, policy,
        ports::{
            Answer, BulkAnswer, CreateMachine, InstanceStatus, Listing, MachineInstance, MachineProvider,
            StartedMachine,
        },
        shell::AnyCommand,
        storage_rules::{PoolSettings, ProviderType},
        vocab::{EffectId, Fault, InstanceId, Name, Timestamp},
    },
    api::facade_testing,
    clock::SystemClock,
    config::Network,
    manifest::{self, Source},
    plan::Prune,
    providers::simulated::{SimulatedProvider, World},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::Client;

pub(crate) struct FacadeNode {
    node: Option<Node>,
    pub(crate) address: SocketAddr,
    pub(crate) authority: String,
    dir: TempDir,
}

impl FacadeNode {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (node, address) = start(&dir);
        let authority = fs::read_to_string(dir.path().join("tls/ca.pem")).expect("an authority");
        Self { node: Some(node), address, authority, dir }
    }

    /// Stops it: what it keeps stays.
    pub(crate) fn stop(&mut self) {
        if let Some(node) = self.node.take() {
            node.stop().expect("stopped");
        }
    }

    /// Stops it and starts it again, at another port.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let (node, address) = start(&self.dir);
        (self.node, self.address) = (Some(node), address);
    }

    pub(crate) fn handle(&self) -> Handle {
        self.node.as_ref().expect("it runs").handle()
    }

    /// Where it keeps all it has.
    pub(crate) fn dir(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Makes these documents true.
    pub(crate) fn apply(&self, documents: &[Value]) {
        let handle = self.handle();
        let text: Vec<String> = documents.iter().map(|document| format!("{document}\n")).collect();
        let known = handle.known().expect("known");
        let read = manifest::parse(&[Source::new("given", text.join("---\n"))], &known);
        let read = read.unwrap_or_else(|problems| panic!("{problems}\n{}", text.join("---\n")));
        handle.wait(handle.apply(&read.documents, Prune::No, Uuid::new_v4())).unwrap_or_else(|error| {
            panic!("{error:?}\n{}", text.join("---\n"));
        });
    }

    /// Gives a command to a machine.
    pub(crate) fn command(&self, machine: &str, command: machine::Command) {
        self.ask(&format!("machine/{machine}"), command);
    }

    /// Makes a pool that clients take volumes from.
    pub(crate) fn pool(&self, name: &str, attributes: &[(&str, &str)]) {
        let attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let settings = PoolSettings { provider: ProviderType::External, attributes };
        let name = name.parse().expect("the name of a pool");
        self.ask("policy/default", policy::Command::CreatePool { name, settings });
    }

    /// Gives a command to an entity.
    pub(crate) fn ask(&self, stream: &str, command: impl Into<AnyCommand>) {
        let handle = self.handle();
        let stream = stream.parse().expect("a name");
        let answer = handle.wait(handle.ask(stream, command.into(), Uuid::new_v4())).expect("an answer");
        assert_ne!(answer.outcome, bailiwick::journal::Outcome::Refused, "{}", answer.text);
    }

    /// A client that has not logged in.
    pub(crate) fn connect(&self, path: &str) -> Client {
        Client::connect(self.address, &self.authority, path).expect("connected")
    }

    /// A client that acts as this agent, whether or not that could log in.
    pub(crate) fn client(&self, model: &str, tag: &str) -> Client {
        let mut client = self.connect(&format!("/model/{model}/api"));
        client.login(tag, &facade_testing::pass(tag)).expect("logged in");
        client
    }
}

impl Drop for FacadeNode {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            drop(node.stop());
        }
    }
}

fn start(dir: &TempDir) -> (Node, SocketAddr) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let mut config = Config::new(dir.path());
    config.network = Some(Network::new(listen));
    let other: Name = "other".parse().expect("a name");
    config.machine_providers.insert(other.clone(), Arc::new(Other::default()));
    let volumes = SimulatedProvider::new(other.clone(), World::new(1), Arc::new(SystemClock::new()));
    config.volume_providers.insert(other, Arc::new(volumes));
    let node = Node::start(config).expect("a node");
    let (address, _) = node.started().network.clone().expect("it listens");
    (node, address)
}

/// A manifest.
pub(crate) fn document(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "bailiwick/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// The manifest of a volume's attachment.
pub(crate) fn attachment(machine: &str, volume: &str) -> Value {
    json!({
        "apiVersion": "bailiwick/v1", "kind": "VolumeAttachment",
        "spec": {"machine": machine, "volume": volume},
    })
}

/// A provider that makes machines at once.
#[derive(Default)]
struct Other(Mutex<BTreeMap<EffectId, MachineInstance>>);

impl MachineProvider for Other {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        let mut all = self.0.lock().expect("not poisoned");
        let make = |wanted: CreateMachine| MachineInstance {
            effect: wanted.id,
            instance: InstanceId(format!("other-{}", wanted.machine)),
            machine: wanted.machine,
            facts: BTreeMap::new(),
            status: InstanceStatus::Running,
        };
        let made: Vec<_> = machines.into_iter().map(make).collect();
        all.extend(made.iter().map(|instance| (instance.effect, instance.clone())));
        Box::pin(async move { Ok(made.into_iter().map(|instance| Ok(instance.into())).collect()) })
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        let mut all = self.0.lock().expect("not poisoned");
        ids.iter().for_each(|id| drop(all.remove(id)));
        Box::pin(async move { Ok(ids.iter().map(|_| Ok(())).collect()) })
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        let items = self.0.lock().expect("not poisoned").values().cloned().collect();
        // Nothing is concluded from what is not in it.
        Box::pin(async move { Ok(Listing { complete: false, as_of: Timestamp(0), items }) })
    }
}
