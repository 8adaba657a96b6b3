//! Providers that are processes: good ones, broken ones, and ones that lie.

mod broken;
mod lies_once;
mod lying;
mod planted;
mod stopping;
mod suite;
mod support;
