//! All integration tests, in one binary.

mod cases;
mod manifest;
mod tidy;
mod up;
