//! What the executed cases do not reach.

mod entity;

use super::{
    Change, Member, Plan, SetSeen,
    pass::{Command, Effect, Event, State, decide},
    plan,
};
use crate::vocab::{MachinePhase, Timestamp};

fn member(name: &str, phase: MachinePhase) -> Member {
    Member {
        name: name.to_owned(),
        phase,
        priority: None,
        created: Timestamp(0),
        is_going: false,
        has_failed_operation: false,
        is_protected: false,
        is_kept: false,
        has_template_labels: true,
    }
}

fn run(state: &mut State, command: &Command) -> Vec<Event> {
    let events = decide(state, command);
    events.iter().for_each(|event| state.evolve(event));
    events
}

fn reconcile(replicas: usize, members: &[Member]) -> Command {
    Command::Begin(plan(&SetSeen { replicas, is_frozen: false, is_cut_off: false, is_going: false }, members))
}

#[test]
fn one_refused_removal_does_not_keep_the_others_from_being_asked() {
    let members: Vec<Member> = ["a", "b", "c"].map(|name| member(name, MachinePhase::Running)).to_vec();
    let mut state = State::default();
    run(&mut state, &reconcile(0, &members));
    run(&mut state, &Command::ReportRemoval { name: "a".to_owned(), is_accepted: false });
    let left = ["b", "c"].map(|name| Effect::Remove { name: name.to_owned() });
    assert_eq!(state.pending(), left.into());
    run(&mut state, &Command::ReportRemoval { name: "b".to_owned(), is_accepted: true });
    let events = run(&mut state, &Command::ReportRemoval { name: "c".to_owned(), is_accepted: true });
    assert_eq!(events.last(), Some(&Event::PassEnded { has_failed: true }));
}

#[test]
fn a_given_up_machine_that_could_not_be_told_is_told_in_the_next_pass() {
    let failed = member("a", MachinePhase::Failed);
    let mut state = State::default();
    for _ in 0..2 {
        run(&mut state, &reconcile(0, std::slice::from_ref(&failed)));
        assert_eq!(state.pending(), [Effect::Remove { name: "a".to_owned() }].into());
        let refused = Command::ReportRemoval { name: "a".to_owned(), is_accepted: false };
        assert_eq!(run(&mut state, &refused).last(), Some(&Event::PassEnded { has_failed: false }));
    }
}

#[test]
fn a_given_up_machine_is_replaced_in_the_pass_that_tells_it_to_go() {
    let members = [member("a", MachinePhase::Failed), member("b", MachinePhase::Running)];
    let mut state = State::default();
    run(&mut state, &reconcile(2, &members));
    assert_eq!(state.pending(), [Effect::Remove { name: "a".to_owned() }].into());
    run(&mut state, &Command::ReportRemoval { name: "a".to_owned(), is_accepted: true });
    assert_eq!(state.pending(), [Effect::Create { count: 1 }].into());
}

#[test]
fn a_report_about_another_pass_changes_nothing() {
    let mut state = State::default();
    for command in
        [Command::ReportRemoval { name: "a".to_owned(), is_accepted: true }, Command::ReportBatch { failed: 0 }]
    {
        assert_eq!(run(&mut state, &command), []);
    }
    run(&mut state, &reconcile(3, &[]));
    assert_eq!(state.pending(), [Effect::Create { count: 1 }].into());
    assert_eq!(run(&mut state, &Command::ReportBatch { failed: 2 }), [], "only one was asked for");
    assert_eq!(run(&mut state, &reconcile(5, &[])), [], "a pass is under way");
}

#[test]
fn who_is_kept_is_no_machine_of_the_number_and_goes_with_its_set() {
    let kept = Member { is_kept: true, ..member("a", MachinePhase::Failed) };
    let seen =
        |is_going: bool| SetSeen { replicas: usize::from(!is_going), is_frozen: false, is_cut_off: false, is_going };
    assert_eq!(plan(&seen(false), std::slice::from_ref(&kept)), Plan { stale: vec![], change: Change::Create(1) });
    assert_eq!(plan(&seen(true), &[kept]), Plan { stale: vec!["a".to_owned()], change: Change::Nothing });
}

#[test]
fn who_is_protected_is_counted_and_not_told_to_go() {
    let protected = |name, phase| Member { is_protected: true, ..member(name, phase) };
    let told = |replicas, members: &[Member]| {
        let mut state = State::default();
        run(&mut state, &reconcile(replicas, members));
        let name = |effect| if let Effect::Remove { name } = effect { name } else { "another".to_owned() };
        state.pending().into_iter().map(name).collect::<Vec<_>>()
    };
    let running = [protected("a", MachinePhase::Running), member("b", MachinePhase::Running)];
    assert_eq!(told(1, &running), ["b"], "the other one goes, however old it is");
    assert_eq!(told(0, &running), ["b"], "and the set has one too many");
    // What failed is left standing, and another takes its place.
    assert_eq!(told(1, &[protected("a", MachinePhase::Failed)]), ["another"]);
}
