//! What a real journal goes through when everything goes wrong at the worst moment.
//!
//! [`sweep()`] takes every prefix of a journal that a crash could have left (one per block), rebuilds what the providers and
//! the servers of replica sets had then from the outcomes in it, and lets the same node that wrote it go on in virtual time:
//! once as if the calls that were under way had not happened, and once as if they had. Of secrets only the names are known:
//! in their place stand placeholders.
//!
//! [`perturb()`] goes on from some of these prefixes while something goes wrong and people ask for what they asked for then;
//! [`run_all()`] runs a scenario on many bad days. What fails is written to a file, and run again by [`Repro::run`].

mod boundary;
mod parallel;
mod perturb;
mod prefixes;
mod remembered;
mod repro;
mod run;
mod running;
mod surroundings;
mod sweep;

#[cfg(test)]
mod tests;

pub use parallel::Follow;
pub use perturb::{
    Perturbation, Perturbed, PerturbedRuns, Plan, UnknownPerturbation, Unsettled, perturb, perturb_again,
};
pub use prefixes::{Prefixes, PrefixesError};
pub use remembered::Remembered;
pub use repro::{Found, Repro, ReproError, What};
pub use run::{Run, RunError, Runs, Shrunk, Sums, Verdict, day, run_all, run_once, shrink};
pub use running::sweep_running;
pub use surroundings::Surroundings;
pub use sweep::{Setup, SweepError, start_again, sweep};

pub use crate::api::wire::sweep::{Ending, InFlight, Sweep, Trial};
