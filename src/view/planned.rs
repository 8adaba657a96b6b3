//! What the supervisor of replica sets would do now, in words.

use std::collections::BTreeMap;

use bailiwick_actors::{
    replica_set::{State, addresses::AddressFault},
    supervisor::{
        peer_group::{Finding, NotChosen, StatusNote},
        replica_sets::{Plan, plan},
    },
    vocab::Name,
};

use super::Fleet;
use crate::words::{count, reason_in_words, step_in_words};

/// What the supervisor would do now, in words.
#[derive(Default)]
pub(super) struct Planned {
    pub steps: Vec<String>,
    pub held: Option<String>,
    /// By machine.
    pub not_chosen: BTreeMap<String, String>,
    pub findings: Vec<String>,
    pub is_at_rest: bool,
}

pub(super) fn planned(fleet: &Fleet, name: &str, state: &State) -> Planned {
    let Ok(set) = name.parse::<Name>() else { return Planned::default() };
    let in_words = |step: &_| format!("{}, because {}", step_in_words(step), reason_in_words(step).1);
    match plan(&fleet.machines, &set, state, fleet.policy().replica_sets.rules) {
        None | Some(Plan::Later) => Planned::default(),
        Some(Plan::Begin(step)) => {
            Planned { steps: step.iter().map(|step| in_words(step)).collect(), ..Planned::default() }
        }
        Some(Plan::Desired(verdict)) => match *verdict {
            Err(refused) => Planned {
                held: Some(refused.why.to_string()),
                not_chosen: refused.machine_status.iter().map(|(who, note)| (who.to_string(), noted(note))).collect(),
                ..Planned::default()
            },
            Ok(desired) => Planned {
                steps: desired.steps.iter().map(in_words).collect(),
                held: desired.held.map(|held| held.to_string()),
                not_chosen: desired.not_chosen.iter().map(|(who, why)| (who.to_string(), not_chosen(why))).collect(),
                findings: desired.findings.iter().map(finding).collect(),
                is_at_rest: !desired.changed,
            },
        },
    }
}

fn not_chosen(why: &NotChosen) -> String {
    match why {
        NotChosen::NotReady => "its member has not caught up, or is unreachable".into(),
        NotChosen::Joins => "it joins first, and votes once it has caught up".into(),
        NotChosen::WouldBeEven => "its vote would make the number of voters even".into(),
        NotChosen::VotersFull { max } => format!("there are already {max} voters"),
        NotChosen::MembersFull { max } => format!("there are already {max} members"),
        NotChosen::LearnersFull { max } => format!("the engine allows at most {}", count(*max, "learner")),
        NotChosen::Address { fault } => bad_address(*fault).into(),
        NotChosen::AddressTaken => "another member has its address".into(),
    }
}

fn finding(finding: &Finding) -> String {
    match finding {
        Finding::Orphan { member, .. } => format!("member {member} has no machine"),
        Finding::SecondOfMachine { machine, member, kept } => {
            format!("members {member} and {kept} are on the same machine {machine}")
        }
        Finding::BadAddress { machine, fault } => format!("machine {machine}: {}", bad_address(*fault)),
        Finding::AddressTaken { machine } => format!("another member has the address of machine {machine}"),
        Finding::NoAddress { member } => format!("member {member} has no address"),
        Finding::LastVoterStays { member } => format!("member {member} is the last voter and is kept"),
        Finding::EvenForNow { voters } => format!("{voters} voters until another one is ready"),
        Finding::SeveralPrimaries { members } => format!("{members} members claim to be primary"),
        Finding::IdUsedAgain { member } => format!("member id {member} was reused"),
    }
}

/// What stands in the way of a machine's address, in our words.
fn noted(note: &StatusNote) -> String {
    bad_address(match note {
        StatusNote::SeveralAddresses => AddressFault::SeveralUsable,
        StatusNote::NoneInSpace { .. } => AddressFault::NoneInSpace,
    })
    .into()
}

fn bad_address(fault: AddressFault) -> &'static str {
    match fault {
        AddressFault::NoneUsable => "its machine is not running, or has no reachable address",
        AddressFault::SeveralUsable => "several of its addresses are equally suitable; set spec.space to choose one",
        AddressFault::NoneInSpace => "its machine is not running, or has no address in the space of the set",
    }
}
