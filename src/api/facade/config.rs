//! The model's configuration, and what containers are told of it. Keys and defaults are Juju's.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    seen::Seen,
    wire::{FindToolsParams, Tools},
};

/// A text of a configuration; empty where it is not said.
pub(super) fn text<'c>(config: &'c Map<String, Value>, key: &str) -> &'c str {
    config.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn truth(config: &Map<String, Value>, key: &str) -> bool {
    match config.get(key) {
        Some(Value::Bool(truth)) => *truth,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

/// What the managers of containers are told.
pub(super) fn manager(seen: &Seen<'_>, container_type: &str) -> Map<String, Value> {
    let config = seen.config();
    let mut told = Map::new();
    let mut tell = |key: &str, value: &str| drop(told.insert(key.to_owned(), value.into()));
    tell("model-uuid", &seen.model_uuid().to_string());
    if container_type == "lxd" {
        tell("lxd-snap-channel", text(&config, "lxd-snap-channel"));
    }
    let url = text(&config, "container-image-metadata-url");
    if !url.is_empty() {
        tell("container-image-metadata-url", url);
    }
    if truth(&config, "container-image-metadata-defaults-disabled") {
        tell("container-image-metadata-defaults-disabled", "true");
    }
    tell("container-image-stream", text(&config, "container-image-stream"));
    tell("container-networking-method", text(&config, "container-networking-method"));
    told
}

/// Where requests are sent instead of to whom they are for.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Proxy {
    http: String,
    https: String,
    ftp: String,
    no_proxy: String,
    auto_no_proxy: String,
}

/// What containers are configured with.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ContainerConfig {
    provider_type: String,
    authorized_keys: String,
    ssl_hostname_verification: bool,
    legacy_proxy: Proxy,
    juju_proxy: Proxy,
    apt_proxy: Proxy,
    snap_proxy: Proxy,
    snap_store_assertions: String,
    snap_store_proxy_id: String,
    snap_store_proxy_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    apt_mirror: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    cloudinit_userdata: Map<String, Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    container_inherit_properties: String,
    enable_os_refresh_update: bool,
    enable_os_upgrade: bool,
}

/// What is said first of these.
fn first<'c>(config: &'c Map<String, Value>, keys: &[&str]) -> &'c str {
    keys.iter().map(|key| text(config, key)).find(|text| !text.is_empty()).unwrap_or_default()
}

fn with_scheme(scheme: &str, address: &str) -> String {
    if address.is_empty() || address.contains("://") { address.to_owned() } else { format!("{scheme}://{address}") }
}

pub(super) fn container(seen: &Seen<'_>) -> ContainerConfig {
    let config = seen.config();
    let said = |key: &str| text(&config, key).to_owned();
    let proxy = |prefix: &str| Proxy {
        http: said(&format!("{prefix}http-proxy")),
        https: said(&format!("{prefix}https-proxy")),
        ftp: said(&format!("{prefix}ftp-proxy")),
        no_proxy: said(&format!("{prefix}no-proxy")),
        auto_no_proxy: String::new(),
    };
    let apt = |scheme: &str| {
        let keys = ["apt-", "juju-", ""].map(|prefix| format!("{prefix}{scheme}-proxy"));
        with_scheme(scheme, first(&config, &keys.each_ref().map(String::as_str)))
    };
    let legacy = proxy("");
    let has_legacy = !(legacy.http.is_empty() && legacy.https.is_empty() && legacy.ftp.is_empty());
    let no_apt_proxy = ["apt-no-proxy", if has_legacy { "no-proxy" } else { "juju-no-proxy" }];
    ContainerConfig {
        provider_type: said("type"),
        authorized_keys: seen.model.authorized_keys.iter().map(|key| format!("{}\n", key.trim_end())).collect(),
        ssl_hostname_verification: truth(&config, "ssl-hostname-verification"),
        juju_proxy: proxy("juju-"),
        apt_proxy: Proxy {
            http: apt("http"),
            https: apt("https"),
            ftp: apt("ftp"),
            no_proxy: first(&config, &no_apt_proxy).to_owned(),
            auto_no_proxy: String::new(),
        },
        snap_proxy: Proxy { http: said("snap-http-proxy"), https: said("snap-https-proxy"), ..Proxy::default() },
        legacy_proxy: legacy,
        snap_store_assertions: said("snap-store-assertions"),
        snap_store_proxy_id: said("snap-store-proxy"),
        snap_store_proxy_url: said("snap-store-proxy-url"),
        apt_mirror: said("apt-mirror"),
        cloudinit_userdata: user_data(&config),
        container_inherit_properties: said("container-inherit-properties"),
        enable_os_refresh_update: truth(&config, "enable-os-refresh-update"),
        enable_os_upgrade: truth(&config, "enable-os-upgrade"),
    }
}

/// What cloud-init is given, which is said as YAML; nothing if it cannot be read.
pub(super) fn user_data(config: &Map<String, Value>) -> Map<String, Value> {
    serde_saphyr::from_str(text(config, "cloudinit-userdata")).unwrap_or_default()
}

/// The programs of agents that fit.
pub(super) fn tools(seen: &Seen<'_>, wanted: &FindToolsParams) -> Vec<Tools> {
    let fits = |tools: &Tools| {
        let mut parts = tools.version.splitn(3, '-');
        let (number, os, arch) = (parts.next(), parts.next(), parts.next());
        let any = |wanted: &str, is: Option<&str>| wanted.is_empty() || Some(wanted) == is;
        let is_any_number = matches!(wanted.number.as_str(), "" | "0.0.0");
        let major = number.and_then(|number| number.split('.').next()?.parse::<i64>().ok());
        (is_any_number || Some(wanted.number.as_str()) == number)
            && (!is_any_number || wanted.major <= 0 || major == Some(wanted.major))
            && any(&wanted.os_type, os)
            && any(&wanted.arch, arch)
    };
    seen.agent_binaries().into_iter().filter(fits).collect()
}
