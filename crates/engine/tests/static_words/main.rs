//! Words whose value needs nothing but their text: what is predicted is what bash makes of them, byte for byte.
//!
//! `corpus/words/bash.jsonl` holds words with bash's own answers, so that the law is checked on every machine. Where bash 5.2
//! and a sandbox can be had, bash is asked live: for the words of the project's sample, of the corpora that `SHWARD_SHARED`
//! names, and random ones. `SHWARD_FULL` takes more of these, `SHWARD_UPDATE` writes the file anew. bash runs in our own
//! sandbox, with everything read-only, no network, and no program in `PATH`. `docs/words.md` tells what came out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod extract;
#[path = "../random/mod.rs"]
mod random;

use bumpalo::Bump;
use extract::{Generator, is_static_word};
use random::Random;
use serde::{Deserialize, Serialize};
use shward_analysis::{Frozen, Request, Source, analyze};
use shward_sandbox::{Confinement, Options, Stdin, run};
use shward_syntax::Dialect;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HOME: &str = "/home/dev";
/// Where bash starts: it is there on every machine, and it cannot be written.
const CWD: &str = "/usr";

/// The fields that a word becomes.
type Fields = Vec<Vec<u8>>;

/// A word, and the fields that bash made of it.
#[derive(Serialize, Deserialize)]
struct Row {
    word: String,
    fields: Vec<String>,
}

/// What is predicted; `None` if any of it is not known.
fn predicted(word: &[u8]) -> Option<Fields> {
    let arena = Bump::new();
    let command = [b"p ", word].concat();
    let request = Request {
        source: Source::Command(&command),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: HOME.as_bytes(),
        dialect: Dialect::Bash,
    };
    let plan = analyze(&arena, &request, &Frozen);
    let [invocation] = plan.invocations else { return None };
    invocation.argv.get(1..)?.iter().map(|field| Some(field.known()?.to_vec())).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn recorded_words() {
    let text = std::fs::read_to_string(root().join("corpus/words/bash.jsonl")).unwrap();
    let rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.len() >= 1800, "{}", rows.len());
    let mut unknown = 0;
    for Row { word, fields } in &rows {
        match predicted(word.as_bytes()) {
            Some(ours) => {
                let theirs: Fields = fields.iter().map(|field| field.as_bytes().to_vec()).collect();
                assert_eq!(ours, theirs, "{word:?}");
            }
            None => unknown += 1,
        }
    }
    assert!(unknown * 1000 <= rows.len(), "{unknown} of {} are not known", rows.len());
}

fn commands_of(path: &Path, words: &mut BTreeSet<Vec<u8>>) {
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(command) = row["command"].as_str() {
            extract::words(command, words);
        }
    }
}

/// The static words of the project's own sample.
fn of_sample() -> BTreeSet<Vec<u8>> {
    let mut words = BTreeSet::new();
    commands_of(&root().join("corpus/dev-sample.jsonl"), &mut words);
    words
}

/// Those of the corpora that are kept elsewhere.
fn of_corpora() -> BTreeSet<Vec<u8>> {
    let mut words = BTreeSet::new();
    let Some(shared) = std::env::var_os("SHWARD_SHARED") else { return words };
    for folder in ["corpora/dev", "vectors"] {
        for entry in std::fs::read_dir(Path::new(&shared).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                commands_of(&path, &mut words);
            }
        }
    }
    words
}

fn generated(count: usize, seed: u64) -> BTreeSet<Vec<u8>> {
    let mut generator = Generator(Random(seed));
    let mut words = BTreeSet::new();
    while words.len() < count {
        let word = generator.word().into_bytes();
        if !word.is_empty() && is_static_word(&word) {
            words.insert(word);
        }
    }
    words
}

/// What bash makes of each word: `None` if it takes it for an error. `None` in all if there is no such bash or sandbox.
fn ask_bash(words: &[Vec<u8>]) -> Option<Vec<Option<Fields>>> {
    let mut script = b"p() { printf '%s\\0' \"$n\" \"$#\" \"$@\"; }\n[[ ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]} == 5.2 ]] || exit 9\n".to_vec();
    for (number, word) in words.iter().enumerate() {
        script.extend_from_slice(format!("n={number}\np ").as_bytes());
        script.extend_from_slice(word);
        script.push(b'\n');
    }
    let plan = Confinement::new("/bin/bash", CWD)
        .arguments(["bash", "--norc", "--noprofile"])
        .variable("HOME", HOME)
        .variable("PATH", "/nonexistent")
        .variable("LC_ALL", "C.UTF-8")
        .prepare()
        .ok()?;
    let mut options = Options::default();
    options.stdin = Stdin::Bytes(script);
    options.max_output = 256 << 20;
    options.timeout = Some(Duration::from_secs(300));
    let done = run(&plan, options).ok()?;
    if done.exit.code() == 9 {
        return None;
    }
    let output = done.stdout.to_bytes();
    let mut answers = vec![None; words.len()];
    let mut tokens = output.split(|byte| *byte == 0);
    let number = |token: Option<&[u8]>| -> Option<usize> { std::str::from_utf8(token?).ok()?.parse().ok() };
    while let Some(index) = number(tokens.next()) {
        let count = number(tokens.next()).unwrap();
        answers[index] = Some(tokens.by_ref().take(count).map(<[u8]>::to_vec).collect());
    }
    Some(answers)
}

#[test]
fn bash_agrees() {
    let full = std::env::var_os("SHWARD_FULL").is_some();
    let sample = of_sample();
    let corpora = of_corpora();
    let random = generated(if full { 300_000 } else { 3000 }, 0x5eed);
    let words: Vec<Vec<u8>> = sample.iter().chain(&corpora).chain(&random).cloned().collect();
    let mut answers = Vec::new();
    for batch in words.chunks(20_000) {
        let Some(some) = ask_bash(batch) else {
            eprintln!("SKIPPED: there is no bash 5.2, or no sandbox to run it in");
            return;
        };
        answers.extend(some);
    }
    let (mut compared, mut unknown, mut wrong) = (0, 0, Vec::new());
    for (word, theirs) in words.iter().zip(&answers) {
        let Some(ours) = predicted(word) else {
            unknown += 1;
            continue;
        };
        compared += 1;
        if Some(&ours) != theirs.as_ref() {
            let shown = |fields: &Fields| {
                fields.iter().map(|field| format!("<{}>", field.escape_ascii())).collect::<String>()
            };
            let theirs = theirs.as_ref().map_or("an error".to_owned(), shown);
            wrong.push(format!("{}\n  shward {}\n  bash   {theirs}", word.escape_ascii(), shown(&ours)));
        }
    }
    let mut report = String::new();
    let _ = writeln!(
        report,
        "{} words of the sample, {} of corpora, {} random: {compared} compared, {} differ, {unknown} are not known",
        sample.len(),
        corpora.len(),
        random.len(),
        wrong.len()
    );
    eprint!("{report}");
    if full {
        for word in words.iter().filter(|word| predicted(word).is_none()).take(40) {
            eprintln!("not known: {}", word.escape_ascii());
        }
    }
    if std::env::var_os("SHWARD_UPDATE").is_some() {
        record(&sample, &generated(3000, 0x5eed), &words, &answers);
    }
    assert!(wrong.is_empty(), "{report}{}", wrong[..wrong.len().min(60)].join("\n"));
}

/// Writes bash's answers for every seventh word of the sample and half of the random ones.
fn record(
    sample: &BTreeSet<Vec<u8>>,
    random: &BTreeSet<Vec<u8>>,
    words: &[Vec<u8>],
    answers: &[Option<Fields>],
) {
    let chosen: BTreeSet<&Vec<u8>> = sample.iter().step_by(7).chain(random.iter().step_by(2)).collect();
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for (word, fields) in words.iter().zip(answers) {
        let (true, true, Some(fields)) = (chosen.contains(word), seen.insert(word), fields) else { continue };
        let text_of = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).ok();
        let (Some(word), Some(fields)) = (text_of(word), fields.iter().map(text_of).collect()) else {
            continue;
        };
        let _ = writeln!(text, "{}", serde_json::to_string(&Row { word, fields }).unwrap());
    }
    std::fs::write(root().join("corpus/words/bash.jsonl"), text).unwrap();
}
