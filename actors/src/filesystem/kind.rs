//! What filesystems differ in from other storage.

use bailiwick_journal::Version;

use super::{
    Base, Claim, Declaration, Event, Filesystem, MANAGED, Own, OwnCommand, OwnEvent, OwnReport, Reason, Rejection,
    Removal, Spec, State, Storage, Wanted, decide, first_form,
};
use crate::{
    contract::{Facts, Invariant, Touches, Verdict},
    ports::ProvisionedFilesystem,
    storage::{Begun, Claimed, FirstForm, Made, Provisioned, Step},
    vocab::{Fact, Fault, FaultCode, Life, Name, Outlook, SizeMib, Timestamp},
};

impl Provisioned for Filesystem {
    const KIND: &'static str = "filesystem";
    const FIRST_FORM: FirstForm<Self> = first_form::FIRST_FORM;
    type Spec = Spec;
    type Wanted = Wanted;
    type Claim = Claim;
    type Base = Base;
    type Made = ProvisionedFilesystem;
    type Own = Own;
    type OwnEvent = OwnEvent;
    type OwnCommand = OwnCommand;
    type OwnReport = OwnReport;

    const CLAIMS: [Invariant<State>; 2] = [
        Invariant {
            name: "over-others-on-volumes-only",
            says: "only on a volume is a filesystem made over others",
            holds: |state| match &state.storage {
                Storage::Creating { base, .. } => base.backing.is_some() || base.over.is_empty(),
                Storage::None | Storage::Provisioned { .. } | Storage::Destroying { .. } => true,
            },
        },
        Invariant {
            name: "there-was-made",
            says: "what is there was made",
            holds: |state| state.made().is_none() || state.own.was_made,
        },
    ];

    fn begin(declaration: &Declaration, _now: Timestamp) -> Begun<Self> {
        let pool = declaration.pool.iter().map(|pool| Event::TakenFrom { pool: pool.clone() });
        let owner = declaration.owner.iter().map(|owner| Event::OwnedBy { owner: owner.clone() });
        Begun { reason: Reason::NewlyDeclared, events: pool.chain(owner).collect() }
    }

    fn differences(state: &State, declaration: &Declaration) -> Vec<&'static str> {
        let (Some(present), spec) = (&state.spec, &declaration.spec) else { return Vec::new() };
        let differs = [
            ("spec.provider", present.provider != spec.provider),
            ("spec.size", present.size != spec.size),
            ("spec.volume", present.backing != spec.backing),
            ("spec.machine", present.machine != spec.machine),
        ];
        differs.into_iter().filter_map(|(field, differs)| differs.then_some(field)).collect()
    }

    fn claimed(claim: &Claim) -> Claimed<'_, Self> {
        let Claim { spec, pool, by, owner } = claim;
        Claimed { spec, pool: pool.as_ref(), by, owner: owner.as_ref(), around: Default::default() }
    }

    fn made(made: &ProvisionedFilesystem) -> Made<'_> {
        Made { effect: made.effect, id: &made.filesystem_id, size: made.size }
    }

    fn size_min(spec: &Spec) -> Option<SizeMib> {
        spec.backing.is_none().then_some(spec.size)
    }

    fn has_room(_state: &State, _machine: &Name) -> Result<(), Rejection> {
        Ok(())
    }

    /// One on a volume is only data there, and goes with that.
    fn needs_undoing(state: &State) -> bool {
        let is_under_way = state.effort().is_some_and(|effort| effort.outlook == Outlook::Trying);
        state.backing().is_none() || is_under_way
    }

    /// It was told to go while it was being made, and its volume has left the machine: nobody else reaches it.
    fn is_gone_all_the_same(state: &State, fault: &Fault) -> Option<Reason> {
        let is_out_of_reach = state.backing().is_some() && state.machine().is_none();
        (is_out_of_reach && fault.code == FaultCode::Unavailable).then_some(Reason::GoesWithVolume)
    }

    fn decide(state: &State, command: &OwnCommand, facts: &Facts<'_, State>) -> Verdict<State> {
        decide::decide(state, command, facts)
    }

    fn report(_state: &State, report: &OwnReport, _facts: &Facts<'_, State>) -> Verdict<State> {
        match *report {}
    }

    fn evolve(state: &mut State, _at: Version, event: &OwnEvent) {
        match event {
            OwnEvent::BackingChanged { backing } => {
                if let Storage::Creating { base, .. } = &mut state.storage {
                    base.backing = backing.clone();
                }
            }
        }
    }

    fn touches(event: &OwnEvent) -> Touches {
        match event {
            OwnEvent::BackingChanged { .. } => Touches::Some(&[Fact::Effect]),
        }
    }

    fn kept_when_declared(own: Own) -> Own {
        Own { destroyed: own.destroyed, was_made: false }
    }

    fn stepped(state: &mut State, step: Step<'_, Self>) {
        match step {
            // It was made over them.
            Step::Created => state.own = Own { destroyed: [].into(), was_made: true },
            Step::Removed => state.own.destroyed.extend(left_on_volume(state)),
            Step::Requested { .. } | Step::Undoing | Step::Released | Step::Skipped(_) => (),
        }
    }
}

/// What is left on its volume of one that goes with its data.
fn left_on_volume(state: &State) -> Option<Version> {
    state.backing().filter(|_| state.removal == Removal::Destroy)?;
    match &state.storage {
        Storage::Provisioned { intent, .. } => Some(*intent),
        Storage::Creating { effort, .. } => effort.may_have_left_something().then_some(effort.intent),
        Storage::None | Storage::Destroying { .. } => None,
    }
}

impl State {
    /// The volume that it lives on.
    pub fn backing(&self) -> Option<&Name> {
        self.spec.as_ref().and_then(|spec| spec.backing.as_ref())
    }

    /// Where the work on it is done: the machine that it is bound to, or else one that it is mounted on.
    pub fn machine(&self) -> Option<&Name> {
        self.spec.as_ref().and_then(|spec| spec.machine.as_ref()).or(self.attached_to.first())
    }

    /// Who makes and mounts it: its provider, or for one on a volume [`MANAGED`].
    pub fn source(&self) -> Option<Name> {
        let spec = self.spec.as_ref()?;
        match spec.backing {
            Some(_) => Some(MANAGED.parse().expect("a valid name")),
            None => Some(spec.provider.clone()),
        }
    }

    /// Whether somebody has to attach it first: one on a volume is made where it is mounted.
    pub fn awaits_mount(&self) -> bool {
        self.life == Life::Alive && self.made().is_none() && self.backing().is_some() && self.machine().is_none()
    }
}
