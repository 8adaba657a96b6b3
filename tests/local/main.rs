//! The local provider with real processes and real files.

mod agent;
mod gone;
mod machines;
mod node;
mod support;
mod volumes;
