//! Runs trials on a few threads, shows how far it is, and adds up what happened.

use std::{
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// More than cores: most trials wait for a disk or a process.
const WORKERS: u64 = 4;
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// What one campaign is asked for.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: &'static str,
    pub trials: u64,
    pub seed: u64,
    /// Only this trial.
    pub only: Option<u64>,
    /// Something is broken on purpose.
    pub planted: bool,
}

/// A promise was broken.
#[derive(Debug)]
pub struct Failure {
    pub trial: u64,
    pub story: String,
}

/// How often what happened.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    pub fn add(&mut self, what: &'static str, count: u64) {
        *self.0.entry(what).or_default() += count;
    }

    pub fn one(&mut self, what: &'static str) {
        self.add(what, 1);
    }

    pub fn get(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    pub fn take_in(&mut self, other: Self) {
        other.0.into_iter().for_each(|(what, count)| self.add(what, count));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(what, count)| format!("{count} {what}")).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Plan {
    /// The command that does one trial again.
    pub fn command(&self, trial: u64) -> String {
        let release = if cfg!(debug_assertions) { "" } else { "--release " };
        let plant = if self.planted { " --plant" } else { "" };
        format!(
            "cargo test {release}-p bailiwick-journal --test campaigns -- \
             {} --exact --trials {} --seed {} --trial {trial}{plant}",
            self.name, self.trials, self.seed
        )
    }

    /// Runs all trials, each `step` of them as one job, since they build on one another; a job is given its first trial
    /// and the one behind its last. A panic in a job is a failure of it.
    pub fn run(
        &self,
        step: u64,
        job: impl Fn(u64, u64, &mut Tally) -> Result<(), Failure> + Sync,
    ) -> Result<Tally, Failure> {
        let (begin, end) = match self.only {
            Some(only) => (only / step * step, only + 1),
            None => (0, self.trials),
        };
        let next = AtomicU64::new(begin);
        let done = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let outcome = Mutex::new((Tally::default(), None::<Failure>));
        let shown = Mutex::new(Instant::now());
        let work = || {
            let mut tally = Tally::default();
            while !stop.load(Ordering::Relaxed) {
                let first = next.fetch_add(step, Ordering::Relaxed);
                if first >= end {
                    break;
                }
                let behind = end.min(first + step);
                let result =
                    catch_unwind(AssertUnwindSafe(|| job(first, behind, &mut tally))).unwrap_or_else(|panic| {
                        let words = panic.downcast_ref::<String>().map(String::as_str);
                        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
                        Err(Failure { trial: first, story: format!("a panic reached the caller: {words}") })
                    });
                if let Err(failure) = result {
                    stop.store(true, Ordering::Relaxed);
                    lock(&outcome).1.get_or_insert(failure);
                }
                let count = done.fetch_add(behind - first, Ordering::Relaxed) + behind - first;
                self.show(count, end - begin, &shown);
            }
            lock(&outcome).0.take_in(tally);
        };
        std::thread::scope(|scope| {
            for _ in 0..WORKERS.min((end - begin).div_ceil(step)) {
                scope.spawn(work);
            }
        });
        let (tally, failure) = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(failure) => Err(failure),
            None => Ok(tally),
        }
    }

    fn show(&self, done: u64, of: u64, shown: &Mutex<Instant>) {
        let mut shown = lock(shown);
        if shown.elapsed() >= PROGRESS_EVERY {
            *shown = Instant::now();
            println!("campaign {}: {done} of {of}", self.name);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder for one job; kept, and named, if the job fails.
pub struct Place(Option<tempfile::TempDir>);

impl Place {
    pub fn new() -> Result<Self, String> {
        let made = tempfile::Builder::new().prefix("bailiwick-campaign-").tempdir();
        made.map(|dir| Self(Some(dir))).map_err(|error| format!("no folder can be made: {error}"))
    }

    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), tempfile::TempDir::path)
    }

    /// Lets the folder stay, and says where it is.
    pub fn keep(&mut self) -> PathBuf {
        self.0.take().map_or_else(PathBuf::new, tempfile::TempDir::keep)
    }
}

/// Every file below a folder, sorted.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Copies a folder with all that is in it; when each file was written into stays as it was.
pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap_or(&file));
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::copy(&file, &target)?;
        let written = std::fs::metadata(&file)?.modified()?;
        std::fs::File::options().write(true).open(target)?.set_modified(written)?;
    }
    Ok(())
}
