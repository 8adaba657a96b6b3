//! The deciding of bailiwick: pure cores, and the thin shell around them.
//!
//! A core answers three questions: what should happen (`decide`), what is true now (`evolve`), what does the world still
//! owe (`pending`). It touches no clock, no chance, no disk and no network; it builds without actix and tokio
//! (`--no-default-features`). The shell owns mailbox, clock, journal and providers.

pub mod vocab;

pub mod storage_rules;

pub mod contract;

pub mod attachment;
pub mod document;
pub mod filesystem;
pub mod filesystem_attachment;
pub mod machine;
pub mod machine_class;
pub mod machine_deployment;
pub mod machine_set;
pub mod member;
pub mod policy;
pub mod provider;
pub mod replica_set;
pub mod storage;
pub mod volume;
pub mod volume_attachment;

pub mod schedule;
pub mod supervisor;

pub mod ports;

pub mod replay;

pub mod custom;

#[cfg(feature = "shell")]
pub mod shell;

#[cfg(feature = "testing")]
pub mod testing;
