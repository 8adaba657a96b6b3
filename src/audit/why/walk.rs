//! From one entry to all that it rests on, step by step.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use bailiwick_journal::{Body, Entry, Journal, Position, ReadError, StreamId, Version};

use super::{
    About, Step,
    cited::{Causes, Found, causes, read_one, source},
    sides::{Led, Told},
};
use crate::words::Line;

/// The entry that is asked about, and which of its events; none if there was none by then.
pub(super) fn start(journal: &dyn Journal, about: &About, at: Position) -> Result<Option<Start>, ReadError> {
    match about {
        About::Entry(position) if *position > at => Ok(None),
        About::Entry(position) => Ok(read_one(journal, *position).map(|entry| Start { entry, events: None })),
        About::Entity { entity, side: Some(side) } => {
            let is_asked = |entry: &Entry| {
                let events = entry.versioned_events().filter(|(_, event)| side.has(&entry.header.stream, event));
                events.map(|(version, _)| version).collect()
            };
            last(journal, entity, at, is_asked)
        }
        About::Entity { entity, side: None } => last_that_matters(journal, entity, at),
    }
}

/// Where a walk begins.
#[derive(Debug)]
pub(super) struct Start {
    pub entry: Arc<Entry>,
    /// None: all that happened in it.
    pub events: Option<BTreeSet<Version>>,
}

/// The last entry that mattered: not what goes on all the time. If there is none, the last that changed something, or the
/// last at all.
fn last_that_matters(journal: &dyn Journal, entity: &StreamId, at: Position) -> Result<Option<Start>, ReadError> {
    let mut newer = Newer::default();
    for entry in journal.read_stream_back(entity) {
        let entry = entry?;
        if entry.header.position > at {
            continue;
        }
        if let Some(start) = newer.before(entry) {
            return Ok(Some(start));
        }
    }
    if let Some(start) = newer.attached {
        return Ok(Some(start));
    }
    let mut latest = None;
    for entry in journal.read_stream_back(entity) {
        let entry = entry?;
        if entry.header.position > at {
            continue;
        }
        if entry.header.events > 0 {
            return Ok(Some(Start { entry, events: None }));
        }
        latest = latest.or(Some(entry));
    }
    Ok(latest.map(|entry| Start { entry, events: None }))
}

/// What is known of an entity's last entries while the one that mattered is looked for among those before them.
#[derive(Debug, Default)]
struct Newer {
    /// It became well again.
    recovery: Option<Start>,
    /// Its agent has reported since: what it said before is over.
    has_reported: bool,
    /// It was found attached, perhaps as it had been before.
    attached: Option<Start>,
    /// Since when a replica set is led and fares as it does now, as far as its entries were read.
    led: Option<(Led, Start)>,
}

impl Newer {
    /// Where the walk begins, once the entry before shows it.
    fn before(&mut self, entry: Arc<Entry>) -> Option<Start> {
        let stream = &entry.header.stream;
        let that_are = |told: Told| -> BTreeSet<Version> {
            let events = entry.versioned_events().filter(|(_, event)| Told::of(stream, event) == told);
            events.map(|(version, _)| version).collect()
        };
        let (recovered, mattered) = (that_are(Told::Recovery), that_are(Told::Matter));
        let (ailed, checked, attached) = (that_are(Told::Ailment), that_are(Told::Check), that_are(Told::Attached));
        let (unwell, well) = (that_are(Told::Unwell), that_are(Told::Well));
        let had_reported = self.has_reported;
        self.has_reported |= !unwell.is_empty() || !well.is_empty();
        if !had_reported && !unwell.is_empty() {
            let all = [mattered, ailed, unwell].into_iter().flatten().collect();
            return Some(Start { entry, events: Some(all) });
        }
        if let Some(changed) = self.led_otherwise(&entry, !mattered.is_empty()) {
            return Some(changed);
        }
        if self.recovery.is_none() && !recovered.is_empty() {
            self.recovery = Some(Start { entry: entry.clone(), events: Some(recovered) });
        }
        if let Some(known) = &self.attached {
            if mattered.is_empty() && (!checked.is_empty() || attached.is_empty()) {
                return None;
            }
            if attached.is_empty() || bodies(known) != bodies_at(&entry, &attached) {
                return self.attached.take();
            }
        }
        if mattered.is_empty() && !attached.is_empty() {
            self.attached = Some(Start { entry, events: Some(attached) });
            return None;
        }
        let all: BTreeSet<Version> = [mattered, ailed.clone(), checked, attached].into_iter().flatten().collect();
        let start = (!all.is_empty()).then_some(Start { entry, events: Some(all) })?;
        // What was said of a trouble that is over would be wrong now.
        Some(if ailed.is_empty() { start } else { self.recovery.take().unwrap_or(start) })
    }
}

impl Newer {
    /// The report of an engine since which a replica set has its leader, or its trouble, if the entry before it shows
    /// another.
    fn led_otherwise(&mut self, entry: &Arc<Entry>, mattered: bool) -> Option<Start> {
        let events =
            entry.versioned_events().filter_map(|(at, event)| Some((at, Led::by(&entry.header.stream, event)?)));
        let here = events.last();
        if let Some((now, _)) = &self.led {
            let is_as_before = |(_, before): &(Version, Led)| {
                before.primary == now.primary && (!now.is_in_trouble() || before.unhealthy == now.unhealthy)
            };
            if here.as_ref().map_or(mattered && now.is_in_trouble(), |here| !is_as_before(here)) {
                return self.led.take().map(|(_, since)| since);
            }
        }
        if let Some((at, led)) = here {
            let now = self.led.take().map_or(led, |(now, _)| now);
            self.led = Some((now, Start { entry: entry.clone(), events: Some([at].into()) }));
        }
        None
    }
}

fn bodies(start: &Start) -> Vec<Body> {
    start.events.as_ref().map(|events| bodies_at(&start.entry, events)).unwrap_or_default()
}

fn bodies_at(entry: &Entry, events: &BTreeSet<Version>) -> Vec<Body> {
    let meant = entry.versioned_events().filter(|(version, _)| events.contains(version));
    meant.map(|(_, event)| event.clone()).collect()
}

/// The last entry of a stream of which something is asked.
fn last(
    journal: &dyn Journal,
    entity: &StreamId,
    at: Position,
    asked: impl Fn(&Entry) -> BTreeSet<Version>,
) -> Result<Option<Start>, ReadError> {
    for entry in journal.read_stream_back(entity) {
        let entry = entry?;
        if entry.header.position > at {
            continue;
        }
        let events = asked(&entry);
        if !events.is_empty() {
            return Ok(Some(Start { entry, events: Some(events) }));
        }
    }
    Ok(None)
}

/// One entry that was reached.
#[derive(Debug)]
struct Reached {
    entry: Arc<Entry>,
    /// The events that something rests on; none: all of it.
    events: Option<BTreeSet<Version>>,
    causes: Vec<Position>,
    ordered_by: Option<Position>,
    unfounded: Vec<String>,
}

impl Reached {
    /// Whether more of it is meant than before.
    fn named(&mut self, event: Option<Version>) -> bool {
        match (&mut self.events, event) {
            (Some(events), Some(event)) => events.insert(event),
            (events @ Some(_), None) => {
                *events = None;
                true
            }
            (None, _) => false,
        }
    }
}

/// All that an entry rests on, the nearest first until there are `steps_max`, told as a tree; and what is named beyond.
pub(super) fn walk(journal: &dyn Journal, start: Start, steps_max: usize) -> Result<(Vec<Step>, Vec<u64>), ReadError> {
    let first = start.entry.header.position;
    let mut reached: BTreeMap<Position, Reached> = BTreeMap::new();
    let mut further = BTreeSet::new();
    let mut queue = VecDeque::from([first]);
    reached.insert(first, new(start.entry, start.events));
    while let Some(position) = queue.pop_front() {
        let Causes { found, unfounded, ordered_by } = of(journal, &reached[&position])?;
        let mut named = Vec::new();
        for Found { entry, event } in found {
            let cause = entry.header.position;
            if !named.contains(&cause) {
                named.push(cause);
            }
            if let Some(known) = reached.get_mut(&cause) {
                // What else is meant of a supervisor's step may rest on something else.
                if known.named(event) && known.entry.header.stream.kind() == "supervisor" {
                    queue.push_back(cause);
                }
            } else if reached.len() < steps_max {
                reached.insert(cause, new(entry, event.map(|event| [event].into())));
                queue.push_back(cause);
            } else {
                further.insert(cause.0);
            }
        }
        let step = reached.get_mut(&position).expect("it was reached");
        (step.causes, step.ordered_by, step.unfounded) = (named, ordered_by, unfounded);
    }
    further.retain(|position| !reached.contains_key(&Position(*position)));
    Ok((told(&reached, first), further.into_iter().collect()))
}

fn of(journal: &dyn Journal, reached: &Reached) -> Result<Causes, ReadError> {
    causes(journal, &reached.entry, reached.events.as_ref())
}

fn new(entry: Arc<Entry>, events: Option<BTreeSet<Version>>) -> Reached {
    Reached { entry, events, causes: Vec::new(), ordered_by: None, unfounded: Vec::new() }
}

/// Each step once, after the first that names it; what comes from elsewhere before what is the same entity's own history,
/// which goes on at the same depth.
fn told(reached: &BTreeMap<Position, Reached>, first: Position) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut told = BTreeSet::new();
    let mut stack = vec![(first, 0)];
    while let Some((position, depth)) = stack.pop() {
        let Some(step) = reached.get(&position) else { continue };
        if !told.insert(position) {
            continue;
        }
        steps.push(tell(step, depth));
        let last = step.causes.len().saturating_sub(1);
        for (index, cause) in step.causes.iter().enumerate().rev() {
            stack.push((*cause, if index == last { depth } else { depth + 1 }));
        }
    }
    steps
}

fn tell(step: &Reached, depth: usize) -> Step {
    let mut line = Line::of(&step.entry);
    if let Some(events) = &step.events {
        let is_meant = |at: Version| events.contains(&at);
        // An entry of which nothing can be read is told as one thing.
        if line.happened.len() == step.entry.events.len() {
            let versions = step.entry.versioned_events().map(|(version, _)| version);
            let meant = versions.zip(std::mem::take(&mut line.happened)).filter(|(at, _)| is_meant(*at));
            line.happened = meant.map(|(_, text)| text).collect();
        }
    }
    Step {
        line,
        source: source(&step.entry),
        depth,
        causes: step.causes.iter().map(|cause| cause.0).collect(),
        ordered_by: step.ordered_by.map(|position| position.0),
        unfounded: step.unfounded.clone(),
    }
}

/// One entry by itself.
pub(super) fn alone(journal: &dyn Journal, entry: Arc<Entry>) -> Result<Step, ReadError> {
    let Causes { found, unfounded, ordered_by } = causes(journal, &entry, None)?;
    let mut positions: Vec<Position> = found.iter().map(|found| found.entry.header.position).collect();
    positions.dedup();
    Ok(tell(&Reached { entry, events: None, causes: positions, ordered_by, unfounded }, 0))
}
