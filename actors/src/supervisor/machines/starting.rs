//! With what a machine's instance is started: what follows from its declaration and the documents, or what is missing.
//!
//! Source: Juju's provisioner: constraints, images by priority, agent binaries by exact version, the subnets and zones of
//! the spaces that are to be reached, endpoint bindings, the distribution group. (A machine for which something is missing
//! goes into error there, and takes the rest of its batch with it; here it alone waits.)

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    document::{Application, Documents, ImageMetadata, InForce, Kind, Model},
    machine::{
        Base, Constraints, InstanceConfig, Spec, StartAgent, StartHost, StartImage, StartParameters, Unstartable,
        ZoneRule,
    },
    vocab::{Cited, Name, Zone, sort_by_key},
};

/// As many images are told to a provider.
const IMAGES_MAX: usize = 16;
/// As many subnets are told to a provider; the zones of all count.
const SUBNETS_MAX: usize = 256;

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub machine: &'a Name,
    pub spec: &'a Spec,
    /// The applications of which a unit stands on it.
    pub units: &'a BTreeSet<Name>,
    /// The volumes that are to be attached to it.
    pub volumes: &'a BTreeSet<Name>,
    /// The machine that it is made in, as that one is now.
    pub host: Option<&'a StartHost>,
}

/// The parameters of a start, or the first thing that is missing; and the documents that were looked at, each once.
///
/// # Errors
/// With what is missing.
pub fn start_parameters(
    asked: &Asked<'_>,
    documents: &Documents,
) -> (Result<StartParameters, Unstartable>, Vec<Cited>) {
    let mut cited = BTreeSet::new();
    let parameters = Starting { asked, documents, cited: &mut cited }.parameters();
    (parameters, cited.into_iter().collect())
}

/// How what is started reaches the control plane, by what the model says; none where it says nothing of that.
pub fn instance_config(documents: &Documents) -> Option<InstanceConfig> {
    let says = documents.model()?.says;
    let is_said = says.ca_certificate.is_some() || says.image_signing_key.is_some() || says.skips_certificate_check;
    is_said.then(|| InstanceConfig {
        ca_certificate: says.ca_certificate.clone(),
        image_stream: says.image_stream.clone().unwrap_or_else(|| ImageMetadata::STREAM.to_owned()),
        image_signing_key: says.image_signing_key.clone(),
        skips_certificate_check: says.skips_certificate_check,
    })
}

struct Starting<'a> {
    asked: &'a Asked<'a>,
    documents: &'a Documents,
    cited: &'a mut BTreeSet<Cited>,
}

/// What the spaces that a machine has to reach come to.
#[derive(Default)]
struct Reached {
    subnets: BTreeMap<Name, BTreeMap<Name, BTreeSet<Zone>>>,
    /// The zones from which all of them can be reached; none means all.
    zones: Option<BTreeSet<Zone>>,
}

impl<'a> Starting<'a> {
    fn parameters(mut self) -> Result<StartParameters, Unstartable> {
        let spec = self.asked.spec;
        let applications = self.applications();
        let model = self.documents.model();
        self.cited.extend(model.as_ref().map(|model| model.cited(Kind::Model)));
        let says = model.map(|model| model.says);
        let constraints = applications
            .iter()
            .fold(spec.constraints.clone(), |constraints, (_, says)| constraints.or(&says.constraints));
        let bindings = bindings(&applications);
        let reached = self.spaces(&constraints, &bindings)?;
        let zones = zones(spec, &constraints, &reached)?;
        let base = spec.base.as_ref().or_else(|| says?.base.as_ref());
        let arch = constraints.arch.clone().unwrap_or_else(|| Constraints::ARCH.to_owned());
        let (images, agent) = match base {
            None => (Vec::new(), None),
            Some(base) => (self.images(base, &arch, says)?, self.agent(base, &arch, says)?),
        };
        let mut tags = says.map(|model| model.tags.clone()).unwrap_or_default();
        tags.extend(spec.tags.clone());
        let others = applications.iter().flat_map(|(_, says)| &says.machines);
        let group = others.filter(|machine| *machine != self.asked.machine).cloned().collect();
        Ok(StartParameters {
            constraints,
            images,
            agent,
            tags,
            zones,
            subnets: reached.subnets,
            bindings,
            spread: applications.first().map(|(name, _)| (*name).clone()),
            group,
            volumes: self.asked.volumes.clone(),
            api_addresses: says.map(|model| model.api_addresses.clone()).unwrap_or_default(),
            host: self.asked.host.cloned(),
        })
    }

    /// The applications whose units stand on it. What was removed meanwhile asks for nothing.
    fn applications(&mut self) -> Vec<(&'a Name, &'a Application)> {
        let documents = self.documents;
        let known = self.asked.units.iter().filter_map(|unit| Some((unit, documents.application(unit)?)));
        let known: Vec<(&Name, InForce<'_, Application>)> = known.collect();
        self.cited.extend(known.iter().map(|(_, application)| application.cited(Kind::Application)));
        known.into_iter().map(|(name, application)| (name, application.says)).collect()
    }

    fn spaces(&mut self, constraints: &Constraints, bindings: &BTreeMap<String, Name>) -> Result<Reached, Unstartable> {
        let (excluded, wished): (Vec<_>, Vec<_>) = constraints.spaces.iter().partition(|wish| wish.is_excluded);
        let excluded: BTreeSet<&Name> = excluded.into_iter().map(|wish| &wish.space).collect();
        let wished: BTreeSet<&Name> = wished.into_iter().map(|wish| &wish.space).chain(bindings.values()).collect();
        for space in wished.union(&excluded) {
            let known = self.documents.space(space).ok_or_else(|| Unstartable::NoSpace { space: (*space).clone() })?;
            self.cited.insert(known.cited(Kind::Space));
        }
        if let Some(space) = wished.intersection(&excluded).next() {
            return Err(Unstartable::SpaceExcluded { space: (*space).clone() });
        }
        let mut reached = Reached::default();
        for space in wished {
            self.space(space, &mut reached)?;
        }
        Ok(reached)
    }

    fn space(&mut self, space: &Name, reached: &mut Reached) -> Result<(), Unstartable> {
        let told: usize = reached.subnets.values().map(BTreeMap::len).sum();
        let mut subnets = BTreeMap::new();
        let (mut zones, mut is_everywhere, mut is_empty) = (BTreeSet::new(), false, true);
        for subnet in self.documents.subnets().filter(|subnet| subnet.says.space == *space) {
            is_empty = false;
            is_everywhere |= subnet.says.zones.is_empty();
            zones.extend(subnet.says.zones.iter().cloned());
            if told + subnets.len() < SUBNETS_MAX
                && let Ok(name) = subnet.name.parse::<Name>()
            {
                self.cited.insert(subnet.cited(Kind::Subnet));
                subnets.insert(name, subnet.says.zones.clone());
            }
        }
        if is_empty {
            return Err(Unstartable::EmptySpace { space: space.clone() });
        }
        reached.subnets.insert(space.clone(), subnets);
        if !is_everywhere {
            reached.zones = Some(match reached.zones.take() {
                None => zones,
                Some(known) => known.intersection(&zones).cloned().collect(),
            });
        }
        Ok(())
    }

    /// The images that fit, the one with the highest priority first; of equal ones the one whose document sorts first.
    fn images(&mut self, base: &Base, arch: &str, model: Option<&Model>) -> Result<Vec<StartImage>, Unstartable> {
        let stream = model.and_then(|model| model.image_stream.as_deref()).unwrap_or(ImageMetadata::STREAM);
        let region = model.and_then(|model| model.region.as_ref());
        let is_there = |image: &ImageMetadata| match (region, &image.region) {
            (Some(wanted), Some(is)) => wanted == is,
            _ => true,
        };
        let fits = |image: &ImageMetadata| {
            image.base == *base && image.arch == arch && image.stream == stream && is_there(image)
        };
        let mut fitting: Vec<InForce<'_, ImageMetadata>> =
            self.documents.images().filter(|image| fits(image.says)).collect();
        if fitting.is_empty() {
            return Err(Unstartable::NoImage { base: base.clone(), arch: arch.into(), stream: stream.into() });
        }
        sort_by_key(&mut fitting, |image| Reverse(image.says.priority));
        fitting.truncate(IMAGES_MAX);
        self.cited.extend(fitting.iter().map(|image| image.cited(Kind::ImageMetadata)));
        Ok(fitting.iter().map(|image| start_image(image.says)).collect())
    }

    /// The agent of exactly the model's version.
    fn agent(&mut self, base: &Base, arch: &str, model: Option<&Model>) -> Result<Option<StartAgent>, Unstartable> {
        let Some(version) = model.and_then(|model| model.agent_version.as_ref()) else { return Ok(None) };
        let mut all = self.documents.agent_binaries();
        let found = all.find(|binary| {
            let says = binary.says;
            says.version == *version && says.base == *base && says.arch == arch
        });
        let missing = || Unstartable::NoAgentBinary { version: version.clone(), base: base.clone(), arch: arch.into() };
        let binary = found.ok_or_else(missing)?;
        self.cited.insert(binary.cited(Kind::AgentBinary));
        let says = binary.says;
        Ok(Some(StartAgent {
            version: says.version.clone(),
            sha256: says.sha256.clone(),
            location: says.location.clone(),
        }))
    }
}

fn start_image(of: &ImageMetadata) -> StartImage {
    StartImage {
        image: of.image.clone(),
        arch: of.arch.clone(),
        region: of.region.clone(),
        stream: of.stream.clone(),
        root_storage: of.root_storage.clone(),
        virtualisation: of.virtualisation.clone(),
    }
}

fn bindings(applications: &[(&Name, &Application)]) -> BTreeMap<String, Name> {
    let of = |(name, says): &(&Name, &Application)| {
        let bound = says.bindings.iter().map(|(endpoint, space)| (format!("{name}:{endpoint}"), space.clone()));
        bound.collect::<Vec<_>>()
    };
    applications.iter().flat_map(of).collect()
}

/// The zones that it may be in, none for any: what its subnets leave of its constraints. A zone that was declared has to be
/// among them.
fn zones(spec: &Spec, constraints: &Constraints, reached: &Reached) -> Result<BTreeSet<Zone>, Unstartable> {
    let allowed = Some(&constraints.zones).filter(|zones| !zones.is_empty());
    let zones = match (allowed, &reached.zones) {
        (None, None) => return Ok(BTreeSet::new()),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (Some(allowed), Some(reachable)) => allowed.intersection(reachable).cloned().collect(),
    };
    let declared = match spec.zone_rule() {
        ZoneRule::Declared(zone) => Some(zone),
        ZoneRule::Provider | ZoneRule::Spread { .. } => None,
    };
    if zones.is_empty() || declared.is_some_and(|zone| !zones.contains(&zone)) {
        return Err(Unstartable::NoCommonZone { spaces: reached.subnets.keys().cloned().collect() });
    }
    Ok(zones)
}
