//! Stored forms of machine classes, and of what machines take from them.

use bailiwick_actors::{
    machine_class,
    vocab::{ClassContent, ClassCopy, ClassFlaw, Life, NodeCapacity},
};

use super::{name, verdicts};
use crate::{Forms, forms};

/// A class with something in every field.
pub(crate) fn content() -> Box<ClassContent> {
    let template = NodeCapacity {
        capacity: ["cpu", "gpu", "memory"].map(|resource| (resource.to_owned(), "2".to_owned())).into(),
        instance_type: "large".into(),
        region: "eu".into(),
        zone: "b".into(),
    };
    Box::new(ClassContent {
        provider_spec: r#"{"image":"jammy"}"#.into(),
        secret: Some(name("boot")),
        credentials: Some(name("cloud")),
        node_template: Some(template),
        ..ClassContent::with_provider(name("local"))
    })
}

/// What a machine takes from it.
pub(crate) fn copy() -> Box<ClassCopy> {
    Box::new(ClassCopy { class: name("small"), revision: 3, content: content() })
}

pub(crate) fn machine_class() -> Forms {
    use machine_class::{Command, Event, Reason, Rejection};
    let machines = || vec![name("web"), name("db")];
    let mut all = forms(
        "command",
        [
            Command::Declare(content()),
            Command::Remove,
            Command::Use { machines: machines() },
            Command::Release { machines: machines() },
            Command::RemoveOnceUnused,
        ],
    );
    all.extend(forms(
        "event",
        [
            Event::Declared { content: content() },
            Event::Revised { content: content() },
            Event::Used { machines: machines() },
            Event::Released { machines: machines() },
            Event::Removed,
            Event::RemovalBegan,
        ],
    ));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::InUse { machines: machines(), more: 2 },
        Rejection::Flawed { flaw: ClassFlaw::TooLarge { bytes: 40_000 } },
        Rejection::Flawed { flaw: ClassFlaw::Incomplete },
        Rejection::ProviderFixed,
        Rejection::Leaving { life: Life::Dying },
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<machine_class::State>(Reason::ALL, rejections));
    all
}
