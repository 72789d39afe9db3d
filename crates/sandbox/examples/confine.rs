//! Runs one program confined, from the command line.
//!
//! ```text
//! confine [--workspace DIR] [--profile read-only|workspace-write|loopback|network] [--ro PATH]… [--hide PATH]…
//!         [--home DIR] [--timeout SECONDS] [--explain | --probe] -- PROGRAM ARG…
//! ```
//!
//! With `--home`, the usual secrets of that directory are hidden; with a workspace, its `.env`, and its git hooks and
//! configuration are read-only. Of the environment a few names pass.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

use std::env;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use shward_sandbox::{Confinement, Network, Options, Output, probe, run};

const PASSED: &[&str] =
    &["GIT_CONFIG_GLOBAL", "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER"];
const SECRETS: &[&str] = &[".aws", ".config/gh", ".docker/config.json", ".gnupg", ".kube", ".netrc", ".ssh"];

struct Arguments {
    workspace: PathBuf,
    profile: String,
    read_only: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    home: Option<PathBuf>,
    timeout: Option<Duration>,
    explain: bool,
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| confine(&arguments)) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("confine: {message}");
            ExitCode::from(125)
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        workspace: env::current_dir().map_err(|e| e.to_string())?,
        profile: "workspace-write".to_owned(),
        read_only: Vec::new(),
        hidden: Vec::new(),
        home: None,
        timeout: None,
        explain: false,
        command: Vec::new(),
    };
    let mut words = env::args_os().skip(1);
    while let Some(word) = words.next() {
        let name = word.to_string_lossy().into_owned();
        let mut value = || words.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--" => {
                parsed.command = words.collect();
                break;
            }
            "--workspace" => parsed.workspace = value()?.into(),
            "--profile" => parsed.profile = value()?.to_string_lossy().into_owned(),
            "--ro" => parsed.read_only.push(value()?.into()),
            "--hide" => parsed.hidden.push(value()?.into()),
            "--home" => parsed.home = Some(value()?.into()),
            "--timeout" => {
                let seconds =
                    value()?.to_string_lossy().parse().map_err(|_| "--timeout takes seconds".to_owned())?;
                parsed.timeout = Some(Duration::from_secs(seconds));
            }
            "--explain" => parsed.explain = true,
            "--probe" => {
                println!("{:#?}", probe());
                return Err("probed only".to_owned());
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok(parsed)
}

fn confine(arguments: &Arguments) -> Result<ExitCode, String> {
    let workspace = arguments.workspace.canonicalize().map_err(|e| format!("workspace: {e}"))?;
    let program = arguments.command.first().ok_or("no program after --")?;
    let network = match arguments.profile.as_str() {
        "loopback" => Network::Loopback,
        "network" => Network::Host,
        _ => Network::None,
    };
    let mut confinement = Confinement::new(find(Path::new(program))?, &workspace)
        .arguments(&arguments.command)
        .network(network);
    if arguments.profile != "read-only" {
        confinement = confinement.writable(&workspace);
    }
    let protected = [".git/hooks", ".git/config"].map(|name| workspace.join(name));
    for path in protected.iter().chain(&arguments.read_only) {
        confinement = confinement.read_only(path);
    }
    let secrets = arguments.home.iter().flat_map(|home| SECRETS.iter().map(move |name| home.join(name)));
    for path in secrets.chain([workspace.join(".env")]).chain(arguments.hidden.iter().cloned()) {
        confinement = confinement.hidden(path);
    }
    for (name, value) in env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if PASSED.contains(&text.as_str()) || text.starts_with("T_") {
            confinement = confinement.variable(name, value);
        }
    }
    let plan = confinement.prepare().map_err(|e| e.to_string())?;
    if arguments.explain {
        print!("{plan}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut options = Options::default();
    options.timeout = arguments.timeout;
    options.stdout =
        Output::Descriptor(std::io::stdout().as_fd().try_clone_to_owned().map_err(|e| e.to_string())?);
    options.stderr =
        Output::Descriptor(std::io::stderr().as_fd().try_clone_to_owned().map_err(|e| e.to_string())?);
    let done = run(&plan, options).map_err(|e| e.to_string())?;
    let code = if done.timed_out { 124 } else { done.exit.code() };
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(125)))
}

/// The program's absolute path: the library searches nothing.
fn find(program: &Path) -> Result<PathBuf, String> {
    if program.components().count() > 1 || program.is_absolute() {
        return std::path::absolute(program).map_err(|e| e.to_string());
    }
    env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{} is not in PATH", program.display()))
}
