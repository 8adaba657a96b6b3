//! Members of replica sets in words.

use bailiwick_actors::{
    member::{Command, Event, Part, Picture, Sighting, State, Task},
    ports::replica_set::MemberState,
};

use super::Words;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Follow(picture) => format!("update from its set: {}", pictured(picture)),
            Command::Forget { .. } => "forget it".into(),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared => "added to its replica set".into(),
            Event::Followed { as_of } => format!("follows its set as of version {as_of}"),
            Event::Seated { seat: Some(seat) } => format!("server address is {seat}"),
            Event::Seated { seat: None } => "has no seat in its set".into(),
            Event::TaskBegan { task } => tasked(*task),
            Event::TaskEnded => "step ended".into(),
            Event::Joined { seen } => format!("joined as member {} at {}, {}", seen.id, seen.address, sighted(seen)),
            Event::Moved { address } => format!("moved to {address}"),
            Event::Promoted => "became a voter".into(),
            Event::Demoted => "lost its vote".into(),
            Event::Said { state, healthy } => said(*state, *healthy),
            Event::Left { id } => format!("member {id} left the configuration"),
            Event::Flagged => "may vote: its machine must stay".into(),
            Event::Unflagged => "does not vote: its machine may go".into(),
            Event::Removed => "removed from its replica set".into(),
        }
    }
}

fn pictured(picture: &Picture) -> String {
    let seen = match &picture.seen {
        Some(seen) => format!("member {}, {}", seen.id, sighted(seen)),
        None => "not a member".into(),
    };
    let task = picture.task.map(|task| format!("; {}", tasked(task))).unwrap_or_default();
    format!("{seen}{task}")
}

fn sighted(seen: &Sighting) -> String {
    let vote = if seen.votes { "voting" } else { "not voting" };
    format!("{vote}, {}", said(seen.state, seen.healthy))
}

fn said(state: MemberState, healthy: bool) -> String {
    let health = if healthy { "healthy" } else { "unhealthy" };
    format!("{}, {health}", state.name().to_ascii_lowercase())
}

fn tasked(task: Task) -> String {
    let part = match task.part {
        Part::Begin => "starting the set with it",
        Part::Join => "joining",
        Part::Move => "moving to another address",
        Part::Promote => "promoting to voter",
        Part::Demote => "demoting from voter",
        Part::Level => "correcting its votes and priority",
        Part::Remove => "removing from the configuration",
        Part::StepDown => "stepping down as primary",
        Part::TakeOver => "taking over as primary",
    };
    format!("{part}, because {}", task.because)
}
