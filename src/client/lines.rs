//! An answer that is read line by line while it grows.

use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::{ClientError, Connection};

/// The lines of an answer; dropping it closes the connection.
#[derive(Debug)]
pub struct Lines {
    body: Incoming,
    _connection: Connection,
    line_bytes_max: usize,
    buffer: Vec<u8>,
    /// Up to here the buffer holds no line end.
    searched: usize,
}

impl Lines {
    pub(super) fn new(body: Incoming, connection: Connection, line_bytes_max: usize) -> Self {
        Self { body, _connection: connection, line_bytes_max, buffer: Vec::new(), searched: 0 }
    }

    /// The next line without its end; none when the node has closed the answer in order.
    ///
    /// May be dropped while it waits: nothing is lost.
    pub async fn next_line(&mut self) -> Result<Option<String>, ClientError> {
        loop {
            if let Some(line) = self.buffered_line() {
                return text(line).map(Some);
            }
            if self.buffer.len() > self.line_bytes_max {
                return Err(ClientError::broken("cannot read the answer", "a line is too long"));
            }
            let Some(frame) = self.body.frame().await else {
                let rest = std::mem::take(&mut self.buffer);
                self.searched = 0;
                return if rest.is_empty() { Ok(None) } else { text(rest).map(Some) };
            };
            let frame = frame.map_err(|error| ClientError::broken("the connection to the node was lost", error))?;
            if let Some(data) = frame.data_ref() {
                self.buffer.extend_from_slice(data);
            }
        }
    }

    fn buffered_line(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(self.searched + end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(line)
    }
}

fn text(line: Vec<u8>) -> Result<String, ClientError> {
    String::from_utf8(line).map_err(|error| ClientError::broken("cannot read the answer", error))
}
