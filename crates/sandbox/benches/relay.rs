//! How fast output passes through, beside a plain pipe that is read into nothing by the same program.
//!
//! `cargo bench -p shward-sandbox --bench relay`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and fails by panicking")]

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use shward_sandbox::{Confinement, Options, Stream, run};

const BYTES: u64 = 4 << 30;

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// GB (10^9 bytes) per second.
fn rate(started: Instant) -> f64 {
    BYTES as f64 / started.elapsed().as_secs_f64() / 1e9
}

fn plain(count: &str) -> f64 {
    let started = Instant::now();
    let mut child = Command::new("/usr/bin/head")
        .args(["-c", count, "/dev/zero"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut pipe = child.stdout.take().unwrap();
    while pipe.read(&mut buffer).unwrap() > 0 {}
    child.wait().unwrap();
    rate(started)
}

fn confined(count: &str) -> f64 {
    let plan =
        Confinement::new("/usr/bin/head", "/usr").arguments(["head", "-c", count, "/dev/zero"]).prepare();
    let mut seen = 0;
    let mut options = Options::default();
    let mut on_output = |_: Stream, bytes: &[u8]| seen += bytes.len() as u64;
    options.on_output = Some(&mut on_output);
    let started = Instant::now();
    let done = run(&plan.unwrap(), options).unwrap();
    let rate = rate(started);
    assert_eq!((done.stdout.total, seen), (BYTES, BYTES));
    rate
}

fn main() {
    let count = BYTES.to_string();
    let before = peak();
    println!("{:>10} {:>10} {:>8}", "plain", "confined", "ratio");
    for _ in 0..5 {
        let (plain, confined) = (plain(&count), confined(&count));
        println!("{plain:>7.2} GB/s {confined:>5.2} GB/s {:>7.2}", confined / plain);
    }
    println!("peak memory: {} KiB more", peak() - before);
}
