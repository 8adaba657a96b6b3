//! What stands beside the decision: metrics, and the stored form of a verdict.

use super::{
    metrics::{Gauge, gauges},
    *,
};

#[test]
fn members_without_a_machine_are_not_measured() {
    let orphan = Member { tags: Tags::default(), ..voter(3) };
    let statuses = [status(3, MemberState::Secondary), status(2, MemberState::Down), status(1, MemberState::Primary)];
    let seen = gauges(&[voter(2), voter(1), orphan, voter(4)], &statuses);
    let gauge = |number: u8, state| {
        let (id, address) = (number.to_string(), format!("10.0.0.{number}:7"));
        Gauge { id, address, state, healthy: true }
    };
    assert_eq!(seen, [gauge(1, MemberState::Primary), gauge(2, MemberState::Down)]);
}

#[test]
fn snapshots_and_verdicts_can_be_recorded() {
    for seed in 0..200 {
        let seen = dice::roll(seed);
        let bytes = bincode::serialize(&seen).expect("a stored form");
        assert_eq!(bincode::deserialize::<Snapshot>(&bytes).expect("the same"), seen);
        let verdict = decide(&seen, PeerRules::Default, &EngineRules::mongodb());
        let bytes = bincode::serialize(&verdict).expect("a stored form");
        assert_eq!(bincode::deserialize::<Verdict>(&bytes).expect("the same"), verdict);
    }
}
