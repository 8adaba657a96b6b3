//! One binary for all tests that go through the public interface.

mod conflict;
mod golden;
mod kill;
mod reopen;
mod stores;
mod tools;
mod torn_tail;
