//! All integration tests, in one binary.

mod cases;
mod deployments;
mod guards;
mod manifest;
mod tidy;
mod up;
