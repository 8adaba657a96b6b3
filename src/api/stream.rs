//! Answers that are sent piece by piece, as fast as they are read and no faster.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    body::{BodySize, MessageBody},
    web::Bytes,
};
use tokio::sync::mpsc;

/// The reading end of a channel, as the body of an answer: the writer waits while the connection does.
#[derive(Debug)]
pub(super) struct Pieces(pub(super) mpsc::Receiver<io::Result<Bytes>>);

impl MessageBody for Pieces {
    type Error = io::Error;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.0.poll_recv(context)
    }
}
