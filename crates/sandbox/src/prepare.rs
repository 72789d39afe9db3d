//! From description to plan: which operations, in which order, on which paths.

mod early;
mod open;
mod outside;
mod parts;
mod rights;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use self::early::private_name;
pub(crate) use self::early::{map_ids, mount_overlay, overlaid, scratch_options, take_device, usual_scratch};
use self::parts::{Emptied, environment, mask, only};
use crate::bubblewrap;
use crate::cgroup;
use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::gap::Gap;
use crate::gate::Listed;
use crate::guarantee::Guarantee;
use crate::kernel;
use crate::layout::{Layout, Mounted, cover, layout, with_covers};
use crate::network::{Network, PROXY_PORT};
use crate::operation::{Operation, Slot};
use crate::overlay::Layer;
use crate::paths::{absolute, c_string, directory};
use crate::plan::Plan;
use crate::script::{Assembler, compile};
use crate::sys::attribute;

/// Devices that work inside; all others are visible and cannot be opened.
pub(crate) const DEVICES: &[&CStr] =
    &[c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom"];

/// Links in `/run` by which whole systems are found (NixOS); they lead outside of `/run` and are made anew in the private one.
const SYSTEM_LINKS: &[&str] = &["/run/booted-system", "/run/current-system", "/run/opengl-driver"];

impl Confinement {
    /// Resolves every path and turns the description into the list of operations that enforces it.
    ///
    /// # Errors
    /// When a path that must exist does not, when the description contradicts itself, or when the kernel has no Landlock.
    pub fn prepare(&self) -> Result<Plan, SandboxError> {
        prepare(self)
    }
}

fn prepare(wanted: &Confinement) -> Result<Plan, SandboxError> {
    let program = absolute(&wanted.program, "program")?;
    let cwd = directory(&wanted.cwd)?;
    let mut gaps: Vec<Gap> = wanted.left_out.iter().copied().map(Gap::Accepted).collect();
    let group = cgroup::planned(wanted, &mut gaps)?;
    let pids_counted =
        group.iter().flat_map(|group| &group.files).any(|(controller, ..)| *controller == "pids");
    let mut builder = Builder { terminal: wanted.terminal, pids_counted, ..Builder::default() };
    let (mut only, mut outer) = (None, None);
    if wanted.open {
        builder.open(wanted, &cwd, group.is_some(), &mut gaps)?;
    } else if wanted.left_out.contains(&Guarantee::OwnNamespaces) {
        outer = Some(builder.outside(wanted, &cwd, &mut gaps)?);
    } else {
        only = builder.confined(wanted, &cwd, group.is_some(), &mut gaps)?;
    }
    let arguments =
        wanted.arguments.iter().map(|a| c_string(a, "argument")).collect::<Result<Vec<_>, _>>()?;
    let environment = environment(wanted)?;
    let entered = OsStr::from_bytes(cwd.to_bytes()).to_owned();
    let before = |assembler: &mut Assembler| {
        if let Some(outer) = &outer {
            bubblewrap::before(assembler, &outer.steps);
        }
    };
    let table = match (&wanted.script, &outer) {
        (Some(script), _) => Some(compile(script, Path::new(&entered), &environment.strings, before)?),
        (None, Some(outer)) => {
            Some(bubblewrap::table(&outer.steps, &program, &arguments, &environment.strings)?)
        }
        (None, None) => None,
    };
    // An empty name is what process 1 knows a script by.
    let (program, arguments) = match wanted.script {
        Some(_) => (CString::default(), vec![CString::default()]),
        None => (program, arguments),
    };
    Ok(Plan {
        operations: builder.operations,
        slots: builder.slots,
        clone_flags: if outer.is_some() { 0 } else { clone_flags(wanted, group.is_some()) },
        network: wanted.network,
        arguments: Plan::arguments(wanted.terminal, program, arguments),
        environment,
        script: wanted.script.clone(),
        table,
        gaps,
        group,
        terminal: wanted.terminal,
        gated: wanted.gated,
        only: only.map(|only| only.iter().map(|listed| listed.identity).collect()),
        outer,
    })
}

/// The namespaces, as flags of clone(2).
fn clone_flags(wanted: &Confinement, grouped: bool) -> i32 {
    if wanted.open {
        return open::clone_flags();
    }
    Guarantee::ALL
        .into_iter()
        .filter(|guarantee| !wanted.left_out.contains(guarantee))
        .filter(|guarantee| *guarantee != Guarantee::NetworkNamespace || wanted.network != Network::Host)
        // Made inside of the group, so that it begins there.
        .filter(|guarantee| *guarantee != Guarantee::CgroupNamespace || !grouped)
        .fold(0, |flags, guarantee| flags | guarantee.clone_flag())
}

/// Collects operations and hands out slots.
#[derive(Default)]
struct Builder {
    operations: Vec<Operation>,
    slots: usize,
    /// Nothing in writable and private directories may be executed.
    data_only: bool,
    /// There is a terminal, so that `/dev/tty` has a meaning.
    terminal: bool,
    /// A control group limits the number of processes.
    pids_counted: bool,
    /// Where the operation stands that attached a tree to a path last.
    attached: BTreeMap<CString, usize>,
    /// Namespaces and mounts are made by bubblewrap, and with them a `/dev` of its own.
    own_devices: bool,
    /// Which devices there are, once somebody has looked.
    present: OnceCell<Vec<&'static CStr>>,
}

impl Builder {
    fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    fn attach(&mut self, slot: Slot, path: CString) {
        self.attached.insert(path.clone(), self.operations.len());
        self.push(Operation::Attach { slot, path, kept: false });
    }

    /// Keeps what is attached to a path, so that nobody has to look it up once more.
    fn keep(&mut self, path: &CStr) -> Option<Slot> {
        match self.operations.get_mut(*self.attached.get(path)?) {
            Some(Operation::Attach { slot, kept, .. }) => {
                *kept = true;
                Some(*slot)
            }
            _ => None,
        }
    }

    fn take(&mut self, path: CString, attributes: u64) -> Slot {
        let slot = self.slot();
        self.push(Operation::TakeTree { path, attributes, slot });
        slot
    }

    /// Everything that confines a command. Returns the only programs that may be executed, if there is such a list.
    fn confined(
        &mut self,
        wanted: &Confinement,
        cwd: &CStr,
        grouped: bool,
        gaps: &mut Vec<Gap>,
    ) -> Result<Option<Vec<Listed>>, SandboxError> {
        let has = |guarantee| !wanted.left_out.contains(&guarantee);
        if matches!(wanted.network, Network::Loopback | Network::Proxied) && !has(Guarantee::NetworkNamespace)
        {
            return Err(SandboxError::request(
                "a loopback interface of its own needs the guarantee net-ns, which is missing here",
                "run without loopback, or mend it: `shward doctor` says how",
            ));
        }
        let layout = layout(wanted, gaps)?;
        let only = only(wanted, &layout)?;

        self.data_only = only.is_some();
        self.begin(grouped && has(Guarantee::CgroupNamespace));
        self.mounts(&layout, &wanted.overlays, wanted.limits.private_bytes)?;
        self.devices()?;
        if wanted.terminal {
            self.terminal()?;
        }
        if has(Guarantee::FreshProc) {
            self.proc(wanted, gaps)?;
        }
        if matches!(wanted.network, Network::Loopback | Network::Proxied) {
            self.push(Operation::RaiseLoopback);
        }
        if wanted.network == Network::Proxied {
            self.push(Operation::OfferProxy { port: PROXY_PORT });
        }
        self.push(Operation::ChangeDirectory { path: cwd.to_owned() });
        let ruleset = match has(Guarantee::Landlock) {
            true => Some(self.landlock_rules(&layout, wanted.network, only.as_deref())?),
            false if only.is_none() => None,
            false => {
                return Err(SandboxError::request(
                    "a list of the only programs needs the guarantee landlock, which is missing here",
                    "run without such a list, or mend it: `shward doctor` says how",
                ));
            }
        };
        self.limits(wanted);
        self.privileges(ruleset, wanted.network, wanted.gated);
        Ok(only)
    }

    fn begin(&mut self, grouped: bool) {
        self.push(Operation::DieWithSupervisor);
        if grouped {
            self.push(Operation::OwnControlGroups);
        }
        self.operations.extend([
            Operation::PlaceDescriptors,
            Operation::ResetSignals,
            Operation::BoundCapabilities,
            Operation::NewSession,
            map_ids(),
            Operation::IsolateMounts,
        ]);
    }

    fn mounts(
        &mut self,
        layout: &Layout,
        overlays: &[(PathBuf, Layer)],
        private_bytes: u64,
    ) -> Result<(), SandboxError> {
        let path_of = |path: &Path| c_string(path.as_os_str(), "path");

        // What will be sealed or covered is taken while the host's view is still whole. The rest is taken when it is attached,
        // so that thousands of protected files do not need thousands of descriptors at once.
        for (root, layer) in overlays {
            self.push(mount_overlay(&overlaid(root)?, layer)?);
        }
        let mut trees = BTreeMap::new();
        for (path, mounted, cover) in with_covers(layout) {
            let covered = matches!(cover, Some((_, Mounted::Private { .. } | Mounted::Empty)));
            if let Some(attributes) = self.tree_attributes(mounted)
                && (covered || mounted == Mounted::Writable)
            {
                trees.insert(path.clone(), self.take(path_of(path)?, attributes));
            }
        }
        let devices: Vec<(CString, Slot)> = self
            .present_devices()
            .to_vec()
            .into_iter()
            .map(|path| {
                let slot = self.slot();
                self.push(take_device(path, slot));
                (path.to_owned(), slot)
            })
            .collect();
        self.push(Operation::SealRoot { attributes: attribute::READ_ONLY | HARMLESS });

        // Any directory serves to mount the scratch file system: the first private one is covered again by its own part.
        let first = with_covers(layout)
            .find(|(_, mounted, cover)| matches!(mounted, Mounted::Private { .. }) && cover.is_none());
        let Some((base, ..)) = first else {
            return Err(SandboxError::request("there is no private directory", "the system needs a /tmp"));
        };
        let scratch = self.slot();
        self.push(Operation::MountScratch {
            path: path_of(base)?,
            options: scratch_options(private_bytes),
            slot: scratch,
        });
        self.masks(scratch, layout);

        let mut empty = Emptied::default();
        for (number, (path, mounted, above)) in with_covers(layout).enumerate() {
            let target = path_of(path)?;
            let in_private = above.filter(|(_, m)| matches!(m, Mounted::Private { .. }));
            match above {
                Some((top, Mounted::Private { .. })) => self.mount_point(top, path, mounted)?,
                Some((top, Mounted::Empty)) => empty.mount_point(self, scratch, top, path)?,
                _ => {}
            }
            match mounted {
                // Inside another private directory the new directory is enough.
                Mounted::Private { .. } if in_private.is_some() => {}
                Mounted::Private { mode } => {
                    let name = private_name(path, mode, number);
                    self.push(Operation::ScratchDirectory { scratch, name: name.clone(), mode });
                    // The rest it has from the file system that it is a part of.
                    self.attach_scratch(scratch, name, self.no_code(), target);
                }
                Mounted::Empty => {
                    let name = to_c(format!("{number}"));
                    self.push(Operation::ScratchDirectory { scratch, name: name.clone(), mode: 0o755 });
                    self.attach_scratch(scratch, name, attribute::READ_ONLY | attribute::NO_EXEC, target);
                    empty.is_made(path, number);
                }
                Mounted::Hidden { readable } => {
                    let name = mask(path.is_dir(), readable).to_owned();
                    self.attach_scratch(scratch, name, attribute::READ_ONLY | attribute::NO_EXEC, target);
                }
                Mounted::Writable | Mounted::Pinned | Mounted::ReadOnly => {
                    let slot = match (trees.get(path), self.tree_attributes(mounted)) {
                        (Some(slot), _) => *slot,
                        (None, Some(attributes)) => self.take(target.clone(), attributes),
                        (None, None) => continue,
                    };
                    self.attach(slot, target);
                }
            }
        }
        for (path, slot) in devices {
            self.attach(slot, path);
        }
        self.links(layout)
    }

    /// The attributes of a tree of the host that is attached again.
    fn tree_attributes(&self, mounted: Mounted) -> Option<u64> {
        match mounted {
            Mounted::Writable | Mounted::Pinned => Some(HARMLESS | self.no_code()),
            Mounted::ReadOnly => Some(HARMLESS | attribute::READ_ONLY),
            Mounted::Private { .. } | Mounted::Empty | Mounted::Hidden { .. } => None,
        }
    }

    fn no_code(&self) -> u64 {
        if self.data_only { attribute::NO_EXEC } else { 0 }
    }

    fn attach_scratch(&mut self, scratch: Slot, name: CString, attributes: u64, path: CString) {
        let slot = self.slot();
        self.push(Operation::TakeScratch { scratch, name, attributes, slot });
        self.attach(slot, path);
    }

    /// Makes what a mount inside a private directory needs: the directories from `top` down, and the last component.
    fn mount_point(&mut self, top: &Path, path: &Path, mounted: Mounted) -> Result<(), SandboxError> {
        let mut between: Vec<&Path> = path.ancestors().skip(1).take_while(|above| *above != top).collect();
        between.reverse();
        for directory in between {
            self.push(Operation::MakeDirectory {
                path: c_string(directory.as_os_str(), "path")?,
                mode: 0o755,
            });
        }
        let target = c_string(path.as_os_str(), "path")?;
        self.push(match mounted {
            Mounted::Private { mode } => Operation::MakeDirectory { path: target, mode },
            _ if path.is_dir() => Operation::MakeDirectory { path: target, mode: 0o755 },
            _ => Operation::MakeFile { path: target },
        });
        Ok(())
    }

    fn links(&mut self, layout: &Layout) -> Result<(), SandboxError> {
        for path in SYSTEM_LINKS {
            let path = Path::new(path);
            let private = matches!(cover(layout, path), Some((above, Mounted::Private { .. })) if Some(above.as_path()) == path.parent());
            if let Some(content) = private.then(|| fs::read_link(path).ok()).flatten() {
                self.push(Operation::MakeLink {
                    content: c_string(content.as_os_str(), "path")?,
                    path: c_string(path.as_os_str(), "path")?,
                });
            }
        }
        Ok(())
    }

    /// A terminal for the command, one of those.
    fn terminal(&mut self) -> Result<(), SandboxError> {
        if !Path::new("/dev/pts").is_dir() {
            return Err(SandboxError::request(
                "there is no place for a pseudo-terminal: this system has no /dev/pts",
                "mount devpts on it, or run without a terminal",
            ));
        }
        self.push(Operation::OpenTerminal);
        Ok(())
    }

    /// Pseudo-terminals of its own, if the host has any.
    fn devices(&mut self) -> Result<(), SandboxError> {
        if !Path::new("/dev/pts").is_dir() {
            return Ok(());
        }
        self.push(Operation::MountTerminals);
        if fs::symlink_metadata("/dev/ptmx").is_ok_and(|data| !data.is_symlink()) {
            let slot = self.take(c"/dev/pts/ptmx".to_owned(), attribute::NO_SUID | attribute::NO_EXEC);
            self.attach(slot, c"/dev/ptmx".to_owned());
        }
        Ok(())
    }

    fn proc(&mut self, wanted: &Confinement, gaps: &mut Vec<Gap>) -> Result<(), SandboxError> {
        self.push(Operation::MountProc);
        // SAFETY: cannot fail, no preconditions.
        let root = unsafe { libc::geteuid() } == 0;
        if let (true, Some(processes)) = (root, wanted.limits.processes) {
            if kernel::pid_limit_is_per_namespace() {
                self.push(Operation::LimitPids {
                    text: to_c(format!("{}", kernel::pid_max(processes))),
                    // The reserved ones are given out once, and would come on top.
                    skip: kernel::pids_can_be_skipped(),
                });
            } else if !self.pids_counted {
                gaps.push(Gap::ProcessLimit);
            }
        }
        self.push(Operation::SealProc);
        Ok(())
    }
}

/// Attributes that no program of the sandbox needs to be without.
const HARMLESS: u64 = attribute::NO_SUID | attribute::NO_DEV;

/// For text of our own that has no NUL.
fn to_c(text: String) -> CString {
    CString::new(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Stage;

    fn paths(plan: &Plan) -> Vec<String> {
        plan.operations
            .iter()
            .filter_map(|o| match o {
                Operation::Attach { path, .. } => Some(path.to_str().unwrap().to_owned()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn parents_are_mounted_before_what_is_inside() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(root.join(".env"), "").unwrap();
        let plan = Confinement::new("/bin/true", &root)
            .writable(&root)
            .read_only(root.join(".git/hooks"))
            .hidden(root.join(".env"))
            .prepare()
            .unwrap();
        let paths = paths(&plan);
        let at = |name: &str| paths.iter().position(|p| Path::new(p) == root.join(name)).unwrap();
        assert!(at("") < at(".git") && at(".git") < at(".git/hooks") && at("") < at(".env"));
        assert!(plan.gaps().is_empty());
    }

    #[test]
    fn gaps_are_named() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::write(root.join("real"), "").unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        let plan = Confinement::new("/bin/true", &root)
            .writable(&root)
            .read_only(root.join("link"))
            .read_only(root.join("missing"))
            .read_only("/nowhere/at/all")
            .prepare()
            .unwrap();
        assert_eq!(
            plan.gaps(),
            [Gap::ProtectedLink(root.join("link")), Gap::ProtectedMissing(root.join("missing"))]
        );
    }

    #[test]
    fn bad_requests_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let fine = || Confinement::new("/bin/true", &root);
        let table: Vec<(Confinement, Stage)> = vec![
            (Confinement::new("true", &root), Stage::Request),
            (Confinement::new("/bin/true", "relative"), Stage::Request),
            (Confinement::new("/bin/true", root.join("missing")), Stage::Path),
            (Confinement::new("/bin/true", "/etc/passwd"), Stage::Path),
            (fine().writable(root.join("missing")), Stage::Path),
            (fine().writable("/"), Stage::Request),
            (fine().writable("/dev"), Stage::Request),
            (fine().writable("/proc/self"), Stage::Request),
            (fine().writable(&root).hidden(&root), Stage::Request),
            (fine().writable(&root).hidden(root.parent().unwrap()), Stage::Request),
            (fine().arguments(["a\0b"]), Stage::Request),
            (fine().variable("A=B", "c"), Stage::Request),
            (fine().variable("", "c"), Stage::Request),
            (fine().variable("A", "c\0"), Stage::Request),
        ];
        for (confinement, stage) in table {
            let error = confinement.prepare().expect_err(&format!("{confinement:?}"));
            assert_eq!(error.stage, stage, "{error}");
        }
    }

    #[test]
    fn the_canonical_form_is_stable_and_tells_plans_apart() {
        let one = || Confinement::new("/bin/true", "/").variable("A", "1");
        let canonical = |c: Confinement| c.prepare().unwrap().canonical();
        assert_eq!(canonical(one()), canonical(one()));
        assert_ne!(canonical(one()), canonical(one().variable("B", "2")));
        assert_ne!(canonical(one()), canonical(one().network(Network::Host)));
        assert_ne!(canonical(one()), canonical(one().arguments(["true", "x"])));
        let shown = one().prepare().unwrap().to_string();
        assert!(shown.contains("environment: A") && !shown.contains("A=1"), "{shown}");
    }
}
