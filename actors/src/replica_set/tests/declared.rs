//! What is declared in other forms, and what is published.

use super::*;
use crate::{
    replica_set::{Endpoint, Endpoints},
    vocab::{Address, Scope},
};

fn endpoints(internal: Option<&str>) -> Endpoints {
    let addresses = ["10.0.0.1:8".to_owned()].into();
    let endpoint = Endpoint { addresses, internal: internal.map(str::to_owned) };
    Endpoints { servers: [("m1".parse().expect("a name"), endpoint)].into() }
}

fn address(value: &str, space: Option<&str>) -> Address {
    Address { value: value.into(), scope: Scope::LocalCloud, space: space.map(Into::into), port: None }
}

pub(super) fn table() -> Vec<Case<State>> {
    use Reason as R;
    let published = |endpoints| [declared(), vec![Event::Published { endpoints }]].concat();
    let mut nowhere = spec(3);
    nowhere.seats[1].addresses.clear();
    let mut twice = spec(3);
    twice.seats[1].addresses.push(address("127.0.0.1", None));
    twice.seats[1].peer_port = twice.seats[0].peer_port;
    let invalid = |field: &str, problem: &str| Err(Rejection::Invalid { field: field.into(), problem: problem.into() });
    vec![
        case([], Command::Declare(spec(3)), Ok((R::NewlyDeclared, vec![Event::Declared { spec: spec(3) }]))),
        case([], Command::Declare(nowhere), invalid("spec.seats[1].addresses", "a seat needs an address")),
        case([], Command::Declare(twice), invalid("spec.seats[1]", "127.0.0.1:7001 is another seat's address")),
        case(
            declared(),
            Command::Publish(endpoints(Some("10.0.0.1:7"))),
            Ok((R::EndpointsDiffer, vec![Event::Published { endpoints: endpoints(Some("10.0.0.1:7")) }])),
        ),
        case(
            published(endpoints(Some("10.0.0.1:7"))),
            Command::Publish(endpoints(None)),
            Ok((R::EndpointsKnown, vec![])),
        ),
        case([], Command::Publish(endpoints(None)), Err(Rejection::NotDeclared)),
    ]
    .into_iter()
    .chain(numbers_of_servers())
    .collect()
}

/// A declaration against what was asked for since the last one.
fn numbers_of_servers() -> Vec<Case<State>> {
    use Reason as R;
    let changed = |spec| Event::SpecChanged { spec };
    let asked = || [declared(), vec![Event::ServersWanted { servers: 5 }]].concat();
    let said_too = || [asked(), vec![changed(spec(5))]].concat();
    let three_vote = [member(1, true), member(2, true), member(3, true)];
    let voting = [declared(), vec![Event::Seen { observation: seen(1, &three_vote) }]].concat();
    let fewer = EnableHaError::FewerThanVoters { asked: 1, voters: 3 };
    let mut elsewhere = spec(3);
    elsewhere.seats[4].client_port = 9_000;
    let mut elsewhere_of_five = elsewhere.clone();
    elsewhere_of_five.servers = 5;
    vec![
        case(asked(), Command::Declare(spec(3)), Ok((R::AskedNumberStays, vec![]))),
        case(asked(), Command::Declare(elsewhere), Ok((R::SpecDiffers, vec![changed(elsewhere_of_five)]))),
        case(asked(), Command::Declare(spec(1)), Ok((R::SpecDiffers, vec![changed(spec(1))]))),
        // Who says the number that was asked for means it: from then on a lower one is meant too.
        case(asked(), Command::Declare(spec(5)), Ok((R::SpecDiffers, vec![changed(spec(5))]))),
        case(said_too(), Command::Declare(spec(5)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(said_too(), Command::Declare(spec(3)), Ok((R::SpecDiffers, vec![changed(spec(3))]))),
        // Lowered within the limits of enable-ha.
        case(voting, Command::Declare(spec(1)), Err(Rejection::Servers { problem: fewer })),
    ]
}

#[test]
fn the_space_of_the_set_says_where_a_seat_is_reached() {
    let ha = "ha".parse().expect("a name");
    let addresses = vec![address("10.0.0.1", None), address("10.9.0.1", Some("ha")), address("127.0.0.1", Some("ha"))];
    let seat = Seat { addresses, ..seat(1) };
    assert_eq!(seat.peer(Some(&ha), false), Ok("10.9.0.1:7001".into()));
    assert_eq!(seat.client(Some(&ha), false), Some("10.9.0.1:8001".into()));
    assert_eq!(seat.client(None, false), Some("10.0.0.1:8001".into()), "whoever asks takes the first of the best");
    assert!(seat.peer(None, false).is_err(), "members are not reached at one of several by chance");
}
