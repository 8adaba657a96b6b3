//! All kinds but accounts, policies, and what Juju's clients are told.

use serde_json::{Value, json};

use super::{
    ANYTHING,
    Absent::{Default, None, Required},
    Row, Section, row,
};

/// The least document of a kind.
pub(super) fn least(kind: &str, spec: Value) -> Value {
    json!({"apiVersion": "bailiwick/v1", "kind": kind, "metadata": {"name": "one"}, "spec": spec})
}

fn machine(spec: Value) -> Value {
    let mut document = least("Machine", spec);
    document["metadata"]["labels"] = json!({"tier": "front"});
    document
}

pub(super) fn section(
    title: &'static str,
    about: &'static str,
    least: Value,
    at: &'static str,
    rows: Vec<Row>,
) -> Section {
    Section { title, about, least, at, rows }
}

pub(super) fn sections() -> Vec<Section> {
    [every_document(), machines(), machine_parts(), sets(), storage(), replica_sets(), documents()].concat()
}

fn every_document() -> Vec<Section> {
    let document = machine(json!({"provider": "local"}));
    let top = vec![
        row("apiVersion", "`bailiwick/v1`", Required, "bailiwick/v1", "the version of this reference"),
        row("kind", "text", Required, "Machine", "one of the kinds below"),
        row("metadata", "mapping", Required, "{name: two}", "name, labels, protection"),
        row("spec", "mapping", Required, "{provider: exec}", "the fields of the kind"),
    ];
    let metadata = vec![
        row("name", "name", Required, "two", "unique within its kind"),
        row(
            "labels",
            "map of texts",
            Default("{}"),
            "{tier: front, role: writer}",
            "machines only: for selectors and `spread`; at most 64",
        ),
        row(
            "annotations",
            "map of texts",
            Default("{}"),
            "{owner: clerk}",
            "machines only: told to the agent; at most 64",
        ),
        row(
            "protect",
            "true or false",
            None("as it is"),
            "true",
            "protected from deletion; machines, volumes, filesystems, sets, deployments, replica sets",
        ),
    ];
    vec![
        section("A document", "What all kinds have.", document.clone(), "", top),
        section(
            "metadata",
            "Of a machine; other kinds have `name` and, where they can be protected, `protect`.",
            document,
            "/metadata",
            metadata,
        ),
    ]
}

fn machines() -> Vec<Section> {
    let spec = vec![
        row("provider", "name", Required, "exec", "who makes it; not required with a `class`"),
        row("class", "name", None("none"), "small", "the machine class it is made from"),
        row("workloads", "list, at most 64", Default("[]"), "[{name: web, command: [sleep, '1']}]", "what runs on it"),
        row(
            "storage",
            "map of requests, at most 64",
            Default("{}"),
            "{logs: 'local,64M,2'}",
            "storage of its own: `pool,size,count`, or a mapping (below)",
        ),
        row("constraints", "mapping", Default("{}"), "{cores: 2}", "what its instance must have"),
        row("base", "text", None("the model's"), "ubuntu@22.04", "system and channel that it is started with"),
        row(
            "zone",
            "text",
            None("chosen by the node or the provider"),
            "a",
            "where it is created, whatever happens there",
        ),
        row(
            "spread",
            "label",
            None("its set's other machines"),
            "tier",
            "kept apart, by zone, from machines with the same value of this label",
        ),
        row(
            "placement",
            "`key=value`",
            None("none"),
            "zone=b",
            "passed to the provider; `zone=` is understood by the node",
        ),
        row("parent", "name of a machine", None("none"), "two", "the machine that hosts it; not in templates"),
        row("tags", "map of texts", Default("{}"), "{team: a}", "passed to the provider"),
        row("jobs", "list of `host-units`, `manage-model`", Default("[]"), "[host-units]", "passed to the provider"),
        row("taints", "list, at most 64", Default("[]"), "[{key: gpu, effect: NoSchedule}]", "of its node"),
        row("patience", "mapping", Default("{}"), "{healthTimeout: 5m}", "overrides of the policy's waiting times"),
    ];
    let about = "One machine. The same fields are in `template.spec` of sets and deployments.";
    vec![section("Machine", about, machine(json!({"provider": "local"})), "/spec", spec)]
}

fn machine_parts() -> Vec<Section> {
    let with = |field: &str, value: Value| machine(json!({"provider": "local", field: value}));
    let workload = vec![
        row("name", "name", Required, "api", "unique within the machine"),
        row("command", "list of texts, at most 256", Required, "[sleep, '2']", "program and arguments; no shell"),
        row("env", "map of texts, at most 256", Default("{}"), "{A: b}", "environment; journaled, so not for secrets"),
        row("volumes", "list of names, at most 64", Default("[]"), "[data]", "the volumes that it uses"),
        row("priority", "whole number", Default("0"), "1", "order of ending on a drain, the lowest first"),
        row("grace", "period", None("5s"), "30s", "how long it has to end before it is killed"),
        row(
            "application",
            "name",
            None("all with a unit on the machine"),
            "shop",
            "whose disruption budget it counts for",
        ),
    ];
    let request = vec![
        row("volume", "`pool,size,count`", None("one of the two"), "'local,2M'", "a request for volumes"),
        row("filesystem", "`pool,size,count`", None("one of the two"), "'directory,2M'", "a request for filesystems"),
        row(
            "path",
            "absolute path",
            None("chosen by the provider"),
            "/srv/files",
            "where a single filesystem is mounted",
        ),
        row("readOnly", "true or false", Default("false"), "true", "attached for reading only"),
        row(
            "persistent",
            "true or false",
            None("true in a template, else false"),
            "true",
            "kept when its machine is removed",
        ),
    ];
    let constraints = vec![
        row("arch", "text", None("any"), "arm64", "architecture"),
        row("cores", "number", None("any"), "4", "processors, at least"),
        row("memory", "size", None("any"), "2G", "memory, at least"),
        row("rootDisk", "size", None("any"), "10G", "root disk, at least"),
        row("instanceType", "text", None("any"), "m1", "the provider's name of a size"),
        row("zones", "list of texts, at most 64", Default("[]"), "[a, b]", "where it may be"),
        row(
            "spaces",
            "list of names, at most 64",
            Default("[]"),
            "[inner, ^outer]",
            "spaces that it must reach, or with `^` must not",
        ),
    ];
    let taint = vec![
        row("key", "label", Required, "cpu", "its name"),
        row("value", "text", Default("''"), "'yes'", "its value"),
        row("effect", "`NoSchedule`, `PreferNoSchedule` or `NoExecute`", Required, "NoExecute", "what it does"),
    ];
    let patience = vec![
        row(
            "creationTimeout",
            "period, more than 0",
            None("`health.creationTimeout`"),
            "1h",
            "how long it may take to join",
        ),
        row(
            "healthTimeout",
            "period, more than 0",
            None("`health.healthTimeout`"),
            "5m",
            "how long it may take to become healthy again",
        ),
        row("drainTimeout", "period", None("`health.drainTimeout`"), "10m", "how long its workloads may take to stop"),
        row(
            "evictionsMax",
            "number",
            None("`health.evictionsMax`"),
            "3",
            "refused evictions before a workload is stopped anyway",
        ),
        row(
            "nodeConditions",
            "list of texts, at most 32",
            None("`health.nodeConditions`"),
            "[DiskPressure]",
            "conditions that make it unhealthy",
        ),
        row(
            "keepFailed",
            "period",
            None("`health.keepFailed`"),
            "2h",
            "how long it is kept for diagnosis when it failed",
        ),
    ];
    vec![
        section(
            "workloads of a machine",
            "Each is a process that its agent keeps running.",
            with("workloads", json!([{"name": "web", "command": ["sleep", "1"]}])),
            "/spec/workloads/0",
            workload,
        ),
        section(
            "storage of a machine",
            "A request as a mapping; exactly one of `volume` and `filesystem`.",
            with("storage", json!({"data": {"filesystem": "directory,1M"}})),
            "/spec/storage/data",
            request,
        ),
        section(
            "constraints",
            "Of a machine, and of an application's machines.",
            with("constraints", json!({})),
            "/spec/constraints",
            constraints,
        ),
        section(
            "taints of a machine",
            "Set on its node.",
            with("taints", json!([{"key": "gpu", "effect": "NoSchedule"}])),
            "/spec/taints/0",
            taint,
        ),
        section(
            "patience of a machine",
            "Defaults are those of the policy.",
            with("patience", json!({})),
            "/spec/patience",
            patience,
        ),
    ]
}

fn sets() -> Vec<Section> {
    let template = json!({"metadata": {"labels": {"tier": "front"}}, "spec": {"provider": "local"}});
    let set = vec![
        row("replicas", "number", Required, "3", "how many machines it maintains"),
        row(
            "template",
            "mapping",
            Required,
            "{spec: {provider: exec}}",
            "`metadata` with `labels` and `annotations`, and the `spec` of a machine",
        ),
        row(
            "priorities",
            "map of whole numbers, at most 10,000",
            Default("{}"),
            "{one-2: 1}",
            "which machines are removed first: lower numbers; 3 for the others",
        ),
    ];
    let template_rows = vec![
        row(
            "metadata",
            "mapping",
            Default("{}"),
            "{labels: {tier: back}}",
            "`labels` and `annotations` of its machines",
        ),
        row("spec", "mapping", Required, "{provider: exec}", "as of a machine, without `parent`"),
    ];
    let deployment = vec![
        row("replicas", "number", Required, "3", "how many machines it maintains"),
        row(
            "template",
            "mapping",
            Required,
            "{metadata: {labels: {tier: front}}, spec: {provider: exec}}",
            "as of a machine set",
        ),
        row(
            "selector",
            "map of labels",
            Default("{}"),
            "{tier: front}",
            "adopts unowned sets whose machines have these labels; the template must have them",
        ),
        row(
            "strategy",
            "mapping",
            Default("{type: RollingUpdate}"),
            "{type: Recreate}",
            "how a new template reaches the machines",
        ),
        row(
            "minReadySeconds",
            "number, in seconds",
            Default("0"),
            "30",
            "how long a machine has to be ready to be available",
        ),
        row("revisionHistoryLimit", "number", None("all"), "5", "how many old, empty sets are kept"),
        row(
            "progressDeadline",
            "period, more than 0",
            None("never"),
            "10m",
            "without progress for this long it is `stuck`",
        ),
        row("paused", "true or false", Default("false"), "true", "no rollout; scaling still works"),
        row(
            "windows",
            "`always`, or list of windows",
            None("`rollouts.windows` of the policy"),
            "[{from: '22:00', for: 4h}]",
            "when working machines may be replaced",
        ),
    ];
    let strategy = vec![
        row(
            "type",
            "`RollingUpdate` or `Recreate`",
            Default("RollingUpdate"),
            "Recreate",
            "step by step, or all at once",
        ),
        row(
            "maxSurge",
            "number or percentage",
            Default("1"),
            "25%",
            "machines beyond `replicas`, rounded up; only with `RollingUpdate`",
        ),
        row(
            "maxUnavailable",
            "number or percentage",
            Default("0"),
            "2",
            "machines that may be missing, rounded down; only with `RollingUpdate`",
        ),
    ];
    let window = vec![
        row(
            "days",
            "list of `mon` to `sun`",
            Default("[mon, tue, wed, thu, fri, sat, sun]"),
            "[sat, sun]",
            "when it opens",
        ),
        row("from", "hh:mm, in UTC", Required, "'21:00'", "when it opens on these days"),
        row("for", "period, at least 1m", Required, "2h", "how long it is open"),
    ];
    let class = vec![
        row("provider", "name", Required, "exec", "of its machines"),
        row(
            "providerSpec",
            ANYTHING,
            None("none"),
            "{image: jammy}",
            "passed to the provider as it is; at most 32 KiB for the whole class",
        ),
        row("secret", "name", None("none"), "boot", "looked up for every call: see security"),
        row("credentials", "name", None("none"), "cloud-key", "looked up for every call: see security"),
        row(
            "nodeTemplate",
            "mapping",
            None("none"),
            "{capacity: {cpu: '4', gpu: '0', memory: 8Gi}, instanceType: m1, region: r, zone: a}",
            "what a node of the class has",
        ),
    ];
    let node_template = vec![
        row(
            "capacity",
            "map of texts, at most 64",
            None("required"),
            "{cpu: '4', gpu: '0', memory: 8Gi}",
            "`cpu`, `gpu`, `memory` and others",
        ),
        row("instanceType", "text", None("required"), "m2", "the provider's name of a size"),
        row("region", "text", None("required"), "s", "where it is"),
        row("zone", "text", None("required"), "b", "where it is"),
    ];
    let deployed = |more: Value| {
        let mut spec = json!({"replicas": 1, "template": template.clone()});
        for (name, value) in more.as_object().expect("fields") {
            spec[name] = value.clone();
        }
        least("MachineDeployment", spec)
    };
    let node = json!({"capacity": {"cpu": "2", "gpu": "0", "memory": "4Gi"}, "instanceType": "m1", "region": "r", "zone": "a"});
    vec![
        section("MachineSet", "Maintains a number of machines.", deployed_as_set(&template), "/spec", set),
        section(
            "template",
            "Of a set or a deployment.",
            deployed_as_set(&json!({"spec": {"provider": "local"}})),
            "/spec/template",
            template_rows,
        ),
        section(
            "MachineDeployment",
            "Owns a set for each template it has had.",
            deployed(json!({})),
            "/spec",
            deployment,
        ),
        section(
            "strategy of a deployment",
            "How a new template reaches the machines.",
            deployed(json!({"strategy": {}})),
            "/spec/strategy",
            strategy,
        ),
        section(
            "a window",
            "Of a deployment, or of `rollouts` in a policy.",
            deployed(json!({"windows": [{"from": "22:00", "for": "4h"}]})),
            "/spec/windows/0",
            window,
        ),
        section(
            "MachineClass",
            "What machines are made from.",
            least("MachineClass", json!({"provider": "local"})),
            "/spec",
            class,
        ),
        section(
            "nodeTemplate of a class",
            "All of it, or nothing.",
            least("MachineClass", json!({"provider": "local", "nodeTemplate": node})),
            "/spec/nodeTemplate",
            node_template,
        ),
    ]
}

fn deployed_as_set(template: &Value) -> Value {
    least("MachineSet", json!({"replicas": 1, "template": template}))
}

fn storage() -> Vec<Section> {
    let volume = vec![
        row("size", "size", Required, "64M", "how large, at least 1M"),
        row("provider", "name", None("that of the default pool"), "exec", "who makes it; not beside `pool`"),
        row(
            "pool",
            "name of a pool",
            None("the default pool, without a `provider`"),
            "gold",
            "provider and attributes",
        ),
        row("machine", "name", None("none"), "web", "the machine on which it is created"),
        row("tags", "map of texts", Default("{}"), "{team: storage}", "passed to the provider"),
    ];
    let filesystem = vec![
        row("size", "size", Required, "64M", "how large; not required with `volume`"),
        row("provider", "name", None("that of the default pool"), "directory", "who makes it; not beside `pool`"),
        row(
            "pool",
            "name of a pool",
            None("the default pool, without a `provider`"),
            "shared",
            "provider and attributes",
        ),
        row("volume", "name", None("none"), "data", "the volume it is made on, with provider `managed`"),
        row("machine", "name", None("none"), "web", "the machine on which it is created"),
    ];
    let volume_attachment = vec![
        row("machine", "name", Required, "db", "which machine"),
        row("volume", "name", Required, "logs", "which volume"),
        row("readOnly", "true or false", Default("false"), "true", "attached for reading only"),
    ];
    let filesystem_attachment = vec![
        row("machine", "name", Required, "db", "which machine"),
        row("filesystem", "name", Required, "logs", "which filesystem"),
        row(
            "path",
            "absolute path",
            None("`storage.mountDir`, or chosen by the provider"),
            "/srv/data",
            "where it is mounted",
        ),
        row("readOnly", "true or false", Default("false"), "true", "mounted for reading only"),
    ];
    let bound = |kind: &str, what: &str| json!({"apiVersion": "bailiwick/v1", "kind": kind, "spec": {"machine": "web", what: "data"}});
    vec![
        section(
            "Volume",
            "A block device, or a file that acts as one.",
            least("Volume", json!({"provider": "local", "size": "1M"})),
            "/spec",
            volume,
        ),
        section(
            "VolumeAttachment",
            "A volume attached to a machine; its name is `MACHINE:VOLUME`.",
            bound("VolumeAttachment", "volume"),
            "/spec",
            volume_attachment,
        ),
        section(
            "Filesystem",
            "Made by its provider, or on a volume.",
            least("Filesystem", json!({"provider": "tmpfs", "size": "1M"})),
            "/spec",
            filesystem,
        ),
        section(
            "FilesystemAttachment",
            "A filesystem mounted on a machine; its name is `MACHINE:FILESYSTEM`.",
            bound("FilesystemAttachment", "filesystem"),
            "/spec",
            filesystem_attachment,
        ),
    ]
}

fn replica_sets() -> Vec<Section> {
    let seat = json!({"machine": "one", "address": "10.0.0.1", "peerPort": 2380});
    let of = |seat: Value| least("ReplicaSet", json!({"engine": "etcd", "seats": [seat]}));
    let set = vec![
        row("engine", "`etcd` or `mongodb`", Required, "mongodb", "what its servers are"),
        row("servers", "1, 3, 5 or 7", Default("1"), "3", "how many vote"),
        row(
            "seats",
            "list, at most 50",
            Required,
            "[{machine: two, address: 10.0.0.2, peerPort: 2380}]",
            "where its servers may be",
        ),
        row("oneHost", "true or false", Default("false"), "true", "all on one host: loopback addresses count"),
        row("space", "name", None("none"), "inner", "the space whose addresses are preferred"),
    ];
    let seats = vec![
        row("machine", "name", Required, "two", "the machine of the server"),
        row("address", "text", Required, "10.0.0.2", "where it is reached; not beside `addresses`"),
        row(
            "addresses",
            "list, at most 16",
            None("`address`"),
            "[{value: 10.0.0.2}]",
            "several addresses with scope and space",
        ),
        row("peerPort", "1 to 65535", Required, "2381", "for the other servers"),
        row("clientPort", "1 to 65535", None("`peerPort`"), "2379", "for clients"),
    ];
    let address = vec![
        row("value", "text", Required, "10.0.0.2", "the address"),
        row(
            "scope",
            "`public`, `local-cloud`, `local-fan`, `local-machine` or `link-local`",
            None("unknown"),
            "public",
            "its class; the best counts",
        ),
        row("space", "name", None("none"), "inner", "the space it is in"),
    ];
    let with_addresses = json!({"machine": "one", "addresses": [{"value": "10.0.0.1"}], "peerPort": 2380});
    vec![
        section("ReplicaSet", "Which servers are members and vote.", of(seat.clone()), "/spec", set),
        section("ReplicaSet: a seat", "A server that may become a member.", of(seat), "/spec/seats/0", seats),
        section("ReplicaSet: an address", "Of a seat.", of(with_addresses), "/spec/seats/0/addresses/0", address),
    ]
}

fn documents() -> Vec<Section> {
    let subnet = vec![
        row("cidr", "text", Required, "10.0.2.0/24", "its addresses"),
        row("space", "name", Required, "outer", "the space it belongs to"),
        row("zones", "list of texts, at most 64", Default("[]"), "[a]", "the zones it is in"),
        row("providerId", "text", None("none"), "subnet-1", "the provider's name for it"),
    ];
    let image = vec![
        row("base", "text", Required, "ubuntu@24.04", "system and channel"),
        row("image", "text", Required, "ami-2", "the provider's name for it"),
        row("arch", "text", Default("amd64"), "arm64", "architecture"),
        row("region", "text", None("any"), "eu", "where it is"),
        row("stream", "text", Default("released"), "daily", "image stream"),
        row("priority", "number", Default("0"), "10", "the highest wins"),
        row("rootStorage", "text", None("none"), "ssd", "passed to the provider"),
        row("virtualisation", "text", None("none"), "hvm", "passed to the provider"),
    ];
    let agent = vec![
        row("version", "text", Required, "1.0.1", "the exact version"),
        row("base", "text", Required, "ubuntu@24.04", "system and channel"),
        row("arch", "text", Default("amd64"), "arm64", "architecture"),
        row("sha256", "text", Required, "'bb'", "its digest"),
        row("location", "text", Required, "https://host/other", "where it is"),
    ];
    let application = vec![
        row("machines", "list of names, at most 400", Default("[]"), "[web]", "where its units are"),
        row(
            "bindings",
            "map of spaces, at most 64",
            Default("{}"),
            "{db: inner}",
            "which space each endpoint is bound to",
        ),
        row("constraints", "mapping", Default("{}"), "{cores: 2}", "of its machines"),
        row(
            "minAvailable",
            "number",
            None("no budget"),
            "2",
            "machines that must stay healthy while others are stopped",
        ),
    ];
    let model = vec![
        row("base", "text", None("none"), "ubuntu@22.04", "of machines that name none"),
        row("imageStream", "text", None("released"), "daily", "the image stream"),
        row("imageSigningKey", "text", None("none"), "key", "what images are checked with"),
        row("region", "text", None("none"), "eu", "where machines are"),
        row("agentVersion", "text", None("none"), "1.0.0", "which agent binary"),
        row(
            "apiAddresses",
            "list of texts, at most 16",
            Default("[]"),
            "['10.0.0.1:17070']",
            "where agents find the control plane",
        ),
        row("caCertificate", "text", None("none"), "pem", "what its certificate is checked with"),
        row("tlsVerify", "true or false", Default("true"), "false", "whether certificates are checked"),
        row("tags", "map of texts", Default("{}"), "{team: a}", "of all machines"),
    ];
    let space = vec![row("providerId", "text", None("none"), "space-1", "the provider's name for it")];
    let image_least = json!({"base": "ubuntu@22.04", "image": "ami-1"});
    let agent_least =
        json!({"version": "1.0.0", "base": "ubuntu@22.04", "sha256": "aa", "location": "https://host/path"});
    vec![
        section("Space", "Subnets that belong together.", least("Space", json!({})), "/spec", space),
        section(
            "Subnet",
            "A subnet of a space.",
            least("Subnet", json!({"cidr": "10.0.1.0/24", "space": "inner"})),
            "/spec",
            subnet,
        ),
        section("ImageMetadata", "An image.", least("ImageMetadata", image_least), "/spec", image),
        section("AgentBinary", "An agent's program.", least("AgentBinary", agent_least), "/spec", agent),
        section("Application", "The machines of its units.", least("Application", json!({})), "/spec", application),
        section(
            "Model",
            "What holds for all machines; only the one named `default` is used.",
            least("Model", json!({})),
            "/spec",
            model,
        ),
    ]
}
