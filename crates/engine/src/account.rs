//! Whose process this is, and where that user's own files lie: the policy, what is trusted, answered, counted and kept.
//!
//! They lie where the environment says (`XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `HOME`) until the account has a policy of its own, in
//! the home directory that the list of accounts names (passwd(5)). From then on they lie there, whatever the environment says: whoever
//! sets a variable for shward may have filled the place that it names, so such a place can only tighten.

use crate::paths::canonical;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;
use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The lists, in the order in which they are looked through. The second is root's, for accounts that stand elsewhere, as in a
/// directory service: a static program cannot ask the name service switch (nsswitch.conf(5)).
const LISTS: [&str; 2] = ["/etc/passwd", "/etc/shward/passwd"];

/// Largest list that is looked through, in bytes.
const LARGEST: usize = 1 << 20;

/// Below the home directory: our settings, and our state.
const SETTINGS: &str = ".config/shward";
const STATE: &str = ".local/state/shward";

/// The name of the user's policy, below the settings.
const POLICY: &str = "policy.toml";

/// Whether this build is one for tests, in which a variable says whose home it is. A build with optimisation never is.
pub const TEST_BUILD: bool = cfg!(all(feature = "test-account", debug_assertions));

/// The user that a process acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    user: u32,
    /// The home directory that the list names, whosever it is: it is protected in any case.
    listed: Option<PathBuf>,
    /// Why nothing in it is believed.
    lack: Option<Lack>,
    /// Whether it has a policy of its own, so that no variable says where things lie.
    settled: bool,
}

/// Why an account has no place that is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Lack {
    Unlisted,
    List(&'static str),
    Home,
}

/// Whose policy and state are used, for people and as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AccountReport {
    /// The real user of the process, as a number.
    pub user: u32,
    /// The account's home directory; nothing where none is believed.
    pub home: Option<PathBuf>,
    /// The user's policy.
    pub policy: Option<PathBuf>,
    /// What is trusted, answered, counted and kept.
    pub state: Option<PathBuf>,
    /// The audit log that is written without `--log`.
    pub log: Option<PathBuf>,
    /// What is not as somebody may expect, each with what mends it.
    pub notes: Vec<String>,
}

impl Account {
    /// The account of this process.
    #[must_use]
    pub fn of_process() -> &'static Self {
        static ACCOUNT: OnceLock<Account> = OnceLock::new();
        ACCOUNT.get_or_init(Self::find)
    }

    #[cfg(all(feature = "test-account", debug_assertions))]
    fn find() -> Self {
        match env::var_os("SHWARD_TEST_HOME") {
            None => Self::in_lists(),
            Some(home) if home == "unlisted" => Self::nowhere(user(), Lack::Unlisted),
            Some(home) => Self::at(user(), PathBuf::from(home)),
        }
    }

    #[cfg(not(all(feature = "test-account", debug_assertions)))]
    fn find() -> Self {
        Self::in_lists()
    }

    fn in_lists() -> Self {
        let user = user();
        for path in LISTS {
            match list(path, user) {
                Ok(text) => {
                    if let Some(home) = home_in(&text, user) {
                        return Self::at(user, home);
                    }
                }
                Err(lack) => return Self::nowhere(user, lack),
            }
        }
        Self::nowhere(user, Lack::Unlisted)
    }

    /// Without a home directory.
    const fn nowhere(user: u32, lack: Lack) -> Self {
        Self { user, listed: None, lack: Some(lack), settled: false }
    }

    /// With this home directory, if it is the user's.
    fn at(user: u32, home: PathBuf) -> Self {
        let found = rustix::fs::stat(&home);
        let own = found.is_ok_and(|found| {
            found.st_uid == user && FileType::from_raw_mode(found.st_mode) == FileType::Directory
        });
        // Whatever lies there, and wherever a link leads: only that there is nothing leaves the word to the environment.
        let settled = own && !is_missing(&home.join(SETTINGS).join(POLICY));
        Self { user, listed: Some(home), lack: (!own).then_some(Lack::Home), settled }
    }

    /// The home directory, if what lies in it is believed.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.listed.as_deref().filter(|_| self.lack.is_none())
    }

    /// The home directory that the list of accounts names, also where nothing in it is believed: a place to protect.
    pub(crate) fn listed(&self) -> Option<&Path> {
        self.listed.as_deref()
    }

    /// The places below the home directory that are ours.
    pub(crate) fn own(&self) -> impl Iterator<Item = PathBuf> {
        self.listed().into_iter().flat_map(|home| [SETTINGS, STATE].map(|below| home.join(below)))
    }

    /// Whether the account has a policy of its own: then variables of the environment can only tighten.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// The user's policy, which need not exist.
    #[must_use]
    pub fn policy(&self) -> Option<PathBuf> {
        Some(self.place("XDG_CONFIG_HOME", SETTINGS)?.join(POLICY))
    }

    /// The directory of what is trusted, answered, counted and kept, which need not exist.
    #[must_use]
    pub fn state(&self) -> Option<PathBuf> {
        self.place("XDG_STATE_HOME", STATE)
    }

    /// The audit log.
    #[must_use]
    pub fn log(&self) -> Option<PathBuf> {
        Some(self.state()?.join("audit.jsonl"))
    }

    /// A place of ours: the account's if it is settled, else what the environment names, else the account's.
    fn place(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let own = || self.home().map(|home| home.join(below_home));
        if self.settled { own() } else { named(variable, below_home).or_else(own) }
    }

    /// Whether the environment has moved a place away from the account's home.
    fn is_moved(&self, place: &Path, below_home: &str) -> bool {
        self.home().is_none_or(|home| !is_same(&home.join(below_home), place))
    }

    /// The policy that the environment names, where that is another than the account's own. It can only tighten.
    #[must_use]
    pub fn named_policy(&self) -> Option<PathBuf> {
        let named = named("XDG_CONFIG_HOME", SETTINGS).filter(|_| self.settled)?;
        self.is_moved(&named, SETTINGS).then(|| named.join(POLICY))
    }

    /// Whether a variable has led one of these places into the directory that is worked in: then it is of whoever wrote the
    /// project.
    pub(crate) fn is_of_project(&self, place: &Path, workspace: &Path) -> bool {
        // Where nothing is moved, nothing has to be asked.
        if self.home().is_some() && self.own().any(|own| place == own || place == own.join(POLICY)) {
            return false;
        }
        let (Some(place), Some(workspace)) = (real(place), real(workspace)) else { return true };
        place.starts_with(workspace)
    }

    /// Why nothing is believed of what the account keeps, and what mends it.
    #[must_use]
    pub fn lack(&self) -> Option<String> {
        let user = self.user;
        let home = self.listed.as_deref().unwrap_or(Path::new("")).display();
        Some(match self.lack.as_ref()? {
            Lack::Unlisted => format!(
                "user {user} is in no list of accounts; as root: getent passwd {user} >> /etc/shward/passwd, or write \
                 its line (passwd(5)) there"
            ),
            Lack::List(path) => {
                format!(
                    "{path} is not believed, because others than root may write it; as root: chmod go-w {path}"
                )
            }
            Lack::Home => format!(
                "{home}, the home directory of user {user}, is not there or not that user's; as root: install -d -o \
                 {user} {home}"
            ),
        })
    }

    /// What there is to tell about it.
    #[must_use]
    pub fn report(&self) -> AccountReport {
        let (policy, state) = (self.policy(), self.state());
        let mut notes = Vec::new();
        if let Some(lack) = self.lack() {
            notes.push(format!("{lack}. Until then the environment says where policy and state lie (XDG_CONFIG_HOME, XDG_STATE_HOME, HOME)"));
        } else if !self.settled
            && let Some(own) = self.home().map(|home| home.join(SETTINGS).join(POLICY))
        {
            notes.push(format!(
                "the environment says where policy and state lie (XDG_CONFIG_HOME, XDG_STATE_HOME, HOME); once {0} exists, it \
                 can only tighten: shward init {0}",
                own.display()
            ));
        }
        if let Some(named) = self.named_policy().filter(|named| named.symlink_metadata().is_ok()) {
            notes.push(format!(
                "{} is where the environment says (XDG_CONFIG_HOME, HOME) and not in the account's home, so it only \
                 tightens; what it shall allow belongs into {}",
                named.display(),
                policy.as_deref().unwrap_or(Path::new("")).display()
            ));
        }
        if let Some(named) =
            named("XDG_STATE_HOME", STATE).filter(|named| self.settled && self.is_moved(named, STATE))
        {
            notes.push(format!(
                "state and log are in {}, not in {}, where the environment says (XDG_STATE_HOME, HOME): variables do \
                 not move them",
                state.as_deref().unwrap_or(Path::new("")).display(),
                named.display()
            ));
        }
        let home = self.home().map(Path::to_owned);
        AccountReport { user: self.user, home, policy, state, log: self.log(), notes }
    }
}

/// The real user of this process.
pub(crate) fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// The directory that the environment names for us. What lies below a home directory begins with the one that the variable
/// stands for.
fn named(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    match absolute(variable) {
        Some(base) => Some(base.join("shward")),
        None => Some(absolute("HOME")?.join(below_home)),
    }
}

/// Whether there is surely nothing.
pub(crate) fn is_missing(path: &Path) -> bool {
    matches!(rustix::fs::lstat(path), Err(Errno::NOENT | Errno::NOTDIR))
}

/// Where a path leads, whether it exists or not.
fn real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|known| {
        let rest = path.strip_prefix(known).ok()?;
        Some(canonical(known).ok()?.join(rest))
    })
}

/// Whether both are one place. They usually are spelled the same; else links may make them the same.
fn is_same(a: &Path, b: &Path) -> bool {
    a == b || real(a).is_some_and(|a| real(b) == Some(a))
}

/// The text of a list; none where there is no such file.
fn list(path: &'static str, user: u32) -> Result<Vec<u8>, Lack> {
    let Ok(file) = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(Vec::new());
    };
    let file = File::from(file);
    let Ok(meta) = file.metadata() else { return Err(Lack::List(path)) };
    // In a user namespace without root, root's files belong to nobody whom one could be.
    let roots = meta.uid() == 0 || (meta.uid() != user && user != 0);
    if !roots || meta.mode() & 0o022 != 0 || !meta.is_file() {
        return Err(Lack::List(path));
    }
    let expected = usize::try_from(meta.len()).unwrap_or(LARGEST).min(LARGEST);
    let mut text = vec![0; expected];
    let mut length = 0;
    let mut file = &file;
    while let Some(rest) = text.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Lack::List(path)),
        }
    }
    text.truncate(length);
    Ok(text)
}

/// The home directory of the first line of this user (passwd(5)).
fn home_in(text: &[u8], user: u32) -> Option<PathBuf> {
    text.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        let number: u32 = str::from_utf8(fields.nth(2)?).ok()?.parse().ok()?;
        let home = Path::new(OsStr::from_bytes(fields.nth(2)?));
        (number == user && home.is_absolute()).then(|| home.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_first_line_of_a_user_says_where_home_is() {
        let text = b"# accounts\n\
            +::::::\n\
            root:x:0:0:root:/root:/bin/bash\n\
            broken:x:10\n\
            relative:x:11:11::home/x:/bin/sh\n\
            latin:x:12:12:M\xfcller:/home/latin:/bin/sh\n\
            second:x:12:12::/home/second:/bin/sh\n\
            last:x:13:13::/home/last";
        let table: [(u32, Option<&str>); 7] = [
            (0, Some("/root")),
            (10, None),
            (11, None),
            (12, Some("/home/latin")),
            (13, Some("/home/last")),
            (1, None),
            (u32::MAX, None),
        ];
        for (user, home) in table {
            assert_eq!(home_in(text, user).as_deref(), home.map(Path::new), "{user}");
        }
        assert_eq!(home_in(b"", 0), None);
    }

    #[test]
    fn a_list_that_others_may_write_is_not_believed() {
        assert!(list("/etc/passwd", user()).is_ok_and(|text| !text.is_empty()));
        assert_eq!(list("/etc/shward/no-such-list", user()), Ok(Vec::new()));
        assert_eq!(list("/dev/null", user()), Err(Lack::List("/dev/null")));
        assert_eq!(list("/", user()), Err(Lack::List("/")), "it is no file");
        // A list of one's own says what one likes.
        let own = tempfile::NamedTempFile::new().unwrap();
        let path: &'static str = own.path().to_str().unwrap().to_owned().leak();
        std::os::unix::fs::chown(path, Some(user()), None).unwrap();
        assert_eq!(list(path, user()).is_err(), user() != 0);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o620);
        fs::set_permissions(path, mode).unwrap();
        assert_eq!(list(path, user()), Err(Lack::List(path)));
    }

    #[test]
    fn a_home_that_is_somebody_elses_is_protected_and_not_believed() {
        let place = tempfile::tempdir().unwrap();
        let own = Account::at(user(), place.path().to_owned());
        assert_eq!((own.home(), own.lack()), (Some(place.path()), None));
        assert!(!own.is_settled());
        let policy = place.path().join(SETTINGS).join(POLICY);
        fs::create_dir_all(policy.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("nowhere", &policy).unwrap();
        let own = Account::at(user(), place.path().to_owned());
        assert_eq!((own.is_settled(), own.state()), (true, Some(place.path().join(STATE))));
        for home in ["/nonexistent", "/proc/version"] {
            let account = Account::at(user(), PathBuf::from(home));
            assert_eq!((account.home(), account.is_settled()), (None, false), "{home}");
            assert_eq!(account.listed(), Some(Path::new(home)));
            assert!(account.lack().is_some_and(|lack| lack.contains("install -d")));
        }
        let others = Account::at(user() + 1, place.path().to_owned());
        assert_eq!((others.home(), others.own().count()), (None, 2));
    }
}
