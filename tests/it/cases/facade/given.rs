//! The state that a case begins with, loaded by manifests and by what clients say; and what happens beside the connection.

mod volumes;

use std::collections::BTreeSet;

use bailiwick::{
    actors::machine::{Command, State},
    api::facade_testing,
};
use serde_json::{Map, Value, json};

use crate::facade::{Client, FacadeNode, document};

/// The model and controller where a case does not say. Source: the cases that do.
const MODEL: &str = "deadbeef-0bad-400d-8000-4b1d0d06f00d";
const CONTROLLER: &str = "deadbeef-1bad-500d-9000-4b1d0d06f00d";

pub(super) struct Given {
    pub(super) node: FacadeNode,
    pub(super) model: String,
    /// What was declared of the model.
    spec: std::cell::RefCell<Value>,
}

/// All that a machine may be given.
const KNOWN: [&str; 16] = [
    "life",
    "base",
    "jobs",
    "controller",
    "has_vote",
    "instance",
    "status",
    "instance_status",
    "modification_status",
    "constraints",
    "placement",
    "keep_instance",
    "manual",
    "devices",
    "supported_containers",
    "charm_profiles",
];

impl Given {
    pub(super) fn load(given: &Value) -> Self {
        let node = FacadeNode::start();
        let model = given["model"]["uuid"].as_str().unwrap_or(MODEL).to_owned();
        let spec = model_spec(given, &model);
        let mut documents = vec![document("JujuModel", "default", &spec.clone())];
        documents.extend(spaces(given));
        documents.extend(subnets(given));
        documents.extend(images(given));
        documents.extend(applications(given));
        documents.extend(accounts(given));
        let machines = given["machines"].as_object().cloned().unwrap_or_default();
        documents.extend(machine_documents(&machines));
        node.apply(&documents);
        volumes::declare(&node, given);
        let this = Self { node, model, spec: spec.into() };
        for (id, machine) in &machines {
            this.tell(id, machine, given);
        }
        volumes::settle(&this.node, given);
        for (tag, password) in given["passwords"].as_object().into_iter().flatten() {
            let mut client = this.node.client(&this.model, "controller-0");
            said(&mut client, "SetPasswords", &json!({"changes": [{"tag": tag, "password": password}]}));
        }
        // What goes waits for what depends on it: containers first.
        let mut ids: Vec<&String> = machines.keys().collect();
        ids.sort_by_key(|id| std::cmp::Reverse(id.len()));
        for id in ids {
            this.set_life(id, machines[id]["life"].as_str().unwrap_or("alive"));
        }
        this
    }

    /// What clients have said of a machine.
    fn tell(&self, id: &str, machine: &Value, given: &Value) {
        let strange = machine.as_object().into_iter().flatten().find(|(key, _)| !KNOWN.contains(&key.as_str()));
        assert!(strange.is_none(), "the runner does not understand {strange:?} of machine {id}");
        let tag = format!("machine-{}", id.replace('/', "-"));
        let mut client = self.node.client(&self.model, &tag);
        if let Some(instance) = machine.get("instance") {
            let (volumes, attachments) = volumes::came_with(given, id);
            let info = json!({
                "tag": tag, "instance-id": instance["id"], "nonce": instance["nonce"],
                "characteristics": instance["hardware"], "charm-profiles": machine["charm_profiles"],
                "volumes": volumes, "volume-attachments": attachments,
            });
            said(&mut client, "SetInstanceInfo", &json!({"machines": [info]}));
        }
        // An error of the instance is one of the machine, too: what the machine's is is said after it.
        let methods = [
            ("instance_status", "SetInstanceStatus"),
            ("status", "SetStatus"),
            ("modification_status", "SetModificationStatus"),
        ];
        for (field, method) in methods {
            if let Some(status) = machine.get(field) {
                let mut entity = status.clone();
                entity["tag"] = json!(tag);
                said(&mut client, method, &json!({"entities": [entity]}));
            }
        }
        if let Some(types) = machine.get("supported_containers").filter(|types| !types.is_null()) {
            let params = json!({"params": [{"machine-tag": tag, "container-types": types}]});
            said(&mut client, "SetSupportedContainers", &params);
        }
        let devices: Vec<Value> = machine["devices"].as_array().into_iter().flatten().enumerate().map(device).collect();
        if !devices.is_empty() {
            client.call("SetHostMachineNetworkConfig", &json!({"tag": tag, "config": devices})).expect("said");
        }
        if machine["has_vote"] == true {
            self.node.command(&name(id), Command::Engage { set: "given".parse().expect("a name") });
        }
    }

    /// Something holds a machine back that is only to be dying.
    fn set_life(&self, id: &str, life: &str) {
        let holder = || "holder".parse().expect("a name");
        let name = name(id);
        match life {
            "alive" => (),
            "dying" => {
                self.node.command(&name, Command::Engage { set: holder() });
                self.node.command(&name, Command::Remove);
            }
            "dead" => {
                self.node.command(&name, Command::Remove);
                self.node.command(&name, Command::Disengage { set: holder() });
            }
            other => panic!("the runner does not understand life {other:?}"),
        }
    }

    /// Something happens beside the connection.
    pub(super) fn happen(&self, event: &Value) -> Result<(), String> {
        for (what, about) in event.as_object().into_iter().flatten() {
            match what.as_str() {
                "add_machines" => {
                    let machines = match about {
                        Value::Array(ids) => {
                            ids.iter().map(|id| (id.as_str().unwrap_or_default().into(), json!({}))).collect()
                        }
                        other => other.as_object().cloned().unwrap_or_default(),
                    };
                    self.node.apply(&machine_documents(&machines));
                    machines.iter().for_each(|(id, machine)| self.tell(id, machine, &Value::Null));
                }
                "set_life" => about.as_object().into_iter().flatten().for_each(|(id, life)| {
                    self.set_life(id, life.as_str().unwrap_or_default());
                }),
                "remove_machines" => about.as_array().into_iter().flatten().for_each(|id| {
                    self.remove(id.as_str().unwrap_or_default());
                }),
                "error_retry_tick" => facade_testing::minute(self.node.handle().journal().id()),
                "model_config" => {
                    let mut spec = self.spec.borrow_mut();
                    let config = about.as_object().cloned().unwrap_or_default();
                    for (key, value) in config {
                        spec["config"][key] = value;
                    }
                    self.node.apply(&[document("JujuModel", "default", &spec.clone())]);
                }
                other => return Err(format!("the runner does not understand the event {other:?}")),
            }
        }
        Ok(())
    }

    /// It goes at once, however it is.
    fn remove(&self, id: &str) {
        use bailiwick::actors::machine::juju;
        let handle = self.node.handle();
        let is_dead =
            handle.look(|fleet| fleet.machines.get(&name(id)).is_some_and(|it| it.life.to_string() == "dead"));
        if !is_dead.expect("looked") {
            let dependents = juju::Dependents::default();
            self.node.command(&name(id), Command::Client(juju::Command::EnsureDead { dependents }));
        }
        self.node.command(&name(id), Command::Client(juju::Command::Remove));
    }

    /// What is found afterwards.
    pub(super) fn check(&self, state: &Value) -> Result<(), String> {
        let handle = self.node.handle();
        let of = |id: &str, look: &dyn Fn(&State) -> Value| {
            handle.look(|fleet| fleet.machines.get(&name(id)).map(look)).expect("looked").unwrap_or(Value::Null)
        };
        for (what, expected) in state.as_object().into_iter().flatten() {
            let found = match what.as_str() {
                "volumes" => {
                    volumes::check(&self.node, expected);
                    continue;
                }
                "removals" => {
                    let marked =
                        |id: &&Value| of(id.as_str().unwrap_or_default(), &|it| json!(it.record().marked)) == true;
                    json!(expected.as_array().into_iter().flatten().filter(marked).collect::<Vec<_>>())
                }
                "charm_profiles" => {
                    let ids = expected.as_object().into_iter().flatten().map(|(id, _)| id);
                    ids.map(|id| (id.clone(), of(id, &|it| json!(it.record().profiles)))).collect::<Map<_, _>>().into()
                }
                other => return Err(format!("the runner does not understand {other:?} of the state")),
            };
            if found != *expected {
                return Err(format!("{what}: expected {expected}, found {found}"));
            }
        }
        Ok(())
    }
}

/// Makes a call whose items all have to be done.
fn said(client: &mut Client, method: &str, params: &Value) {
    let reply = client.call(method, params).unwrap_or_else(|error| panic!("{method}: {error:?}"));
    let failed = reply["results"].as_array().into_iter().flatten().find(|result| result.get("error").is_some());
    assert!(failed.is_none(), "{method} {params}: {failed:?}");
}

fn name(id: &str) -> String {
    id.replace('/', "-")
}

fn model_spec(given: &Value, uuid: &str) -> Value {
    let (model, controller) = (&given["model"], &given["controller"]);
    let mut config = model["config"].as_object().cloned().unwrap_or_default();
    if let Some(cloud) = model.get("cloud_type") {
        config.entry("type").or_insert_with(|| cloud.clone());
    }
    let mut spec = json!({
        "uuid": uuid,
        "config": config,
        "controller": {"uuid": controller["uuid"].as_str().unwrap_or(CONTROLLER)},
        "agentBinaries": given["agent_binaries"].as_array().cloned().unwrap_or_default(),
        "containerAddresses": model["container_addresses"] == true,
        "lxdProfiler": model["lxd_profiler"] == true,
    });
    if let Some(name) = model.get("name") {
        spec["name"] = name.clone();
    }
    if let Some(keys) = model.get("authorized_keys") {
        spec["authorizedKeys"] = keys.clone();
    }
    for (from, to) in [("config", "config"), ("ca_cert", "caCertificate"), ("api_host_ports", "apiHostPorts")] {
        if let Some(value) = controller.get(from) {
            spec["controller"][to] = value.clone();
        }
    }
    let vlans = given["subnets"].as_array().into_iter().flatten();
    let vlans = vlans.filter_map(|subnet| Some((subnet["cidr"].as_str()?.to_owned(), subnet.get("vlan")?.clone())));
    spec["vlans"] = Value::Object(vlans.collect());
    spec
}

fn spaces(given: &Value) -> Vec<Value> {
    let declared = given["spaces"].as_object().cloned().unwrap_or_default();
    let of_subnets =
        given["subnets"].as_array().into_iter().flatten().map(|it| it["space"].as_str().unwrap_or("alpha"));
    let names: BTreeSet<&str> = declared.keys().map(String::as_str).chain(of_subnets).collect();
    let space = |name: &str| match declared.get(name).and_then(|it| it["provider_id"].as_str()).unwrap_or_default() {
        "" => document("Space", name, &json!({})),
        id => document("Space", name, &json!({"providerId": id})),
    };
    names.into_iter().map(space).collect()
}

fn subnets(given: &Value) -> Vec<Value> {
    let subnet = |(at, subnet): (usize, &Value)| {
        let mut spec = json!({
            "cidr": subnet["cidr"],
            "space": subnet["space"].as_str().unwrap_or("alpha"),
            "zones": subnet["zones"].as_array().cloned().unwrap_or_default(),
        });
        if let Some(id) = subnet["provider_id"].as_str().filter(|id| !id.is_empty()) {
            spec["providerId"] = json!(id);
        }
        document("Subnet", &format!("subnet-{at}"), &spec)
    };
    given["subnets"].as_array().into_iter().flatten().enumerate().map(subnet).collect()
}

fn images(given: &Value) -> Vec<Value> {
    let image = |(at, image): (usize, &Value)| {
        let spec = json!({
            "base": format!("ubuntu@{}", image["version"].as_str().unwrap_or_default()),
            "arch": image["arch"], "region": image["region"], "stream": image["stream"],
            "image": image["image-id"], "priority": image["priority"],
            "rootStorage": image["root-storage-type"], "virtualisation": image["virt-type"],
        });
        let spec: Map<String, Value> = spec
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, it)| !it.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        document("ImageMetadata", &format!("image-{at}"), &spec.into())
    };
    given["image_metadata"].as_array().into_iter().flatten().enumerate().map(image).collect()
}

fn applications(given: &Value) -> Vec<Value> {
    let application = |(name, application): (&String, &Value)| {
        let units = application["units"].as_object().into_iter().flatten();
        let units: Map<String, Value> =
            units.map(|(unit, at)| (unit.clone(), at.get("machine").cloned().unwrap_or_default())).collect();
        let mut spec = json!({"units": units, "subordinate": application["subordinate"] == true});
        for (from, to) in [("bindings", "bindings"), ("charm_revision", "charmRevision"), ("lxd_profile", "lxdProfile")]
        {
            if let Some(value) = application.get(from) {
                spec[to] = value.clone();
            }
        }
        document("JujuApplication", name, &spec)
    };
    given["applications"].as_object().into_iter().flatten().map(application).collect()
}

fn accounts(given: &Value) -> Vec<Value> {
    let account = |(at, (tag, user)): (usize, (&String, &Value))| {
        let name = tag.strip_prefix("user-").unwrap_or(tag);
        let hash = blake3::hash(user["password"].as_str().unwrap_or_default().as_bytes()).to_hex().to_string();
        document("Account", name, &json!({"role": "admin", "tokens": [{"id": format!("{at:08x}"), "hash": hash}]}))
    };
    given["users"].as_object().into_iter().flatten().enumerate().map(account).collect()
}

fn machine_documents(machines: &Map<String, Value>) -> Vec<Value> {
    let mut documents = Vec::new();
    for (id, machine) in machines {
        let base = &machine["base"];
        let base = match (base["name"].as_str(), base["channel"].as_str()) {
            (Some(name), Some(channel)) => format!("{name}@{channel}"),
            _ => "ubuntu@12.10/stable".to_owned(),
        };
        let mut spec = json!({"provider": "external", "base": base});
        let jobs = machine["jobs"].as_array().into_iter().flatten();
        if machine["controller"] == true || jobs.clone().any(|job| job == "JobManageModel") {
            spec["jobs"] = json!(["host-units", "manage-model"]);
        }
        documents.push(document("Machine", &name(id), &spec));
        let mut said = json!({});
        for (from, to) in [
            ("constraints", "constraints"),
            ("placement", "placement"),
            ("keep_instance", "keepInstance"),
            ("manual", "manual"),
        ] {
            if let Some(value) = machine.get(from) {
                said[to] = value.clone();
            }
        }
        if said != json!({}) {
            documents.push(document("JujuMachine", &name(id), &said));
        }
    }
    documents
}

fn device((at, device): (usize, &Value)) -> Value {
    let mut config = json!({
        "interface-name": device["name"], "interface-type": device["type"], "cidr": device["subnet"],
        "parent-interface-name": device["parent"], "mac-address": device["mac"], "virtual-port-type": device["port_type"],
    });
    if device["addressed"] == true {
        config["address"] = json!(format!("192.168.0.{}", at + 1));
    }
    config
}
