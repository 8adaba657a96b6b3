//! `kind: Account`: who may use the node's API.

use std::collections::BTreeSet;

use bailiwick_actors::{
    document::{Account, Role, Token},
    vocab::Timestamp,
};

use super::object_kinds;
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        hint::nearest,
        problem::Code,
    },
    text::cut,
};

pub(super) fn account(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<Account> {
    let fields = Fields::of(spec, &["role", "kinds", "users", "tokens"], reading)?;
    // All problems are told at once.
    let role = fields.require("role", "view", reading).and_then(|field| role(&field, reading));
    let kinds = listed(fields.get("kinds"), Account::KINDS_MAX, kind, reading);
    let users = listed(fields.get("users"), Account::USERS_MAX, |field, reading| field.number(reading), reading);
    let tokens = fields.get("tokens").map_or(Some(Vec::new()), |field| tokens(&field, reading));
    Some(Account { role: role?, kinds: kinds?, tokens: tokens?, users: users? })
}

/// The items of a list that may be left out.
fn listed<T: Ord>(
    field: Option<Field<'_>>,
    most: usize,
    read: impl Fn(&Field<'_>, &mut Reading<'_>) -> Option<T>,
    reading: &mut Reading<'_>,
) -> Option<BTreeSet<T>> {
    let items = field.map_or(Some(Vec::new()), |field| field.items(most, reading))?;
    let read: Vec<Option<T>> = items.iter().map(|item| read(item, reading)).collect();
    read.into_iter().collect()
}

fn role(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Role> {
    let text = field.line(reading)?;
    if let Some(role) = Role::of(text) {
        return Some(role);
    }
    let next = match nearest(text, Role::ALL.map(Role::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("write one of {}", Role::ALL.map(Role::as_str).join(", ")),
    };
    field.refuse(reading, Code::BadText, format!("unknown role `{}`", cut(text, 60)), next)
}

/// A kind of objects, as `KIND/NAME` has it.
fn kind(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<String> {
    let (text, known) = (field.line(reading)?, object_kinds());
    if known.iter().any(|kind| kind == text) {
        return Some(text.to_owned());
    }
    let next = match nearest(text, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known kinds: {}", known.join(", ")),
    };
    field.refuse(reading, Code::UnsupportedKind, format!("unknown kind `{}`", cut(text, 60)), next)
}

fn tokens(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Vec<Token>> {
    let items = field.items(Account::TOKENS_MAX, reading)?;
    let read: Vec<Option<Token>> = items.iter().map(|item| token(item, reading)).collect();
    let tokens: Vec<Token> = read.into_iter().collect::<Option<_>>()?;
    let mut ids = BTreeSet::new();
    match tokens.iter().position(|token| !ids.insert(&token.id)) {
        Some(place) => items.get(place)?.refuse(
            reading,
            Code::Duplicate,
            format!("another token of the account has the id {}", tokens[place].id),
            "keep one of them",
        ),
        None => Some(tokens),
    }
}

fn token(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Token> {
    let fields = Fields::of(field, &["id", "hash", "expires"], reading)?;
    let id = fields.require("id", "1f2e3d4c", reading).and_then(|field| id(&field, reading));
    let hash = fields.require("hash", "…", reading).and_then(|field| hash(&field, reading));
    let expires = match fields.get("expires") {
        None => Some(None),
        Some(field) => moment(&field, reading).map(Some),
    };
    Some(Token { id: id?, hash: hash?, expires: expires? })
}

/// What is wrong is not repeated, here and in the hash: it may be the token itself.
fn id(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<String> {
    let text = field.text(reading)?;
    if Token::is_id(text) {
        return Some(text.to_owned());
    }
    let next = "write the part of the token before the dot";
    field.refuse(reading, Code::BadText, "it is not 8 hexadecimal digits in lower case", next)
}

fn hash(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<[u8; 32]> {
    let text = field.text(reading)?;
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if let Some(hash) = blake3::Hash::from_hex(text).ok().filter(|_| is_lower) {
        return Some(hash.into());
    }
    let next = "write the BLAKE3 hash of the whole token, never the token";
    field.refuse(reading, Code::BadText, "it is not 64 hexadecimal digits in lower case", next)
}

/// A time of day on a date.
fn moment(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Timestamp> {
    let text = field.line(reading)?;
    let time = text.parse::<jiff::Timestamp>().ok();
    if let Some(ms) = time.and_then(|time| u64::try_from(time.as_millisecond()).ok()) {
        return Some(Timestamp(ms));
    }
    let message = format!("{:?} is not a time", cut(text, 40));
    field.refuse(reading, Code::BadText, message, "write a time such as 2027-01-01T00:00:00Z")
}
