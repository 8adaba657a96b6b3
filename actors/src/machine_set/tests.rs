//! What the executed cases do not reach.
