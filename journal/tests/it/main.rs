//! One binary for all tests that go through the public interface.

mod stores;
