use std::{
    io::{Read, Write},
    os::unix::net::UnixListener,
    thread,
};

use super::*;

/// A node that gives one fixed answer to one caller and hands back what it was asked.
fn answering(answer: &'static str) -> (tempfile::TempDir, Client, thread::JoinHandle<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let socket = scratch.path().join("node.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        let mut piece = [0; 4096];
        while !asked.windows(4).any(|four| four == b"\r\n\r\n") {
            let read = stream.read(&mut piece).unwrap();
            asked.extend_from_slice(&piece[..read]);
        }
        let _ = stream.write_all(answer.as_bytes());
        String::from_utf8_lossy(&asked).into_owned()
    });
    (scratch, Client::new(socket), asked)
}

#[tokio::test]
async fn json_is_sent_with_its_bearer_and_read() {
    let (_scratch, client, asked) =
        answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n{\"a\": 17}");
    let answer: serde_json::Value =
        client.send_json(Method::POST, "/v1/x", &serde_json::json!({"b": 1}), Some("s3cret")).await.unwrap();
    assert_eq!(answer["a"], 17);
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("POST /v1/x HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("authorization: Bearer s3cret\r\n"), "{asked}");
}

#[tokio::test]
async fn a_refusal_carries_its_problem() {
    let (_scratch, client, _asked) = answering(
        "HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n{\"code\":\"not-found\",\"message\":\"no machine web\",\"more\":1}",
    );
    let refused = client.get_json::<()>("/v1/machines/web").await.unwrap_err();
    let ClientError::Refused { status: 404, problem } = refused else { panic!("{refused:?}") };
    assert_eq!((problem.code.as_str(), problem.message.as_str()), ("not-found", "no machine web"));
}

#[tokio::test]
async fn a_refusal_without_a_problem_says_its_status() {
    let (_scratch, client, _asked) = answering("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
    let refused = client.get_json::<()>("/").await.unwrap_err();
    let ClientError::Refused { status: 502, problem } = refused else { panic!("{refused:?}") };
    assert_eq!(problem.message, "502 Bad Gateway");
}

#[tokio::test]
async fn nobody_listening_is_not_running() {
    let scratch = tempfile::tempdir().unwrap();
    let socket = scratch.path().join("node.sock");
    let error = Client::new(socket.clone()).get_json::<()>("/").await.unwrap_err();
    assert!(matches!(&error, ClientError::NotRunning { socket: named } if *named == socket), "{error:?}");
    drop(UnixListener::bind(&socket).unwrap());
    let error = Client::new(socket).get_json::<()>("/").await.unwrap_err();
    assert!(matches!(error, ClientError::NotRunning { .. }), "{error:?}");
}

#[tokio::test]
async fn silence_times_out() {
    let scratch = tempfile::tempdir().unwrap();
    let socket = scratch.path().join("node.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let limits = Limits { time: Duration::from_millis(50), ..Limits::default() };
    let error = Client::new(socket).with_limits(limits).get_json::<()>("/").await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut), "{error:?}");
}

#[tokio::test]
async fn an_answer_beyond_the_bound_is_broken() {
    let (_scratch, client, _asked) = answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"a\": 17}");
    let limits = Limits { answer_bytes_max: 8, ..Limits::default() };
    let error = client.with_limits(limits).get_json::<serde_json::Value>("/").await.unwrap_err();
    assert!(matches!(error, ClientError::Broken { .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_cut_short_is_broken() {
    let (_scratch, client, _asked) = answering("HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"a\": 17}");
    let error = client.get_json::<serde_json::Value>("/").await.unwrap_err();
    assert!(matches!(error, ClientError::Broken { .. }), "{error:?}");
}

#[tokio::test]
async fn lines_are_read_one_by_one() {
    let (_scratch, client, _asked) = answering("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\none\r\ntwo\n\nthree");
    let mut lines = client.get_lines("/v1/log?follow=true").await.unwrap();
    let mut read = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        read.push(line);
    }
    assert_eq!(read, ["one", "two", "", "three"]);
}

#[tokio::test]
async fn a_line_beyond_the_bound_is_broken() {
    let (_scratch, client, _asked) = answering("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nno end in sight");
    let limits = Limits { answer_bytes_max: 8, ..Limits::default() };
    let mut lines = client.with_limits(limits).get_lines("/").await.unwrap();
    assert!(matches!(lines.next_line().await, Err(ClientError::Broken { .. })));
}
