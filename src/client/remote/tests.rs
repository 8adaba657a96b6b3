use std::error::Error;

use hyper::Method;

use super::*;
use crate::client::{
    Client, Distrust, InvalidUrl, authority_at,
    lab::{Ca, Identity, Server},
};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n{\"a\": 17}";
const TOKEN: &str = "t1.very-secret";
/// As far as certificates of tests go.
const LONG: i32 = 2099;

fn client(server: &Server, ca: &Ca) -> Client {
    Client::remote(remote(server.url(), ca))
}

fn remote(url: NodeUrl, ca: &Ca) -> Remote {
    Remote { url, context: Some("lab".into()), ca: ca.authority(), token: TOKEN.parse().unwrap() }
}

async fn ask(client: &Client) -> Result<serde_json::Value, ClientError> {
    client.get_json("/v1/node").await
}

/// What comes of asking a server that has this identity, when this CA is trusted; and that it was told nothing.
async fn distrusted(identity: Identity, ca: &Ca) -> ClientError {
    let server = Server::start(identity, ANSWER);
    let error = ask(&client(&server, ca)).await.unwrap_err();
    assert_eq!(server.asked(), [""; 0]);
    error
}

fn why(error: ClientError) -> Distrust {
    let text = error.to_string();
    match error {
        ClientError::Untrusted { why, .. } => why,
        other => panic!("{text}: {other:?}"),
    }
}

#[tokio::test]
async fn a_node_of_the_ca_is_asked_with_the_token_and_by_its_name() {
    // given
    let ca = Ca::new("lab");
    let server = Server::start(ca.issue("localhost", LONG), ANSWER);
    let (client, host) = (client(&server, &ca), format!("host: localhost:{}\r\n", server.port));
    // when
    let read = ask(&client).await.unwrap();
    let sent: serde_json::Value = client.send_json(Method::POST, "/v1/x", &17, None).await.unwrap();
    let given: serde_json::Value = client.send_json(Method::POST, "/v1/x", &17, Some("other")).await.unwrap();
    let mut lines = client.get_lines("/v1/log").await.unwrap();
    let line = lines.next_line().await.unwrap();
    // then
    assert_eq!([&read["a"], &sent["a"], &given["a"]], [17, 17, 17]);
    assert_eq!(line.as_deref(), Some("{\"a\": 17}"));
    let asked = server.asked();
    assert!(asked[0].starts_with("GET /v1/node HTTP/1.1\r\n"), "{asked:?}");
    assert!(asked.iter().all(|head| head.contains(&host)), "{asked:?}");
    let bearers = ["t1.very-secret", "t1.very-secret", "other", "t1.very-secret"];
    for (head, bearer) in asked.iter().zip(bearers) {
        assert!(head.contains(&format!("authorization: Bearer {bearer}\r\n")), "{head}");
    }
    assert_eq!(asked.len(), bearers.len());
}

#[tokio::test]
async fn a_node_of_another_ca_is_told_nothing() {
    // given: two with different names, and two of one name with different keys
    let (ca, other, twin) = (Ca::new("lab"), Ca::new("other"), Ca::new("lab"));
    for stranger in [other, twin] {
        // when
        let error = distrusted(stranger.issue("localhost", LONG), &ca).await;
        // then
        assert!(
            error.to_string().contains("(context lab) is not trusted: another CA issued its certificate"),
            "{error}"
        );
        assert_eq!(why(error), Distrust::Unknown);
    }
}

#[tokio::test]
async fn a_node_with_an_expired_certificate_is_told_nothing() {
    // given
    let ca = Ca::new("lab");
    // when
    let error = distrusted(ca.issue("localhost", 2020), &ca).await;
    // then
    assert!(error.to_string().ends_with("its certificate expired at 2020-01-01T00:00:00.000Z"), "{error}");
}

#[tokio::test]
async fn a_node_with_a_certificate_for_another_name_is_told_nothing() {
    // given
    let ca = Ca::new("lab");
    // when
    let error = distrusted(ca.issue("elsewhere.example", LONG), &ca).await;
    // then
    assert_eq!(why(error), Distrust::Name { host: "localhost".into() });
}

#[tokio::test]
async fn older_tls_and_no_tls_are_not_spoken() {
    // given
    let ca = Ca::new("lab");
    let old = Server::old(ca.issue("localhost", LONG), ANSWER);
    let plain = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", plain.local_addr().unwrap().port()).parse().unwrap();
    let answer = async {
        let (mut stream, _) = plain.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        stream
    };
    // when
    let to_old = ask(&client(&old, &ca)).await.unwrap_err();
    let plainly = Client::remote(remote(url, &ca));
    let (to_plain, _) = tokio::join!(ask(&plainly), answer);
    // then
    assert!(matches!(to_old, ClientError::OtherProtocol { .. }), "{to_old:?}");
    assert!(to_old.to_string().starts_with("no TLS 1.3 is spoken at https://localhost:"), "{to_old}");
    assert_eq!(old.asked(), [""; 0]);
    assert!(matches!(to_plain, Err(ClientError::OtherProtocol { .. })), "{to_plain:?}");
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    // given: a port that no program takes by itself
    let ca = Ca::new("lab");
    for url in ["https://127.0.0.1:1", "https://[::1]:1"] {
        // when
        let error = ask(&Client::remote(remote(url.parse().unwrap(), &ca))).await.unwrap_err();
        // then
        assert!(error.source().is_some());
        assert!(error.to_string().starts_with("cannot reach the node at https://"), "{error}");
        assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn the_ca_with_the_fingerprint_is_taken_and_no_other() {
    // given
    let (ca, other) = (Ca::new("lab"), Ca::new("other"));
    let server = Server::start(ca.issue("localhost", LONG), ANSWER);
    // when
    let found = authority_at(&server.url(), ca.fingerprint()).await.unwrap();
    let missed = authority_at(&server.url(), other.fingerprint()).await.unwrap_err();
    // then
    assert_eq!(found, ca.authority());
    assert_eq!(why(missed), Distrust::Fingerprint);
    assert_eq!(server.asked(), [""; 0]);
}

#[tokio::test]
async fn the_fingerprint_of_a_ca_does_not_vouch_for_others_or_for_another_name() {
    // given: one that presents a CA that is not its own, and one with another name
    let (ca, other) = (Ca::new("lab"), Ca::new("other"));
    let impostor = Server::start(other.issue("localhost", LONG).presenting(&ca), ANSWER);
    let elsewhere = Server::start(ca.issue("elsewhere.example", LONG), ANSWER);
    // when
    let by_impostor = authority_at(&impostor.url(), ca.fingerprint()).await.unwrap_err();
    let by_name = authority_at(&elsewhere.url(), ca.fingerprint()).await.unwrap_err();
    // then
    assert_eq!(why(by_impostor), Distrust::Unknown);
    assert_eq!(why(by_name), Distrust::Name { host: "localhost".into() });
}

#[test]
fn nothing_prints_a_token() {
    // given
    let url = "https://lab".parse().unwrap();
    let remote = remote(url, &Ca::new("lab"));
    // when
    let printed = format!("{remote:?} {:?} {:?}", Client::remote(remote.clone()), remote.token);
    // then
    assert!(printed.contains("https://lab:8443") || printed.contains("8443"), "{printed}");
    assert!(!printed.contains("secret"), "{printed}");
    assert!(!format!("{:?}", "very secret".parse::<Token>()).contains("very"));
}

#[test]
fn urls_have_a_host_and_a_port_and_nothing_else() {
    let read = |text: &str| text.parse::<NodeUrl>().map(|url| url.to_string());
    for (text, shown) in [
        ("https://lab", "https://lab:8443"),
        ("https://Lab.Example:443/", "https://lab.example:443"),
        ("https://[::1]:9", "https://[::1]:9"),
        ("https://192.0.2.1", "https://192.0.2.1:8443"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(shown), "{text}");
        assert_eq!(read(shown).as_deref(), Ok(shown));
    }
    assert_eq!("https://[::1]".parse::<NodeUrl>().unwrap().host(), "::1");
    for (text, wrong) in [
        ("http://lab", InvalidUrl::Scheme),
        ("lab:8443", InvalidUrl::Scheme),
        ("https://", InvalidUrl::Host),
        ("https://la b", InvalidUrl::Host),
        ("https://[::1", InvalidUrl::Host),
        ("https://a..b", InvalidUrl::Host),
        ("https://lab:0", InvalidUrl::Port),
        ("https://lab:70000", InvalidUrl::Port),
        ("https://lab:", InvalidUrl::Port),
        ("https://ada:secret@lab", InvalidUrl::More),
        ("https://lab/v1", InvalidUrl::More),
        ("https://lab?x", InvalidUrl::More),
        ("https://lab#x", InvalidUrl::More),
    ] {
        assert_eq!(read(text), Err(wrong), "{text}");
    }
}
