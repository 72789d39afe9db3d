//! How files are opened whose names came from others: never so that it waits, or that the reading itself does something.
//!
//! A pipe lets whoever opens it wait for a writer. The kernel's own file systems hold what stat(2) calls regular files and is none:
//! `/proc/kmsg` waits for the next message and takes it away from whoever else reads, and what is below `/proc/self` is about
//! this process and not about the command.

use rustix::fs::{fstat, fstatfs};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// What statfs(2) calls the file systems that hold no files: `f_type`, of which every machine has these 32 bits.
const WITHOUT_FILES: [u32; 17] = [
    0x0000_9fa0, // proc
    0x0027_e0eb, // cgroup
    0x0765_5821, // resctrl
    0x4249_4e4d, // binfmt_misc
    0x4341_5d53, // smackfs
    0x6165_676c, // pstore
    0x6265_6570, // configfs
    0x6265_6572, // sysfs
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x6573_5543, // fusectl
    0x6e73_6673, // nsfs
    0x7363_6673, // securityfs
    0x7472_6163, // tracefs
    0xcafe_4a11, // bpf
    0xde5e_81e4, // efivarfs
    0xf97c_ff8c, // selinuxfs
];

/// Opens a regular file to be read.
///
/// # Errors
/// It is none, lies where the kernel makes up what is read, or cannot be opened.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Looked at before it is opened, because opening a device can do something, and again afterwards, because it may have been
    // replaced.
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = without_waiting(path)?;
    if is_file(&file) { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Opens what has just been seen to be a regular file. Whatever it is by now, nobody waits for it.
pub(crate) fn without_waiting(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Whether what is open is a file that holds what is read from it.
pub(crate) fn is_file(opened: impl AsFd) -> bool {
    let regular = |found: rustix::fs::Stat| {
        rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::RegularFile
    };
    // The type differs between machines; no number takes more than 32 bits.
    let holds_files = |kind| !WITHOUT_FILES.iter().any(|known| i128::from(kind) as u32 == *known);
    fstat(&opened).is_ok_and(regular) && fstatfs(&opened).is_ok_and(|found| holds_files(found.f_type))
}

#[cfg(test)]
mod tests {
    use super::{is_file, open, without_waiting};
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::fs;
    use std::path::Path;

    #[test]
    fn only_what_holds_its_content_is_opened() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), "x").unwrap();
        fs::write(at("empty"), "").unwrap();
        mkfifoat(CWD, at("pipe"), Mode::from_raw_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("pipe", at("link")).unwrap();
        for name in ["file", "empty"] {
            assert!(open(&at(name)).is_ok(), "{name}");
        }
        let none = [at("pipe"), at("link"), at("missing"), place.path().to_owned()];
        let kernels = ["/proc/self/status", "/proc/cpuinfo", "/sys/kernel/notes", "/dev/null", "/dev/tty"];
        for path in none.iter().map(|path| path.as_path()).chain(kernels.map(Path::new)) {
            assert!(open(path).is_err(), "{}", path.display());
        }
        // What took a file's place since it was looked at.
        assert!(!is_file(without_waiting(&at("pipe")).unwrap()));
    }
}
