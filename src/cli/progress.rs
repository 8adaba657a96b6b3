//! Progress: bars on a terminal, plain lines in a pipe; always on the standard error.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, Write},
};

use bailiwick_actors::{machine::Instance, vocab::InstanceId};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    text::harmless,
    view::{Fleet, Standing, standings},
};

/// How one entity is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Now {
    status: &'static str,
    ready: bool,
    /// What runs for a machine.
    instance: Option<InstanceId>,
}

/// Shows how entities come along.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    known: BTreeMap<String, Now>,
    /// The last instance that was seen of each machine.
    instances: BTreeMap<String, InstanceId>,
}

impl Progress {
    /// Bars if the standard error is a terminal, else lines.
    pub(super) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{spinner} [{bar:30}] {pos}/{len} {wide_msg}");
            bar.set_style(style.expect("the template is checked by a test").progress_chars("=> "));
            bar
        });
        Self { bar, known: BTreeMap::new(), instances: BTreeMap::new() }
    }

    /// Notes which instances run before anything is done, without a word.
    pub(super) fn begin(&mut self, fleet: &Fleet) {
        let running = entities(fleet).into_iter().filter_map(|(entity, now)| Some((entity, now.instance?)));
        self.instances = running.collect();
    }

    /// Takes the present state in, and says what is new.
    pub(super) fn update(&mut self, fleet: &Fleet) {
        let now = entities(fleet);
        let ready = now.values().filter(|now| now.ready).count();
        for (entity, state) in &now {
            if self.known.get(entity) != Some(state) {
                self.say(&format!("{entity} is {}", state.status));
            }
            let Some(instance) = &state.instance else { continue };
            if let Some(before) = self.instances.insert(entity.clone(), instance.clone()).filter(|it| it != instance) {
                self.say(&format!("{entity} was replaced: instance {before} by {instance}"));
            }
        }
        for entity in self.known.keys().filter(|entity| !now.contains_key(*entity)) {
            self.say(&format!("{entity} removed"));
        }
        if let Some(bar) = &self.bar {
            bar.set_length(now.len() as u64);
            bar.set_position(ready as u64);
            let open: Vec<String> = now
                .iter()
                .filter(|(_, now)| !now.ready)
                .map(|(entity, now)| format!("{entity} {}", now.status))
                .collect();
            bar.set_message(harmless(&open.join(", ")).into_owned());
            bar.tick();
        }
        self.known = now;
    }

    /// One line, above the bar if there is one.
    pub(super) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(harmless(line)),
            None => say(line),
        }
    }

    /// The bar is done with; lines from here on.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// How far something with a known number of steps is: a bar on a terminal, nothing in a pipe.
#[derive(Debug)]
pub(super) struct Steps(Option<ProgressBar>);

impl Steps {
    /// Shows nothing until it is told how many steps there are.
    pub(super) fn of(what: &'static str) -> Self {
        Self(std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}, {eta} left");
            bar.set_style(style.expect("the template is checked by a test").progress_chars("=> "));
            bar.with_message(what)
        }))
    }

    pub(super) fn show(&self, done: u64, of: u64) {
        if let Some(bar) = self.0.as_ref().filter(|_| of > 0) {
            bar.set_length(of);
            bar.set_position(done);
        }
    }

    pub(super) fn end(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

/// One line on the standard error, where there is no bar.
pub(super) fn say(line: &str) {
    // Nobody is left to tell if the standard error is closed, and nobody reads it in a unit test.
    if !cfg!(test) {
        drop(writeln!(anstream::stderr().lock(), "{}", harmless(line)));
    }
}

fn entities(fleet: &Fleet) -> BTreeMap<String, Now> {
    let instance_of = |entity: &str| {
        let machine = fleet.machines.get(entity.strip_prefix("machine/")?)?;
        match &machine.instance {
            Instance::Running { instance, .. } => Some(instance.instance.clone()),
            _ => None,
        }
    };
    let now =
        |Standing { entity, status, ready }| (entity.clone(), Now { status, ready, instance: instance_of(&entity) });
    standings(fleet).map(now).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_of_the_bar_can_be_read() {
        for template in ["{spinner} [{bar:30}] {pos}/{len} {wide_msg}", "{msg} [{bar:30}] {pos}/{len}, {eta} left"] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
