//! What a verdict costs in process: parsing, analysis, the whole decision, and the decision as JSON, for each command of
//! the project's own sample and beside a list of regular expressions over the same text.
//!
//! Each command is measured several times and its fastest time counts, so that what else the machine does does not; the
//! percentiles are over the commands. Compare the rows of one run with each other, not the figures of two machines.

use allocation_counter::measure;
use bumpalo::Bump;
use regex_lite::Regex;
use serde_json::{Value, json};
use shward::{Firewall, Policy, Request, Setting};
use shward_analysis::{Frozen, Source, analyze};
use shward_syntax::{Dialect, Options, parse};
use std::env;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// What guards of the kind that matches text look for.
const PATTERNS: [&str; 16] = [
    r"\brm\s+(-[a-zA-Z]*[rf][a-zA-Z]*\s+)+/",
    r"\bsudo\b",
    r"\bdd\s+.*of=/dev/",
    r"\bmkfs(\.\w+)?\b",
    r":\(\)\s*\{.*\};:",
    r">\s*/dev/sd[a-z]",
    r"\bchmod\s+(-R\s+)?777\b",
    r"\b(curl|wget)\b.*\|\s*(ba|z|da)?sh\b",
    r"\bgit\s+push\s+.*--force\b",
    r"\bgit\s+reset\s+--hard\b",
    r"\bshutdown\b|\breboot\b|\bhalt\b",
    r"\bnc\b.*-e\b",
    r"/etc/(passwd|shadow|sudoers)",
    r"\.ssh/",
    r"\beval\b",
    r"\bbase64\s+(-d|--decode)\b",
];

/// One thing that is measured.
struct Stage {
    name: &'static str,
    run: Box<dyn FnMut(&Request)>,
}

pub(crate) fn main() {
    let (corpora, as_json) = arguments();
    let requests: Vec<Request> = corpora.iter().flat_map(|file| requests(file)).collect();
    let mut rows = Vec::new();
    for mut stage in stages() {
        let mut times = Vec::with_capacity(requests.len());
        let mut allocations = Vec::with_capacity(requests.len());
        for request in &requests {
            (stage.run)(request);
            allocations.push(measure(|| (stage.run)(request)).count_total);
            let fastest = (0..ROUNDS).map(|_| time(|| (stage.run)(request))).min();
            times.push(fastest.unwrap_or_default());
        }
        times.sort_unstable();
        allocations.sort_unstable();
        rows.push((stage.name, times, allocations));
    }
    let bytes: usize = requests.iter().map(length).sum();
    if as_json {
        let rows: Vec<Value> =
            rows.iter().map(|(name, times, allocations)| row(name, times, allocations)).collect();
        println!("{}", json!({ "v": 1, "commands": requests.len(), "bytes": bytes, "stages": rows }));
        return;
    }
    println!(
        "{} commands, {} bytes each on average; microseconds\n",
        requests.len(),
        bytes / requests.len().max(1)
    );
    println!(
        "{:22} {:>8} {:>8} {:>8} {:>8} {:>10} {:>12}",
        "", "p50", "p90", "p99", "max", "per second", "allocations"
    );
    for (name, times, allocations) in &rows {
        let at = |share: f64| micros(percentile(times, share));
        let sum: Duration = times.iter().sum();
        println!(
            "{name:22} {:8.2} {:8.2} {:8.2} {:8.1} {:10.0} {:12}",
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0),
            times.len() as f64 / sum.as_secs_f64(),
            allocations.get(allocations.len() / 2).copied().unwrap_or_default(),
        );
    }
}

fn row(name: &str, times: &[Duration], allocations: &[u64]) -> Value {
    let at = |share: f64| micros(percentile(times, share));
    json!({
        "stage": name, "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": at(1.0),
        "allocations_p50": allocations.get(allocations.len() / 2),
    })
}

fn stages() -> Vec<Stage> {
    let firewall = Firewall::new(Policy::default());
    let other = Firewall::new(Policy::default());
    let patterns: Vec<Regex> = PATTERNS.iter().map(|p| Regex::new(p).unwrap()).collect();
    let mut arenas = [(); 3].map(|()| Bump::new()).into_iter();
    let [mut first, mut second, mut third] = [(); 3].map(|()| arenas.next().unwrap());
    vec![
        Stage {
            name: "regular expressions",
            run: Box::new(move |request| {
                let text = command(request);
                black_box(patterns.iter().filter(|p| p.is_match(text)).count());
            }),
        },
        Stage {
            name: "parse",
            run: Box::new(move |request| {
                first.reset();
                let _ = black_box(parse(&first, command(request).as_bytes(), &Options::default()));
            }),
        },
        Stage {
            name: "parse, analyse",
            run: Box::new(move |request| {
                second.reset();
                let asked = shward_analysis::Request {
                    source: Source::Command(command(request).as_bytes()),
                    cwd: b"/home/dev/project",
                    workspace: b"/home/dev/project",
                    home: b"/home/dev",
                    dialect: Dialect::Bash,
                };
                black_box(analyze(&second, &asked, &Frozen));
            }),
        },
        Stage {
            name: "verdict",
            run: Box::new(move |request| {
                third.reset();
                let _ = black_box(firewall.judge(&third, request, &Setting::frozen()));
            }),
        },
        Stage {
            name: "verdict as JSON",
            run: Box::new(move |request| {
                let checked = other.examine(request, &Setting::frozen()).unwrap();
                black_box(serde_json::to_string(&checked).unwrap());
            }),
        },
    ]
}

fn command(request: &Request) -> &str {
    match &request.action {
        shward::Action::Command(text) => text,
        shward::Action::Argv(_) => "",
    }
}

fn length(request: &Request) -> usize {
    command(request).len()
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The corpus files (default: the project's sample) and whether JSON is wanted.
fn arguments() -> (Vec<PathBuf>, bool) {
    let (mut files, mut as_json) = (Vec::new(), false);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--corpus" => files.push(PathBuf::from(words.next().expect("--corpus FILE"))),
            "--json" => as_json = true,
            // Cargo adds --bench.
            _ => {}
        }
    }
    if files.is_empty() {
        files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/dev-sample.jsonl"));
    }
    (files, as_json)
}

fn requests(file: &Path) -> Vec<Request> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let cwd = Some(text("cwd")).filter(|cwd| cwd.starts_with('/'));
            Request::command(
                text("command"),
                cwd.unwrap_or_else(|| "/home/dev/project".to_owned()),
                "/home/dev",
            )
        })
        .collect()
}
