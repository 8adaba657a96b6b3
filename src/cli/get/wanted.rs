//! What `get` is asked for: kinds, all of them, or objects by name.

use crate::{
    cli::{Global, exit::CliError},
    view::kinds,
};

use super::kinds::{kind_of, not_ours};

/// The objects of one kind that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub kind: &'static str,
    /// None means all of them.
    pub names: Vec<String>,
}

/// What the words of a command line ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Every kind of which there is something.
    Everything,
    One(Wanted),
    Several(Vec<Wanted>),
}

impl Asked {
    /// Reads `all`, `machines`, `machines,volumes`, `machine web db`, `machine/web`, `machine/web volume/data`.
    pub(super) fn read(global: &Global, words: &[String]) -> Result<Self, CliError> {
        let kind = |text: &str| kind_of(text).map_err(|unknown| not_ours(global, text, unknown));
        let Some((first, others)) = words.split_first() else { return Err(CliError::usage("nothing is asked for")) };
        if first == "all" {
            return if others.is_empty() { Ok(Self::Everything) } else { Err(names_of_all()) };
        }
        let is_several = first.contains(',') || others.iter().any(|word| word.contains(['/', ',']));
        if !is_several {
            let (text, name) = first.split_once('/').map_or((first.as_str(), None), |(kind, name)| (kind, Some(name)));
            let names = name.map(str::to_owned).into_iter().chain(others.iter().cloned()).collect();
            return Ok(Self::One(Wanted { kind: kind(text)?, names }));
        }
        let mut all: Vec<Wanted> = Vec::new();
        let is_of_all = |word: &&str| !word.is_empty();
        for word in words.iter().flat_map(|word| word.split(',')).filter(is_of_all) {
            let (text, name) = word.split_once('/').map_or((word, None), |(kind, name)| (kind, Some(name)));
            let (kind, name) = (kind(text)?, name.map(str::to_owned));
            match all.iter_mut().find(|wanted| wanted.kind == kind) {
                Some(wanted) if wanted.names.is_empty() || name.is_none() => wanted.names.clear(),
                Some(wanted) => wanted.names.extend(name),
                None => all.push(Wanted { kind, names: name.into_iter().collect() }),
            }
        }
        match all.len() {
            1 => Ok(Self::One(all.remove(0))),
            _ => Ok(Self::Several(all)),
        }
    }

    /// Kind by kind.
    pub(super) fn kinds(&self) -> Vec<Wanted> {
        match self {
            Self::Everything => kinds().map(|kind| Wanted { kind, names: Vec::new() }).collect(),
            Self::One(wanted) => vec![wanted.clone()],
            Self::Several(all) => all.clone(),
        }
    }

    /// Whether it is one object, and not a list that may have just one.
    pub(super) fn is_one_object(&self) -> bool {
        matches!(self, Self::One(wanted) if wanted.names.len() == 1)
    }
}

fn names_of_all() -> CliError {
    CliError::usage("`get all` takes no names").next("write `bailiwick get KIND/NAME`, or leave the names out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::global;

    fn read(line: &str) -> Result<Asked, CliError> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Asked::read(&global(), &words)
    }

    fn wanted(kind: &'static str, names: &[&str]) -> Wanted {
        Wanted { kind, names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn kinds_and_names_are_read_in_every_form_that_people_write() {
        for (line, expected) in [
            ("all", Asked::Everything),
            ("machines", Asked::One(wanted("machine", &[]))),
            ("machine web db", Asked::One(wanted("machine", &["web", "db"]))),
            ("machine/web db", Asked::One(wanted("machine", &["web", "db"]))),
            ("machine/web machine/db", Asked::One(wanted("machine", &["web", "db"]))),
            ("machine/web,machines", Asked::One(wanted("machine", &[]))),
            ("ms,volumes", Asked::Several(vec![wanted("machine-set", &[]), wanted("volume", &[])])),
            (
                "machine/web,volume/data machine/db",
                Asked::Several(vec![wanted("machine", &["web", "db"]), wanted("volume", &["data"])]),
            ),
        ] {
            assert_eq!(read(line).expect(line), expected, "{line}");
        }
        assert!(read("all web").is_err());
        assert!(read("all web").expect_err("no names").next_step.contains("KIND/NAME"));
    }
}
