//! `install` and `uninstall`: wiring shward into a host's settings file.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{CHECK, DRY_RUN, HOME, JSON, PROJECT};
use crate::terminal::{self, Fail};
use serde_json::Value;
use shward_hosts::claude;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What is done to the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Install,
    Uninstall,
}

/// Carries out the verb.
///
/// # Errors
/// The host is not known, or its settings cannot be read, understood or replaced.
pub(crate) fn run(change: Change, args: &Args) -> Result<Exit, Fail> {
    let host = match args.operands.as_slice() {
        [host] => host,
        _ => return Err(Fail::usage("name the host: claude")),
    };
    if host != claude::HOST {
        return Err(Fail::usage(format!("unknown host {host:?}; known hosts: {}", claude::HOST)));
    }
    if args.has(&CHECK) && args.has(&DRY_RUN) {
        return Err(Fail::usage("--check looks and --dry-run shows; give one of them"));
    }
    let file = settings_file(args)?;
    let before = read(&file)?;
    let mut settings = parse(&file, &before)?;
    let copy = file.with_extension("json.before-shward");
    let changed = match change {
        Change::Install => claude::install(&mut settings, &binary()?),
        Change::Uninstall => claude::uninstall(&mut settings),
    }
    .map_err(|e| Fail::input(format!("{}: {e}; mend the file or move it away", file.display())))?;
    if args.has(&CHECK) {
        return look(args, &file, !changed, claude::switched_off(&settings));
    }
    let mut after = serde_json::to_string_pretty(&settings).map_err(|e| Fail::io(e.to_string()))?;
    after.push('\n');
    // What install has made, and nothing else is in, goes as it came. What was there before has a copy.
    let removed = changed
        && change == Change::Uninstall
        && settings.as_object().is_some_and(serde_json::Map::is_empty)
        && fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file())
        && !is_of_before(&copy);
    if changed && !args.has(&DRY_RUN) {
        let replace = |file: &Path, text: &str| {
            write(file, text.as_bytes()).map_err(|e| Fail::io(format!("{}: {e}", file.display())))
        };
        // The copy is of the file before shward ever changed it: a later one would be of shward's own work.
        if let Some(before) = before.as_ref().filter(|before| change == Change::Install && !has_hook(before))
            && !is_of_before(&copy)
        {
            replace(&copy, before)?;
        }
        if removed {
            fs::remove_file(&file).map_err(|e| Fail::io(format!("{}: {e}", file.display())))?;
        } else {
            replace(&file, &after)?;
        }
    }
    say(change, args, &file, changed, (!removed).then_some(&*after))?;
    if let (Change::Install, Some(setting)) = (change, claude::switched_off(&settings)) {
        terminal::error(&format!(
            "shward: {}: \"{setting}\" is true, so Claude Code asks nobody; take it out",
            file.display()
        ));
    }
    if change == Change::Install && args.has(&PROJECT) {
        // Who shares the project gets the file, and not the program that it names.
        terminal::error(&format!(
            "shward: the hook names {}: where others use this project, shward has to lie at the same place, or their \
             commands are denied; `shward install claude` is for one account",
            binary()?
        ));
    }
    Ok(Exit::Allow)
}

/// Tells whether the hook is asked as it stands.
fn look(args: &Args, file: &Path, installed: bool, switched_off: Option<&str>) -> Result<Exit, Fail> {
    if args.has(&JSON) {
        let answer = serde_json::json!({
            "v": 1, "host": claude::HOST, "file": file, "installed": installed, "switched_off": switched_off,
        });
        terminal::line(&answer.to_string())?;
    } else {
        let file = file.display();
        terminal::line(&match (installed, switched_off) {
            (false, _) => {
                format!(
                    "{file}: shward is not there as {} would install it; `shward install claude`",
                    binary()?
                )
            }
            (true, Some(setting)) => {
                format!(
                    "{file}: shward is there, but \"{setting}\" is true, so nobody asks it; take that out"
                )
            }
            (true, None) => format!("{file}: shward answers"),
        })?;
    }
    Ok(if installed && switched_off.is_none() { Exit::Allow } else { Exit::Found })
}

/// Whether the hook of shward is in a text of settings.
fn has_hook(text: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|mut settings| claude::uninstall(&mut settings) == Ok(true))
}

/// Whether there is a copy of a file of settings as it was before shward: anything but what has the hook in it, which was made by
/// mistake once.
fn is_of_before(copy: &Path) -> bool {
    fs::symlink_metadata(copy).is_ok() && !fs::read_to_string(copy).is_ok_and(|text| has_hook(&text))
}

fn settings_file(args: &Args) -> Result<PathBuf, Fail> {
    if args.has(&PROJECT) {
        let here = std::env::current_dir().map_err(|e| Fail::io(format!("the current directory: {e}")))?;
        return Ok(here.join(".claude/settings.json"));
    }
    // Where the host looks instead, if it is told to (its documentation on environment variables).
    if let (None, Some(directory)) =
        (args.get(&HOME), std::env::var_os("CLAUDE_CONFIG_DIR").filter(|d| !d.is_empty()))
    {
        let directory = Path::new(&directory);
        if !directory.is_absolute() {
            return Err(Fail::usage(
                "CLAUDE_CONFIG_DIR is not an absolute path, so it is not known where the host looks",
            ));
        }
        return Ok(directory.join("settings.json"));
    }
    if let Some(dir) = args.get(&HOME).filter(|dir| !Path::new(dir).is_absolute()) {
        return Err(Fail::usage(format!("--home: {dir:?} is not an absolute path")));
    }
    let home =
        args.get(&HOME).cloned().or_else(|| std::env::var_os("HOME")).filter(|h| Path::new(h).is_absolute());
    let home = home.ok_or_else(|| Fail::usage("the home directory is not known; give --home DIR"))?;
    Ok(Path::new(&home).join(".claude/settings.json"))
}

/// The absolute path of this program, with links resolved. A host finds it without `PATH`, which an agent may change;
/// a program that moves has to be installed again.
///
/// # Errors
/// The path is not known or not UTF-8, or the kernel says that the file is gone (proc_pid_exe(5) adds ` (deleted)`):
/// the hook would never start.
fn binary() -> Result<String, Fail> {
    let path = std::env::current_exe().map_err(|e| Fail::io(format!("the path of this program: {e}")))?;
    let path = path
        .into_os_string()
        .into_string()
        .map_err(|p| Fail::io(format!("the path {p:?} is not UTF-8; install shward elsewhere")))?;
    if path.ends_with(" (deleted)") {
        return Err(Fail::io(format!("{path}: this program was removed or replaced; start the new one")));
    }
    Ok(path)
}

fn read(file: &Path) -> Result<Option<String>, Fail> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Fail::io(format!("{}: {e}", file.display()))),
    }
}

fn parse(file: &Path, text: &Option<String>) -> Result<Value, Fail> {
    match text.as_deref().map(str::trim) {
        None | Some("") => Ok(Value::Object(serde_json::Map::new())),
        Some(text) => serde_json::from_str(text).map_err(|e| {
            Fail::input(format!("{}: not JSON: {e}; mend the file or move it away", file.display()))
        }),
    }
}

/// Replaces a file as a whole: a reader sees the old text or the new, never a part. Links are followed, so that a
/// settings file kept elsewhere stays there, and the mode is kept.
fn write(file: &Path, text: &[u8]) -> io::Result<()> {
    let aim = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let directory = aim.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let mode = fs::metadata(&aim).map_or(0o600, |m| m.mode() & 0o777);
    let temporary = aim.with_extension(format!("json.{}", std::process::id()));
    let written = (|| {
        let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        out.write_all(text)?;
        out.sync_all()?;
        fs::rename(&temporary, &aim)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// `after` is what is in the file then, if it is there.
fn say(change: Change, args: &Args, file: &Path, changed: bool, after: Option<&str>) -> Result<(), Fail> {
    let dry = args.has(&DRY_RUN);
    if args.has(&JSON) {
        let answer = serde_json::json!({
            "v": 1, "host": claude::HOST, "file": file, "changed": changed && !dry, "would_change": changed,
        });
        return terminal::line(&answer.to_string());
    }
    let file = file.display();
    let text = match (change, changed, dry) {
        (Change::Install, true, false) => {
            format!(
                "{file}: shward now answers for Bash, PowerShell and Monitor, and for tools that change files. Start \
                 a new session to use it; Claude Code has to be {} or newer.",
                claude::OLDEST
            )
        }
        (Change::Install, false, _) => format!("{file}: already installed, nothing changed."),
        (Change::Uninstall, true, false) if after.is_none() => {
            format!(
                "{file}: removed, since nothing else was in it. Running sessions keep the hook until they end."
            )
        }
        (Change::Uninstall, true, false) => {
            format!("{file}: removed. Running sessions keep the hook until they end.")
        }
        (Change::Uninstall, false, _) => format!("{file}: not installed, nothing changed."),
        (_, true, true) => match after {
            Some(after) => format!("{file} would become:\n{after}Nothing was changed."),
            None => format!("{file} would be removed, since nothing else is in it. Nothing was changed."),
        },
    };
    terminal::line(&text)
}
