use std::{fs, path::Path};

use super::*;
use crate::{
    cli::contexts::tests::{TOKEN, user},
    client::lab::{Ca, Server},
};

const KNOWN: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"principal\":\"account:ada\",\"role\":\"operate\",\
                     \"kinds\":[\"machine\"],\"expires\":\"2027-01-01T00:00:00Z\",\"more\":1}";
const UNKNOWN: &str = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// A home with a token and the CA in files.
fn home(ca: &Ca) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("token"), format!("{TOKEN}\n")).unwrap();
    fs::write(home.path().join("ca.pem"), ca.pem()).unwrap();
    home
}

fn args(home: &Path, url: NodeUrl) -> LoginArgs {
    let token_file = Some(home.join("token"));
    LoginArgs { url, name: Some("lab".into()), ca: Some(home.join("ca.pem")), ca_fingerprint: None, token_file }
}

fn kept(home: &Path) -> Vec<String> {
    Contexts::read(&user(home, &[])).unwrap().all().keys().cloned().collect()
}

#[test]
fn whoever_the_node_knows_is_logged_in_and_then_out() {
    // given
    let ca = Ca::new("lab");
    let (home, server) = (home(&ca), Server::start(ca.issue("localhost", 2099), KNOWN));
    let user = user(home.path(), &[]);
    // when
    let logged_in = log_in(&user, args(home.path(), server.url())).unwrap();
    let unnamed = LoginArgs { name: None, ..args(home.path(), server.url()) };
    let by_host = log_in(&user, unnamed).unwrap();
    let (_, first) = log_out(&user, LogoutArgs { name: Some("lab".into()) }).unwrap();
    let (_, second) = log_out(&user, LogoutArgs { name: None }).unwrap();
    let third = log_out(&user, LogoutArgs { name: None }).unwrap_err();
    // then
    let url = server.url();
    let text = logged_in.text();
    let mut lines = text.lines();
    let said = format!("logged in to {url} as account:ada (operate); context lab is current");
    assert_eq!(lines.next(), Some(said.as_str()));
    assert_eq!(lines.next(), Some("the token is for objects of these kinds alone: machine"));
    assert_eq!(lines.next(), Some("the token expires at 2027-01-01T00:00:00Z"));
    let json = serde_json::to_string(&logged_in).unwrap();
    assert!(json.contains("\"principal\":\"account:ada\"") && !json.contains("secret"), "{json}");
    assert_eq!(by_host.context, "localhost");
    assert_eq!(first, format!("logged out of {url} (context lab); context localhost is current"));
    let none = "no context is current: commands ask the node on this machine";
    assert_eq!(second, format!("logged out of {url} (context localhost); {none}"));
    assert_eq!(third.code, "no-context");
    assert_eq!(kept(home.path()), [""; 0]);
    let asked = server.asked();
    assert!(asked[0].starts_with("GET /v1/whoami HTTP/1.1\r\n"), "{asked:?}");
    assert!(asked[0].contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{asked:?}");
}

#[test]
fn the_ca_with_the_fingerprint_is_kept_and_alone() {
    // given
    let ca = Ca::new("lab");
    let (home, server) = (home(&ca), Server::start(ca.issue("localhost", 2099), KNOWN));
    let by_print = LoginArgs { ca: None, ca_fingerprint: Some(ca.fingerprint()), ..args(home.path(), server.url()) };
    // when
    log_in(&user(home.path(), &[]), by_print).unwrap();
    // then
    let contexts = Contexts::read(&user(home.path(), &[])).unwrap();
    assert_eq!(contexts.named("lab").unwrap().ca, ca.authority());
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_wrong_fingerprint_is_refused_before_the_token_is_even_read() {
    // given
    let (ca, other) = (Ca::new("lab"), Ca::new("other"));
    let (home, server) = (home(&ca), Server::start(ca.issue("localhost", 2099), KNOWN));
    fs::remove_file(home.path().join("token")).unwrap();
    let by_print = LoginArgs { ca: None, ca_fingerprint: Some(other.fingerprint()), ..args(home.path(), server.url()) };
    // when
    let error = log_in(&user(home.path(), &[]), by_print).unwrap_err();
    // then
    assert_eq!(error.code, "untrusted-node");
    assert!(error.next_step.contains("compare the fingerprint"), "{error:?}");
    assert_eq!(server.asked(), [""; 0]);
    assert_eq!(kept(home.path()), [""; 0]);
}

#[test]
fn whoever_the_node_does_not_know_is_not_kept() {
    // given
    let ca = Ca::new("lab");
    let (home, server) = (home(&ca), Server::start(ca.issue("localhost", 2099), UNKNOWN));
    // when
    let error = log_in(&user(home.path(), &[]), args(home.path(), server.url())).unwrap_err();
    // then
    assert_eq!((&*error.code, &*error.message), ("unauthorized", "401 Unauthorized"));
    assert_eq!(kept(home.path()), [""; 0]);
}

#[test]
fn a_name_that_leads_to_another_node_is_not_taken_from_it() {
    // given
    let ca = Ca::new("lab");
    let (home, server) = (home(&ca), Server::start(ca.issue("localhost", 2099), KNOWN));
    log_in(&user(home.path(), &[]), args(home.path(), server.url())).unwrap();
    // when
    let again = log_in(&user(home.path(), &[]), args(home.path(), server.url()));
    let other = log_in(&user(home.path(), &[]), args(home.path(), "https://other".parse().unwrap()));
    // then
    assert!(again.is_ok(), "{again:?}");
    assert_eq!(other.unwrap_err().code, "exists");
    assert_eq!(kept(home.path()), ["lab"]);
}
