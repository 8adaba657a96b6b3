//! Commands through MongoDB's own driver.
//!
//! Each call has a client of its own, which knows one server and ends with the call: no session goes on talking to a server
//! that was primary once, and changed credentials are used at the next call. The driver repeats nothing by itself.

use std::time::Duration;

use bailiwick_actors::{
    ports::Answer,
    vocab::{Fault, FaultCode, Name},
};
use mongodb::{
    Client,
    bson::{Bson, Document as BsonDocument},
    error::{Error, ErrorKind},
    options::{ClientOptions, Credential, ServerAddress, Tls, TlsOptions},
};
use serde_json::Value;
use tokio::time::timeout;

use super::{Admin, Broken, Document};
use crate::providers::access::{Access, Environment};

/// How long a server may take to be reached. Source: what users of Juju waited for without such a limit.
const CONNECT_TIME: Duration = Duration::from_secs(2);
/// The database in which users of the set itself are kept.
const ADMIN: &str = "admin";

/// Runs commands through MongoDB's own driver.
#[derive(Clone, Debug)]
pub struct Driver {
    environment: Environment,
}

impl Driver {
    /// A driver that finds credentials and certificates by these references.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }

    async fn call(&self, set: &Name, host: &str, command: Document, time: Duration) -> Result<Document, Broken> {
        let access = self.environment.access("mongodb", set).map_err(Broken::NotSent)?;
        let broken = |error: &Error| broken(host, &access, error);
        let options = options(host, &access).map_err(|error| broken(&error))?;
        let strange = |what| Broken::NotSent(Fault::new(FaultCode::Internal, format!("{host}: {what}")));
        let command = BsonDocument::try_from(command).map_err(|_| strange("the command is not a MongoDB document"))?;
        let client = Client::with_options(options).map_err(|error| broken(&error))?;
        let answer = timeout(time, async { client.database(ADMIN).run_command(command).await }).await;
        let Ok(answer) = answer else {
            let text = format!("{host}: it did not answer in time");
            return Err(Broken::Unclear(Fault::new(FaultCode::DeadlineExceeded, text)));
        };
        match Bson::Document(answer.map_err(|error| broken(&error))?).into_canonical_extjson() {
            Value::Object(answer) => Ok(answer),
            _ => Err(Broken::Unclear(Fault::new(FaultCode::Unknown, format!("{host}: unexpected answer")))),
        }
    }
}

impl Admin for Driver {
    fn run<'a>(
        &'a self,
        set: &'a Name,
        host: &'a str,
        command: Document,
        time: Duration,
    ) -> Answer<'a, Result<Document, Broken>> {
        Box::pin(self.call(set, host, command, time))
    }
}

fn options(host: &str, access: &Access) -> Result<ClientOptions, Error> {
    let tls = access.tls.as_ref().map(|tls| {
        let mut options = TlsOptions::default();
        options.ca_file_path = Some(tls.ca_file.clone());
        // One file holds both, as MongoDB's own tools want it.
        options.cert_key_file_path = tls.own.as_ref().map(|(certificate, _)| certificate.clone());
        Tls::Enabled(options)
    });
    let credential = access.credentials.as_ref().map(|credentials| {
        let mut credential = Credential::default();
        credential.username = Some(credentials.username.clone());
        credential.password = Some(credentials.password().to_owned());
        credential.source = Some(ADMIN.to_owned());
        credential
    });
    let mut options = ClientOptions::builder().hosts(vec![ServerAddress::parse(host)?]).build();
    options.app_name = Some("bailiwick".into());
    options.credential = credential;
    options.tls = tls;
    options.direct_connection = Some(true);
    options.connect_timeout = Some(CONNECT_TIME);
    options.server_selection_timeout = Some(CONNECT_TIME);
    options.retry_reads = Some(false);
    options.retry_writes = Some(false);
    Ok(options)
}

/// What an error of the driver says of the command. Only what is said before a command can have left is not sent.
fn broken(host: &str, access: &Access, error: &Error) -> Broken {
    let fault = |code, text: &str| Fault::new(code, access.scrub(&format!("{host}: {text}")));
    match error.kind.as_ref() {
        ErrorKind::Command(said) => {
            let text = access.scrub(&said.message);
            Broken::Said { code: said.code, name: said.code_name.clone(), text }
        }
        ErrorKind::Authentication { .. } => {
            Broken::NotSent(fault(FaultCode::Unauthenticated, "it does not accept the credentials"))
        }
        ErrorKind::ServerSelection { message, .. } => {
            // The text ends with everything that is known of the server; its beginning is enough, and names no more.
            let text: String = message.chars().take(300).collect();
            Broken::NotSent(fault(FaultCode::Unavailable, &text))
        }
        ErrorKind::DnsResolve { message, .. } => Broken::NotSent(fault(FaultCode::Unavailable, message)),
        ErrorKind::InvalidTlsConfig { message, .. } | ErrorKind::InvalidArgument { message, .. } => {
            Broken::NotSent(fault(FaultCode::FailedPrecondition, message))
        }
        ErrorKind::IncompatibleServer { message, .. } => Broken::NotSent(fault(FaultCode::Unimplemented, message)),
        ErrorKind::Io(error) => Broken::Unclear(fault(FaultCode::Unknown, &error.to_string())),
        // Others mention what was being done, in words that may change: they say nothing of what was.
        _ => Broken::Unclear(fault(FaultCode::Unknown, "the call was cut off")),
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, net::TcpListener};

    use bailiwick_actors::{
        ports::{
            ReplicaSetEngine,
            replica_set::{Change, Contact, MemberId, Outcome, Server, Stamp},
        },
        vocab::FaultCode,
    };
    use serde_json::json;

    use super::*;
    use crate::providers::mongodb::MongoEngine;

    const SECRET: &str = "correct horse";

    fn driver() -> Driver {
        Driver::new(Environment::new(|name| match name {
            "BAILIWICK_MONGODB_USERNAME" => Some(OsString::from("clerk")),
            "BAILIWICK_MONGODB_PASSWORD" => Some(OsString::from(SECRET)),
            _ => None,
        }))
    }

    #[test]
    fn documents_survive_the_way_through_the_drivers_own_form() {
        let document = json!({
            "_id": "db", "version": { "$numberInt": "5" }, "term": { "$numberLong": "3" },
            "priority": { "$numberDouble": "2.5" }, "replicaSetId": { "$oid": "0123456789abcdef01234567" },
            "when": { "$date": { "$numberLong": "1700000000000" } }, "at": { "$timestamp": { "t": 1, "i": 2 } },
            "exactly": { "$numberDecimal": "1.10" }, "raw": { "$binary": { "base64": "AQI=", "subType": "00" } },
            "list": [true, null, "text", { "b": { "$numberLong": "1" }, "a": { "$numberInt": "0" } }]
        });
        let bson = BsonDocument::try_from(document.as_object().unwrap().clone()).unwrap();
        let back = Bson::Document(bson).into_canonical_extjson();
        assert_eq!(back.to_string(), document.to_string(), "every type, and the order of the fields");
    }

    #[test]
    fn one_server_is_asked_once_with_credentials_that_nobody_sees() {
        let access = driver().environment.access("mongodb", &"db".parse().unwrap()).unwrap();
        let options = options("[::1]:27017", &access).unwrap();
        assert_eq!(options.direct_connection, Some(true));
        assert_eq!((options.retry_reads, options.retry_writes), (Some(false), Some(false)));
        assert!(options.credential.is_some() && !format!("{:?}", driver()).contains(SECRET));
        let refused = Error::from(ErrorKind::Io(std::sync::Arc::new(std::io::Error::other(format!("bad {SECRET}")))));
        let Broken::Unclear(fault) = broken("a:1", &access, &refused) else { panic!("it may have been sent") };
        assert!(!fault.text.contains(SECRET), "{fault}");
    }

    /// A server that nobody can reach was never asked; that is not left open.
    #[tokio::test]
    async fn a_server_that_is_not_there_was_not_asked() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let engine = MongoEngine::new(std::sync::Arc::new(driver()));
        let server = Server { machine: "m1".parse().unwrap(), client: address, peer: None };
        let contact = Contact { set: "db".parse().unwrap(), servers: vec![server] };
        let fault = engine.observe(contact.clone()).await.unwrap_err();
        assert_eq!(fault.code, FaultCode::Unavailable, "{fault}");
        let outcome = engine.change(contact, Stamp::default(), vec![Change::Remove { member: MemberId(1) }]).await;
        assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    }
}
