//! A node that only talks to agents: it writes down what they report and answers what the test wishes.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use bailiwick::{
    api::wire::agent::{Answer, AttachedVolume, Report, Workload},
    client::{SocketPath, socket_address},
};

use crate::support::{eventually, name};

/// One report with its head.
#[derive(Clone, Debug)]
pub struct Heard {
    pub head: String,
    pub report: Report,
}

#[derive(Debug)]
pub struct Node {
    socket: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    answer: Mutex<Vec<u8>>,
    heard: Mutex<Vec<Heard>>,
    stopped: AtomicBool,
}

impl Node {
    pub fn at(socket: &Path) -> Self {
        let address = address_of(socket).unwrap();
        let listener = UnixListener::bind(address.path()).unwrap();
        let shared = Arc::new(Shared { answer: Mutex::default(), heard: Mutex::default(), stopped: false.into() });
        let mut node = Self { socket: socket.to_owned(), shared: shared.clone(), thread: None };
        node.wish(&[], &[]);
        let serve = move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::SeqCst) {
                    break;
                }
                // An agent that is killed in the middle of a word is none of our concern.
                let _ = stream.and_then(|stream| shared.talk(stream));
            }
        };
        node.thread = Some(thread::spawn(serve));
        node
    }

    /// What agents are told from now on.
    pub fn wish(&self, workloads: &[(&str, &str)], volumes: &[(&str, &str)]) {
        self.wish_all(workloads, None, volumes);
    }

    /// The same, where each may take so long to end.
    pub fn wish_with_grace(&self, workloads: &[(&str, &str)], grace_ms: Option<u64>) {
        self.wish_all(workloads, grace_ms, &[]);
    }

    fn wish_all(&self, workloads: &[(&str, &str)], grace_ms: Option<u64>, volumes: &[(&str, &str)]) {
        let workload = |(title, script): &(&str, &str)| Workload {
            name: name(title),
            command: ["sh", "-c", script].map(str::to_owned).into(),
            env: [("DECLARED".to_owned(), "yes".to_owned())].into(),
            volumes: [].into(),
            grace_ms,
        };
        let volume =
            |(title, path): &(&str, &str)| AttachedVolume { name: name(title), path: path.into(), read_only: false };
        let answer = Answer {
            workloads: workloads.iter().map(workload).collect(),
            volumes: volumes.iter().map(volume).collect(),
            filesystems: Vec::new(),
            node: None,
            going: None,
            interval_ms: 50,
            stop: false,
        };
        self.say(&serde_json::to_string(&answer).unwrap());
    }

    /// What agents are told from now on, word for word.
    pub fn say(&self, answer: &str) {
        *self.shared.answer.lock().unwrap() = answer.as_bytes().to_vec();
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap().clone()
    }

    /// The next report that is as it should be.
    #[track_caller]
    pub fn hears(&self, what: &str, is_so: impl Fn(&Report) -> bool) -> Report {
        self.shared.heard.lock().unwrap().clear();
        let mut found = None;
        eventually(what, || {
            found = self.heard().into_iter().map(|heard| heard.report).find(&is_so);
            found.is_some()
        });
        found.unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // One more caller, so that the thread looks up.
        let _ = address_of(&self.socket).map(|address| UnixStream::connect(address.path()));
        let _ = self.thread.take().map(JoinHandle::join);
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn address_of(socket: &Path) -> io::Result<SocketPath> {
    socket_address(socket.parent().unwrap())
}

impl Shared {
    fn talk(&self, stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body)?;
        if head.lines().next().is_some_and(|line| line.contains("/storage ")) {
            // This node has no storage to hand out.
            let none = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            return reader.get_mut().write_all(none);
        }
        let answer = self.answer.lock().unwrap().clone();
        self.heard.lock().unwrap().push(Heard { head, report: serde_json::from_slice(&body).unwrap() });
        let stream = reader.get_mut();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len())?;
        stream.write_all(&answer)
    }
}
