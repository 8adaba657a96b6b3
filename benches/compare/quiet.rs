//! Whether anybody else is at work on this machine.

use std::{
    fs,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::Fallible;

/// Ticks of all processors, and how many of them were spent by us and our kernel's calls.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    all: f64,
    busy: f64,
    own: f64,
}

impl Ticks {
    pub fn now() -> Fallible<Self> {
        let text = fs::read_to_string("/proc/stat")?;
        let line = text.lines().next().ok_or("an empty file")?;
        let ticks: Vec<f64> = line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
        // User, nice, system, idle, iowait, irq, softirq, stolen.
        let [user, nice, system, idle, iowait, irq, softirq, stolen] = ticks[..8] else {
            return Err("a short line".into());
        };
        let busy = user + nice + system + irq + softirq + stolen;
        Ok(Self { all: busy + idle + iowait, busy, own: own_ticks()? })
    }

    /// The part of all processors that others took since `before`.
    pub fn others_since(self, before: Self) -> f64 {
        (self.busy - before.busy - (self.own - before.own)).max(0.0) / (self.all - before.all).max(1.0)
    }

    /// Processor time of this process since `before`, in seconds, at the usual 100 ticks each.
    pub fn own_s_since(self, before: Self) -> f64 {
        (self.own - before.own) / 100.0
    }
}

/// Waits until nobody else is at work for half a second, but no longer than this.
pub fn wait(patience: Duration) -> Fallible<()> {
    let until = Instant::now() + patience;
    loop {
        let before = Ticks::now()?;
        sleep(Duration::from_millis(500));
        if Ticks::now()?.others_since(before) < 0.1 || Instant::now() >= until {
            return Ok(());
        }
    }
}

/// Of this process and of its children that have ended.
fn own_ticks() -> Fallible<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| -> Fallible<f64> { Ok(fields.get(at).ok_or("a short line")?.parse()?) };
    Ok(ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)?)
}
