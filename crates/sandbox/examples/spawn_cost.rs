//! What confining costs: plain posix_spawn, the ways to confine, and bubblewrap if it is installed, side by side, one after
//! the other within each round, from a process of the given size.
//!
//! ```text
//! spawn_cost [ROUNDS] [RESIDENT_MEGABYTES] [PROGRAM]
//! ```
#![allow(clippy::print_stdout, reason = "a command-line program")]

use std::env;
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shward_sandbox::{Confinement, Network, Options, Plan, run};

type Case<'a> = (&'a str, Box<dyn FnMut() -> Result<(), Box<dyn Error>> + 'a>);

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let rounds: usize = words.next().map_or(Ok(200), |word| word.parse())?;
    let megabytes: usize = words.next().map_or(Ok(100), |word| word.parse())?;
    let program = words.next().unwrap_or_else(|| "/bin/true".to_owned());
    let ballast = vec![1u8; megabytes << 20];

    let workspace = env::temp_dir().join(format!("spawn-cost-{}", std::process::id()));
    std::fs::create_dir(&workspace)?;
    let describe =
        |network: Network| Confinement::new(&program, &workspace).writable(&workspace).network(network);
    let plans = [Network::None, Network::Loopback, Network::Host].map(|network| describe(network).prepare());
    let [none, loopback, host] = plans;
    let (none, loopback, host) = (none?, loopback?, host?);

    let mut cases: Vec<Case<'_>> = vec![
        ("posix_spawn (std, streams to /dev/null)", Box::new(|| plain(&program))),
        ("prepare only", Box::new(|| Ok(describe(Network::None).prepare().map(drop)?))),
        ("run, no network", Box::new(|| confined(&none))),
        ("prepare and run, no network", Box::new(|| confined(&describe(Network::None).prepare()?))),
        ("run, loopback", Box::new(|| confined(&loopback))),
        ("run, host network", Box::new(|| confined(&host))),
    ];
    if Command::new("bwrap").arg("--version").output().is_ok() {
        cases.push(("bubblewrap, typical flags", Box::new(|| bubblewrap(&program, &workspace))));
    }

    let mut samples = vec![Vec::with_capacity(rounds); cases.len()];
    for _ in 0..rounds {
        for ((_, case), samples) in cases.iter_mut().zip(&mut samples) {
            let started = Instant::now();
            case()?;
            samples.push(started.elapsed());
        }
    }
    let medians: Vec<Duration> = samples.iter_mut().map(|samples| median(samples)).collect();
    let base = medians.first().copied().unwrap_or_default();
    println!("{rounds} rounds, {megabytes} MB resident ({}), {program}, medians:", ballast.len());
    for ((name, _), median) in cases.iter().zip(&medians) {
        println!("{name:42} {:7} µs  x{:.2}", median.as_micros(), median.as_secs_f64() / base.as_secs_f64());
    }
    drop(cases);
    std::fs::remove_dir(&workspace)?;
    Ok(())
}

fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

fn plain(program: &str) -> Result<(), Box<dyn Error>> {
    Command::new(program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_clear()
        .status()?;
    Ok(())
}

fn confined(plan: &Plan) -> Result<(), Box<dyn Error>> {
    run(plan, Options::default())?;
    Ok(())
}

fn bubblewrap(program: &str, workspace: &std::path::Path) -> Result<(), Box<dyn Error>> {
    Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind"])
        .args([workspace, workspace])
        .args(["--unshare-all", "--new-session", "--die-with-parent", "--clearenv", "--"])
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(())
}
