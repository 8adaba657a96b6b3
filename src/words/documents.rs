//! Documents in words.

use bailiwick_actors::document::{Command, Content, Event, State, Users};

use super::{Words, count};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(content) => format!("be declared: {}", said(content)),
            Command::Remove { used_by: Users { named, .. }, .. } if named.is_empty() => "be removed".into(),
            Command::Remove { used_by, .. } => format!("be removed, although it is used by {used_by}"),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { content } => format!("it was declared: {}", said(content)),
            Event::Revised { content } => format!("it is now declared: {}", said(content)),
            Event::Removed => "it was removed".into(),
        }
    }
}

/// What a document says, in short: "10.0.1.0/24 in space inner".
fn said(content: &Content) -> String {
    match content {
        Content::Space(space) => match &space.provider_id {
            Some(id) => format!("a space that its provider calls {id}"),
            None => "a space".into(),
        },
        Content::Subnet(subnet) => {
            let zones: Vec<&str> = subnet.zones.iter().map(|zone| zone.0.as_str()).collect();
            let zones = if zones.is_empty() { String::new() } else { format!(", from {}", zones.join(" and ")) };
            format!("{} in space {}{zones}", subnet.cidr, subnet.space)
        }
        Content::ImageMetadata(image) => {
            format!("{} for {}, {}, stream {}", image.image, image.base, image.arch, image.stream)
        }
        Content::AgentBinary(binary) => format!("version {} for {}, {}", binary.version, binary.base, binary.arch),
        Content::Application(application) => {
            let bound = count(application.bindings.len(), "binding");
            let least =
                application.min_available.map(|least| format!(", {least} at least available")).unwrap_or_default();
            format!("units on {}, {bound}{least}", count(application.machines.len(), "machine"))
        }
        Content::Model(model) => {
            let base = model.base.as_ref().map_or_else(|| "no base of its own".into(), ToString::to_string);
            format!("{base}, {}", count(model.tags.len(), "tag"))
        }
    }
}
