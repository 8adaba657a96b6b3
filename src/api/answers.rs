//! The memory that answers take up until they are read.
//!
//! An answer is whole before its first byte is sent, and a client that reads nothing is cut off only after a while. So a principal who
//! has left much unread waits before the next answer to him is worked out, and so does everybody if all together is too much.

use std::{
    collections::HashMap,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    web::Bytes,
};
use tokio::{sync::Notify, time::timeout};

/// What one principal may have unread before he waits, in bytes, and all together. One answer may be larger than that.
const UNREAD_OF_ONE: usize = 16 * 1024 * 1024;
const UNREAD_OF_ALL: usize = 96 * 1024 * 1024;
/// How many answers to one principal are worked out at once, and to all together.
const WORKING_FOR_ONE: usize = 4;
const WORKING_FOR_ALL: usize = 8;
/// Shorter ones are not counted: all that fit into the connections that there may be are 64 MiB.
const COUNTED_FROM: usize = 16 * 1024;
/// An answer is sent in pieces of at most this size: beside it a connection needs no more memory than that.
const PIECE_BYTES: usize = 32 * 1024;
/// Longer than it takes until those who read nothing are cut off.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is unread, and what is being worked out.
#[derive(Debug, Default)]
pub(super) struct Answers {
    shares: Mutex<Shares>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Shares {
    all: Share,
    each: HashMap<Arc<str>, Share>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    unread: usize,
    working: usize,
}

/// An answer that is being worked out, or is not read yet; over when it is dropped.
#[derive(Debug)]
pub(super) struct Part {
    answers: Arc<Answers>,
    principal: Arc<str>,
    share: Share,
}

impl Answers {
    /// Waits until an answer to this principal may be worked out; none if those before it were not read for too long.
    pub(super) async fn begin(self: &Arc<Self>, principal: &Arc<str>) -> Option<Part> {
        let begun = async {
            loop {
                let mut freed = pin!(self.freed.notified());
                // What is given back from here on is heard of.
                freed.as_mut().enable();
                if let Some(part) = self.try_begin(principal) {
                    return part;
                }
                freed.await;
            }
        };
        timeout(PATIENCE, begun).await.ok()
    }

    fn try_begin(self: &Arc<Self>, principal: &Arc<str>) -> Option<Part> {
        let shares = self.shares();
        let his = shares.each.get(principal).copied().unwrap_or_default();
        let fits = |share: Share, unread: usize, working: usize| share.unread < unread && share.working < working;
        let may = fits(his, UNREAD_OF_ONE, WORKING_FOR_ONE) && fits(shares.all, UNREAD_OF_ALL, WORKING_FOR_ALL);
        drop(shares);
        may.then(|| self.part(principal, Share { unread: 0, working: 1 }))
    }

    /// The same body, which counts as unread until it is sent.
    pub(super) fn unread(self: &Arc<Self>, principal: &Arc<str>, body: BoxBody) -> BoxBody {
        match body.try_into_bytes() {
            Ok(bytes) if bytes.len() >= COUNTED_FROM => {
                let part = self.part(principal, Share { unread: bytes.len(), working: 0 });
                BoxBody::new(Unread { bytes, _part: part })
            }
            Ok(bytes) => BoxBody::new(bytes),
            Err(stream) => stream,
        }
    }

    fn part(self: &Arc<Self>, principal: &Arc<str>, share: Share) -> Part {
        let mut shares = self.shares();
        shares.all.add(share);
        shares.each.entry(principal.clone()).or_default().add(share);
        Part { answers: self.clone(), principal: principal.clone(), share }
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    fn add(&mut self, other: Self) {
        self.unread += other.unread;
        self.working += other.working;
    }

    fn take(&mut self, other: Self) {
        self.unread -= other.unread;
        self.working -= other.working;
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut shares = self.answers.shares();
        shares.all.take(self.share);
        let his = shares.each.get_mut(&self.principal).expect("it was added when this began");
        his.take(self.share);
        if *his == Share::default() {
            shares.each.remove(&self.principal);
        }
        drop(shares);
        self.answers.freed.notify_waiters();
    }
}

/// An answer on its way.
struct Unread {
    bytes: Bytes,
    _part: Part,
}

impl MessageBody for Unread {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.bytes.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let piece = self.bytes.len().min(PIECE_BYTES);
        Poll::Ready((piece > 0).then(|| Ok(self.bytes.split_to(piece))))
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, task::Waker};

    use super::*;

    fn now<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    fn body(bytes: usize) -> BoxBody {
        BoxBody::new(Bytes::from(vec![b' '; bytes]))
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_leaves_much_unread_waits_and_others_do_not() {
        let (answers, ada, ben) = (Arc::<Answers>::default(), Arc::from("account:ada"), Arc::from("account:ben"));
        let unread = answers.unread(&ada, body(UNREAD_OF_ONE));
        let (mut next, mut other) = (pin!(answers.begin(&ada)), pin!(answers.begin(&ben)));
        assert!(now(next.as_mut()).is_none(), "ada waits");
        assert!(now(other.as_mut()).flatten().is_some(), "ben does not");
        drop(unread);
        assert!(now(next.as_mut()).flatten().is_some(), "it was read");
        // Short ones do not count, and nobody waits for ever.
        let _short = answers.unread(&ada, body(COUNTED_FROM - 1));
        assert_eq!(answers.shares().all, Share::default());
        let _unread = answers.unread(&ada, body(UNREAD_OF_ONE));
        assert!(answers.begin(&ada).await.is_none(), "he was waited for");
    }

    #[test]
    fn all_together_have_a_limit_and_so_has_the_work() {
        let answers = Arc::<Answers>::default();
        let somebody = |number: usize| -> Arc<str> { format!("account:a{number}").into() };
        let unread: Vec<_> = (0..6).map(|number| answers.unread(&somebody(number), body(UNREAD_OF_ALL / 6))).collect();
        assert!(answers.try_begin(&somebody(7)).is_none());
        drop(unread);
        let begun: Vec<_> = (0..WORKING_FOR_ONE + 1).map(|_| answers.try_begin(&somebody(1))).collect();
        assert_eq!(begun.iter().flatten().count(), WORKING_FOR_ONE);
        let others: Vec<_> = (0..WORKING_FOR_ALL).map(|number| answers.try_begin(&somebody(number + 10))).collect();
        assert_eq!(others.iter().flatten().count(), WORKING_FOR_ALL - WORKING_FOR_ONE);
        drop((begun, others));
        assert!(answers.shares().each.is_empty());
    }

    #[test]
    fn a_long_answer_is_sent_in_pieces_and_counts_until_the_last_one() {
        let (answers, ada) = (Arc::<Answers>::default(), Arc::from("account:ada"));
        let mut body = answers.unread(&ada, body(3 * PIECE_BYTES - 1));
        assert_eq!(body.size(), BodySize::Sized(3 * PIECE_BYTES as u64 - 1));
        let mut pieces = Vec::new();
        while let Poll::Ready(Some(piece)) = Pin::new(&mut body).poll_next(&mut Context::from_waker(Waker::noop())) {
            pieces.push(piece.expect("it cannot fail").len());
            assert_eq!(answers.shares().all.unread, 3 * PIECE_BYTES - 1);
        }
        assert_eq!(pieces, [PIECE_BYTES, PIECE_BYTES, PIECE_BYTES - 1]);
        drop(body);
        assert_eq!(answers.shares().all, Share::default());
    }
}
