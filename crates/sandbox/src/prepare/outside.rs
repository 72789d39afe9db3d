//! A sandbox whose namespaces and mounts bubblewrap makes: what is asked of it, and what is done inside.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{Builder, SYSTEM_LINKS, to_c};
use crate::bubblewrap::{self, Found, Outer, Step, number};
use crate::confinement::Confinement;
use crate::error::{SandboxError, Stage};
use crate::gap::Gap;
use crate::gate::Identity;
use crate::layout::{Layout, Mounted, cover, layout};
use crate::network::{Network, PROXY_PORT};
use crate::operation::Operation;
use crate::paths::c_string;
use crate::sys::attribute;

/// What statfs(2) calls a kind: file systems in memory, and proc.
const MEMORY: u32 = 0x0102_1994;
const PROC: u32 = 0x9fa0;

/// Mount flags, as statfs(2) gives them; they are those of mount(2).
const SEALED: u32 = (attribute::READ_ONLY | attribute::NO_SUID | attribute::NO_DEV) as u32;
const HARMLESS: u32 = (attribute::NO_SUID | attribute::NO_DEV) as u32;

impl Builder {
    /// Everything, or what cannot be had that way.
    pub(super) fn outside(
        &mut self,
        wanted: &Confinement,
        cwd: &CStr,
        gaps: &mut Vec<Gap>,
    ) -> Result<Outer, SandboxError> {
        let asked = [
            (!wanted.overlays.is_empty(), "writes to a layer"),
            (wanted.terminal, "has a terminal of its own"),
            (!wanted.only.is_empty(), "has a list of the only programs"),
            (!wanted.emptied.is_empty(), "does not see all directories"),
        ];
        if let Some((_, what)) = asked.into_iter().find(|(asked, _)| *asked) {
            return Err(SandboxError::request(
                format!("a run for which bubblewrap makes the namespaces and that {what}"),
                "run it without, or mend what keeps shward from making namespaces: `shward doctor` says how",
            ));
        }
        let program = bubblewrap::find().map_err(|why| SandboxError {
            stage: Stage::Bubblewrap,
            errno: 0,
            subject: why,
            advice: "install bubblewrap from the distribution".to_owned(),
        })?;
        // SAFETY: cannot fail, no preconditions.
        if unsafe { libc::geteuid() } == 0 && wanted.limits.processes.is_some() && !self.pids_counted {
            gaps.push(Gap::ProcessLimit);
        }
        let layout = layout(wanted, gaps)?;
        self.own_devices = true;
        if wanted.network == Network::Proxied {
            self.push(Operation::OfferProxy { port: PROXY_PORT });
        }
        self.push(Operation::ChangeDirectory { path: cwd.to_owned() });
        let ruleset = self.landlock_rules(&layout, wanted.network, None)?;
        self.limits(wanted);
        self.privileges(Some(ruleset), wanted.network, wanted.gated);

        let mut steps = confirmed(&layout, wanted.network)?;
        let inside = self.operations.drain(..).filter(|o| *o != Operation::DropCapabilities);
        steps.extend(inside.map(attainable).map(Step::Operation));
        // Not to die with us: it would leave a child of its own behind that waits for it. It does once it has let that go on.
        self.operations.extend([Operation::ResetSignals, Operation::NewSession, Operation::PlaceDescriptors]);
        let (arguments, empty) = arguments(&layout, wanted)?;
        let program = c_string(program.as_os_str(), "path")?;
        Ok(Outer { program, arguments, empty, steps })
    }
}

/// A limit above what we may have ourselves is refused by setrlimit(2), and inside nobody can compare.
fn attainable(operation: Operation) -> Operation {
    let Operation::Limit { resource, name, value } = operation else { return operation };
    let mut own = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the struct is written to. Without an answer the limit stays as it is, and fails inside if it is too high.
    unsafe { libc::getrlimit(resource as _, &raw mut own) };
    Operation::Limit { resource, name, value: value.min(own.rlim_max) }
}

/// bubblewrap's arguments, and how many empty files they need.
fn arguments(layout: &Layout, wanted: &Confinement) -> Result<(Vec<CString>, usize), SandboxError> {
    let mut list: Vec<CString> = Vec::new();
    let mut push = |words: &[&CStr]| list.extend(words.iter().map(|word| (*word).to_owned()));
    push(&[c"--unshare-user", c"--unshare-pid", c"--unshare-ipc", c"--unshare-uts", c"--unshare-cgroup"]);
    if wanted.network != Network::Host {
        push(&[c"--unshare-net"]);
    }
    push(&[c"--die-with-parent", c"--new-session", c"--as-pid-1", c"--cap-drop", c"ALL"]);
    push(&[c"--ro-bind", c"/", c"/", c"--dev", c"/dev", c"--proc", c"/proc"]);

    let private = |path: &Path| matches!(cover(layout, path), Some((_, Mounted::Private { .. })));
    let shares =
        layout.iter().filter(|(path, m)| matches!(m, Mounted::Private { .. }) && !private(path)).count();
    // Each is a file system of its own; together they hold what the limit says.
    let share = to_c(format!("{}", (wanted.limits.private_bytes / shares.max(1) as u64).max(1)));
    let mut empty = 0;
    for (path, mounted) in layout {
        let target = c_string(path.as_os_str(), "path")?;
        match mounted {
            Mounted::Private { mode } => {
                let mode = to_c(format!("{mode:04o}"));
                push(&[c"--perms", &mode]);
                match private(path) {
                    true => push(&[c"--dir", &target]),
                    false => push(&[c"--size", &share, c"--tmpfs", &target]),
                }
            }
            Mounted::Writable | Mounted::Pinned => push(&[c"--bind", &target, &target]),
            Mounted::ReadOnly => push(&[c"--ro-bind", &target, &target]),
            // There is none, as said above.
            Mounted::Empty => {}
            Mounted::Hidden { readable } if path.is_dir() => {
                let mode = if *readable { c"0555" } else { c"0000" };
                push(&[c"--perms", mode, c"--tmpfs", &target, c"--remount-ro", &target]);
            }
            Mounted::Hidden { readable } => {
                let mode = if *readable { c"0444" } else { c"0000" };
                let fd = to_c(format!("{}", number::EMPTY.saturating_add(empty)));
                push(&[c"--perms", mode, c"--ro-bind-data", &fd, &target]);
                empty = empty.saturating_add(1);
            }
        }
    }
    for link in SYSTEM_LINKS.iter().map(Path::new) {
        let covered = matches!(cover(layout, link), Some((above, Mounted::Private { .. })) if Some(above.as_path()) == link.parent());
        if let Some(content) = covered.then(|| fs::read_link(link).ok()).flatten() {
            let (content, link) =
                (c_string(content.as_os_str(), "path")?, c_string(link.as_os_str(), "path")?);
            push(&[c"--symlink", &content, &link]);
        }
    }
    push(&[c"--remount-ro", c"/dev", c"--remount-ro", c"/proc"]);
    Ok((list, usize::try_from(empty).unwrap_or(0)))
}

/// What process 1 looks at before it believes that it is confined.
fn confirmed(layout: &Layout, network: Network) -> Result<Vec<Step>, SandboxError> {
    let mut steps = vec![Step::First];
    let host = (network == Network::Host).then_some("net");
    for name in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"].into_iter().filter(|n| Some(*n) != host)
    {
        let path = format!("/proc/self/ns/{name}");
        let ours = fs::metadata(&path)
            .map_err(|error| SandboxError::path("namespace", Path::new(&path), &error))?
            .ino();
        // The numbers of namespaces have 32 bits.
        steps.push(Step::Namespace { name, path: to_c(path), ours: ours as u32 });
    }
    steps.push(Step::Powerless { last: last_capability() });
    for (path, kind) in [(c"/", None), (c"/dev", Some(MEMORY)), (c"/proc", Some(PROC))] {
        steps.push(Step::Seen { path: path.to_owned(), found: Found::Any, kind, flags: SEALED });
    }
    for (path, mounted) in layout {
        let outside = || Identity::of(path);
        let same = || match outside() {
            Ok(identity) => Ok(Found::Same(identity)),
            Err(error) => Err(SandboxError::path("path", path, &error)),
        };
        let other = || outside().map_or(Found::Any, Found::Other);
        let (found, kind, flags) = match mounted {
            Mounted::Private { .. } => (other(), Some(MEMORY), HARMLESS),
            Mounted::Empty | Mounted::Hidden { .. } => (other(), Some(MEMORY), SEALED),
            Mounted::Writable | Mounted::Pinned => (same()?, None, HARMLESS),
            Mounted::ReadOnly => (same()?, None, SEALED),
        };
        let path = c_string(path.as_os_str(), "path")?;
        steps.push(Step::Seen { path, found, kind, flags });
    }
    Ok(steps)
}

/// The last capability that this kernel knows (capabilities(7)).
fn last_capability() -> u64 {
    const MOST: u64 = 63;
    let known = |capability: &u64| {
        // SAFETY: takes numbers.
        unsafe { libc::prctl(libc::PR_CAPBSET_READ, *capability, 0, 0, 0) >= 0 }
    };
    (0..=MOST).take_while(known).last().unwrap_or(MOST)
}
