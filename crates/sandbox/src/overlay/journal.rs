//! The journal of a run: what is to be done, written and synchronised before any of it is done.
//!
//! After a commit the same file is the record from which an undo is made: each unit holds its step and the state of every file
//! that it brought into the workspace, so that what was changed since can be told from what was not.
//!
//! The file comes into being under its name with rename(2), so it is whole or not there. Numbers are 64 bits, little endian;
//! texts are a length and bytes, because a path is any bytes but NUL. The last bytes are a [seal](seal): what is not ours is not
//! carried out.

use super::error::OverlayError;
use super::seal::{self, Key};
use super::step::Step;
use super::tree::{Kind, Meta};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The first bytes of every journal, with the version of its format.
const MAGIC: &[u8] = b"shward overlay journal 2\n";

/// The same where something follows that older ones do not have.
const MAGIC_WITH_MEANINGS: &[u8] = b"shward overlay journal 3\n";

/// The last bytes.
const END: &[u8] = b"end of journal\n";

/// The state of a file that a unit brought into the workspace. The path is relative to the unit's own; empty for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) meta: Meta,
}

/// A step with what it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) step: Step,
    pub(crate) entries: Vec<Entry>,
}

/// A journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Journal {
    pub(crate) workspace: PathBuf,
    /// What was run, for the list.
    pub(crate) title: String,
    /// When, in milliseconds since 1970.
    pub(crate) time: u64,
    /// Bytes of what was there before and is kept.
    pub(crate) bytes: u64,
    pub(crate) units: Vec<Unit>,
    /// What some of the files mean that the units brought, by their path in the workspace.
    pub(crate) meanings: BTreeMap<PathBuf, [u8; 32]>,
}

impl Journal {
    /// Writes the file so that it survives a crash from when this returns.
    pub(crate) fn write(&self, directory: &Path, name: &str, key: Key) -> Result<(), OverlayError> {
        let (new, path) = (directory.join(format!("{name}.new")), directory.join(name));
        let sealed = || {
            let mut bytes = self.encode();
            bytes.extend_from_slice(&key.seal(directory, name, &bytes)?);
            Ok(bytes)
        };
        let written = sealed()
            .and_then(|bytes| {
                let mut file = File::create(&new)?;
                file.write_all(&bytes).and_then(|()| file.sync_all())
            })
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(directory)?.sync_all());
        written.map_err(|error| OverlayError::io(&path, error))
    }

    /// Reads the file; `None` when there is none. One that was not written with this key for this place is damaged.
    pub(crate) fn read(directory: &Path, name: &str, key: Key) -> Result<Option<Self>, OverlayError> {
        let path = directory.join(name);
        match fs::read(&path) {
            Ok(bytes) => {
                let ours = bytes.split_last_chunk::<{ seal::LENGTH }>().filter(|(content, seal)| {
                    key.seal(directory, name, content).is_ok_and(|own| own == **seal)
                });
                ours.and_then(|(content, _)| Self::decode(content))
                    .map(Some)
                    .ok_or(OverlayError::Damaged { path })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(OverlayError::io(&path, error)),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let magic = if self.meanings.is_empty() { MAGIC } else { MAGIC_WITH_MEANINGS };
        let mut out = Writer(magic.to_vec());
        out.path(&self.workspace);
        out.text(self.title.as_bytes());
        out.number(self.time);
        out.number(self.bytes);
        out.number(self.units.len() as u64);
        for Unit { step, entries } in &self.units {
            match step {
                Step::In { inside, path } => out.step(1, inside, path),
                Step::Out { inside, path } => out.step(2, inside, path),
                Step::Exchange { inside, path, inode } => {
                    out.step(3, inside, path);
                    out.number(*inode);
                }
                Step::Mode { path, before, after } => {
                    out.number(4);
                    out.path(path);
                    out.number(u64::from(*before));
                    out.number(u64::from(*after));
                }
            }
            out.number(entries.len() as u64);
            for Entry { path, meta } in entries {
                out.path(path);
                out.meta(meta);
            }
        }
        if !self.meanings.is_empty() {
            out.number(self.meanings.len() as u64);
        }
        for (path, meaning) in &self.meanings {
            out.path(path);
            out.0.extend_from_slice(meaning);
        }
        out.0.extend_from_slice(END);
        out.0
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_suffix(END)?;
        let (rest, has_meanings) = match bytes.strip_prefix(MAGIC_WITH_MEANINGS) {
            Some(rest) => (rest, true),
            None => (bytes.strip_prefix(MAGIC)?, false),
        };
        let mut input = Reader(rest);
        let workspace = input.path()?;
        let title = String::from_utf8_lossy(input.text()?).into_owned();
        let (time, bytes) = (input.number()?, input.number()?);
        let mut units = Vec::new();
        for _ in 0..input.number()? {
            let step = match input.number()? {
                1 => Step::In { inside: input.path()?, path: input.path()? },
                2 => Step::Out { inside: input.path()?, path: input.path()? },
                3 => Step::Exchange { inside: input.path()?, path: input.path()?, inode: input.number()? },
                4 => Step::Mode {
                    path: input.path()?,
                    before: u32::try_from(input.number()?).ok()?,
                    after: u32::try_from(input.number()?).ok()?,
                },
                _ => return None,
            };
            let mut entries = Vec::new();
            for _ in 0..input.number()? {
                entries.push(Entry { path: input.path()?, meta: input.meta()? });
            }
            units.push(Unit { step, entries });
        }
        let mut meanings = BTreeMap::new();
        for _ in 0..if has_meanings { input.number()? } else { 0 } {
            meanings.insert(input.path()?, input.digest()?);
        }
        input.0.is_empty().then_some(Self { workspace, title, time, bytes, units, meanings })
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text);
    }

    fn path(&mut self, path: &Path) {
        self.text(path.as_os_str().as_bytes());
    }

    fn step(&mut self, kind: u64, inside: &Path, path: &Path) {
        self.number(kind);
        self.path(inside);
        self.path(path);
    }

    fn meta(&mut self, meta: &Meta) {
        let kind = match meta.kind {
            Kind::File => 0,
            Kind::Directory => 1,
            Kind::Link => 2,
            Kind::Special => 3,
            Kind::Pipe => 4,
            Kind::Socket => 5,
        };
        let (seconds, nanoseconds) = meta.changed;
        for number in
            [kind, meta.inode, meta.size, u64::from(meta.mode), seconds.cast_unsigned(), nanoseconds]
        {
            self.number(number);
        }
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn digest(&mut self) -> Option<[u8; 32]> {
        let (digest, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*digest)
    }

    fn text(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    /// Only paths that stay inside are written, so only those are read.
    fn path(&mut self) -> Option<PathBuf> {
        let path = PathBuf::from(OsString::from_vec(self.text()?.to_vec()));
        let inside = path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
        inside.then_some(path)
    }

    fn meta(&mut self) -> Option<Meta> {
        let kind = match self.number()? {
            0 => Kind::File,
            1 => Kind::Directory,
            2 => Kind::Link,
            3 => Kind::Special,
            4 => Kind::Pipe,
            5 => Kind::Socket,
            _ => return None,
        };
        Some(Meta {
            kind,
            whiteout: false,
            inode: self.number()?,
            size: self.number()?,
            room: 0,
            mode: u32::try_from(self.number()?).ok()?,
            changed: (self.number()?.cast_signed(), self.number()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let meta = Meta {
            kind: Kind::Link,
            whiteout: false,
            inode: 7,
            size: 1 << 40,
            room: 0,
            mode: 0o755,
            changed: (-5, 999_999_999),
        };
        let inside = PathBuf::from(OsString::from_vec(b"upper/\xff a\n".to_vec()));
        let path = PathBuf::from("a/b");
        let steps = [
            Step::In { inside: inside.clone(), path: path.clone() },
            Step::Out { inside: inside.clone(), path: path.clone() },
            Step::Exchange { inside, path: path.clone(), inode: u64::MAX },
            Step::Mode { path, before: 0o700, after: 0o755 },
        ];
        let entry = Entry { path: PathBuf::new(), meta };
        let units = steps.map(|step| Unit { step, entries: vec![entry.clone(), entry.clone()] });
        let meanings = [("a/b".into(), [7; 32]), ("c".into(), [0; 32])].into();
        Journal {
            workspace: "/w".into(),
            title: "make".into(),
            time: 5,
            bytes: 9,
            units: units.to_vec(),
            meanings,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let [key, other] = ["state", "other"].map(|state| Key::of(&path.join(state)).unwrap());
        assert_eq!(Journal::read(path, "journal", key).unwrap(), None);
        journal().write(path, "journal", key).unwrap();
        assert_eq!(Journal::read(path, "journal", key).unwrap(), Some(journal()));
        let without = Journal { meanings: BTreeMap::new(), ..journal() };
        assert_eq!(Journal::decode(&without.encode()), Some(without.clone()));
        assert!(without.encode().starts_with(MAGIC) && journal().encode().starts_with(MAGIC_WITH_MEANINGS));
        assert!(matches!(Journal::read(path, "journal", other), Err(OverlayError::Damaged { .. })));
        fs::copy(path.join("journal"), path.join("undo")).unwrap();
        assert!(matches!(Journal::read(path, "undo", key), Err(OverlayError::Damaged { .. })));
    }

    #[test]
    fn what_is_damaged_is_not_believed() {
        let whole = journal().encode();
        for length in 0..whole.len() {
            assert_eq!(Journal::decode(&whole[..length]), None, "{length}");
        }
        for index in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[index] = damaged[index].wrapping_add(0x7f);
            let _ = Journal::decode(&damaged);
        }
        let outside = Journal { units: vec![], workspace: "/w/../etc".into(), ..journal() };
        assert_eq!(Journal::decode(&outside.encode()), None);
    }
}
