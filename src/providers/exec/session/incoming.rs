//! What a process says.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_actors::{
    ports::Progress,
    vocab::{EffectId, Fault},
};
use tokio::time::Instant;
use tracing::{debug, warn};

use super::{A_SECOND, PROGRESS_LETTERS_MAX, Session, Stage};
use crate::{
    providers::exec::{
        trouble::Trouble,
        wire::{Hello, Line, ToldProgress, VERSION},
    },
    text::{cut, harmless},
};

impl Session<'_> {
    pub(super) fn take(&mut self, line: &[u8]) {
        self.heard = Instant::now();
        let mut found = BTreeSet::new();
        let read = Line::read(line, self.known, &mut found);
        self.warn_of(found);
        match read {
            Ok(Line::Answer { id, result }) if id == self.hello_id && self.hello.is_none() => self.greeted(result),
            Ok(Line::Answer { id, result }) => {
                let over = |ids: &[EffectId]| {
                    let mut progress = self.shared.all_progress();
                    ids.iter().for_each(|id| drop(progress.remove(id)));
                };
                match self.calls.answer(id, result, over) {
                    Ok(()) => self.send_ready(),
                    Err(trouble) => self.give_up(trouble),
                }
            }
            Ok(Line::Progress(told)) => self.note(told),
            Err(bad) => self.give_up(Trouble::BadLine(bad, line.len())),
        }
    }

    /// Says once whose secrets its answers hold: what was blotted out may be missed.
    fn warn_of(&mut self, found: BTreeSet<Arc<str>>) {
        for of in found {
            if self.told_on.insert(of.clone()) {
                warn!(provider = %self.config.name, "its answers contain a secret, {of}; it is removed from them");
            }
        }
    }

    fn greeted(&mut self, result: Result<serde_json::Value, Fault>) {
        let hello: Hello = match result.map(serde_json::from_value) {
            Ok(Ok(hello)) => hello,
            Ok(Err(_)) => return self.give_up(Trouble::BadHello("its first answer has an unknown format".into())),
            Err(fault) => return self.give_up(Trouble::BadHello(fault.to_string())),
        };
        if hello.version != VERSION {
            let text = format!("it speaks version {}, this node speaks {VERSION}", hello.version);
            return self.give_up(Trouble::BadHello(text));
        }
        debug!(provider = %self.config.name, says = %harmless(&hello.provider), "provider greeted");
        for asked in self.asked_for_hello.drain(..) {
            let _ = asked.send(Ok(hello.clone()));
        }
        self.shared.set_can_release(hello.release);
        self.calls.set_hello(hello.clone());
        self.hello = Some(hello);
        if self.stage == Stage::Greeting {
            self.stage = Stage::Serving;
            self.send_ready();
        }
    }

    fn note(&mut self, told: ToldProgress) {
        let (since, count) = self.notes;
        self.notes = if since.elapsed() < A_SECOND { (since, count + 1) } else { (Instant::now(), 1) };
        if self.config.limits.notes_per_second_max < self.notes.1 {
            return self.give_up(Trouble::Flood(self.config.limits.notes_per_second_max));
        }
        let is_wanted = self.hello.as_ref().is_some_and(|hello| hello.progress);
        if is_wanted && self.calls.is_about(told.id, told.effect) {
            let text = cut(&harmless(&told.text), PROGRESS_LETTERS_MAX).into_owned();
            let percent = told.percent.map(|percent| percent.min(100));
            self.shared.all_progress().insert(told.effect, Progress { id: told.effect, text, percent });
        }
    }
}
