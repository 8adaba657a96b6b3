//! The defaults of the model's configuration. Keys and values are Juju's.

use serde_json::{Map, Value, json};
use uuid::Uuid;

/// What is never asked over a proxy.
const NO_PROXY: &str = "127.0.0.1,localhost,::1";

/// What holds where a model says nothing.
pub(super) fn model_defaults(name: &str, uuid: Uuid) -> Map<String, Value> {
    let defaults = json!({
        "name": name,
        "uuid": uuid.to_string(),
        "container-image-metadata-defaults-disabled": false,
        "container-image-stream": "released",
        "container-networking-method": "",
        "enable-os-refresh-update": true,
        "enable-os-upgrade": true,
        "image-stream": "released",
        "juju-no-proxy": NO_PROXY,
        "lxd-snap-channel": "5.0/stable",
        "net-bond-reconfigure-delay": 17,
        "no-proxy": NO_PROXY,
        "ssl-hostname-verification": true,
    });
    match defaults {
        Value::Object(defaults) => defaults,
        _ => Map::new(),
    }
}
