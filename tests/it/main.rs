//! All integration tests, in one binary.

mod cases;
mod guards;
mod manifest;
mod tidy;
mod up;
