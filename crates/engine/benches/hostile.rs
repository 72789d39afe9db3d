//! What hostile commands cost: milliseconds and peak memory for each byte of them, at several sizes.
//!
//!     cargo bench -p shward --bench hostile [-- --svg DIR] [--only TEXT]
//!
//! Each is measured several times, in time on a processor, and the fastest counts. A family is linear if a megabyte of it
//! costs no more than twice of what a sixteenth of that costs, byte for byte, or next to nothing. The last lines name what
//! is not, and what is over the bound of [`BOUND`].

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench reports to whoever started it"
)]

#[path = "hostile/chart.rs"]
mod chart;
#[path = "../tests/hostile/inputs.rs"]
mod inputs;

use rustix::time::{ClockId, clock_gettime};
use shward::{Firewall, Policy, Request, Setting};
use std::path::PathBuf;

/// Bytes, as far as the family can be cut to size.
const SIZES: [usize; 4] = [15_000, 60_000, 240_000, 960_000];

/// Milliseconds that a megabyte may cost, of the largest size.
const BOUND: f64 = 200.0;

/// Milliseconds that the smaller sizes may cost, whatever that is for each byte: what is worth its time does not depend
/// on the length alone.
const ANYWAY: f64 = 50.0;

/// What is so cheap that its growth does not matter: milliseconds per megabyte.
const CHEAP: f64 = 20.0;

/// What one family costs at each size.
struct Row {
    name: &'static str,
    /// Milliseconds per megabyte.
    time: Vec<f64>,
    /// Bytes of memory per byte, at the peak.
    memory: Vec<f64>,
}

fn main() {
    let mut svg: Option<PathBuf> = None;
    let mut only = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--svg" => svg = arguments.next().map(PathBuf::from),
            "--only" => only = arguments.next(),
            _ => {}
        }
    }
    let firewall = Firewall::new(Policy::default());
    let mut rows = Vec::new();
    println!("{:34} {:>41}   {:>31}", "family", "milliseconds per megabyte", "bytes of memory per byte");
    for (name, input) in inputs::FAMILIES {
        if only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let mut row = Row { name, time: Vec::new(), memory: Vec::new() };
        for size in SIZES {
            let command = input(size);
            let bytes = command.len() as f64;
            let request = Request::command(command, "/workspace", "/home/dev");
            row.time.push(fastest(&firewall, &request) / bytes * 1e6);
            row.memory.push(peak(&firewall, &request) / bytes);
        }
        let cells = |values: &[f64]| values.iter().map(|value| format!("{value:9.1}")).collect::<String>();
        println!("{name:34} {}  {}", cells(&row.time), cells(&row.memory));
        rows.push(row);
    }
    report(&rows);
    if let Some(directory) = svg {
        let times: Vec<_> = rows.iter().map(|row| (row.name, row.time.clone())).collect();
        let memory: Vec<_> = rows.iter().map(|row| (row.name, row.memory.clone())).collect();
        let time = chart::chart("Hostile commands: milliseconds per megabyte", &SIZES, &times, Some(BOUND));
        let memory =
            chart::chart("Hostile commands: bytes of memory per byte, at the peak", &SIZES, &memory, None);
        std::fs::write(directory.join("hostile-time.svg"), time).unwrap();
        std::fs::write(directory.join("hostile-memory.svg"), memory).unwrap();
    }
}

/// Milliseconds of the fastest of several verdicts.
fn fastest(firewall: &Firewall, request: &Request) -> f64 {
    let mut fastest = f64::INFINITY;
    for _ in 0..4 {
        let start = on_processor();
        let judged = firewall.examine(request, &Setting::frozen());
        fastest = fastest.min((on_processor() - start) * 1e3);
        assert!(judged.is_ok(), "not judged: {:?}", judged.err());
        if fastest > 100.0 {
            break;
        }
    }
    fastest
}

/// Seconds that this thread has spent on a processor: what else the machine does counts little.
fn on_processor() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Bytes that one verdict has in use at the most. On a thread of its own: a check leaves its memory to the next one.
fn peak(firewall: &Firewall, request: &Request) -> f64 {
    std::thread::scope(|scope| {
        let measured = || allocation_counter::measure(|| drop(firewall.examine(request, &Setting::frozen())));
        scope.spawn(measured).join().unwrap().bytes_max as f64
    })
}

fn report(rows: &[Row]) {
    let last = SIZES.len() - 1;
    let grows = |values: &[f64], cheap: f64| values[last] > 2.0 * values[1] && values[last] > cheap;
    for row in rows {
        let over = |(time, size): (&f64, &usize)| *time > BOUND && *time * *size as f64 / 1e6 > ANYWAY;
        if row.time.iter().zip(&SIZES).any(over) {
            println!("over {BOUND} ms per megabyte and {ANYWAY} ms: {}", row.name);
        }
        if grows(&row.time, CHEAP) {
            println!("time is not linear: {}", row.name);
        }
        if grows(&row.memory, 64.0) {
            println!("memory is not linear: {}", row.name);
        }
    }
    let worst =
        |of: fn(&Row) -> &Vec<f64>| rows.iter().max_by(|a, b| of(a)[last].total_cmp(&of(b)[last])).unwrap();
    let (slow, large) = (worst(|row| &row.time), worst(|row| &row.memory));
    println!("{} families", rows.len());
    println!("slowest: {}, {:.1} ms per megabyte", slow.name, slow.time[last]);
    println!("largest: {}, {:.1} bytes per byte", large.name, large.memory[last]);
}
