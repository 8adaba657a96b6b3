//! Watchers: a call makes one and is told all that there is; each `Next` waits for what is new.

use std::{rc::Rc, time::Duration};

use serde::Serialize;
use tokio::time::sleep;

use super::{
    changes::Watched,
    connection::{Call, Connection, Watcher},
    envelope::{Called, body, nothing},
    fault::Fault,
    wire::{Item, NotifyWatcher, Results, StringsWatcher, WatchContainers},
};

/// Starts of agents are told together that come within this time. Source: Juju.
const STARTS_TOGETHER: Duration = Duration::from_millis(500);

/// What `Next` tells.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct News {
    watcher_id: &'static str,
    changes: Vec<String>,
}

fn begin(call: &Call<'_>, watched: Watched) -> Result<StringsWatcher, Fault> {
    let changes = &call.connection.shared.facade.changes;
    changes.catch_up(&call.connection.shared.node)?;
    let (names, told) = changes.first(&watched);
    let watcher_id = call.connection.add_watcher(watched, told)?;
    Ok(StringsWatcher { watcher_id, changes: names })
}

/// Watches something that only tells that it changed.
pub(super) fn notify(call: &Call<'_>, watched: Watched) -> Called {
    body(&NotifyWatcher { id: begin(call, watched)?.watcher_id })
}

/// Watches what only a controller may.
pub(super) fn of_controller(call: &Call<'_>, watched: Watched) -> Called {
    if !call.rights.is_controller {
        return Err(Fault::denied());
    }
    if watched.has_names() { body(&begin(call, watched)?) } else { notify(call, watched) }
}

/// Watches the containers in machines.
pub(super) fn containers(call: &Call<'_>, all: bool) -> Called {
    let WatchContainers { params } = call.request.params()?;
    let watch = |machine: &str, of_type: String| {
        let of = call.rights.seen(machine)?;
        call.look(|seen| seen.machine(&of).map(|_| ()))??;
        let of_type = Some(of_type).filter(|of_type| !all && !of_type.is_empty());
        begin(call, Watched::Containers { of, of_type })
    };
    let results = params.into_iter().map(|it| Item::from(watch(&it.machine_tag, it.container_type))).collect();
    body(&Results { results })
}

/// Waits for what is new to a watcher.
pub(super) async fn next(connection: &Rc<Connection>, watcher: &Watcher) -> Called {
    let changes = &connection.shared.facade.changes;
    let mut news = changes.follow();
    // What is decided before a client asks is told at once, and together.
    changes.catch_up(&connection.shared.node)?;
    loop {
        let stopped = watcher.stop.notified();
        if watcher.is_stopped.get() {
            return Err(stop());
        }
        if watcher.watched == Watched::Starts && changes.next(&watcher.watched, watcher.told.get()).is_some() {
            sleep(STARTS_TOGETHER).await;
        }
        if let Some((names, told)) = changes.next(&watcher.watched, watcher.told.get()) {
            connection.identity_in_force()?;
            watcher.told.set(told);
            return if watcher.watched.has_names() {
                body(&News { watcher_id: "", changes: names })
            } else {
                nothing()
            };
        }
        tokio::select! {
            biased;
            () = stopped => return Err(stop()),
            changed = news.changed() => if changed.is_err() { return Err(stop()) },
        }
    }
}

fn stop() -> Fault {
    Fault::new("stopped", "watcher has been stopped")
}
