//! The storage providers with real loop devices, mounts and filesystems.
//!
//! Most of it needs root. Without, it says so, fails where `CI` is set, and what needs no rights is tested all the same.

mod crash;
mod directory;
mod disk;
mod hostile;
mod loop_volumes;
mod managed;
mod mounts;
mod runner;
mod support;
