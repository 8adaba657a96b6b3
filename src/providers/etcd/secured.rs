//! A real etcd server that talks TLS only, and then wants to know who asks.

use std::{
    ffi::OsString,
    fs,
    io::Write,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use bailiwick_actors::{
    ports::replica_set::{MACHINE_TAG, MemberState, Priority, Server},
    testing::free_port,
};
use tempfile::TempDir;

use super::{reach::Reach, wire::MemberList, *};

const SECRET: &str = "correct horse";
const LOOKS_MAX: u32 = 300;
const TIME: Duration = Duration::from_secs(10);

/// Ends with the test.
struct Etcd {
    child: Child,
    dir: TempDir,
    client: String,
    peer: String,
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// One certificate for all: it vouches for itself, and is the server's and ours. It has no common name, because etcd's gateway
/// takes none from clients once it wants names and passwords.
fn certificate() -> (String, String) {
    let mut params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    let key = rcgen::KeyPair::generate().unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

impl Etcd {
    /// None where there is no etcd; where `BAILIWICK_CI` is set, that is a failure.
    fn start() -> Option<Self> {
        let version = Command::new("etcd").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("BAILIWICK_CI").is_none(), "TLS cannot be tested for real here: there is no etcd");
            writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: there is no etcd here").unwrap();
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let (cert, key) = certificate();
        fs::write(dir.path().join("cert.pem"), cert).unwrap();
        fs::write(dir.path().join("key.pem"), key).unwrap();
        let [client, peer] = [free_port(), free_port()].map(|port| format!("127.0.0.1:{port}"));
        let (client_url, peer_url) = (format!("https://{client}"), format!("https://{peer}"));
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let mut command = Command::new("etcd");
        command.args(["--name", "m1", "--unsafe-no-fsync", "--data-dir"]).arg(dir.path().join("data"));
        command.args(["--listen-peer-urls", &peer_url, "--initial-advertise-peer-urls", &peer_url]);
        command.args(["--listen-client-urls", &client_url, "--advertise-client-urls", &client_url]);
        command.args(["--initial-cluster", &format!("m1={peer_url}"), "--client-cert-auth", "--peer-client-cert-auth"]);
        for (flag, file) in [("trusted-ca", "cert"), ("cert", "cert"), ("key", "key")] {
            for side in ["", "peer-"] {
                command.arg(format!("--{side}{flag}-file")).arg(dir.path().join(format!("{file}.pem")));
            }
        }
        let child = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        Some(Self { child, dir, client, peer })
    }

    fn contact(&self) -> Contact {
        let server =
            Server { machine: "m1".parse().unwrap(), client: self.client.clone(), peer: Some(self.peer.clone()) };
        Contact { set: "db".parse().unwrap(), servers: vec![server] }
    }

    /// With TLS, and as `root` if there is a password.
    fn environment(&self, password: Option<&str>) -> Environment {
        let at = |file: &str| Some(OsString::from(self.dir.path().join(file)));
        let (cert, key, password) = (at("cert.pem"), at("key.pem"), password.map(OsString::from));
        Environment::new(move |name| match name {
            "BAILIWICK_ETCD_CA_FILE" | "BAILIWICK_ETCD_DB_CERT_FILE" => cert.clone(),
            "BAILIWICK_ETCD_KEY_FILE" => key.clone(),
            "BAILIWICK_ETCD_USERNAME" => password.as_ref().map(|_| OsString::from("root")),
            "BAILIWICK_ETCD_PASSWORD" => password.clone(),
            _ => None,
        })
    }

    async fn until_it_leads(&self, engine: &EtcdEngine) -> Observation {
        let mut last = None;
        for _ in 0..LOOKS_MAX {
            let leads = |now: &Observation| now.statuses.iter().any(|status| status.state == MemberState::Primary);
            match engine.observe(self.contact()).await {
                Ok(now) if now.configuration.committed && leads(&now) => return now,
                other => last = Some(other),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        let log: Vec<&str> = log.lines().rev().take(15).collect();
        panic!("it never led: {last:?}\n{log:#?}")
    }

    async fn post(&self, path: &str, body: serde_json::Value) -> Result<serde_json::Value, Broken> {
        let reach = Reach::of(&self.environment(None), &self.contact()).unwrap();
        Gateway::new(&self.client, std::sync::Arc::new(reach)).call(path, &body, TIME).await
    }
}

fn joins(address: &str) -> Change {
    let member = Member {
        id: MemberId(2),
        address: address.into(),
        tags: [(MACHINE_TAG.to_owned(), "m2".to_owned())].into(),
        votes: Some(0),
        priority: Some(Priority::NONE),
        other: std::collections::BTreeMap::new(),
    };
    Change::Join { member }
}

fn keeps_the_secret(fault: &Fault) -> bool {
    !fault.text.contains(SECRET)
}

#[tokio::test]
async fn a_server_with_tls_and_passwords_is_asked_by_reference() {
    let Some(etcd) = Etcd::start() else { return };
    let engine = EtcdEngine::with(etcd.environment(None));
    let now = etcd.until_it_leads(&engine).await;

    // Who talks without TLS, or trusts somebody else, hears nothing.
    assert!(EtcdEngine::default().observe(etcd.contact()).await.is_err());
    let elsewhere = etcd.dir.path().join("other.pem");
    fs::write(&elsewhere, certificate().0).unwrap();
    let trusts = |path: &Path| {
        let path = OsString::from(path);
        EtcdEngine::with(Environment::new(move |name| (name == "BAILIWICK_ETCD_CA_FILE").then(|| path.clone())))
    };
    assert!(trusts(&elsewhere).observe(etcd.contact()).await.is_err());
    let fault = trusts(&etcd.dir.path().join("gone.pem")).observe(etcd.contact()).await.unwrap_err();
    assert!(fault.text.contains("CA_FILE"), "{fault}");

    // A member joins, and is reached with TLS by the others as well.
    let address = format!("127.0.0.1:{}", free_port());
    assert_eq!(engine.change(etcd.contact(), now.configuration.stamp, vec![joins(&address)]).await, Outcome::Done);
    let list = etcd.post("/v3/cluster/member/list", serde_json::json!({})).await.unwrap();
    let list: MemberList = serde_json::from_value(list).unwrap();
    assert!(list.members.iter().any(|it| it.peer_urls == [format!("https://{address}")]), "{list:?}");
    let now = etcd.until_it_leads(&engine).await;
    let joined = now.configuration.members.iter().find(|member| member.address == address).unwrap().id;

    // From now on it wants to know who asks.
    for (path, body) in [
        ("/v3/auth/user/add", serde_json::json!({ "name": "root", "password": SECRET })),
        ("/v3/auth/role/add", serde_json::json!({ "name": "root" })),
        ("/v3/auth/user/grant", serde_json::json!({ "user": "root", "role": "root" })),
        ("/v3/auth/enable", serde_json::json!({})),
    ] {
        etcd.post(path, body).await.unwrap();
    }
    let remove = || vec![Change::Remove { member: joined }];
    let stamp = now.configuration.stamp;
    let outcome = engine.change(etcd.contact(), stamp, remove()).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "nobody may: {outcome:?}");
    let wrong = EtcdEngine::with(etcd.environment(Some("wrong horse")));
    let fault = wrong.observe(etcd.contact()).await.unwrap_err();
    assert_eq!(fault.code, FaultCode::Unauthenticated, "{fault}");
    let right = EtcdEngine::with(etcd.environment(Some(SECRET)));
    let now = etcd.until_it_leads(&right).await;
    assert_eq!(right.change(etcd.contact(), now.configuration.stamp, remove()).await, Outcome::Done);
    let fault = right.change(etcd.contact(), now.configuration.stamp, remove()).await;
    let Outcome::Refused(fault) = fault else { panic!("it has gone: {fault:?}") };
    assert!(keeps_the_secret(&fault) && !format!("{right:?}").contains(SECRET), "{fault}");
}
