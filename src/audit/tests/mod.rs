//! Journals that were written honestly replay; each planted fault is reported.

mod faults;
mod journals;
mod told;
