//! What a decision about a replica set is made from: machines, the configuration as it was read, and who is how.

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

pub use crate::ports::replica_set::{MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Priority, Tags};
pub use crate::vocab::{Address, Scope};
use crate::vocab::{Life, Text};

/// Everything that is known, explicitly. Nothing is counted or kept between two decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The machines that may hold a member, in any order.
    pub machines: Vec<Machine>,
    /// The configuration of the set as it was read, in its order.
    pub members: Vec<Member>,
    /// How the members are, as one of them sees it.
    pub statuses: Vec<MemberStatus>,
    /// The port of a member, where an address does not bring its own.
    pub port: u16,
    /// The space that members have to be reached in, if there is one.
    pub space: Option<String>,
    /// Whether all machines are on one host: then loopback is where they reach one another, for want of a better address.
    pub one_host: bool,
}

/// A machine's id: any text. In order, the numbers come first, by value; all else follows, by its bytes.
///
/// The text is never rendered anew: `7`, `007` and `+7` are three machines, and stand beside one another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub struct MachineId {
    rank: Rank,
    text: Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Number(i64),
    Text,
}

/// A machine that may hold a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub id: MachineId,
    /// Whether it shall have a vote.
    pub wants_vote: bool,
    /// A dead machine is not there any more; until then its wish counts.
    pub life: Life,
    /// In the order in which they were reported.
    pub addresses: Vec<Address>,
}

impl Rank {
    fn of(text: &str) -> Self {
        text.parse().map_or(Self::Text, Self::Number)
    }
}

impl MachineId {
    /// How an id stands to the one of this text, which is not made for it.
    pub(super) fn beside(text: &str) -> impl Fn(&Self) -> Ordering {
        let rank = Rank::of(text);
        move |id| id.rank.cmp(&rank).then_with(|| (*id.text).cmp(text))
    }

    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<Text> for MachineId {
    fn from(text: Text) -> Self {
        Self { rank: Rank::of(&text), text }
    }
}

impl From<String> for MachineId {
    fn from(text: String) -> Self {
        Text::from(text).into()
    }
}

impl From<&str> for MachineId {
    fn from(text: &str) -> Self {
        Text::from(text).into()
    }
}

impl From<MachineId> for Text {
    fn from(id: MachineId) -> Self {
        id.text
    }
}

impl From<MachineId> for String {
    fn from(id: MachineId) -> Self {
        id.text.into()
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_first_and_keep_their_spelling() {
        let mut ids: Vec<MachineId> =
            ["b", "10", "9223372036854775808", "007", "-0", "2", "7", "X", "", "-3"].map(MachineId::from).into();
        ids.sort();
        let texts: Vec<&str> = ids.iter().map(MachineId::as_str).collect();
        assert_eq!(texts, ["-3", "-0", "2", "007", "7", "10", "", "9223372036854775808", "X", "b"]);
    }
}
