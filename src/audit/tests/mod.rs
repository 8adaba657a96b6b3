//! Journals that were written honestly replay; each planted fault is reported.

mod backtests;
mod faults;
pub(crate) mod journals;
mod told;
