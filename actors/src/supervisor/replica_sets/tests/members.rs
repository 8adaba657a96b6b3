//! What members and machines hear of their sets.

use super::*;
use crate::member::{Part, Picture, Sighting, Task};

impl Seen {
    /// The members hear what there is to hear.
    fn told(mut self) -> Self {
        for order in self.look_after("replica-set/db") {
            let (Order::Member { command, .. }, stream) = (&order, order.target()) else { continue };
            let version = self.0.version(&stream);
            let state = self.0.view.members.get(stream.name()).cloned().unwrap_or_default();
            let policy = Document::default();
            let facts = Facts {
                stream: &stream,
                next: version.next(),
                now: Timestamp(9),
                policy: &policy,
                view: &crate::contract::NoView,
                journal: JOURNAL,
            };
            let events = state.decide(command, &facts).expect("it refuses nothing").events;
            self = self.then(stream.as_str(), events);
        }
        self
    }
}

fn commands(orders: &[Order]) -> Vec<(String, &crate::member::Command)> {
    let mut commands = Vec::new();
    for order in orders {
        if let Order::Member { command, .. } = order {
            commands.push((order.target().to_string(), command));
        }
    }
    commands
}

fn picture(command: &crate::member::Command) -> &Picture {
    match command {
        crate::member::Command::Follow(picture) => picture,
        other => panic!("{other:?}"),
    }
}

/// The machines that are told, in short: `+m1` to stay, `-m1` that they may go.
fn engagements(orders: &[Order]) -> Vec<String> {
    let short = |order: &Order| match order {
        Order::Machine { machine, command: machine::Command::Engage { .. } } => Some(format!("+{machine}")),
        Order::Machine { machine, command: machine::Command::Disengage { .. } } => Some(format!("-{machine}")),
        _ => None,
    };
    orders.iter().filter_map(short).collect()
}

fn steps(orders: &[Order]) -> usize {
    let is_step =
        |order: &&Order| matches!(order, Order::ReplicaSet { command: replica_set::Command::TakeStep { .. }, .. });
    orders.iter().filter(is_step).count()
}

#[test]
fn everybody_with_a_seat_or_a_place_hears_of_it_once() {
    let seen = with(3, &[member(1, true), member(2, false)], &[2]);
    let orders = seen.look_after("replica-set/db");
    let heard = commands(&orders);
    assert_eq!(
        heard.iter().map(|(stream, _)| stream.as_str()).collect::<Vec<_>>(),
        ["member/db:m1", "member/db:m2", "member/db:m3"]
    );
    let first = picture(heard[0].1);
    assert_eq!(first.as_of, Version(2));
    assert_eq!(first.seen, Some(Sighting::of(&member(1, true), observation(&[member(1, true)], &[]).statuses.first())));
    assert_eq!(picture(heard[1].1).seen.as_ref().map(|seen| (seen.votes, seen.healthy)), Some((false, false)));
    assert_eq!((&picture(heard[2].1).seat, &picture(heard[2].1).seen), (&Some("10.0.0.3:7".into()), &None));
    let told = seen.told();
    assert_eq!(commands(&told.look_after("replica-set/db")), [], "and not again");
    assert_eq!(told.0.view.members.get("db:m2").map(|member| member.status()), Some("learner"));
}

#[test]
fn a_member_hears_of_the_step_that_concerns_it() {
    let step = Step { action: write(Change::Promote { member: MemberId(2) }), because: StepReason::ReadyToVote };
    let begun = replica_set::Event::StepBegun { step, base: Stamp::default(), at: Timestamp(1) };
    let stepping = with(3, &[member(1, true), member(2, false)], &[]).told().then("replica-set/db", [begun]);
    let orders = stepping.look_after("replica-set/db");
    let heard = commands(&orders);
    assert_eq!(heard.len(), 1, "and nobody else: {heard:?}");
    assert_eq!(picture(heard[0].1).task, Some(Task { part: Part::Promote, because: StepReason::ReadyToVote }));
    assert!(picture(heard[0].1).flagged, "it may vote from now on");
    // While it is read back nobody knows what has become of it.
    let looking = stepping.told().then("replica-set/db", [replica_set::Event::StepDone]);
    assert_eq!(commands(&looking.look_after("replica-set/db")), []);
}

#[test]
fn members_of_a_set_that_is_not_looked_after_are_forgotten_and_then_the_set_is() {
    let removed =
        with(3, &[member(1, true)], &[]).engaged(&["m1"]).told().then("replica-set/db", [replica_set::Event::Removed]);
    let orders = removed.look_after("replica-set/db");
    assert!(commands(&orders).iter().all(|(_, command)| matches!(command, crate::member::Command::Forget { .. })));
    assert_eq!(commands(&orders).len(), 3);
    assert_eq!(engagements(&orders), ["-m1"], "its machine may go");
    let over = removed.told();
    assert_eq!((over.0.view.sets.get("db"), over.0.view.members.iter().count()), (None, 0));
}

#[test]
fn a_machine_is_engaged_before_it_gets_a_member() {
    let alone = with(3, &[member(1, true)], &[]).engaged(&["m1"]).told();
    let orders = alone.look_after("replica-set/db");
    assert_eq!((engagements(&orders), steps(&orders)), (vec!["+m2".to_owned()], 0), "the step waits for the machine");
    let orders = alone.engaged(&["m2"]).look_after("machine/m2");
    assert_eq!((engagements(&orders), steps(&orders)), (vec![], 1));
    let first = [replica_set::Event::Declared { spec: spec(1) }, replica_set::Event::SeenNotBegun];
    let unbegun = Seen::default().machine("m1").then("replica-set/db", first);
    let orders = unbegun.look_after("replica-set/db");
    assert_eq!((engagements(&orders), steps(&orders)), (vec!["+m1".to_owned()], 0));
}

#[test]
fn a_dying_machine_is_let_go_when_its_vote_is_gone_for_certain() {
    let all = [member(1, true), member(2, true), member(3, true)];
    let going = with(3, &all, &[])
        .engaged(&["m1", "m2", "m3"])
        .told()
        .then("machine/m3", [machine::Event::RemovalBegan { at: Timestamp(8) }]);
    assert_eq!(engagements(&going.look_after("machine/m3")), Vec::<String>::new(), "it votes");
    let mut doubtful = observation(&all[..2], &[]);
    doubtful.configuration.committed = false;
    let seen = |observation| [replica_set::Event::Seen { observation }];
    let doubtful = going.then("replica-set/db", seen(doubtful));
    assert_eq!(engagements(&doubtful.look_after("replica-set/db")), Vec::<String>::new(), "it may vote all the same");
    let mut demoted = observation(&[member(1, true), member(2, true), member(3, false)], &[]);
    demoted.configuration.committed = false;
    let demoted = doubtful.then("replica-set/db", seen(demoted.clone())).then("replica-set/db", {
        demoted.configuration.committed = true;
        seen(demoted)
    });
    assert_eq!(engagements(&demoted.look_after("replica-set/db")), ["-m3"]);
}

#[test]
fn where_servers_are_is_said_once_and_again_only_if_it_differs() {
    let published = |orders: &[Order]| {
        let publish = |order: &Order| match order {
            Order::ReplicaSet { command: replica_set::Command::Publish(endpoints), .. } => Some(endpoints.clone()),
            _ => None,
        };
        orders.iter().find_map(publish)
    };
    let seen = with(3, &[member(1, true), member(2, false)], &[]);
    let endpoints = published(&seen.look_after("replica-set/db")).expect("nobody was told");
    let first = &endpoints.servers[&name("m1")];
    assert_eq!(
        (first.addresses.first().map(String::as_str), first.internal.as_deref()),
        (Some("10.0.0.1:8"), Some("10.0.0.1:7"))
    );
    assert_eq!(endpoints.servers.len(), 2, "who is no member serves nobody");
    let said = seen.then("replica-set/db", [replica_set::Event::Published { endpoints: endpoints.clone() }]);
    assert_eq!(published(&said.look_after("replica-set/db")), None);
    let promoted = observation(&[member(2, true), member(1, true)], &[]);
    let again = said.then("replica-set/db", [replica_set::Event::Seen { observation: promoted }]);
    assert_eq!(published(&again.look_after("replica-set/db")), None, "a vote and the order are no difference");
    let fewer = observation(&[member(1, true)], &[]);
    let fewer = again.then("replica-set/db", [replica_set::Event::Seen { observation: fewer }]);
    assert_eq!(published(&fewer.look_after("replica-set/db")).map(|endpoints| endpoints.servers.len()), Some(1));
}
