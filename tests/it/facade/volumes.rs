//! Volumes that clients make with the instances of machines, from their declaration to their end.

use bailiwick::{
    manifest::{self, Source},
    plan::Prune,
    view,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Client, FacadeNode, attachment, document};
use crate::up::eventually;

struct Lab {
    node: FacadeNode,
    model: String,
}

impl Lab {
    /// Machine 5 waits for a client, with volume 0, from a pool of clients.
    fn new() -> Self {
        let node = FacadeNode::start();
        node.pool("fast", &[("provider", "static"), ("tier", "gold")]);
        node.apply(&[
            document("Machine", "5", &json!({"provider": "external"})),
            document("Volume", "0", &json!({"pool": "fast", "size": "64M", "machine": "5", "tags": {"team": "a"}})),
            attachment("5", "0"),
        ]);
        let model = node.handle().journal().id().to_string();
        Self { node, model }
    }

    fn client(&self) -> Client {
        self.node.client(&self.model, "controller-0")
    }

    /// What becomes of an instance with this volume, reached as this device.
    fn provision(&self, machine: &str, volumes: &Value, device: &Value) -> Result<(), (String, String)> {
        let info = json!({
            "tag": format!("machine-{machine}"), "instance-id": "i-1", "nonce": "nonce",
            "volumes": volumes, "volume-attachments": device,
        });
        let reply = self.client().call("SetInstanceInfo", &json!({"machines": [info]})).expect("a reply");
        match reply["results"][0].get("error") {
            None => Ok(()),
            Some(error) => {
                let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
                Err((text("message"), text("code")))
            }
        }
    }

    fn provision_with_volume(&self, persistent: bool) {
        let volume = json!([{
            "volume-tag": "volume-0",
            "info": {"volume-id": "vol-0", "size": 65, "persistent": persistent, "hardware-id": "serial-0"},
        }]);
        self.provision("5", &volume, &json!({"volume-0": {"device-name": "sdb"}})).expect("recorded");
        eventually("the volume is attached", || self.status("volume-attachment/5:0") == "attached");
    }

    fn call(&self, method: &str, machine: &str) -> Value {
        let entities = json!({"entities": [{"tag": format!("machine-{machine}")}]});
        let reply = self.client().call(method, &entities).expect("a reply");
        assert!(reply["results"][0].get("error").is_none(), "{method}: {reply}");
        reply["results"][0]["result"].clone()
    }

    /// Empty once it is gone.
    fn status(&self, entity: &str) -> &'static str {
        let (kind, name) = entity.split_once('/').expect("an entity");
        let found = self.node.handle().look(|fleet| match kind {
            "machine" => fleet.machines.get(name).filter(|it| it.life.exists()).map(|it| it.status()),
            "volume" => fleet.volumes.get(name).filter(|it| it.life.exists()).map(|it| it.status()),
            _ => fleet.attachments.get(name).filter(|it| it.life.exists()).map(|it| it.status()),
        });
        found.expect("looked").unwrap_or_default()
    }

    fn why_not(&self, entity: &str, wanted: &str) -> (String, String) {
        let answer = self.node.handle().why_not(&entity.parse().expect("a name"), wanted).expect("read");
        let unmet = answer.expect("known").unmet.expect("something is missing");
        (unmet.because, unmet.satisfied_by)
    }

    fn remove(&self, entity: &str) {
        use bailiwick::actors::{machine, volume, volume_attachment};
        match entity.split_once('/').expect("an entity").0 {
            "machine" => self.node.ask(entity, machine::Command::Remove),
            "volume" => self.node.ask(entity, volume::Command::Remove),
            _ => self.node.ask(entity, volume_attachment::Command::Remove),
        }
    }

    fn refused(&self, documents: &[Value]) -> String {
        let handle = self.node.handle();
        let text: Vec<String> = documents.iter().map(|document| format!("{document}\n")).collect();
        let read = manifest::parse(&[Source::new("test", text.join("---\n"))], &handle.known().expect("known"));
        let documents = read.expect("read").documents;
        handle.wait(handle.apply(&documents, Prune::No, Uuid::new_v4())).expect_err("refused").to_string()
    }
}

#[test]
fn a_volume_comes_with_the_instance_and_goes_with_it() {
    // given: a machine and its volume, which nobody has made
    let lab = Lab::new();
    assert_eq!((lab.status("volume/0"), lab.status("volume-attachment/5:0")), ("pending", "waiting"));
    assert_eq!(lab.why_not("volume/0", "ready").0, "machine/5: no client has created its instance yet");
    let wanted = lab.call("ProvisioningInfo", "5");
    let expected = json!({"machine-tag": "machine-5", "volume-tag": "volume-0", "provider": "static"});
    assert_eq!(wanted["volumes"][0]["attachment"], expected);
    assert_eq!(wanted["volumes"][0]["attributes"], json!({"tier": "gold"}));
    let tags = json!({"juju-controller-uuid": lab.model, "juju-model-uuid": lab.model, "team": "a"});
    assert_eq!(wanted["volumes"][0]["tags"], tags);

    // when: a client makes both
    lab.provision_with_volume(false);

    // then: both are as it says, by its name
    assert_eq!(lab.status("volume/0"), "reserved");
    let rows = lab.node.handle().look(|fleet| (view::volumes(fleet), view::attachments(fleet))).expect("looked");
    assert_eq!((rows.0[0].volume_id.as_deref(), rows.0[0].size.as_str()), (Some("vol-0"), "65M"));
    assert_eq!(rows.1[0].path.as_deref(), Some("/dev/sdb"));
    assert_eq!(lab.call("ProvisioningInfo", "5").get("volumes"), None, "there is none that it lacks");

    // when: the client ends the machine, and its instance is gone
    lab.call("EnsureDead", "5");
    eventually("the volume is to go", || lab.status("volume-attachment/5:0") == "detaching");
    let (because, by) = lab.why_not("volume-attachment/5:0", "removed");
    assert!(because.contains("until a client has deleted the instance of machine 5"), "{because}");
    assert!(by.starts_with("a client that calls `Remove` for machine 5"), "{by}");
    lab.call("Remove", "5");

    // then: nothing is left of any of the three
    eventually("the volume is gone", || lab.status("volume/0").is_empty());
    assert_eq!((lab.status("machine/5"), lab.status("volume-attachment/5:0")), ("", ""));
}

#[test]
fn a_machine_that_an_operator_deletes_does_not_wait_for_what_goes_with_it() {
    let lab = Lab::new();
    lab.provision_with_volume(false);
    lab.remove("machine/5");
    eventually("the machine is dead", || lab.status("machine/5") == "deleting");
    assert_eq!(lab.status("volume-attachment/5:0"), "detaching");
    lab.call("Remove", "5");
    eventually("the volume is gone", || lab.status("volume/0").is_empty());
}

#[test]
fn a_volume_that_is_deleted_stays_until_its_instance_is_gone() {
    let lab = Lab::new();
    lab.provision_with_volume(true);
    lab.remove("volume/0");
    eventually("it is to be detached", || lab.status("volume-attachment/5:0") == "detaching");
    let (because, by) = lab.why_not("volume/0", "removed");
    assert!(because.contains("volume-attachment/5:0"), "{because}");
    assert!(by.contains("a client that calls `Remove` for machine 5"), "{by}");
    lab.call("EnsureDead", "5");
    lab.call("Remove", "5");
    eventually("the volume is gone", || lab.status("volume/0").is_empty());
}

#[test]
fn a_persistent_volume_outlives_its_instance_and_is_attached_to_the_next() {
    // given
    let mut lab = Lab::new();
    lab.provision_with_volume(true);
    lab.call("EnsureDead", "5");
    lab.call("Remove", "5");
    eventually("it is free", || lab.status("volume/0") == "available");

    // when: it is to be attached to another machine, and the node was restarted
    lab.node.restart();
    lab.node.apply(&[document("Machine", "6", &json!({"provider": "external"})), attachment("6", "0")]);

    // then: that machine is to be made with it
    let wanted = lab.call("ProvisioningInfo", "6");
    assert_eq!(wanted.get("volumes"), None, "it is there");
    let expected = json!([{
        "machine-tag": "machine-6", "volume-tag": "volume-0", "volume-id": "vol-0", "provider": "static",
    }]);
    assert_eq!(wanted["volume-attachments"], expected);
    lab.provision("6", &json!([]), &json!({"volume-0": {"device-link": "/dev/disk/by-id/0"}})).expect("recorded");
    eventually("it is attached", || lab.status("volume-attachment/6:0") == "attached");
}

#[test]
fn a_volume_that_a_client_leaves_out_is_told_as_that() {
    let lab = Lab::new();
    lab.provision("5", &json!([]), &json!({})).expect("recorded");
    let (because, by) = lab.why_not("volume/0", "ready");
    assert_eq!(because, "a client created machine 5 without volume 0");
    assert!(by.contains("`bailiwick delete machine/5`"), "{by}");
    assert_eq!(lab.why_not("volume-attachment/5:0", "attached").0, because, "and so is its attachment");
}

#[test]
fn what_a_client_says_of_volumes_is_recorded_whole_or_not_at_all() {
    let lab = Lab::new();
    lab.node.apply(&[document("Volume", "own", &json!({"provider": "other", "size": "1M"}))]);
    lab.node.apply(&[document("Volume", "7", &json!({"provider": "other", "size": "1M"}))]);
    let volume = |tag: &str, size: u64| json!([{"volume-tag": tag, "info": {"volume-id": "vol", "size": size}}]);
    let nothing = json!({});
    let cases = [
        (volume("volume-9", 64), nothing.clone(), "volume-9 not found", "not found"),
        (volume("volume-own", 64), nothing.clone(), "\"volume-own\" is not a valid volume tag", ""),
        (volume("volume-7", 64), nothing.clone(), "volume-7 is created by this node", "not supported"),
        (volume("volume-0", 63), nothing.clone(), "at least 64 MiB were asked for", "bad request"),
        (
            json!([{"volume-tag": "volume-0", "info": {"size": 64}}]),
            nothing.clone(),
            "needs a volume id",
            "bad request",
        ),
        (json!([]), json!({"volume-0": {}}), "volume-0 not provisioned", "not provisioned"),
        (json!([]), json!({"volume-7": {}}), "volume-7 is attached by this node", "not supported"),
        (
            volume("volume-0", 64),
            json!({"volume-0": {"plan-info": {"device-type": "iscsi", "device-attributes": {"chap-secret": "x"}}}}),
            "plan-info is not recorded",
            "not supported",
        ),
    ];
    for (volumes, devices, message, code) in cases {
        let (told, told_code) = lab.provision("5", &volumes, &devices).expect_err(message);
        assert!(told.starts_with("cannot record provisioning info for \"i-1\": "), "{told}");
        assert!(told.contains(message) && told_code == code, "{told} ({told_code})");
    }
    assert_eq!(lab.status("machine/5"), "waiting", "nothing of it is recorded");
    lab.provision_with_volume(false);
}

#[test]
fn what_no_client_could_make_is_refused_when_it_is_declared() {
    let lab = Lab::new();
    let volume = |name: &str, spec: &Value| lab.refused(&[document("Volume", name, spec)]);
    let unseen = volume("data", &json!({"pool": "fast", "size": "1M", "machine": "5"}));
    assert!(unseen.contains("only see volumes with a name such as 0"), "{unseen}");
    let homeless = volume("1", &json!({"pool": "fast", "size": "1M"}));
    assert!(homeless.contains("together with a machine's instance"), "{homeless}");
    let without_pool = volume("1", &json!({"provider": "external", "size": "1M", "machine": "5"}));
    assert!(without_pool.contains("but no pool"), "{without_pool}");
    let elsewhere = lab.refused(&[
        document("Machine", "web", &json!({"provider": "other"})),
        document("Volume", "1", &json!({"pool": "fast", "size": "1M", "machine": "web"})),
    ]);
    assert!(elsewhere.contains("on a machine of provider other"), "{elsewhere}");
    let attached = lab.refused(&[document("Machine", "web", &json!({"provider": "other"})), attachment("web", "0")]);
    assert!(attached.contains("on a machine of provider other"), "{attached}");
    let template = json!({"provider": "other", "storage": {"data": {"volume": "fast,1M"}}});
    let set = lab.refused(&[document("MachineSet", "web", &json!({"replicas": 1, "template": {"spec": template}}))]);
    assert!(set.contains("can neither be a filesystem nor persistent"), "{set}");
    let storage = json!({"data": {"volume": "fast,1M", "persistent": false}});
    let template = json!({"provider": "local", "storage": storage});
    let set = lab.refused(&[document("MachineSet", "web", &json!({"replicas": 1, "template": {"spec": template}}))]);
    assert!(set.contains("provider local"), "{set}");
}
