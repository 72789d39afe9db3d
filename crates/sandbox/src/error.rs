//! What went wrong, at which step, and what a person can change about it.
//!
//! A sandbox that cannot be built must refuse, and a refusal is only useful when it names the reason: the same `EPERM`
//! means another thing when it comes from `clone` (user namespaces are switched off) than when it comes from the first
//! mount (AppArmor took the capabilities away again). So every error carries its [`Stage`], and the advice follows from
//! the pair (stage, errno).

use std::fmt;
use std::path::Path;

/// The step at which a run failed. Up to and including [`Stage::Execute`] nothing of the command has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The request itself is not usable: a relative path, a NUL byte, a writable root of `/`.
    Request,
    /// A path that must exist was looked up before anything was started.
    Path,
    /// Pipes, memory or descriptors for the child could not be made.
    Resources,
    /// `clone(2)` with new namespaces.
    Clone,
    /// Namespaces and mounts by bubblewrap, and whether they are what they have to be.
    Bubblewrap,
    /// The child's own bookkeeping: death signal, session, signal dispositions.
    Session,
    /// `/proc/self/uid_map` and its kin (user_namespaces(7)).
    IdMap,
    /// Mounts: propagation, read-only root, private directories, re-attached trees, masks, devices.
    Mount,
    /// A fresh `/proc` for the new pid namespace.
    Proc,
    /// Making a pseudo-terminal, or serving it.
    Terminal,
    /// Bringing up the loopback interface.
    Loopback,
    /// `setrlimit(2)` and the pid limit of the namespace.
    Limits,
    /// `chdir(2)` into the working directory, as seen inside.
    Cwd,
    /// Standard streams and closing of everything else.
    Descriptors,
    /// Dropping capabilities and setting `no_new_privs`.
    Privileges,
    /// Landlock rules.
    Landlock,
    /// The seccomp filter.
    Seccomp,
    /// Starting the pid-1 process of the sandbox.
    Init,
    /// `execve(2)` of the command itself.
    Execute,
    /// Relaying output, waiting, or killing.
    Supervise,
    /// Judging the programs that start inside.
    Gate,
}

impl Stage {
    /// The stable kebab-case name, for logs and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Path => "path",
            Self::Resources => "resources",
            Self::Clone => "clone",
            Self::Bubblewrap => "bubblewrap",
            Self::Session => "session",
            Self::IdMap => "id-map",
            Self::Mount => "mount",
            Self::Proc => "proc",
            Self::Terminal => "terminal",
            Self::Loopback => "loopback",
            Self::Limits => "limits",
            Self::Cwd => "cwd",
            Self::Descriptors => "descriptors",
            Self::Privileges => "privileges",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Init => "init",
            Self::Execute => "execute",
            Self::Supervise => "supervise",
            Self::Gate => "gate",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why the command was not run, or could not be supervised to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sandbox: {stage}: {subject}{}{}", cause(*.errno), sentence(.advice))]
#[non_exhaustive]
pub struct SandboxError {
    /// The step that failed.
    pub stage: Stage,
    /// The kernel's answer (errno(3)), or 0 when the request was refused before the kernel was asked.
    pub errno: i32,
    /// What was attempted, in words: an operation and its path.
    pub subject: String,
    /// What to change so that it works; empty when there is nothing better to say than the errno.
    pub advice: String,
}

impl SandboxError {
    pub(crate) fn kernel(stage: Stage, errno: i32, subject: impl Into<String>) -> Self {
        let subject = subject.into();
        let advice = advice(stage, errno, &subject).to_owned();
        Self { stage, errno, subject, advice }
    }

    /// Whether this process, or the machine at this moment, has too little of something. That tells nothing of what the kernel can do.
    #[must_use]
    pub fn is_shortage(&self) -> bool {
        matches!(self.errno, libc::EMFILE | libc::ENFILE | libc::ENOMEM)
    }

    pub(crate) fn request(subject: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { stage: Stage::Request, errno: 0, subject: subject.into(), advice: advice.into() }
    }

    pub(crate) fn path(what: &str, path: &Path, error: &std::io::Error) -> Self {
        let subject = format!("{what} `{}`", path.display());
        Self::kernel(Stage::Path, error.raw_os_error().unwrap_or(libc::EIO), subject)
    }

    /// The last error of the calling thread, for a call made in the supervisor.
    pub(crate) fn last(stage: Stage, subject: &str) -> Self {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        Self::kernel(stage, errno, subject)
    }
}

fn cause(errno: i32) -> String {
    if errno == 0 { String::new() } else { format!(": {}", std::io::Error::from_raw_os_error(errno)) }
}

fn sentence(advice: &str) -> String {
    if advice.is_empty() { String::new() } else { format!("; {advice}") }
}

/// What to change, by stage and errno. Sources: clone(2), user_namespaces(7), landlock(7), mount_setattr(2), the Ubuntu
/// 24.04 release notes on unprivileged user namespaces, proc(5).
fn advice(stage: Stage, errno: i32, subject: &str) -> &'static str {
    match (stage, errno) {
        (Stage::Clone, libc::EPERM | libc::EACCES) => {
            "user namespaces are not permitted here: on Debian set `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu \
             `sysctl kernel.apparmor_restrict_unprivileged_userns=0` (or give the program an AppArmor profile with \
             `userns,`); in a container, its seccomp profile must permit clone with CLONE_NEWUSER; a sandbox cannot be \
             started inside another sandbox"
        }
        (Stage::Clone, libc::ENOSPC | libc::EUSERS) => {
            "the limit of namespaces is reached: raise `sysctl user.max_user_namespaces` (0 switches them off) and its \
             siblings `user.max_*_namespaces`"
        }
        (Stage::Clone, libc::EINVAL) => {
            "the kernel was built without one of CONFIG_USER_NS, PID_NS, NET_NS, IPC_NS, UTS_NS, CGROUPS, or is older than 5.13"
        }
        (Stage::Bubblewrap, libc::ESTALE) => {
            "something was replaced while the sandbox was being built, or bubblewrap did not do what it was asked for; run it again"
        }
        (Stage::Clone, libc::EAGAIN) => "too many processes: raise `ulimit -u` or the cgroup's pids.max",
        (Stage::IdMap | Stage::Mount, libc::EPERM | libc::EACCES) => {
            "the new user namespace has no capabilities: on Ubuntu 24.04 and later set \
             `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or give the program an AppArmor profile with `userns,`; \
             under SELinux or a container's seccomp profile, permit mount(2)"
        }
        (Stage::Mount, libc::ENOSYS) => "Linux 5.13 or later is needed (mount_setattr, move_mount)",
        (Stage::Mount, libc::ELOOP) => {
            "a path changed into a symbolic link while the sandbox was being built; run it again"
        }
        (Stage::Mount, libc::ENOENT) => {
            "something was removed while the sandbox was being built, or moved; run it again"
        }
        (Stage::Proc, libc::EPERM | libc::EACCES) => {
            "a fresh /proc is refused because parts of the present one are hidden: in Docker start the container with \
             `--security-opt systempaths=unconfined`, in Kubernetes with `procMount: Unmasked`"
        }
        (Stage::Landlock, libc::ENOSYS) => {
            "Landlock is missing: Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK is needed"
        }
        (Stage::Landlock, libc::EOPNOTSUPP) => {
            "Landlock is compiled in but not started: add `landlock` to the `lsm=` kernel parameter"
        }
        (Stage::Landlock, libc::E2BIG) => {
            "too many nested Landlock domains (16): do not nest sandboxes this deep"
        }
        (Stage::Seccomp, libc::EBUSY) => {
            "another filter already notifies its supervisor: the exec gate cannot be used inside another sandbox that has one"
        }
        (Stage::Seccomp, libc::EINVAL | libc::ENOSYS) => "the kernel was built without CONFIG_SECCOMP_FILTER",
        (Stage::Init, libc::EACCES) => {
            "executable memory files are forbidden: set `sysctl vm.memfd_noexec` to 0 or 1"
        }
        (Stage::Execute, libc::ENOENT) => {
            "the program, or the interpreter it names, does not exist inside the sandbox"
        }
        (Stage::Execute, libc::EACCES) => {
            "the program is not executable, or is on a file system mounted noexec"
        }
        (Stage::Execute, libc::ENOEXEC) => {
            "the file is no program for this machine; a script needs a `#!` line"
        }
        (Stage::Execute, libc::E2BIG) => "the arguments and environment are too long for execve(2)",
        (Stage::Execute | Stage::Init, libc::ENOMEM) => "raise the address-space limit given to the sandbox",
        (Stage::Path | Stage::Cwd, libc::ENOENT) if subject.contains("working directory") => {
            "create the directory or choose another"
        }
        (Stage::IdMap, libc::ENOENT) => "/proc must be mounted",
        (_, libc::EMFILE | libc::ENFILE) => "too many open files: raise `ulimit -n`",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_fix() {
        for (stage, errno, needle) in [
            (Stage::Clone, libc::EPERM, "kernel.unprivileged_userns_clone"),
            (Stage::Clone, libc::EPERM, "apparmor_restrict_unprivileged_userns"),
            (Stage::Clone, libc::ENOSPC, "user.max_user_namespaces"),
            (Stage::Mount, libc::EACCES, "apparmor_restrict_unprivileged_userns"),
            (Stage::Mount, libc::ENOENT, "run it again"),
            (Stage::Landlock, libc::EOPNOTSUPP, "lsm="),
            (Stage::Landlock, libc::ENOSYS, "CONFIG_SECURITY_LANDLOCK"),
            (Stage::Proc, libc::EPERM, "systempaths=unconfined"),
            (Stage::Execute, libc::ENOENT, "does not exist"),
        ] {
            let message = SandboxError::kernel(stage, errno, "x").to_string();
            assert!(message.contains(needle), "{message}");
            assert!(message.contains(stage.name()), "{message}");
            assert!(message.contains("os error"), "{message}");
        }
    }

    #[test]
    fn a_refused_request_shows_no_errno() {
        let error = SandboxError::request("argument contains a NUL byte", "remove it");
        assert_eq!(error.to_string(), "sandbox: request: argument contains a NUL byte; remove it");
    }
}
