//! Control groups (cgroups(7), version 2), where they are delegated to this user.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A control group of our own, removed with the value; what still runs in it is killed then.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
}

impl Group {
    /// Makes a group beside or below the one that this process is in: where a manager has delegated a subtree, its groups
    /// with processes have none with controllers below them ("no internal processes").
    pub(crate) fn new() -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("shward-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let own = own_directory()?;
        let mut refused = String::from("there is no directory for it");
        let parent = own.path.parent().filter(|parent| parent.starts_with(&own.mount));
        for directory in parent.into_iter().chain([own.path.as_path()]) {
            let path = directory.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) => refused = format!("{}: {error}", directory.display()),
            }
        }
        Err(format!("not delegated: {refused}"))
    }

    /// Which controllers it has.
    pub(crate) fn controllers(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path.join("cgroup.controllers")).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
        let _ = fs::remove_dir(&self.path);
    }
}

/// The controllers of a group that this process can make, or why it can make none.
pub(crate) fn controllers() -> Result<Vec<String>, String> {
    Group::new().map(|group| group.controllers())
}

struct Own {
    mount: PathBuf,
    path: PathBuf,
}

/// Where version 2 is mounted, and the directory of this process's group in it.
fn own_directory() -> Result<Own, String> {
    let groups = fs::read_to_string("/proc/self/cgroup").map_err(|e| format!("/proc/self/cgroup: {e}"))?;
    let group = groups
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .ok_or("the kernel has no control groups of version 2")?;
    let mounts =
        fs::read_to_string("/proc/self/mountinfo").map_err(|e| format!("/proc/self/mountinfo: {e}"))?;
    // proc_pid_mountinfo(5): the mount point is the fifth field, the type the first after the dash.
    let mount = mounts
        .lines()
        .filter(|line| line.split(" - ").nth(1).is_some_and(|rest| rest.starts_with("cgroup2 ")))
        .find_map(|line| line.split(' ').nth(4))
        .ok_or("control groups of version 2 are not mounted")?;
    let mount = PathBuf::from(mount);
    let path = mount.join(Path::new(group).strip_prefix("/").unwrap_or(Path::new("")));
    Ok(Own { mount, path })
}
