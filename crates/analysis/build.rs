//! Makes the static tables of the command knowledge from `knowledge/*.cmds`.
//!
//! A program whose description has errors is left out, which makes it a program that is not understood; the test
//! `knowledge_data` lists the errors. In a release build they are fatal.

// What a build script prints is read by cargo.
#![allow(clippy::print_stdout)]

// The library shows these words to others; here nobody else sees them.
#[allow(unreachable_pub)]
#[path = "src/vocabulary.rs"]
mod effects;
#[path = "build/emit.rs"]
mod emit;
// Examples are read for the tests only.
#[allow(dead_code)]
#[path = "build/format.rs"]
mod format;
#[path = "build/vocabulary.rs"]
mod vocabulary;
#[path = "build/whole.rs"]
mod whole;
#[path = "src/knowledge/words.rs"]
mod words;

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    for watched in [
        "build.rs",
        "build",
        "knowledge",
        "src/knowledge/words.rs",
        "src/knowledge/readers",
        "src/vocabulary.rs",
    ] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let mut files = Vec::new();
    for path in with_extension(&root.join("knowledge"), "cmds")? {
        files.push((file_name(&path), fs::read_to_string(&path)?));
    }
    let readers: Vec<String> = with_extension(&root.join("src/knowledge/readers"), "rs")?
        .iter()
        .filter_map(|path| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned))
        .filter(|name| name != "mod")
        .collect();
    let mut knowledge = format::read(&files, &readers);
    let level = if env::var("PROFILE")? == "release" { "error" } else { "warning" };
    for problem in &knowledge.problems {
        println!("cargo::{level}=knowledge/{problem}");
    }
    let often = often(&fs::read_to_string(root.join("knowledge/often.txt"))?);
    knowledge.programs.sort_by_key(|program| {
        program.names.iter().filter_map(|name| often.get(name)).min().copied().unwrap_or(usize::MAX)
    });
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let image = emit::image(&knowledge.programs)?;
    fs::write(out.join("knowledge.image"), image.bytes)?;
    fs::write(out.join("knowledge.text"), image.text)?;
    fs::write(out.join("knowledge_words.rs"), image.words)?;
    fs::write(out.join("knowledge_readers.rs"), image.readers)?;
    Ok(())
}

/// Which program comes first of those that are run most.
fn often(text: &str) -> HashMap<String, usize> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = lines.flat_map(str::split_whitespace).map(str::to_owned);
    names.zip(0..).collect()
}

/// The files of a directory with this extension, by name.
fn with_extension(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
