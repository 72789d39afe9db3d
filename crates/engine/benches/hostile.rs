//! How long hostile commands take: milliseconds for each megabyte of them, at several sizes.
//!
//!     cargo bench -p shward --bench hostile [-- --svg DIR] [--only TEXT]
//!
//! Each is measured several times, in time on a processor, and the fastest counts. Memory comes as it does in the program,
//! in large pages. A family is linear if a megabyte of it costs no more than twice of what a sixteenth of that costs, byte
//! for byte, or next to nothing. A family of commands that are short at any size is told as if they were of that size: it counts what
//! one takes in all. The last lines name what is not, and what is over the bound of [`BOUND`].

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

use family::SIZES;
use rustix::time::{ClockId, clock_gettime};
use shward::{Firewall, Policy, Request, Setting};

#[global_allocator]
static MEMORY: shward::LargePages = shward::LargePages;

/// Milliseconds that a megabyte may cost, of the largest size.
const BOUND: f64 = 200.0;

/// Milliseconds that the smaller sizes may cost, whatever that is for each byte: what is worth its time does not depend
/// on the length alone.
const ANYWAY: f64 = 50.0;

/// What is so cheap that its growth does not matter: milliseconds per megabyte.
const CHEAP: f64 = 20.0;

fn main() {
    let firewall = Firewall::new(Policy::default());
    let title = "milliseconds per megabyte";
    let rows = family::measure(title, "hostile-time.svg", 1e6, Some(BOUND), |command| {
        fastest(&firewall, &Request::command(command, "/workspace", "/home/dev"))
    });
    for row in &rows {
        if row
            .costs
            .iter()
            .zip(&SIZES)
            .any(|(time, size)| *time > BOUND && *time * *size as f64 / 1e6 > ANYWAY)
        {
            println!("over {BOUND} ms per megabyte and {ANYWAY} ms: {}", row.name);
        }
        if row.grows(CHEAP) {
            println!("time is not linear: {}", row.name);
        }
    }
    family::sum_up(&rows, title);
}

/// Milliseconds of the fastest of several verdicts.
fn fastest(firewall: &Firewall, request: &Request) -> f64 {
    let mut fastest = f64::INFINITY;
    for _ in 0..4 {
        let start = on_processor();
        let judged = firewall.examine(request, &Setting::frozen());
        fastest = fastest.min((on_processor() - start) * 1e3);
        assert!(judged.is_ok(), "not judged: {:?}", judged.err());
        if fastest > 300.0 {
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
