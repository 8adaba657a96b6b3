//! The node on the network: who is let in, what he may do, and that nobody keeps the others out.

use std::{
    fs,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
    version::{TLS12, TLS13},
};

use super::{
    memory::kib,
    support::{Lab, Running, eventually},
};

/// Nothing here takes nearly as long.
const TIME_MAX: Duration = Duration::from_secs(60);

/// A node that listens on the network, and how it is reached.
pub(super) struct Site {
    lab: Lab,
    node: Running,
    address: SocketAddr,
    authority: CertificateDer<'static>,
}

/// An answer: its status, its head and its body.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: u16,
    head: String,
    pub body: Value,
}

impl Site {
    pub(super) fn new(more: &[&str]) -> Self {
        let lab = Lab::new();
        let args: Vec<&str> = ["serve", "--listen", "127.0.0.1:0"].iter().chain(more).copied().collect();
        let node = lab.start(&args);
        node.says("listening on https://127.0.0.1:");
        let said = node.said();
        let address = said.split("listening on https://").nth(1).and_then(|rest| rest.lines().next());
        let address = address.and_then(|address| address.trim().parse().ok()).expect("an address");
        let authority = match more.iter().position(|arg| *arg == "--tls-cert") {
            Some(at) => CertificateDer::from_pem_file(more[at + 1]).expect("a certificate"),
            None => CertificateDer::from_pem_file(lab.data().join("tls/ca.pem")).expect("an authority"),
        };
        Self { lab, node, address, authority }
    }

    /// A connection with TLS of this version to a node that proves to be `name`.
    fn connect(&self, name: &str, version: &'static SupportedProtocolVersion) -> io::Result<impl Read + Write + use<>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).expect("a certificate");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(TIME_MAX))?;
        let mut stream = StreamOwned::new(connection, stream);
        stream.flush()?;
        Ok(stream)
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.connect("localhost", &TLS13).expect("it listens");
        let named = headers.iter().any(|(name, _)| *name == "Host");
        let host = if named { String::new() } else { format!("Host: {}\r\n", self.address) };
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let of_body = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let head = format!("{method} {path} HTTP/1.1\r\n{host}{more}Connection: close\r\n{of_body}\r\n");
        // Whoever is refused may be cut off before he has sent all.
        drop(stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).and_then(|()| stream.flush()));
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(read @ 1..) = stream.read(&mut piece) {
            answer.extend_from_slice(&piece[..read]);
            // Events never end.
            let text = String::from_utf8_lossy(&answer);
            if text.split_once("\r\n\r\n").is_some_and(|(head, _)| head.contains("text/event-stream")) {
                break;
            }
        }
        read_answer(&answer)
    }

    pub(super) fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Where it listens.
    pub(super) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    #[track_caller]
    pub(super) fn ask_with(&self, token: &str, method: &str, path: &str, body: &str) -> Answer {
        self.ask(method, path, &[("Authorization", &format!("Bearer {token}"))], body)
    }

    /// Makes an account; the answer is its token.
    #[track_caller]
    pub(super) fn account(&self, args: &[&str]) -> String {
        let args: Vec<&str> = ["-o", "json", "account", "create"].iter().chain(args).copied().collect();
        let told: Value = serde_json::from_str(&self.lab.run(&args).code(0).out).expect("JSON");
        told["token"].as_str().expect("a token").to_owned()
    }
}

#[track_caller]
fn read_answer(answer: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
    Answer { status, head: head.to_owned(), body }
}

/// Every route that the node has, with an example of its path.
fn routes(site: &Site) -> Vec<(String, String, String)> {
    let (_, told) = site.lab.http("GET", "/v1/routes", "");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let text = |route: &Value, name: &str| route[name].as_str().expect("a text").to_owned();
    let all: Vec<_> = told.as_array().expect("a list").iter().collect();
    let example = |path: String| {
        path.replace("{kind}", "machine")
            .replace("{name:.*}", "web")
            .replace("{goal}", "ready")
            .replace("{entry}", "@1")
            .replace("{machine}", "web")
            .replace("{id}", "00000000-0000-0000-0000-000000000000")
    };
    all.into_iter().map(|route| (text(route, "method"), example(text(route, "path")), text(route, "needs"))).collect()
}

#[test]
fn every_route_is_closed_to_whoever_has_no_token_that_is_in_force() {
    let site = Site::new(&[]);
    let (revoked, expired) =
        (site.account(&["gone", "--role", "admin"]), site.account(&["late", "--role", "admin", "--expires", "1ms"]));
    site.lab.run(&["account", "revoke", "gone", "--all"]).code(0);
    let routes = routes(&site);
    assert!(routes.len() > 25, "{routes:?}");
    let before = head(&site);
    for (method, path, needs) in &routes {
        let tried = [
            (None, "no-token"),
            (Some("1f2e3d4c.0123"), "unknown-token"),
            (Some(revoked.as_str()), "unknown-token"),
            (Some(expired.as_str()), "expired-token"),
        ];
        for (token, code) in tried {
            let answer = match token {
                Some(token) => site.ask_with(token, method, path, "{}"),
                None => site.ask(method, path, &[], "{}"),
            };
            let told = format!("{method} {path} with {token:?}: {answer:?}");
            match needs.as_str() {
                "anyone" => assert_eq!(answer.status, 200, "{told}"),
                // Agents are on this machine, and have a socket of their own.
                "agent" => assert_eq!(answer.status, 404, "{told}"),
                _ => assert_eq!((answer.status, &answer.body["code"]), (401, &json!(code)), "{told}"),
            }
        }
    }
    let notes: Value =
        serde_json::from_str(&site.lab.run(&["-o", "json", "log", "node/denials"]).code(0).out).expect("JSON");
    assert_eq!(notes.as_array().map(Vec::len), Some(1), "one note within a minute: {notes}");
    assert_eq!(head(&site), before + 1, "nothing else is recorded");
    let stopped = site.node.stopped();
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let all = site.lab.run(&["log", "node/denials"]).code(0).out;
    assert!(all.contains("(no-token)") && all.contains("(expired-token)"), "the rest is noted at the end: {all}");
}

/// The last entry.
fn head(site: &Site) -> u64 {
    let (_, told) = site.lab.http("GET", "/v1/node", "");
    serde_json::from_str::<Value>(&told).expect("JSON")["position"].as_u64().expect("a position")
}

#[test]
fn a_role_may_do_what_its_routes_need_and_no_more() {
    let site = Site::new(&[]);
    let roles = ["view", "operate", "admin"];
    let tokens = roles.map(|role| site.account(&[role, "--role", role]));
    for (method, path, needs) in routes(&site) {
        let Some(needed) = roles.iter().position(|role| *role == needs) else { continue };
        for (has, token) in tokens.iter().enumerate() {
            // What is asked makes no sense, so nothing happens: but only who may ask is told that.
            let answer = site.ask_with(token, &method, &path, "[]");
            let told = format!("{method} {path} needs {needs}, asked as {}: {answer:?}", roles[has]);
            match has < needed {
                true => assert_eq!((answer.status, &answer.body["code"]), (403, &json!("forbidden")), "{told}"),
                false => {
                    let is_of_nothing = path.contains("machine/web") || path.contains("/jobs/0");
                    assert!(![401, 403, 404].contains(&answer.status) || is_of_nothing, "{told}");
                }
            }
        }
    }
    let denied = site.lab.run(&["log", "node/denials"]).code(0).out;
    assert!(denied.contains("to account:view (forbidden)"), "{denied}");
    let wrong = site.ask_with(&tokens[0], "GET", "/v1/pools/x", "");
    assert_eq!((wrong.status, &wrong.body["code"]), (404, &json!("not-found")), "{wrong:?}");
    let wrong = site.ask_with(&tokens[2], "POST", "/v1/status", "{}");
    assert_eq!((wrong.status, &wrong.body["message"]), (405, &json!("this path takes GET")), "{wrong:?}");
    let who = site.ask_with(&tokens[1], "GET", "/v1/whoami", "");
    assert_eq!(who.body, json!({ "principal": "account:operate", "role": "operate" }));
    site.node.kill();
}

const SPACE: &str = "apiVersion: bailiwick/v1\nkind: Space\nmetadata: {name: NAME}\nspec: {}\n";
const ACCOUNT: &str = "apiVersion: bailiwick/v1\nkind: Account\nmetadata: {name: mallory}\nspec: {role: admin}\n";

fn declare(text: &str) -> String {
    json!({ "files": [{ "name": "a.yaml", "text": text }] }).to_string()
}

#[test]
fn an_account_changes_what_it_may_in_its_own_name_and_never_accounts() {
    let site = Site::new(&[]);
    let ada = site.account(&["ada", "--role", "operate"]);
    let bob = site.account(&["bob", "--role", "operate", "--kind", "machines", "--kind", "space"]);
    let applied = site.ask_with(&ada, "POST", "/v1/apply", &declare(&SPACE.replace("NAME", "dmz")));
    assert_eq!(applied.status, 200, "{applied:?}");
    assert!(site.lab.run(&["log", "space/dmz", "-o", "wide"]).code(0).out.contains("account:ada"));

    let model = "apiVersion: bailiwick/v1\nkind: Model\nmetadata: {name: default}\nspec: {}\n";
    let cases = [
        (&ada, "/v1/apply", declare(ACCOUNT), 403),
        (&ada, "/v1/remove", json!({ "entities": ["account/bob"] }).to_string(), 403),
        (&ada, "/v1/accounts", json!({ "name": "ada", "change": { "revokeToken": {} } }).to_string(), 403),
        (&bob, "/v1/apply", declare(&SPACE.replace("NAME", "lan")), 200),
        (&bob, "/v1/apply", declare(model), 403),
        (&bob, "/v1/remove", json!({ "entities": ["space/lan"], "all": true }).to_string(), 403),
        (&bob, "/v1/remove", json!({ "entities": ["volume/data"] }).to_string(), 403),
        (&bob, "/v1/retry", json!({ "entity": "volume/data" }).to_string(), 403),
        (&bob, "/v1/retry-failed", json!({ "faults": [], "transient": true }).to_string(), 403),
        (&bob, "/v1/rollout", json!({ "entity": "machine-deployment/web", "step": "pause" }).to_string(), 403),
        (&bob, "/v1/enable-ha", json!({ "entity": "replica-set/db", "servers": 3 }).to_string(), 403),
        (&bob, "/v1/operate", json!({ "entity": "volume/data", "verb": "protect" }).to_string(), 403),
        (&bob, "/v1/pools", json!({ "change": { "remove": { "name": "fast" } } }).to_string(), 403),
        (&bob, "/v1/remove", json!({ "entities": ["space/lan"] }).to_string(), 200),
    ];
    for (token, path, body, status) in cases {
        let answer = site.ask_with(token, "POST", path, &body);
        assert_eq!(answer.status, status, "{path} {body}: {answer:?}");
    }
    assert!(!site.lab.run(&["get", "accounts"]).code(0).out.contains("mallory"));
    // A down takes away what is declared, not who may ask.
    site.lab.run(&["down", "--timeout", "60s"]).code(0);
    assert_eq!(site.ask_with(&ada, "GET", "/v1/status", "").status, 200);
    site.node.kill();
}

#[test]
fn pages_in_browsers_and_other_names_are_refused_before_a_body_is_read() {
    let site = Site::new(&["--tls-name", "lab.example"]);
    let ada = format!("Bearer {}", site.account(&["ada", "--role", "admin"]));
    let ask = |headers: &[(&str, &str)]| {
        let all: Vec<_> = [("Authorization", ada.as_str())].iter().chain(headers).copied().collect();
        let answer = site.ask("POST", "/v1/plan", &all, &declare(&SPACE.replace("NAME", "dmz")));
        (answer.status, answer.body["code"].as_str().unwrap_or_default().to_owned(), answer.head.to_lowercase())
    };
    for host in ["lab.example", "LAB.EXAMPLE:8443", "localhost", "127.0.0.1"] {
        let (status, _, head) = ask(&[("Host", host)]);
        assert_eq!(status, 200, "{host}");
        assert!(head.contains("x-content-type-options: nosniff") && !head.contains("set-cookie"), "{head}");
    }
    assert_eq!(ask(&[("Host", "evil.example")]).0, 421);
    for header in [("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")] {
        let (status, code, head) = ask(&[header]);
        assert_eq!((status, code.as_str()), (403, "cross-origin"), "{header:?}");
        assert!(head.contains("connection: close"), "the body is not read: {head}");
    }
    // A form or a page's fetch without preflight cannot say that it sends JSON.
    let body = declare("x");
    let sent = [("Authorization", ada.as_str()), ("Content-Type", "text/plain")];
    let mut stream = site.connect("localhost", &TLS13).expect("it listens");
    let more: String = sent.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /v1/plan HTTP/1.1\r\nHost: localhost\r\n{more}Connection: close\r\nContent-Length: {}",
        body.len()
    );
    write!(stream, "{head}\r\n\r\n{body}").expect("sent");
    stream.flush().expect("sent");
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    assert_eq!(read_answer(&answer).status, 415);
    site.node.kill();
}

#[test]
fn tls_is_new_and_proves_the_node() {
    let site = Site::new(&[]);
    let said = site.node.said();
    let fingerprint =
        said.split("CA fingerprint: ").nth(1).and_then(|rest| rest.lines().next()).expect("a fingerprint");
    assert_eq!(fingerprint, bailiwick::client::Fingerprint::of(&site.authority).to_string());
    assert_eq!(site.ask("GET", "/healthz", &[], "").status, 200);
    let tried = |name: &str, version| {
        let mut stream = site.connect(name, version)?;
        write!(stream, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        stream.flush()?;
        stream.read_exact(&mut [0])
    };
    assert!(tried("localhost", &TLS13).is_ok());
    assert!(tried("localhost", &TLS12).is_err(), "an older version");
    assert!(tried("elsewhere.example", &TLS13).is_err(), "another name");
    // Without TLS nothing is answered.
    let mut plain = TcpStream::connect(site.address).expect("it listens");
    plain.set_read_timeout(Some(TIME_MAX)).expect("set");
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut answer = Vec::new();
    drop(plain.read_to_end(&mut answer));
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/1.1"), "{answer:?}");
    // The authority is the same after a restart: whoever trusts it goes on.
    let stopped = site.node.stopped();
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let again = CertificateDer::from_pem_file(site.lab.data().join("tls/ca.pem")).expect("an authority");
    let node = site.lab.start(&["serve", "--listen", "127.0.0.1:0"]);
    node.says(&format!("CA fingerprint: {fingerprint}"));
    assert_eq!(again, site.authority);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(site.lab.data().join("tls/ca.key")).expect("there").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    node.kill();
}

#[test]
fn a_user_of_this_machine_is_let_in_by_his_account_alone() {
    use std::{
        os::unix::{fs::PermissionsExt, process::CommandExt},
        process::{Command, Stdio},
    };
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        assert!(std::env::var_os("BAILIWICK_CI").is_none(), "only root can ask as somebody else");
        return;
    }
    let open = tempfile::tempdir().expect("a folder");
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    let (run, program) = (open.path().join("run"), open.path().join("bailiwick"));
    // By a process of its own: what another test starts meanwhile would inherit a file that is open to write.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_bailiwick")).arg(&program).status();
    assert!(copied.expect("cp").success());
    let lab = Lab::new();
    let node = lab.start(&["serve", "--socket-dir", run.to_str().expect("text")]);
    node.says("listening on");
    let ask = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("--data-dir").arg(&run).args(args).uid(NOBODY).gid(NOBODY).current_dir("/").env_clear();
        Running::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped())).ended()
    };
    ask(&["status"]).code(77).says("no account is for uid:65534");
    lab.run(&["account", "create", "guest", "--role", "view", "--user", "65534"]).code(0);
    assert!(ask(&["account", "whoami"]).code(0).out.contains("account:guest"));
    ask(&["hold", "machine/web", "--reason", "x"]).code(77).says("has the role view; this needs operate");
    lab.run(&["delete", "account/guest"]).code(0);
    ask(&["status"]).code(77);
    node.kill();
}

#[test]
#[ignore = "takes long"]
fn a_watcher_whose_token_is_revoked_sees_no_more() {
    let site = Site::new(&[]);
    let ada = site.account(&["ada", "--role", "view"]);
    let mut stream = site.connect("localhost", &TLS13).expect("it listens");
    let head = format!("GET /v1/watch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ada}\r\n\r\n");
    stream.write_all(head.as_bytes()).and_then(|()| stream.flush()).expect("sent");
    stream.read_exact(&mut [0]).expect("it is let in");
    site.lab.run(&["account", "revoke", "ada", "--all"]).code(0);
    // Signs of life go on until it ends, so a time-out of one read would never come.
    let (until, mut piece) = (Instant::now() + TIME_MAX, [0; 4096]);
    while matches!(stream.read(&mut piece), Ok(1..)) {
        assert!(Instant::now() < until, "it does not end");
    }
    site.node.kill();
}

/// Writes a certificate for `localhost` that proves itself, and its key.
fn write_certificate(folder: &Path) -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    fs::write(&certificate, made.cert.pem()).expect("written");
    (certificate.to_str().expect("text").to_owned(), key.to_str().expect("text").to_owned())
}

#[test]
#[ignore = "takes long"]
fn a_certificate_that_is_replaced_is_shown_without_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = write_certificate(folder.path());
    let mut site = Site::new(&["--tls-cert", &certificate, "--tls-key", &key]);
    assert_eq!(site.ask("GET", "/healthz", &[], "").status, 200);
    let mut kept = site.connect("localhost", &TLS13).expect("it listens");
    write_certificate(folder.path());
    site.authority = CertificateDer::from_pem_file(&certificate).expect("a certificate");
    eventually("the new certificate is shown", || {
        let stream = site.connect("localhost", &TLS13);
        stream.is_ok_and(|mut stream| {
            write!(stream, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").is_ok()
                && stream.flush().is_ok()
                && stream.read_exact(&mut [0]).is_ok()
        })
    });
    // Who was connected goes on.
    write!(kept, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sent");
    kept.flush().expect("sent");
    kept.read_exact(&mut [0]).expect("answered");
    // What makes no sense changes nothing.
    fs::write(&key, "no key").expect("written");
    site.node.says("the certificate cannot be renewed");
    assert_eq!(site.ask("GET", "/healthz", &[], "").status, 200);
    site.node.kill();
}

#[test]
#[ignore = "takes long"]
fn thousands_of_slow_connections_keep_nobody_out_and_are_dropped() {
    use std::os::unix::net::UnixStream;
    let lab = Lab::new();
    let node = lab.stay();
    let half = |body: &str| {
        let mut stream = UnixStream::connect(lab.data().join("node.sock")).expect("it listens");
        let head =
            "POST /v1/plan HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n";
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        stream.set_read_timeout(Some(TIME_MAX / 2)).expect("set");
        stream
    };
    let slow: Vec<UnixStream> = (0..800).map(|_| half("{")).collect();
    for _ in 0..20 {
        let (head, _) = lab.http("GET", "/v1/node", "");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
    // They were answered beside the slow ones, not after them: the last of these still waits.
    let mut last = slow.last().expect("many");
    last.set_nonblocking(true).expect("set");
    let waits = last.read(&mut [0]).expect_err("nothing is answered yet");
    assert_eq!(waits.kind(), io::ErrorKind::WouldBlock);
    last.set_nonblocking(false).expect("set");
    for mut stream in slow {
        // One that is not dropped within the time of a read fails here.
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("dropped in time");
        let text = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || text.contains("too-slow"), "{text}");
    }
    assert!(!lab.run(&["log"]).code(0).out.contains("silent"), "agents have a way of their own");
    node.kill();
}

#[test]
#[ignore = "takes long"]
fn whoever_reads_no_answer_costs_little_memory_and_keeps_nobody_else_out() {
    use std::os::unix::net::UnixStream;
    let site = Site::new(&[]);
    let ada = site.account(&["ada", "--role", "view"]);
    let class = |number: u32| {
        let notes = "x".repeat(1_000);
        format!(
            "kind: MachineClass\napiVersion: bailiwick/v1\nmetadata: {{name: c{number}}}\nspec: {{provider: local, providerSpec: {{notes: {notes}}}}}\n"
        )
    };
    let text = (0..1_000).map(class).collect::<Vec<_>>().join("---\n");
    site.lab.run(&["apply", &site.lab.manifest("classes.yaml", text)]).code(0);
    let page = "/v1/log?limit=1000";
    let page_kib = site.lab.http("GET", page, "").1.len() as u64 / 1_024;
    let before = kib(site.node.pid(), "VmRSS");
    // when so many ask for far more than the node has memory for, and read nothing
    let deaf = || {
        let mut stream = UnixStream::connect(site.lab.data().join("node.sock")).expect("it listens");
        stream.write_all(format!("GET {page} HTTP/1.1\r\nHost: here\r\n\r\n").as_bytes()).expect("sent");
        stream
    };
    let deaf: Vec<UnixStream> = (0..600).map(|_| deaf()).collect();
    // then somebody else is answered meanwhile,
    for path in ["/v1/node", "/v1/status", page, "/v1/entities/machine-class"] {
        assert_eq!(site.ask_with(&ada, "GET", path, "").status, 200, "{path}");
    }
    // and whoever they were is told why he is not, until they are cut off.
    let until = Instant::now() + 2 * TIME_MAX;
    loop {
        let (head, body) = site.lab.http("GET", page, "");
        if head.starts_with("HTTP/1.1 200") {
            break;
        }
        assert!(body.contains("answers-unread") && Instant::now() < until, "{head}\n{body}");
    }
    let held = kib(site.node.pid(), "VmHWM").saturating_sub(before);
    let asked = page_kib * deaf.len() as u64;
    assert!(held < 128 * 1_024 && 2 * held < asked, "{held} KiB more at most, where {asked} were asked for");
    site.node.kill();
}

/// Reads events until the journal is this far; the answer is their positions, in the order in which they came.
#[track_caller]
fn watched(site: &Site, token: &str, path: &str, last_id: Option<u64>, until: u64) -> Vec<u64> {
    let mut stream = site.connect("localhost", &TLS13).expect("it listens");
    let id = last_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{id}\r\n");
    stream.write_all(head.as_bytes()).and_then(|()| stream.flush()).expect("sent");
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut piece).expect("events");
        assert!(read > 0, "the answer ends: {text}");
        text.push_str(&String::from_utf8_lossy(&piece[..read]));
        let lines = text.lines().filter(|line| line.starts_with("data: "));
        let found: Vec<u64> = lines
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok()?["position"].as_u64())
            .collect();
        if found.last().is_some_and(|last| *last >= until) {
            assert!(text.contains("content-type: text/event-stream"), "{text}");
            return found;
        }
    }
}

#[test]
fn whoever_watches_sees_every_decision_once_also_across_a_restart() {
    let mut site = Site::new(&[]);
    let ada = site.account(&["ada", "--role", "operate"]);
    let space = |site: &Site, name: &str| {
        let applied = site.ask_with(&ada, "POST", "/v1/apply", &declare(&SPACE.replace("NAME", name)));
        assert_eq!(applied.status, 200, "{applied:?}");
        head(site)
    };
    let begun = head(&site);
    let first = space(&site, "one");
    // From the journal, and as it comes.
    let all = watched(&site, &ada, "/v1/watch?from=0", None, first);
    assert_eq!(all, (1..=first).collect::<Vec<_>>());
    let second = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watched(&site, &ada, "/v1/watch?kind=space", Some(begun), first + 2));
        let second = space(&site, "two");
        let seen = watcher.join().expect("watched");
        assert_eq!(seen, [first, second], "spaces alone, each once");
        second
    });
    // After a restart it goes on where it was.
    let address = site.address.to_string();
    let stopped = site.node.stopped();
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    site.node = site.lab.start(&["serve", "--listen", &address]);
    site.node.says("listening on https://127.0.0.1:");
    let third = space(&site, "three");
    let seen = watched(&site, &ada, "/v1/watch", Some(second), third);
    assert_eq!(seen, (second + 1..=third).collect::<Vec<_>>());
    let ahead = site.ask_with(&ada, "GET", &format!("/v1/watch?from={}", third + 100), "");
    assert_eq!((ahead.status, &ahead.body["code"]), (404, &json!("not-found")), "{ahead:?}");
    site.node.kill();
}

#[test]
fn whoever_asks_too_often_is_told_when_to_come_back_and_nobody_else_notices() {
    let site = Site::new(&[]);
    let (busy, calm) = (site.account(&["busy", "--role", "view"]), site.account(&["calm", "--role", "view"]));
    // More than anybody may at once, over few connections, which bring a thousand requests each: so fast that the node hardly
    // gets behind.
    let one = format!("GET /v1/whoami HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {busy}\r\n", site.address);
    let many = format!("{one}\r\n").repeat(900);
    let mut answers = String::new();
    for _ in 0..3 {
        let mut stream = site.connect("localhost", &TLS13).expect("it listens");
        for part in many.as_bytes().chunks(one.len() * 10) {
            stream.write_all(part).and_then(|()| stream.flush()).expect("sent");
            let mut piece = [0; 64 * 1024];
            let read = stream.read(&mut piece).expect("answers");
            answers.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    }
    assert!(answers.contains("HTTP/1.1 200"), "{answers}");
    let refused = answers.split("HTTP/1.1 429").nth(1).unwrap_or_else(|| panic!("nobody was refused: {answers}"));
    assert!(refused.contains("retry-after: 1") && refused.contains("account:busy asks too often"), "{refused}");
    assert_eq!(site.ask_with(&calm, "GET", "/v1/whoami", "").status, 200);
    let (head, _) = site.lab.http("GET", "/v1/status", "");
    assert!(head.starts_with("HTTP/1.1 200"), "the owner may always ask: {head}");
}

#[test]
fn what_has_changed_meanwhile_is_not_changed_again_unseen() {
    let site = Site::new(&[]);
    let token = site.account(&["ada", "--role", "operate"]);
    let declared =
        declare("apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {name: default}\nspec: {machines: {poll: 1m}}\n");
    assert_eq!(site.ask_with(&token, "POST", "/v1/apply", &declared).status, 200);
    let version = || site.ask_with(&token, "GET", "/v1/entities/policy/default", "").body["version"].clone();
    let seen = version().as_u64().expect("a version");
    let pool = |name: &str, version: &str| {
        let body = json!({"change": {"create": {"name": name, "settings": {"provider": "tmpfs"}}}}).to_string();
        let bearer = format!("Bearer {token}");
        site.ask("POST", "/v1/pools", &[("Authorization", &bearer), ("If-Match", version)], &body)
    };
    let before = head(&site);
    let late = pool("fast", &format!("\"{}\"", seen - 1));
    assert_eq!((late.status, &late.body["code"]), (412, &json!("changed")), "{late:?}");
    assert_eq!((head(&site), version()), (before, json!(seen)), "nothing is recorded");
    assert_eq!(pool("fast", "yesterday").status, 400);
    assert_eq!(pool("fast", &format!("\"{seen}\"")).status, 200);
    assert_eq!(version(), json!(seen + 1));
}

#[test]
fn of_two_changes_of_one_account_at_once_none_is_lost() {
    let site = Site::new(&[]);
    site.account(&["ada", "--role", "view"]);
    let token = |digit: char| {
        let token = json!({"id": digit.to_string().repeat(8), "hash": digit.to_string().repeat(64)});
        json!({"name": "ada", "change": {"addToken": token}}).to_string()
    };
    std::thread::scope(|scope| {
        for digit in "12345".chars() {
            let (lab, body) = (&site.lab, token(digit));
            scope.spawn(move || {
                let (head, told) = lab.http("POST", "/v1/accounts", &body);
                assert!(head.starts_with("HTTP/1.1 200"), "{head} {told}");
            });
        }
    });
    let (_, told) = site.lab.http("GET", "/v1/entities/account/ada", "");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["spec"]["tokens"].as_array().map(Vec::len), Some(6), "{told}");
}

#[test]
fn a_connection_brings_a_thousand_requests_and_no_more() {
    let site = Site::new(&[]);
    let mut stream = site.connect("localhost", &TLS13).expect("it listens");
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", site.address);
    // given as many requests as anybody wants to send / when they are answered
    let (mut answers, mut piece) = (Vec::new(), [0; 4096]);
    for _ in 0..1_100 {
        // Whoever is cut off cannot write any more.
        if stream.write_all(request.as_bytes()).and_then(|()| stream.flush()).is_err() {
            break;
        }
        match stream.read(&mut piece) {
            Ok(read @ 1..) => answers.extend_from_slice(&piece[..read]),
            _ => break,
        }
    }
    // then the last one says that it is the last
    let answers = String::from_utf8_lossy(&answers);
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 1_000);
    assert_eq!(answers.to_lowercase().matches("connection: close").count(), 1);
    site.node.stopped().code(0);
}
