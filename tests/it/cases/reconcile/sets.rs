//! Machine sets: living ones, whose machines have come to where the case has them.
//!
//! A set is declared beside its machines, looks at them, and makes one pass: its orders, and how the machines answer them, are
//! what is compared. A removal is refused by a hold on the machine, a creation by somebody else's machine of that name.

mod differences;

use std::{collections::BTreeMap, sync::Arc};

use bailiwick::{
    actors::{
        contract::Stored,
        machine::{self, Spec as Template},
        machine_set::{Command, Event, Spec, pass},
        testing::name,
        vocab::{Life, Name},
    },
    view::{self, MachineSetRow},
};
use bailiwick_journal::{Entry, Outcome};
use serde_json::{Value, json};

pub(in crate::cases) use differences::{DIFFERENCES, ELSEWHERE};

use super::{
    given::{Given, Machine, Member, Set},
    living::Living,
    read,
};

/// What a set is called where the case has no name for it.
const SET: &str = "set-1";

/// Who holds machines in place, so that they cannot be removed.
const HELD: &str = "the case has removals refused";

/// A node with one set and its machines.
struct Room {
    living: Living,
    set: String,
    machines: Vec<Machine>,
    priorities: BTreeMap<Name, i32>,
}

/// What came of one pass.
#[derive(Default)]
struct Passed {
    /// Machines that were ordered, and those that came to be.
    tried: usize,
    made: usize,
    /// Those whose removal was accepted, in the order in which they were chosen.
    removed: Vec<String>,
    has_failed: bool,
}

impl Room {
    fn of(given: &Given) -> Result<Self, String> {
        let set = given.sets.first().map_or(SET, |set| &set.name).to_owned();
        let machines: Vec<Machine> = given.machines.iter().map(|member| member.machine(&set)).collect();
        let mut living = Living::under(given);
        let all: Vec<_> = machines.iter().map(|machine| (machine, None)).collect();
        living.enter(&all)?;
        // A priority that is no number is refused at apply, so that the machine has none of its own.
        let priority = |member: &Member| Some((name(&member.name), member.priority.as_deref()?.parse().ok()?));
        let priorities = given.machines.iter().filter_map(priority).collect();
        Ok(Self { living, set, machines, priorities })
    }

    /// It shall have so many machines.
    fn declare(&mut self, replicas: usize) -> Result<(), String> {
        let replicas = u32::try_from(replicas).map_err(|error| error.to_string())?;
        let template = Template { labels: Member::template_labels(), ..Template::with_provider(name("desk")) };
        let spec =
            Spec { replicas, template: Arc::new(template), priorities: self.priorities.clone(), deployment: None };
        self.living.desk.machine_set(&self.set, Command::Declare(spec));
        Ok(())
    }

    /// It looks at its machines and makes one pass, if there is something to do. From its `occupied`-th new machine on,
    /// somebody else has a machine of that name by then.
    fn pass(&mut self, occupied: Option<usize>) -> Passed {
        let begin = self.living.journal.entries().len();
        let own = format!("machine-set/{}", self.set);
        let mut has_begun = false;
        let desk = &mut self.living.desk;
        while desk.look() | desk.carry_out() {
            let entries = self.living.journal.entries().split_off(begin);
            let events =
                || entries.iter().filter(|entry| entry.header.stream.as_str() == own).flat_map(|entry| of_set(entry));
            if events().any(|event| matches!(event, Event::Pass(pass::Event::PassEnded { .. }))) {
                break;
            }
            let named = events().find_map(|event| if let Event::Named { names } = event { Some(names) } else { None });
            if let Some(names) = named.filter(|_| !std::mem::replace(&mut has_begun, true)) {
                let first = occupied.map_or(names.len(), |first| first - 1);
                for taken in names.iter().skip(first) {
                    desk.declare_machine(taken.as_str());
                }
            }
        }
        passed(&self.living.journal.entries()[begin..], &own)
    }

    /// What it tells about itself.
    fn row(&self) -> Result<MachineSetRow, String> {
        let fleet = view::Fleet::at_head(&self.living.journal).map_err(|error| error.to_string())?;
        let row = view::machine_sets(&fleet).into_iter().find(|row| row.name == self.set);
        row.ok_or_else(|| "there is no such set".to_owned())
    }

    fn hold_all(&mut self) {
        for machine in &self.machines {
            let hold = machine::Command::Hold { reason: HELD.to_owned(), until: None };
            self.living.desk.machine(&machine.name, hold);
        }
    }

    fn let_all_go(&mut self) {
        for machine in &self.machines {
            self.living.desk.machine(&machine.name, machine::Command::Unhold);
        }
    }

    /// What it rests for is over.
    fn rest(&mut self) {
        let stream = format!("machine-set/{}", self.set).parse().expect("a stream");
        let Some(due) = self.living.desk.machine_set_state(&self.set).and_then(|set| set.rests_until) else { return };
        self.living.desk.now = self.living.desk.now.max(due);
        self.living.desk.wake(&stream, due);
    }

    /// So many more machines were made for it, and are on their way out without getting there.
    fn has_more_that_do_not_go(&mut self, count: usize) -> Result<(), String> {
        let text = |number: usize| json!({"name": format!("earlier-{number}"), "phase": "Terminating"});
        let more: Vec<Member> = (0..count).filter_map(|number| serde_json::from_value(text(number)).ok()).collect();
        let more: Vec<Machine> = more.iter().map(|member| member.machine(&self.set)).collect();
        self.living.enter(&more.iter().map(|machine| (machine, None)).collect::<Vec<_>>())
    }
}

fn of_set(entry: &Entry) -> Vec<Event> {
    entry.events.iter().filter_map(|event| Event::load(event).ok()).collect()
}

/// What these entries say of a pass.
fn passed(entries: &[Arc<Entry>], own: &str) -> Passed {
    let mut passed = Passed::default();
    let mut chosen = Vec::new();
    for entry in entries {
        let is_ordered = entry.header.meta.principal == "supervisor/machine-sets";
        if entry.header.stream.as_str() == own {
            for event in of_set(entry) {
                match event {
                    Event::Pass(pass::Event::PassBegan(plan)) => {
                        chosen.extend(plan.stale);
                        chosen.extend(match plan.change {
                            bailiwick::actors::machine_set::Change::Remove(names) => names,
                            _ => Vec::new(),
                        });
                    }
                    Event::Pass(pass::Event::RemovalAccepted { name }) => passed.removed.push(name),
                    Event::Pass(pass::Event::PassEnded { has_failed }) => passed.has_failed |= has_failed,
                    _ => (),
                }
            }
        } else if entry.header.stream.kind() == "machine" && is_ordered && is_declaration(entry) {
            passed.tried += 1;
            passed.made += usize::from(entry.header.meta.outcome == Outcome::Done);
        }
    }
    let place = |name: &String| chosen.iter().position(|chosen| chosen == name);
    passed.removed.sort_by_key(place);
    passed
}

fn is_declaration(entry: &Entry) -> bool {
    machine::Command::load(&entry.command).is_ok_and(|command| matches!(command, machine::Command::Declare(_)))
}

/// It is made smaller by one machine after the other.
pub(super) fn rank(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut room = Room::of(&given)?;
    let mut order = Vec::new();
    for left in (0..given.machines.len()).rev() {
        room.declare(left)?;
        order.extend(room.pass(None).removed);
    }
    expect.same("order", json!(order))?;
    expect.done()
}

/// It is made smaller by so many at once. Whoever goes in one pass goes together.
pub(super) fn pick(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let count = given.params.count.ok_or("how many?")?;
    let mut room = Room::of(&given)?;
    room.declare(given.machines.len().saturating_sub(count))?;
    expect.same_set("deleted", json!(room.pass(None).removed))?;
    expect.done()
}

/// Who counts is not replaced by a set of one, and who was given up is told to go.
pub(super) fn active(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut room = Room::of(&given)?;
    room.declare(1)?;
    let row = room.row()?;
    expect.same("ready", row.ready_machines == 1)?;
    expect.same("available", row.available_machines == 1)?;
    let passed = room.pass(None);
    expect.same("active", passed.made == 0)?;
    expect.same("failed", !passed.removed.is_empty())?;
    expect.done()
}

/// A set without machines makes all of them.
pub(super) fn slow_start(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let params = &given.params;
    let mut room = Room::of(&given)?;
    room.declare(params.count.ok_or("how many?")?)?;
    let passed = room.pass(params.fail_from_call);
    expect.same("calls", passed.tried)?;
    expect.same("successes", passed.made)?;
    expect.error("error_present", passed.has_failed)?;
    expect.done()
}

fn the_set(given: &Given) -> Result<&Set, String> {
    match &given.sets[..] {
        [set] => Ok(set),
        _ => Err("it gives no single set".to_owned()),
    }
}

pub(super) fn replicas(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let set = the_set(&given)?;
    let mut room = Room::of(&given)?;
    if set.is_frozen() {
        room.has_more_that_do_not_go(2 * set.replicas + 50)?;
    }
    if given.params.delete_error.is_some() {
        room.hold_all();
    }
    room.declare(set.replicas)?;
    if set.deleted_age_s.is_some() {
        room.living.desk.machine_set(&room.set, Command::Remove);
    }
    let fails_from = given.params.create_error.as_ref().map(|_| given.params.create_error_from_call.unwrap_or(1));
    let passed = room.pass(fails_from);
    let frozen = room.living.desk.machine_set_state(&room.set).is_some_and(|state| state.frozen.is_some());
    if set.is_frozen() && !frozen {
        return Err("so many machines do not freeze it".to_owned());
    }
    expect.same("created", passed.made)?;
    expect.same("create_calls", passed.tried)?;
    expect.same_set("delete_requested", json!(passed.removed))?;
    if let Some(expected) = expect.take("phases_left") {
        for (machine, expected) in expected.as_object().ok_or("phases_left is no map")? {
            let phase = room.living.desk.machine_state(machine).map(|state| machine::phase(state).as_str());
            super::expect::differ(&format!("phases_left.{machine}"), expected, &json!(phase))?;
        }
    }
    expect.error("error_present", passed.has_failed)?;
    expect.error("error", passed.has_failed)?;
    expect.done()
}

/// A failure that stands is of an earlier pass, which the next one mends unless it fails as well.
pub(super) fn status(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let set = the_set(&given)?;
    let mut room = Room::of(&given)?;
    let counts =
        |machine: &Machine| room.living.desk.machine_state(&machine.name).is_some_and(|s| s.life == Life::Alive);
    let active = room.machines.iter().filter(|machine| counts(machine)).count();
    match set.replica_failure.as_deref() {
        None => (),
        Some("FailedCreate") => fails_with(&mut room, active + 1)?,
        Some("FailedDelete") => fails_with(&mut room, active.saturating_sub(1))?,
        Some(other) => return Err(format!("there is no reason {other:?}")),
    }
    room.rest();
    room.declare(set.replicas)?;
    if given.params.error.is_some() {
        fails_with(&mut room, set.replicas)?;
    } else if set.replica_failure.is_some() {
        room.pass(None);
    }
    let row = room.row()?;
    expect.same("replicas", row.machines)?;
    expect.same("fully_labeled", row.labelled_machines)?;
    expect.same("ready", row.ready_machines)?;
    expect.same("available", row.available_machines)?;
    expect.same_set("failed_machines", json!(row.failed_machines))?;
    let condition = |reason: &str| format!("ReplicaFailure=True:{reason}");
    expect.same_set("conditions", json!(row.failure.into_iter().map(condition).collect::<Vec<_>>()))?;
    expect.done()
}

/// It shall have so many machines, and all that this takes is refused.
fn fails_with(room: &mut Room, replicas: usize) -> Result<(), String> {
    room.hold_all();
    room.declare(replicas)?;
    let passed = room.pass(Some(1));
    room.let_all_go();
    if passed.has_failed { Ok(()) } else { Err("nothing of its pass is refused".to_owned()) }
}
