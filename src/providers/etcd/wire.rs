//! The JSON of etcd's gateway: 64-bit numbers are texts, and what is empty or zero is left out.

use serde::{Deserialize, Deserializer};

/// An answer of which only the success counts.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Nothing {}

/// What a server knows somebody by for a while. Not to be shown.
#[derive(Deserialize)]
pub(super) struct Token {
    pub token: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    #[serde(deserialize_with = "number")]
    pub cluster_id: u64,
    #[serde(deserialize_with = "number")]
    pub member_id: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ServerStatus {
    pub header: Header,
    #[serde(deserialize_with = "number")]
    pub leader: u64,
    #[serde(deserialize_with = "number")]
    pub raft_index: u64,
    #[serde(deserialize_with = "number")]
    pub raft_term: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MemberList {
    pub header: Header,
    pub members: Vec<ListedMember>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ListedMember {
    #[serde(rename = "ID", deserialize_with = "number")]
    pub id: u64,
    pub name: String,
    #[serde(rename = "peerURLs")]
    pub peer_urls: Vec<String>,
    pub is_learner: bool,
}

/// What etcd says when it refuses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Refusal {
    pub message: String,
    /// A gRPC status code.
    pub code: u32,
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Text(String),
        Plain(u64),
    }
    match Number::deserialize(deserializer)? {
        Number::Plain(number) => Ok(number),
        Number::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_etcd_3_4_says_can_be_read() {
        let text = r#"{"header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","revision":"1"},
            "version":"3.4.23","leader":"3319814642761637952","raftIndex":"4","raftTerm":"2"}"#;
        let status: ServerStatus = serde_json::from_str(text).unwrap();
        assert_eq!((status.header.member_id, status.raft_term), (status.leader, 2));
        let text = r#"{"members":[{"ID":"18446744073709551615","peerURLs":["http://127.0.0.1:1"],"isLearner":true}]}"#;
        let list: MemberList = serde_json::from_str(text).unwrap();
        assert_eq!((list.members[0].id, list.members[0].is_learner), (u64::MAX, true));
        assert!(list.members[0].name.is_empty());
    }
}
