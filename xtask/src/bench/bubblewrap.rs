//! bubblewrap as others start it, and with what `shward run` protects as well.
//!
//! What is hidden depends on the machine and on who asks, so the second list is made of the plan that shward tells for the same
//! command (`explain --sandbox`). Each thing is had in the cheapest way that bubblewrap knows: a mask is a bind mount of `/dev/null`
//! or of one empty directory. What it cannot do at all is left out: Landlock, limits, a filter of the proxy's kind, devices one by one.

use crate::Failure;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Everything read-only, devices and processes of its own.
const VIEW: [&str; 7] = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

/// No network, nothing of the caller's, no rights.
const CONFINED: [&str; 6] =
    ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"];

const COMMAND: [&str; 2] = ["--", "/bin/true"];

/// As it is usually started: a private `/tmp` besides.
pub(super) fn plain() -> Vec<OsString> {
    let private = ["--tmpfs", "/tmp", "--tmpfs", "/dev/shm"];
    VIEW.iter().chain(&private).chain(&CONFINED).chain(&COMMAND).map(OsString::from).collect()
}

/// With the same protections: the arguments, and the filter of system calls that it reads from its standard input.
pub(super) fn protected(
    root: &Path,
    mut explain: Command,
    scratch: &Path,
) -> Result<(Vec<OsString>, PathBuf), Failure> {
    let told = explain.args(["explain", "--sandbox", "--", "/bin/true"]).output()?;
    let empty = scratch.join("empty");
    fs::create_dir(&empty)?;
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o555))?;
    let seen = seen(&String::from_utf8(told.stdout)?, &empty.display().to_string())?;

    let filter = scratch.join("filter");
    let mut make = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    make.args(["run", "--quiet", "--package", "shward-sandbox", "--example", "filter"]);
    let made = make.current_dir(root).stdout(Stdio::from(File::create(&filter)?)).status()?;
    if !made.success() {
        return Err("the filter of system calls cannot be made".into());
    }
    let seccomp = ["--seccomp", "0"];
    let view = VIEW.iter().map(OsString::from).chain(seen.iter().map(OsString::from));
    let rest = CONFINED.iter().chain(&seccomp).chain(&COMMAND).map(OsString::from);
    Ok((view.chain(rest).collect(), filter))
}

/// What a plan mounts, as arguments. `empty` is an empty directory.
fn seen(plan: &str, empty: &str) -> Result<Vec<String>, Failure> {
    let steps = plan.split_once("\nsandbox\n").map_or("", |(_, steps)| steps);
    let mut modes: Vec<(&str, &str)> = Vec::new();
    let mut taken: Vec<(&str, &str)> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for step in steps.lines().filter_map(|line| line.trim_start().split_once("  ")).map(|(_, step)| step) {
        if let Some((name, rest)) =
            step.strip_prefix("make directory ").and_then(|s| s.split_once(" of mode "))
            && let Some((mode, _)) = rest.split_once(" in #")
        {
            modes.push((name, mode));
        } else if let Some((what, slot)) = step.strip_prefix("take ").and_then(|s| s.rsplit_once(" as #")) {
            taken.push((slot, what));
        } else if let Some((slot, path)) = step.strip_prefix("attach #").and_then(|s| s.split_once(" on ")) {
            // It makes those itself.
            if path.starts_with("/dev/") && path != "/dev/shm" {
                continue;
            }
            let what = taken.iter().find(|(known, _)| *known == slot).map(|(_, what)| *what);
            let what = what.ok_or_else(|| format!("nothing was taken for {step:?}"))?;
            let words = match what.split_once(" of #") {
                Some(("hidden-file" | "unreadable-file", _)) => vec!["--ro-bind", "/dev/null", path],
                Some(("hidden-directory" | "unreadable-directory", _)) => vec!["--ro-bind", empty, path],
                Some((name, _)) => {
                    let mode = modes.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode);
                    vec!["--perms", mode.ok_or_else(|| format!("no mode of {name:?}"))?, "--tmpfs", path]
                }
                None if what.contains(" with ro") => vec!["--ro-bind", path, path],
                None => vec!["--bind", path, path],
            };
            seen.extend(words.into_iter().map(str::to_owned));
        }
    }
    if seen.is_empty() {
        return Err("shward tells no sandbox for /bin/true".into());
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_becomes_arguments() {
        let plan = "allowed\n\nprograms\n  /bin/true\n\nsandbox\n 0  new namespaces: user-ns; network: none\n\
             7  take /tmp/w with ro,nosuid,nodev as #0\n 8  take /dev/null with nosuid,noexec as #1\n\
             14  mount tmpfs size=1,mode=0755 on /dev/shm as #6\n15  make file hidden-file of mode 0444 in #6\n\
             16  make directory hidden-directory of mode 0555 in #6\n17  make directory 0 of mode 1777 in #6\n\
             18  take 0 of #6 as #7\n19  attach #7 on /dev/shm\n20  take hidden-file of #6 with ro,noexec as #8\n\
             21  attach #8 on /etc/shadow\n22  take hidden-directory of #6 with ro,noexec as #9\n\
             23  attach #9 on /root\n24  make directory /tmp/w of mode 0755\n25  attach #0 on /tmp/w\n\
             26  attach #1 on /dev/null\n27  take /x with nosuid,nodev as #10\n28  attach #10 on /x\n";
        let words = "--perms 1777 --tmpfs /dev/shm --ro-bind /dev/null /etc/shadow --ro-bind /e /root \
             --ro-bind /tmp/w /tmp/w --bind /x /x";
        assert_eq!(seen(plan, "/e").unwrap().join(" "), words);
        for less in ["", "\nsandbox\n  none: shward would not run this\n", "\nsandbox\n 1  attach #1 on /x\n"]
        {
            assert!(seen(less, "/e").is_err(), "{less}");
        }
    }
}
