//! Plain directories are promised a size, and nobody is kept from writing more: the node looks, and says so.

use std::{collections::BTreeSet, sync::Weak, time::Duration};

use bailiwick_actors::vocab::EffectId;
use tracing::{info, warn};

use crate::providers::storage::{Filesystems, OverQuota};

/// Looking reads every name in every directory.
const EVERY: Duration = Duration::from_secs(60);

/// Looks for as long as the directories are there.
pub(super) async fn watch(directories: Weak<Filesystems>) {
    let mut ticks = tokio::time::interval(EVERY);
    let mut known = BTreeSet::new();
    loop {
        ticks.tick().await;
        let Some(directories) = Weak::upgrade(&directories) else { return };
        match directories.over_quota().await {
            Ok(over) => tell(&over, &mut known),
            Err(error) => warn!(%error, "cannot measure the directories"),
        }
    }
}

/// Each is told once, and once more when it fits again.
fn tell(over: &[OverQuota], known: &mut BTreeSet<EffectId>) {
    for it in news(over, known) {
        let (filesystem, promised, used) = (&it.filesystem, it.promised, it.used);
        warn!(%filesystem, %promised, %used, "the directory is over its size");
    }
    let now: BTreeSet<EffectId> = over.iter().map(|it| it.effect).collect();
    for effect in known.difference(&now) {
        info!(%effect, "the directory is within its size again");
    }
    *known = now;
}

fn news<'o>(over: &'o [OverQuota], known: &BTreeSet<EffectId>) -> Vec<&'o OverQuota> {
    over.iter().filter(|it| !known.contains(&it.effect)).collect()
}

#[cfg(test)]
mod tests {
    use bailiwick_actors::vocab::SizeMib;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_directory_over_its_size_is_told_once_and_again_after_it_fitted() {
        let effect = EffectId(Uuid::from_u128(1));
        let filesystem = "files".parse().expect("a name");
        let over = [OverQuota { effect, filesystem, promised: SizeMib(1), used: SizeMib(2) }];
        let mut known = BTreeSet::new();
        assert_eq!(news(&over, &known).len(), 1);
        tell(&over, &mut known);
        assert_eq!(news(&over, &known).len(), 0);
        tell(&[], &mut known);
        assert_eq!(news(&over, &known).len(), 1);
    }
}
