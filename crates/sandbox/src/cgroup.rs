//! Control groups (cgroups(7), version 2), where they are delegated to this user.
//!
//! A run that asks for what only a group can limit gets a leaf of its own. The supervisor makes it, the child starts inside
//! (`CLONE_INTO_CGROUP`), and it is removed when everything in it has gone. The supervisor holds a lock on it as long as it lives, so
//! whoever comes next can tell what a killed one has left behind.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::confinement::Confinement;
use crate::error::{SandboxError, Stage};
use crate::gap::{ADVICE, Gap};
use crate::kernel;
use crate::limits::Limits;

/// What a directory of ours is called, before its number.
const NAME: &str = "shward-";

/// The controllers that are made use of.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// What a group limits: files of it and what is written to them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GroupLimits {
    /// Controller, file, text.
    pub(crate) files: Vec<(&'static str, &'static str, String)>,
}

impl GroupLimits {
    /// Bytes of memory, number of processes, hundredths of a processor.
    pub(crate) fn new(memory: Option<u64>, processes: Option<u64>, processors: Option<u64>) -> Self {
        const PERIOD: u64 = 100_000; // microseconds, as the kernel's default
        let mut files = Vec::new();
        if let Some(bytes) = memory {
            files.push(("memory", "memory.max", bytes.to_string()));
            // What is swapped out would not count.
            files.push(("memory", "memory.swap.max", "0".to_owned()));
        }
        if let Some(count) = processes {
            files.push(("pids", "pids.max", count.saturating_add(1).to_string())); // and process 1
        }
        if let Some(hundredths) = processors {
            let quota = hundredths.saturating_mul(PERIOD / 100).max(1000);
            files.push(("cpu", "cpu.max", format!("{quota} {PERIOD}")));
        }
        Self { files }
    }

    /// The same without those whose controller is not there.
    pub(crate) fn within(mut self, controllers: &[String]) -> Self {
        self.files.retain(|(controller, ..)| controllers.iter().any(|given| given == controller));
        self
    }

    /// The controllers that are needed and not there.
    pub(crate) fn lacking(&self, controllers: &[String]) -> Vec<&'static str> {
        let mut lacking: Vec<&'static str> = (self.files.iter().map(|(controller, ..)| *controller))
            .filter(|controller| !controllers.iter().any(|given| given == controller))
            .collect();
        lacking.dedup();
        lacking
    }

    /// Writes them. Without swap there is no file for it, and nothing to limit.
    fn write(&self, directory: &Path) -> io::Result<()> {
        for (_, file, text) in &self.files {
            match fs::write(directory.join(file), text) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && *file == "memory.swap.max" => {}
                written => written?,
            }
        }
        Ok(())
    }
}

/// What a control group is to limit, where there is something that nothing else does. What cannot be limited is a gap, or an error if
/// a group is required.
pub(crate) fn planned(
    wanted: &Confinement,
    gaps: &mut Vec<Gap>,
) -> Result<Option<GroupLimits>, SandboxError> {
    let Limits { run_memory, processors, processes, .. } = wanted.limits;
    // SAFETY: cannot fail, no preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    let unbound = root && processes.is_some() && !kernel::pid_limit_is_per_namespace();
    if run_memory.is_none() && processors.is_none() && !unbound && !wanted.group_required {
        return Ok(None);
    }
    let limits = GroupLimits::new(run_memory, processes, processors);
    let (found, lacking, why) = match place() {
        Ok(place) => {
            let lacking = limits.lacking(&place.controllers);
            let why = format!("{} has no such controllers for groups in it", place.directory.display());
            (Some(limits.within(&place.controllers)), lacking, why)
        }
        Err(why) => (None, limits.lacking(&[]), why),
    };
    // Other mechanisms limit the number of processes, except root's on old kernels.
    let lacking: Vec<&str> = lacking.into_iter().filter(|name| *name != "pids").collect();
    if wanted.group_required && (found.is_none() || !lacking.is_empty()) {
        return Err(refused(&why));
    }
    if !lacking.is_empty() {
        gaps.push(Gap::NoGroup { limits: lacking, why });
    }
    Ok(found.filter(|found| wanted.group_required || !found.files.is_empty()))
}

/// A control group of our own, removed with the value; what still runs in it is killed then.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    /// Of the directory, with a lock on it.
    handle: File,
}

impl Group {
    /// Makes one with these limits, and removes what killed supervisors have left beside it.
    pub(crate) fn new(limits: &GroupLimits) -> Result<Self, SandboxError> {
        let failed = |error: &io::Error, path: &Path| {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            SandboxError::kernel(Stage::Limits, errno, format!("making the control group {}", path.display()))
        };
        let place = place().map_err(|why| refused(&why))?;
        sweep(&place.directory);
        let (path, handle) =
            Self::directory(&place.directory).map_err(|error| failed(&error, &place.directory))?;
        let group = Self { path, handle };
        limits.write(&group.path).map_err(|error| failed(&error, &group.path))?;
        Ok(group)
    }

    /// A new directory with our lock on it. Somebody who clears up may have been quicker than the lock.
    fn directory(parent: &Path) -> io::Result<(PathBuf, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        const TIMES: usize = 8;
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for _ in 0..TIMES {
            let name = format!("{NAME}{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
            let path = parent.join(name);
            match fs::create_dir(&path) {
                // Another pid namespace may have a process of our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    last = error;
                    continue;
                }
                made => made?,
            }
            match File::open(&path) {
                Ok(handle) if lock(&handle) && path.exists() => return Ok((path, handle)),
                Ok(_) => {}
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The directory, for clone3(2).
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.handle.as_raw_fd()
    }

    /// Kills everything in it at once.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1"); // Linux 5.14; before, process 1 takes all with it
    }

    /// Whether the kernel has killed something in it because its memory was used up.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        let count = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.is_some_and(|count| count.trim() != "0")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        remove(&self.path);
    }
}

/// Removes an empty group. One whose last process has just gone is busy for a moment.
fn remove(path: &Path) {
    const TIMES: u32 = 50;
    for _ in 0..TIMES {
        match fs::remove_dir(path) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => return,
        }
    }
}

/// Takes the lock that a living supervisor holds.
fn lock(directory: &File) -> bool {
    // SAFETY: takes numbers.
    unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Removes the groups of supervisors that are gone.
fn sweep(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().as_bytes().starts_with(NAME.as_bytes()));
    for path in ours.map(|entry| entry.path()) {
        if let Ok(directory) = File::open(&path)
            && lock(&directory)
        {
            let _ = fs::write(path.join("cgroup.kill"), "1");
            remove(&path);
        }
    }
}

/// A directory in which groups can be made, and what they can limit.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) directory: PathBuf,
    /// Of [`CONTROLLERS`].
    pub(crate) controllers: Vec<String>,
}

/// Beside or below the group that this process is in, wherever more can be limited: where a manager has delegated a subtree, a group
/// with processes has none with controllers below it ("no internal processes").
///
/// # Errors
/// Why none can be made.
pub(crate) fn place() -> Result<Place, String> {
    let own = own_directory()?;
    let mut found: Option<Place> = None;
    let parent = own.path.parent().filter(|parent| parent.starts_with(&own.mount));
    let mut refused = String::from("there is no directory for it");
    for directory in parent.into_iter().chain([own.path.as_path()]) {
        if let Err(error) = is_ours(directory) {
            refused = format!("{}: {error}", directory.display());
            continue;
        }
        let controllers = enabled(directory);
        if found.as_ref().is_none_or(|found| found.controllers.len() < controllers.len()) {
            found = Some(Place { directory: directory.to_owned(), controllers });
        }
    }
    found.ok_or_else(|| format!("not delegated: {refused}"))
}

/// Whether groups can be made in a directory and processes be started in them, which takes the right to write `cgroup.procs` in
/// what both groups have in common.
fn is_ours(directory: &Path) -> io::Result<()> {
    for path in [directory.to_owned(), directory.join("cgroup.procs")] {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a C string that outlives the call.
        if unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// The controllers that groups below a directory have. Where a manager has delegated this very directory they are turned on, as is
/// ours to do; elsewhere that would change groups of others.
fn enabled(directory: &Path) -> Vec<String> {
    let read = |file: &str| -> Vec<String> {
        let text = fs::read_to_string(directory.join(file)).unwrap_or_default();
        text.split_whitespace().filter(|name| CONTROLLERS.contains(name)).map(str::to_owned).collect()
    };
    let available = read("cgroup.controllers");
    let on = read("cgroup.subtree_control");
    if available.len() > on.len() && is_delegated(directory) {
        for name in &available {
            let _ = fs::write(directory.join("cgroup.subtree_control"), format!("+{name}"));
        }
        return read("cgroup.subtree_control");
    }
    on
}

/// systemd marks what it delegates (systemd.resource-control(5), `Delegate=`).
fn is_delegated(directory: &Path) -> bool {
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else { return false };
    [c"user.delegate", c"trusted.delegate"].into_iter().any(|name| {
        let mut value = [0u8; 8];
        // SAFETY: two C strings and a buffer of the given length.
        let length =
            unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len()) };
        length == 1 && value.first() == Some(&b'1')
    })
}

/// The error of a run that has to have a group.
pub(crate) fn refused(why: &str) -> SandboxError {
    SandboxError {
        stage: Stage::Limits,
        errno: 0,
        subject: format!("a control group of its own: {why}"),
        advice: ADVICE.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_the_kernel_reads_them() {
        let place = tempfile::tempdir().unwrap();
        let limits = GroupLimits::new(Some(1 << 20), Some(99), Some(150));
        let files = ["memory.max", "memory.swap.max", "pids.max", "cpu.max"];
        limits.write(place.path()).unwrap();
        let read = files.map(|file| fs::read_to_string(place.path().join(file)).unwrap());
        assert_eq!(read, ["1048576", "0", "100", "150000 100000"]);
        let given = ["pids".to_owned()];
        assert_eq!(limits.lacking(&given), ["memory", "cpu"]);
        assert_eq!(limits.within(&given).files, [("pids", "pids.max", "100".to_owned())]);
    }
}
