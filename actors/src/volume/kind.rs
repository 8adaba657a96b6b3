//! What volumes differ in from other storage.

use bailiwick_journal::Version;

use super::{
    Claim, Declaration, Event, Own, OwnCommand, OwnEvent, OwnReport, Reason, Rejection, Removal, Spec, State, Storage,
    Volume, Wanted, Where, decide, first_form,
};
use crate::{
    contract::{Facts, Invariant, Touches, Verdict},
    ports::ProvisionedVolume,
    storage::{Begun, Claimed, FirstForm, Made, Provisioned, Step},
    vocab::{EXTERNAL, Effort, Fact, Life, Name, SizeMib, SkippedStorage, Timestamp},
};

impl Provisioned for Volume {
    const KIND: &'static str = "volume";
    const FIRST_FORM: FirstForm<Self> = first_form::FIRST_FORM;
    type Spec = Spec;
    type Wanted = Wanted;
    type Claim = Claim;
    type Base = Where;
    type Made = ProvisionedVolume;
    type Own = Own;
    type OwnEvent = OwnEvent;
    type OwnCommand = OwnCommand;
    type OwnReport = OwnReport;

    const CLAIMS: [Invariant<State>; 2] = [
        Invariant {
            name: "lost-was-there",
            says: "only what is there can be lost",
            holds: |state| state.made().is_some() || state.own.lost.is_none(),
        },
        Invariant {
            name: "one-machine-at-a-time",
            says: "a volume is attached to one machine at a time",
            holds: |state| state.attached_to.len() < 2,
        },
    ];

    /// On a machine it is made once that machine has an instance; anywhere, at once.
    fn begin(declaration: &Declaration, now: Timestamp) -> Begun<Self> {
        let Declaration { wanted, pool, owner, .. } = declaration;
        let mut events: Vec<Event> = owner.iter().map(|owner| Event::OwnedBy { owner: owner.clone() }).collect();
        let import = wanted.import.iter().cloned();
        events.extend(import.map(|volume_id| Event::Own(OwnEvent::ImportWanted { volume_id })));
        events.extend(pool.iter().map(|pool| Event::TakenFrom { pool: pool.clone() }));
        match &wanted.machine {
            // It is made with a machine's instance, or not at all.
            None if declaration.spec.provider.as_str() == EXTERNAL => Begun { reason: Reason::WaitsForMachine, events },
            None => {
                events.push(Event::CreateRequested { base: Where::Anywhere, at: now });
                Begun { reason: Reason::NewlyDeclared, events }
            }
            Some(machine) => {
                events.push(Event::Own(OwnEvent::WantedOn { machine: machine.clone() }));
                Begun { reason: Reason::WaitsForMachine, events }
            }
        }
    }

    fn differences(state: &State, declaration: &Declaration) -> Vec<&'static str> {
        let Declaration { spec, wanted, .. } = declaration;
        let Some(present) = &state.spec else { return Vec::new() };
        let differs = [
            ("spec.import", wanted.import.is_some() && wanted.import != state.own.import),
            ("spec.provider", present.provider != spec.provider),
            ("spec.size", present.size != spec.size),
            ("spec.machine", state.own.wanted_on != wanted.machine),
        ];
        differs.into_iter().filter_map(|(field, differs)| differs.then_some(field)).collect()
    }

    fn declared_beside(state: &State) -> Option<&'static str> {
        (!state.own.tags.is_empty()).then_some("spec.tags")
    }

    fn claimed(claim: &Claim) -> Claimed<'_, Self> {
        let Claim { spec, pool, by, owner, filesystem } = claim;
        let filesystem = filesystem.iter().cloned();
        let around = [
            vec![Event::Own(OwnEvent::WantedOn { machine: by.machine.clone() })],
            filesystem.map(|filesystem| Event::Own(OwnEvent::FilesystemReserved { filesystem })).collect(),
        ];
        Claimed { spec, pool: Some(pool), by, owner: owner.as_ref(), around }
    }

    fn made(made: &ProvisionedVolume) -> Made<'_> {
        Made { effect: made.effect, id: &made.volume_id, size: made.size }
    }

    fn size_min(spec: &Spec) -> Option<SizeMib> {
        Some(spec.size)
    }

    fn has_room(state: &State, _machine: &Name) -> Result<(), Rejection> {
        match state.attached_to.first() {
            None => Ok(()),
            Some(present) => Err(Rejection::AttachedElsewhere { machine: present.clone() }),
        }
    }

    fn holds(state: &State) -> Option<&Name> {
        state.own.filesystem.as_ref()
    }

    /// What came with an instance goes with it, or stays with whoever made it.
    fn needs_undoing(state: &State) -> bool {
        !state.is_external()
    }

    fn lost_since(state: &State) -> Option<Timestamp> {
        state.own.lost
    }

    fn removes(command: &OwnCommand) -> bool {
        matches!(command, OwnCommand::RemoveWithFilesystem)
    }

    fn lets_go(command: &OwnCommand) -> bool {
        Self::removes(command) || matches!(command, OwnCommand::ReleaseFilesystem { .. })
    }

    fn decide(state: &State, command: &OwnCommand, facts: &Facts<'_, State>) -> Verdict<State> {
        decide::decide(state, command, facts)
    }

    fn report(state: &State, report: &OwnReport, facts: &Facts<'_, State>) -> Verdict<State> {
        decide::report(state, report, facts)
    }

    fn evolve(state: &mut State, at: Version, event: &OwnEvent) {
        let own = &mut state.own;
        match event {
            OwnEvent::WantedOn { machine } => own.wanted_on = Some(machine.clone()),
            OwnEvent::Described { facts } => own.facts = Some(facts.clone()),
            OwnEvent::AttachedAtCreation { at_creation } => own.at_creation = Some(at_creation.clone()),
            OwnEvent::Lost { at: since } => own.lost = Some(*since),
            OwnEvent::Found => own.lost = None,
            OwnEvent::FilesystemReserved { filesystem } => own.filesystem = Some(filesystem.clone()),
            OwnEvent::FilesystemReleased { leaves, .. } => {
                own.filesystem = None;
                if leaves.instead {
                    own.leftovers.clear();
                }
                own.leftovers.extend(leaves.of.iter().map(|of| (of.clone(), at)));
            }
            OwnEvent::SitedIn { zone } => own.zone = Some(zone.clone()),
            OwnEvent::Tagged { tags } => own.tags.clone_from(tags),
            OwnEvent::ImportWanted { volume_id } => own.import = Some(volume_id.clone()),
            OwnEvent::CameWith { place, made } => {
                own.place = Some(place.clone());
                state.storage = Storage::Provisioned { intent: at, made: made.clone() };
            }
            OwnEvent::WentToComeAgain => {
                (own.place, own.facts, own.zone) = (None, None, None);
                state.storage = Storage::None;
            }
            OwnEvent::Returned { provider, of, at: since } => {
                state.life = Life::Dead;
                state.removal = Removal::Destroy;
                state.storage = Storage::Destroying { of: *of, effort: Effort::begun(at, *since) };
                if let Some(spec) = &mut state.spec {
                    spec.provider = provider.clone();
                }
            }
        }
    }

    fn touches(event: &OwnEvent) -> Touches {
        use Fact::{Dependents, Effect, Life, Request, Spec, Zone as Place};
        Touches::Some(match event {
            OwnEvent::Returned { .. } => &[Life, Effect, Request],
            OwnEvent::CameWith { .. } | OwnEvent::WentToComeAgain => &[Effect, Request],
            OwnEvent::WantedOn { .. } | OwnEvent::ImportWanted { .. } | OwnEvent::Tagged { .. } => &[Spec],
            OwnEvent::Described { .. }
            | OwnEvent::AttachedAtCreation { .. }
            | OwnEvent::Lost { .. }
            | OwnEvent::Found => &[Effect],
            OwnEvent::FilesystemReserved { .. } | OwnEvent::FilesystemReleased { .. } => &[Dependents],
            OwnEvent::SitedIn { .. } => &[Place],
        })
    }

    fn stepped(state: &mut State, step: Step<'_, Self>) {
        let own = &mut state.own;
        match step {
            Step::Requested { base: Where::At(place) } => own.place = Some(place.clone()),
            Step::Undoing => own.lost = None,
            Step::Released => own.at_creation = None,
            Step::Skipped(SkippedStorage::Filesystem { .. }) => own.filesystem = None,
            Step::Requested { base: Where::Anywhere } | Step::Created | Step::Skipped(_) | Step::Removed => (),
        }
    }
}
