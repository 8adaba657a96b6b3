//! The agent's talk with the node: one report, one answer.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use bailiwick_actors::vocab::{EffectId, Name, Nonce};
use hyper::Method;
use tracing::{info, warn};
use uuid::Uuid;

use super::{bearer::Bearer, directory::MachineTag};
use crate::{
    api::wire::{
        agent::{Answer, Condition, NodeInfo, Report, WorkloadReport},
        storage::Device,
    },
    client::{Client, ClientError, Limits},
    text::with_causes,
};

/// Bounds of one exchange. The node is on the same machine; what takes longer is tried again.
const LIMITS: Limits = Limits { time: Duration::from_secs(10), answer_bytes_max: 1024 * 1024 };

/// The node may ask for any interval between these two.
const INTERVAL_MIN: Duration = Duration::from_millis(50);
const INTERVAL_MAX: Duration = Duration::from_secs(60);

/// Waits between attempts while the node is away; doubled every time.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// An agent that has lost its node is soon back, and asking a socket that is not there costs next to nothing.
const RETRY_MAX: Duration = Duration::from_secs(1);

/// More of anything than this is no sensible answer.
const ITEMS_MAX: usize = 64;
const ARGUMENTS_MAX: usize = 1024;

/// The way to the node, and how it went lately.
pub struct Link {
    client: Client,
    path: String,
    bearer: Bearer,
    effect: EffectId,
    nonce: Option<Nonce>,
    boot_id: Uuid,
    sequence: u64,
    /// What the node has heard of this machine's `node.json`.
    told: Option<NodeInfo>,
    failures: u32,
    /// What was last logged, so that a long absence is logged once.
    trouble: Option<String>,
}

/// What came of a report.
#[derive(Debug)]
pub struct Exchange {
    /// None if the node is away or answered nonsense: everything stays as it is.
    pub answer: Option<Answer>,
    /// When to report next.
    pub pause: Duration,
}

impl Link {
    /// The way to the node at this socket, as the agent of this machine.
    pub(super) fn new(socket: PathBuf, machine: &MachineTag, bearer: Bearer) -> Self {
        Self {
            client: Client::new(socket).with_limits(LIMITS),
            path: format!("/v1/agents/{}/report", machine.machine),
            bearer,
            effect: machine.effect,
            nonce: machine.nonce.clone(),
            boot_id: Uuid::new_v4(),
            sequence: 0,
            told: None,
            failures: 0,
            trouble: None,
        }
    }

    /// Reports and hears what is wanted.
    pub async fn exchange(
        &mut self,
        conditions: Vec<Condition>,
        workloads: Vec<WorkloadReport>,
        devices: Vec<Device>,
        node: Option<NodeInfo>,
    ) -> Exchange {
        self.sequence += 1;
        let news = node.filter(|node| self.told.as_ref() != Some(node));
        let report = Report {
            effect: self.effect,
            boot_id: self.boot_id,
            sequence: self.sequence,
            conditions,
            workloads,
            nonce: self.nonce.clone(),
            devices,
            node: news.clone(),
        };
        let sent = self.client.send_json(Method::POST, &self.path, &report, Some(&self.bearer.token())).await;
        match sent.map_err(|error: ClientError| with_causes(&error)).and_then(sensible) {
            Ok(answer) => {
                if self.trouble.take().is_some() || self.sequence == 1 {
                    info!("connected to the node");
                }
                self.failures = 0;
                self.told = news.or(self.told.take());
                let pause = Duration::from_millis(answer.interval_ms).clamp(INTERVAL_MIN, INTERVAL_MAX);
                Exchange { answer: Some(answer), pause }
            }
            Err(trouble) => {
                self.bearer.refresh();
                if self.trouble.as_ref() != Some(&trouble) {
                    warn!(error = trouble, "no answer from the node; workloads keep running");
                }
                self.trouble = Some(trouble);
                self.failures = self.failures.saturating_add(1);
                Exchange { answer: None, pause: retry_delay(self.failures) }
            }
        }
    }
}

fn retry_delay(failures: u32) -> Duration {
    RETRY_FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(RETRY_MAX)
}

/// Refuses answers that cannot be meant.
fn sensible(answer: Answer) -> Result<Answer, String> {
    let workloads: BTreeSet<&Name> = answer.workloads.iter().map(|workload| &workload.name).collect();
    let volumes: BTreeSet<&Name> = answer.volumes.iter().map(|volume| &volume.name).collect();
    if workloads.len() != answer.workloads.len() || volumes.len() != answer.volumes.len() {
        return Err("the answer names something twice".to_owned());
    }
    if workloads.len() > ITEMS_MAX || volumes.len() > ITEMS_MAX {
        return Err(format!("the answer names more than {ITEMS_MAX} workloads or volumes"));
    }
    if answer.workloads.iter().any(|workload| workload.command.len() > ARGUMENTS_MAX) {
        return Err(format!("a command has more than {ARGUMENTS_MAX} arguments"));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_the_node_is_bounded() {
        assert_eq!(retry_delay(1), RETRY_FIRST);
        assert_eq!(retry_delay(3), RETRY_FIRST * 4);
        assert_eq!(retry_delay(u32::MAX), RETRY_MAX);
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_have_defaults() {
        let answer: Answer = serde_json::from_str(r#"{"future": [1]}"#).unwrap();
        assert_eq!((answer.interval_ms, answer.stop), (2_000, false));
        assert!(sensible(answer).is_ok());
    }

    #[test]
    fn answers_that_cannot_be_meant_are_refused() {
        let workload =
            |name: &str, arguments: usize| serde_json::json!({"name": name, "command": vec!["x"; arguments]});
        let many: Vec<_> = (0..65).map(|n| workload(&format!("w{n}"), 1)).collect();
        for workloads in [vec![workload("a", 1), workload("a", 1)], many, vec![workload("a", 1025)]] {
            let answer = serde_json::from_value(serde_json::json!({"workloads": workloads})).unwrap();
            assert!(sensible(answer).is_err());
        }
        assert!(serde_json::from_str::<Answer>(r#"{"volumes": [{"name": "../x", "path": "/"}]}"#).is_err());
    }
}
