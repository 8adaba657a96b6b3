//! Sample values of machine deployments.

use std::sync::Arc;

use bailiwick_actors::{
    machine,
    machine_deployment::{
        Amount, Command, Counts, Event, Progress, ProgressReason, Reason, Rejection, RollingUpdate, Spec, Strategy,
        Totals,
    },
    vocab::{Day, FailureReason, Life, Window, Windows},
};
use bailiwick_journal::Version;

use super::{AT, name, verdicts};
use crate::{Forms, forms};

pub(crate) fn machine_deployment() -> Forms {
    let template = Arc::new(machine::Spec::with_provider(name("local")));
    let update = RollingUpdate { max_surge: Amount::Percent(25), max_unavailable: Amount::Machines(1) };
    let spec = Spec {
        replicas: 3,
        template: template.clone(),
        selector: [("app".to_owned(), "web".to_owned())].into(),
        strategy: Strategy::RollingUpdate(update),
        min_ready_ms: 1,
        history_limit: Some(2),
        progress_deadline_ms: Some(3),
        paused: true,
        windows: Some(Windows(vec![Window { days: [Day::Sat, Day::Sun].into(), from_minute: 1_320, for_ms: 4 }])),
    };
    let recreated = Spec { strategy: Strategy::Recreate, ..spec.clone() };
    let failing = |failure| Counts { machines: 4, active: 3, ready: 2, available: 1, failure };
    let reasons = [None, Some(FailureReason::FailedCreate), Some(FailureReason::FailedDelete)];
    let counts = |failure| [(name("web-1"), failing(failure))].into();
    let mut commands = vec![
        Command::Declare(spec.clone()),
        Command::Declare(recreated),
        Command::Remove,
        Command::Wake { due: AT },
        Command::Pause,
        Command::Resume,
        Command::Restart,
        Command::Undo { revision: None },
        Command::Undo { revision: Some(2) },
        Command::Adopt { set: name("old"), template: template.clone(), replicas: 1, created: AT },
        Command::Forget { set: name("old") },
        Command::ReportEmpty,
        Command::Protect { on: true },
        Command::Hurry,
    ];
    commands.extend(reasons.map(|failure| Command::Observe {
        counts: counts(failure),
        free: name("web-2"),
        again: Some(AT),
    }));
    let mut all = forms("command", commands);
    let mut events = vec![
        Event::Declared { spec: spec.clone() },
        Event::SpecChanged { spec },
        Event::Restarted { at: AT },
        Event::RolledBack { revision: 2 },
        Event::RemovalBegan,
        Event::Removed,
        Event::PassOwed,
        Event::Ripened,
        Event::DeadlinePassed,
        Event::Adopted { set: name("old"), template, replicas: 1, created: AT },
        Event::Forgotten { set: name("old") },
        Event::Observed { counts: counts(None), again: Some(AT) },
        Event::SetMade { set: name("web-2"), replicas: 1, sized_for: 3, most: 4, at: AT },
        Event::Renumbered { set: name("web-1"), revision: 3 },
        Event::Scaled { set: name("web-1"), replicas: 2, sized_for: 3, most: 4 },
        Event::SetDropped { set: name("web-1") },
        Event::Counted { totals: Totals { machines: 4, updated: 3, ready: 2, available: 1, observed: Version(5) } },
    ];
    let stages = [
        ProgressReason::NewMachineSetCreated,
        ProgressReason::FoundNewMachineSet,
        ProgressReason::MachineSetUpdated,
        ProgressReason::NewMachineSetAvailable,
        ProgressReason::ProgressDeadlineExceeded,
        ProgressReason::DeploymentPaused,
        ProgressReason::DeploymentResumed,
        ProgressReason::WindowAwaited,
        ProgressReason::WindowOpened,
    ];
    events.extend(stages.map(|reason| Event::Progressed { progress: Progress { reason, at: AT } }));
    events.push(Event::Protected { on: true });
    events.extend([Event::WindowAwaited { opens: Some(AT) }, Event::WindowOpened, Event::Hurried]);
    all.extend(forms("event", events));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::TooMany { most: 7 },
        Rejection::BadTemplate,
        Rejection::SelectorMismatch,
        Rejection::Paused,
        Rejection::NoEarlierRevision,
        Rejection::UnknownRevision { revision: 2 },
        Rejection::Protected,
        Rejection::BadWindows { problem: "window 0 names no day".into() },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<bailiwick_actors::machine_deployment::State>(Reason::ALL, rejections));
    all
}
