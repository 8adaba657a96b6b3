//! Accounts: who may ask this node over the network.

use std::collections::BTreeSet;

use actix_web::{http::StatusCode, web};
use bailiwick_actors::{
    document::{Account, Command, Content, Kind, Role, Token},
    shell::{AnyCommand, AskError},
};
use bailiwick_journal::{Outcome, StreamId, Version};
use uuid::Uuid;

use super::{
    access::Need,
    asker::{Asker, Seen},
    changes::decided,
    errors::Failure,
    query::no_entity,
    routes::{Routes, SMALL},
    wire::{
        account::{AccountChange, ChangeAccount, NewToken},
        change::Decided,
    },
};
use crate::view::Fleet;

/// How often a change is made again because somebody else changed the account meanwhile.
const TRIES_MAX: u32 = 8;

pub(super) fn routes(routes: &mut Routes<'_>) {
    routes.post("/accounts", Need::Role(Role::Admin), SMALL, "Creates an account, adds a token or revokes it", change);
}

async fn change(asker: Asker, seen: Seen, wanted: web::Json<ChangeAccount>) -> Result<web::Json<Decided>, Failure> {
    let ChangeAccount { name, change, id } = wanted.into_inner();
    let entity = StreamId::new(Kind::Account.as_str(), name.as_str()).expect("names are checked");
    let node = asker.to_change_one(&entity, seen)?;
    let id = id.unwrap_or_else(Uuid::new_v4);
    let mut tries = 0;
    let answer = loop {
        let (account, version) = node.look(|fleet| {
            let account = changed(fleet, &entity, change.clone());
            account.map(|account| (account, version(fleet, &entity)))
        })??;
        let command = AnyCommand::from(Command::Declare(Box::new(Content::Account(account))));
        // The whole account is declared anew: what somebody else changed in it meanwhile must not be lost.
        let asked = if seen.is_given() { node.clone() } else { node.expecting(entity.clone(), version) };
        match asked.ask(entity.clone(), command, id).await {
            Err(AskError::Changed { .. }) if !seen.is_given() && tries < TRIES_MAX => tries += 1,
            answered => break answered?,
        }
    };
    if answer.outcome == Outcome::Refused {
        return Err(Failure::new(StatusCode::CONFLICT, "refused", format!("{}: {}", answer.stream, answer.text)));
    }
    Ok(web::Json(decided(&answer)))
}

fn version(fleet: &Fleet, entity: &StreamId) -> Version {
    let account = fleet.documents.folded(Kind::Account, entity.name());
    account.map_or(Version::ZERO, |account| account.version)
}

/// What the account is to be.
fn changed(fleet: &Fleet, entity: &StreamId, change: AccountChange) -> Result<Account, Failure> {
    let present = fleet.documents.accounts().find(|account| account.name == entity.name());
    let present = present.map(|account| account.says.clone());
    match (change, present) {
        (AccountChange::Create { .. }, Some(_)) => {
            Err(Failure::new(StatusCode::CONFLICT, "refused", format!("{entity} exists already"))
                .next("`bailiwick account token NAME` gives it another token"))
        }
        (AccountChange::Create { role, kinds, users, token }, None) => {
            let role =
                Role::of(&role).ok_or_else(|| bad(format!("{role:?} is no role: use view, operate or admin")))?;
            check_kinds(&kinds)?;
            let tokens = token.map(read).transpose()?.into_iter().collect();
            Ok(Account { role, kinds, tokens, users })
        }
        (AccountChange::AddToken(token), Some(mut account)) => {
            // Those that have ended open nothing any more, and would fill up what there is room for.
            account.tokens.retain(|token| token.expires.is_none_or(|expires| fleet.time < expires));
            account.tokens.push(read(token)?);
            Ok(account)
        }
        (AccountChange::RevokeToken { id }, Some(mut account)) => {
            let before = account.tokens.len();
            account.tokens.retain(|token| id.as_ref().is_some_and(|id| token.id != *id));
            match id {
                Some(id) if account.tokens.len() == before => {
                    let message = format!("{entity} has no token {id}");
                    Err(Failure::new(StatusCode::NOT_FOUND, "not-found", message)
                        .next(&format!("`bailiwick describe {entity}` lists its tokens")))
                }
                _ => Ok(account),
            }
        }
        (AccountChange::AddToken(_) | AccountChange::RevokeToken { .. }, None) => Err(no_entity(fleet, entity).into()),
    }
}

fn bad(message: String) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "bad-request", message)
}

fn check_kinds(kinds: &BTreeSet<String>) -> Result<(), Failure> {
    let unknown = kinds.iter().find(|kind| !crate::view::kinds().any(|known| known == kind.as_str()));
    unknown.map_or(Ok(()), |kind| Err(bad(format!("there is no kind {kind:?}"))))
}

fn read(token: NewToken) -> Result<Token, Failure> {
    let NewToken { id, hash, expires_ms } = token;
    let hash = blake3::Hash::from_hex(&hash).map_err(|_| bad("the hash is not 64 hexadecimal digits".to_owned()))?;
    Ok(Token { id, hash: *hash.as_bytes(), expires: expires_ms })
}
