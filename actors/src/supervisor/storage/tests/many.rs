//! More follows from one change than one entry holds.

use super::*;
use crate::supervisor::order::ORDERS_MAX;

/// A machine that goes, with that many attachments; each of them is to be removed.
fn leaving_with(count: usize) -> Seen {
    let mut seen = Seen::default().then("machine/web", machine_declared());
    for number in 0..count {
        let spec = volume_attachment::Spec { machine: name("web"), volume: volume(number), read_only: false };
        let declared = stored([volume_attachment::Event::Declared { spec }]);
        seen = seen.then(&format!("volume-attachment/web:{}", volume(number)), declared);
    }
    seen.then("machine/web", stored([machine::Event::RemovalBegan { at: Timestamp(8) }]))
}

fn volume(number: usize) -> Name {
    name(&format!("v{number:05}"))
}

fn removals(numbers: std::ops::Range<usize>) -> Vec<Order> {
    let remove = |number| Order::VolumeAttachment {
        machine: name("web"),
        volume: volume(number),
        command: volume_attachment::Command::Remove,
    };
    numbers.map(remove).collect()
}

#[test]
fn the_rest_is_ordered_once_the_first_are() {
    let more = ORDERS_MAX + 5;
    let seen = leaving_with(more);
    let first = seen.look("machine/web");
    assert_eq!(first, removals(0..ORDERS_MAX));
    let issued = first.into_iter().map(|order| Event::Issued { order, cites: Vec::new() });
    let seen = seen.then("supervisor/storage", stored(issued));
    assert_eq!(seen.look("machine/web"), removals(ORDERS_MAX..more));
}
