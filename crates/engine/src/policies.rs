//! Where policies lie on this machine: which files make up the policy for a request, and which of them are believed.
//!
//! Files of the system belong to root, files of the user to the user; a file that others may write is refused, and nothing
//! is decided without it. A project's file may only tighten until a person has trusted it as it stands.

mod kept;

use crate::account::{Account, is_missing, user};
use crate::paths::canonical;
use crate::reading;
use crate::trust::Trust;
use kept::Kept;
use rustix::fs::lstat;
use rustix::io::Errno;
use shward_policy::{BadPolicy, Document, Layer, Policy, Source, file, import};
use std::borrow::Cow;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Why there is no policy. Nothing may be decided without one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A file is wrong.
    #[error("{0}")]
    Bad(#[from] BadPolicy),
    /// A file is not believed.
    #[error("the policy {path:?} is refused: {why}")]
    Refused {
        /// The file or directory.
        path: PathBuf,
        /// Why, and what would mend it.
        why: &'static str,
    },
    /// The operator has named a file that is not there.
    #[error(
        "the policy {path:?} cannot be read: there is no such file; name another, or write one: shward init {path:?}"
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("the policy {path:?} cannot be read: {error}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Where the layers of a policy lie.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyPlaces {
    /// The directory of the system's files.
    pub system: PathBuf,
    /// Where it is kept what was found of the system's files; empty for nowhere. Only root's processes write there.
    pub system_kept: PathBuf,
    /// The user's file.
    pub user: Option<PathBuf>,
    /// A file in the user's stead that the environment names. It only tightens.
    pub named: Option<PathBuf>,
    /// The directory of shward's state, with what is trusted.
    pub state: Option<PathBuf>,
    /// The directory that is worked in: the project's file is looked for there, and upward to the repository's root.
    pub workspace: Option<PathBuf>,
    /// A file named by the operator.
    pub explicit: Option<PathBuf>,
    /// The file named by the operator counts as one more of the system's files, to be tried before it lies there.
    pub explicit_is_system: bool,
    /// A profile named by the operator.
    pub profile: Option<String>,
    /// Settings of the environment, as names and values. They can only tighten.
    pub environment: Vec<(String, String)>,
}

/// The name of a project's file.
pub const PROJECT_FILE: &str = ".shward.toml";

/// The variables that may tighten a policy.
const VARIABLES: [&str; 1] = ["SHWARD_PROFILE"];

impl PolicyPlaces {
    /// No file at all: a profile, and what the operator names.
    #[must_use]
    pub fn none() -> Self {
        Self {
            system: PathBuf::new(),
            system_kept: PathBuf::new(),
            user: None,
            named: None,
            state: None,
            workspace: None,
            explicit: None,
            explicit_is_system: false,
            profile: None,
            environment: Vec::new(),
        }
    }

    /// The usual places of this machine: the system's, those of the account of this process ([`Account`]), and what the
    /// environment may tighten.
    #[must_use]
    pub fn of_machine(workspace: &Path) -> Self {
        let account = Account::of_process();
        let meant = |name: &[u8]| {
            str::from_utf8(name).is_ok_and(|name| VARIABLES.contains(&name) || is_of_cmdwall(name))
        };
        let environment = shward_sandbox::variables(meant).into_iter().filter_map(|(name, value)| {
            // A value that cannot be read must not be lost: it becomes one that means nothing, which is an error.
            let value = value.into_string().unwrap_or_else(|v| v.to_string_lossy().into_owned());
            Some((name.into_string().ok()?, value))
        });
        let own = |place: &PathBuf| account.is_settled() || !account.is_of_project(place, workspace);
        let (user, of_project) = match account.policy() {
            Some(place) if own(&place) => (Some(place), None),
            place => (None, place),
        };
        Self {
            system: PathBuf::from("/etc/shward/policy.d"),
            system_kept: PathBuf::from("/var/lib/shward/compiled"),
            user,
            named: account.named_policy().or(of_project),
            state: account.state().filter(own),
            workspace: Some(workspace.to_owned()),
            explicit: None,
            explicit_is_system: false,
            profile: None,
            environment: environment.collect(),
        }
    }

    /// Reads the policy that these places make.
    ///
    /// # Errors
    /// A file is wrong, is not believed, or cannot be read.
    pub fn load(&self) -> Result<Policy, PolicyError> {
        let mut found = self.system_files()?;
        let mut tightening = Vec::new();
        if let Some(user) = &self.user {
            found.extend(read(Layer::User, user, Some(Owner::UserOrRoot))?);
        }
        if let Some(named) = &self.named {
            tightening.extend(read(Layer::User, named, Some(Owner::UserOrRoot))?);
        }
        for (path, file, beyond) in self.find_project_files()? {
            if !beyond && self.trusts(&path, &file) { found.push(file) } else { tightening.push(file) }
        }
        if let Some(explicit) = &self.explicit {
            let layer = if self.explicit_is_system { Layer::System } else { Layer::Explicit };
            let file = read(layer, explicit, None)?;
            let mut file = file.ok_or_else(|| PolicyError::Missing { path: explicit.clone() })?;
            if explicit.extension().is_some_and(|e| e == "env") {
                file.source.text = import::cmdwall_env_in_place(&file.source.text);
            }
            found.push(file);
        }
        let environment = self.of_environment();
        let nothing = found.is_empty() && tightening.is_empty() && environment.is_empty();
        if nothing && self.profile.is_none() {
            return Ok(Policy::default());
        }
        let kept = Kept { system: &self.system_kept, state: self.state.as_deref(), user: user() };
        let documents = |files: Vec<Found>| -> Result<Vec<Document>, BadPolicy> {
            files.into_iter().map(|file| kept.document(file.source, file.owner)).collect()
        };
        let (documents, mut tightening) = (documents(found)?, documents(tightening)?);
        for source in environment {
            tightening.push(Document::parse(source)?);
        }
        Ok(Policy::from_documents(self.profile.as_deref(), &documents, &tightening)?)
    }

    fn system_files(&self) -> Result<Vec<Found>, PolicyError> {
        let directory = &self.system;
        let io = |error| PolicyError::Io { path: directory.clone(), error };
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(e) => return Err(io(e)),
        };
        believe(directory, &fs::metadata(directory).map_err(io)?, Owner::Root)?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
        files.sort();
        let mut sources = Vec::new();
        for file in files {
            sources.extend(read(Layer::System, &file, Some(Owner::Root))?);
        }
        Ok(sources)
    }

    /// The nearest of the project's files: in the workspace or above it, not beyond the root of the repository.
    ///
    /// # Errors
    /// One is there and cannot be read.
    pub fn project_file(&self) -> Result<Option<(PathBuf, Source)>, PolicyError> {
        let nearest = self.find_project_files()?.pop();
        Ok(nearest.filter(|(.., beyond)| !beyond).map(|(path, file, _)| (path, file.source)))
    }

    /// The project's files that only tighten as long as no person trusts them, the nearest last.
    ///
    /// # Errors
    /// One is there and cannot be read.
    pub fn untrusted_files(&self) -> Result<Vec<PathBuf>, PolicyError> {
        let files = self.find_project_files()?.into_iter().filter(|(.., beyond)| !beyond);
        Ok(files.filter(|(path, file, _)| !self.trusts(path, file)).map(|(path, ..)| path).collect())
    }

    /// Whether a person has trusted a project's file as it stands.
    fn trusts(&self, path: &Path, file: &Found) -> bool {
        self.state.as_ref().is_some_and(|state| Trust::in_state(state).holds(path, &file.source.text))
    }

    /// The project's files, the nearest last, each with whether it lies beyond the root of the repository. All of them count: one
    /// that appears further down takes nothing away from one above, and neither does a repository, which a command can make
    /// (`git init`). What lies beyond only tightens, and is left alone where others could have put it there.
    fn find_project_files(&self) -> Result<Vec<(PathBuf, Found, bool)>, PolicyError> {
        let mut found = Vec::new();
        let Some(workspace) = &self.workspace else { return Ok(found) };
        // An unreadable workspace has no file that anybody could have meant.
        let workspace = canonical(workspace).unwrap_or(Cow::Borrowed(workspace));
        let mut beyond = false;
        for directory in workspace.ancestors() {
            let path = directory.join(PROJECT_FILE);
            let passed_over = is_missing(&path) || (beyond && is_of_others(&path));
            if !passed_over && let Some(file) = read(Layer::Project, &path, None)? {
                found.push((path, file, beyond));
            }
            beyond |= lstat(directory.join(".git")).is_ok();
        }
        found.reverse();
        Ok(found)
    }

    fn of_environment(&self) -> Vec<Source> {
        let mut sources = Vec::new();
        if let Some((name, profile)) =
            self.environment.iter().find(|(name, value)| name == "SHWARD_PROFILE" && !value.is_empty())
        {
            let text = format!("extends = {profile:?}\n");
            sources.push(Source { layer: Layer::Environment, name: format!("${name}"), text });
        }
        let cmdwall: String = self
            .environment
            .iter()
            .filter(|(name, _)| is_of_cmdwall(name))
            .map(|(name, value)| format!("{name}={}\n", value.replace('\n', " ")))
            .collect();
        if !cmdwall.is_empty() {
            let text = import::cmdwall_env_in_place(&cmdwall);
            sources.push(Source { layer: Layer::Environment, name: "$CMDWALL_*".to_owned(), text });
        }
        sources
    }
}

/// cmdwall reads its variables whatever their case.
fn is_of_cmdwall(name: &str) -> bool {
    name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("CMDWALL_"))
}

/// Whose a file has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Root,
    UserOrRoot,
}

fn believe(path: &Path, meta: &fs::Metadata, owner: Owner) -> Result<(), PolicyError> {
    let refused = |why| Err(PolicyError::Refused { path: path.to_owned(), why });
    match owner {
        Owner::Root if meta.uid() != 0 => refused("it does not belong to root; `chown root` mends that"),
        Owner::UserOrRoot if meta.uid() != 0 && meta.uid() != user() => {
            refused("it belongs to somebody else; take it over or move it away")
        }
        _ if meta.mode() & 0o022 != 0 => refused("others may write it; `chmod go-w` mends that"),
        _ => Ok(()),
    }
}

/// Refuses a file in a directory in which everybody may replace it by another file of its owner, or take it away.
fn replaceable(path: &Path) -> Result<(), PolicyError> {
    const STICKY_AND_OF_ALL: u32 = 0o1002;
    let directory = path.parent().unwrap_or(path);
    let meta =
        fs::metadata(directory).map_err(|error| PolicyError::Io { path: directory.to_owned(), error })?;
    if meta.mode() & STICKY_AND_OF_ALL == 0o002 {
        let why = "others may write the directory that it lies in; `chmod o-w` on that mends it";
        return Err(PolicyError::Refused { path: path.to_owned(), why });
    }
    Ok(())
}

/// Whether somebody else has put it there, or may write what it leads to.
fn is_of_others(path: &Path) -> bool {
    let others = |meta: &fs::Metadata| meta.uid() != 0 && meta.uid() != user();
    fs::symlink_metadata(path).is_ok_and(|meta| others(&meta))
        || fs::metadata(path).is_ok_and(|meta| others(&meta) || meta.mode() & 0o022 != 0)
}

/// A file that was read, and whose it is.
struct Found {
    source: Source,
    owner: u32,
}

/// Reads a file, if it is there.
fn read(layer: Layer, path: &Path, owner: Option<Owner>) -> Result<Option<Found>, PolicyError> {
    use std::io::Read as _;
    let io = |error| PolicyError::Io { path: path.to_owned(), error };
    // The usual case is that nothing is there, and costs one system call. A link that leads nowhere is something: it was
    // meant to lead somewhere.
    if let Err(e) = lstat(path) {
        return if matches!(e, Errno::NOENT | Errno::NOTDIR) { Ok(None) } else { Err(io(e.into())) };
    }
    // Looked at before it is opened, because opening a pipe waits, and again afterwards, because it may have been replaced.
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(PolicyError::Refused { path: path.to_owned(), why: "it is no regular file" });
    }
    let file = reading::without_waiting(path).map_err(io)?;
    let meta = file.metadata().map_err(io)?;
    if !reading::is_file(&file) {
        return Err(PolicyError::Refused { path: path.to_owned(), why: "it is no regular file" });
    }
    if let Some(owner) = owner {
        believe(path, &meta, owner)?;
        replaceable(path)?;
    }
    let expected = usize::try_from(meta.len()).unwrap_or(0).min(file::MAX_FILE);
    let mut text = Vec::with_capacity(expected + 1);
    file.take(file::MAX_FILE as u64 + 1).read_to_end(&mut text).map_err(io)?;
    let text = String::from_utf8(text)
        .map_err(|e| BadPolicy::unreadable(&path.display().to_string(), format!("it is not UTF-8: {e}")))?;
    let source = Source { layer, name: path.display().to_string(), text };
    Ok(Some(Found { source, owner: meta.uid() }))
}
