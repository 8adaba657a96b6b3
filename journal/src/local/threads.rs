//! Who does the work: two threads, or whoever appends.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use crate::{
    AppendError, Settings,
    background::{self, Bell, Ending, Keeper},
    commit::{
        queue::Queue,
        request::{Batch, Request},
        status::Shared,
        writer::{Answers, Writer},
    },
};

/// The working side of a journal.
pub(crate) enum Work {
    Inline { place: Place, shared: Arc<Shared> },
    Threads { queue: Arc<Queue>, bell: Arc<Bell>, handles: Mutex<Vec<JoinHandle<()>>> },
}

/// Where whoever appends finds who does it.
type Place = Arc<Mutex<Option<(Writer, Keeper)>>>;

impl Work {
    pub(crate) fn inline(writer: Writer, mut keeper: Keeper, shared: &Arc<Shared>) -> Self {
        keeper.open_now();
        keeper.catch_up();
        Self::Inline { place: Arc::new(Mutex::new(Some((writer, keeper)))), shared: shared.clone() }
    }

    pub(crate) fn start(writer: Writer, keeper: Keeper, settings: &Settings, shared: &Arc<Shared>) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(settings.queue));
        let bell = keeper.bell.clone();
        bell.ring();
        let keeping =
            { std::thread::Builder::new().name("journal-store".into()).spawn(move || background::run(keeper))? };
        let committing = {
            let (queue, bell, shared) = (queue.clone(), bell.clone(), shared.clone());
            let run = move || commit_thread(writer, &queue, &bell, &shared);
            std::thread::Builder::new().name("journal-commit".into()).spawn(run)
        };
        let committing = committing.inspect_err(|_| bell.end(Ending::AtOnce))?;
        Ok(Self::Threads { queue, bell, handles: Mutex::new(vec![committing, keeping]) })
    }

    /// Where what reads behind the opening hands in.
    pub(crate) fn door(&self) -> Door {
        match self {
            Self::Inline { place, shared } => Door::Inline { place: place.clone(), shared: shared.clone() },
            Self::Threads { queue, bell, .. } => Door::Threads { queue: queue.clone(), bell: bell.clone() },
        }
    }

    /// Hands a request to whoever works.
    pub(crate) fn hand_in(&self, request: Request, shared: &Shared) {
        match self {
            Self::Inline { place, .. } => commit_inline(place, shared, request),
            Self::Threads { queue, .. } => {
                if let Err(refused) = queue.push(request) {
                    let (request, error) = *refused;
                    // A queue that was closed because the log failed says so.
                    request.refuse(shared.failure().unwrap_or(error));
                }
            }
        }
    }

    /// Lets the block store give back what it had read into memory; on the keeper's own time.
    pub(crate) fn give_memory_back(&self) {
        match self {
            Self::Inline { place, .. } => {
                if let Some((_, keeper)) = lock(place).as_mut() {
                    keeper.give_memory_back();
                }
            }
            Self::Threads { bell, .. } => bell.freshen(),
        }
    }

    /// Compresses full segments; on the keeper's own time if it has a thread.
    pub(crate) fn pack(&self) {
        match self {
            Self::Inline { place, .. } => {
                if let Some((_, keeper)) = lock(place).as_mut() {
                    keeper.pack_all();
                }
            }
            Self::Threads { bell, .. } => bell.ring(),
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
                if let Some((_writer, mut keeper)) = ended
                    && how == Ending::InOrder
                {
                    keeper.catch_up();
                    keeper.checkpoint();
                }
            }
            Self::Threads { queue, bell, handles } => {
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
                bell.end(how);
                join(handles.next());
            }
        }
    }
}

/// Where what reads behind the opening hands in.
pub(crate) enum Door {
    Inline { place: Place, shared: Arc<Shared> },
    Threads { queue: Arc<Queue>, bell: Arc<Bell> },
}

impl Door {
    pub(crate) fn hand_in(&self, request: Request) {
        match self {
            Self::Inline { place, shared } => commit_inline(place, shared, request),
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
                if let Some((_, keeper)) = lock(place).as_mut() {
                    keeper.build_anew(&problem);
                }
            }
            Self::Threads { bell, .. } => bell.build_anew(problem),
        }
    }
}

fn commit_inline(place: &Mutex<Option<(Writer, Keeper)>>, shared: &Shared, request: Request) {
    let mut guard = lock(place);
    let answers: Answers = match guard.as_mut() {
        Some((writer, keeper)) => {
            let answers = writer.commit(Batch::of(request));
            if answers.head.is_some() {
                keeper.catch_up();
            }
            answers
        }
        None => return request.refuse(AppendError::Closed),
    };
    // Released first: whoever is answered may append again.
    drop(guard);
    answers.give(&shared.notices);
}

fn commit_thread(mut writer: Writer, queue: &Queue, bell: &Bell, shared: &Shared) {
    let run = std::panic::AssertUnwindSafe(|| {
        while let Some(batch) = queue.take() {
            // Nothing is acknowledged on a log that the store may know to be an older one.
            writer.core.wait_for_look();
            let answers = writer.commit(batch);
            if answers.head.is_some() {
                bell.ring();
            }
            answers.give(&shared.notices);
        }
    });
    if std::panic::catch_unwind(run).is_err() {
        // Our own bug: nobody may wait for ever because of it.
        let error = shared.fail("the commit thread panicked".into());
        queue.abandon().into_iter().for_each(|request| request.refuse(error.clone()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
