//! What others are told about where the servers of a set are, and when.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::vocab::Name;

/// Where every server is reached, by machine. Sets and maps: the order in which addresses were reported makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    pub servers: BTreeMap<Name, Endpoint>,
}

/// Where one server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// `host:port` for those who ask; nothing that means something else elsewhere.
    pub addresses: BTreeSet<String>,
    /// Where other members reach it, if that is known.
    pub internal: Option<String>,
}

/// What has to be published: only what differs from last time. An internal address that was known and is not known at
/// the moment stays: nobody is told that a server cannot be reached because we could not look. Nothing at all is no news
/// either. Source: Juju, which published blanks after a failed round.
///
/// ```
/// use bailiwick_actors::replica_set::publication::{Endpoints, publication};
/// assert_eq!(publication(Some(&Endpoints::default()), Endpoints::default()), None);
/// assert_eq!(publication(None, Endpoints::default()), None);
/// ```
pub fn publication(last: Option<&Endpoints>, mut now: Endpoints) -> Option<Endpoints> {
    let nothing = Endpoints::default();
    let last = last.unwrap_or(&nothing);
    for (machine, server) in &mut now.servers {
        if server.internal.is_none() {
            server.internal = last.servers.get(machine).and_then(|known| known.internal.clone());
        }
    }
    (now != *last).then_some(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(servers: &[(&str, &[&str], Option<&str>)]) -> Endpoints {
        let server = |(machine, addresses, internal): &(&str, &[&str], Option<&str>)| {
            let addresses = addresses.iter().map(|text| (*text).to_owned()).collect();
            let endpoint = Endpoint { addresses, internal: internal.map(str::to_owned) };
            (machine.parse().expect("a name"), endpoint)
        };
        Endpoints { servers: servers.iter().map(server).collect() }
    }

    #[test]
    fn only_a_real_difference_is_published() {
        let said = endpoints(&[("m1", &["a:1", "b:1"], Some("a:7")), ("m2", &["c:1"], Some("c:7"))]);
        let turned = endpoints(&[("m2", &["c:1"], Some("c:7")), ("m1", &["b:1", "a:1"], Some("a:7"))]);
        assert_eq!(publication(Some(&said), turned), None);
        let moved = endpoints(&[("m1", &["a:1"], Some("a:7")), ("m2", &["c:1"], Some("c:7"))]);
        assert_eq!(publication(Some(&said), moved.clone()), Some(moved));
    }

    #[test]
    fn a_known_internal_address_is_never_replaced_by_none() {
        let said = endpoints(&[("m1", &["a:1"], Some("a:7")), ("m2", &["c:1"], Some("c:7"))]);
        let blind = endpoints(&[("m1", &["a:1"], None), ("m2", &["c:1"], None)]);
        assert_eq!(publication(Some(&said), blind), None);
        let fewer = publication(Some(&said), endpoints(&[("m1", &["a:1"], None)])).expect("one server less");
        assert_eq!(fewer, endpoints(&[("m1", &["a:1"], Some("a:7"))]));
    }
}
