//! Every scenario of what others shipped fails when its guard is taken out: so it is the guard that makes it pass.

use std::panic::catch_unwind;

use bailiwick_actors::{testing::take_out, vocab::Guard};

use crate::scenarios;

fn fails_without(guard: Guard, scenario: fn()) {
    let out = take_out(guard);
    let outcome = catch_unwind(scenario);
    drop(out);
    assert!(outcome.is_err(), "nothing fails without {guard:?}");
}

#[test]
fn without_the_step_down_a_leader_that_goes_breaks_it() {
    fails_without(Guard::PrimaryStepsDownFirst, scenarios::the_machine_of_the_primary_is_removed);
}

#[test]
fn without_an_even_number_on_the_way_the_last_two_are_stuck() {
    fails_without(Guard::EvenOnTheWay, scenarios::of_two_machines_the_primarys_goes);
}

#[test]
fn without_the_committed_configuration_flags_go_down_too_early() {
    fails_without(Guard::FlagsFollowTheCommitted, scenarios::a_dying_member_stays_flagged_until_its_vote_is_gone);
}

#[test]
fn without_what_it_was_planned_on_a_step_overwrites_what_another_did() {
    fails_without(Guard::PlannedOnWhatIsThere, scenarios::somebody_else_edits_the_set_at_the_same_time);
}

#[test]
fn without_one_at_a_time_several_voters_move_at_once() {
    fails_without(Guard::OneAddressAtATime, scenarios::a_voter_is_reached_at_another_address);
}

#[test]
fn without_a_look_after_a_step_down_the_old_view_goes_on() {
    fails_without(Guard::LookAfterStepDown, scenarios::after_a_step_down_everything_is_looked_at_again);
}

#[test]
fn without_its_privilege_the_leader_is_left_out() {
    let scenario = scenarios::with_an_even_number_of_machines_another_one_than_the_leader_has_no_vote;
    fails_without(Guard::LeaderIsNotLeftOut, scenario);
}

#[test]
fn without_isolation_a_stranger_stops_everything() {
    fails_without(Guard::OrphansStopNothing, scenarios::a_voting_stranger_is_removed_and_stops_nothing);
}

#[test]
fn without_rejoining_lost_data_is_lost_for_good() {
    fails_without(Guard::LostDataJoinsAnew, scenarios::a_member_that_lost_its_data_joins_anew_under_another_id);
}

#[test]
fn without_engagement_a_machine_goes_under_a_voter() {
    fails_without(Guard::MachinesWaitForTheirSets, scenarios::a_machine_goes_when_its_set_does_without_it);
}
