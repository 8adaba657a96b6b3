//! The pools that storage comes from. They stand beside the settings: a claim for storage is told by them where it comes
//! from, and what is decided afterwards depends on what was asked for, not on them.

use super::{Event, Reason, Rejection, State};
use crate::{
    contract::{Decision, Verdict},
    storage_rules::{PoolName, PoolSettings, StorageConfig, StorageKind},
};

/// A new pool is checked by the rules of its type; one that is there already stays.
pub(super) fn create(state: &State, name: &PoolName, settings: &PoolSettings) -> Verdict<State> {
    if state.pools.pools.get(name) == Some(settings) {
        return Ok(Decision::nothing(Reason::Unchanged));
    }
    // Those that everybody has are known without being kept.
    let taken = StorageConfig::default().pools().is_ok_and(|defaults| defaults.get(name).is_ok());
    if taken || state.pools.pools.contains_key(name) {
        return Err(Rejection::PoolExists { name: name.clone() });
    }
    let mut wanted = state.pools.clone();
    wanted.pools.insert(name.clone(), settings.clone());
    check(&wanted)?;
    let event = Event::PoolCreated { name: name.clone(), settings: settings.clone() };
    Ok(Decision::because(Reason::PoolWanted, [event]))
}

/// What was made from a pool stays.
pub(super) fn remove(state: &State, name: &PoolName) -> Verdict<State> {
    if !state.pools.pools.contains_key(name) {
        return Err(Rejection::NoSuchPool { name: name.clone() });
    }
    let is_default = |kind| state.pools.default_of(kind) == Some(name);
    if is_default(StorageKind::Block) || is_default(StorageKind::Filesystem) {
        return Err(Rejection::PoolIsDefault { name: name.clone() });
    }
    Ok(Decision::because(Reason::PoolUnwanted, [Event::PoolRemoved { name: name.clone() }]))
}

/// What comes from the former default stays.
pub(super) fn set_default(state: &State, kind: StorageKind, pool: Option<&PoolName>) -> Verdict<State> {
    if state.pools.default_of(kind) == pool {
        return Ok(Decision::nothing(Reason::Unchanged));
    }
    let mut wanted = state.pools.clone();
    *wanted.default_of_mut(kind) = pool.cloned();
    check(&wanted)?;
    let event = Event::DefaultPoolSet { kind, pool: pool.cloned() };
    Ok(Decision::because(Reason::DefaultPoolWanted, [event]))
}

fn check(wanted: &StorageConfig) -> Result<(), Rejection> {
    let Err(problems) = wanted.pools() else { return Ok(()) };
    let mut told: Vec<String> = Vec::new();
    for problem in &problems {
        told.push(problem.to_string());
        told.extend(std::error::Error::source(problem).map(ToString::to_string));
    }
    Err(Rejection::BadPool { problem: told.join(": ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::{
            Decider,
            given::{after, answer},
        },
        policy::{Command, Document},
        storage_rules::ProviderType,
        vocab::Timestamp,
    };

    fn settings(provider: ProviderType, attributes: &[(&str, &str)]) -> PoolSettings {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        PoolSettings { provider, attributes: attributes.collect() }
    }

    fn name(text: &str) -> PoolName {
        text.parse().unwrap()
    }

    fn asked(given: &[Event], command: Command) -> Verdict<State> {
        let given = after::<State>(given);
        answer(&"policy/default".parse().unwrap(), &given, &command, Timestamp(1), &Document::default())
    }

    fn created() -> Event {
        Event::PoolCreated { name: name("fast"), settings: settings(ProviderType::Ebs, &[("volume-type", "ssd")]) }
    }

    fn create(pool: &str, settings: PoolSettings) -> Command {
        Command::CreatePool { name: name(pool), settings }
    }

    #[test]
    fn a_pool_is_checked_and_kept_and_settings_stay_as_they_are() {
        let fast = settings(ProviderType::Ebs, &[("volume-type", "ssd")]);
        let decision = asked(&[], create("fast", fast.clone())).unwrap();
        assert_eq!((decision.reason, decision.events), (Reason::PoolWanted, vec![created()]));
        let state = after::<State>(&[created()]).0;
        assert_eq!((state.revision, state.pools.pools.len()), (0, 1));
        assert_eq!(asked(&[created()], create("fast", fast)).unwrap().reason, Reason::Unchanged);
        let state = after::<State>(&[created(), Event::PoolRemoved { name: name("fast") }]).0;
        assert_eq!(state.pools, StorageConfig::default());
        assert_eq!(State::KIND, "policy");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let taken = create("fast", settings(ProviderType::Loop, &[]));
        assert_eq!(asked(&[created()], taken), Err(Rejection::PoolExists { name: name("fast") }));
        let default = create("loop", settings(ProviderType::Tmpfs, &[]));
        assert_eq!(asked(&[], default), Err(Rejection::PoolExists { name: name("loop") }));
        let unknown = create("red", settings(ProviderType::Loop, &[("colour", "red")]));
        assert!(matches!(asked(&[], unknown), Err(Rejection::BadPool { problem }) if problem.contains("colour")));
        let remove = Command::RemovePool { name: name("none") };
        assert_eq!(asked(&[created()], remove), Err(Rejection::NoSuchPool { name: name("none") }));
    }

    #[test]
    fn a_default_is_a_pool_that_is_there_and_makes_the_kind() {
        let set = |pool: Option<&str>| Command::SetDefaultPool { kind: StorageKind::Block, pool: pool.map(name) };
        let is_set = |pool: &str| Event::DefaultPoolSet { kind: StorageKind::Block, pool: Some(name(pool)) };
        let decision = asked(&[created()], set(Some("fast"))).unwrap();
        assert_eq!((decision.reason, decision.events), (Reason::DefaultPoolWanted, vec![is_set("fast")]));
        let given = [created(), is_set("fast")];
        assert_eq!(asked(&given, set(Some("fast"))).unwrap().reason, Reason::Unchanged);
        assert_eq!(
            asked(&given, Command::RemovePool { name: name("fast") }),
            Err(Rejection::PoolIsDefault { name: name("fast") })
        );
        assert!(asked(&given, set(None)).is_ok());
        assert!(asked(&[], set(Some("loop"))).is_ok(), "those that everybody has will do");
        assert!(matches!(asked(&[], set(Some("none"))), Err(Rejection::BadPool { .. })));
        assert!(matches!(asked(&[], set(Some("tmpfs"))), Err(Rejection::BadPool { .. })), "it makes no volumes");
    }
}
