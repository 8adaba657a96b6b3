//! Documents in words.

use bailiwick_actors::document::{Command, Content, Event, State, Users};

use super::{Words, count};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(content) => format!("declare {}", said(content)),
            Command::Remove { used_by: Users { named, .. }, .. } if named.is_empty() => "remove".into(),
            Command::Remove { used_by, .. } => format!("remove, although {used_by} use it"),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { content } => format!("declared {}", said(content)),
            Event::Revised { content } => format!("declaration changed: {}", said(content)),
            Event::Removed => "removed".into(),
        }
    }
}

/// What a document says, in short: "10.0.1.0/24 in space inner".
fn said(content: &Content) -> String {
    match content {
        Content::Space(space) => match &space.provider_id {
            Some(id) => format!("a space (provider id {id})"),
            None => "a space".into(),
        },
        Content::Subnet(subnet) => {
            let zones: Vec<&str> = subnet.zones.iter().map(|zone| zone.0.as_str()).collect();
            let zones = if zones.is_empty() { String::new() } else { format!(", zones {}", zones.join(", ")) };
            format!("subnet {} in space {}{zones}", subnet.cidr, subnet.space)
        }
        Content::ImageMetadata(image) => {
            format!("image {} for {}, {}, stream {}", image.image, image.base, image.arch, image.stream)
        }
        Content::AgentBinary(binary) => format!("agent {} for {}, {}", binary.version, binary.base, binary.arch),
        Content::Application(application) => {
            let bound = count(application.bindings.len(), "binding");
            let least =
                application.min_available.map(|least| format!(", at least {least} available")).unwrap_or_default();
            format!("an application with units on {}, {bound}{least}", count(application.machines.len(), "machine"))
        }
        Content::Model(model) => {
            let base = model.base.as_ref().map_or_else(|| "no base".into(), ToString::to_string);
            format!("a model with {base}, {}", count(model.tags.len(), "tag"))
        }
        Content::JujuModel(_) => "what Juju's clients are told of the model".into(),
        Content::JujuApplication(_) => "what Juju's clients are told of an application".into(),
        Content::JujuMachine(_) => "what Juju's clients are told of a machine".into(),
        Content::Account(account) => {
            let kinds: Vec<&str> = account.kinds.iter().map(String::as_str).collect();
            let kinds = if kinds.is_empty() { String::new() } else { format!(" for {}", kinds.join(", ")) };
            let (tokens, users) = (count(account.tokens.len(), "token"), count(account.users.len(), "user"));
            format!("an account with role {}{kinds}, {tokens}, {users}", account.role)
        }
    }
}
