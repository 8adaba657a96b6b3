//! Engines of replica sets: one suite that every engine passes, and real etcd servers.

mod adapter;
mod conformance;
mod crash_points;
mod etcd;
mod guards;
mod lab;
mod model;
mod node;
mod scenarios;
mod seeds;
mod told;
#[path = "../simulation/trials.rs"]
mod trials;
