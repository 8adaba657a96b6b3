//! Attachments in words: volumes are attached, filesystems are mounted.

use bailiwick_actors::{
    attachment::{Attached, Command, Event, Report, State},
    filesystem_attachment::{self, Filesystems},
    ports::{AttachmentInfo, FilesystemAttachmentInfo},
    volume_attachment::{self, Volumes},
};

use super::{Words, gave_up, storage::skipped};

/// What people call attaching and detaching it.
struct Verbs {
    attached: &'static str,
    attaching: &'static str,
    detach: &'static str,
    detached: &'static str,
    detaching: &'static str,
    /// A detachment, as a noun.
    detachment: &'static str,
}

/// How attachments of one kind are spoken of.
trait Spoken: Attached {
    const VERBS: Verbs;

    fn declared(spec: &Self::Spec) -> String;

    /// What is attached to what, as a demand.
    fn demand(target: &Self::Target) -> String;

    /// That it was demanded.
    fn demanded(target: &Self::Target) -> String;

    /// Where it is found on its machine.
    fn place(info: &Self::Info) -> &str;
}

impl Spoken for Volumes {
    const VERBS: Verbs = Verbs {
        attached: "attached",
        attaching: "attaching",
        detach: "detach",
        detached: "detached",
        detaching: "detaching",
        detachment: "detachment",
    };

    fn declared(spec: &volume_attachment::Spec) -> String {
        format!("declare {}", access(spec.read_only))
    }

    fn demand(target: &volume_attachment::Target) -> String {
        format!("attach volume {} to instance {}", target.volume_id, target.instance)
    }

    fn demanded(target: &volume_attachment::Target) -> String {
        format!("requested attachment to instance {}", target.instance)
    }

    fn place(info: &AttachmentInfo) -> &str {
        &info.path
    }
}

impl Spoken for Filesystems {
    const VERBS: Verbs = Verbs {
        attached: "mounted",
        attaching: "mounting",
        detach: "unmount",
        detached: "unmounted",
        detaching: "unmounting",
        detachment: "unmount",
    };

    fn declared(spec: &filesystem_attachment::Spec) -> String {
        match &spec.path {
            Some(path) => format!("declare at {path}, {}", access(spec.read_only)),
            None => format!("declare {}", access(spec.read_only)),
        }
    }

    fn demand(target: &filesystem_attachment::Target) -> String {
        format!("mount filesystem {} on instance {}", target.filesystem_id, target.instance)
    }

    fn demanded(target: &filesystem_attachment::Target) -> String {
        format!("requested a mount on instance {}", target.instance)
    }

    fn place(info: &FilesystemAttachmentInfo) -> &str {
        &info.mount_point
    }
}

fn access(read_only: bool) -> &'static str {
    if read_only { "read-only" } else { "read-write" }
}

impl<A: Spoken> Words for State<A> {
    fn asked(command: &Command<A>) -> String {
        let Verbs { attached, detach, detached, detachment, .. } = A::VERBS;
        match command {
            Command::Declare(spec) => A::declared(spec),
            Command::Remove => "remove".into(),
            Command::Retry => "retry".into(),
            Command::Attach { target } => A::demand(target),
            Command::Detach { .. } => format!("{detach}: the instance is going away"),
            Command::TakeOver { info, .. } => {
                format!("record that it was {attached} on creation, at {}", A::place(info))
            }
            Command::Reattach => format!("verify that it is still {attached}"),
            Command::RemoveForced => format!("remove without waiting for the {detachment}"),
            Command::NoteGone { .. } => format!("record that it is {detached}: the instance is gone"),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Report(report) => reported(report),
        }
    }

    fn happened(event: &Event<A>) -> String {
        let Verbs { attached, attaching, detached, detaching, detachment, .. } = A::VERBS;
        match event {
            Event::Declared { .. } => "declared".into(),
            Event::AttachRequested { target, .. } => A::demanded(target),
            Event::Attached { info } => format!("provider {attached} it at {}", A::place(info)),
            Event::AttachRetryScheduled { until, fault } => {
                format!("{attaching} it failed ({fault}); next attempt at {until}")
            }
            Event::AttachGivenUp { fault, again } => gave_up(&format!("gave up {attaching} it"), fault, *again),
            Event::DetachRequested { .. } => format!("requested {detachment}"),
            Event::Detached => format!("provider {detached} it"),
            Event::DetachRetryScheduled { until, fault } => {
                format!("{detaching} it failed ({fault}); next attempt at {until}")
            }
            Event::DetachGivenUp { fault } => format!("gave up {detaching} it ({fault})"),
            Event::Overdue { .. } => format!("{detachment} is overdue"),
            Event::AttemptBegun => "started the next attempt".into(),
            Event::RemovalBegan => "removal started".into(),
            Event::Removed => "removed".into(),
            Event::TakenOver { info, .. } => format!("{attached} on creation, at {}", A::place(info)),
            Event::WentWithInstance => format!("{detached}: its instance is gone"),
            Event::Retargeted { .. } => "source device was renamed".into(),
            Event::ReattachRequested { .. } => format!("verifying that it is still {attached}"),
            Event::Skipped { what } => skipped(what),
            Event::AttachDropped => format!("nothing was {attached}"),
        }
    }
}

fn reported<A: Spoken>(report: &Report<A>) -> String {
    let Verbs { attached, attaching, detached, detaching, .. } = A::VERBS;
    match report {
        Report::Attached { attempt, info } => {
            format!("provider {attached} it at {} (attempt {attempt})", A::place(info))
        }
        Report::AttachFailed { attempt, fault } => format!("{attaching} it failed (attempt {attempt}): {fault}"),
        Report::Detached { attempt } => format!("provider {detached} it (attempt {attempt})"),
        Report::DetachFailed { attempt, fault } => format!("{detaching} it failed (attempt {attempt}): {fault}"),
    }
}
