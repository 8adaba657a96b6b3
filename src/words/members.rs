//! Members of replica sets in words.

use bailiwick_actors::{
    member::{Command, Event, Part, Picture, Sighting, State, Task},
    ports::replica_set::MemberState,
};

use super::Words;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Follow(picture) => format!("note that its set knows: {}", pictured(picture)),
            Command::Forget { .. } => "be forgotten".into(),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared => "its set has a place for it".into(),
            Event::Followed { as_of } => format!("its set is at version {as_of}"),
            Event::Seated { seat: Some(seat) } => format!("its server is to be reached at {seat}"),
            Event::Seated { seat: None } => "its set has no seat for it".into(),
            Event::TaskBegan { task } => tasked(*task),
            Event::TaskEnded => "the step that concerned it is over".into(),
            Event::Joined { seen } => format!("it is member {} at {}, {}", seen.id, seen.address, sighted(seen)),
            Event::Moved { address } => format!("it is reached at {address}"),
            Event::Promoted => "it votes".into(),
            Event::Demoted => "it votes no more".into(),
            Event::Said { state, healthy } => said(*state, *healthy),
            Event::Left { id } => format!("member {id} is in the configuration no more"),
            Event::Flagged => "it votes or may vote, so its machine is not to go".into(),
            Event::Unflagged => "it does not vote, for certain".into(),
            Event::Removed => "its set has no place for it any more".into(),
        }
    }
}

fn pictured(picture: &Picture) -> String {
    let seen = match &picture.seen {
        Some(seen) => format!("it is member {}, {}", seen.id, sighted(seen)),
        None => "it is no member".into(),
    };
    let task = picture.task.map(|task| format!("; {}", tasked(task))).unwrap_or_default();
    format!("{seen}{task}")
}

fn sighted(seen: &Sighting) -> String {
    let vote = if seen.votes { "with a vote" } else { "without a vote" };
    format!("{vote}, {}", said(seen.state, seen.healthy))
}

fn said(state: MemberState, healthy: bool) -> String {
    let health = if healthy { "well" } else { "not well" };
    format!("{} and {health}", state.name().to_ascii_lowercase())
}

fn tasked(task: Task) -> String {
    let part = match task.part {
        Part::Begin => "the set begins with it",
        Part::Join => "it is asked to join",
        Part::Move => "it moves to another address",
        Part::Promote => "it is given a vote",
        Part::Demote => "its vote is taken",
        Part::Level => "its votes and priority are put right",
        Part::Remove => "it is removed from the configuration",
        Part::StepDown => "it is asked to give way as primary",
        Part::TakeOver => "it is to follow the primary that gives way",
    };
    format!("{part}, because {}", task.because)
}
