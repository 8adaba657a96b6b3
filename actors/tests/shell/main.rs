//! What actix does not do for us: one test for each promise of the shell.

mod asking;
mod breaking;
mod budgets;
mod calls;
mod commands;
mod memory;
mod operator;
mod overload;
mod storage;
mod support;
mod time;
