//! The main job with real processes: the program itself, real machines, real signals, real sockets.

mod account;
mod backup;
mod bad_manifests;
mod change;
mod clock;
mod command_line;
mod crash_points;
mod dice;
mod diff;
mod drain;
mod exec;
mod full_disk;
mod health;
mod inside;
mod join;
mod kills;
mod loss;
mod observe;
mod once;
mod operator;
mod secrets;
mod selectors;
mod signals;
mod support;
mod tour;
