//! Juju's Provisioner facade over real connections: a node that listens on the network, and a client that is not ours.

mod behaviour;
mod client;
mod clients;
mod node;
mod volumes;

pub(crate) use self::{
    client::{Client, Reply},
    node::{FacadeNode, attachment, document},
};
