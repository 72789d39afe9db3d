//! What a program is called is nothing that is known of it: one with a made-up name and the same description does the same.

use super::short;
use crate::effect::Effect;
use crate::knowledge::tables;
use crate::world::Frozen;
use crate::{Request, Source, analyze};
use bumpalo::Bump;
use shward_syntax::Dialect;
use std::path::Path;
use std::{fs, io};

/// What stands before the name of a program to make it another name of the same.
pub(in crate::knowledge) const MADE_UP: &[u8] = b"made-up-";

/// As long as that, so that all else stands at the same place in the text.
const BLANK: &str = "        ";

/// Of these it counts how they were called: what follows `--` is described under a name that is made of it (`cmake:cmake`).
const BY_NAME: [&str; 1] = ["cmake"];

/// Everything that a command does.
fn effects(command: &str) -> Vec<String> {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: short::CWD.as_bytes(),
        workspace: short::CWD.as_bytes(),
        home: short::HOME.as_bytes(),
        dialect: Dialect::Bash,
    };
    let plan = analyze(&arena, &request, &Frozen);
    // What it is called may be told, as text or as bytes.
    let bytes: String = MADE_UP.iter().map(|byte| format!("{byte}, ")).collect();
    let told = |effect: &Effect<'_>| {
        let told =
            format!("{:?} {:?}", effect.kind, effect.certainty).replace(&bytes, "").replace("made-up-", "");
        // A command begins where its name does: only the end of where something comes from is the same.
        let mut parts = told.split("source: Some(");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + part.split_once("..").map_or(part, |(_, end)| end))
    };
    let mut all: Vec<String> = plan.effects.iter().map(told).collect();
    all.sort();
    all.dedup();
    all
}

/// What is wrong with rows in which `@` stands before the names of programs.
fn differing<'r>(rows: impl Iterator<Item = &'r str>) -> Vec<String> {
    rows.filter_map(|row| {
        let (known, made_up) = (effects(&row.replace('@', BLANK)), effects(&row.replace('@', "made-up-")));
        (known != made_up).then(|| format!("{row}\n    {known:?}\n    {made_up:?}"))
    })
    .collect()
}

/// The commands of all examples.
fn examples() -> io::Result<Vec<String>> {
    let mut commands = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge"))? {
        let text = fs::read_to_string(entry?.path())?;
        let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("example "));
        commands.extend(lines.filter_map(|line| Some(line.rsplit_once(" => ")?.0.trim().to_owned())));
    }
    Ok(commands)
}

#[test]
fn of_no_example_the_name_of_its_program_counts() {
    let mut rows = examples().unwrap();
    rows.retain(|command| {
        let name = command.split(' ').next().unwrap_or_default();
        tables::program(name.as_bytes()).is_some() && !BY_NAME.contains(&name) && !command.contains('@')
    });
    assert!(rows.len() > 3_000, "{} examples", rows.len());
    let rows: Vec<String> = rows.iter().map(|command| format!("@{command}")).collect();
    let wrong = differing(rows.iter().map(String::as_str));
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn of_no_command_in_the_table_the_name_of_its_program_counts() {
    let rows: Vec<&str> = include_str!("made_up.txt").lines().filter(|row| !row.starts_with('#')).collect();
    assert!(rows.iter().all(|row| row.contains('@')), "a row without a program");
    let wrong = differing(rows.iter().copied());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
