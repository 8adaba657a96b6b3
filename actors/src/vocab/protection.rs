//! Deletion protection, as every kind has it that can be protected.

/// Why something is not removed, and what to do about it. The same words for all kinds.
pub const PROTECTED: &str =
    "it is protected; end that with `bailiwick unprotect`, or apply it with `metadata.protect: false`";
