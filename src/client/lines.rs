//! An answer that is read line by line while it grows.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio_util::{
    bytes::BytesMut,
    codec::{Decoder, LinesCodec, LinesCodecError},
};

use super::{ClientError, Connection};

/// The lines of an answer; dropping it closes the connection.
#[derive(Debug)]
pub struct Lines {
    body: Incoming,
    _connection: Connection,
    codec: LinesCodec,
    buffer: BytesMut,
}

impl Lines {
    pub(super) fn new(body: Incoming, connection: Connection, line_bytes_max: usize) -> Self {
        let codec = LinesCodec::new_with_max_length(line_bytes_max);
        Self { body, _connection: connection, codec, buffer: BytesMut::new() }
    }

    /// The next line without its end; none when the node has closed the answer in order.
    ///
    /// May be dropped while it waits: nothing is lost.
    pub async fn next_line(&mut self) -> Result<Option<String>, ClientError> {
        let unreadable = |error: LinesCodecError| ClientError::broken("cannot read the answer", error);
        loop {
            if let Some(line) = self.codec.decode(&mut self.buffer).map_err(unreadable)? {
                return Ok(Some(line));
            }
            let Some(frame) = self.body.frame().await else {
                return self.codec.decode_eof(&mut self.buffer).map_err(unreadable);
            };
            let frame = frame.map_err(|error| ClientError::broken("the connection to the node was lost", error))?;
            if let Some(data) = frame.data_ref() {
                self.buffer.extend_from_slice(data);
            }
        }
    }
}
