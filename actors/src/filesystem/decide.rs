//! What should happen to a filesystem that is asked what only filesystems are.

use super::{Base, Event, OwnCommand, OwnEvent, Reason, State, Storage};
use crate::{
    contract::{self, Decision},
    storage::alive,
    vocab::Outlook,
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &OwnCommand, facts: &Facts<'_>) -> Verdict {
    match command {
        OwnCommand::Create(base) => create(state, base, facts),
    }
}

fn create(state: &State, base: &Base, facts: &Facts<'_>) -> Verdict {
    alive(state)?;
    match &state.storage {
        Storage::None => {
            let event = Event::CreateRequested { base: base.clone(), at: facts.now };
            Ok(Decision::because(Reason::NeedsMet, [event]))
        }
        Storage::Creating { base: then, effort }
            if then.backing != base.backing && effort.outlook != Outlook::Trying =>
        {
            let event = OwnEvent::BackingChanged { backing: base.backing.clone() };
            Ok(Decision::because(Reason::DeviceMoved, [Event::Own(event)]))
        }
        Storage::Creating { .. } | Storage::Provisioned { .. } | Storage::Destroying { .. } => {
            Ok(Decision::nothing(Reason::AlreadyBegun))
        }
    }
}
