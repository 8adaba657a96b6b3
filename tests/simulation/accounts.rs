//! What an order cites is what it followed from: without it there would be no such order, and of what it does not cite
//! nothing matters.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    sync::Arc,
};

use bailiwick::{
    actors::{
        contract::{Code, Decider, Entity, Known, NoView, PolicyInForce, Stored, View},
        filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
        policy::{self, Document},
        replica_set,
        supervisor::{Order, Orders, machine_sets, machines, replica_sets, storage},
        vocab::Timestamp,
        volume, volume_attachment,
    },
    audit::{About, Source, why},
    simulation::{self, Options, Scenario, Simulation},
};
use bailiwick_journal::{Body, Cite, Entry, EntryKind, Filter, Journal, LocalJournal, Position, StreamId, Version};

use crate::{
    seeds::{bad_day, dark_day},
    trials::trials,
};

/// How many entries lie between two states that are kept to go on from.
const APART: u64 = 16;

/// Orders that rest on how many machines of a whole fleet stand where: those are counted, not cited. A machine is given up
/// while there is room in the budget, and sited where the fewest are; a deployment is told how many machines all its sets have.
const COUNTED: [&str; 3] = ["Machine GiveUp", "Machine Site", "MachineDeployment Observe"];

/// What was found over many journals.
#[derive(Debug, Default)]
pub struct Account {
    pub orders: usize,
    pub decisions: usize,
    pub taken_out: usize,
    pub bystanders: usize,
    /// By kind of order and what is wrong with it: how often, and the first of them.
    pub exceptions: BTreeMap<String, (usize, String)>,
}

impl Account {
    fn except(&mut self, what: &str, order: &Order, said: String) {
        let (times, _) = self.exceptions.entry(format!("{what}: {}", kind_of(order))).or_insert((0, said));
        *times += 1;
    }

    fn text(&self) -> String {
        let Self { orders, decisions, taken_out, bystanders, exceptions } = self;
        let mut text = format!(
            "{orders} orders, {decisions} decisions of entities, {taken_out} cited facts and {bystanders} others taken out\n"
        );
        for (what, (times, first)) in exceptions {
            writeln!(text, "{times:>5} {what}, first {first}").expect("a string takes everything");
        }
        text
    }
}

/// `Machine Report Lost`.
fn kind_of(order: &Order) -> String {
    let value = serde_json::to_value(order).unwrap_or_default();
    let target = value.as_object().and_then(|only| only.keys().next().cloned()).unwrap_or_default();
    let mut words = vec![target.clone()];
    let mut at = value.pointer(&format!("/{target}/command"));
    while let Some(value) = at {
        if let Some(text) = value.as_str() {
            words.push(text.to_owned());
        }
        let Some((word, inner)) = value.as_object().and_then(|only| only.iter().next()) else { break };
        words.push(word.clone());
        at = (word == "Report").then_some(inner);
    }
    words.join(" ")
}

/// The settings that an entry was decided under.
fn in_force(journal: &dyn Journal, entry: &Entry) -> Arc<PolicyInForce> {
    let Some(reference) = entry.header.meta.policy.clone() else {
        return Arc::new(PolicyInForce { reference: None, document: Document::default() });
    };
    let stream = StreamId::new(policy::State::KIND, &reference.name).expect("a stream");
    let mut entity = Entity::<policy::State>::new(stream.clone());
    for revised in journal.read_stream(&stream, Version(1)) {
        if entity.state().revision < reference.revision {
            entity.take_in(&revised.expect("readable")).expect("readable");
        }
    }
    let document = entity.state().document.clone();
    Arc::new(PolicyInForce { reference: Some(reference), document })
}

/// The entry that holds an event.
fn holding(journal: &dyn Journal, cite: &Cite) -> Option<Position> {
    let found = journal.read_stream(&cite.stream, cite.version).find_map(|entry| {
        let entry = entry.ok()?;
        (entry.header.events > 0 && entry.header.last_version() >= cite.version).then_some(entry)
    });
    found.map(|entry| entry.header.position)
}

/// A supervisor as an entry found it.
#[derive(Clone)]
struct Seat<S: Decider> {
    entity: Entity<S>,
    view: S::View,
}

/// The order that an event issues, and what it rests on.
type IssuedBy<S> = fn(&<S as Decider>::Event) -> Option<(&Order, &[Cite])>;

/// A supervisor whose orders are looked at.
struct Supervisor<'a, S: Decider> {
    stream: StreamId,
    issued: IssuedBy<S>,
    entries: &'a [Arc<Entry>],
    /// As of the beginning and each [`APART`]th entry.
    seats: Vec<Seat<S>>,
    journal: &'a dyn Journal,
}

/// An entry as if nothing had come of it: the events of one decision happen together or not at all.
fn without_events(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    entry.events.clear();
    entry.header.events = 0;
    entry
}

/// What a supervisor's step was told of the world, taken out of it: what it decides then follows from what was known before.
fn told_nothing<C: Stored + 'static>(command: &C) -> Option<C> {
    let command: &dyn std::any::Any = command;
    let emptied: Box<dyn std::any::Any> = match (command.downcast_ref(), command.downcast_ref()) {
        (Some(machines::Command::Observe { provider, as_of, .. }), _) => {
            Box::new(machines::Command::Observe { provider: provider.clone(), as_of: *as_of, changes: Vec::new() })
        }
        (_, Some(storage::Command::Observe { .. })) => Box::new(storage::Command::Observe { changes: Vec::new() }),
        (_, Some(storage::Command::ObserveVolumes { .. })) => {
            Box::new(storage::Command::ObserveVolumes { changes: Vec::new() })
        }
        _ => return None,
    };
    emptied.downcast().ok().map(|command| *command)
}

impl<'a, S: Decider + Clone> Supervisor<'a, S>
where
    S::Command: 'static,
{
    fn new(journal: &'a dyn Journal, entries: &'a [Arc<Entry>], name: &str, issued: IssuedBy<S>) -> Self {
        let stream = StreamId::new("supervisor", name).expect("a stream");
        let seats = vec![Seat { entity: Entity::new(stream.clone()), view: S::View::default() }];
        let mut this = Self { stream, issued, entries, seats, journal };
        let mut seat = this.seats[0].clone();
        for entry in entries {
            this.see(&mut seat, entry, true, true);
            if entry.header.position.0.is_multiple_of(APART) {
                this.seats.push(seat.clone());
            }
        }
        this
    }

    fn see(&self, seat: &mut Seat<S>, entry: &Entry, own: bool, view: bool) {
        if own && entry.header.stream == self.stream {
            seat.entity.take_in(entry).expect("readable");
        }
        if view && S::View::wants(entry.header.stream.kind()) {
            seat.view.apply(entry).expect("readable");
        }
    }

    /// What it orders in an entry, if one event had not happened.
    fn orders(&self, entry: &Entry, gone: Option<&Cite>) -> Vec<Order> {
        let header = &entry.header;
        let view_at = header.meta.view.unwrap_or(header.position);
        let event = gone.and_then(|cite| holding(self.journal, cite));
        // A state that has not seen what is taken out, and stands before where the view stood.
        let is_session = self.entries.iter().any(|other| event == Some(other.header.position) && self.begins(other));
        let known = match event {
            Some(_) if is_session => Position::ZERO,
            Some(position) => Position(position.0 - 1).min(view_at),
            None => view_at,
        };
        let from = usize::try_from(known.0 / APART).expect("few").min(self.seats.len() - 1);
        let mut seat = self.seats[from].clone();
        let first = from * usize::try_from(APART).expect("few");
        for other in &self.entries[first..] {
            let position = other.header.position;
            if position >= header.position {
                break;
            }
            let in_view = position <= view_at;
            match gone {
                _ if event == Some(position) || (is_session && self.begins(other)) => {
                    self.see(&mut seat, &without_events(other), true, in_view)
                }
                _ => self.see(&mut seat, other, true, in_view),
            }
        }
        let known = Known {
            now: Timestamp(header.meta.time_ms),
            policy: in_force(self.journal, entry),
            view: &seat.view,
            view_at: Some(view_at),
            journal: self.journal.id(),
        };
        let mut command = S::Command::load(&entry.command).expect("readable");
        if event == Some(header.position) {
            command = told_nothing(&command).unwrap_or(command);
        }
        let Ok(decision) = seat.entity.decide(&command, &known) else { return Vec::new() };
        decision.events.iter().filter_map(|event| (self.issued)(event)).map(|(order, _)| order.clone()).collect()
    }

    /// Whether an entry says that a session began. One of several is enough for what follows, so they go together.
    fn begins(&self, entry: &Entry) -> bool {
        entry.header.stream == self.stream && entry.header.meta.code == storage::Reason::SessionBegins.code()
    }

    fn account(&self, account: &mut Account) {
        for entry in self.entries.iter().filter(|entry| entry.header.stream == self.stream) {
            for (at, event) in entry.versioned_events() {
                let event = S::Event::load(event).expect("readable");
                if let Some((order, cites)) = (self.issued)(&event) {
                    self.account_for(entry, at, order, cites, account);
                }
            }
        }
    }

    fn account_for(&self, entry: &Entry, at: Version, order: &Order, cites: &[Cite], account: &mut Account) {
        account.orders += 1;
        let place = |what: &str| {
            format!("entry {} of journal {}: {what} ({order:?})", entry.header.position, self.journal.id())
        };
        if cites.is_empty() {
            account.except("cites nothing", order, place(""));
        }
        for cite in cites {
            account.taken_out += 1;
            if self.orders(entry, Some(cite)).contains(order) {
                account.except(
                    "follows without what it cites",
                    order,
                    place(&format!("{cite} of entry {:?}", holding(self.journal, cite))),
                );
            }
        }
        let Some(bystander) = self.bystander(entry, at, order, cites) else { return };
        account.bystanders += 1;
        let is_counted = COUNTED.contains(&kind_of(order).as_str());
        if !is_counted && !self.orders(entry, Some(&bystander)).contains(order) {
            account.except("does not follow without what it does not cite", order, place(&bystander.to_string()));
        }
    }

    /// The newest event that the view had seen, of an entity that is neither cited nor behind what is cited.
    fn bystander(&self, entry: &Entry, at: Version, order: &Order, cites: &[Cite]) -> Option<Cite> {
        let id = Orders::command_id(&self.stream, at);
        let answer = self.entries.iter().find(|entry| entry.header.meta.command_id == id)?;
        let why = why::why_up_to(self.journal, &About::Entry(answer.header.position), Position(u64::MAX), 10_000);
        let why = why.expect("readable").expect("it is there");
        let mut behind: BTreeSet<String> = why.steps.iter().map(|step| step.line.stream.clone()).collect();
        behind.extend(cites.iter().map(|cite| cite.stream.to_string()));
        behind.insert(order.target().to_string());
        behind.insert(self.stream.to_string());
        let view_at = entry.header.meta.view?;
        let seen =
            self.entries.iter().rev().filter(|other| other.header.position <= view_at && other.header.events > 0);
        let mut others = seen.filter(|other| {
            let stream = &other.header.stream;
            S::View::wants(stream.kind()) && stream.kind() != "policy" && !behind.contains(stream.as_str())
        });
        others.next().map(|other| Cite::new(other.header.stream.clone(), other.header.last_version()))
    }
}

/// What an entity decides in an entry, if another entry of its own had come to nothing.
fn redecided<D: Decider<View = NoView>>(
    journal: &dyn Journal,
    entry: &Entry,
    gone: Option<Position>,
) -> (String, Vec<Body>) {
    let stream = &entry.header.stream;
    let mut entity = Entity::<D>::new(stream.clone());
    for other in journal.read_stream(stream, Version(1)) {
        let other = other.expect("readable");
        if other.header.position >= entry.header.position {
            break;
        }
        let is_gone = gone == Some(other.header.position);
        let taken = if is_gone { entity.take_in(&without_events(&other)) } else { entity.take_in(&other) };
        taken.expect("readable");
    }
    let meta = &entry.header.meta;
    let now = Timestamp(meta.time_ms);
    let known = Known { now, policy: in_force(journal, entry), view: &NoView, view_at: None, journal: journal.id() };
    match entity.decide(&D::Command::load(&entry.command).expect("readable"), &known) {
        Ok(decision) => {
            let events = decision.events.iter().map(|event| event.store().expect("small")).collect();
            (decision.reason.code().to_owned(), events)
        }
        Err(rejection) => (rejection.code().to_owned(), Vec::new()),
    }
}

/// What the order rests on that an entry answers, if it answers one.
pub fn ordered_by(entries: &[Arc<Entry>], answer: &Entry) -> Vec<Cite> {
    let meta = &answer.header.meta;
    let Some(by) = meta.cause.and_then(|cause| entries.get(usize::try_from(cause.0).ok()? - 1)) else {
        return Vec::new();
    };
    let supervisor = &by.header.stream;
    let mut events = by.versioned_events();
    let issued = events.find(|(at, _)| Orders::command_id(supervisor, *at) == meta.command_id);
    let Some((_, event)) = issued else { return Vec::new() };
    let cites = match supervisor.name() {
        machines::View::NAME => {
            machines::Event::load(event).map(|event| of_machines(&event).map(|(_, cites)| cites.to_vec()))
        }
        storage::View::NAME => {
            storage::Event::load(event).map(|event| of_storage(&event).map(|(_, cites)| cites.to_vec()))
        }
        machine_sets::View::NAME => {
            machine_sets::Event::load(event).map(|event| of_sets(&event).map(|(_, cites)| cites.to_vec()))
        }
        _ => replica_sets::Event::load(event).map(|event| of_replicas(&event).map(|(_, cites)| cites.to_vec())),
    };
    cites.expect("readable").unwrap_or_default()
}

fn of_machines(event: &machines::Event) -> Option<(&Order, &[Cite])> {
    match event {
        machines::Event::Issued { order, cites } => Some((order, cites)),
        _ => None,
    }
}

fn of_storage(event: &storage::Event) -> Option<(&Order, &[Cite])> {
    match event {
        storage::Event::Issued { order, cites } => Some((order, cites)),
        _ => None,
    }
}

fn of_sets(event: &machine_sets::Event) -> Option<(&Order, &[Cite])> {
    let machine_sets::Event::Issued { order, cites } = event;
    Some((order, cites))
}

fn of_replicas(event: &replica_sets::Event) -> Option<(&Order, &[Cite])> {
    let replica_sets::Event::Issued { order, cites } = event;
    Some((order, cites))
}

/// Looks at all decisions of one kind of entity.
fn account_of<D: Decider<View = NoView>>(journal: &dyn Journal, entries: &[Arc<Entry>], account: &mut Account) {
    let is_own = |entry: &&Arc<Entry>| entry.header.stream.kind() == D::KIND && entry.header.events > 0;
    for entry in entries.iter().filter(is_own).filter(|entry| entry.header.meta.kind == EntryKind::Decision) {
        let header = &entry.header;
        account.decisions += 1;
        let known = redecided::<D>(journal, entry, None);
        assert_eq!(known.1, entry.events, "entry {} decides the same again", header.position);
        // What was ordered rests on that for the supervisor, and is accounted for there.
        let ordered = ordered_by(entries, entry);
        let own = header.meta.cites.iter().filter(|cite| cite.stream == header.stream && !ordered.contains(cite));
        let cited: BTreeSet<Position> = own.filter_map(|cite| holding(journal, cite)).collect();
        for position in &cited {
            account.taken_out += 1;
            if redecided::<D>(journal, entry, Some(*position)) == known {
                let what = format!("is decided without what it cites: {} {}", D::KIND, header.meta.code);
                let told = |entry: &Entry| {
                    let events = entry.events.iter().map(|event| D::Event::load(event).expect("readable"));
                    format!("{:.400}", format!("{:?}", events.collect::<Vec<_>>()))
                };
                let other = &entries[usize::try_from(position.0).expect("few") - 1];
                let said = format!(
                    "entry {} of journal {} cites entry {position}: {} goes on from {}",
                    header.position,
                    journal.id(),
                    told(entry),
                    told(other)
                );
                account.exceptions.entry(what).or_insert((0, said)).0 += 1;
            }
        }
    }
}

/// Looks at all orders of a journal.
pub fn account(journal: &dyn Journal, account: &mut Account) {
    let all = journal.read(Position(1), journal.head().position, &Filter::all());
    let entries: Vec<Arc<Entry>> = all.collect::<Result<_, _>>().expect("readable");
    account_of::<machine::State>(journal, &entries, account);
    account_of::<volume::State>(journal, &entries, account);
    account_of::<volume_attachment::State>(journal, &entries, account);
    account_of::<filesystem::State>(journal, &entries, account);
    account_of::<filesystem_attachment::State>(journal, &entries, account);
    account_of::<machine_set::State>(journal, &entries, account);
    account_of::<machine_deployment::State>(journal, &entries, account);
    account_of::<machine_class::State>(journal, &entries, account);
    account_of::<replica_set::State>(journal, &entries, account);
    account_of::<member::State>(journal, &entries, account);
    Supervisor::<machines::State>::new(journal, &entries, machines::View::NAME, of_machines).account(account);
    Supervisor::<storage::State>::new(journal, &entries, storage::View::NAME, of_storage).account(account);
    Supervisor::<machine_sets::State>::new(journal, &entries, machine_sets::View::NAME, of_sets).account(account);
    Supervisor::<replica_sets::State>::new(journal, &entries, replica_sets::View::NAME, of_replicas).account(account);
}

/// Bad days, dark days, and what is told of in scripts and examples.
fn simulations(seeds: u64) -> Vec<Simulation> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let yaml = |folder: &str| {
        let files = fs::read_dir(root.join(folder)).expect("a folder").map(|entry| entry.expect("a file").path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
        files.sort();
        files
    };
    let scripts = yaml("tests/scripts").into_iter().map(|path| simulation::read(&path).expect("a scenario"));
    let told = scripts.map(|scenario| simulation::simulation(scenario, Options::default()));
    let mut all: Vec<Simulation> = told.collect();
    for name in ["etcd", "fleet", "gardener", "lab", "storage"] {
        let text = fs::read_to_string(root.join(format!("examples/{name}.yaml"))).expect("an example");
        all.push(Simulation::of(Scenario::of_manifest(&text).expect("an example can be applied")));
    }
    all.extend((0..seeds).map(bad_day));
    all.extend((0..seeds / 10).map(dark_day));
    all
}

#[test]
#[ignore = "takes long"]
fn what_is_decided_follows_from_what_it_cites_and_from_nothing_else() {
    let seeds = trials(8).seeds.end;
    let mut found = Account::default();
    for simulation in simulations(seeds) {
        let (_, kept) = simulation.run_and_keep().expect("it runs");
        let (journal, _) = LocalJournal::simulated(&kept.disk, kept.journal, 0).expect("it opens");
        account(&journal, &mut found);
    }
    println!("{}", found.text());
    assert!(found.exceptions.is_empty(), "{}", found.text());
}

/// Where an explanation may end.
const ENDS: [Source; 4] = [Source::Wish, Source::Observation, Source::DueTime, Source::Node];

#[test]
fn every_explanation_ends_at_a_wish_an_observation_a_due_time_or_the_node() {
    let (_, kept) = bad_day(3).run_and_keep().expect("it runs");
    let (journal, _) = LocalJournal::simulated(&kept.disk, kept.journal, 0).expect("it opens");
    let mut wrong = BTreeMap::new();
    for position in 1..=journal.head().position.0 {
        let about = About::Entry(Position(position));
        let why = why::why_up_to(&journal, &about, Position(u64::MAX), 10_000).expect("readable").expect("there");
        for step in why.steps.iter().filter(|step| step.causes.is_empty() && !ENDS.contains(&step.source)) {
            let what = format!("{:?} {} {}", step.source, step.line.stream, step.line.code);
            wrong.entry(what).or_insert(step.line.position);
        }
        assert!(why.further.is_empty() && why.steps.iter().all(|step| step.unfounded.is_empty()), "{why}");
        assert!(why.steps.iter().all(|step| step.source != Source::Wish || step.line.principal == "operator"), "{why}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
