//! What a process says beside its answers goes into the log: in bounded lines, bounded in number, without known secrets.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bailiwick_actors::vocab::Name;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::Instant,
};
use tracing::{info, warn};

use crate::{providers::known::KnownSecrets, text::harmless};

/// What is longer is cut.
const LINE_BYTES_MAX: usize = 1_024;
/// So many lines in a window are told; the rest is counted.
const LINES_MAX: u32 = 200;
const WINDOW: Duration = Duration::from_secs(10);
/// So many last words are kept, for when it ends.
const LAST_WORDS: usize = 10;
/// The last lines that were said.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_WORDS {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Says them again where they are heard.
    pub fn tell(&self, provider: &Name) {
        for line in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            warn!(%provider, "last line: {line}");
        }
    }
}

/// Reads to the end and tells.
pub(super) async fn listen(mut pipe: impl AsyncRead + Unpin, provider: Name, known: KnownSecrets, last: LastWords) {
    let mut teller = Teller { provider, known, last, line: Vec::new(), is_cut: false, window: Instant::now(), told: 0 };
    let mut part = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = pipe.read(&mut part).await {
        for byte in &part[..length] {
            teller.take(*byte);
        }
    }
    teller.end_line();
    teller.end_window();
}

struct Teller {
    provider: Name,
    known: KnownSecrets,
    last: LastWords,
    line: Vec<u8>,
    is_cut: bool,
    window: Instant,
    told: u32,
}

impl Teller {
    fn take(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_line(),
            byte if self.line.len() < LINE_BYTES_MAX => self.line.push(byte),
            _ => self.is_cut = true,
        }
    }

    fn end_line(&mut self) {
        let bytes = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
        if bytes.is_empty() {
            return;
        }
        if WINDOW <= self.window.elapsed() {
            self.end_window();
        }
        self.told += 1;
        let text = self.without_secrets(&bytes, is_cut);
        if self.told <= LINES_MAX {
            info!(provider = %self.provider, "{text}");
        }
        self.last.add(text);
    }

    fn without_secrets(&self, bytes: &[u8], is_cut: bool) -> String {
        let blot = self.known.blot();
        let bytes = if is_cut { blot.out_of_cut(bytes) } else { blot.out_of_bytes(bytes) };
        let end = if is_cut { "…" } else { "" };
        format!("{}{end}", harmless(&String::from_utf8_lossy(&bytes)))
    }

    fn end_window(&mut self) {
        if LINES_MAX < self.told {
            warn!(provider = %self.provider, lines = self.told - LINES_MAX, "it writes too much; some lines were dropped");
        }
        self.window = Instant::now();
        self.told = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_said_last_is_kept_in_bounded_lines() {
        let last = LastWords::default();
        let mut said: Vec<u8> = (0..50).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        said.extend([b'x'; 5_000]);
        said.extend(b"\n\x1b[31mred hunter22\xff");
        let known = KnownSecrets::default();
        known.add("it", "hunter22");
        listen(&said[..], "lab".parse().unwrap(), known, last.clone()).await;
        let lines: Vec<String> = last.0.lock().unwrap().iter().cloned().collect();
        assert_eq!(lines.len(), LAST_WORDS);
        assert_eq!(lines[0], "line 42");
        assert!(lines[8].len() <= LINE_BYTES_MAX && lines[8].starts_with("xxx"), "{}", lines[8].len());
        assert_eq!(lines[9], "\\u{1b}[31mred ***\u{fffd}");
    }

    #[tokio::test]
    async fn half_a_secret_at_the_end_of_a_line_that_was_cut_is_one_too() {
        let last = LastWords::default();
        let secret: String = (1_000..3_000).map(|number| number.to_string()).collect();
        let known = KnownSecrets::default();
        known.add("it", &secret);
        listen(format!("here: {secret}").as_bytes(), "lab".parse().unwrap(), known, last.clone()).await;
        assert_eq!(last.0.lock().unwrap()[0], "here: ***…");
    }
}
