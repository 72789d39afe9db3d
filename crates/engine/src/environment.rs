//! The environment that a contained command gets: a few variables by name, nothing else.

use shward_policy::settings::EnvironmentPolicy;
use shward_policy::{Policy, carries_code};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

/// The variables that pass, by exact name: what programs need to find their files, their user and their terminal.
/// None of them can carry a program or a credential; `PATH` is cleaned.
const PASSED: [&str; 14] = [
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "PATH",
    "SHELL",
    "TERM",
    "TZ",
    "USER",
    "CI",
    "HOSTNAME",
];

/// Where programs are looked up when the caller's `PATH` has nothing usable.
const PATH: &[u8] = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment of a contained command, from the caller's. The locale is fixed, because the shell's character classes
/// depend on it, and temporary files go to the private `/tmp`.
#[must_use]
pub(crate) fn contained(home: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut environment = vec![
        (b"HOME".to_vec(), home.as_os_str().to_owned().into_vec()),
        (b"LC_ALL".to_vec(), b"C.UTF-8".to_vec()),
        (b"TMPDIR".to_vec(), b"/tmp".to_vec()),
    ];
    let mut path = PATH.to_vec();
    for name in PASSED {
        let Some(value) = std::env::var_os(name).map(OsString::into_vec) else { continue };
        if name == "PATH" {
            path = search_path(&value).unwrap_or(path);
        } else {
            environment.push((name.as_bytes().to_vec(), value));
        }
    }
    environment.push((b"PATH".to_vec(), path));
    environment
}

/// The environment that a policy gives a contained command. Variables that carry code never pass.
#[must_use]
pub(crate) fn of_policy(policy: &Policy, home: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let settings = policy.settings();
    let own = |name: &str| Some((name.as_bytes().to_vec(), std::env::var_os(name)?.into_vec()));
    let mut environment = match settings.environment.as_ref().map(|set| set.value) {
        None | Some(EnvironmentPolicy::Basic) => contained(home),
        Some(EnvironmentPolicy::Empty) => Vec::new(),
        Some(EnvironmentPolicy::Locale) => {
            ["LANG", "LC_ALL"].map(|name| (name.as_bytes().to_vec(), b"C.UTF-8".to_vec())).to_vec()
        }
        Some(EnvironmentPolicy::Listed) => {
            let names =
                settings.environment_allow.as_ref().map(|set| set.value.as_slice()).unwrap_or_default();
            let basic = contained(home);
            let known = |name: &str| basic.iter().find(|(n, _)| n == name.as_bytes()).cloned();
            let passing = names.iter().filter(|name| !carries_code(name));
            passing.filter_map(|name| known(name).or_else(|| own(name))).collect()
        }
    };
    let fixed = settings.environment_set.as_ref().map(|set| set.value.as_slice()).unwrap_or_default();
    for (name, value) in fixed.iter().filter(|(name, _)| !carries_code(name)) {
        environment.retain(|(known, _)| known != name.as_bytes());
        environment.push((name.as_bytes().to_vec(), value.as_bytes().to_vec()));
    }
    environment
}

/// The absolute entries: a relative or empty one means whatever directory the command happens to be in.
fn search_path(value: &[u8]) -> Option<Vec<u8>> {
    let absolute: Vec<&[u8]> = value.split(|&b| b == b':').filter(|d| d.starts_with(b"/")).collect();
    (!absolute.is_empty()).then(|| absolute.join(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shward_policy::{Layer, Source};

    /// Whatever a policy names: a variable that carries code passes under no circumstances.
    #[test]
    fn what_a_policy_names_carries_no_code() {
        let text = "[environment]\npolicy = \"listed\"\nallow = [\"HOME\", \"SHELL\"]\n\
                    set = { A = \"1\", LD_PRELOAD = \"/x.so\", https_proxy = \"x\" }\n";
        let source = Source { layer: Layer::System, name: "p".to_owned(), text: text.to_owned() };
        let policy = Policy::from_sources(None, &[source]).unwrap();
        let passed = of_policy(&policy, Path::new("/home/u"));
        let passed: Vec<_> = passed.iter().map(|(n, v)| (n.as_slice(), v.as_slice())).collect();
        assert_eq!(passed, [(&b"HOME"[..], &b"/home/u"[..]), (b"A", b"1")]);
    }

    #[test]
    fn the_search_path_keeps_absolute_entries_only() {
        let table: [(&[u8], Option<&[u8]>); 5] = [
            (b"/usr/bin:/bin", Some(b"/usr/bin:/bin")),
            (b".:/bin", Some(b"/bin")),
            (b"/bin:", Some(b"/bin")),
            (b"bin:./x", None),
            (b"", None),
        ];
        for (value, expected) in table {
            assert_eq!(search_path(value).as_deref(), expected);
        }
    }
}
