//! The objects that a command line names.

use bailiwick_journal::StreamId;

use super::{
    Global,
    exit::{CliError, Exit},
    get::kind_of,
    session,
};
use crate::{
    api::query::Query,
    manifest::nearest,
    view::{At, Selector, kinds},
};

/// The entities that people name: `machine/web volume/data`, or `machine web db`.
pub(super) fn named(names: &[String]) -> Result<Vec<StreamId>, CliError> {
    match names.split_first() {
        Some((kind, of_kind)) if !of_kind.is_empty() && names.iter().all(|name| !name.contains('/')) => {
            let kind = kind_of(kind)?;
            of_kind.iter().map(|name| stream(kind, name)).collect()
        }
        _ => names.iter().map(|text| entity(text)).collect(),
    }
}

/// The same, or what a selector finds of the kinds that are named; that there is nothing of the kind is an error.
pub(super) fn selected(
    global: &Global,
    words: &[String],
    selector: Option<&Selector>,
) -> Result<Vec<StreamId>, CliError> {
    let Some(selector) = selector else { return named(words) };
    let mut all = Vec::new();
    for word in words {
        let kind = kind_of(word)?;
        let query = Query::List { kind: kind.into(), selector: selector.clone(), at: None };
        let rows = session::ask(global, &query)?;
        let names = rows.as_array().into_iter().flatten().filter_map(|row| row["name"].as_str());
        all.extend(names.filter_map(|name| StreamId::new(kind, name).ok()));
    }
    if all.is_empty() {
        let message = format!("the selector matches no {}", words.join(" or "));
        let next = format!("`bailiwick get {}` lists all of them", words.join(","));
        return Err(CliError::new(Exit::NotFound, "not-found", message).next(next));
    }
    Ok(all)
}

/// The entity that people mean.
pub(super) fn entity(text: &str) -> Result<StreamId, CliError> {
    let Some((kind, name)) = text.split_once('/') else {
        return Err(CliError::usage(format!("{text:?} is not KIND/NAME")).next("write it like machine/web"));
    };
    stream(kind_of(kind)?, name)
}

/// The entity that people name in one word or in two: `machine/web`, `machine web`.
pub(super) fn one(words: &[String]) -> Result<StreamId, CliError> {
    entity(&spelled(words)?)
}

/// The same as one word, whatever its kind is.
pub(super) fn spelled(words: &[String]) -> Result<String, CliError> {
    match words {
        [word] => Ok(word.clone()),
        [kind, name] if !words.iter().any(|word| word.contains('/')) => Ok(format!("{kind}/{name}")),
        _ => Err(CliError::usage("one object is named at a time").next("write KIND/NAME, such as machine/web")),
    }
}

fn stream(kind: &str, name: &str) -> Result<StreamId, CliError> {
    StreamId::new(kind, name).map_err(|error| CliError::usage(error.to_string()))
}

/// The one object that is named: `machine/web`, `machine web`, or `web` if only one is called so.
pub(super) fn object(global: &Global, words: &[String], at: Option<At>) -> Result<StreamId, CliError> {
    if let [name] = words
        && !name.contains('/')
    {
        return only(name, &names(global, at)?);
    }
    match named(words)?.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(CliError::usage("one object is described at a time").next("write KIND/NAME, such as machine/web")),
    }
}

/// The name of everything that there is.
fn names(global: &Global, at: Option<At>) -> Result<Vec<StreamId>, CliError> {
    let lists: Vec<Query> =
        kinds().map(|kind| Query::List { kind: kind.into(), selector: Selector::default(), at }).collect();
    let mut all = Vec::new();
    for (kind, rows) in kinds().zip(session::ask_all(global, &lists)?) {
        let names = rows.as_array().into_iter().flatten().filter_map(|row| row["name"].as_str());
        all.extend(names.filter_map(|name| StreamId::new(kind, name).ok()));
    }
    Ok(all)
}

/// The only one of this name.
fn only(name: &str, all: &[StreamId]) -> Result<StreamId, CliError> {
    let called: Vec<&StreamId> = all.iter().filter(|stream| stream.name() == name).collect();
    match called.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let error = CliError::new(Exit::NotFound, "not-found", format!("nothing is called {name:?}"));
            let near = nearest(name, all.iter().map(StreamId::name));
            let near: Vec<String> =
                all.iter().filter(|stream| Some(stream.name()) == near).map(ToString::to_string).collect();
            if near.is_empty() {
                return Err(error.next("`bailiwick get all` lists what there is"));
            }
            Err(error.next(format!("did you mean {}?", near.join(" or "))))
        }
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            let message = format!("{} objects are called {name:?}", several.len());
            Err(CliError::new(Exit::Error, "ambiguous", message).next(format!("write one of {}", several.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(texts: &[&str]) -> Vec<StreamId> {
        texts.iter().map(|text| text.parse().expect("a stream")).collect()
    }

    #[test]
    fn a_name_alone_is_enough_where_only_one_is_called_so() {
        let all = streams(&["machine/web", "volume/data", "machine/data", "policy/default"]);
        assert_eq!(only("web", &all).expect("one").to_string(), "machine/web");
        let several = only("data", &all).expect_err("two");
        assert_eq!((&*several.code, &*several.next_step), ("ambiguous", "write one of volume/data, machine/data"));
        let none = only("dato", &all).expect_err("none");
        assert_eq!((&*none.code, &*none.next_step), ("not-found", "did you mean volume/data or machine/data?"));
    }

    #[test]
    fn a_kind_may_stand_before_names_and_in_each_of_them() {
        let read = |line: &str| named(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(read("m web db").expect("two"), streams(&["machine/web", "machine/db"]));
        assert_eq!(read("machine/web v/data").expect("two"), streams(&["machine/web", "volume/data"]));
        assert!(read("web").is_err() && read("web db").is_err() && read("machine db/x").is_err());
    }

    #[test]
    fn one_object_is_named_in_one_word_or_in_two() {
        let read = |line: &str| one(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for line in ["machine/web", "machine web", "m web"] {
            assert_eq!(read(line).expect(line).as_str(), "machine/web");
        }
        for line in ["web", "machine/web volume/data", "machine/web db", "machine web db"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
