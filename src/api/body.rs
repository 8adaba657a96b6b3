//! Bodies that have to arrive in time: the server itself only bounds the head of a request.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::{dev::Payload, error::PayloadError, web::Bytes};
use futures_core::Stream;
use tokio::time::{Instant, Sleep, sleep};

/// How long a body may take in any case, and how many bytes a second it has to bring after that.
const BODY_TIME: Duration = Duration::from_secs(10);
const BODY_BYTES_PER_SECOND: u64 = 16 * 1024;

/// A body that has to arrive in time: the server itself only bounds the head.
struct Timed {
    payload: Payload,
    until: Pin<Box<Sleep>>,
    /// When it has to be there if it brings too little.
    first: Instant,
    bytes: u64,
}

impl Timed {
    fn new(payload: Payload) -> Self {
        let until = Box::pin(sleep(BODY_TIME));
        Self { payload, first: until.deadline(), until, bytes: 0 }
    }
}

/// The same body, which fails if it does not arrive in time.
pub(super) fn timed(payload: Payload) -> Payload {
    if matches!(payload, Payload::None) {
        return payload;
    }
    Payload::Stream { payload: Box::pin(Timed::new(payload)) }
}

impl Stream for Timed {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(chunk) = Pin::new(&mut self.payload).poll_next(context) {
            if let Some(Ok(bytes)) = &chunk {
                self.bytes += bytes.len() as u64;
                let until = self.first + Duration::from_secs(self.bytes / BODY_BYTES_PER_SECOND);
                self.until.as_mut().reset(until);
            }
            return Poll::Ready(chunk);
        }
        let late = || Some(Err(PayloadError::Io(io::ErrorKind::TimedOut.into())));
        self.until.as_mut().poll(context).map(|()| late())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_has_to_arrive_in_time() {
        async fn next(timed: &mut Timed) -> Option<Result<Bytes, PayloadError>> {
            std::future::poll_fn(|context| Pin::new(&mut *timed).poll_next(context)).await
        }
        struct Drips(Pin<Box<Sleep>>, usize);
        impl Stream for Drips {
            type Item = Result<Bytes, PayloadError>;
            fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                std::task::ready!(self.0.as_mut().poll(context));
                let next = Instant::now() + Duration::from_secs(1);
                self.0.as_mut().reset(next);
                Poll::Ready(Some(Ok(Bytes::from(vec![b' '; self.1]))))
            }
        }
        let drips = |bytes: usize| -> Payload {
            Payload::Stream { payload: Box::pin(Drips(Box::pin(sleep(Duration::ZERO)), bytes)) }
        };
        let mut fast = Timed::new(drips(32 * 1024));
        for _ in 0..120 {
            next(&mut fast).await.expect("more").expect("in time");
        }
        let (mut slow, begun) = (Timed::new(drips(16)), Instant::now());
        let error = loop {
            match next(&mut slow).await.expect("more") {
                Ok(_) => (),
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, PayloadError::Io(error) if error.kind() == io::ErrorKind::TimedOut), "{error}");
        assert_eq!(begun.elapsed().as_secs(), BODY_TIME.as_secs());
    }
}
