//! Joining: the agent presents the token that its machine was made with, and gets the one that it reports with.

use std::{path::PathBuf, time::Duration};

use hyper::Method;
use tokio::time::sleep;
use tracing::{info, warn};

use super::{
    directory::{MachineDir, MachineTag, Presence},
    files,
    node::NodeFile,
};
use crate::{
    api::wire::agent::{Join, Joined},
    client::{Client, Limits},
    text::with_causes,
};

/// Bounds of one exchange.
const LIMITS: Limits = Limits { time: Duration::from_secs(10), answer_bytes_max: 64 * 1024 };
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(1);

/// The token to report with: the one that is there, or the one that the node gives for the token to join with.
/// Empty where there is neither.
pub(super) async fn token(
    directory: &MachineDir,
    socket: PathBuf,
    tag: &MachineTag,
    node: &NodeFile,
) -> std::io::Result<String> {
    let client = Client::new(socket).with_limits(LIMITS);
    let path = format!("/v1/agents/{}/join", tag.machine);
    let (mut pause, mut trouble) = (RETRY_FIRST, None);
    loop {
        if let Some(token) = text(directory.token())? {
            return Ok(token);
        }
        // Read anew every time: a later attempt at making the machine brings another one.
        let Some(token) = text(directory.join_token())? else {
            // A missing directory says nothing about its tokens.
            if matches!(directory.presence(), Ok(Presence::Absent)) {
                sleep(RETRY_MAX).await;
                continue;
            }
            return Ok(String::new());
        };
        let join = Join { effect: tag.effect, nonce: tag.nonce.clone(), token, node: node.told.clone() };
        match client.send_json::<_, Joined>(Method::POST, &path, &join, None).await {
            Ok(Joined { token }) => {
                // In this order: an agent with neither could never join again.
                files::replace(&directory.token(), token.as_bytes())?;
                files::remove_file(&directory.join_token())?;
                info!("joined");
                return Ok(token);
            }
            Err(error) => {
                let why = with_causes(&error);
                if trouble.as_ref() != Some(&why) {
                    warn!(error = why, "cannot join yet");
                }
                trouble = Some(why);
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
}

fn text(path: PathBuf) -> std::io::Result<Option<String>> {
    let read = files::read(&path)?;
    Ok(read.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
}
