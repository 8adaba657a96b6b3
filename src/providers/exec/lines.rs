//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Reads line by line. Nothing is lost when a read is dropped in the middle.
#[derive(Debug)]
pub(in crate::providers) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    bytes_max: usize,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::providers) enum Read {
    /// A line without its end.
    Line(Vec<u8>),
    /// A line is longer than allowed; what follows is not read.
    TooLong,
    /// There is no more. A last line without its end is none: it may be half of one.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(pipe: R, bytes_max: usize) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, pipe), line: Vec::new(), bytes_max }
    }

    pub async fn next(&mut self) -> io::Result<Read> {
        loop {
            let part = self.reader.fill_buf().await?;
            if part.is_empty() {
                return Ok(Read::End);
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(part.len());
            if self.bytes_max < self.line.len() + taken {
                return Ok(Read::TooLong);
            }
            self.line.extend_from_slice(&part[..taken]);
            self.reader.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Read::Line(std::mem::take(&mut self.line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8], bytes_max: usize) -> Vec<Read> {
        let mut lines = Lines::new(bytes, bytes_max);
        let mut all = Vec::new();
        loop {
            let read = lines.next().await.unwrap();
            let is_last = !matches!(read, Read::Line(_));
            all.push(read);
            if is_last {
                return all;
            }
        }
    }

    #[tokio::test]
    async fn lines_end_where_they_end() {
        let line = |text: &str| Read::Line(text.as_bytes().to_vec());
        assert_eq!(all(b"a\n\nbcd\nhalf", 4).await, [line("a"), line(""), line("bcd"), Read::End]);
    }

    #[tokio::test]
    async fn a_line_beyond_the_bound_is_not_read() {
        assert_eq!(all(b"1234\n12345\n", 4).await, [Read::Line(b"1234".to_vec()), Read::TooLong]);
        assert_eq!(all(&[b'x'; 1_000_000], 100_000).await, [Read::TooLong]);
    }
}
