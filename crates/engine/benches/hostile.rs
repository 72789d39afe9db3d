//! `cargo bench -p shward --bench hostile`: milliseconds per megabyte for hostile commands, and whether that grows with
//! their size. The last line is the worst family.

#![allow(clippy::print_stdout, reason = "a bench reports to whoever started it")]

#[path = "../tests/hostile/inputs.rs"]
mod inputs;

use shward::{Firewall, Policy, Request, Setting};
use std::time::Instant;

/// Bytes; the second is eight times the first.
const SIZES: [usize; 2] = [100_000, 800_000];

fn main() {
    let firewall = Firewall::new(Policy::default());
    let mut worst = (0.0, "");
    println!("{:28} {:>12} {:>12}  growth", "family", "100 kB", "800 kB");
    for (name, input) in inputs::FAMILIES {
        let rates = SIZES.map(|size| {
            let command = input(size);
            let megabytes = command.len() as f64 / 1e6;
            let request = Request::command(command, "/workspace", "/home/dev");
            let start = Instant::now();
            let judged = firewall.examine(&request, &Setting::frozen());
            let milliseconds = start.elapsed().as_secs_f64() * 1e3;
            assert!(judged.is_ok(), "{name} is not judged");
            milliseconds / megabytes
        });
        let [small, large] = rates;
        let growth = if large > 2.0 * small && large > 20.0 { "grows" } else { "linear" };
        println!("{name:28} {small:9.1} ms {large:9.1} ms  {growth}");
        if large > worst.0 {
            worst = (large, name);
        }
    }
    println!("worst: {} with {:.1} ms per megabyte", worst.1, worst.0);
}
