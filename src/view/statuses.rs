//! The words that stand under STATUS.

use bailiwick_actors::document::Kind;

/// Every status that an entity of this kind can be listed with; none where the kind has none.
pub fn statuses(kind: &str) -> &'static [&'static str] {
    match kind {
        "machine" => &[
            "waiting",
            "creating",
            "starting",
            "ready",
            "unhealthy",
            "stale",
            "lost",
            "failed",
            "held",
            "kept",
            "disowned",
            "draining",
            "dying",
            "deleting",
        ],
        "volume" => {
            &["pending", "creating", "available", "reserved", "lost", "failed", "dying", "destroying", "blocked"]
        }
        "filesystem" => &["pending", "creating", "available", "reserved", "failed", "dying", "destroying", "blocked"],
        "volume-attachment" => &["waiting", "attaching", "attached", "lost", "failed", "detaching", "blocked"],
        "filesystem-attachment" => &["waiting", "attaching", "attached", "failed", "detaching", "blocked"],
        "machine-set" => &["changing", "waiting", "at-rest", "held", "frozen", "removing"],
        "machine-deployment" => &["progressing", "complete", "waiting", "paused", "stuck", "removing"],
        "machine-class" => &["unused", "in-use", "removing"],
        "replica-set" => &["not-begun", "looking", "settled", "degraded", "changing", "waiting"],
        "member" => &["declared", "joining", "learner", "voter", "leaving", "stranger"],
        _ => &[],
    }
}

/// Every kind that entities can be listed of.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    const KINDS: [&str; 11] = [
        "machine",
        "machine-set",
        "machine-deployment",
        "machine-class",
        "volume",
        "volume-attachment",
        "filesystem",
        "filesystem-attachment",
        "policy",
        "replica-set",
        "member",
    ];
    KINDS.into_iter().chain(Kind::ALL.into_iter().map(Kind::as_str))
}
