//! Deletion protection, as every kind has it that can be protected.

/// Why something is not removed, and what to do about it. The same words for all kinds.
pub const PROTECTED: &str =
    "it is protected; run `bailiwick unprotect`, or apply its manifest with `metadata.protect: false`";
