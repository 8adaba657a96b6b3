//! Ports for servers that tests start, stop and start again.

use std::{
    net::{Ipv4Addr, TcpListener},
    ops::Range,
    process,
    sync::atomic::{AtomicU16, Ordering},
};

/// Below those that Linux gives to programs that ask for any port, also to each outgoing connection (32768 and up, `ip(7)`,
/// `ip_local_port_range`): a port of those, once let go, may be taken before its server starts again.
const PORTS: Range<u16> = 10_000..32_768;
/// How many a process tries before it comes to those of the next process.
const STRIDE: u32 = 64;

/// A port of this machine at which nobody listens, and which this function gives out once.
///
/// # Panics
/// If all of them are taken.
pub fn free_port() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let first = process::id().wrapping_mul(STRIDE);
    for _ in PORTS {
        let nth = first.wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed).into()) % PORTS.len() as u32;
        let port = PORTS.start + nth as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no port of {PORTS:?} is free")
}
