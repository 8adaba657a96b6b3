//! One binary for all tests that go through the public interface.

mod checkpoint;
mod conflict;
#[path = "../common/deadline.rs"]
mod deadline;
mod elsewhere;
mod golden;
mod group;
mod hostile;
mod interval;
mod kill;
mod pack;
mod reopen;
mod salvage;
mod stores;
mod tools;
mod torn_tail;
mod verify;
