//! From TOML to options and their values, each with its line.

use clap::{Arg, ArgAction};
use toml::de::{DeTable, DeValue};

use super::Setting;
use crate::manifest::nearest;

/// What an option is set to, as it would be written on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Flag(bool),
    Values(Vec<String>),
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub line: usize,
    pub text: String,
}

/// All settings in a text, in the order of its lines.
pub(super) fn settings(text: &str, options: &[Arg]) -> Result<Vec<Setting>, Vec<Problem>> {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        vec![Problem { line: line(at), text: error.message().to_owned() }]
    })?;
    let (mut settings, mut problems) = (Vec::new(), Vec::new());
    for (key, value) in table.get_ref() {
        let line = line(key.span().start);
        match setting(key.get_ref(), value.get_ref(), options) {
            Ok((id, value)) => settings.push(Setting { id, name: key.get_ref().to_string(), line, value }),
            Err(text) => problems.push(Problem { line, text }),
        }
    }
    settings.sort_by_key(|setting| setting.line);
    problems.sort_by_key(|problem| problem.line);
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

fn setting(name: &str, value: &DeValue<'_>, options: &[Arg]) -> Result<(String, Value), String> {
    let Some(option) = options.iter().find(|option| option.get_long() == Some(name)) else {
        let near = nearest(name, options.iter().filter_map(Arg::get_long));
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(format!("there is no setting {name:?}{hint}"));
    };
    let value = match (option.get_action(), value) {
        (ArgAction::SetTrue, DeValue::Boolean(is_set)) => Value::Flag(*is_set),
        (ArgAction::SetTrue, _) => return Err(format!("{name} is true or false")),
        (ArgAction::Append, DeValue::Array(values)) => {
            Value::Values(values.iter().map(|value| text(name, value.get_ref())).collect::<Result<_, _>>()?)
        }
        (_, DeValue::Array(_)) => return Err(format!("{name} has one value, not a list of them")),
        (_, value) => Value::Values(vec![text(name, value)?]),
    };
    Ok((option.get_id().to_string(), value))
}

fn text(name: &str, value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.to_string()),
        DeValue::Float(number) => Ok(number.to_string()),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(format!("{name} is a text, in quotation marks"))
        }
    }
}
