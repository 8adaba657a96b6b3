//! All integration tests, in one binary.

mod cases;
mod deployments;
mod facade;
mod guards;
mod manifest;
mod tidy;
mod up;
