//! Who answers calls: one port for each kind of provider, and what is kept there.

use std::{any::Any, fmt, sync::Arc};

use super::{Providers, Services, Source};
use crate::{
    policy::Document,
    ports::{BulkAnswer, FilesystemProvider, Lookup, MachineProvider, VolumeProvider},
    vocab::EffectId,
};

/// Who answers some of the operations, and how long that may take.
pub trait Port: 'static {
    type Provider: ?Sized;

    /// Who is asked there; none if there is nobody.
    fn provider(providers: &Providers, source: &Source) -> Option<Arc<Self::Provider>>;

    /// How long a call may take, in milliseconds.
    fn call_timeout_ms(policy: &Document) -> u64;

    /// Says that the call of this effect is not wanted any more.
    fn cancel(provider: &Self::Provider, id: EffectId);
}

/// Somebody who is asked at a port of a kind that a program has added.
#[derive(Clone)]
pub struct AnyProvider(Arc<dyn Any + Send + Sync>);

impl AnyProvider {
    /// A provider of that port.
    pub fn new<P: ?Sized + Send + Sync + 'static>(provider: Arc<P>) -> Self {
        Self(Arc::new(provider))
    }

    /// The provider, if it is one of that port.
    pub fn of<P: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<P>> {
        self.0.downcast_ref::<Arc<P>>().cloned()
    }
}

impl fmt::Debug for AnyProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a provider")
    }
}

/// A provider that is called through a port.
pub(crate) type Asked<P> = <P as Port>::Provider;

/// A kind of thing that providers keep for us, each under the effect id that it was made under.
pub trait Thing: Clone + fmt::Debug + 'static {
    /// Who keeps it.
    type Port: Port;

    /// What is known of one.
    type Made: Send + 'static;

    /// What its keeper has to know of one to undo it.
    type Handle: Clone + fmt::Debug + Send + 'static;

    /// Asks for what there is under these ids.
    fn lookup(by: &Asked<Self::Port>, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<Self::Made>>;

    /// The volume or filesystem that undoing one works on, where that is another thing.
    fn works_on(_what: &Self::Handle) -> Option<EffectId> {
        None
    }

    /// Called of each that is undone.
    fn undone(_services: &Services, _id: EffectId) {}
}

/// A provider that keeps things of a kind.
pub(crate) type Keeper<T> = Asked<<T as Thing>::Port>;

/// Providers of machines.
#[derive(Debug)]
pub struct Machines;

/// Providers of volumes, and of their attachments.
#[derive(Debug)]
pub struct Volumes;

/// Providers of filesystems, and of their attachments.
#[derive(Debug)]
pub struct Filesystems;

impl Port for Machines {
    type Provider = dyn MachineProvider;

    fn provider(providers: &Providers, source: &Source) -> Option<Arc<Self::Provider>> {
        providers.machines.get(source.provider.as_ref()?).cloned()
    }

    fn call_timeout_ms(policy: &Document) -> u64 {
        policy.machines.call_timeout_ms
    }

    fn cancel(provider: &Self::Provider, id: EffectId) {
        provider.cancel(id);
    }
}

impl Port for Volumes {
    type Provider = dyn VolumeProvider;

    fn provider(providers: &Providers, source: &Source) -> Option<Arc<Self::Provider>> {
        providers.volumes_of(source)
    }

    fn call_timeout_ms(policy: &Document) -> u64 {
        policy.storage.call_timeout_ms
    }

    fn cancel(provider: &Self::Provider, id: EffectId) {
        provider.cancel(id);
    }
}

impl Port for Filesystems {
    type Provider = dyn FilesystemProvider;

    fn provider(providers: &Providers, source: &Source) -> Option<Arc<Self::Provider>> {
        providers.filesystems_of(source)
    }

    fn call_timeout_ms(policy: &Document) -> u64 {
        policy.storage.call_timeout_ms
    }

    fn cancel(provider: &Self::Provider, id: EffectId) {
        provider.cancel(id);
    }
}
