//! Who a client is, and what it may see.
//!
//! | logs in as | proves it with | sees |
//! |---|---|---|
//! | `machine-N` | the password that was set for it, and the nonce of its instance | itself, and the containers in it |
//! | `machine-N` with the job `manage-model` | the same | all machines of their own, too |
//! | `controller-N` | a token of the account `controller-N` with role admin | all machines of their own |
//! | `user-NAME` | a token of the account NAME | nothing of this facade |

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::Decider,
    document::{Account, Role},
    machine::{self, juju::CLIENT},
    vocab::Timestamp,
};

use super::{
    fault::{Fault, UNAUTHORIZED},
    seen::{Seen, is_controller},
    tag::Tag,
};
use crate::{
    api::{
        access::{Caller, caller},
        connection::Peer,
        shared::Shared,
    },
    juju::MachineId,
    view::Fleet,
};

/// A client that has logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    Machine(MachineId),
    Controller { id: String, token: Option<blake3::Hash> },
    User { name: String, role: Role, token: Option<blake3::Hash> },
}

/// What a client may do now.
#[derive(Clone, Debug)]
pub(super) struct Rights {
    /// The machine that it is.
    pub(super) own: Option<MachineId>,
    pub(super) is_controller: bool,
}

impl Identity {
    /// As the journal names it.
    pub(super) fn principal(&self) -> String {
        match self {
            Self::Machine(id) => format!("{CLIENT}{}", id.tag()),
            Self::Controller { id, .. } => format!("{CLIENT}controller-{id}"),
            Self::User { name, .. } => format!("account:{name}"),
        }
    }

    /// Whether it is an agent: one that is silent for too long is cut off.
    pub(super) fn is_agent(&self) -> bool {
        !matches!(self, Self::User { .. })
    }

    /// What it may do; none if it has nothing to do with this facade.
    pub(super) fn rights(&self, seen: &Seen<'_>) -> Option<Rights> {
        match self {
            Self::Machine(id) => {
                let is_controller = seen.machine(id).is_ok_and(is_controller);
                Some(Rights { own: Some(id.clone()), is_controller })
            }
            Self::Controller { .. } => Some(Rights { own: None, is_controller: true }),
            Self::User { .. } => None,
        }
    }

    /// Whether what it has logged in with still counts: since then a token may have been revoked, or have expired, and a role
    /// may have been taken away.
    pub(super) fn is_in_force(&self, fleet: &Fleet, now: Timestamp) -> bool {
        let (account, token, is_agent) = match self {
            Self::Machine(_) | Self::Controller { token: None, .. } | Self::User { token: None, .. } => return true,
            Self::Controller { id, token: Some(token) } => (format!("controller-{id}"), token, true),
            Self::User { name, token: Some(token), .. } => (name.clone(), token, false),
        };
        let account = fleet.documents.accounts().find(|it| it.name == account);
        let may = |account: &Account| !is_agent || is_for_controllers(account.role, &account.kinds);
        let account = account.filter(|account| may(account.says));
        let mut tokens = account.iter().flat_map(|account| &account.says.tokens);
        tokens.any(|known| {
            blake3::Hash::from_bytes(known.hash) == *token && known.expires.is_none_or(|expires| now < expires)
        })
    }
}

impl Rights {
    /// Whether it may see a machine, whether or not there is one.
    pub(super) fn sees(&self, id: &MachineId) -> bool {
        match id.parent() {
            Some(parent) => self.own.as_ref() == Some(id) || self.own == Some(parent),
            None => self.is_controller || self.own.as_ref() == Some(id),
        }
    }

    /// The machine that a tag names, if it may see that.
    ///
    /// # Errors
    /// The same for what it may not see and for what is no machine.
    pub(super) fn seen(&self, tag: &str) -> Result<MachineId, Fault> {
        Tag::machine(tag).filter(|id| self.sees(id)).ok_or_else(Fault::denied)
    }
}

/// Whether an account with this role, limited to these kinds of objects if there are any, can be that of a controller's agent.
fn is_for_controllers(role: Role, kinds: &BTreeSet<String>) -> bool {
    role == Role::Admin && (kinds.is_empty() || kinds.contains(machine::State::KIND))
}

fn wrong() -> Fault {
    Fault::new(UNAUTHORIZED, "invalid entity name or password")
}

/// Who this is.
///
/// # Errors
/// One and the same for an unknown name and for a wrong password.
pub(super) fn identify(
    shared: &Shared,
    peer: Peer,
    tag: &str,
    credentials: &str,
    nonce: &str,
) -> Result<Identity, Fault> {
    let known = Tag::parse(tag).ok_or_else(|| Fault::no_tag(tag))?;
    #[cfg(feature = "testing")]
    if super::testing::tag(credentials).as_deref() == Some(tag) {
        match known {
            Tag::Machine(id) => return Ok(Identity::Machine(id)),
            Tag::Controller(id) => return Ok(Identity::Controller { id, token: None }),
            Tag::User(name) => return Ok(Identity::User { name, role: Role::Admin, token: None }),
            Tag::Model(_) | Tag::Other => return Err(wrong()),
        }
    }
    let token = blake3::hash(credentials.as_bytes());
    match known {
        Tag::Machine(id) => {
            shared.node.look(|fleet| agent(fleet, &id, credentials, nonce))??;
            Ok(Identity::Machine(id))
        }
        Tag::Controller(id) => {
            let name = format!("controller-{id}");
            let caller = account(shared, peer, &name, credentials)?;
            let kinds = caller.kinds.as_deref().cloned().unwrap_or_default();
            if is_for_controllers(caller.role, &kinds) {
                Ok(Identity::Controller { id, token: Some(token) })
            } else {
                Err(wrong())
            }
        }
        Tag::User(name) => {
            let role = account(shared, peer, &name, credentials)?.role;
            Ok(Identity::User { name, role, token: Some(token) })
        }
        Tag::Model(_) | Tag::Other => Err(wrong()),
    }
}

/// An account, proved with one of its tokens.
fn account(shared: &Shared, peer: Peer, name: &str, token: &str) -> Result<Caller, Fault> {
    let caller = caller(shared, peer, Some(token)).map_err(|_| wrong())?;
    if *caller.principal == *format!("account:{name}") { Ok(caller) } else { Err(wrong()) }
}

/// Whether this is the agent of a machine.
fn agent(fleet: &Fleet, id: &MachineId, password: &str, nonce: &str) -> Result<(), Fault> {
    let state = Seen::of(fleet).machine(id).ok();
    // What is unknown takes as long as what is wrong.
    let (salt, hash) = state.and_then(|state| state.record().password).unwrap_or_default();
    let is_right = hashed(&salt, password) == blake3::Hash::from_bytes(hash);
    let state = state.filter(|_| is_right).ok_or_else(wrong)?;
    if is_nonce(state, nonce) { Ok(()) } else { Err(Fault::not_provisioned(id)) }
}

/// Whether this is the nonce of a machine's instance.
fn is_nonce(state: &machine::State, nonce: &str) -> bool {
    let by_node = match &state.instance {
        machine::Instance::Running { instance, .. } => {
            instance.nonce().map(|nonce| *blake3::hash(nonce.as_bytes()).as_bytes())
        }
        _ => None,
    };
    let kept = state.record().provisioned.as_ref().map(|of| of.nonce).or(by_node);
    kept.is_some_and(|kept| blake3::hash(nonce.as_bytes()) == blake3::Hash::from_bytes(kept))
}

/// A password as it is kept. Agents make theirs by chance, so one round of hashing is enough.
pub(super) fn hashed(salt: &[u8; 16], password: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt).update(password.as_bytes());
    hasher.finalize()
}
