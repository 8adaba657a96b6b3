//! A connection, and a call on it: what is known of the client, and what it watches.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep},
};
use uuid::Uuid;

use super::{
    changes::{Told, Watched},
    envelope::Request,
    fault::{Fault, TRY_AGAIN, UNAUTHORIZED},
    identity::{Identity, Rights},
    seen::Seen,
};
use crate::api::{connection::Peer, shared::Shared};

/// How long a client has to log in.
const LOGIN_TIME: Duration = Duration::from_secs(60);
/// An agent that has not pinged for so long is cut off. Source: Juju.
const PING_TIME: Duration = Duration::from_secs(180);
/// The longest message: a million tags.
pub(super) const MESSAGE_MAX: usize = 48 * 1024 * 1024;
/// The longest one of a client that has not logged in.
pub(super) const FIRST_MESSAGE_MAX: usize = 64 * 1024;
/// So many calls may be under way on one connection, waiting ones included; a long message counts as several.
const CALLS_MAX: u32 = 20_000;
/// What counts as one.
const BYTES_OF_CALL: usize = 4 * 1024;

/// What a connection is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Controller,
    Model,
    /// There is no such model.
    Unknown(Uuid),
}

/// A connection.
pub(super) struct Connection {
    pub(super) shared: Shared,
    pub(super) peer: Peer,
    /// Ids of commands are derived from it and the numbers of requests.
    pub(super) id: Uuid,
    pub(super) place: Place,
    pub(super) identity: RefCell<Option<Identity>>,
    /// So many calls may go on, by what they take up.
    pub(super) calls: Arc<Semaphore>,
    pub(super) failed_logins: Cell<u32>,
    watchers: RefCell<HashMap<String, Rc<Watcher>>>,
    watchers_made: Cell<u64>,
    /// When it has to have logged in, or pinged again.
    until: Cell<Option<Instant>>,
}

/// A watcher.
pub(super) struct Watcher {
    pub(super) watched: Watched,
    pub(super) told: Cell<Told>,
    pub(super) is_stopped: Cell<bool>,
    pub(super) stop: Notify,
}

/// So many watchers on one connection.
const WATCHERS_MAX: usize = 16_384;

impl Connection {
    pub(super) fn new(shared: Shared, peer: Peer, place: Place) -> Self {
        Self {
            shared,
            peer,
            id: Uuid::new_v4(),
            place,
            identity: RefCell::default(),
            calls: Arc::new(Semaphore::new(CALLS_MAX as usize)),
            failed_logins: Cell::new(0),
            watchers: RefCell::default(),
            watchers_made: Cell::new(0),
            until: Cell::new(Some(after(LOGIN_TIME))),
        }
    }

    /// A place for a call with a message of this length, until its reply is sent; none if there are too many, or if nobody
    /// reads the replies.
    pub(super) fn begin_call(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let places = 1 + u32::try_from(bytes / BYTES_OF_CALL).unwrap_or(CALLS_MAX);
        self.calls.clone().try_acquire_many_owned(places).ok()
    }

    /// Waits until the replies to all calls are sent.
    pub(super) async fn calls_over(&self) {
        drop(self.calls.acquire_many(CALLS_MAX).await);
    }

    /// When it has to have logged in, or pinged again; none if that is not waited for.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until.get()
    }

    /// Adds a watcher that was told so far.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn add_watcher(&self, watched: Watched, told: Told) -> Result<String, Fault> {
        let mut watchers = self.watchers.borrow_mut();
        if watchers.len() >= WATCHERS_MAX {
            return Err(Fault::new(TRY_AGAIN, "this connection has too many watchers; stop some"));
        }
        self.watchers_made.set(self.watchers_made.get() + 1);
        let id = self.watchers_made.get().to_string();
        let watcher = Watcher { watched, told: Cell::new(told), is_stopped: Cell::new(false), stop: Notify::new() };
        watchers.insert(id.clone(), Rc::new(watcher));
        Ok(id)
    }

    pub(super) fn watcher(&self, id: &str) -> Option<Rc<Watcher>> {
        self.watchers.borrow().get(id).cloned()
    }

    /// A call that waits for it is told that there is nothing to wait for.
    pub(super) fn stop_watcher(&self, id: &str) {
        if let Some(watcher) = self.watchers.borrow_mut().remove(id) {
            watcher.end();
        }
    }

    pub(super) fn stop_watchers(&self) {
        for (_, watcher) in self.watchers.borrow_mut().drain() {
            watcher.end();
        }
    }

    pub(super) fn has_identity(&self) -> bool {
        self.identity.borrow().is_some()
    }

    /// Who the client is, if what it has logged in with still counts.
    ///
    /// # Errors
    /// If it does not, or the journal cannot be read. Before the login there is nobody, and no error.
    pub(super) fn identity_in_force(&self) -> Result<Option<Identity>, Fault> {
        let Some(identity) = self.identity.borrow().clone() else { return Ok(None) };
        let node = &self.shared.node;
        match node.look(|fleet| identity.is_in_force(fleet, node.now()))? {
            true => Ok(Some(identity)),
            false => Err(Fault::new(UNAUTHORIZED, "not logged in")),
        }
    }

    /// How long a message may be now.
    pub(super) fn message_max(&self) -> usize {
        if self.has_identity() { MESSAGE_MAX } else { FIRST_MESSAGE_MAX }
    }

    /// It has logged in, or pinged: an agent has to do that again, a user has not.
    pub(super) fn heard(&self) {
        if let Some(identity) = &*self.identity.borrow() {
            self.until.set(identity.is_agent().then(|| after(PING_TIME)));
        }
    }
}

impl Watcher {
    fn end(&self) {
        self.is_stopped.set(true);
        self.stop.notify_waiters();
    }
}

/// A call of the Provisioner facade, by a client that may make some.
pub(super) struct Call<'c> {
    pub(super) connection: &'c Rc<Connection>,
    pub(super) request: &'c Request,
    pub(super) rights: Rights,
    /// How many commands it has given: their ids follow from that.
    pub(super) commands: Cell<u32>,
}

impl Call<'_> {
    /// Looks at the node as it is now.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Seen<'_>) -> T) -> Result<T, Fault> {
        Ok(self.connection.shared.node.look(|fleet| look(&Seen::of(fleet)))?)
    }
}

fn after(time: Duration) -> Instant {
    sleep(time).deadline()
}
