//! What this machine gives, what each containment therefore promises, and what mends each lack.

use crate::account::{Account, AccountReport};
use crate::options::Containment;
use crate::self_test::{Attack, self_test};
use crate::{Error, Firewall};
use serde::Serialize;
use shward_sandbox::{CGROUP_ADVICE, Guarantee, Presence, SandboxError, guarantees, settings};

/// What was found on this machine.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Version of the format.
    pub v: u8,
    /// Release of the kernel.
    pub kernel: String,
    /// The distribution, as os-release(5) names it.
    pub distribution: Option<String>,
    /// Whether the user is root.
    pub root: bool,
    /// Whose policy and state are used.
    pub account: AccountReport,
    /// What a sandbox rests on.
    pub guarantees: Vec<GuaranteeReport>,
    /// What else the machine gives, and what it is good for.
    pub features: Vec<FeatureReport>,
    /// Settings of kernel and distribution that decide about sandboxes.
    pub settings: Vec<(&'static str, String)>,
    /// What each containment promises here.
    pub containments: Vec<ContainmentReport>,
}

/// One guarantee.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GuaranteeReport {
    /// Its name, as `accept-missing` takes it.
    pub name: &'static str,
    /// `given`, `missing`, `accepted` (missing, and the policy accepts that), or `unknown` because nothing could be tried.
    pub state: &'static str,
    /// What was tried and how it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What would mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What a command could do without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<&'static str>,
}

/// Something that is good to have.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FeatureReport {
    /// Its name.
    pub name: &'static str,
    /// What there is of it.
    pub state: String,
    /// What that means for a run, and what would mend it.
    pub meaning: String,
}

/// What a containment promises on this machine.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ContainmentReport {
    /// Its name.
    pub name: &'static str,
    /// `holds`, `weakened` (by losses that the policy accepts), or `refused`; of what confines nothing, `open` where the policy permits
    /// it and `off` where not.
    pub state: &'static str,
    /// What it is without.
    pub without: Vec<&'static str>,
    /// What the self-test tried, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_test: Option<Vec<Attack>>,
    /// Why the self-test could not be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_test_error: Option<String>,
}

impl Diagnosis {
    /// Whether commands can be run in every containment, and no self-test found a hole.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.containments.iter().all(|containment| {
            containment.state != "refused"
                && containment.self_test_error.is_none()
                && containment.self_test.iter().flatten().all(|attack| attack.stopped)
        })
    }
}

impl Firewall {
    /// The guarantees whose lack the policy accepts.
    pub(crate) fn accepted(&self) -> Vec<Guarantee> {
        self.policy().accepted_losses().into_iter().filter_map(Guarantee::from_name).collect()
    }

    /// Finds out what this machine gives, by building sandboxes; with `attack`, a handful of escapes are tried in each
    /// containment.
    #[must_use]
    pub fn diagnose(&self, attack: bool) -> Diagnosis {
        let accepted = self.accepted();
        let found = guarantees();
        let missing: Vec<Guarantee> = found
            .iter()
            .filter(|(_, presence)| !matches!(presence, Presence::Given))
            .map(|(guarantee, _)| *guarantee)
            .collect();
        let containments = Containment::ALL
            .into_iter()
            .map(|containment| {
                let needed = |g: &&Guarantee| !accepted.contains(g) || containment.needs(**g);
                let state = match (missing.iter().any(|g| needed(&g)), missing.is_empty()) {
                    (true, _) => "refused",
                    (false, false) => "weakened",
                    (false, true) => "holds",
                };
                let state = match (containment.confines(), self.policy().permits_full()) {
                    (true, _) => state,
                    (false, true) => "open",
                    (false, false) => "off",
                };
                let tested = (attack && containment.confines() && state != "refused")
                    .then(|| self_test(containment, &accepted));
                let (self_test, self_test_error) = match tested {
                    None => (None, None),
                    Some(Ok(attacks)) => (Some(attacks), None),
                    Some(Err(error)) => (None, Some(error.to_string())),
                };
                ContainmentReport {
                    name: containment.name(),
                    state,
                    without: missing.iter().map(|g| g.name()).collect(),
                    self_test,
                    self_test_error,
                }
            })
            .collect();
        let probe = shward_sandbox::features();
        let guarantees: Vec<GuaranteeReport> =
            found.into_iter().map(|(g, p)| GuaranteeReport::new(g, p, &accepted)).collect();
        let own = guarantees.iter().find(|report| report.name == Guarantee::OwnNamespaces.name());
        let own = own.map_or("unknown", |report| report.state);
        Diagnosis {
            v: 1,
            kernel: probe.kernel.clone(),
            distribution: distribution(),
            root: probe.root,
            account: Account::of_process().report(),
            features: features(&probe, own),
            guarantees,
            settings: settings(),
            containments,
        }
    }

    /// An error of the sandbox, with the guarantee that is missing if that is why, and how its loss could be accepted.
    pub(crate) fn lack(&self, error: SandboxError) -> Error {
        use shward_sandbox::Stage;
        let of_machine = matches!(
            error.stage,
            Stage::Clone
                | Stage::Bubblewrap
                | Stage::IdMap
                | Stage::Mount
                | Stage::Proc
                | Stage::Landlock
                | Stage::Seccomp
        );
        if !of_machine || error.is_shortage() {
            return error.into();
        }
        let missing = guarantees().into_iter().find_map(|(guarantee, presence)| match presence {
            Presence::Missing(error) => Some((guarantee, error)),
            Presence::Given | Presence::Unknown => None,
        });
        match missing {
            Some((guarantee, error)) => Error::MissingGuarantee { guarantee, error },
            None => error.into(),
        }
    }
}

impl GuaranteeReport {
    fn new(guarantee: Guarantee, presence: Presence, accepted: &[Guarantee]) -> Self {
        let dispensable = Guarantee::DISPENSABLE.contains(&guarantee);
        let report = Self { name: guarantee.name(), state: "given", why: None, fix: None, loss: None };
        match presence {
            Presence::Given => report,
            Presence::Unknown => Self { state: "unknown", ..report },
            Presence::Missing(error) => Self {
                state: if dispensable && accepted.contains(&guarantee) { "accepted" } else { "missing" },
                fix: Some(error.advice.clone()).filter(|advice| !advice.is_empty()),
                why: Some(format!("{}: {}", error.stage, cause(&error))),
                loss: dispensable.then(|| guarantee.loss()),
                ..report
            },
        }
    }
}

fn cause(error: &SandboxError) -> String {
    match error.errno {
        0 => error.subject.clone(),
        errno => format!("{}: {}", error.subject, std::io::Error::from_raw_os_error(errno)),
    }
}

/// `instead` is the state of the guarantee that namespaces are our own.
fn features(found: &shward_sandbox::Features, instead: &str) -> Vec<FeatureReport> {
    vec![landlock(found), overlay(found), gate(found), cgroup(found), bubblewrap(found, instead)]
}

fn feature(name: &'static str, state: String, meaning: &str) -> FeatureReport {
    FeatureReport { name, state, meaning: meaning.to_owned() }
}

fn landlock(found: &shward_sandbox::Features) -> FeatureReport {
    match found.landlock {
        None => feature(
            "landlock-abi",
            "none".to_owned(),
            "needs a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` in lsm=",
        ),
        Some(version) => feature(
            "landlock-abi",
            version.to_string(),
            match version {
                ..4 => "files only; sockets and signals rest on namespaces and the system call filter",
                4..6 => "files and TCP; abstract sockets and signals rest on namespaces",
                6..9 => "files, TCP, abstract sockets, signals; sockets with a path are masked one by one",
                _ => "files, TCP, and sockets of every kind",
            },
        ),
    }
}

fn gate(found: &shward_sandbox::Features) -> FeatureReport {
    match (&found.gate, found.traced, found.yama) {
        (Ok(()), ..) => feature(
            "gate",
            "works".to_owned(),
            "a program that started in a sandbox was stopped and judged before its first instruction",
        ),
        (Err(error), true, _) => feature(
            "gate",
            cause(error),
            "something traces shward itself, so it cannot trace what it runs; programs that start in a run cannot be judged",
        ),
        (Err(error), false, Some(3)) => feature(
            "gate",
            cause(error),
            "kernel.yama.ptrace_scope is 3 until the next boot; programs that start in a run cannot be judged",
        ),
        (Err(error), false, Some(2)) if !found.root => feature(
            "gate",
            cause(error),
            "set `sysctl kernel.yama.ptrace_scope=1`, or programs that start in a run cannot be judged",
        ),
        (Err(error), ..) => feature("gate", cause(error), "programs that start in a run cannot be judged"),
    }
}

fn overlay(found: &shward_sandbox::Features) -> FeatureReport {
    match &found.overlay {
        Ok(()) => feature(
            "overlay",
            "works".to_owned(),
            "was mounted in a sandbox, where temporary files lie: changes can be previewed, refused by name and undone",
        ),
        Err(why) => feature(
            "overlay",
            why.clone(),
            "without one a run writes straight to the workspace, and previews are refused",
        ),
    }
}

fn cgroup(found: &shward_sandbox::Features) -> FeatureReport {
    match &found.cgroup {
        Ok(controllers) if controllers.iter().any(|name| name == "memory") => feature(
            "cgroup",
            format!("delegated: {}", controllers.join(" ")),
            "limits of a whole run (`[limits] run-memory`, `processors`) hold as far as their controllers are named here",
        ),
        Ok(controllers) => feature(
            "cgroup",
            match controllers.as_slice() {
                [] => "delegated, with no controllers".to_owned(),
                some => format!("delegated, with no controllers but {}", some.join(" ")),
            },
            &format!(
                "limits of a whole run (`[limits] run-memory`, `processors`) do not hold; {CGROUP_ADVICE}"
            ),
        ),
        Err(why) => feature(
            "cgroup",
            why.clone(),
            &format!(
                "limits of a whole run (`[limits] run-memory`, `processors`) do not hold; {CGROUP_ADVICE}"
            ),
        ),
    }
}

fn bubblewrap(found: &shward_sandbox::Features, instead: &str) -> FeatureReport {
    let own = instead == "given";
    match (&found.bubblewrap, own) {
        (Err(why), true) => {
            feature("bubblewrap", why.clone(), "not needed: shward makes namespaces and mounts itself")
        }
        (Ok(path), true) => feature(
            "bubblewrap",
            path.display().to_string(),
            "not used: shward makes namespaces and mounts itself",
        ),
        (Err(why), false) => feature(
            "bubblewrap",
            why.clone(),
            "where shward may not make namespaces, bubblewrap sometimes may",
        ),
        (Ok(path), false) if instead == "accepted" => feature(
            "bubblewrap",
            path.display().to_string(),
            "makes namespaces and mounts, because shward may not and the policy accepts what is lost by that",
        ),
        (Ok(path), false) if instead == "missing" => feature(
            "bubblewrap",
            path.display().to_string(),
            "could make namespaces and mounts, which shward may not; what is lost by that has to be accepted: \
             [sandbox] accept-missing = [\"own-namespaces\"]",
        ),
        (Ok(path), false) => {
            feature("bubblewrap", path.display().to_string(), "makes no sandbox here either")
        }
    }
}

/// os-release(5): what the distribution calls itself.
fn distribution() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}
