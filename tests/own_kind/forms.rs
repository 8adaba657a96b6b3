use std::path::Path;

use bailiwick::actors::{
    contract::{Decider, Recorded},
    custom::{self, KeptEvent, KeptReport, Order, Reason, Rejection},
    testing::stored_forms::{Forms, check, form, forms},
    vocab::{Fault, FaultCode, Name, Timestamp},
};
use bailiwick::register;

use crate::{
    own_kind::{Address, Command, Event, Spec, VirtualIp},
    registered,
};

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn spec() -> Spec {
    Spec { provider: name("files"), label: "web".into() }
}

fn fault() -> Fault {
    Fault::new(FaultCode::Unavailable, "no")
}

fn verdicts<D: Decider>(of: &str, reasons: Vec<D::Reason>, rejections: Vec<D::Rejection>) -> Forms {
    let reasons = reasons.into_iter().map(Recorded::<D>::Decided);
    let verdicts = reasons.chain(rejections.into_iter().map(Recorded::Refused));
    verdicts.enumerate().map(|(number, verdict)| form(format!("{of}.{number}"), &verdict)).collect()
}

#[test]
fn its_stored_forms_are_as_they_were() {
    let (attempt, at, made) = (1, Timestamp(5), Address("10.0.0.1".into()));
    let kept = vec![
        KeptEvent::MakeRequested { at },
        KeptEvent::Made { made: made.clone() },
        KeptEvent::UndoRequested { at },
        KeptEvent::Undone,
        KeptEvent::Dropped,
        KeptEvent::AttemptBegan,
        KeptEvent::RetryScheduled { until: at, fault: fault() },
        KeptEvent::GaveUp { fault: fault(), again: Some(at) },
        KeptEvent::GaveUp { fault: fault(), again: None },
    ];
    let own = vec![
        Event::Declared { spec: spec() },
        Event::Pointed { at: Some(name("a")) },
        Event::Pointed { at: None },
        Event::RemovalBegan,
        Event::Removed,
    ];
    let mut all = forms("event", own.into_iter().chain(kept.into_iter().map(Event::Kept)));
    let reports = vec![
        KeptReport::Made { attempt, made: made.clone() },
        KeptReport::MakeFailed { attempt, fault: fault() },
        KeptReport::Undone { attempt },
        KeptReport::UndoFailed { attempt, fault: fault() },
    ];
    let commands = vec![
        Command::Declare(spec()),
        Command::Point { at: Some(name("a")) },
        Command::Remove,
        Command::Retry,
        Command::Wake,
    ];
    all.extend(forms("command", commands.into_iter().chain(reports.into_iter().map(Command::Report))));
    let reasons = Reason::ALL.to_vec();
    let immutable = Rejection::Immutable { field: "spec.provider".into() };
    let rejections = vec![Rejection::NotDeclared, Rejection::Leaving, immutable];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<VirtualIp>("verdict", reasons, rejections));
    all.push(form("made".into(), &made));
    // Those of its supervisor.
    let order = Order::<VirtualIp> { name: name("front"), command: Command::Point { at: None } };
    all.extend(forms("supervisor.event", [custom::Event::Issued { order, cites: Vec::new() }]));
    let about = vec!["machine/a".parse().expect("a stream")];
    all.extend(forms("supervisor.command", [custom::Command::Look { about }]));
    all.extend(verdicts::<custom::State<VirtualIp>>(
        "supervisor.verdict",
        custom::LookReason::ALL.to_vec(),
        Vec::new(),
    ));
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own_kind/golden"), "virtual-ip", &all);
}

#[test]
fn a_name_that_is_taken_is_refused() {
    registered();
    let again = register::<VirtualIp>().expect_err("it is registered");
    assert_eq!(again.to_string(), "kind VirtualIp cannot be registered: the name is taken");
}
