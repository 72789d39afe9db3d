//! Inside a crate, too, dependencies point one way: no modules beside each other take names from one another in a circle,
//! each with all that is below it.
//!
//! A module and what is below it are one room: its parts see what it keeps private, and it is put together from them. So
//! what runs between a module's own file and the files below it is no arrow here.

use super::modules::{Arrows, Modules, is_below};
use super::{Problem, Tree};
use crate::Failure;
use std::collections::{BTreeMap, BTreeSet};

/// From what to what.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    for source in sources(tree) {
        let arrows = Modules::read(tree, source).arrows();
        for directory in directories(&arrows, source) {
            for ring in rings(&rooms(&arrows, directory)) {
                problems.push(Problem::new(directory, 0, told(&ring, directory, &arrows)));
            }
        }
    }
    Ok(problems)
}

/// The directories that hold a crate's sources.
fn sources(tree: &Tree) -> BTreeSet<&str> {
    tree.texts("", ".rs")
        .filter_map(|(path, _)| path.strip_suffix("/lib.rs").or_else(|| path.strip_suffix("/main.rs")))
        .filter(|source| source.ends_with("/src"))
        .collect()
}

/// `source` and the directories in it.
fn directories<'a>(arrows: &Arrows<'a>, source: &str) -> BTreeSet<&'a str> {
    let files = arrows.keys().flat_map(|(from, to)| [*from, *to]);
    let above = |path: &'a str| path.match_indices('/').filter_map(move |(at, _)| path.get(..at));
    files.flat_map(above).filter(|directory| is_below(directory, &[source.to_owned()])).collect()
}

/// The module of `directory` that the file `path` is or is below; none for the directory's own file.
fn room<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?.strip_prefix('/')?;
    match rest.split_once('/') {
        Some((name, _)) => Some(name),
        None => rest.strip_suffix(".rs").filter(|name| !matches!(*name, "mod" | "lib" | "main")),
    }
}

/// Which of a directory's modules take something from which.
fn rooms<'a>(arrows: &Arrows<'a>, directory: &str) -> Graph<'a> {
    let mut rooms = Graph::new();
    for (from, to) in arrows.keys() {
        if let (Some(from), Some(to)) = (room(from, directory), room(to, directory))
            && from != to
        {
            rooms.entry(from).or_default().insert(to);
        }
    }
    rooms
}

/// Every largest set of more than one whose members are reached from one another.
fn rings<'a>(graph: &Graph<'a>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|from| (*from, reached(graph, from))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found: Vec<Vec<&str>> = Vec::new();
    for from in graph.keys().filter(|from| reaches(from, from)) {
        if !found.iter().any(|ring| ring.contains(from)) {
            found.push(graph.keys().copied().filter(|to| reaches(from, to) && reaches(to, from)).collect());
        }
    }
    found
}

/// What is reached from `start` in one step or more.
fn reached<'a>(graph: &Graph<'a>, start: &'a str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(from) = open.pop() {
        open.extend(graph.get(from).into_iter().flatten().copied().filter(|to| all.insert(*to)));
    }
    all
}

/// The ring, and what runs in it.
fn told(ring: &[&str], directory: &str, arrows: &Arrows) -> String {
    let mut message = format!("a ring of {}", ring.join(", "));
    for ((from, to), names) in arrows {
        let (Some(one), Some(other)) = (room(from, directory), room(to, directory)) else { continue };
        if one != other && ring.contains(&one) && ring.contains(&other) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            message.push_str(&format!("\n       {from} takes {} of {to}", names.join(", ")));
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    /// What a crate of these files is told, without the arrows.
    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let tree = Seeded::new(files);
        let problems = check(&Tree::read(tree.path()).unwrap()).unwrap();
        problems.iter().map(|problem| problem.to_string().lines().next().unwrap().to_owned()).collect()
    }

    const FACE: (&str, &str) = ("a/src/lib.rs", "mod x; mod y; mod z;");

    #[test]
    fn a_ring_is_found_however_the_names_are_taken() {
        let table = [
            ("use crate::y::Y;", "use crate::x::X;"),
            ("use crate::{y::Y, z};", "use super::x::{self as other};"),
            ("use super::{z::*, y::{Y as Z, *}};", "fn f() { crate::x::g() }"),
            ("fn f(_: &super::y::Y) {}", "use crate::x; fn f() { x::f() }"),
            // Through the face, which is no module of the ring itself.
            ("use crate::Y;", "use super::x;"),
            ("mod inner { use super::super::y::Y; }", "mod inner { fn f() { crate::x::f() } }"),
            ("#[cfg(not(test))] use crate::y::Y;", "use crate::x::X;"),
        ];
        for (x, y) in table {
            let face = "mod x; mod y; mod z; pub use y::Y;";
            let files = [("a/src/lib.rs", face), ("a/src/x.rs", x), ("a/src/y.rs", y), ("a/src/z.rs", "")];
            assert_eq!(told(&files), ["a/src: a ring of x, y"], "{x} {y}");
        }
    }

    #[test]
    fn a_ring_of_directories_is_one() {
        let files = [
            FACE,
            ("a/src/x.rs", "mod one; mod two;"),
            ("a/src/x/one.rs", "use crate::y::three;"),
            ("a/src/x/two.rs", ""),
            ("a/src/y/mod.rs", "mod three; mod four;"),
            ("a/src/y/three.rs", ""),
            ("a/src/y/four.rs", "use crate::z::Z;"),
            ("a/src/z.rs", "use crate::x::two;"),
        ];
        assert_eq!(told(&files), ["a/src: a ring of x, y, z"]);
    }

    #[test]
    fn a_module_and_its_parts_are_no_ring() {
        let table = [
            ("use crate::y::Y;", "use std::x::X; struct Y;"),
            ("use crate::y::Y;", "// use crate::x::X;"),
            ("use crate::y::Y;", "const TEXT: &str = \"crate::x::X\";"),
            ("use crate::y::Y;", "#[cfg(test)] mod tests { use crate::x::X; }"),
            ("use crate::y::Y;", "#[cfg(test)] mod tests;"),
            ("use crate::y::Y;", "use crate::Failure;"),
            ("use crate::y::Y;", "#[cfg(test)] mod tests; mod inner { use super::x::X; }"),
        ];
        for (x, y) in table {
            let files = [
                ("a/src/main.rs", "mod x; mod y; struct Failure; fn main() { x::run(); y::run() }"),
                ("a/src/x.rs", x),
                ("a/src/y.rs", y),
                ("a/src/y/tests.rs", if y.contains("mod tests;") { "use crate::x::X;" } else { "" }),
            ];
            assert_eq!(told(&files), [""; 0], "{x} {y}");
        }
    }
}
