//! Who does the work: two threads, or an appender.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use crate::{
    AppendError, Settings,
    background::{self, BackgroundWriter, Ending, Signal},
    commit::{
        queue::Queue,
        request::{Batch, Request},
        status::WriterStatus,
        writer::{Answers, Writer},
    },
};

/// The working side of a journal.
pub(crate) enum Workers {
    Inline { place: Place, status: Arc<WriterStatus> },
    Threads { queue: Arc<Queue>, signal: Arc<Signal>, handles: Mutex<Vec<JoinHandle<()>>> },
}

/// Where an appender finds who does it.
type Place = Arc<Mutex<Option<(Writer, BackgroundWriter)>>>;

impl Workers {
    pub(crate) fn inline(writer: Writer, mut background: BackgroundWriter, status: &Arc<WriterStatus>) -> Self {
        background.open_now();
        background.catch_up();
        Self::Inline { place: Arc::new(Mutex::new(Some((writer, background)))), status: status.clone() }
    }

    pub(crate) fn start(
        writer: Writer,
        background: BackgroundWriter,
        settings: &Settings,
        status: &Arc<WriterStatus>,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(settings.queue));
        let signal = background.signal.clone();
        signal.wake();
        let storing =
            { std::thread::Builder::new().name("journal-store".into()).spawn(move || background::run(background))? };
        let committing = {
            let (queue, signal, status) = (queue.clone(), signal.clone(), status.clone());
            let run = move || commit_thread(writer, &queue, &signal, &status);
            std::thread::Builder::new().name("journal-commit".into()).spawn(run)
        };
        let committing = committing.inspect_err(|_| signal.end(Ending::AtOnce))?;
        Ok(Self::Threads { queue, signal, handles: Mutex::new(vec![committing, storing]) })
    }

    /// Where what reads behind the opening hands in.
    pub(crate) fn submitter(&self) -> Submitter {
        match self {
            Self::Inline { place, status } => Submitter::Inline { place: place.clone(), status: status.clone() },
            Self::Threads { queue, signal, .. } => Submitter::Threads { queue: queue.clone(), signal: signal.clone() },
        }
    }

    /// Hands a request to the worker.
    pub(crate) fn submit(&self, request: Request, status: &WriterStatus) {
        match self {
            Self::Inline { place, .. } => commit_inline(place, status, request),
            Self::Threads { queue, .. } => {
                if let Err(refused) = queue.push(request) {
                    let (request, error) = *refused;
                    // A queue that was closed because the log failed says so.
                    request.refuse(status.failure().unwrap_or(error));
                }
            }
        }
    }

    /// Lets the block store give back what it had read into memory; on the keeper's own time.
    pub(crate) fn give_memory_back(&self) {
        match self {
            Self::Inline { place, .. } => {
                if let Some((_, background)) = lock(place).as_mut() {
                    background.give_memory_back();
                }
            }
            Self::Threads { signal, .. } => signal.release_memory(),
        }
    }

    /// Compresses full segments; on the keeper's own time if it has a thread.
    pub(crate) fn compress(&self) {
        match self {
            Self::Inline { place, .. } => {
                if let Some((_, background)) = lock(place).as_mut() {
                    background.compress_all();
                }
            }
            Self::Threads { signal, .. } => signal.wake(),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        match self {
            Self::Inline { .. } => 0,
            Self::Threads { queue, .. } => queue.waiting(),
        }
    }

    pub(crate) fn end(&self, how: Ending) {
        match self {
            Self::Inline { place, .. } => {
                let ended = lock(place).take();
                if let Some((_writer, mut background)) = ended
                    && how == Ending::InOrder
                {
                    background.catch_up();
                    background.checkpoint();
                }
            }
            Self::Threads { queue, signal, handles } => {
                match how {
                    Ending::InOrder => queue.close(),
                    Ending::AtOnce => {
                        let waiting = queue.abandon();
                        waiting.into_iter().for_each(|request| request.refuse(AppendError::Closed));
                    }
                }
                let mut handles = std::mem::take(&mut *lock(handles)).into_iter();
                let here = std::thread::current().id();
                let join = |handle: Option<JoinHandle<()>>| {
                    // The last owner may let go inside an answer, on the commit thread itself: nobody waits for himself.
                    if let Some(handle) = handle.filter(|handle| handle.thread().id() != here) {
                        let _ = handle.join();
                    }
                };
                join(handles.next());
                signal.end(how);
                join(handles.next());
            }
        }
    }
}

/// Where what reads behind the opening hands in.
pub(crate) enum Submitter {
    Inline { place: Place, status: Arc<WriterStatus> },
    Threads { queue: Arc<Queue>, signal: Arc<Signal> },
}

impl Submitter {
    pub(crate) fn submit(&self, request: Request) {
        match self {
            Self::Inline { place, status } => commit_inline(place, status, request),
            Self::Threads { queue, .. } => {
                if let Err(refused) = queue.push(request) {
                    let (request, error) = *refused;
                    request.refuse(error);
                }
            }
        }
    }

    /// Has the block store built anew.
    pub(crate) fn build_anew(&self, problem: String) {
        match self {
            Self::Inline { place, .. } => {
                if let Some((_, background)) = lock(place).as_mut() {
                    background.build_anew(&problem);
                }
            }
            Self::Threads { signal, .. } => signal.build_anew(problem),
        }
    }
}

fn commit_inline(place: &Mutex<Option<(Writer, BackgroundWriter)>>, status: &WriterStatus, request: Request) {
    let mut guard = lock(place);
    let answers: Answers = match guard.as_mut() {
        Some((writer, background)) => {
            let answers = writer.commit(Batch::of(request));
            if answers.head.is_some() {
                background.catch_up();
            }
            answers
        }
        None => return request.refuse(AppendError::Closed),
    };
    // Released first: a caller that is answered may append again.
    drop(guard);
    answers.give(&status.notices);
}

fn commit_thread(mut writer: Writer, queue: &Queue, signal: &Signal, status: &WriterStatus) {
    let run = std::panic::AssertUnwindSafe(|| {
        while let Some(batch) = queue.take() {
            // Nothing is acknowledged on a log that the store may know to be an older one.
            writer.core.wait_for_look();
            let answers = writer.commit(batch);
            if answers.head.is_some() {
                signal.wake();
            }
            answers.give(&status.notices);
        }
    });
    if std::panic::catch_unwind(run).is_err() {
        // Our own bug: nobody may wait for ever because of it.
        let error = status.fail("the commit thread panicked".into());
        queue.abandon().into_iter().for_each(|request| request.refuse(error.clone()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
