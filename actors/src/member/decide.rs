//! What a picture means for a member's life.

use bailiwick_journal::Version;

use super::{Command, Event, Picture, Reason, Sighting, State};
use crate::{
    contract::{self, Decision},
    vocab::Life,
};

type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command) -> Verdict {
    match command {
        Command::Follow(picture) => follow(state, picture),
        Command::Forget { as_of } => forget(state, *as_of),
    }
}

/// Orders may overtake one another, so what is told carries what it is of.
fn is_older(state: &State, as_of: Version) -> bool {
    match state.life {
        Life::Undeclared => false,
        Life::Removed => as_of <= state.as_of,
        Life::Alive | Life::Dying | Life::Dead => as_of < state.as_of,
    }
}

fn follow(state: &State, picture: &Picture) -> Verdict {
    if is_older(state, picture.as_of) {
        return Ok(Decision::nothing(Reason::OlderThanKnown));
    }
    if !state.differs_from(picture) {
        return Ok(Decision::nothing(Reason::NothingNew));
    }
    let is_new = state.life != Life::Alive;
    let fresh = State::default();
    let before = if is_new { &fresh } else { state };
    let mut news: Vec<(Reason, Event)> = Vec::new();
    news.extend(seen(before.seen.as_ref(), picture.seen.as_ref()));
    match (before.task, picture.task) {
        (old, new) if old == new => (),
        (_, Some(task)) => news.push((Reason::StepUnderWay, Event::TaskBegan { task })),
        (_, None) => news.push((Reason::StepOver, Event::TaskEnded)),
    }
    if before.seat != picture.seat {
        news.push((Reason::SeatChanged, Event::Seated { seat: picture.seat.clone() }));
    }
    match (before.flagged, picture.flagged) {
        (false, true) => news.push((Reason::FlagChanged, Event::Flagged)),
        (true, false) => news.push((Reason::FlagChanged, Event::Unflagged)),
        (true, true) | (false, false) => (),
    }
    let first = news.first().map_or(Reason::NewlyDeclared, |(reason, _)| *reason);
    let reason = if is_new { Reason::NewlyDeclared } else { first };
    let declared = is_new.then_some(Event::Declared);
    let followed = Event::Followed { as_of: picture.as_of };
    let news = news.into_iter().map(|(_, event)| event);
    Ok(Decision::because(reason, declared.into_iter().chain([followed]).chain(news)))
}

/// What has changed in the configuration, what matters most first.
fn seen(before: Option<&Sighting>, now: Option<&Sighting>) -> Vec<(Reason, Event)> {
    let (old, new) = match (before, now) {
        (Some(old), Some(new)) if old.id == new.id => (old, new),
        // Under another id it is another member, though of the same machine: it has nothing of the old one's data.
        (old, new) => {
            let left = old.map(|old| (Reason::HasLeft, Event::Left { id: old.id }));
            let joined = new.map(|new| (Reason::HasJoined, Event::Joined { seen: new.clone() }));
            return left.into_iter().chain(joined).collect();
        }
    };
    let mut news = Vec::new();
    match (old.votes, new.votes) {
        (false, true) => news.push((Reason::HasVote, Event::Promoted)),
        (true, false) => news.push((Reason::HasLostVote, Event::Demoted)),
        (true, true) | (false, false) => (),
    }
    if old.address != new.address {
        news.push((Reason::SeenNew, Event::Moved { address: new.address.clone() }));
    }
    if (old.state, old.healthy) != (new.state, new.healthy) {
        news.push((Reason::SeenNew, Event::Said { state: new.state, healthy: new.healthy }));
    }
    news
}

fn forget(state: &State, as_of: Version) -> Verdict {
    if state.life != Life::Alive {
        return Ok(Decision::nothing(Reason::AlreadyGone));
    }
    if is_older(state, as_of) {
        return Ok(Decision::nothing(Reason::OlderThanKnown));
    }
    let followed = Event::Followed { as_of };
    Ok(Decision::because(Reason::NoPlace, [followed, Event::Removed]))
}
