//! What git's index says (gitformat-index(5)).

use shward_sandbox::overlay::Content;
use std::path::Path;

/// An entry of an index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry<'i> {
    pub(crate) name: &'i [u8],
    mode: &'i [u8],
    /// The object's name, and flags.
    object: &'i [u8],
}

/// An index of version 2 or 3 with SHA-1, all of it in this one file: its entries, and what stands in it beside them and beside what git
/// keeps to be quick. `None` for what is not understood.
fn read(index: &[u8]) -> Option<(Vec<Entry<'_>>, Vec<&[u8]>)> {
    const MODE: usize = 24;
    const OBJECT: usize = 40;
    const FLAGS: usize = 60;
    const CHECKSUM: usize = 20;
    let number = |bytes: &[u8]| bytes.first_chunk().map(|four| u32::from_be_bytes(*four));
    let rest = index.strip_prefix(b"DIRC")?;
    let (version, count) = (number(rest)?, number(rest.get(4..)?)?);
    let mut rest = rest.get(8..).filter(|_| matches!(version, 2 | 3))?;
    let (mut entries, mut others) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let flags = u16::from_be_bytes(*rest.get(FLAGS..)?.first_chunk()?);
        let extended = flags & 0x4000 != 0;
        let start = FLAGS + 2 + if extended { 2 } else { 0 };
        let name = rest.get(start..)?.split(|byte| *byte == 0).next()?;
        let length = usize::from(flags & 0xfff);
        if length != name.len().min(0xfff) || extended && version == 2 {
            return None;
        }
        entries.push(Entry { name, mode: rest.get(MODE..MODE + 4)?, object: rest.get(OBJECT..start)? });
        // One to eight NULs.
        rest = rest.get((start + name.len() + 8) & !7..)?;
    }
    while rest.len() > CHECKSUM {
        let (signature, size) = (rest.get(..4)?, usize::try_from(number(rest.get(4..)?)?).ok()?);
        // A split or a sparse index, which have names elsewhere.
        if matches!(signature, b"link" | b"sdir") {
            return None;
        }
        let whole = rest.get(..size.checked_add(8)?)?;
        // Trees, files that are not tracked, a watcher's news, and where in the file what begins.
        if !matches!(signature, b"TREE" | b"UNTR" | b"FSMN" | b"EOIE" | b"IEOT") {
            others.push(whole);
        }
        rest = rest.get(whole.len()..)?;
    }
    (rest.len() == CHECKSUM).then_some((entries, others))
}

/// The entries of such an index; none if it is empty.
pub(crate) fn entries(index: &[u8]) -> Option<Vec<Entry<'_>>> {
    if index.is_empty() {
        return Some(Vec::new());
    }
    read(index).map(|(entries, _)| entries)
}

/// Whether git keeps an index there: of the work tree, of one more of them, or of a submodule.
fn is_index(path: &Path) -> bool {
    if path.file_name().is_none_or(|name| name != "index") {
        return false;
    }
    let mut parts = path.iter();
    while let Some(part) = parts.next() {
        if part != ".git" {
            continue;
        }
        let mut within = parts.clone();
        match [within.next(), within.next(), within.next(), within.next()] {
            [Some(_), None, ..] => return true,
            [Some(first), Some(_), Some(_), None] if first == "worktrees" => return true,
            [Some(first), Some(_), Some(_), _] if first == "modules" => return true,
            _ => {}
        }
    }
    false
}

/// What a file means where git writes it anew unasked: an index, which `git status` brings up to date in what it keeps of the times and
/// inodes of files, as the prompts of shells and editors have it do all the time.
pub(crate) fn meaning(path: &Path, content: Content<'_>) -> Option<Vec<u8>> {
    if !is_index(path) {
        return None;
    }
    let index = content()?;
    let (entries, others) = read(&index)?;
    let mut meaning = Vec::new();
    let mut add = |part: &[u8]| {
        meaning.extend_from_slice(&(part.len() as u64).to_le_bytes());
        meaning.extend_from_slice(part);
    };
    for Entry { name, mode, object } in entries {
        [name, mode, object].into_iter().for_each(&mut add);
    }
    add(b"");
    others.into_iter().for_each(add);
    Some(meaning)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a panic is how a test fails")]

    use super::meaning;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn what_git_keeps_to_be_quick_is_not_what_it_means() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(words).current_dir(root).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", root);
            git.output().unwrap().status.success()
        };
        if !git(&["init", "-q"]) {
            println!("skipped: no git");
            return;
        }
        let index = || fs::read(root.join(".git/index")).unwrap();
        let of = |bytes: &[u8]| meaning(Path::new("a/.git/index"), &|| Some(bytes.to_vec()));
        for name in ["a", "b"] {
            fs::write(root.join(name), "x").unwrap();
        }
        assert!(git(&["add", "a", "b"]));
        let bytes = index();
        let mut seen = vec![of(&bytes).unwrap()];
        // The same content at another time, and in another file.
        fs::copy(root.join("a"), root.join("c")).unwrap();
        fs::rename(root.join("c"), root.join("a")).unwrap();
        assert!(git(&["status"]));
        assert_ne!(index(), bytes);
        assert_eq!(of(&index()), of(&bytes));
        for words in [
            &["rm", "-q", "--cached", "b"][..],
            &["update-index", "--chmod=+x", "a"],
            &["update-index", "--skip-worktree", "a"],
            &["add", "-N", "b"],
        ] {
            assert!(git(words), "{words:?}");
            let now = of(&index()).unwrap();
            assert!(!seen.contains(&now), "{words:?}");
            seen.push(now);
        }
        let whole = index();
        for cut in 0..whole.len() {
            assert_eq!(of(whole.get(..cut).unwrap()), None, "{cut}");
        }
        for path in ["a/.git/.git/index", ".git/worktrees/w/index", ".git/modules/a/b/index"] {
            assert!(meaning(Path::new(path), &|| Some(whole.clone())).is_some(), "{path}");
        }
        for path in [
            "index",
            "a/index",
            ".git/HEAD",
            "x.git/index",
            "x/.git/d1/index",
            ".git/d/d/index",
            ".git/worktrees/index",
            ".git/modules/index",
        ] {
            assert_eq!(meaning(Path::new(path), &|| Some(whole.clone())), None, "{path}");
        }
        assert_eq!(meaning(Path::new(".git/index"), &|| None), None);
        assert!(git(&["update-index", "--index-version", "4"]));
        assert_eq!(of(&index()), None);
    }
}
