//! A provider in memory, with seeded faults.
