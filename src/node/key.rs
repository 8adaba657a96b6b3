//! The key that the node proves agents with.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::{
    agent::{agent_token, directory::MachineDir, files},
    config::{NodeKey, local_dir},
};

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It is gone or damaged, and there are machines whose agents prove themselves with it.
    #[error("node.key {problem}, and {machines:?} holds machines whose agents prove themselves with it")]
    Lost { problem: &'static str, machines: PathBuf },
    #[error("cannot {action} {path:?}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

/// The key: made once, kept in the data directory for its owner only. One that was lost is replaced if that is wanted: the
/// agents of this host's machines then get new tokens, which they find when the node does not take their old ones.
///
/// # Errors
/// If it cannot be read or made, or was lost while there are machines.
pub(super) fn node_key(data_dir: &Path, when_lost: NodeKey) -> Result<[u8; 32], KeyError> {
    let path = data_dir.join("node.key");
    let problem = match fs::read(&path).map(<[u8; 32]>::try_from) {
        Ok(Ok(key)) => return Ok(key),
        Ok(Err(_)) => "is not 32 bytes long",
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is gone",
        Err(source) => return Err(KeyError::Io { action: "read", path, source }),
    };
    let machines = local_dir(data_dir).join("machines");
    let has_machines = fs::read_dir(&machines).is_ok_and(|mut machines| machines.next().is_some());
    if has_machines && when_lost == NodeKey::PutBack {
        return Err(KeyError::Lost { problem, machines });
    }
    make(data_dir, &path, &machines)
}

/// Tokens first: if the power fails in between, the key is still lost, and the next start begins anew.
fn make(data_dir: &Path, path: &Path, machines: &Path) -> Result<[u8; 32], KeyError> {
    let key = random();
    let unfinished = data_dir.join("node.key.new");
    let made = write(&unfinished, &key)
        .and_then(|()| bring_tokens(machines, &key))
        .and_then(|()| fs::rename(&unfinished, path))
        .and_then(|()| fs::File::open(data_dir)?.sync_all());
    made.map(|()| key).map_err(|source| KeyError::Io { action: "make", path: path.to_owned(), source })
}

fn random() -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    seed[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    *blake3::hash(&seed).as_bytes()
}

fn write(path: &Path, key: &[u8; 32]) -> io::Result<()> {
    files::remove_file(path)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(key)?;
    file.sync_all()
}

/// Writes the token under this key wherever an agent has one. Who has not joined yet gets his when he does.
fn bring_tokens(machines: &Path, key: &[u8; 32]) -> io::Result<()> {
    let entries = match fs::read_dir(machines) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let Some(effect) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let machine = MachineDir::new(entry.path(), effect);
        if machine.token().exists() {
            files::replace(&machine.token(), agent_token(key, effect).as_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bailiwick_actors::vocab::EffectId;

    use super::*;

    #[test]
    fn a_lost_key_is_replaced_only_on_demand_and_with_the_tokens_of_all_agents() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path();
        let key = node_key(data, NodeKey::PutBack).expect("made");
        assert_eq!(node_key(data, NodeKey::Replace).expect("kept"), key, "what is there is never replaced");
        let effect = EffectId(uuid::Uuid::from_u128(7));
        let machine = MachineDir::new(local_dir(data).join("machines").join(effect.to_string()), effect);
        fs::create_dir_all(machine.path()).unwrap();
        fs::write(machine.token(), agent_token(&key, effect)).unwrap();

        for problem in ["is gone", "is not 32 bytes long"] {
            match problem {
                "is gone" => fs::remove_file(data.join("node.key")).unwrap(),
                _ => fs::write(data.join("node.key"), [7; 31]).unwrap(),
            }
            let lost = node_key(data, NodeKey::PutBack).expect_err("there is a machine");
            assert!(matches!(&lost, KeyError::Lost { problem: told, .. } if *told == problem), "{lost}");
            let new = node_key(data, NodeKey::Replace).expect("replaced");
            assert_eq!(fs::read_to_string(machine.token()).unwrap(), agent_token(&new, effect));
        }
    }
}
