//! A client: a WebSocket over TLS, by libraries that the node does not use.

use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tungstenite::{Error, Message, WebSocket, client::client};

/// How long an answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(20);

pub(crate) struct Client {
    socket: WebSocket<StreamOwned<ClientConnection, TcpStream>>,
    asked: u64,
    /// Replies that nobody has asked for yet, by number.
    waiting: BTreeMap<u64, Value>,
}

/// What a reply says: a body, or message and code of an error.
pub(crate) type Reply = Result<Value, (String, String)>;

impl Client {
    /// Connects, and trusts this authority alone.
    pub(crate) fn connect(at: SocketAddr, authority: &str, path: &str) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(authority.as_bytes()).map_err(|error| error.to_string())?;
        roots.add(authority).map_err(|error| error.to_string())?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("juju-apiserver").map_err(|error| error.to_string())?;
        let tls = ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())?;
        let stream = TcpStream::connect(at).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (socket, _) =
            client(format!("wss://{at}{path}"), StreamOwned::new(tls, stream)).map_err(|error| error.to_string())?;
        Ok(Self { socket, asked: 0, waiting: BTreeMap::new() })
    }

    /// Sends a request; the answer is its number.
    pub(crate) fn send(&mut self, facade: &str, version: u64, id: &str, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        let request = json!({
            "request-id": self.asked, "type": facade, "version": version, "id": id, "request": method, "params": params,
        });
        self.send_text(&request.to_string());
        self.asked
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).expect("sent");
    }

    /// The reply to a request; none if there is none within this time.
    pub(crate) fn reply_within(&mut self, number: u64, time: Duration) -> Option<Reply> {
        loop {
            if let Some(reply) = self.waiting.remove(&number) {
                return Some(told(&reply));
            }
            self.socket.get_ref().sock.set_read_timeout(Some(time)).expect("a time");
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let reply: Value = serde_json::from_str(&text).expect("a reply is JSON");
                    self.waiting.insert(reply["request-id"].as_u64().expect("a number"), reply);
                }
                Ok(_) => (),
                Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return None;
                }
                Err(error) => return Some(Err((format!("the connection ended: {error}"), String::new()))),
            }
        }
    }

    pub(crate) fn reply(&mut self, number: u64) -> Reply {
        self.reply_within(number, ANSWER_TIME).unwrap_or_else(|| Err(("no answer".into(), String::new())))
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Reply {
        let number = self.send("Provisioner", 11, "", method, params);
        self.reply(number)
    }

    pub(crate) fn login(&mut self, tag: &str, credentials: &str) -> Reply {
        let params = json!({"auth-tag": tag, "credentials": credentials, "nonce": ""});
        let number = self.send("Admin", 3, "", "Login", &params);
        self.reply(number)
    }

    /// Bytes as they are, past the protocol.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        let stream = self.socket.get_mut();
        stream.write_all(bytes).and_then(|()| stream.flush()).expect("written");
    }

    /// Whether the other end ends the connection.
    pub(crate) fn is_ended(&mut self) -> bool {
        self.socket.get_ref().sock.set_read_timeout(Some(ANSWER_TIME)).expect("a time");
        loop {
            match self.socket.read() {
                Ok(Message::Close(_)) => return true,
                Ok(_) => (),
                Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return false;
                }
                Err(_) => return self.socket.get_mut().sock.read(&mut [0]).map_or(true, |read| read == 0),
            }
        }
    }
}

fn told(reply: &Value) -> Reply {
    match reply.get("error") {
        None => Ok(reply["response"].clone()),
        Some(error) => {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            Err((text(Some(error)), text(reply.get("error-code"))))
        }
    }
}
