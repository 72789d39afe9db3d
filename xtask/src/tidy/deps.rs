//! Dependencies point one way: what decides never depends on what acts.

use super::purity::PURE;
use super::{Problem, Tree};
use crate::Failure;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// Which crates of this project each of them may depend on. A new crate is entered here with its place.
const FLOW: &[(&str, &[&str])] = &[
    ("shward-syntax", &[]),
    ("shward-analysis", &["shward-syntax"]),
    ("shward-policy", &["shward-syntax", "shward-analysis"]),
    // Usable by others on their own.
    ("shward-sandbox", &[]),
    ("shward-audit", &[]),
    ("shward-proxy", &[]),
    // Knows of a command only what it is told, so that a gatekeeper sees what a person sees.
    ("shward-review", &["shward-audit"]),
    (
        "shward",
        &[
            "shward-syntax",
            "shward-analysis",
            "shward-policy",
            "shward-sandbox",
            "shward-audit",
            "shward-proxy",
            "shward-review",
        ],
    ),
    ("shward-hosts", &[]),
    ("shward-cli", &["shward", "shward-hosts"]),
    ("xtask", &[]),
];

/// Other people's crates that the pure ones may use: they compute and do nothing else.
const PURE_DEPENDENCIES: &[&str] =
    &["bumpalo", "memchr", "regex-lite", "serde", "serde_json", "sha2", "strsim", "thiserror"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None`, `"dev"` or `"build"`.
    kind: Option<String>,
}

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let metadata = metadata(&tree.root)?;
    let ours: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let manifest = Path::new(&package.manifest_path);
        let manifest = manifest.strip_prefix(&tree.root).unwrap_or(manifest).to_string_lossy();
        let Some((_, allowed)) = FLOW.iter().find(|(name, _)| *name == package.name) else {
            problems.push(Problem::new(
                manifest,
                0,
                format!("{} has no place in tidy's flow of crates", package.name),
            ));
            continue;
        };
        let pure = PURE.iter().any(|directory| manifest.strip_suffix("/Cargo.toml") == Some(directory));
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            if ours.contains(&name) && !allowed.contains(&name) {
                let message = format!("{} must not depend on {name}", package.name);
                problems.push(Problem::new(manifest.clone(), 0, message));
            }
            if pure
                && dependency.kind.is_none()
                && !ours.contains(&name)
                && !PURE_DEPENDENCIES.contains(&name)
            {
                let message = format!("{} is pure, and tidy does not know {name} to be", package.name);
                problems.push(Problem::new(manifest.clone(), 0, message));
            }
        }
    }
    Ok(problems)
}

fn metadata(root: &Path) -> Result<Metadata, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    fn manifest(name: &str, dependencies: &str) -> String {
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[dependencies]\n{dependencies}\n")
    }

    #[test]
    fn a_dependency_against_the_flow_is_found_under_any_name_and_of_any_kind() {
        let ours = |name: &str, package: &str| {
            format!("{name} = {{ path = \"../{package}\", package = \"shward-{package}\" }}")
        };
        let sound = manifest("shward-syntax", "bumpalo = \"3\"");
        let tree = Seeded::new(&[
            ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n"),
            ("crates/syntax/Cargo.toml", &sound),
            ("crates/syntax/src/lib.rs", ""),
            ("crates/analysis/Cargo.toml", &manifest("shward-analysis", &ours("syntax", "syntax"))),
            ("crates/analysis/src/lib.rs", ""),
            ("crates/audit/Cargo.toml", &manifest("shward-audit", "libc = \"1\"")),
            ("crates/audit/src/lib.rs", ""),
        ]);
        assert_eq!(tree.problems(check), [""; 0]);

        let table = [
            (
                manifest("shward-syntax", &ours("plan", "analysis")),
                "shward-syntax must not depend on shward-analysis",
            ),
            (
                manifest("shward-syntax", &format!("[dev-dependencies]\n{}", ours("plan", "audit"))),
                "shward-syntax must not depend on shward-audit",
            ),
            (
                manifest(
                    "shward-syntax",
                    &format!("[target.'cfg(unix)'.dependencies]\n{}", ours("plan", "audit")),
                ),
                "shward-syntax must not depend on shward-audit",
            ),
            (
                manifest("shward-syntax", "libc = \"1\""),
                "shward-syntax is pure, and tidy does not know libc to be",
            ),
            (manifest("shward-new", ""), "shward-new has no place in tidy's flow of crates"),
        ];
        for (seeded, expected) in table {
            // A cycle of path dependencies must not hide the violation behind cargo's own complaint.
            let analysis = manifest("shward-analysis", "");
            tree.write(&[("crates/syntax/Cargo.toml", &seeded), ("crates/analysis/Cargo.toml", &analysis)]);
            assert_eq!(tree.problems(check), [format!("crates/syntax/Cargo.toml: {expected}")]);
        }
        tree.write(&[("crates/syntax/Cargo.toml", &sound)]);
        assert_eq!(tree.problems(check), [""; 0]);
    }
}
