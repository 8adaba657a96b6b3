//! A trace of real system calls: every acknowledgement comes after an `fdatasync` of its bytes has ended well.
//!
//! `strace` sees what the kernel sees and is used where it is there. Elsewhere the shim records the calls between the
//! process and the C library; the journal makes its writes and syncs through it. Which one it was is said.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    kill::Life,
    runner::{Failure, Place, Plan},
    shim::{self, Event, Recording},
    workload::Acknowledged,
};

/// Writers of one process, one append on its way each, so that there are about half as many groups as appends.
const WRITERS: u16 = 2;

/// One call, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// These appends were written into this file.
    Wrote {
        file: String,
        appends: Vec<[u8; 11]>,
    },
    SyncBegan {
        file: String,
        number: u64,
    },
    SyncEnded {
        number: u64,
    },
    Told {
        appends: Vec<[u8; 11]>,
    },
}

/// What is known while a trace is read.
#[derive(Debug, Default)]
struct Order {
    written: BTreeMap<String, BTreeSet<[u8; 11]>>,
    begun: BTreeMap<u64, (String, BTreeSet<[u8; 11]>)>,
    durable: BTreeSet<[u8; 11]>,
    syncs: u64,
    told: u64,
}

pub fn run(plan: &Plan) -> Result<String, Failure> {
    let at_start = |story| Failure { trial: 0, story };
    let mut place = Place::new().map_err(at_start)?;
    let mut said = Vec::new();
    // It may be there and not be allowed to trace.
    let mut probe = Command::new("strace");
    probe.arg("-o").arg(place.path().join("probe")).arg("true").stdin(Stdio::null());
    let strace = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let strace = strace.is_ok_and(|status| status.success());
    for by_strace in [strace, false].into_iter().take(if strace { 2 } else { 1 }) {
        let name = if by_strace { "strace" } else { "shim" };
        let order = trace(plan, by_strace, place.path())
            .map_err(|story| at_start(format!("{name}: {story}\n  kept: {}", place.keep().display())))?;
        if order.told < plan.trials {
            return Err(at_start(format!("{name}: only {} acknowledgements were seen", order.told)));
        }
        said.push(format!(
            "by {name} {} acknowledgements, each after one of {} syncs of its bytes",
            order.told, order.syncs
        ));
    }
    Ok(said.join("; "))
}

fn trace(plan: &Plan, by_strace: bool, place: &Path) -> Result<Order, String> {
    let place = place.canonicalize().map_err(|error| error.to_string())?;
    let name = if by_strace { "strace" } else { "shim" };
    let (dir, record) = (place.join(name).join("journal"), place.join(name).join("record"));
    std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
    let life = Life {
        number: plan.seed as u32,
        writers: WRITERS,
        in_flight: 1,
        shape: Some(crate::workload::Shape::Small),
        inline: false,
        segment_kib: 1024,
        appends: plan.trials.div_ceil(u64::from(WRITERS)) as u32,
        planted: false,
    };
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let library = shim::build(&place.join(name))?;
    let mut command = if by_strace {
        let mut command = Command::new("strace");
        // Whole strings, in hexadecimal; names beside file numbers.
        command.args(["-f", "-y", "-xx", "-s", "2000000", "-e", "trace=pwrite64,write,fdatasync,fsync", "-o"]);
        command.arg(&record).arg(this);
        command
    } else {
        Command::new(this)
    };
    command.args(["--child", "kill"]).arg(&dir).args(life.words());
    if !by_strace || plan.planted {
        command.env("LD_PRELOAD", library).env("BAILIWICK_SHIM_ROOT", &dir);
    }
    if !by_strace {
        command.env("BAILIWICK_SHIM_LOG", &record);
    }
    if plan.planted {
        command.env("BAILIWICK_SHIM_LIE", "1");
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().map_err(|error| error.to_string())?;
    let heard = String::from_utf8_lossy(&output.stdout).lines().filter_map(Acknowledged::parse).count() as u64;
    if !output.status.success() || heard < plan.trials {
        return Err(format!("the traced process ended with {} after {heard} acknowledgements", output.status));
    }
    let mut order = Order::default();
    if by_strace {
        let file = std::fs::File::open(&record).map_err(|error| error.to_string())?;
        let mut unfinished = BTreeMap::new();
        for (line, number) in BufReader::new(file).lines().zip(1u64..) {
            let line = line.map_err(|error| error.to_string())?;
            for call in parse(&line, number, &mut unfinished) {
                order.take(call).map_err(|story| format!("line {number} of the trace: {story}"))?;
            }
        }
    } else {
        let recording = Recording::read(&record, &dir)?;
        for (event, number) in recording.events.iter().zip(1u64..) {
            for call in calls_of(event) {
                order.take(call).map_err(|story| format!("call {number}: {story}"))?;
            }
        }
    }
    Ok(order)
}

impl Order {
    fn take(&mut self, call: Call) -> Result<(), String> {
        match call {
            Call::Wrote { file, appends } => self.written.entry(file).or_default().extend(appends),
            Call::SyncBegan { file, number } => {
                // What is written after this is not known to be covered.
                let covered = self.written.get(&file).cloned().unwrap_or_default();
                self.begun.insert(number, (file, covered));
            }
            Call::SyncEnded { number } => {
                if let Some((file, covered)) = self.begun.remove(&number) {
                    if let Some(written) = self.written.get_mut(&file) {
                        written.retain(|append| !covered.contains(append));
                    }
                    self.syncs += u64::from(!covered.is_empty());
                    self.durable.extend(covered);
                }
            }
            Call::Told { appends } => {
                for append in appends {
                    self.told += 1;
                    if !self.durable.remove(&append) {
                        return Err(format!("ACKNOWLEDGED BEFORE ITS SYNC: append {append:?}"));
                    }
                }
            }
        }
        Ok(())
    }
}

fn calls_of(event: &Event) -> Vec<Call> {
    match event {
        Event::Write { name, bytes, .. } if name.starts_with("log/") => {
            vec![Call::Wrote { file: name.clone(), appends: appends_in(bytes) }]
        }
        Event::SyncBegins { name, number } => vec![Call::SyncBegan { file: name.clone(), number: *number }],
        Event::SyncEnded { number } => vec![Call::SyncEnded { number: *number }],
        Event::Acknowledged(told) => {
            vec![Call::Told { appends: told.iter().map(|told| told.append.first_bytes()).collect() }]
        }
        _ => Vec::new(),
    }
}

/// The appends whose records stand in a block.
fn appends_in(bytes: &[u8]) -> Vec<[u8; 11]> {
    let mut found = Vec::new();
    if !bytes.starts_with(b"bwbk") {
        return found;
    }
    let mut rest = bytes.get(128..).unwrap_or(&[]);
    while let Some(head) = rest.first_chunk::<52>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        found.push(head[36..47].try_into().unwrap_or_default());
        rest = rest.get(length.max(1)..).unwrap_or(&[]);
    }
    found
}

/// One line of strace: `123 pwrite64(9</x/log/0000000001.log>, "\x62…", 400, 128) = 400`, or one half of it.
fn parse(line: &str, number: u64, unfinished: &mut BTreeMap<String, u64>) -> Vec<Call> {
    let began = parse_one(line, number, unfinished);
    // One line for both halves of a sync: nothing happened in between.
    let whole = matches!(&began, Some(Call::SyncBegan { .. })) && !line.contains("<unfinished");
    began.into_iter().chain(whole.then_some(Call::SyncEnded { number })).collect()
}

fn parse_one(line: &str, number: u64, unfinished: &mut BTreeMap<String, u64>) -> Option<Call> {
    let (thread, call) = line.split_once(' ')?;
    let call = call.trim_start();
    let ended_well = call.ends_with("= 0");
    if call.starts_with("<... fdatasync") || call.starts_with("<... fsync") {
        let number = unfinished.remove(thread)?;
        return ended_well.then_some(Call::SyncEnded { number });
    }
    let (name, rest) = call.split_once('(')?;
    let (_, rest) = rest.split_once('<')?;
    let (hex_file, rest) = rest.split_once('>')?;
    let file = String::from_utf8_lossy(&unhex(hex_file)).into_owned();
    match name {
        "fdatasync" | "fsync" if call.contains("<unfinished") => {
            unfinished.insert(thread.to_owned(), number);
            Some(Call::SyncBegan { file, number })
        }
        "fdatasync" | "fsync" if ended_well => Some(Call::SyncBegan { file, number }),
        "pwrite64" if file.contains("/log/") => Some(Call::Wrote { file, appends: appends_in(&quoted(rest)) }),
        "write" => {
            let bytes = quoted(rest);
            let told = Acknowledged::parse(str::from_utf8(&bytes).ok()?)?;
            Some(Call::Told { appends: vec![told.append.first_bytes()] })
        }
        _ => None,
    }
}

fn quoted(rest: &str) -> Vec<u8> {
    let text = rest.split('"').nth(1).unwrap_or("");
    unhex(text)
}

/// `\x62\x77`, or as it stands.
fn unhex(text: &str) -> Vec<u8> {
    if !text.starts_with("\\x") {
        return text.as_bytes().to_vec();
    }
    text.split("\\x").skip(1).filter_map(|two| u8::from_str_radix(two.get(..2)?, 16).ok()).collect()
}
