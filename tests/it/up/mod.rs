//! The main job with real processes: the program itself, real machines, real signals, real sockets.

mod account;
mod backup;
mod bad_manifests;
mod canary;
mod change;
mod command_line;
mod crash_points;
mod dice;
mod drain;
mod exec;
mod health;
mod inside;
mod join;
mod kills;
mod loss;
mod memory;
mod observe;
mod once;
mod operator;
mod secrets;
mod signals;
mod support;
