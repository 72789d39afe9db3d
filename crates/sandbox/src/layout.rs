//! What is seen where: the mount view as a map from path to what is mounted there.
//!
//! Its order is the order of mounting, because a parent sorts before what is inside it; what covers a path decides whether its
//! mount point exists or must be made. Deny wins where descriptions overlap: hidden over read-only over writable over private.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::confinement::Confinement;
use crate::elsewhere::Mounts;
use crate::error::SandboxError;
use crate::gap::Gap;
use crate::network::Network;
use crate::paths::{absolute, existing};
use crate::sockets;

/// What is mounted at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mounted {
    /// An empty directory in memory, with this mode.
    Private { mode: u32 },
    /// The host's tree, writable.
    Writable,
    /// The host's directory, writable, mounted on itself: a mount point cannot be renamed or removed.
    Pinned,
    /// The host's tree, not writable.
    ReadOnly,
    /// An empty directory that cannot be changed, with mount points for what lies in it.
    Empty,
    /// Something empty that cannot be changed, or not even be read.
    Hidden { readable: bool },
}

/// What shows, to root, the inside of the kernel and of every other process.
const KERNEL_INTERNALS: &[&str] = &[
    "/sys/firmware/efi/efivars",
    "/sys/fs/bpf",
    "/sys/fs/pstore",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
];

pub(crate) type Layout = BTreeMap<PathBuf, Mounted>;

/// What lies directly over a path.
pub(crate) fn cover(layout: &Layout, path: &Path) -> Option<(PathBuf, Mounted)> {
    path.ancestors().skip(1).find_map(|above| Some((above.to_owned(), *layout.get(above)?)))
}

/// All of a layout in its order, each with what lies directly over it, for which the map is not searched once for each directory above.
pub(crate) fn with_covers(layout: &Layout) -> impl Iterator<Item = (&PathBuf, Mounted, Cover<'_>)> {
    // What lies in a directory comes directly after it.
    let mut open: Vec<(&Path, Mounted)> = Vec::new();
    layout.iter().map(move |(path, mounted)| {
        let cover = within(&mut open, path);
        open.push((path, *mounted));
        (path, *mounted, cover)
    })
}

/// What lies directly over a path, if anything does.
pub(crate) type Cover<'l> = Option<(&'l Path, Mounted)>;

/// Leaves of these, each of which lies in the one before, those in which a path lies, and gives the last.
fn within<'l>(open: &mut Vec<(&'l Path, Mounted)>, path: &Path) -> Cover<'l> {
    while open.pop_if(|(above, _)| !path.starts_with(above)).is_some() {}
    open.last().copied()
}

/// Everything that is mounted, with what could not be given added to `gaps`.
pub(crate) fn layout(wanted: &Confinement, gaps: &mut Vec<Gap>) -> Result<Layout, SandboxError> {
    let mut layout = Layout::new();
    for path in &wanted.private {
        if let Some(found) = existing(path, "private directory")? {
            let mode = fs::metadata(&found).map_or(0o700, |data| data.mode() & 0o7777);
            layout.insert(found, Mounted::Private { mode });
        } else if cover(&layout, path).is_some() {
            layout.insert(path.clone(), Mounted::Private { mode: 0o700 });
        }
    }
    for path in &wanted.writable {
        absolute(path, "writable root")?;
        let found =
            fs::canonicalize(path).map_err(|error| SandboxError::path("writable root", path, &error))?;
        let system = ["/proc", "/sys", "/dev"].iter().any(|system| found.starts_with(system));
        if found == Path::new("/") || system && !found.starts_with("/dev/shm") {
            return Err(SandboxError::request(
                format!("`{}` cannot be a writable root", found.display()),
                "name the directory that the command works in",
            ));
        }
        let owner = fs::metadata(&found).map_or(0, |data| data.uid());
        // SAFETY: geteuid cannot fail and has no preconditions.
        if owner != 0 && unsafe { libc::geteuid() } == 0 {
            gaps.push(Gap::OwnedByAnother(found.clone()));
        }
        layout.insert(found, Mounted::Writable);
    }
    let writable: Vec<PathBuf> =
        layout.iter().filter(|(_, m)| **m == Mounted::Writable).map(|(path, _)| path.clone()).collect();
    for path in &wanted.read_only {
        protect(&mut layout, &writable, path, gaps)?;
    }
    if wanted.network == Network::Host {
        // Where names are resolved by a service, /etc/resolv.conf leads into /run.
        protect(&mut layout, &[], Path::new("/etc/resolv.conf"), gaps)?;
    }
    for path in &wanted.emptied {
        if let Some(found) = existing(path, "emptied directory")? {
            layout.entry(found).or_insert(Mounted::Empty);
        }
    }
    // What is to run, and where, is visible even where everything around it is private.
    for path in [&wanted.cwd, &wanted.program] {
        if let Some(found) = existing(path, "path")?
            && !layout.contains_key(&found)
            && matches!(cover(&layout, &found), Some((_, Mounted::Private { .. } | Mounted::Empty)))
        {
            layout.insert(found, Mounted::ReadOnly);
        }
    }
    let home =
        wanted.environment.iter().find(|(name, _)| name == "HOME").map(|(_, home)| PathBuf::from(home));
    let mounts = Mounts::read();
    let shown: Vec<PathBuf> = [&wanted.cwd, &wanted.program]
        .into_iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .chain(writable.iter().cloned())
        .collect();
    // What is private does not show anything, and in what is writable a run leaves sockets of its own.
    let own: Vec<PathBuf> = layout
        .iter()
        .filter(|(_, mounted)| matches!(mounted, Mounted::Private { .. } | Mounted::Writable))
        .map(|(path, _)| path.clone())
        .collect();
    let needless = |path: &Path| own.iter().any(|place| path.starts_with(place));
    let sockets = sockets::visible(home.as_deref(), &mounts, needless);
    let twice = mounts.twice();
    let straight: Vec<&PathBuf> = writable.iter().filter(|root| !wanted.is_overlaid(root)).collect();
    let hidden = wanted.hidden.iter().map(|path| (path, true));
    for (path, readable) in hidden.chain(wanted.unreadable.iter().map(|path| (path, false))) {
        let Some(found) = existing(path, "hidden path")? else { continue };
        if let Some(inside) = writable.iter().find(|root| root.starts_with(&found)) {
            return Err(SandboxError::request(
                format!(
                    "the writable root `{}` lies inside the hidden path `{}`",
                    inside.display(),
                    found.display()
                ),
                "hide what is in the directory instead of the directory",
            ));
        }
        // Where the directory in which it lies is mounted elsewhere, too, it has another name there.
        let others = twice.others(&found).into_iter();
        let others = others.filter(|other| !shown.iter().any(|path| path.starts_with(other)));
        for found in others.collect::<Vec<_>>().into_iter().chain([found]) {
            // A layer of its own renames no directory that was there before. Straight in a directory, one would take along what is
            // hidden in it, to where the next run may not look for it.
            let root = straight.iter().filter(|root| found.starts_with(root));
            if let Some(root) = root.max_by_key(|root| root.as_os_str().len()) {
                pin(&mut layout, root, &found);
            }
            layout.insert(found, Mounted::Hidden { readable });
        }
    }
    let internals = KERNEL_INTERNALS.iter().map(PathBuf::from).filter(|path| is_open(path));
    for path in sockets.into_iter().chain(internals) {
        layout.insert(path, Mounted::Hidden { readable: true });
    }
    let layout = without_the_invisible(layout);
    let file = with_covers(&layout)
        .find(|(path, _, cover)| matches!(cover, Some((_, Mounted::Empty))) && !path.is_dir());
    match file {
        None => Ok(layout),
        Some((file, ..)) => Err(SandboxError::request(
            format!("`{}` is no directory and lies in one that is emptied", file.display()),
            "give the directory that it lies in",
        )),
    }
}

/// Whether a directory can be listed or passed through. What this user cannot, the command, which has no rights beyond
/// this user's, cannot either.
fn is_open(directory: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let may = |access| accessat(CWD, directory, access, AtFlags::EACCESS).is_ok();
    may(Access::READ_OK) || may(Access::EXEC_OK)
}

/// Adds a read-only path where the layout would otherwise let it be changed, or not show it.
fn protect(
    layout: &mut Layout,
    writable: &[PathBuf],
    path: &Path,
    gaps: &mut Vec<Gap>,
) -> Result<(), SandboxError> {
    let in_writable = |path: &Path| writable.iter().any(|root| path.starts_with(root));
    let link = fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink());
    // The link itself lies where its parent directory really is.
    let place = path.parent().and_then(|parent| fs::canonicalize(parent).ok()).zip(path.file_name());
    let place = place.map_or_else(|| path.to_owned(), |(parent, name)| parent.join(name));
    if link && in_writable(&place) {
        gaps.push(Gap::ProtectedLink(path.to_owned()));
    }
    let Some(found) = existing(path, "read-only path")? else {
        if in_writable(&place) && !link {
            gaps.push(Gap::ProtectedMissing(path.to_owned()));
        }
        return Ok(());
    };
    let root = writable.iter().filter(|root| found.starts_with(root) && found != **root);
    if let Some(root) = root.max_by_key(|root| root.as_os_str().len()) {
        pin(layout, root, &found);
    }
    layout.insert(found, Mounted::ReadOnly);
    Ok(())
}

/// Keeps every directory between a writable root and what lies in it where it is.
fn pin(layout: &mut Layout, root: &Path, inside: &Path) {
    for between in inside.ancestors().skip(1).take_while(|above| *above != root) {
        layout.entry(between.to_owned()).or_insert(Mounted::Pinned);
    }
}

/// Drops what another entry makes pointless: anything inside something hidden, masks and pins of what a private directory does
/// not show anyway, and read-only entries where everything is read-only.
fn without_the_invisible(mut layout: Layout) -> Layout {
    // Those in which what comes next may lie: all that are kept, and the hidden ones.
    let (mut open, mut hidden) = (Vec::new(), Vec::new());
    let mut is_kept = Vec::with_capacity(layout.len());
    for (path, mounted) in &layout {
        let above = within(&mut open, path).map(|(_, above)| above);
        let invisible = within(&mut hidden, path).is_some();
        if matches!(mounted, Mounted::Hidden { .. }) && !invisible {
            hidden.push((path, *mounted));
        }
        let pointless = matches!(
            (above, mounted),
            (Some(Mounted::Private { .. }), Mounted::Hidden { .. } | Mounted::Pinned | Mounted::Empty)
                | (Some(Mounted::Empty), Mounted::Hidden { .. } | Mounted::Pinned | Mounted::Empty)
                | (None | Some(Mounted::ReadOnly), Mounted::ReadOnly | Mounted::Pinned)
        );
        let keeps = !invisible && !pointless;
        if keeps {
            open.push((path, *mounted));
        }
        is_kept.push(keeps);
    }
    let mut is_kept = is_kept.into_iter();
    layout.retain(|_, _| is_kept.next().unwrap_or(true));
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found on the way through is what a search for each finds.
    #[test]
    fn covers_are_those_that_a_search_finds() {
        let hidden = Mounted::Hidden { readable: true };
        let private = Mounted::Private { mode: 0o755 };
        let layout: Layout = [
            ("/", Mounted::Pinned),
            ("/a", private),
            ("/a-b", hidden),
            ("/a/b", Mounted::Writable),
            ("/a/b/c/d", hidden),
            ("/a/bc", Mounted::ReadOnly),
            ("/b/c", Mounted::Empty),
            ("/b/c/d", Mounted::Writable),
            ("/b/cd", private),
            ("/c", hidden),
        ]
        .map(|(path, mounted)| (PathBuf::from(path), mounted))
        .into();
        for without in layout.keys() {
            let some: Layout =
                layout.iter().filter(|(path, _)| *path != without).map(|(p, m)| (p.clone(), *m)).collect();
            for (path, mounted, found) in with_covers(&some) {
                assert_eq!(some.get(path), Some(&mounted));
                let searched = cover(&some, path);
                assert_eq!(found.map(|(above, mounted)| (above.to_owned(), mounted)), searched, "{path:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        let hidden = Mounted::Hidden { readable: true };
        let private = Mounted::Private { mode: 0o755 };
        let table = [
            ("/a", hidden, true),
            ("/a/b", hidden, false),
            ("/a/b/c", private, false),
            ("/a-b", private, true),
            ("/a-b/c", hidden, false),
            ("/a-b/c/d", Mounted::Writable, false),
            ("/a-b/d", Mounted::ReadOnly, true),
            ("/a-b/d/e", Mounted::ReadOnly, false),
            ("/a-b/d/f", hidden, true),
            ("/b", Mounted::ReadOnly, false),
            ("/c", Mounted::Empty, true),
            ("/c/d", Mounted::Pinned, false),
            ("/c/d/e", Mounted::Writable, true),
            ("/c/d/e/f", Mounted::Pinned, true),
        ];
        let layout = table.map(|(path, mounted, _)| (PathBuf::from(path), mounted)).into();
        let kept = without_the_invisible(layout);
        let kept: Vec<&Path> = kept.keys().map(PathBuf::as_path).collect();
        let mut expected: Vec<&Path> = table.iter().filter(|row| row.2).map(|row| Path::new(row.0)).collect();
        expected.sort();
        assert_eq!(kept, expected);
    }
}
