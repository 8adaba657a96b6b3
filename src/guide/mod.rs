//! The guide: one page for each topic, as `bailiwick help TOPIC` shows it.
//!
//! A page is a file beside this one, so it is read on the web as well, where its links lead to the files. Here they lead to the
//! modules: `links.md` stands before each page, and the first definition of a link counts.

macro_rules! pages {
    ($($module:ident, $topic:literal, $about:literal;)*) => {
        $(
            #[doc = include_str!("links.md")]
            #[doc = include_str!(concat!($topic, ".md"))]
            pub mod $module {}
        )*

        /// All pages, in the order in which they are read.
        #[doc(hidden)]
        pub const PAGES: &[Page] = &[
            $(Page { topic: $topic, about: $about, text: include_str!(concat!($topic, ".md")) },)*
        ];
    };
}

pages! {
    first_use, "first-use", "a tour of about ten minutes";
    concepts, "concepts", "the ideas, the promises, the known limits";
    manifests, "manifests", "how objects are declared; documents; protection from deletion";
    machines, "machines", "machines, sets, deployments, classes; failure and retries; drain";
    storage, "storage", "volumes, filesystems, attachments and pools";
    replica_sets, "replica-sets", "members and voters of etcd and MongoDB";
    policies, "policies", "the periods and limits that decisions depend on";
    providers, "providers", "a provider of your own, in any language";
    audit, "audit", "why, why-not, log, diff and replay";
    chaos, "chaos", "crashes and faults in virtual time";
    invariants, "invariants", "what holds of every object after every decision";
    operation, "operation", "daily commands, backup, a full disk, the clock, uninstalling";
    network, "network", "a node that other machines use: TLS, accounts, events";
    juju, "juju", "Juju's own clients: the Provisioner facade";
    security, "security", "secrets, permissions and agents";
    errors, "errors", "exit codes and error codes";
    manifest_reference, "manifest-reference", "all kinds and fields, with types and defaults";
    journal_format, "journal-format", "what is on disk, and what is repaired";
    promises, "promises", "what is promised, and which tests hold it";
    measuring, "measuring", "benchmarks and campaigns, and what limits the figures";
    architecture, "architecture", "the parts, and the way of one command through them";
    embedding, "embedding", "the node inside another program";
    contributing, "contributing", "how to add a kind, a provider, an option";
    changelog, "changelog", "what each release brings";
}

/// One page of the guide, for `bailiwick help`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in `bailiwick help TOPIC`.
    pub topic: &'static str,
    /// What it is about, in a few words.
    pub about: &'static str,
    /// The page as it is written: Markdown.
    pub text: &'static str,
}

impl Page {
    /// The page of this topic.
    pub fn of(topic: &str) -> Option<&'static Self> {
        PAGES.iter().find(|page| page.topic == topic)
    }

    /// The page for a terminal: a link to another page names the command that shows it.
    pub fn for_terminal(&self) -> String {
        let is_definition = |line: &&str| line.starts_with('[') && line.contains("]: ");
        let lines: Vec<&str> = self.text.lines().filter(|line| !is_definition(line)).collect();
        let linked = |text: String, page: &Self| {
            text.replace(&format!("[{}]", page.topic), &format!("`bailiwick help {}`", page.topic))
        };
        let text = PAGES.iter().fold(lines.join("\n"), linked);
        format!("{}\n", text.trim_end())
    }
}
