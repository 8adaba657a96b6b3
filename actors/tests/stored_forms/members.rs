//! Stored forms of members.

use bailiwick_actors::{
    contract::Recorded,
    member::{Command, Event, Part, Picture, Reason, Sighting, Task},
    ports::replica_set::{MemberId, MemberState, StepReason},
};
use bailiwick_journal::Version;

use crate::{Forms, form, forms};

fn sighting() -> Sighting {
    Sighting {
        id: MemberId(3),
        address: "10.0.0.1:7".into(),
        votes: true,
        state: MemberState::Secondary,
        healthy: true,
    }
}

/// Every part of a step, so that none can change its place unnoticed.
fn tasks() -> impl Iterator<Item = Task> {
    let parts = [
        Part::Begin,
        Part::Join,
        Part::Move,
        Part::Promote,
        Part::Demote,
        Part::Level,
        Part::Remove,
        Part::StepDown,
        Part::TakeOver,
    ];
    parts.into_iter().map(|part| Task { part, because: StepReason::ReadyToVote })
}

fn picture(task: Option<Task>) -> Picture {
    Picture { as_of: Version(9), seat: Some("10.0.0.1:7".into()), seen: Some(sighting()), task, flagged: true }
}

pub(crate) fn member() -> Forms {
    let follow = |task| Command::Follow(picture(task));
    let mut commands: Vec<Command> = tasks().map(|task| follow(Some(task))).collect();
    commands.push(follow(None));
    commands.push(forget());
    let mut all = forms("command", commands);
    let mut events = vec![
        Event::Declared,
        Event::Followed { as_of: Version(9) },
        Event::Seated { seat: Some("10.0.0.1:7".into()) },
        Event::Seated { seat: None },
        Event::TaskEnded,
        Event::Joined { seen: sighting() },
        Event::Moved { address: "10.0.0.2:7".into() },
        Event::Promoted,
        Event::Demoted,
        Event::Said { state: MemberState::Down, healthy: false },
        Event::Left { id: MemberId(3) },
        Event::Flagged,
        Event::Unflagged,
        Event::Removed,
    ];
    events.extend(tasks().map(|task| Event::TaskBegan { task }));
    all.extend(forms("event", events));
    for (number, reason) in Reason::ALL.iter().enumerate() {
        all.push(form(format!("reason.{number}"), &Recorded::<bailiwick_actors::member::State>::Decided(*reason)));
    }
    all
}

pub(super) fn forget() -> Command {
    Command::Forget { as_of: Version(9) }
}
