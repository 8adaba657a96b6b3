//! What must hold for every snapshot, and one test for each guard.
