//! Homes that a command is known to look at nothing in: it sees them empty, and nobody has to look for secrets in them.
//!
//! That needs a command whose programs are known and are the system's own, which the sandbox starts without a shell, and that stays in
//! the workspace. What it is given of a home is the workspace, if it lies there.

use crate::Request;
use crate::direct::Direct;
use shward_policy::Grant;
use shward_sandbox::script::{Action, Command, List};
use std::fs;
use std::path::{Path, PathBuf};

/// How many homes are emptied. Where there are more, they are looked through.
const MOST: usize = 16;

/// Where the system's programs and libraries lie, and what every program may need.
const SYSTEM: [&str; 13] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/nix", "/opt", "/proc", "/run", "/sbin", "/sys",
    "/usr",
];

/// Where the programs lie that are known to look at nothing unasked.
const PROGRAMS: [&str; 3] = ["/bin", "/nix/store", "/usr/bin"];

/// Whether a granted command needs nothing of the homes but the workspace.
pub(super) fn are_needless(request: &Request, grant: &Grant, direct: Option<&Direct>) -> bool {
    let inside = |path: &Path| path.starts_with(&request.workspace);
    !grant.homes && inside(&request.cwd) && direct.is_some_and(|direct| stays(&direct.script.list, &inside))
}

/// Whether every program is the system's, and every directory that is entered lies inside.
fn stays(list: &List, inside: &dyn Fn(&Path) -> bool) -> bool {
    match list {
        List::Pipeline { commands, .. } => commands.iter().all(|command| stays_in(command, inside)),
        List::And(first, second) | List::Or(first, second) => stays(first, inside) && stays(second, inside),
        List::Sequence(lists) => lists.iter().all(|list| stays(list, inside)),
        _ => false,
    }
}

fn stays_in(command: &Command, inside: &dyn Fn(&Path) -> bool) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    match &command.action {
        Action::Program(program) => {
            let file = real(&program.path).filter(|_| program.path.is_absolute());
            file.is_some_and(|file| PROGRAMS.iter().any(|place| file.starts_with(place)))
        }
        Action::Enter { directory, .. } => real(directory).is_some_and(|directory| inside(&directory)),
        Action::Group(list) | Action::Subshell(list) => stays(list, inside),
        Action::Print { .. } | Action::PrintDirectory | Action::Status(_) => true,
        _ => false,
    }
}

/// What a command sees of the homes that it needs nothing of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needless {
    /// These hold the workspace, and nothing else for it.
    pub(super) emptied: Vec<PathBuf>,
    /// These hold nothing for it.
    pub(super) hidden: Vec<PathBuf>,
    /// These have to be looked through.
    pub(super) others: Vec<PathBuf>,
}

/// Tells the homes apart.
pub(super) fn told_apart(homes: &[PathBuf], workspace: &Path) -> Needless {
    let mut told = Needless::default();
    for home in homes {
        let real = home.canonicalize().ok().filter(|real| fs::metadata(real).is_ok_and(|meta| meta.is_dir()));
        match real.filter(|real| is_a_home(real, workspace)) {
            None => told.others.push(home.clone()),
            Some(real) if workspace.starts_with(&real) => told.emptied.push(real),
            Some(real) => told.hidden.push(real),
        }
    }
    if told.emptied.len() + told.hidden.len() > MOST {
        return Needless { others: homes.to_vec(), ..Needless::default() };
    }
    told
}

/// A home in the workspace is the command's to see, and one that is part of the system, or holds it, is no home alone.
pub(super) fn is_a_home(real: &Path, workspace: &Path) -> bool {
    let system = |place: &str| real.starts_with(place) || Path::new(place).starts_with(real);
    !real.starts_with(workspace) && !SYSTEM.iter().any(|place| system(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shward_policy::Network;

    #[test]
    fn homes_are_told_apart_by_where_they_lie() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let [home, other, inside] = ["home", "other", "home/work/home"].map(|name| root.join(name));
        for home in [&home, &other, &inside] {
            fs::create_dir_all(home).unwrap();
        }
        std::os::unix::fs::symlink(&other, root.join("link")).unwrap();
        let workspace = home.join("work");
        let others = vec![inside, "/".into(), "/usr".into(), "/etc/home".into(), root.join("missing")];
        let mut homes = vec![home.clone(), root.join("link")];
        homes.extend(others.iter().cloned());
        let told = told_apart(&homes, &workspace);
        assert_eq!(told, Needless { emptied: vec![home.clone()], hidden: vec![other], others });
        // The home is the workspace.
        assert_eq!(told_apart(std::slice::from_ref(&home), &home).others, *std::slice::from_ref(&home));
        let many = vec![home; MOST + 1];
        assert_eq!(told_apart(&many, &workspace).others, many);
    }

    #[test]
    fn only_what_stays_needs_nothing_of_homes() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let workspace = root.join("work");
        fs::create_dir_all(workspace.join("sub")).unwrap();
        std::os::unix::fs::symlink(&root, workspace.join("out")).unwrap();
        std::os::unix::fs::symlink("/bin/cat", workspace.join("ls")).unwrap();
        fs::copy("/bin/cat", workspace.join("cat")).unwrap();
        let needless = |text: &str, cwd: &Path, homes: bool| {
            let request = Request::command(text, &workspace, &root);
            let request = Request { cwd: cwd.to_owned(), ..request };
            let grant = Grant { workspace: false, homes, network: Network::None, hosts: Vec::new() };
            let direct = Direct::new(text, cwd, &workspace, &[], b"/usr/bin:/bin");
            are_needless(&request, &grant, direct.as_ref())
        };
        for text in ["true", "cat x | head -n 3 && cd sub", "{ ( cd sub; ls ); } || pwd; echo a"] {
            assert!(needless(text, &workspace, false), "{text}");
            assert!(!needless(text, &workspace, true), "{text}");
            assert!(!needless(text, &root, false), "{text}");
        }
        // Directories outside, programs that are not the system's, and what takes a shell.
        for text in ["cd ..", "true && cd out", "( cd /; ls )", "./cat x", "$x", "for i in 1; do true; done"]
        {
            assert!(!needless(text, &workspace, false), "{text}");
        }
    }
}
