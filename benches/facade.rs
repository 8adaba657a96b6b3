//! What clients of the Provisioner facade wait for: a call about a thousand machines, what five hundred are started with, and
//! ten thousand watchers.
//!
//! ```text
//! cargo bench --bench facade -- [--rounds 15] [--watchers 10000] [--json]
//! ```
//!
//! One node in this process with a thousand machines of provider `external`, in two spaces with a subnet each, and one client on
//! one connection with TLS. Of the rounds the median counts. Memory is by how much this process grows while the watchers come,
//! the client's part included.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    error::Error,
    fs,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use bailiwick::{
    Config, Handle, Node,
    config::Network,
    manifest::{self, Source},
    plan::Prune,
};
use serde_json::{Value, json};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tungstenite::{Message, WebSocket};
use uuid::Uuid;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MACHINES: usize = 1_000;
const PROVISIONED: usize = 500;
const TOKEN: &str = "the-token-of-the-controller";

struct Options {
    rounds: usize,
    watchers: usize,
    json: bool,
}

fn options() -> Fallible<Options> {
    let mut options = Options { rounds: 15, watchers: 10_000, json: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--rounds" => options.rounds = value()?.parse()?,
            "--watchers" => options.watchers = value()?.parse()?,
            "--json" => options.json = true,
            // What cargo says to every bench.
            "--bench" => (),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Fallible<()> {
    let options = options()?;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (node, address) = start(scratch.path())?;
    let handle = node.handle();
    declare(&handle)?;
    let authority = fs::read_to_string(scratch.path().join("tls/ca.pem"))?;
    let mut client = Client::connect(address, &authority, handle.journal().id())?;
    client.login()?;
    // Before anything else, so that all that grows is theirs.
    let (before, watchers) = (resident_mb()?, options.watchers);
    for _ in 0..watchers {
        client.send("Provisioner", 11, "", "WatchForModelConfigChanges", &json!({}))?;
        let id = client.reply()?["response"]["NotifyWatcherId"].as_str().unwrap_or_default().to_owned();
        client.send("NotifyWatcher", 1, &id, "Next", &json!({}))?;
    }
    // All that was sent before is answered, or waits.
    client.call("Life", &json!({}))?;
    let memory = resident_mb()? - before;
    let began = Instant::now();
    apply(&handle, &[document("JujuModel", "default", &json!({"config": {"image-stream": "daily"}}))])?;
    for _ in 0..watchers {
        client.reply()?;
    }
    let told = began.elapsed().as_secs_f64() * 1e3;
    let tags = |count: usize| (0..count).map(|at| json!({"tag": format!("machine-{at}")})).collect::<Vec<_>>();
    let (thousand, five_hundred) = (json!({"entities": tags(MACHINES)}), json!({"entities": tags(PROVISIONED)}));
    let life = median(options.rounds, || client.call("Life", &thousand))?;
    let status = median(options.rounds, || client.call("Status", &thousand))?;
    let mut round = 0;
    let set = median(options.rounds, || {
        round += 1;
        let one =
            |at| json!({"tag": format!("machine-{at}"), "status": "error", "info": format!("{round}"), "data": {}});
        client.call("SetStatus", &json!({"entities": (0..MACHINES).map(one).collect::<Vec<_>>()}))
    })?;
    let provisioning = median(options.rounds, || client.call("ProvisioningInfo", &five_hundred))?;
    node.stop()?;
    if options.json {
        let all = json!({
            "lifeMs": life, "statusMs": status, "setStatusMs": set, "provisioningInfoMs": provisioning,
            "watchersMb": memory, "watchersToldMs": told,
        });
        println!("{all}");
        return Ok(());
    }
    println!("Life of {MACHINES} machines             {life:>8.1} ms  (target 20)");
    println!("Status of {MACHINES} machines           {status:>8.1} ms  (target 20)");
    println!("SetStatus of {MACHINES} machines        {set:>8.1} ms  (each is a decision that is durable)");
    println!("ProvisioningInfo of {PROVISIONED} machines  {provisioning:>8.1} ms  (target 100)");
    println!("{watchers} watchers that wait        {memory:>8.1} MB  (target 100)");
    println!("all of them told of a change    {told:>8.1} ms");
    Ok(())
}

/// The median time of a call, in milliseconds.
fn median(rounds: usize, mut call: impl FnMut() -> Fallible<()>) -> Fallible<f64> {
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let began = Instant::now();
        call()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// What this process has in memory.
fn resident_mb() -> Fallible<f64> {
    let statm = fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = statm.split(' ').nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * rustix::param::page_size() as f64 / 1e6)
}

fn start(data: &Path) -> Fallible<(Node, SocketAddr)> {
    let mut config = Config::new(data);
    config.network = Some(Network::new("127.0.0.1:0".parse()?));
    let node = Node::start(config)?;
    let (address, _) = node.started().network.clone().ok_or("it does not listen")?;
    Ok((node, address))
}

fn document(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "bailiwick/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn declare(handle: &Handle) -> Fallible<()> {
    let hash = blake3::hash(TOKEN.as_bytes()).to_hex().to_string();
    let mut documents = vec![
        document("Account", "controller-0", &json!({"role": "admin", "tokens": [{"id": "00000001", "hash": hash}]})),
        document("Space", "inner", &json!({})),
        document("Space", "outer", &json!({})),
        document("Subnet", "a", &json!({"cidr": "10.0.1.0/24", "space": "inner", "zones": ["a"], "providerId": "s-1"})),
        document("Subnet", "b", &json!({"cidr": "10.0.2.0/24", "space": "outer", "zones": ["b"], "providerId": "s-2"})),
        document("JujuApplication", "shop", &json!({"units": {"shop/0": "1"}, "bindings": {"db": "inner"}})),
    ];
    let constraints = json!({"constraints": {"cores": 2, "mem": 4096, "spaces": ["inner", "outer"]}});
    for at in 0..MACHINES {
        let name = at.to_string();
        documents.push(document("Machine", &name, &json!({"provider": "external", "base": "ubuntu@22.04"})));
        documents.push(document("JujuMachine", &name, &constraints));
    }
    documents.chunks(1_000).try_for_each(|some| apply(handle, some))
}

fn apply(handle: &Handle, documents: &[Value]) -> Fallible<()> {
    let text: Vec<String> = documents.iter().map(|document| format!("{document}\n")).collect();
    let wishes = manifest::parse(&[Source::new("bench", text.join("---\n"))], &handle.known()?)?;
    handle.wait(handle.apply(&wishes.documents, Prune::No, Uuid::new_v4()))?;
    Ok(())
}

struct Client {
    socket: WebSocket<StreamOwned<ClientConnection, TcpStream>>,
    asked: u64,
}

impl Client {
    fn connect(at: SocketAddr, authority: &str, model: Uuid) -> Fallible<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.as_bytes())?)?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tls = ClientConnection::new(Arc::new(config), ServerName::try_from("juju-apiserver")?)?;
        let stream = TcpStream::connect(at)?;
        stream.set_nodelay(true)?;
        let url = format!("wss://{at}/model/{model}/api");
        let (socket, _) = tungstenite::client(url, StreamOwned::new(tls, stream)).map_err(|error| error.to_string())?;
        Ok(Self { socket, asked: 0 })
    }

    fn send(&mut self, facade: &str, version: u64, id: &str, method: &str, params: &Value) -> Fallible<()> {
        self.asked += 1;
        let request = json!({
            "request-id": self.asked, "type": facade, "version": version, "id": id, "request": method, "params": params,
        });
        Ok(self.socket.send(Message::text(request.to_string()))?)
    }

    fn reply(&mut self) -> Fallible<Value> {
        loop {
            if let Message::Text(text) = self.socket.read()? {
                let reply: Value = serde_json::from_str(&text)?;
                return match reply.get("error") {
                    None => Ok(reply),
                    Some(error) => Err(error.to_string().into()),
                };
            }
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Fallible<()> {
        self.send("Provisioner", 11, "", method, params)?;
        self.reply().map(|_| ())
    }

    fn login(&mut self) -> Fallible<()> {
        let params = json!({"auth-tag": "controller-0", "credentials": TOKEN});
        self.send("Admin", 3, "", "Login", &params)?;
        self.reply().map(|_| ())
    }
}
