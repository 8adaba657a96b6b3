//! Journals that were written honestly replay; each planted fault is reported.

mod faults;
pub(crate) mod journals;
mod rehearsals;
mod told;
