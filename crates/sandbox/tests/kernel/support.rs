//! A workspace, a place outside of it, and a shell confined to the former.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use shward_sandbox::{Ahead, Confinement, Exit, Guarantee, Options, RunResult, probe, run};

/// Whether sandboxes can be built here; says loudly when not.
pub(crate) fn usable() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let probe = probe();
        if !probe.works() {
            eprintln!("SKIPPED: no sandbox can be built here, nothing is tested: {probe:#?}");
        }
        probe.works()
    })
}

/// Returns from a test where there is no sandbox.
macro_rules! need_sandbox {
    () => {
        if !crate::support::usable() {
            return;
        }
    };
}
pub(crate) use need_sandbox;

/// With this variable set bubblewrap makes the namespaces of every sandbox of these tests.
pub(crate) const THROUGH: &str = "SHWARD_TEST_THROUGH_BUBBLEWRAP";

/// Whether it is.
pub(crate) fn through_bubblewrap() -> bool {
    std::env::var_os(THROUGH).is_some()
}

/// A program confined, its namespaces made by us or, for all tests, by bubblewrap.
pub(crate) fn confinement(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Confinement {
    let confinement = Confinement::new(program, cwd);
    match through_bubblewrap() {
        true => confinement.without(&[Guarantee::OwnNamespaces]),
        false => confinement,
    }
}

/// A directory with `ws` (the workspace) and `out` (not to be touched).
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    pub(crate) fn below(parent: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .permissions(PermissionsExt::from_mode(0o755))
            .tempdir_in(parent)
            .unwrap();
        let place = Self { directory };
        for path in [place.workspace(), place.outside()] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(place.outside().join("victim.txt"), "victim\n").unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root().join("ws")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.root().join("out")
    }

    /// A shell script in the workspace, which is writable.
    pub(crate) fn shell(&self, script: &str) -> Confinement {
        confinement("/bin/bash", self.workspace())
            .arguments(["bash", "-c", script])
            .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
            .variable("WS", self.workspace())
            .variable("OUT", self.outside())
            .writable(self.workspace())
            .read_only(self.outside())
    }

    /// Runs a script and returns how it ended.
    pub(crate) fn run(&self, script: &str) -> RunResult {
        go(&self.shell(script))
    }
}

/// Every other time in namespaces that were made ahead: nothing else may differ.
pub(crate) fn go(confinement: &Confinement) -> RunResult {
    static TIMES: AtomicUsize = AtomicUsize::new(0);
    let mut options = Options::default();
    if TIMES.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        options.ahead = Ahead::start();
    }
    run(&confinement.prepare().unwrap(), options).unwrap()
}

pub(crate) fn stdout(result: &RunResult) -> String {
    result.stdout.to_text()
}

/// The script must succeed; what it printed.
pub(crate) fn succeed(confinement: &Confinement) -> String {
    let result = go(confinement);
    assert_eq!(result.exit, Exit::Exited(0), "{} {}", stdout(&result), result.stderr.to_text());
    stdout(&result)
}

/// Everything below a directory: type and mode, owner, modification time, content.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let data = fs::symlink_metadata(&path).unwrap();
        let content = if data.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        if data.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (data.mode(), data.uid(), data.mtime(), content));
    }
    found
}
