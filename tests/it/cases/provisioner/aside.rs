//! The cases about the provisioner that do not hold for us by design.

use super::super::aside::{Aside, When};

const fn aside(group: &'static str, when: When, why: &'static str, shown_by: &'static str) -> Aside {
    Aside { file: "provisioner", group, when, why, shown_by }
}

const UNREADABLE: &str = "what a machine is stands in its own stream: there is no store that could fail to say it";
const UNRECORDED: &str =
    "an instance and its record cannot come apart: what a crash left unrecorded is found by its effect id";

pub(in super::super) const ASIDE: &[Aside] = &[
    aside(
        "classify",
        When::Says("/instance_id", "error:"),
        UNREADABLE,
        "damage_in_a_compressed_segment_is_filled_from_the_store_or_refused",
    ),
    aside(
        "classify",
        When::Says("/status", "error:"),
        UNREADABLE,
        "damage_in_a_compressed_segment_is_filled_from_the_store_or_refused",
    ),
    aside(
        "classify",
        When::Has("/ensure_dead"),
        "that a machine is dead is one event with what follows from it: there is no second write that could fail",
        "",
    ),
    aside(
        "classify",
        When::Says("/expect/class", "Maintain"),
        "no provider ever did anything in maintenance, and the original dropped it in 2020",
        "",
    ),
    aside(
        "passes",
        When::Mentions("load_error"),
        UNREADABLE,
        "damage_in_a_compressed_segment_is_filled_from_the_store_or_refused",
    ),
    aside(
        "passes",
        When::Has("/passes/0/mode"),
        "a policy counts from its revision on: nothing is unknown before a complete list was compared with the whole view",
        "an_unknown_instance_is_removed_after_two_complete_lists_and_the_grace_period_and_not_before",
    ),
    aside(
        "start_retry",
        When::Has("/record"),
        UNRECORDED,
        "a_crash_after_the_create_and_before_its_record_makes_no_second_instance",
    ),
    aside(
        "transient_retry",
        When::Says("/api", "error"),
        "nothing is listed before a retry: who was given up stands in the view",
        "",
    ),
    aside("transient_retry", When::Mentions("result_error"), UNREADABLE, ""),
    aside(
        "transient_retry",
        When::Mentions("set_status_error"),
        "that a machine is retried is one event: there is no status beside it that could fail to be written",
        "",
    ),
    aside(
        "worker_sequences",
        When::Lists("/events", "life dead (while starting)"),
        "what is to go is deleted by its id, whether its create has answered or not: it never counts as running",
        "what_is_removed_while_it_is_made_is_deleted_by_its_id",
    ),
    aside(
        "worker_sequences",
        When::Says("/events/0", "life dead"),
        "a machine that nobody has declared does not exist: there is nothing to remove",
        "",
    ),
];
