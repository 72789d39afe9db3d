//! What was found of policy files, kept for the next process.
//!
//! Whoever can write what is kept can write a policy. So it counts only where it says no more than its writer could say
//! anyway: it belongs to the owner of the policy file or to root, nobody else may write it or its directory, and it holds the
//! file's own text, which is read and compared each time. What is kept of the system's files therefore lies in a directory of
//! root's, and only a process of root's writes there; all else lies below the directory of our state, where what is trusted
//! lies as well. Both are protected places: a command that would change them is denied, and in the sandbox they are read-only.
//!
//! Nothing depends on it. What cannot be read, or is not about this very file and this very build, is made anew.

use crate::reading;
use shward_audit::Digest;
use shward_policy::{BadPolicy, Document, Layer, Source};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Shorter files are read in less time than it takes to look for what was kept of them.
const LEAST: usize = 1024;

/// Largest accepted file: a policy, what was made of it, and room.
const LARGEST: u64 = 64 << 20;

/// Of so many files something is kept at once. Two files of one number take turns.
const FILES: u8 = 64;

/// Where things are kept, and for whom.
#[derive(Debug)]
pub(super) struct Kept<'p> {
    /// What is kept of the system's files.
    pub(super) system: &'p Path,
    /// The directory of the user's state.
    pub(super) state: Option<&'p Path>,
    /// The user that this process acts for.
    pub(super) user: u32,
}

impl Kept<'_> {
    /// The document of a file that belongs to `owner`: what was kept of it, else what is read, which is then kept.
    ///
    /// # Errors
    /// The file is wrong.
    pub(super) fn document(&self, source: Source, owner: u32) -> Result<Document, BadPolicy> {
        let Some(place) = self.place(&source, owner) else { return Document::parse(source) };
        let number = Digest::of(source.name.as_bytes()).as_bytes().first().map_or(0, |byte| byte % FILES);
        let path = place.directory.join(format!("{number:02}"));
        let source = match read(&place.directory, &path, owner) {
            None => source,
            Some(bytes) => match Document::kept(source, bytes) {
                Ok(document) => return Ok(document),
                Err(source) => source,
            },
        };
        let document = Document::parse(source)?;
        if let Some(bytes) = document.keep().filter(|_| self.user == owner) {
            // It saves time and nothing else: where it cannot be written, files are read each time.
            let _ = write(&place, &path, &bytes);
        }
        Ok(document)
    }

    /// Where something may be kept of a file.
    fn place(&self, source: &Source, owner: u32) -> Option<Place> {
        if source.text.len() < LEAST {
            return None;
        }
        if source.layer == Layer::System {
            let directory = self.system.to_owned();
            return (!directory.as_os_str().is_empty()).then_some(Place { directory, modes: (0o755, 0o644) });
        }
        let directory = self.state?.join("compiled");
        (self.user == owner).then_some(Place { directory, modes: (0o700, 0o600) })
    }
}

/// A directory, and the modes of it and of its files.
struct Place {
    directory: PathBuf,
    modes: (u32, u32),
}

/// Whether nobody but this owner or root can have written it.
fn is_of(meta: &fs::Metadata, owner: u32) -> bool {
    (meta.uid() == owner || meta.uid() == 0) && meta.mode() & 0o022 == 0
}

fn read(directory: &Path, path: &Path, owner: u32) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(path).ok()?;
    // Looked at before it is opened, because opening a pipe waits, and again afterwards.
    if !meta.is_file() || !is_of(&fs::metadata(directory).ok()?, owner) {
        return None;
    }
    let file = reading::without_waiting(path).ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || !is_of(&meta, owner) || meta.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).ok()? + 1);
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whole, or not at all.
fn write(place: &Place, path: &Path, bytes: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(place.modes.0).create(&place.directory)?;
    let temporary = path.with_extension(std::process::id().to_string());
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(place.modes.1)
        .open(&temporary)
        .and_then(|mut out| out.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
