//! Names of the files that make up one log.
//!
//! `NAME` is the file being written. When it is full it becomes `NAME.000000004711`, where the number is the last
//! sequence number in it; so the names sort in the order of the chain and no two are alike.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Enough for a record per microsecond for 11 days; longer numbers are accepted and still sort right.
const DIGITS: usize = 12;

/// The name that the log at `path` gets when its last record has the number `last_seq`.
pub(crate) fn rotated_name(path: &Path, last_seq: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{last_seq:0DIGITS$}"));
    PathBuf::from(name)
}

/// The directory that holds the log.
pub(crate) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The rotated files of the log at `path`, oldest first.
///
/// # Errors
///
/// The directory cannot be read. A directory that does not exist holds no files.
pub fn rotated_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory(path)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut prefix = path.file_name().unwrap_or_default().as_bytes().to_vec();
    prefix.push(b'.');
    let mut numbered = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        if let Some(last_seq) = name.as_bytes().strip_prefix(prefix.as_slice()).and_then(number) {
            numbered.push((last_seq, directory(path).join(OsString::from_vec(name.as_bytes().to_vec()))));
        }
    }
    numbered.sort();
    Ok(numbered.into_iter().map(|(_, path)| path).collect())
}

fn number(suffix: &[u8]) -> Option<u64> {
    let all_digits = suffix.len() >= DIGITS && suffix.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(suffix).ok().filter(|_| all_digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_files_are_found_in_the_order_of_the_chain() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("a.jsonl");
        let expected: Vec<PathBuf> =
            [9, 10, 999_999_999_999, 1_000_000_000_000].map(|seq| rotated_name(&log, seq)).into();
        for path in expected.iter().rev() {
            fs::write(path, "").unwrap();
        }
        for other in ["a.jsonl", "a.jsonl.bak", "a.jsonl.12", "a.jsonl.00000000001x", "b.jsonl.000000000001"]
        {
            fs::write(directory.path().join(other), "").unwrap();
        }
        assert_eq!(rotated_files(&log).unwrap(), expected);
        assert!(rotated_files(&directory.path().join("none/a.jsonl")).unwrap().is_empty());
    }
}
