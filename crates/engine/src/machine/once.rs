//! The machine as one judgement sees it: what was looked up is not looked up again.
//!
//! A command names the same few places again and again, and all of them lie below the same directories. So it is kept which
//! directories are reached without a link, and where programs were found. Nothing is kept longer than one judgement takes:
//! whoever judges again looks again.

use super::{Led, Machine};
use crate::paths::{is_plain, without_links};
use rustix::fs::{CWD, readlinkat_raw};
use rustix::io::Errno;
use shward_analysis::{Entries, FileKind, World};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;

/// Longest path that is kept, in bytes: what is kept of a path grows with the square of its length.
const LONGEST: usize = 512;

/// So many paths and programs are kept.
const MOST: usize = 4096;

/// From so many names on, one call that follows no link is cheaper than one for each name.
const AT_ONCE: usize = 3;

/// A machine during one judgement.
#[derive(Debug)]
pub(crate) struct Once<'m> {
    machine: &'m Machine,
    /// Absolute paths that are there, without a link in them.
    straight: RefCell<BTreeSet<Vec<u8>>>,
    programs: RefCell<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

/// What is known of a path.
enum Way {
    /// No link is on it. What is not there does not lead elsewhere either.
    Straight,
    /// A link is on it, or it is not written in the one form that names say by themselves.
    Crooked,
}

impl<'m> Once<'m> {
    pub(crate) fn new(machine: &'m Machine) -> Self {
        Self { machine, straight: RefCell::default(), programs: RefCell::default() }
    }

    fn way(&self, path: &[u8]) -> Way {
        if !is_plain(path) {
            return Way::Crooked;
        }
        let mut straight = self.straight.borrow_mut();
        let ends =
            |from: usize| (from..=path.len()).filter(|end| matches!(path.get(*end), None | Some(b'/')));
        let prefix = |end: usize| path.get(..end).unwrap_or(path);
        // The names before the longest prefix that is known need no look.
        let known = (1..=path.len())
            .rev()
            .filter(|end| matches!(path.get(*end), None | Some(b'/')))
            .find(|end| straight.contains(prefix(*end)))
            .unwrap_or(0);
        let mut keep = |end: usize| {
            if end <= LONGEST && straight.len() < MOST {
                straight.insert(prefix(end).to_vec());
            }
        };
        if ends(known + 1).count() >= AT_ONCE && is_straight(path) {
            ends(known + 1).for_each(keep);
            return Way::Straight;
        }
        for end in ends(known + 1) {
            match readlinkat_raw(CWD, prefix(end), &mut [MaybeUninit::uninit(); 1]) {
                Ok(_) => return Way::Crooked,
                // It is there, and no link.
                Err(Errno::INVAL) => keep(end),
                Err(_) => return Way::Straight,
            }
        }
        Way::Straight
    }
}

/// Whether the kernel finds something at an absolute path without following a link.
fn is_straight(path: &[u8]) -> bool {
    without_links(path).is_ok()
}

impl World for Once<'_> {
    fn variable(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        self.machine.variable(name)
    }

    fn own(&self) -> &[Vec<u8>] {
        self.machine.own()
    }

    fn guarded(&self) -> &[Vec<u8>] {
        self.machine.guarded()
    }

    fn led(&self) -> &[Led] {
        self.machine.led()
    }

    fn canonical(&self, path: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self.way(path) {
            Way::Straight => Some(Cow::Owned(path.to_vec())),
            Way::Crooked => self.machine.canonical(path),
        }
    }

    fn kind(&self, path: &[u8]) -> FileKind {
        self.machine.kind(path)
    }

    fn executable(&self, path: &[u8]) -> Option<bool> {
        self.machine.executable(path)
    }

    fn entries(&self, directory: &[u8], most: usize) -> Entries {
        self.machine.entries(directory, most)
    }

    fn program(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        if let Some(known) = self.programs.borrow().get(name) {
            return Some(known.clone().map(Cow::Owned));
        }
        let found = self.machine.program(name)?;
        let mut programs = self.programs.borrow_mut();
        if name.len() <= LONGEST && programs.len() < MOST {
            programs.insert(name.to_vec(), found.as_deref().map(<[u8]>::to_vec));
        }
        Some(found)
    }

    fn content(&self, path: &[u8], limit: usize) -> Option<Cow<'_, [u8]>> {
        self.machine.content(path, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::canonical;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    /// Whatever was asked before, the answers are those of the machine itself.
    #[test]
    fn every_path_leads_where_the_machine_says() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/c/d")).unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        symlink("b", root.join("a/link")).unwrap();
        symlink("../nowhere/at/all", root.join("a/b/dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("/", root.join("a/b/c/root")).unwrap();
        let names = [
            "",
            "a",
            "a/b",
            "a/b/c/d",
            "a/b/c/d/e/f",
            "a/file",
            "a/file/x/y",
            "a/link",
            "a/link/c/d",
            "a/link/new",
            "a/b/dangling",
            "a/b/dangling/x",
            "loop",
            "loop/x",
            "a/../a/link",
            "a/./b",
            "a//b",
            "a/b/",
            "a/file/",
            "a/b/c/root/etc",
            "none/at/all",
            "a/b/c/root",
            "a/b/../link/..",
            "none/../a/link",
        ];
        let machine = Machine::of_others();
        let paths: Vec<Vec<u8>> =
            names.iter().map(|name| [root.as_os_str().as_bytes(), b"/", name.as_bytes()].concat()).collect();
        for order in [false, true] {
            let once = Once::new(&machine);
            for _ in 0..2 {
                let mut paths = paths.clone();
                if order {
                    paths.reverse();
                }
                for path in paths {
                    let shown = String::from_utf8_lossy(&path).into_owned();
                    assert_eq!(once.canonical(&path), machine.canonical(&path), "{shown}");
                }
            }
        }
        for path in
            [b"/".as_slice(), b"", b"relative/path", b"/proc/self/exe", b"//", b"/bin/sh", b"/etc/mtab"]
        {
            let once = Once::new(&machine);
            assert_eq!(once.canonical(path), machine.canonical(path), "{path:?}");
        }
        for name in ["a/b/c/d", "a/link/c", "a/b/", "a/../a/link", "loop", "none"] {
            let path = root.join(name);
            let (ours, theirs) = (canonical(&path), path.canonicalize());
            assert_eq!(ours.ok().map(Cow::into_owned), theirs.ok(), "{name}");
        }
    }

    #[test]
    fn a_program_is_looked_for_once() {
        let scratch = tempfile::tempdir().unwrap();
        let bin = scratch.path().canonicalize().unwrap();
        let environment = vec![(b"PATH".to_vec(), bin.as_os_str().as_bytes().to_vec())];
        let machine = Machine::ours(&environment);
        let once = Once::new(&machine);
        assert_eq!(once.program(b"tool"), Some(None));
        let file = bin.join("tool");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(once.program(b"tool"), Some(None), "during one judgement the machine stands still");
        assert!(Once::new(&machine).program(b"tool").is_some_and(|found| found.is_some()));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let machine = Machine::of_others();
        let once = Once::new(&machine);
        for number in 0..2 * MOST {
            once.program(format!("no-such-{number}").as_bytes());
        }
        assert!(once.programs.borrow().len() <= MOST);
        once.way(&[b"/x".repeat(LONGEST)].concat());
        assert!(once.straight.borrow().iter().all(|path| path.len() <= LONGEST));
    }
}
