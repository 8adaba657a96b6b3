//! Scenario files: what is declared, what goes wrong, and what must come out.

mod file;
mod named;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_actors::{
    document::Kind,
    machine,
    ports::CallBudget,
    vocab::{Name, Timestamp, sort_by_key},
};
use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

pub use file::{CrashLine, EventLine, For, HoldLine, OfZone, RemovalLine, ScenarioFile, StrayLine};
use named::{providers, secrets};

use super::{CrashAt, Devices, Ends, Happening, Planned, Report, Simulation};
use crate::manifest::{self, Known, ManifestError, Source, Wish};

/// What stands before the name of a provider that is held, as in `provider/cloud`.
const PROVIDER: &str = "provider/";

/// A scenario is not over before nothing has been written for this long: what nobody waits for is looked for less often than
/// that by nobody.
const QUIET_MS: u64 = 3_600_000;

/// A scenario, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub seed: u64,
    pub start: Option<Timestamp>,
    pub until_ms: u64,
    pub providers: Vec<Name>,
    /// How often some of them may be called.
    pub budgets: BTreeMap<Name, CallBudget>,
    /// The secrets that its classes name: each is there from the beginning.
    pub secrets: Vec<Name>,
    pub script: Vec<Planned>,
    pub crashes: Vec<CrashAt>,
    pub expect: Expectations,
}

/// What must come out at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Expectations {
    /// Whether everything is as declared.
    pub converged: Option<bool>,
    /// One word for each of these entities.
    pub statuses: BTreeMap<String, String>,
}

/// What the command line says besides the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub seed: Option<u64>,
    pub until_ms: Option<u64>,
}

/// What is wrong with a scenario file.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("cannot read {path:?}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path:?} is larger than 4 MiB")]
    TooLarge { path: PathBuf },
    /// The message has line and column.
    #[error("{path:?}: {problem}")]
    Yaml { path: PathBuf, problem: String },
    #[error("{path:?}: {field}: {problem}")]
    Field { path: PathBuf, field: String, problem: String },
    #[error("{path:?}: {field}")]
    Manifest { path: PathBuf, field: String, source: Box<ManifestError> },
}

/// Reads a scenario file.
///
/// # Errors
/// With file, and line and column or field, of what is wrong.
pub fn read(path: &Path) -> Result<Scenario, ScenarioError> {
    ScenarioFile::parse(path, &file::text_of(path)?)?.scenario(path)
}

/// What runs a scenario.
pub fn simulation(scenario: Scenario, options: Options) -> Simulation {
    let seed = options.seed.unwrap_or(scenario.seed);
    let until_ms = options.until_ms.unwrap_or(scenario.until_ms);
    Simulation::of(Scenario { seed, until_ms, ..scenario })
}

impl Simulation {
    /// The simulation of a scenario.
    pub fn of(scenario: Scenario) -> Self {
        let new = Self::new(scenario.seed);
        Self {
            epoch: scenario.start.unwrap_or(new.epoch),
            until_ms: scenario.until_ms,
            ends: Ends::WhenQuiet { for_ms: QUIET_MS },
            providers: scenario.providers,
            budgets: scenario.budgets,
            secrets: scenario.secrets,
            devices: Some(Devices::default()),
            script: scenario.script,
            crashes: scenario.crashes,
            ..new
        }
    }
}

#[cfg(feature = "testing")]
impl Scenario {
    /// Nothing but a manifest that is applied at the beginning, and an hour.
    ///
    /// # Errors
    /// If the manifest is none.
    pub fn of_manifest(text: &str) -> Result<Self, ScenarioError> {
        let reader = Reader { path: Path::new("manifest") };
        let wishes = reader.wishes("manifest", text, &mut Known::default())?;
        let script = vec![Planned { at_ms: 0, what: Happening::Apply(wishes) }];
        let (providers, secrets) = (providers(&script), secrets(&script));
        let (seed, until_ms, crashes, expect) = (1, QUIET_MS, Vec::new(), Expectations::default());
        let budgets = BTreeMap::new();
        Ok(Self { seed, start: None, until_ms, providers, budgets, secrets, script, crashes, expect })
    }
}

impl Expectations {
    /// What did not come out as expected, one line each.
    pub fn unmet(&self, report: &Report) -> Vec<String> {
        let mut unmet = report.wrong.clone();
        if let Some(converged) = self.converged
            && converged != report.converged
        {
            unmet.push(format!("converged: expected {converged}, found {}", report.converged));
        }
        for (stream, expected) in &self.statuses {
            let found = report.statuses.get(stream).copied().unwrap_or("undeclared");
            if found != expected {
                unmet.push(format!("{stream}: expected {expected}, found {found}"));
            }
        }
        unmet
    }
}

struct Reader<'p> {
    path: &'p Path,
}

impl Reader<'_> {
    fn scenario(&self, file: ScenarioFile) -> Result<Scenario, ScenarioError> {
        let mut script = Vec::new();
        for (provider, faults) in file.faults {
            let provider = self.name("faults", &provider)?;
            script.push(Planned { at_ms: 0, what: Happening::Misbehave { provider, faults: Box::new(faults) } });
        }
        for (provider, zones) in file.zones {
            let provider = self.name("zones", &provider)?;
            script.push(Planned { at_ms: 0, what: Happening::Zones { provider, zones } });
        }
        let mut known = Known::default();
        let mut wishes = Vec::new();
        if let Some(text) = &file.manifest {
            wishes.extend(self.wishes("manifest", text, &mut known)?);
        }
        if !file.manifests.is_empty() {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            let paths: Vec<PathBuf> = file.manifests.iter().map(|path| folder.join(path)).collect();
            let manifest = manifest::read(&paths, &known).map_err(|error| self.manifest("manifests", error))?;
            wishes.extend(note_names(manifest, &mut known));
        }
        if !wishes.is_empty() {
            script.push(Planned { at_ms: 0, what: Happening::Apply(wishes) });
        }
        for (index, line) in file.events.into_iter().enumerate() {
            let field = format!("events[{index}]");
            let at_ms = self.period(&format!("{field}.at"), &line.at)?;
            script.extend(self.event(&field, line, &mut known)?.into_iter().map(|what| Planned { at_ms, what }));
        }
        sort_by_key(&mut script, |planned| planned.at_ms);
        let start = file.start.map(|text| self.moment("start", &text)).transpose()?;
        let crashes = file.crashes.iter().map(|line| CrashAt { point: line.point, kind: line.kind }).collect();
        let until_ms = self.period("until", &file.until)?;
        let (providers, secrets) = (providers(&script), secrets(&script));
        let budgets = file.budgets.into_iter().map(|(name, budget)| Ok((self.name("budgets", &name)?, budget)));
        let budgets = budgets.collect::<Result<_, ScenarioError>>()?;
        let expect = file.expect;
        Ok(Scenario { seed: file.seed, start, until_ms, providers, budgets, secrets, script, crashes, expect })
    }

    fn event(&self, field: &str, line: EventLine, known: &mut Known) -> Result<Vec<Happening>, ScenarioError> {
        let mut all = self.operator(field, &line)?;
        if let Some(text) = line.apply {
            all.push(Happening::Apply(self.wishes(&format!("{field}.apply"), &text, known)?));
        }
        if let Some(texts) = line.remove {
            let parse = |text: &String| text.parse::<StreamId>().map_err(|e| self.field(field, e.to_string()));
            all.push(Happening::Remove(texts.iter().map(parse).collect::<Result<_, _>>()?));
        }
        if line.retry_failed == Some(true) {
            all.push(Happening::RetryFailed);
        }
        if let Some(machine) = line.kill {
            all.push(Happening::Kill(self.name(field, &machine)?));
        }
        if let Some(machine) = line.vanish {
            all.push(Happening::Vanish(self.name(field, &machine)?));
        }
        if let Some(silence) = line.silence {
            let (machine, for_ms) = (self.name(field, &silence.of)?, self.period(field, &silence.r#for)?);
            all.push(Happening::Silence { machine, for_ms });
        }
        if let Some(dark) = line.dark {
            all.push(Happening::Dark { zone: dark.of, for_ms: self.period(field, &dark.r#for)? });
        }
        if let Some(outage) = line.outage {
            let (provider, for_ms) = (self.name(field, &outage.of)?, self.period(field, &outage.r#for)?);
            all.push(Happening::Outage { provider, for_ms });
        }
        if let Some(OfZone { of, zone, r#for }) = line.zone_outage {
            let Some(period) = r#for else { return Err(self.field(field, "has no duration")) };
            let (provider, for_ms) = (self.name(field, &of)?, self.period(field, &period)?);
            all.push(Happening::ZoneOutage { provider, zone, for_ms });
        }
        if let Some(OfZone { of, zone, r#for }) = line.kill_zone {
            if r#for.is_some() {
                return Err(self.field(field, "does not take `for`: what is killed stays dead"));
            }
            all.push(Happening::KillZone { provider: self.name(field, &of)?, zone });
        }
        for (provider, faults) in line.faults.unwrap_or_default() {
            let provider = self.name(field, &provider)?;
            all.push(Happening::Misbehave { provider, faults: Box::new(faults) });
        }
        if line.calm == Some(true) {
            all.push(Happening::Calm);
        }
        if let Some(text) = line.jump {
            all.push(Happening::Jump { by_ms: self.signed_period(field, &text)? });
        }
        if let Some(text) = line.suspend {
            all.push(Happening::Suspend { for_ms: self.period(field, &text)? });
        }
        if let Some(space) = line.disk {
            all.push(Happening::Disk(space));
        }
        if let Some(kind) = line.crash {
            all.push(Happening::Crash(kind));
        }
        if all.is_empty() {
            return Err(self.field(field, "has a time, but no action"));
        }
        Ok(all)
    }

    /// What an operator asks of one machine, or somebody does behind its back.
    fn operator(&self, field: &str, line: &EventLine) -> Result<Vec<Happening>, ScenarioError> {
        let mut all = Vec::new();
        if let Some(hold) = &line.hold {
            let for_ms = hold.r#for.as_ref().map(|text| self.period(field, text)).transpose()?;
            let reason = hold.reason.clone();
            all.push(match hold.of.strip_prefix(PROVIDER) {
                Some(provider) => Happening::HoldProvider { provider: self.name(field, provider)?, reason, for_ms },
                None => Happening::Hold { machine: self.name(field, &hold.of)?, reason, for_ms },
            });
        }
        let one = |text: &Option<String>, make: fn(Name) -> Happening| {
            text.as_ref().map(|text| self.name(field, text).map(make)).transpose()
        };
        match line.unhold.as_deref().map(|held| (held, held.strip_prefix(PROVIDER))) {
            Some((_, Some(provider))) => all.push(Happening::UnholdProvider(self.name(field, provider)?)),
            Some((machine, None)) => all.push(Happening::Unhold(self.name(field, machine)?)),
            None => (),
        }
        for (text, on) in [(&line.protect, true), (&line.unprotect, false)] {
            let Some(text) = text else { continue };
            let entity = text.parse().map_err(|error| self.field(field, format!("{error}")))?;
            all.push(Happening::Protect { entity, on });
        }
        all.extend(one(&line.disown, Happening::Disown)?);
        all.extend(one(&line.adopt, Happening::Adopt)?);
        all.extend(one(&line.cling, Happening::Cling)?);
        if let Some(removal) = &line.remove_with {
            let how =
                machine::Removal { force: removal.force, keep_instance: removal.keep_instance, ..Default::default() };
            all.push(Happening::RemoveWith { machine: self.name(field, &removal.of)?, how });
        }
        if let Some(stray) = &line.stray {
            let (provider, machine) = (self.name(field, &stray.provider)?, self.name(field, &stray.of)?);
            all.push(Happening::Stray { provider, machine });
        }
        Ok(all)
    }

    fn wishes(&self, field: &str, text: &str, known: &mut Known) -> Result<Vec<Wish>, ScenarioError> {
        let source = Source::new(field, text.as_bytes().to_vec());
        let manifest = manifest::parse(&[source], known).map_err(|error| self.manifest(field, error))?;
        Ok(note_names(manifest, known))
    }

    fn name(&self, field: &str, text: &str) -> Result<Name, ScenarioError> {
        text.parse().map_err(|error| self.field(field, format!("{error}")))
    }

    fn period(&self, field: &str, text: &str) -> Result<u64, ScenarioError> {
        let ms = self.signed_period(field, text)?;
        u64::try_from(ms).map_err(|_| self.field(field, format!("{text:?} is negative")))
    }

    fn signed_period(&self, field: &str, text: &str) -> Result<i64, ScenarioError> {
        let duration = text.parse::<jiff::SignedDuration>();
        let ms = duration.ok().and_then(|duration| i64::try_from(duration.as_millis()).ok());
        let in_reach = ms.filter(|ms| ms.unsigned_abs() <= 10 * 366 * 24 * 3_600_000);
        in_reach.ok_or_else(|| {
            self.field(field, format!("{text:?} is not a period of up to ten years: expected 90s, 5m or 1h"))
        })
    }

    fn moment(&self, field: &str, text: &str) -> Result<Timestamp, ScenarioError> {
        let moment = text.parse::<jiff::Timestamp>().ok();
        let ms = moment.and_then(|moment| u64::try_from(moment.as_millisecond()).ok());
        ms.map(Timestamp)
            .ok_or_else(|| self.field(field, format!("{text:?} is not a time such as 2026-01-01T00:00:00Z")))
    }

    fn field(&self, field: &str, problem: impl Into<String>) -> ScenarioError {
        ScenarioError::Field { path: self.path.to_owned(), field: field.to_owned(), problem: problem.into() }
    }

    fn manifest(&self, field: &str, error: ManifestError) -> ScenarioError {
        ScenarioError::Manifest { path: self.path.to_owned(), field: field.to_owned(), source: Box::new(error) }
    }
}

/// The wishes of a manifest; their names may be used by later ones.
fn note_names(manifest: manifest::Manifest, known: &mut Known) -> Vec<Wish> {
    let wishes: Vec<Wish> = manifest.documents.into_iter().map(|document| document.wish).collect();
    for wish in &wishes {
        match wish {
            Wish::Machine { name, .. } => drop(Arc::make_mut(&mut known.machines).insert(name.clone())),
            Wish::Volume { name, .. } => drop(Arc::make_mut(&mut known.volumes).insert(name.clone())),
            Wish::Filesystem { name, .. } => drop(Arc::make_mut(&mut known.filesystems).insert(name.clone())),
            Wish::MachineClass { name, content } => {
                drop(known.classes.insert(name.clone(), content.provider.clone()));
            }
            Wish::Document { name, content } if content.kind() == Kind::Space => {
                Arc::make_mut(&mut known.spaces).insert(name.clone());
            }
            Wish::Document { name, content } if content.kind() == Kind::Application => {
                Arc::make_mut(&mut known.applications).insert(name.clone());
            }
            Wish::VolumeAttachment { .. }
            | Wish::FilesystemAttachment { .. }
            | Wish::Document { .. }
            | Wish::Policy { .. }
            | Wish::MachineSet { .. }
            | Wish::MachineDeployment { .. }
            | Wish::Custom(_)
            | Wish::ReplicaSet { .. } => (),
        }
    }
    wishes
}
