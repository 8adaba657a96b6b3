//! Connections: who is at the other end, how many one caller has, and how long one may read nothing.

use std::{
    collections::HashMap,
    fmt, io,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use actix_web::rt::net::{TcpStream, UnixStream};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// How long a client may take nothing of its answer. Source: the review's demand, 30 s; a reader that is there
/// takes something every few milliseconds.
const STALLED_MAX: Duration = Duration::from_secs(20);

/// The other end of a connection, as the system knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Peer {
    /// A process of this user of the node's own machine; none if the system does not tell.
    Local(Option<u32>),
    /// Somebody on the network.
    Remote(IpAddr),
}

impl Peer {
    pub(super) fn of_unix(stream: &UnixStream) -> Self {
        Self::Local(stream.peer_cred().ok().map(|peer| peer.uid()))
    }

    pub(super) fn of_tcp(stream: &TcpStream) -> io::Result<Self> {
        Ok(Self::Remote(stream.peer_addr()?.ip().to_canonical()))
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(Some(user)) => f.write_str(&crate::handle::user(*user)),
            Self::Local(None) => f.write_str("a local process"),
            Self::Remote(address) => address.fmt(f),
        }
    }
}

/// How many requests one connection from the network may bring. A client with more connects again, and is counted again among
/// those of his address.
const REQUESTS_MAX: u32 = 1_000;

/// How many requests a connection has brought.
#[derive(Debug, Default)]
pub(super) struct Brought(AtomicU32);

impl Brought {
    /// Counts one; true if it is to be the last.
    pub(super) fn is_last(&self, peer: Peer) -> bool {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        matches!(peer, Peer::Remote(_)) && before + 1 >= REQUESTS_MAX
    }
}

/// How many connections each caller has.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    taken: Arc<Mutex<HashMap<Peer, usize>>>,
    each_max: usize,
}

/// One of them; given back when the connection ends.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Seats,
    peer: Peer,
}

impl Seats {
    pub(super) fn new(each_max: usize) -> Self {
        Self { taken: Arc::default(), each_max }
    }

    /// None if this caller has as many as one may have.
    pub(super) fn take(&self, peer: Peer) -> Option<Seat> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(peer).or_default();
        if *count >= self.each_max {
            return None;
        }
        *count += 1;
        Some(Seat { seats: self.clone(), peer })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.peer) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(taken.remove(&self.peer)),
        }
    }
}

/// Whether the other end of a connection has hung up.
///
/// It counts as that if it sends nothing more: over a network nobody can tell whether it still reads. What is asked for after
/// it is not worked out to its end; what is short is answered all the same.
#[derive(Clone, Debug, Default)]
pub(super) struct HungUp(Arc<AtomicBool>);

impl HungUp {
    pub(super) fn has(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that ends if its other end takes nothing of an answer for too long.
pub(super) struct Watched<S> {
    stream: S,
    pub(super) peer: Peer,
    pub(super) hung_up: HungUp,
    stalled: Option<Pin<Box<Sleep>>>,
    _seat: Seat,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, peer: Peer, seat: Seat) -> Self {
        Self { stream, peer, hung_up: HungUp::default(), stalled: None, _seat: seat }
    }

    /// Passes on how a write went, and counts the time in which nothing could be written.
    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALLED_MAX)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let is_over = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_over {
            self.hung_up.note();
        }
        read
    }
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        self.hung_up.note();
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[test]
    fn a_caller_has_so_many_connections_and_others_have_theirs() {
        let seats = Seats::new(2);
        let (ada, bob) = (Peer::Local(Some(1)), Peer::Local(Some(2)));
        let first = seats.take(ada).expect("the first");
        let _second = seats.take(ada).expect("the second");
        assert!(seats.take(ada).is_none());
        assert!(seats.take(bob).is_some());
        drop(first);
        assert!(seats.take(ada).is_some(), "one was given back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_cut_off_and_a_slow_one_is_not() {
        let (mut there, here) = tokio::io::duplex(64);
        let peer = Peer::Local(None);
        let mut watched = Watched::new(here, peer, Seats::new(1).take(peer).expect("a seat"));
        let slow = async {
            let mut buffer = [0; 16];
            for _ in 0..8 {
                sleep(STALLED_MAX / 2).await;
                tokio::io::AsyncReadExt::read_exact(&mut there, &mut buffer).await.expect("read");
            }
        };
        let (written, ()) = tokio::join!(watched.write_all(&[7; 128]), slow);
        written.expect("somebody reads, if slowly");
        let error = watched.write_all(&[7; 128]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
