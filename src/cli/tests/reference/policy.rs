//! The policy, section by section.

use serde_json::{Value, json};

use super::{
    Absent::{Default, None},
    Row, Section, row,
};

fn least(spec: Value) -> Value {
    json!({"apiVersion": "bailiwick/v1", "kind": "Policy", "metadata": {"name": "default"}, "spec": spec})
}

fn section(title: &'static str, about: &'static str, at: &'static str, rows: Vec<Row>) -> Section {
    let name = at.rsplit('/').next().unwrap_or("");
    Section { title, about, least: least(json!({name: {}})), at, rows }
}

pub(super) fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Policy",
            about: "The periods and limits that decisions depend on; a field that is left out has its default.",
            least: least(json!({})),
            at: "/spec",
            rows: top(),
        },
        section("Policy: machines", "Attempts and observation.", "/spec/machines", machines()),
        section("Policy: harvest", "Unknown instances.", "/spec/harvest", harvest()),
        section(
            "Policy: health",
            "When a machine is unhealthy, and how it is replaced and drained.",
            "/spec/health",
            health(),
        ),
        section("Policy: retries", "When failures are retried.", "/spec/retries", retries()),
        section("Policy: zones", "Where instances are created.", "/spec/zones", zones()),
        section("Policy: storage", "Attempts at storage operations.", "/spec/storage", storage()),
        section("Policy: rollouts", "For deployments without windows of their own.", "/spec/rollouts", rollouts()),
        section("Policy: replicaSets", "By whose rules members join and vote.", "/spec/replicaSets", replica_sets()),
    ]
}

fn top() -> Vec<Row> {
    let of_section = |name, example| row(name, "mapping", Default("{}"), example, "below");
    vec![
        row(
            "like",
            "`default`, `juju-2016`, `gardener-0.49` or another named policy",
            Default("default"),
            "juju-2016",
            "the choices of another system where nothing else is said",
        ),
        of_section("machines", "{poll: 1s}"),
        of_section("harvest", "{mode: none}"),
        of_section("health", "{recheck: 1s}"),
        of_section("retries", "{short: 1s}"),
        of_section("zones", "{blame: any}"),
        of_section("storage", "{retryMax: 1h}"),
        of_section("rollouts", "{windows: [{from: '22:00', for: 4h}]}"),
        of_section("replicaSets", "{rules: juju-2019}"),
    ]
}

fn machines() -> Vec<Row> {
    vec![
        row(
            "attemptsMax",
            "number; 0 = no limit",
            Default("11"),
            "3",
            "attempts at creating or deleting an instance before giving up",
        ),
        row(
            "retryFirst",
            "period",
            Default("10s"),
            "1s",
            "the wait before the second attempt; doubles with each further one",
        ),
        row("retryMax", "period", Default("3m"), "1m", "the longest such wait"),
        row(
            "callTimeout",
            "period, more than 0",
            Default("2m"),
            "1m",
            "a provider call that takes longer is looked up, not repeated",
        ),
        row("poll", "period, more than 0", Default("5s"), "1s", "how often providers are asked for their lists"),
        row("nodeStale", "period, more than 0", Default("40s"), "1m", "a machine that is silent for longer is stale"),
        row("restartGrace", "period", Default("60s"), "0s", "no machine is stale this soon after the node starts"),
        row(
            "whenLost",
            "`replace`, `keep` or `ignore`",
            Default("replace"),
            "keep",
            "what happens when its instance is gone",
        ),
    ]
}

fn harvest() -> Vec<Row> {
    vec![
        row(
            "mode",
            "`none`, `unknown`, `destroyed` or `all`",
            Default("destroyed"),
            "all",
            "which instances are stopped",
        ),
        row("sightingsMin", "number", Default("2"), "3", "complete lists that must show an instance as unknown"),
        row("grace", "period", Default("5m"), "1h", "how long it must have been unknown"),
    ]
}

fn health() -> Vec<Row> {
    [health_of_machines(), drains()].concat()
}

fn health_of_machines() -> Vec<Row> {
    let conditions = "[KernelDeadlock, ReadonlyFilesystem, DiskPressure, NetworkUnavailable]";
    vec![
        row(
            "creationTimeout",
            "period, more than 0",
            Default("20m"),
            "1h",
            "a machine that has not joined by then is given up",
        ),
        row(
            "healthTimeout",
            "period, more than 0",
            Default("10m"),
            "5m",
            "a machine that is unhealthy or silent for longer is given up",
        ),
        row(
            "recheck",
            "period, more than 0",
            Default("60s"),
            "1s",
            "how long a machine has to recover when its zone comes back just then",
        ),
        row(
            "nodeConditions",
            "list of texts, at most 32",
            Default(conditions),
            "[DiskPressure]",
            "conditions that make a machine unhealthy",
        ),
        row(
            "bareReport",
            "`healthy` or `unhealthy`",
            Default("healthy"),
            "unhealthy",
            "how a node that reports no condition is judged",
        ),
        row(
            "criticalTaint",
            "`holds-all` or `holds-joining`",
            Default("holds-all"),
            "holds-joining",
            "whether the taint of missing components keeps a machine from joining and from recovering, or only from joining",
        ),
        row(
            "undeployed",
            "`everyone` or `unlimited`",
            Default("everyone"),
            "unlimited",
            "the replacement budget of machines outside sets: that of all machines, or none",
        ),
        row(
            "askProvider",
            "`never`, `first` or `decides`",
            Default("first"),
            "never",
            "whether the provider is asked before a machine is given up",
        ),
        row("replacementsMax", "number", Default("1"), "2", "machines replaced at the same time"),
        row(
            "zoneSilentMin",
            "number; 0 = never",
            Default("3"),
            "0",
            "if a zone has at least this many machines and all are silent, none is replaced",
        ),
        row("allSilentMin", "number; 0 = never", Default("3"), "0", "the same for all machines of all zones"),
        row(
            "outageAfter",
            "period; 0 = never",
            Default("30s"),
            "1m",
            "while a provider is unreachable for longer, none of its machines is replaced",
        ),
        row("outageCheck", "period, more than 0", Default("6s"), "1s", "how often it is asked until then, at least"),
        row(
            "overshootUp",
            "number",
            Default("2"),
            "3",
            "a set that exceeds twice its number by this many machines creates no more",
        ),
        row("overshootDown", "number", Default("1"), "2", "until it is this many below that limit"),
        row("keepFailed", "period", Default("0s"), "2h", "how long a failed machine of a set is kept for diagnosis"),
        row("keepFailedMax", "number", Default("2"), "1", "how many of one set at a time"),
    ]
}

fn drains() -> Vec<Row> {
    vec![
        row(
            "drainTimeout",
            "period",
            Default("2h"),
            "10m",
            "workloads still running this long after the removal was requested are not waited for",
        ),
        row(
            "drainSkipAfter",
            "period",
            Default("5m"),
            "1m",
            "nor those of a node that is not ready, or read-only, for longer",
        ),
        row(
            "drainOrder",
            "`lowest-first` or `highest-first`",
            Default("lowest-first"),
            "highest-first",
            "the order of priorities; `highest-first` counts among workloads with volumes only",
        ),
        row("evictionRetry", "period, more than 0", Default("20s"), "1m", "how often a refused eviction is retried"),
        row("evictionsMax", "number", Default("360"), "3", "refusals after which a workload is stopped anyway"),
        row(
            "workloadEnd",
            "period, more than 0",
            Default("30s"),
            "1m",
            "how long a workload is waited for beyond its `grace`",
        ),
        row(
            "volumeDetach",
            "period",
            Default("2m"),
            "1m",
            "how long its volumes are waited for before the next workload's turn",
        ),
    ]
}

fn retries() -> Vec<Row> {
    vec![
        row(
            "by",
            "`backoff` or `fault-code`",
            Default("backoff"),
            "fault-code",
            "what the wait before a machine's next attempt follows from",
        ),
        row(
            "short",
            "period, more than 0",
            Default("15s"),
            "1s",
            "after unknown, deadline-exceeded, aborted, unavailable",
        ),
        row("medium", "period, more than 0", Default("3m"), "1m", "after any other failure to create"),
        row("long", "period, more than 0", Default("10m"), "1h", "after any other failure to delete"),
        row(
            "permanentMax",
            "number; 0 = no limit",
            Default("3"),
            "1",
            "permanent faults in a row that end the attempts",
        ),
        row(
            "judged",
            "`each` or `first`",
            Default("each"),
            "first",
            "whether only the first failure decides if a fault is permanent",
        ),
        row(
            "giveUpBy",
            "`attempts` or `age`",
            Default("attempts"),
            "age",
            "`age`: also once creating fails after the creation timeout",
        ),
        row(
            "again",
            "period; 0 = on command only",
            Default("30m"),
            "1h",
            "when a new series of attempts begins automatically",
        ),
    ]
}

fn zones() -> Vec<Row> {
    vec![
        row("blame", "`capacity` or `any`", Default("capacity"), "any", "which faults lead to another zone"),
        row("next", "`at-once` or `after-wait`", Default("at-once"), "after-wait", "when the next zone is tried"),
        row("lastRound", "`all` or `one`", Default("all"), "one", "in how many zones the last attempt is made"),
        row(
            "whenNone",
            "`wait` or `give-up`",
            Default("wait"),
            "give-up",
            "what to do with a machine if its provider has none of its allowed zones",
        ),
    ]
}

fn storage() -> Vec<Row> {
    vec![
        row("attemptsMax", "number; 0 = no limit", Default("0"), "3", "attempts before giving up"),
        row(
            "retryFirst",
            "period",
            Default("30s"),
            "1s",
            "the wait before the second attempt; doubles with each further one",
        ),
        row("retryMax", "period", Default("30m"), "1h", "the longest such wait"),
        row(
            "callTimeout",
            "period, more than 0",
            Default("2m"),
            "1m",
            "a provider call that takes longer is looked up, not repeated",
        ),
        row(
            "mountDir",
            "absolute path",
            None("chosen by the provider"),
            "/srv/storage",
            "where filesystems without a path are mounted",
        ),
    ]
}

fn rollouts() -> Vec<Row> {
    let example = "[{days: [sat], from: '22:00', for: 4h}]";
    vec![row(
        "windows",
        "`always`, or list of windows",
        Default("always"),
        example,
        "when working machines may be replaced",
    )]
}

fn replica_sets() -> Vec<Row> {
    let names = "`default`, `juju-2019`, `juju-2.9` or `juju-3.x`";
    vec![row("rules", names, Default("default"), "juju-2019", "for comparison with other systems")]
}
