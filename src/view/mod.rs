//! Read models.
use bailiwick_actors::{
    contract::{Fold, StoredError},
    machine, policy,
    vocab::Timestamp,
    volume, volume_attachment,
};
use bailiwick_journal::{Entry, Filter, Journal, Position, ReadError};
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    pub machines: Fold<machine::State>,
    pub volumes: Fold<volume::State>,
    pub attachments: Fold<volume_attachment::State>,
    pub policies: Fold<policy::State>,
    pub position: Position,
    pub time: Timestamp,
}
impl Fleet {
    pub fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.machines.apply(entry)?;
        self.volumes.apply(entry)?;
        self.attachments.apply(entry)?;
        self.policies.apply(entry)?;
        self.position = entry.header.position;
        self.time = Timestamp(entry.header.meta.time_ms);
        Ok(())
    }
}
#[derive(Clone, Debug, serde::Serialize)]
pub struct Pending {
    pub entity: String,
    pub status: String,
    pub why: String,
}
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    pub entity: Option<bailiwick_journal::StreamId>,
    pub kind: Option<String>,
    pub outcome: Option<bailiwick_journal::Outcome>,
    pub since: Option<crate::api::query::At>,
    pub until: Option<crate::api::query::At>,
    pub limit: usize,
}
type V = serde_json::Value;
impl Fleet {
    pub fn at(journal: &dyn Journal, to: Position) -> Result<Self, ReadError> {
        let mut fleet = Self::default();
        for e in journal.read(Position(1), to, &Filter::all()) {
            fleet.apply(&*e?).unwrap();
        }
        Ok(fleet)
    }
}
pub fn pending(f: &Fleet) -> Vec<Pending> {
    let mut v = Vec::new();
    for (n, x) in f.machines.iter() {
        if x.state.life.exists() && !x.state.is_ready() {
            v.push(Pending { entity: format!("machine/{n}"), status: x.state.status().into(), why: String::new() })
        }
    }
    for (n, x) in f.volumes.iter() {
        if x.state.life.exists() && !x.state.is_ready() {
            v.push(Pending { entity: format!("volume/{n}"), status: x.state.status().into(), why: String::new() })
        }
    }
    for (n, x) in f.attachments.iter() {
        if x.state.life.exists() && !x.state.is_ready() {
            v.push(Pending {
                entity: format!("volume-attachment/{n}"),
                status: x.state.status().into(),
                why: String::new(),
            })
        }
    }
    v
}
pub fn declared(f: &Fleet) -> Vec<bailiwick_journal::StreamId> {
    let mut v = Vec::new();
    for (n, x) in f.machines.iter() {
        if x.state.life.exists() {
            v.push(format!("machine/{n}").parse().unwrap())
        }
    }
    for (n, x) in f.volumes.iter() {
        if x.state.life.exists() {
            v.push(format!("volume/{n}").parse().unwrap())
        }
    }
    for (n, x) in f.attachments.iter() {
        if x.state.life.exists() {
            v.push(format!("volume-attachment/{n}").parse().unwrap())
        }
    }
    v
}
pub fn status(f: &Fleet) -> V {
    serde_json::json!({"counts": [], "trouble": pending(f)})
}
pub fn machines(_f: &Fleet) -> V {
    V::Null
}
pub fn volumes(_f: &Fleet) -> V {
    V::Null
}
pub fn attachments(_f: &Fleet) -> V {
    V::Null
}
pub fn policies(_f: &Fleet) -> V {
    V::Null
}
pub fn describe(_j: &dyn Journal, _f: &Fleet, _e: &bailiwick_journal::StreamId) -> Result<Option<V>, ReadError> {
    Ok(None)
}
pub fn log(_j: &dyn Journal, _l: &LogFilter) -> Result<V, ReadError> {
    Ok(V::Null)
}
pub fn upcoming(_f: &Fleet, _l: usize) -> V {
    V::Null
}
pub fn near_matches(_f: &Fleet, _e: &bailiwick_journal::StreamId) -> Vec<String> {
    vec![]
}
pub fn position_at(_j: &dyn Journal, _t: Timestamp) -> Result<Position, ReadError> {
    Ok(Position(0))
}
