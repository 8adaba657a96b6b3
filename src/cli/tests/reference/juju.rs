//! What Juju's clients are told: `JujuModel`, `JujuApplication` and `JujuMachine`.

use serde_json::json;

use super::{
    Absent::{Default, None},
    Section,
    kinds::{least, section},
    row,
};

pub(super) fn sections() -> Vec<Section> {
    let model = vec![
        row("name", "text", None("`default`"), "lab", "what clients call the model"),
        row(
            "uuid",
            "uuid",
            None("the journal's id"),
            "0e4f2c1a-7b1d-4d0b-9a55-6f0b8a3c1d2e",
            "its UUID, and where clients connect",
        ),
        row(
            "config",
            "anything",
            Default("{}"),
            "{image-stream: daily}",
            "Juju's model configuration, beside its defaults",
        ),
        row("authorizedKeys", "list of texts", Default("[]"), "[ssh-ed25519 AAAA ada]", "for SSH to containers"),
        row("controller", "mapping", Default("{}"), "{config: {api-port: 17070}}", "the controller (below)"),
        row(
            "containerAddresses",
            "true or false",
            Default("false"),
            "true",
            "whether the provider gives containers their addresses",
        ),
        row(
            "lxdProfiler",
            "true or false",
            Default("false"),
            "true",
            "whether the provider gives instances LXD profiles, which `ProvisioningInfo` then names",
        ),
        row("vlans", "mapping", Default("{}"), "{10.0.1.0/24: 42}", "the VLAN of each subnet, by its cidr"),
        row(
            "agentBinaries",
            "list",
            Default("[]"),
            "[{version: 3.6.1-ubuntu-amd64, url: 'https://agents.example/1'}]",
            "what `FindTools` finds beside the AgentBinary documents: version, url, sha256, size",
        ),
    ];
    let controller = vec![
        row("uuid", "uuid", None("the journal's id"), "0e4f2c1a-7b1d-4d0b-9a55-6f0b8a3c1d2e", "its UUID"),
        row("config", "anything", Default("{}"), "{api-port: 17070}", "Juju's controller configuration"),
        row(
            "apiHostPorts",
            "list of lists",
            None("where the node listens"),
            "[[{value: 10.0.0.1, type: ipv4, scope: public, port: 17070}]]",
            "where each API server is reached",
        ),
        row("caCertificate", "text", None("the node's own"), "some PEM", "what clients check the API servers against"),
    ];
    let application = vec![
        row(
            "subordinate",
            "true or false",
            Default("false"),
            "true",
            "whether its units stand beside those of another one",
        ),
        row("units", "mapping", Default("{}"), "{mysql/0: '0'}", "the machine id of each unit; null for none yet"),
        row(
            "bindings",
            "mapping",
            Default("{}"),
            "{db: inner}",
            "the space of each endpoint; `\"\"` is the default endpoint",
        ),
        row("charmRevision", "number", Default("0"), "3", "the revision of its charm"),
        row(
            "lxdProfile",
            "mapping",
            Default("{}"),
            "{config: {security.nesting: 'true'}}",
            "config, description and devices of its LXD profile",
        ),
    ];
    let machine = vec![
        row(
            "constraints",
            "mapping",
            None("those of the machine"),
            "{cores: 2, mem: 4096}",
            "Juju's constraints; mem and root-disk in MiB",
        ),
        row(
            "placement",
            "text",
            None("that of the machine"),
            "zone=b",
            "where its instance is to be, in the provider's words",
        ),
        row(
            "keepInstance",
            "true or false",
            Default("false"),
            "true",
            "whether clients leave its instance alone when it goes",
        ),
        row("manual", "true or false", Default("false"), "true", "whether it was added by hand"),
    ];
    let with_controller = least("JujuModel", json!({"controller": {}}));
    vec![
        section(
            "JujuModel",
            "What Juju's clients are told of the model; only the one named `default` is used.",
            least("JujuModel", json!({})),
            "/spec",
            model,
        ),
        section(
            "JujuModel: controller",
            "The controller that clients see.",
            with_controller,
            "/spec/controller",
            controller,
        ),
        section(
            "JujuApplication",
            "An application as Juju's clients see it.",
            least("JujuApplication", json!({})),
            "/spec",
            application,
        ),
        section(
            "JujuMachine",
            "What Juju's clients are told of the machine of the same name.",
            least("JujuMachine", json!({})),
            "/spec",
            machine,
        ),
    ]
}
