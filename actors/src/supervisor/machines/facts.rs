//! What the steps of a look are decided by.

use super::State;
use crate::contract;

pub(super) type Facts<'a> = contract::Facts<'a, State>;
