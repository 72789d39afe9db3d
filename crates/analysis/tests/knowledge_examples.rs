//! Every `example` of the knowledge files has the effects that it states.

// Modules of the build script; the test does not use all of what they read.
#[allow(dead_code, unreachable_pub)]
#[path = "../src/vocabulary.rs"]
mod effects;
#[allow(dead_code)]
#[path = "../build/format.rs"]
mod format;
mod short;
#[path = "../build/vocabulary.rs"]
mod vocabulary;
#[path = "../build/whole.rs"]
mod whole;
#[allow(dead_code)]
#[path = "../src/knowledge/words.rs"]
mod words;

use bumpalo::Bump;
use short::{CWD, HOME, short};
use shward_analysis::{
    Effect, EffectKind, Endpoint, Frozen, Request, Rest, Scope, Source, Target, WriteMode, analyze,
};
use std::path::Path;
use std::{fs, io};

/// The effects of a command, in the short form.
fn effects(command: &str) -> Vec<String> {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: HOME.as_bytes(),
        dialect: shward_syntax::Dialect::Bash,
    };
    let plan = analyze(&arena, &request, &Frozen);
    match plan.refused {
        Some(error) => vec![format!("refused: {error:?}")],
        None => short(plan.effects),
    }
}

/// All examples. `KNOWLEDGE=git cargo test …` looks at the files whose name contains `git` alone.
fn examples() -> io::Result<Vec<format::Example>> {
    let only = std::env::var("KNOWLEDGE").unwrap_or_default();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge");
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".cmds") && name.contains(&only) {
            files.push((name, fs::read_to_string(path)?));
        }
    }
    files.sort();
    Ok(format::read(&files, &[]).examples)
}

#[test]
fn every_example_has_its_effects() {
    let examples = examples().unwrap();
    let mut wrong = Vec::new();
    for example in &examples {
        let mut expected = example.effects.clone();
        expected.sort();
        expected.dedup();
        let found = effects(&example.command);
        if found != expected {
            wrong.push(format!(
                "knowledge/{}:{}: {}\n    stated  {}\n    found   {}",
                example.file,
                example.line,
                example.command,
                expected.join(" "),
                found.join(" ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} examples:\n{}\n", wrong.len(), examples.len(), wrong.join("\n"));
}
