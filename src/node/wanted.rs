//! What of a configuration only a program with the feature `server` can do.

use crate::config::{Config, LocalMachines};

/// The first of it that is wanted; none if the configuration can do without the feature.
pub(super) fn of_server(config: &Config) -> Option<&'static str> {
    match config {
        Config { listen: true, .. } => Some("the node's socket (`Config::without_socket` does without)"),
        Config { network: Some(_), .. } => Some("a node on the network"),
        Config { local: LocalMachines::With { .. }, .. } => Some("local machines, whose agents report on a socket"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Network;

    #[test]
    fn what_needs_a_server_is_named_before_anything_is_opened() {
        let bare = || Config::new("/nowhere").without_socket();
        let network = || Network { listen: "127.0.0.1:0".parse().unwrap(), names: Vec::new(), certificate: None };
        let local = || LocalMachines::With { agent_command: vec!["agent".into()] };
        assert_eq!(of_server(&bare()), None);
        for (config, named) in [
            (Config::new("/nowhere"), "the node's socket"),
            (Config { network: Some(network()), ..bare() }, "a node on the network"),
            (Config { local: local(), ..bare() }, "local machines"),
        ] {
            let told = of_server(&config);
            assert!(told.is_some_and(|told| told.starts_with(named)), "{told:?}");
        }
    }
}
