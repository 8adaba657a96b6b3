//! How far a call is: noted when it changes, and gone with the call.

use super::{NOW, State, declared, effect, fault, instance, running, waiting};
use crate::{
    contract::given::{Case, after, case},
    machine::{Command, Event, Progress, Reason as R, Report},
    ports,
    vocab::FaultCode,
};

fn told(text: &str, percent: Option<u8>) -> Event {
    Event::Progressed { text: text.into(), percent, at: NOW }
}

fn tell(at: u64, text: &str, percent: Option<u8>) -> Command {
    Command::Report(Report::Progress { effect: effect(at), text: text.into(), percent })
}

fn booting() -> Vec<Event> {
    [declared(), vec![told("booting", Some(40))]].concat()
}

pub(super) fn table() -> Vec<Case<State>> {
    vec![
        case(declared(), tell(2, "booting", Some(40)), Ok((R::ProgressTold, vec![told("booting", Some(40))]))),
        case(booting(), tell(2, "booting", Some(40)), Ok((R::ProgressKnown, vec![]))),
        case(booting(), tell(2, "booting", Some(50)), Ok((R::ProgressTold, vec![told("booting", Some(50))]))),
        case(booting(), tell(9, "booting", Some(50)), Ok((R::StaleReport, vec![]))),
        case(running(), tell(2, "late", None), Ok((R::StaleReport, vec![]))),
        case(waiting(5), tell(2, "late", None), Ok((R::StaleReport, vec![]))),
    ]
}

#[test]
fn what_was_told_ends_with_its_call() {
    let progress = |events: Vec<Event>| after::<State>(&[booting(), events].concat()).0.progress;
    assert_eq!(progress(vec![]).map(|progress| progress.percent), Some(Some(40)));
    assert_eq!(progress(vec![Event::Created { instance: instance(2), at: NOW }]), None);
    let waits = Event::CreateRetryScheduled { until: NOW, fault: fault(FaultCode::Unavailable) };
    assert_eq!(progress(vec![waits]), None);
    assert_eq!(progress(vec![Event::CreateGivenUp { fault: fault(FaultCode::Internal), again: None }]), None);
    assert_eq!(progress(vec![Event::DeleteRequested { at: NOW }]), None);
}

#[test]
fn what_is_noted_is_bounded_harmless_and_in_whole_tens() {
    let told = ports::Progress { id: effect(2), text: format!("a\u{1b}b{}", "c".repeat(300)), percent: Some(137) };
    let (text, percent) = Progress::worth_noting(&told);
    assert_eq!((text.len(), &text[..3], percent), (255, "abc", Some(100)));
    let told = ports::Progress { percent: Some(49), ..told };
    assert_eq!(Progress::worth_noting(&told).1, Some(40));
}
