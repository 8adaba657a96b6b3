//! What stands beside the decision: publication, metrics, and the stored form of a verdict.

use super::{
    metrics::{Gauge, gauges},
    publication::{Details, Ports, Server, details, publication},
    *,
};

const PORTS: Ports = Ports { api: 17070, controller_api: 0 };

#[test]
fn details_name_usable_addresses_and_where_members_are() {
    let mut first = machine(1);
    first.addresses.extend([address("fd00::1"), address("127.0.0.1")]);
    let nowhere = Machine { addresses: vec![address("::1")], ..machine(3) };
    let said = details(&[machine(2), first, nowhere], &[voter(1)], PORTS);
    let server = |addresses: &[&str], internal: Option<&str>| Server {
        addresses: addresses.iter().map(|text| (*text).to_owned()).collect(),
        internal: internal.map(str::to_owned),
    };
    let expected = [
        ("1".into(), server(&["10.0.0.1:17070", "[fd00::1]:17070"], Some("10.0.0.1:17070"))),
        ("2".into(), server(&["10.0.0.2:17070"], None)),
    ];
    assert_eq!(said, Details { servers: expected.into() });
    let other = details(&[machine(1)], &[voter(1)], Ports { controller_api: 17071, ..PORTS });
    assert_eq!(other.servers[&"1".into()].internal.as_deref(), Some("10.0.0.1:17071"));
}

#[test]
fn only_a_real_difference_is_published() {
    let mut first = machine(1);
    first.addresses.push(address("10.0.0.11"));
    let said = details(&[first.clone(), machine(2)], &[voter(1), voter(2)], PORTS);
    first.addresses.reverse();
    let turned = details(&[machine(2), first], &[voter(2), voter(1)], PORTS);
    assert_eq!(publication(Some(&said), turned), None);
    let moved = details(&[machine(1), machine(2)], &[voter(1), voter(2)], PORTS);
    assert_eq!(publication(Some(&said), moved.clone()), Some(moved));
}

#[test]
fn a_known_internal_address_is_never_replaced_by_none() {
    let said = details(&[machine(1), machine(2)], &[voter(1), voter(2)], PORTS);
    let blind = details(&[machine(1), machine(2)], &[], PORTS);
    assert_eq!(publication(Some(&said), blind), None);
    let fewer = publication(Some(&said), details(&[machine(1)], &[], PORTS)).expect("one server less");
    assert_eq!(fewer.servers[&"1".into()].internal.as_deref(), Some("10.0.0.1:17070"));
}

#[test]
fn members_without_a_machine_are_not_measured() {
    let orphan = Member { tags: BTreeMap::new(), ..voter(3) };
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
        let verdict = decide(&seen, Policy::Default, &EngineRules::mongodb());
        let bytes = bincode::serialize(&verdict).expect("a stored form");
        assert_eq!(bincode::deserialize::<Verdict>(&bytes).expect("the same"), verdict);
    }
}
