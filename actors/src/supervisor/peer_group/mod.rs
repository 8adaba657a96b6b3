//! Replica sets: who shall be a member, who shall vote, and by which steps.
//!
//! [`decide`] is a pure function of a [`Snapshot`], the [`PeerRules`] of the policy and the [`EngineRules`]; all three are
//! data, so a decision can be recorded, explained and made again. Under the rules `default` the verdict holds a *target* and *steps* towards it,
//! each legal on its own. The caller takes the first, reads the configuration back, and asks again.
//!
//! ```text
//! snapshot ─▶ roll (who stands for whom) ─▶ addresses, hosts (who is reached where) ─▶ votes ─▶ target ─▶ plan ─▶ steps
//! ```
//!
//! Under the rules named after Juju the answer is the original's, weaknesses included: see [`PeerRules`].
//!
//! What `default` guards, where the guard stands, and which test fails without it (`tests/guards.rs`, `tests/reached.rs`):
//!
//! | guard | where | test |
//! |---|---|---|
//! | the resting number of voters is odd | `votes::choose` | `the_number_of_voters_is_odd` |
//! | at most as many voters as the engine takes | `votes::keep_to_the_limit`, `lawful::may_become` | `no_more_voters_than_the_engine_takes`, `at_the_limit_votes_are_taken_before_others_are_given` |
//! | never nobody votes | `votes::last_voter` | `the_last_voter_stays` |
//! | at most as many members as the engine takes | `desired::put_together` | `no_more_members_than_the_engine_takes` |
//! | nobody votes before it is ready | `votes::entrants` | `nobody_votes_before_it_is_ready` |
//! | the primary is not the one left out | `votes::leave_one_out` | `the_primary_is_not_the_one_left_out` |
//! | the sick are left out before the healthy | `votes::leave_one_out` | `the_sick_are_left_out_first` |
//! | no step without a healthy majority before it | `lawful::may_become`, `lawful::has_healthy_majority` | `no_step_without_a_healthy_majority_before` |
//! | no step without a healthy majority after it | `lawful::may_become` | `no_step_without_a_healthy_majority_after` |
//! | no step while the primary is unknown, sick, or more than one | `draft::primary` | `no_step_without_one_healthy_primary` |
//! | the primary loses its vote only after it stepped down | `plan::take_votes` | `the_primary_steps_down_before_it_loses_its_vote` |
//! | no step down without somebody to follow | `plan::step_down` | `no_step_down_without_a_successor` |
//! | a step down asks only the one it means | `verdict::is_still_meant` | `a_step_down_is_not_sent_to_another` |
//! | as many votes change in one step as the engine takes | `plan::write_votes` | `one_vote_changes_at_a_time` |
//! | votes are given before any is taken | `plan::next` | `votes_are_given_before_any_is_taken` |
//! | voters that are to go lose their vote before the primary steps down | `plan::next` | `others_go_before_the_primary_steps_down` |
//! | an orphan is demoted, removed, and stops nothing | `roll`, `desired::stays` | `an_orphan_stops_nothing` |
//! | of two members of one machine one goes | `roll` | `the_second_member_of_a_machine_goes` |
//! | no member without an address | `desired::newcomers`, `desired::desired` | `no_member_without_an_address` |
//! | no two members at one address | `hosts` | `no_two_members_at_one_address` |
//! | who gets an address follows from who shall vote | `desired::claims` | `who_gets_an_address_follows_from_who_shall_vote` |
//! | of two at one address the one that goes for it goes first | `draft::shares_with_one_that_goes` | `whoever_goes_for_its_address_goes_first` |
//! | nobody steps down while two share an address | `plan::step_down` | `nobody_steps_down_while_two_share_an_address` |
//! | second members go before the one that stands for their machine | `draft::may_go` | `second_members_go_first` |
//! | an address that means nothing elsewhere is refused | `replica_set::addresses::choose` | `loopback_is_no_address` |
//! | an address changes hands in two steps | `plan::without_votes`, `lawful::may_become` | `an_address_changes_hands_in_two_steps` |
//! | a circle of addresses is left as it is | `hosts::in_circles` | `a_circle_of_addresses_is_left_alone` |
//! | ids stay within the engine's range | `desired::Ids` | `ids_stay_in_range` |
//! | two members with one id: nothing is decided | `desired::twice` | `a_member_that_is_there_twice_is_refused` |
//! | votes and priorities no server takes are put right first | `lawful`, `plan::without_votes` | `votes_out_of_range_are_put_right_first` |
//! | what is not understood is carried along | `desired::member_of` | `unknown_fields_and_priorities_are_carried_along` |
//! | a voter of etcd is removed, never demoted | `plan::take_votes` | `a_voter_of_etcd_is_removed` |
//! | etcd waits for the missing voter | `votes::choose` | `etcd_waits_for_the_missing_voter` |
//! | nobody joins while the engine would refuse it for a sick voter | `plan::without_votes` | `replica_sets/tests.rs`: `nobody_joins_etcd_while_a_voter_is_sick` |
//! | flags cover every voter, whatever a write's outcome | `replica_set::flags` | `flags_are_lowered_only_by_what_was_read_back` |
//!
//! Source: Juju's peer grouper; MongoDB's and etcd's rules for reconfiguration.

mod snapshot;

mod verdict;

mod roll;

mod hosts;
mod votes;

mod desired;
mod juju;

mod lawful;

mod draft;
mod plan;

pub mod metrics;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use crate::{policy::PeerRules, ports::replica_set::EngineRules, replica_set::addresses};
pub use snapshot::{
    Address, MACHINE_TAG, Machine, MachineId, Member, MemberId, MemberState, MemberStatus, Priority, Scope, Snapshot,
    Tags,
};
pub use verdict::{
    Action, Change, Desired, Finding, Held, NotChosen, Refusal, Refused, StatusNote, Step, StepReason, Verdict,
};

/// What a replica set shall become, and by which steps.
///
/// The rules of the engine bind `default` only: Juju knew one engine, and does not answer for one whose voters cannot lose
/// their vote and stay.
///
/// # Errors
/// If there is no target; the refusal says why, and what the machines' status should say nevertheless.
///
/// ```
/// use bailiwick_actors::{supervisor::peer_group::*, vocab::Life};
///
/// let address = Address { value: "10.0.0.1".into(), scope: Scope::LocalCloud, space: None, port: None };
/// let machine = |id: &str, value: &str| Machine {
///     id: id.into(),
///     wants_vote: true,
///     life: Life::Alive,
///     addresses: vec![Address { value: value.into(), ..address.clone() }],
/// };
/// let member = Member {
///     id: MemberId(1),
///     address: "10.0.0.1:37017".into(),
///     tags: [(MACHINE_TAG.into(), "0".into())].into(),
///     votes: None,
///     priority: None,
///     other: Default::default(),
/// };
/// let primary = MemberStatus { id: MemberId(1), healthy: true, state: MemberState::Primary, lag_ms: None };
/// let snapshot = Snapshot {
///     machines: vec![machine("0", "10.0.0.1"), machine("1", "10.0.0.2")],
///     members: vec![member],
///     statuses: vec![primary],
///     port: 37017,
///     space: None,
///     one_host: false,
/// };
/// let desired = decide(&snapshot, PeerRules::Default, &EngineRules::mongodb()).expect("a target");
/// assert_eq!(desired.members.len(), 2);
/// assert_eq!(desired.voting, [("0".into(), true), ("1".into(), false)].into());
/// assert_eq!(desired.steps.len(), 1, "the second joins, and gets its vote when it is ready and a third one is there");
/// ```
pub fn decide(snapshot: &Snapshot, by: PeerRules, rules: &EngineRules) -> Verdict {
    match by {
        PeerRules::Default => desired::desired(snapshot, rules),
        PeerRules::Juju2019 | PeerRules::Juju29 | PeerRules::Juju3 if !rules.can_demote => {
            Err(Refused { why: Refusal::OtherEngine { rules: by }, machine_status: BTreeMap::new() })
        }
        PeerRules::Juju2019 | PeerRules::Juju29 | PeerRules::Juju3 => juju::desired(snapshot, by),
    }
}
