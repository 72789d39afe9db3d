//! Measures what parsing costs: reads JSON lines with a `command` and prints nanoseconds per parse and throughput.
//!
//! `cargo run --release -p shward-syntax --example parse_cost -- FILE…`

use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let commands: Vec<String> = text
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter_map(|value| value.get("command")?.as_str().map(str::to_owned))
            .collect();
        report(&path, &commands);
    }
    Ok(())
}

/// Each command is parsed several times and its fastest time counts, so that other load matters little.
fn report(path: &str, commands: &[String]) {
    let options = shward_syntax::Options::default();
    let mut arena = bumpalo::Bump::with_capacity(1 << 16);
    let mut times = Vec::with_capacity(commands.len());
    let mut refused = 0;
    for command in commands {
        let mut best = u128::MAX;
        for _ in 0..9 {
            arena.reset();
            let start = Instant::now();
            let parsed = shward_syntax::parse(&arena, black_box(command.as_bytes()), &options);
            best = best.min(start.elapsed().as_nanos());
            if black_box(parsed).is_err() {
                refused += 1;
            }
        }
        times.push(best);
    }
    let total: u128 = times.iter().sum();
    let bytes: usize = commands.iter().map(String::len).sum();
    times.sort_unstable();
    let at = |permille: usize| times.get(times.len() * permille / 1000).copied().unwrap_or(0);
    #[expect(clippy::print_stdout, reason = "a measuring program reports to the terminal")]
    {
        println!(
            "{path}: {} commands, {} refused, median {} ns, p99 {} ns, {} MB/s",
            commands.len(),
            refused / 9,
            at(500),
            at(990),
            bytes as u128 * 1000 / total.max(1)
        );
    }
}
