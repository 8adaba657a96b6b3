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

use crate::text::harmless;

/// What is longer is cut.
const LINE_BYTES_MAX: usize = 1_024;
/// So many lines in a window are told; the rest is counted.
const LINES_MAX: u32 = 200;
const WINDOW: Duration = Duration::from_secs(10);
/// So many last words are kept, for when it ends.
const LAST_WORDS: usize = 10;
/// A shorter value would blot out half of every text.
const SECRET_BYTES_MIN: usize = 6;

/// Blots out values that are not to be seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Blot(Vec<Secret>);

#[derive(Clone)]
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl Blot {
    /// For the values of these variables of our environment.
    pub fn of_variables(names: &[String]) -> Self {
        Self::of(names.iter().filter_map(|name| std::env::var(name).ok()))
    }

    fn of(values: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = values.into_iter().filter(|value| SECRET_BYTES_MIN <= value.len()).collect();
        // The longest first: one may be part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets.into_iter().map(Secret).collect())
    }

    /// The text without them.
    pub fn out(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, Secret(secret)| text.replace(secret, "***"))
    }
}

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
            warn!(%provider, "its last words: {line}");
        }
    }
}

/// Reads to the end and tells.
pub(super) async fn listen(mut pipe: impl AsyncRead + Unpin, provider: Name, blot: Blot, last: LastWords) {
    let mut teller = Teller { provider, blot, last, line: Vec::new(), is_cut: false, window: Instant::now(), told: 0 };
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
    blot: Blot,
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
        let text = self.blot.out(&String::from_utf8_lossy(&bytes));
        // Half a secret at the cut is one too.
        let text = if is_cut { format!("{}…", text.get(..text.len() / 2).unwrap_or_default()) } else { text };
        let text = harmless(&text).into_owned();
        if self.told <= LINES_MAX {
            info!(provider = %self.provider, "{text}");
        }
        self.last.add(text);
    }

    fn end_window(&mut self) {
        if LINES_MAX < self.told {
            warn!(provider = %self.provider, lines = self.told - LINES_MAX, "it says too much, and was not written down");
        }
        self.window = Instant::now();
        self.told = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_blotted_out() {
        let blot = Blot::of(["hunter22".to_owned(), "hunter22-long".to_owned(), "abc".to_owned()]);
        assert_eq!(blot.out("hunter22-long abc hunter22!"), "*** abc ***!");
        assert!(!format!("{blot:?}").contains("hunter"));
    }

    #[tokio::test]
    async fn what_is_said_last_is_kept_in_bounded_lines() {
        let last = LastWords::default();
        let mut said: Vec<u8> = (0..50).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        said.extend([b'x'; 5_000]);
        said.extend(b"\n\x1b[31mred hunter22\xff");
        listen(&said[..], "lab".parse().unwrap(), Blot::of(["hunter22".to_owned()]), last.clone()).await;
        let lines: Vec<String> = last.0.lock().unwrap().iter().cloned().collect();
        assert_eq!(lines.len(), LAST_WORDS);
        assert_eq!(lines[0], "line 42");
        assert!(lines[8].len() <= LINE_BYTES_MAX && lines[8].starts_with("xxx"), "{}", lines[8].len());
        assert_eq!(lines[9], "\\u{1b}[31mred ***\u{fffd}");
    }
}
