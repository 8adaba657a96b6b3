//! Stored forms of providers.

use bailiwick_actors::provider::{self, Command, Event, Reason, Rejection};

use super::{AT, verdicts};
use crate::{Forms, forms};

pub(crate) fn provider() -> Forms {
    let (reason, until) = ("new disks".to_owned(), Some(AT));
    let hold = Command::Hold { reason: reason.clone(), until };
    let forever = Command::Hold { reason: reason.clone(), until: None };
    let mut all = forms("command", [hold, forever, Command::Unhold, Command::Wake { due: AT }]);
    all.extend(forms("event", [Event::Held { reason, until, at: AT }, Event::HoldEnded]));
    let rejections = vec![Rejection::BadHold, Rejection::HoldOver];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<provider::State>(Reason::ALL, rejections));
    all
}
