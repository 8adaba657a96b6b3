//! What MongoDB's errors mean: which of them say for certain that nothing was changed.
//!
//! Everything else is unknown. That holds for errors of a server that is not primary (any more), too: it may say so after it
//! has installed a configuration and before a majority had it. Source: the server's list of errors, and the order of its
//! checks around `replSetReconfig` and `replSetStepDown`.

use bailiwick_actors::{
    ports::replica_set::Outcome,
    vocab::{Fault, FaultCode},
};

use super::admin::Broken;

/// The numbers of errors that are told apart here.
pub(crate) mod code {
    pub(crate) const BAD_VALUE: i32 = 2;
    pub(crate) const FAILED_TO_PARSE: i32 = 9;
    pub(crate) const UNAUTHORIZED: i32 = 13;
    pub(crate) const TYPE_MISMATCH: i32 = 14;
    pub(crate) const AUTHENTICATION_FAILED: i32 = 18;
    pub(crate) const ALREADY_INITIALIZED: i32 = 23;
    pub(crate) const COMMAND_NOT_FOUND: i32 = 59;
    pub(crate) const INVALID_OPTIONS: i32 = 72;
    pub(crate) const NODE_NOT_FOUND: i32 = 74;
    pub(crate) const NO_REPLICATION_ENABLED: i32 = 76;
    pub(crate) const INVALID_REPLICA_SET_CONFIG: i32 = 93;
    pub(crate) const NOT_YET_INITIALIZED: i32 = 94;
    pub(crate) const NEW_CONFIGURATION_INCOMPATIBLE: i32 = 103;
    pub(crate) const NODE_NOT_ELECTABLE: i32 = 104;
    pub(crate) const CONFIGURATION_IN_PROGRESS: i32 = 109;
    pub(crate) const CANNOT_INITIALIZE_NODE_WITH_DATA: i32 = 110;
    pub(crate) const CONFLICTING_OPERATION_IN_PROGRESS: i32 = 117;
    pub(crate) const EXCEEDED_TIME_LIMIT: i32 = 262;
    pub(crate) const CURRENT_CONFIG_NOT_COMMITTED_YET: i32 = 308;
    pub(crate) const LEGACY_NOT_PRIMARY: i32 = 10058;
    pub(crate) const NOT_WRITABLE_PRIMARY: i32 = 10107;

    // Numbers that the model's servers say and that mean nothing certain: they are told apart by nobody.
    #[cfg(feature = "testing")]
    pub(crate) const MAX_TIME_MS_EXPIRED: i32 = 50;
    #[cfg(feature = "testing")]
    pub(crate) const PRIMARY_STEPPED_DOWN: i32 = 189;
    #[cfg(feature = "testing")]
    pub(crate) const INTERRUPTED_BY_STATE_CHANGE: i32 = 11602;
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Look,
    Reconfigure,
    StepDown,
    Initiate,
}

/// What came of a command that changes something.
pub(super) fn outcome(asked: Asked, host: &str, broken: Broken) -> Outcome {
    match broken {
        Broken::NotSent(fault) => Outcome::Refused(fault),
        Broken::Unclear(fault) => Outcome::Unknown(fault),
        Broken::Said { code, name, text } => {
            let says = says(host, code, &name, &text);
            match refusal(asked, code) {
                Some(meaning) => Outcome::Refused(Fault::new(meaning, says)),
                None => Outcome::Unknown(Fault::new(FaultCode::Unknown, says)),
            }
        }
    }
}

/// What went wrong with a command that only reads.
pub(super) fn fault(host: &str, broken: Broken) -> Fault {
    match broken {
        Broken::NotSent(fault) | Broken::Unclear(fault) => fault,
        Broken::Said { code, name, text } => {
            let meaning = refusal(Asked::Look, code).unwrap_or(FaultCode::Unavailable);
            Fault::new(meaning, says(host, code, &name, &text))
        }
    }
}

fn says(host: &str, code: i32, name: &str, text: &str) -> String {
    let next = if text.contains("implicit default write concern") {
        "; next: set the default write concern with setDefaultRWConcern, and this is tried again"
    } else if code == code::NO_REPLICATION_ENABLED {
        "; next: start it with --replSet and the name of the set"
    } else {
        ""
    };
    format!("{host}: {name} ({code}): {text}{next}")
}

/// What an error means that says for certain that nothing was changed; none if it does not say so.
fn refusal(asked: Asked, code: i32) -> Option<FaultCode> {
    use code::*;
    let meaning = match (asked, code) {
        (_, UNAUTHORIZED) => FaultCode::PermissionDenied,
        (_, AUTHENTICATION_FAILED) => FaultCode::Unauthenticated,
        (_, BAD_VALUE | FAILED_TO_PARSE | TYPE_MISMATCH | INVALID_OPTIONS) => FaultCode::InvalidArgument,
        (_, COMMAND_NOT_FOUND) => FaultCode::Unimplemented,
        (_, NO_REPLICATION_ENABLED) => FaultCode::FailedPrecondition,
        (_, NOT_YET_INITIALIZED) => FaultCode::Uninitialized,
        (Asked::Reconfigure | Asked::Initiate, INVALID_REPLICA_SET_CONFIG | NEW_CONFIGURATION_INCOMPATIBLE) => {
            FaultCode::FailedPrecondition
        }
        // Both are said before the new configuration is written down: too few members answered, or another write is on
        // its way. (That one may be ours, of which we did not hear: reading back tells.)
        (Asked::Reconfigure | Asked::Initiate, NODE_NOT_FOUND | CONFIGURATION_IN_PROGRESS) => FaultCode::Unavailable,
        (Asked::Reconfigure, NODE_NOT_ELECTABLE | CURRENT_CONFIG_NOT_COMMITTED_YET) => FaultCode::FailedPrecondition,
        (Asked::Initiate, ALREADY_INITIALIZED) => FaultCode::AlreadyExists,
        (Asked::Initiate, CANNOT_INITIALIZE_NODE_WITH_DATA) => FaultCode::FailedPrecondition,
        // It was not primary when it was asked, or nobody caught up in time and it stays.
        (Asked::StepDown, NOT_WRITABLE_PRIMARY | LEGACY_NOT_PRIMARY) => FaultCode::FailedPrecondition,
        (Asked::StepDown, EXCEEDED_TIME_LIMIT | CONFLICTING_OPERATION_IN_PROGRESS) => FaultCode::FailedPrecondition,
        _ => return None,
    };
    Some(meaning)
}

#[cfg(test)]
mod tests {
    use super::{code::*, *};

    fn of(asked: Asked, code: i32) -> Outcome {
        outcome(asked, "a:1", Broken::Said { code, name: "Name".into(), text: "text".into() })
    }

    #[test]
    fn what_was_refused_before_it_was_installed_is_refused_and_the_rest_is_unknown() {
        for code in [
            INVALID_REPLICA_SET_CONFIG,
            NEW_CONFIGURATION_INCOMPATIBLE,
            NODE_NOT_ELECTABLE,
            CONFIGURATION_IN_PROGRESS,
            CURRENT_CONFIG_NOT_COMMITTED_YET,
            NODE_NOT_FOUND,
            UNAUTHORIZED,
        ] {
            assert!(matches!(of(Asked::Reconfigure, code), Outcome::Refused(_)), "{code}");
        }
        // 91, 11600: it shuts down; 6, 89, 9001: its network; 64: a write concern; 0 and the like: nobody knows.
        for code in [
            MAX_TIME_MS_EXPIRED,
            EXCEEDED_TIME_LIMIT,
            PRIMARY_STEPPED_DOWN,
            INTERRUPTED_BY_STATE_CHANGE,
            NOT_WRITABLE_PRIMARY,
            LEGACY_NOT_PRIMARY,
            13435,
            91,
            11600,
            6,
            89,
            9001,
            64,
            1,
            8,
            0,
            -1,
        ] {
            assert!(matches!(of(Asked::Reconfigure, code), Outcome::Unknown(_)), "{code}");
        }
    }

    #[test]
    fn a_primary_that_stays_refused_to_step_down_and_one_that_broke_off_is_unknown() {
        for code in [EXCEEDED_TIME_LIMIT, NOT_WRITABLE_PRIMARY] {
            assert!(matches!(of(Asked::StepDown, code), Outcome::Refused(_)), "{code}");
        }
        for code in [PRIMARY_STEPPED_DOWN, INTERRUPTED_BY_STATE_CHANGE, MAX_TIME_MS_EXPIRED] {
            assert!(matches!(of(Asked::StepDown, code), Outcome::Unknown(_)), "{code}");
        }
    }

    #[test]
    fn a_refusal_that_somebody_can_end_says_how() {
        let text = "Reconfig attempted to install a config that would change the implicit default write concern";
        let said = Broken::Said { code: 103, name: "NewReplicaSetConfigurationIncompatible".into(), text: text.into() };
        let Outcome::Refused(fault) = outcome(Asked::Reconfigure, "a:1", said) else { panic!("it is refused") };
        assert!(fault.text.contains("setDefaultRWConcern"), "{fault}");
    }
}
