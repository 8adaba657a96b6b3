//! What the servers do with who hangs up.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream as Stream,
};

use actix_web::HttpRequest;
use serde_json::{Value, json};

use super::*;
use crate::api::{connection::HungUp, questions::listened};

/// Nothing here takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn what_is_worked_out_for_who_hangs_up_ends_and_the_next_is_answered() {
    // given a server with work that goes on for as long as somebody listens, or until it is told to end
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let (tell, told) = mpsc::channel();
    let may_end = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let end = may_end.clone();
    let app = move || {
        let (tell, end) = (tell.clone(), end.clone());
        let work = move |request: HttpRequest| {
            let (tell, end) = (tell.clone(), end.clone());
            let hung_up = request.conn_data::<HungUp>().cloned().expect("of every connection");
            listened::<Value>(hung_up, move |listens| {
                tell.send("begun").unwrap();
                while listens() && !end.load(std::sync::atomic::Ordering::SeqCst) {
                    thread::yield_now();
                }
                tell.send(if listens() { "done" } else { "left" }).unwrap();
                Ok(json!("worked out"))
            })
        };
        App::new().route("/work", web::get().to(work)).into_factory()
    };
    let server = part("test-server", move || serve_local(listener, app)).unwrap();
    let ask = || {
        let mut stream = Stream::connect(&path).unwrap();
        stream.write_all(b"GET /work HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").unwrap();
        assert_eq!(told.recv_timeout(PATIENCE), Ok("begun"));
        stream
    };
    // when who has asked hangs up
    drop(ask());
    // then nobody works on
    assert_eq!(told.recv_timeout(PATIENCE), Ok("left"));
    // and who stays is answered
    let mut stays = ask();
    may_end.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(told.recv_timeout(PATIENCE), Ok("done"));
    let mut answer = String::new();
    stays.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\"worked out\""), "{answer}");
    drop(server.handle.stop(false));
    server.thread.join().unwrap();
}
