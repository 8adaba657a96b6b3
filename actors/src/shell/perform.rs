//! One bulk call, carried out by the kind that asked for it; and the reports of how it went.

use std::time::Duration;

use bailiwick_journal::{Position, StreamId, digest};
use uuid::Uuid;

use super::{
    AnyCommand, Ask, AskError, Origin, Registry, Services,
    calls::{At, Perform, Report},
};
use crate::vocab::derived_uuid;

/// Makes one bulk call; all items are of one operation and one provider.
pub(super) async fn perform(services: &Services, batch: Vec<Perform>) -> Vec<Report> {
    let Some(Perform { call, .. }) = batch.first() else {
        return Vec::new();
    };
    let carry_out = call.wish.carry_out();
    let source = &services.providers.source(call.provider.as_ref(), call.machine.as_ref());
    carry_out(batch, At { services, source }).await
}

/// The id of a report, by what the journal will hold of it. One that is too large for that is refused under any id.
fn report_id(stream: &StreamId, cause: Position, command: &AnyCommand) -> Uuid {
    let told = command.store().map_or(Uuid::nil(), |body| Uuid::from_bytes(digest(&body.bytes)));
    derived_uuid(&format!("report {stream} {cause} {told}"))
}

/// Tells the entities. A report that cannot be taken now is made again: what has happened must not be forgotten.
pub(super) async fn report(registry: &actix::WeakAddr<Registry>, reports: Vec<Report>) {
    let mut open = reports;
    let mut wait_ms = 100;
    loop {
        let mut refused = Vec::new();
        let mut asks = Vec::new();
        for (stream, command, cause) in open {
            let Some(registry) = registry.upgrade() else {
                return;
            };
            let id = report_id(&stream, cause, &command);
            let origin = Origin {
                id,
                principal: "executor".into(),
                cause: Some(cause),
                cites: Vec::new(),
                routine: true,
                expected: None,
            };
            let ask = Ask { stream: stream.clone(), command: command.clone(), origin };
            asks.push((registry.send(ask), (stream, command, cause)));
        }
        for (ask, report) in asks {
            match ask.await {
                Ok(Err(AskError::Overloaded | AskError::Contended | AskError::Crashed { .. })) => refused.push(report),
                Ok(Err(error)) => {
                    tracing::error!(stream = %report.0, %error, "a report was not recorded; sending it again")
                }
                Ok(Ok(_)) => (),
                // The registry has ended: the node stops, and asks the provider by id when it starts again.
                Err(_) => return,
            }
        }
        if refused.is_empty() {
            return;
        }
        open = refused;
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        wait_ms = (wait_ms * 2).min(5_000);
    }
}
