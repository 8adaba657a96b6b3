//! `node.json`: what the agent says of the machine that it is in, and of itself.
//!
//! Labels, annotations and taints that are declared are written there, and what was written last is kept beside them: what
//! is not declared any more is taken away, and what somebody else has written there stays.

use std::{io, path::Path, thread::available_parallelism};

use bailiwick_actors::{
    machine::rules::template::{self, NodeTemplate},
    vocab::SizeMib,
};
use serde::{Deserialize, Serialize};

use super::{directory::MachineDir, files, pressure};
use crate::api::wire::agent::NodeInfo;

/// The content of `node.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFile {
    /// As the node is told.
    #[serde(flatten)]
    pub told: NodeInfo,
    /// What of these was declared when it was written last.
    pub last_applied: NodeTemplate,
    /// Why the machine goes, or is replaced, as the node says it before it ends any workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub going: Option<String>,
}

impl NodeFile {
    /// What this machine has, with what is declared for it; written. A file that is there and cannot be understood is left
    /// alone: others write there too, and what they wrote would be lost.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn begin(directory: &MachineDir, declared: &NodeTemplate) -> io::Result<Self> {
        let known = Self::read(directory)?.unwrap_or_default();
        let mut node = Self { told: measured(directory, known.told), ..known };
        node.apply(declared, None);
        files::replace_json(&directory.node(), &node)?;
        Ok(node)
    }

    /// What can be said of this machine without the file.
    pub fn without_file(directory: &MachineDir) -> Self {
        Self { told: measured(directory, NodeInfo::default()), ..Self::default() }
    }

    /// What the file says; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not what it should be.
    pub fn read(directory: &MachineDir) -> io::Result<Option<Self>> {
        files::read_json(&directory.node()).map_err(|error| {
            let path = directory.node();
            let text = format!("{} cannot be read ({error}); repair or remove it", path.display());
            io::Error::new(error.kind(), text)
        })
    }

    /// Follows what is declared now, and why the machine goes, if it does. What is in the file counts, for others may have
    /// written there.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn follow(directory: &MachineDir, declared: &NodeTemplate, going: Option<&str>) -> io::Result<()> {
        let Some(mut node) = Self::read(directory)? else { return Ok(()) };
        let is_changed = node.apply(declared, going);
        if is_changed { files::replace_json(&directory.node(), &node) } else { Ok(()) }
    }

    fn apply(&mut self, declared: &NodeTemplate, going: Option<&str>) -> bool {
        let (record, told, mut changed) = (&self.last_applied, &mut self.told, [false; 3]);
        (changed[0], told.labels) = template::map(&declared.labels, &record.labels, &told.labels);
        (changed[1], told.annotations) = template::map(&declared.annotations, &record.annotations, &told.annotations);
        (changed[2], told.taints) = template::taints(&declared.taints, &record.taints, &told.taints);
        self.last_applied = declared.clone();
        let is_told = self.going.as_deref() == going;
        self.going = going.map(str::to_owned);
        changed.contains(&true) || !is_told
    }
}

/// What was told before, with what this machine has now.
fn measured(directory: &MachineDir, before: NodeInfo) -> NodeInfo {
    NodeInfo {
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        cores: available_parallelism().ok().and_then(|cores| u32::try_from(cores.get()).ok()).unwrap_or(0),
        memory_mib: SizeMib(pressure::memory().map(|(total, _)| total / 1024).unwrap_or(0)),
        disk_mib: SizeMib(disk_mib(directory.path())),
        ..before
    }
}

fn disk_mib(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map(|found| found.f_blocks.saturating_mul(found.f_frsize) >> 20).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn template(labels: &[(&str, &str)]) -> NodeTemplate {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        NodeTemplate { labels, ..NodeTemplate::default() }
    }

    #[test]
    fn what_is_declared_is_written_and_what_others_wrote_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let effect = bailiwick_actors::vocab::EffectId(uuid::Uuid::from_u128(1));
        let directory = MachineDir::new(scratch.path().to_owned(), effect);
        let node = NodeFile::begin(&directory, &template(&[("tier", "front"), ("old", "1")])).unwrap();
        let told = &node.told;
        assert!(0 < told.cores && 0 < told.memory_mib.0 && 0 < told.disk_mib.0 && !told.agent_version.is_empty());
        let read = || files::read_json::<NodeFile>(&directory.node()).unwrap().expect("it is there");
        assert_eq!(read(), node);
        let mut by_others = node;
        by_others.told.labels.insert("theirs".into(), "1".into());
        files::replace_json(&directory.node(), &by_others).unwrap();
        NodeFile::follow(&directory, &template(&[("tier", "back")]), Some("scale-down")).unwrap();
        let labels = BTreeMap::from([("theirs", "1"), ("tier", "back")]);
        assert_eq!(
            read().told.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect::<BTreeMap<_, _>>(),
            labels
        );
        assert_eq!(read().going.as_deref(), Some("scale-down"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_as_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        let effect = bailiwick_actors::vocab::EffectId(uuid::Uuid::from_u128(1));
        let directory = MachineDir::new(scratch.path().to_owned(), effect);
        for broken in ["{\"labels\": {\"theirs\": ", "{\"last_applied\": 7}", ""] {
            std::fs::write(directory.node(), broken).unwrap();
            let begun = NodeFile::begin(&directory, &template(&[("tier", "front")])).unwrap_err();
            let followed = NodeFile::follow(&directory, &template(&[("tier", "front")]), None).unwrap_err();
            for error in [begun, followed] {
                assert!(error.to_string().contains("node.json cannot be read"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(directory.node()).unwrap(), broken);
        }
    }
}
