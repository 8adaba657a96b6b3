//! What a document must not say.

use std::{collections::BTreeSet, net::IpAddr};

use bailiwick_journal::StreamId;

use super::{Account, AgentBinary, Content, Juju, Model, Rejection, Token};
use crate::contract::Stored;

/// The longest stored form of what one document says, in bytes: a refusal of it has to find room in the journal, too.
pub const CONTENT_BYTES_MAX: usize = 32 * 1024;

/// What stands in the first line of every private key.
const KEY: &str = "PRIVATE KEY";

/// Refuses what makes no sense, and what is too large.
pub(super) fn check(content: &Content) -> Result<(), Rejection> {
    let bytes = content.store().map_or(usize::MAX, |body| body.bytes.len());
    if bytes > CONTENT_BYTES_MAX {
        return Err(Rejection::TooLarge { most: u64::try_from(CONTENT_BYTES_MAX).unwrap_or(u64::MAX) });
    }
    let bad = |problem: &str| Err(Rejection::BadContent { problem: problem.into() });
    match content {
        Content::Subnet(subnet) if !is_cidr(&subnet.cidr) => bad("its cidr is not an address with a prefix length"),
        Content::ImageMetadata(image) if image.image.is_empty() => bad("it names no image"),
        Content::AgentBinary(binary) => agent_binary(binary),
        Content::Model(model) => self::model(model),
        Content::Account(account) => self::account(account),
        Content::JujuModel(said) | Content::JujuApplication(said) | Content::JujuMachine(said)
            if said.json.contains(KEY) =>
        {
            bad("there is a private key in it")
        }
        _ => Ok(()),
    }
}

fn agent_binary(binary: &AgentBinary) -> Result<(), Rejection> {
    let bad = |problem: &str| Err(Rejection::BadContent { problem: problem.into() });
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if binary.sha256.len() != 64 || !binary.sha256.bytes().all(is_digit) {
        return bad("its sha256 is not 64 hexadecimal digits in lower case");
    }
    if binary.version.is_empty() {
        return bad("it names no version");
    }
    match authority(&binary.location) {
        None => bad("its location is not a URL such as https://host/path"),
        // What stands there is journaled, and told to every provider.
        Some(authority) if authority.contains('@') => bad("its location has credentials in it"),
        Some(_) => Ok(()),
    }
}

/// Who is asked at a URL, with the credentials that may stand before that.
fn authority(location: &str) -> Option<&str> {
    location.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest))
}

/// The same without the secrets for which it is refused; none if there are none. A refusal is journaled with what was asked,
/// so this stands there instead: it is as long, and is refused for the same.
pub(super) fn without_secrets(content: &Content) -> Option<Content> {
    match content {
        Content::Model(model) => {
            let ca_certificate = model.ca_certificate.as_deref().map(without_key);
            let image_signing_key = model.image_signing_key.as_deref().map(without_key);
            let hidden = Model { ca_certificate, image_signing_key, ..model.clone() };
            (hidden != *model).then_some(Content::Model(hidden))
        }
        Content::AgentBinary(binary) => {
            let asked = authority(&binary.location).unwrap_or(&binary.location);
            let (credentials, _) = asked.rsplit_once('@')?;
            let scheme = binary.location.find("://").map_or(0, |at| at + 3);
            let (scheme, rest) = binary.location.split_at(scheme);
            let location = format!("{scheme}{}{}", stars(credentials), rest.split_at(credentials.len()).1);
            Some(Content::AgentBinary(AgentBinary { location, ..binary.clone() }))
        }
        // Who writes a whole token where its id belongs has written the secret.
        Content::Account(account) => {
            let id = |id: &str| if Token::is_id(id) { id.to_owned() } else { stars(id) };
            let tokens = account.tokens.iter().map(|token| Token { id: id(&token.id), ..token.clone() }).collect();
            let hidden = Account { tokens, ..account.clone() };
            (hidden != *account).then_some(Content::Account(hidden))
        }
        Content::JujuModel(said) => hidden(said).map(Content::JujuModel),
        Content::JujuApplication(said) => hidden(said).map(Content::JujuApplication),
        Content::JujuMachine(said) => hidden(said).map(Content::JujuMachine),
        Content::Space(_) | Content::Subnet(_) | Content::ImageMetadata(_) | Content::Application(_) => None,
    }
}

fn hidden(said: &Juju) -> Option<Juju> {
    said.json.contains(KEY).then(|| Juju { json: without_key(&said.json) })
}

/// Where a private key is in a text, nothing of it but those words.
fn without_key(text: &str) -> String {
    if !text.contains(KEY) {
        return text.to_owned();
    }
    text.split(KEY).map(stars).collect::<Vec<_>>().join(KEY)
}

fn stars(text: &str) -> String {
    "*".repeat(text.len())
}

fn model(model: &Model) -> Result<(), Rejection> {
    let bad = |problem: &str| Err(Rejection::BadContent { problem: problem.into() });
    let all = [&model.ca_certificate, &model.image_signing_key].into_iter().flatten();
    // What stands there is journaled, and told to every provider.
    if all.clone().any(|text| text.contains(KEY)) {
        return bad("there is a private key in it");
    }
    if all.clone().any(|text| text.bytes().any(|byte| byte != b'\n' && !(b' '..=b'~').contains(&byte))) {
        return bad("its certificate or key is not plain text");
    }
    let is_certificate = |text: &String| text.trim_start().starts_with("-----BEGIN CERTIFICATE-----");
    if !model.ca_certificate.iter().all(is_certificate) {
        return bad("its caCertificate is not a PEM certificate");
    }
    Ok(())
}

fn account(account: &Account) -> Result<(), Rejection> {
    let bad = |problem: String| Err(Rejection::BadContent { problem });
    let Account { tokens, kinds, users, .. } = account;
    let limits = [
        ("tokens", tokens.len(), Account::TOKENS_MAX),
        ("kinds", kinds.len(), Account::KINDS_MAX),
        ("users", users.len(), Account::USERS_MAX),
    ];
    if let Some((what, _, most)) = limits.into_iter().find(|(_, count, most)| count > most) {
        return bad(format!("it has more than {most} {what}"));
    }
    if !tokens.iter().all(|token| Token::is_id(&token.id)) {
        return bad("the id of a token is not 8 hexadecimal digits in lower case".into());
    }
    if tokens.iter().map(|token| &token.id).collect::<BTreeSet<_>>().len() < tokens.len() {
        return bad("two of its tokens have one id".into());
    }
    // Which kinds there are differs between programs; what no stream can be of is none of any.
    if !kinds.iter().all(|kind| StreamId::new(kind, "any").is_ok_and(|stream| stream.kind() == kind)) {
        return bad("it names a kind that is none".into());
    }
    Ok(())
}

/// `10.0.1.0/24`: an address without bits beyond its prefix.
fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let (Ok(address), Ok(length)) = (address.parse::<IpAddr>(), length.parse::<u32>()) else { return false };
    let (bits, width) = match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    let Some(beyond) = u32::checked_sub(width, length) else { return false };
    1u128.checked_shl(beyond).is_none_or(|end| bits & (end - 1) == 0) && (beyond < 128 || bits == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cidr_is_an_address_without_bits_beyond_its_prefix() {
        for text in ["10.0.1.0/24", "10.0.0.1/32", "0.0.0.0/0", "fd00:1::/64", "::/0"] {
            assert!(is_cidr(text), "{text}");
        }
        for text in ["", "10.0.1.0", "10.0.1.1/24", "10.0.1.0/33", "fd00::1/64", "::1/0", "ten/8", "10.0.1.0/"] {
            assert!(!is_cidr(text), "{text}");
        }
    }
}
