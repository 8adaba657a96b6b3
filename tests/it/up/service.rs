//! A node tells the service manager that starts it that it serves, that it still answers, and that it stops.

use std::{
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    time::Duration,
};

use super::support::{Lab, Running};

/// What was told until these words came, those included.
#[track_caller]
fn until(manager: &UnixDatagram, words: &str) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        let mut message = [0; 4_096];
        let length = manager.recv(&mut message).unwrap_or_else(|error| panic!("{error} before {words}: {told:?}"));
        told.push(String::from_utf8_lossy(&message[..length]).into_owned());
        if told.last().is_some_and(|last| last.lines().any(|line| line == words)) {
            return told;
        }
    }
}

/// A node of this service manager, which has a watchdog of 200 ms.
fn started(lab: &Lab, manager: &UnixDatagram, address: &str) -> Running {
    manager.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    Running::of(lab.command(&["serve"]).env("NOTIFY_SOCKET", address).env("WATCHDOG_USEC", "200000"))
}

#[test]
fn a_service_manager_is_told_that_the_node_serves_still_answers_and_stops() {
    // Given a service manager
    let lab = Lab::new();
    let place = tempfile::tempdir().expect("a directory");
    let address = place.path().join("notify");
    let manager = UnixDatagram::bind(&address).expect("bound");
    // when it starts a node
    let node = started(&lab, &manager, address.to_str().expect("text"));
    // then it hears that the node serves once it does,
    assert_eq!(until(&manager, "READY=1"), ["READY=1"]);
    lab.run(&["status"]).code(0);
    // then again and again that it answers, and how it is,
    let told = [until(&manager, "WATCHDOG=1"), until(&manager, "WATCHDOG=1"), until(&manager, "WATCHDOG=1")].concat();
    assert!(told.contains(&"STATUS=ready".to_owned()), "{told:?}");
    assert!(told.iter().all(|told| !told.starts_with("STOPPING")), "{told:?}");
    // and at last that it stops.
    node.signal(rustix::process::Signal::TERM);
    until(&manager, "STOPPING=1");
    node.ended().code(0);
}

#[test]
fn a_service_manager_may_have_an_abstract_address_or_be_gone() {
    let lab = Lab::new();
    let name = format!("bailiwick-test-{}", std::process::id());
    let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("bound");
    let node = started(&lab, &manager, &format!("@{name}"));
    until(&manager, "READY=1");
    drop(manager);
    lab.run(&["status"]).code(0);
    node.stopped().code(0);
    let alone = Running::of(lab.command(&["serve"]).env("NOTIFY_SOCKET", "/nowhere/notify"));
    alone.says("listening on");
    alone.stopped().code(0);
}
