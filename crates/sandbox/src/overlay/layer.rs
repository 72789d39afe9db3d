//! What an overlay is mounted from.

use super::parts::{UPPER, WORK};
use super::spent::strip;
use super::tree::Tree;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The directories that an overlay is mounted from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub(super) store: PathBuf,
    pub(super) directory: PathBuf,
}

impl Layer {
    /// Where the changes go.
    #[must_use]
    pub fn upper(&self) -> PathBuf {
        self.directory.join(UPPER)
    }

    /// The directory that holds all layers, which no command may see.
    #[must_use]
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Removes what overlayfs has left where it was mounted and nothing ran: it takes a layer once. What fails shows when the
    /// layer is mounted.
    pub(crate) fn renew(&self) {
        let _ = Tree::open(&self.directory).map(|tree| strip(tree.handle()));
    }

    /// The options for mount(2), with the current directory as the lower layer.
    pub(crate) fn mount_options(&self) -> Result<CString, crate::SandboxError> {
        let mut text = b"lowerdir=.,upperdir=".to_vec();
        escape(&mut text, &self.upper());
        text.extend_from_slice(b",workdir=");
        escape(&mut text, &self.directory.join(WORK));
        text.extend_from_slice(b",userxattr,volatile");
        // mount(2): the data is one page at most.
        const LIMIT: usize = 4000;
        if text.len() > LIMIT {
            return Err(crate::SandboxError::request(
                format!("the path of the layer `{}` is too long to be mounted", self.directory.display()),
                "move the state directory to a shorter path",
            ));
        }
        crate::paths::c_string(OsStr::from_bytes(&text), "path of the layer")
    }
}

/// What separates options and layers is preceded by a backslash (overlayfs.rst).
fn escape(text: &mut Vec<u8>, path: &Path) {
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'\\' | b',' | b':') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_in_options_are_escaped() {
        let layer = Layer { store: "/s".into(), directory: "/s/a,b:c\\d".into() };
        let options = layer.mount_options().unwrap();
        assert!(
            options.to_str().unwrap().contains("upperdir=/s/a\\,b\\:c\\\\d/upper,workdir="),
            "{options:?}"
        );
        let long = Layer { store: "/s".into(), directory: PathBuf::from("/s").join("x".repeat(2100)) };
        assert!(long.mount_options().is_err());
    }
}
