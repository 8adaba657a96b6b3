//! Providers that are processes: good ones, broken ones, and ones that lie.

mod broken;
mod lies_once;
mod lying;
mod owners;
mod planted;
mod stopping;
mod suite;
mod support;
