//! In which order a machine goes through what the original's workers call states.

use bailiwick::actors::{
    machine::{Command, Instance, Removal, SiteChoice, State},
    ports::Operation,
    testing::{Answer, Asked},
    vocab::{FaultCode, Life, Outlook, Zone},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        lab::{Lab, fails},
        read,
    },
    policy, same,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceCase {
    #[serde(default)]
    given: SequenceGiven,
    max_retries: Option<u32>,
    events: Vec<String>,
    states: Vec<String>,
    starts: Option<usize>,
    stops: Option<usize>,
    removed: Option<bool>,
    status: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceGiven {
    instance: Option<String>,
    #[serde(default)]
    keep_instance: bool,
}

/// One machine, and the states it was seen in.
struct Sequence {
    lab: Lab,
    keeps: bool,
    states: Vec<&'static str>,
}

const MACHINE: &str = "1";

/// An instance is made, and runs.
const MADE: &[&str] = &["registering", "running"];

/// What the original calls a state of a machine; those that it goes through in one step of ours, in order.
fn words(state: &State) -> &'static [&'static str] {
    match (&state.life, &state.instance) {
        (Life::Undeclared, _) => &[],
        (Life::Removed, _) => &["removing", "complete"],
        (_, Instance::Deleting { .. }) => &["stopping"],
        (_, Instance::Running { .. }) => MADE,
        (Life::Dying, Instance::Creating(_)) => &["pending"],
        (_, Instance::Creating(effort)) => match (&effort.outlook, &state.site.choice) {
            (Outlook::GivenUp { .. }, _) => &["error"],
            (Outlook::Waiting { .. }, _) => &["pending"],
            (Outlook::Trying, SiteChoice::Awaited) => &["requesting zone"],
            (Outlook::Trying, _) => &["provisioning"],
        },
        (_, Instance::None | Instance::Lost { .. }) => &["pending"],
    }
}

pub(super) fn worker_sequence(case: &Value) -> Result<(), String> {
    let case: SequenceCase = read(case)?;
    let mut run = Sequence {
        lab: Lab::new(policy(case.max_retries.unwrap_or(3), 10)),
        keeps: case.given.keep_instance,
        states: Vec::new(),
    };
    if case.given.instance.is_some() {
        run.lab.declare(MACHINE, |_| ());
        run.lab.desk.settle();
        run.note();
    }
    for (number, event) in case.events.iter().enumerate() {
        run.tell(event, case.events.get(number + 1))?;
    }
    let counted = |asked: Operation| {
        let calls = run.lab.desk.provider.calls.iter();
        calls.filter(|call| call.asked == Asked::Operation(asked)).count()
    };
    let given = usize::from(case.given.instance.is_some());
    same("states", case.states, run.states.iter().map(|state| (*state).to_owned()).collect())?;
    let check = |what: &str, expected: Option<usize>, got: usize| same(what, expected.unwrap_or(got), got);
    check("starts", case.starts, counted(Operation::CreateMachine) - given)?;
    check("stops", case.stops, counted(Operation::DeleteMachine))?;
    let state = run.lab.state(MACHINE);
    let is_removed = state.life == Life::Removed;
    same("removed", case.removed.unwrap_or(is_removed), is_removed)?;
    let is_given_up = state.effort().is_some_and(|effort| matches!(effort.outlook, Outlook::GivenUp { .. }));
    let status = is_given_up.then(|| "provisioning error".to_owned());
    same("status", case.status.clone().or_else(|| status.clone()), status)
}

impl Sequence {
    fn tell(&mut self, event: &str, next: Option<&String>) -> Result<(), String> {
        let fails_next = next.is_some_and(|next| next == "start fails");
        match event.split_once(' ') {
            // The machine can be made in the zone that is to come, and in no other.
            Some(("life", "alive")) => self.lab.declare(MACHINE, |spec| {
                spec.constraints.zones = [Zone("zone-a".into())].into();
            }),
            Some(("life", "dying")) => {
                let volume = bailiwick::actors::testing::name("inside");
                self.lab.desk.machine(MACHINE, Command::ReserveAttachment { volume });
                self.lab.desk.machine(MACHINE, Command::Remove);
            }
            Some(("life", "dead")) => {
                let removal = Removal { keep_instance: self.keeps, ..Removal::default() };
                self.lab.desk.machine(MACHINE, Command::RemoveWith(removal));
            }
            Some(("zone", zone)) => {
                let zone = if zone == "failed" { "zone-b" } else { zone };
                self.lab.creates(MACHINE, fails_next.then_some(Answer::Late));
                self.lab.desk.provider.zones = [Zone(zone.to_owned())].into();
                self.lab.desk.list();
            }
            Some(("start", "fails")) => self.lab.creates(MACHINE, [fails(FaultCode::Internal, "no")]),
            None if event == "retry" => self.wake(),
            _ => return Err(format!("the runner does not know the event {event:?}")),
        }
        // A grant that is still to come is an event of its own.
        self.follow(next.is_none_or(|next| !next.starts_with("zone ")));
        Ok(())
    }

    fn wake(&mut self) {
        let until = self.lab.state(MACHINE).effort().and_then(|effort| effort.wakes_at(None));
        if let Some(until) = until {
            self.lab.desk.now = self.lab.desk.now.max(until);
            self.lab.desk.wake(&Lab::stream(MACHINE), until);
            self.note();
        }
    }

    /// What follows, step by step; what is due now follows, too.
    fn follow(&mut self, may_be_granted: bool) {
        self.note();
        loop {
            let any = may_be_granted && (self.lab.desk.look() | self.lab.desk.carry_out());
            let until = self.lab.state(MACHINE).effort().and_then(|effort| effort.wakes_at(None));
            if until.is_some_and(|until| until <= self.lab.desk.now) {
                self.wake();
                continue;
            }
            self.note();
            let done = self.lab.desk.perform();
            self.note();
            if !any && !done {
                return;
            }
        }
    }

    fn note(&mut self) {
        let words = words(&self.lab.state(MACHINE));
        // Who had an instance before was not seen to be made.
        let words = if self.states.is_empty() && words == MADE { &MADE[1..] } else { words };
        if words.last() != self.states.last().filter(|_| !words.is_empty()) {
            self.states.extend(words);
        }
    }
}
