//! The model's servers behind the trait that MongoDB's own driver stands behind elsewhere.

use std::{fmt, sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{Answer, Clock},
    vocab::{Fault, FaultCode, Name},
};
use tokio::time::{sleep, timeout};

use super::{faults::Fate, world::ModelWorld};
use crate::providers::mongodb::{Admin, Broken, Document, errors::code};

/// Which machine is reached at an address.
type Directory = dyn Fn(&str) -> Option<Name> + Send + Sync;

/// MongoDB servers that are a model: no mongod runs.
#[derive(Clone)]
pub struct ModelServers {
    world: ModelWorld,
    clock: Arc<dyn Clock>,
    directory: Arc<Directory>,
}

impl fmt::Debug for ModelServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServers").field("world", &self.world).finish_non_exhaustive()
    }
}

impl ModelServers {
    /// The servers of this world; the directory says which machine is reached at a `host:port`.
    pub fn new(
        world: ModelWorld,
        clock: Arc<dyn Clock>,
        directory: impl Fn(&str) -> Option<Name> + Send + Sync + 'static,
    ) -> Self {
        Self { world, clock, directory: Arc::new(directory) }
    }

    async fn half(&self) {
        sleep(Duration::from_millis(self.world.latency_ms())).await;
    }

    async fn call(&self, host: &str, command: Document) -> Result<Document, Broken> {
        self.half().await;
        let reached = (self.directory)(host).filter(|machine| self.world.answers(machine));
        let is_look = command.keys().next().is_some_and(|name| name.starts_with("replSetGet"));
        let Some(machine) = reached.filter(|_| !is_look || !self.world.look_fails()) else {
            let text = format!("{host}: it cannot be reached");
            return Err(Broken::NotSent(Fault::new(FaultCode::Unavailable, text)));
        };
        let answer = if is_look { self.taken(&machine, &command).await } else { self.write(&machine, command).await };
        self.half().await;
        answer
    }

    /// A write, with everything that may go wrong around it.
    async fn write(&self, machine: &Name, command: Document) -> Result<Document, Broken> {
        match self.world.fate() {
            Fate::Refused(_) => Err(Broken::Said {
                code: code::CONFIGURATION_IN_PROGRESS,
                name: "ConfigurationInProgress".into(),
                text: "the node is currently updating its configuration".into(),
            }),
            Fate::Dropped => Err(lost()),
            Fate::Late { by_ms } => {
                self.world.keep_for_later(machine, command, self.clock.now().after(by_ms));
                Err(lost())
            }
            Fate::Taken { answered: true } => self.taken(machine, &command).await,
            Fate::Taken { answered: false } => self.taken(machine, &command).await.and(Err(lost())),
        }
    }

    /// The server's answer, once it gives it.
    async fn taken(&self, machine: &Name, command: &Document) -> Result<Document, Broken> {
        let now = self.clock.now();
        let said = |code, name: &str, text| Err(Broken::Said { code, name: name.to_owned(), text });
        match self.world.run(machine, command, now) {
            Ok((answer, until)) if until <= now => Ok(answer),
            Ok((answer, until)) => {
                sleep(Duration::from_millis(until.0 - now.0)).await;
                if self.world.is_primary(machine, self.clock.now()) {
                    return Ok(answer);
                }
                let text = "Reconfig finished but failed to propagate to a majority".to_owned();
                said(code::PRIMARY_STEPPED_DOWN, "PrimarySteppedDown", text)
            }
            Err(no) => said(no.code, no.name, no.text),
        }
    }
}

fn lost() -> Broken {
    Broken::Unclear(Fault::new(FaultCode::Unknown, "the connection broke before the answer came"))
}

impl Admin for ModelServers {
    fn run<'a>(
        &'a self,
        _set: &'a Name,
        host: &'a str,
        command: Document,
        time: Duration,
    ) -> Answer<'a, Result<Document, Broken>> {
        Box::pin(async move {
            timeout(time, self.call(host, command)).await.unwrap_or_else(|_| {
                let text = format!("{host}: it did not answer in time");
                Err(Broken::Unclear(Fault::new(FaultCode::DeadlineExceeded, text)))
            })
        })
    }
}
