//! What memory hostile commands take: bytes in use at the peak for each byte of them, at several sizes.
//!
//!     cargo bench -p shward --bench hostile-memory [-- --svg DIR] [--only TEXT]
//!
//! Apart from how long they take, because what counts allocations is an allocator itself and gives small pages.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench reports to whoever started it"
)]

#[path = "hostile/chart.rs"]
mod chart;
#[path = "hostile/family.rs"]
mod family;
#[path = "../tests/hostile/inputs.rs"]
mod inputs;

use shward::{Firewall, Policy, Request, Setting};

/// What is so small that its growth does not matter: bytes for each byte.
const SMALL: f64 = 64.0;

fn main() {
    let firewall = Firewall::new(Policy::default());
    let title = "bytes of memory per byte, at the peak";
    let rows = family::measure(title, "hostile-memory.svg", 1.0, None, |command| {
        peak(&firewall, &Request::command(command, "/workspace", "/home/dev"))
    });
    for row in rows.iter().filter(|row| row.grows(SMALL)) {
        println!("memory is not linear: {}", row.name);
    }
    family::sum_up(&rows, "bytes per byte");
}

/// Bytes that one verdict has in use at the most. On a thread of its own: a check leaves its memory to the next one.
fn peak(firewall: &Firewall, request: &Request) -> f64 {
    std::thread::scope(|scope| {
        let measured = || allocation_counter::measure(|| drop(firewall.examine(request, &Setting::frozen())));
        scope.spawn(measured).join().unwrap().bytes_max as f64
    })
}
