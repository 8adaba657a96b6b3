//! How events change a member.

use bailiwick_journal::Version;

use super::{Event, State};
use crate::vocab::Life;

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared => *state = State { life: Life::Alive, declared_at: at, ..State::default() },
        Event::Followed { as_of } => state.as_of = *as_of,
        Event::Seated { seat } => state.seat.clone_from(seat),
        Event::TaskBegan { task } => (state.task, state.because) = (Some(*task), Some(task.because)),
        Event::TaskEnded => state.task = None,
        Event::Joined { seen } => (state.seen, state.last_id) = (Some(seen.clone()), Some(seen.id)),
        Event::Moved { address } => {
            if let Some(seen) = &mut state.seen {
                seen.address.clone_from(address);
            }
        }
        Event::Promoted | Event::Demoted => {
            if let Some(seen) = &mut state.seen {
                seen.votes = *event == Event::Promoted;
            }
        }
        Event::Said { state: said, healthy } => {
            if let Some(seen) = &mut state.seen {
                (seen.state, seen.healthy) = (*said, *healthy);
            }
        }
        Event::Left { .. } => state.seen = None,
        Event::Flagged => state.flagged = true,
        Event::Unflagged => state.flagged = false,
        Event::Removed => {
            *state =
                State { life: Life::Removed, declared_at: state.declared_at, as_of: state.as_of, ..State::default() }
        }
    }
}
