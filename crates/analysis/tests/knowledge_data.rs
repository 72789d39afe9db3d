//! The knowledge files are well-formed: every problem is listed with its file and line.

// Modules of the build script; the test does not use all of what they read.
#[allow(dead_code, unreachable_pub)]
#[path = "../src/vocabulary.rs"]
mod effects;
#[allow(dead_code)]
#[path = "../build/format.rs"]
mod format;
#[path = "../build/vocabulary.rs"]
mod vocabulary;
#[path = "../build/whole.rs"]
mod whole;
#[allow(dead_code)]
#[path = "../src/knowledge/words.rs"]
mod words;

use std::path::Path;
use std::{fs, io};

fn sorted(directory: &str, extension: &str) -> io::Result<Vec<std::path::PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut paths: Vec<_> = fs::read_dir(root)?.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    Ok(paths)
}

fn readers() -> io::Result<Vec<String>> {
    let paths = sorted("src/knowledge/readers", "rs")?;
    Ok(paths.iter().filter_map(|p| Some(p.file_stem()?.to_string_lossy().into_owned())).collect())
}

fn knowledge() -> io::Result<format::Knowledge> {
    let mut files = Vec::new();
    for path in sorted("knowledge", "cmds")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, fs::read_to_string(path)?));
    }
    Ok(format::read(&files, &readers()?))
}

#[test]
fn every_file_is_well_formed() {
    let knowledge = knowledge().unwrap();
    let problems: Vec<String> = knowledge.problems.iter().map(|p| format!("knowledge/{p}")).collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn what_is_run_most_is_described() {
    let knowledge = knowledge().unwrap();
    let text = include_str!("../knowledge/often.txt");
    for name in text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace) {
        assert!(knowledge.programs.iter().any(|program| program.names.iter().any(|n| n == name)), "{name}");
    }
}

/// The messages for one text.
fn problems(text: &str) -> Vec<String> {
    let knowledge = format::read(&[("x.cmds".to_owned(), text.to_owned())], &["find".to_owned()]);
    knowledge.problems.iter().map(|p| p.to_string()).collect()
}

#[test]
fn problems_name_the_line_and_what_is_right() {
    let cases = [
        ("programm sort", "x.cmds:1: ‘programm’ cannot stand here"),
        ("program", "x.cmds:1: at least one name"),
        ("program a\n flag -x", "x.cmds:2: indent with two spaces"),
        ("program a\n    flag -x", "x.cmds:2: indented too far"),
        ("program a\n  flags -x", "x.cmds:2: ‘flags’ is no line; there are: style flag"),
        ("program a\n  style gnuu", "x.cmds:2: no such style; there are: gnu posix"),
        ("program a\n  option -o FILE wirte", "x.cmds:2: ‘wirte’: no such role; there are: text name"),
        ("program a\n  option -o file write", "x.cmds:2: ‘file’ is no option name in this style"),
        (
            "program a\n  flag -x : vcs:comit",
            "x.cmds:2: ‘vcs:comit’: no such version control action; there are: stage",
        ),
        ("program a\n  flag -x\n  flag -y -x", "x.cmds:3: ‘-x’ is already listed in line 2"),
        (
            "program a\n  operands FILE* read\n  operands when -x FILE* write",
            "x.cmds:2: an `operands` line without",
        ),
        ("program a\n  operands when -x FILE* write", "x.cmds:2: `when -x`: no such option"),
        ("program a\n  operands A* read B* read", "x.cmds:2: only one operand may repeat"),
        ("program a\n  reader fnid", "x.cmds:2: no reader ‘fnid’; there are: find"),
        ("program a\nprogram b a", "x.cmds:2: program ‘a’ is already described in x.cmds:1"),
        ("program a\n  sub x\n  sub y x", "x.cmds:3: subcommand ‘x’ is already described in line 2"),
        ("program a\n  example a -x", "x.cmds:2: expected `example COMMAND => EFFECT…`"),
        ("program a\n  effect when vcs:commit", "x.cmds:2: expected option names after `when`"),
        ("program a\n  effect unless -x vcs:commit", "x.cmds:2: `unless -x`: no such option"),
        ("program a\n  option -x NAME text VALUE", "x.cmds:2: expected `option NAME… VALUE ROLE"),
        ("program a\n  operands FILE=. read", "x.cmds:2: ‘FILE=.’: expected `NAME*=PLACE`"),
        ("program a\n  sub-after x", "x.cmds:2: expected a number of operands"),
        ("program a\n  option -x exec", "x.cmds:2: `exec` is for operands"),
        ("program a b\n  no-own-files b c", "x.cmds:2: ‘c’ is no name of this program: a b"),
        (
            "program a\n  copies with",
            "x.cmds:2: expected `alone`, or option names after `with`, `when` or `unless`",
        ),
        ("program a\n  copies alone -x", "x.cmds:2: expected `alone`, or option names"),
        ("program a\n  copies when -x", "x.cmds:2: ‘-x’: no such option of this program"),
        ("program a\n  computes rot13", "x.cmds:2: no such way to compute; there are: whole base64"),
        ("program a\n  computes", "x.cmds:2: no such way to compute"),
    ];
    for (text, expected) in cases {
        let found = problems(text);
        assert!(found.iter().any(|p| p.starts_with(expected)), "{text:?} gave {found:#?}, not {expected:?}");
    }
}

#[test]
fn a_sound_program_beside_a_broken_one_is_kept() {
    let text = "program a\n  flag -x\n\nprogram b\n  flga -x\n\nprogram c\n  operands FILE* read\n";
    let knowledge = format::read(&[("x.cmds".to_owned(), text.to_owned())], &[]);
    let names: Vec<_> = knowledge.programs.iter().flat_map(|p| &p.names).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(knowledge.problems.len(), 1);
}

#[test]
fn what_depends_on_options_and_operands_is_read() {
    let text = "program a\n  flag -l\n  option --arg NAME text VALUE run : recursive\n  operands FILE*=. read : system:mount\n  \
                effect when -l system:disk\n  effect unless -l --arg system:clock\n  effect written rc : code:native\n  \
                sub-after 1\n";
    let knowledge = format::read(&[("x.cmds".to_owned(), text.to_owned())], &[]);
    assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
    let level = &knowledge.programs[0];
    assert_eq!(
        (level.options[1].role, &level.options[1].more[..]),
        (words::Role::Text, &[words::Role::Run][..])
    );
    assert_eq!(level.operands[0].items[0].default.as_deref(), Some("."));
    assert_eq!(level.operands[0].acts, [words::Act::System("mount")]);
    let conditions: Vec<_> = level.cases.iter().map(|case| case.condition).collect();
    assert_eq!(conditions, [words::Condition::When, words::Condition::Unless, words::Condition::Written]);
    assert_eq!(level.cases[1].names, ["-l", "--arg"]);
    assert_eq!(level.sub_after, 1);
}

#[test]
fn the_documented_example_is_read_as_documented() {
    let text = "source manual\n\nprogram sort\n  flag -c -C --check[=WHEN]\n  option -o --output FILE write\n  info --help\n  operands FILE* read\n  sub x y\n    flag -z : vcs:commit recursive\n    global\n  stdin code python\n  example sort -o out in => read:in write:out\n";
    let knowledge = format::read(&[("x.cmds".to_owned(), text.to_owned())], &[]);
    assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
    let sort = &knowledge.programs[0];
    assert_eq!(sort.options.len(), 3);
    assert!(sort.options[0].names[2].optional);
    assert_eq!(sort.options[1].role, words::Role::Write);
    assert_eq!(sort.subs[0].names, ["x", "y"]);
    assert_eq!(sort.subs[0].options[0].acts.len(), 2);
    assert!(sort.subs[0].global);
    assert_eq!(sort.stdin, Some(words::Stdin::Code("python")));
    assert_eq!(knowledge.examples[0].command, "sort -o out in");
    assert_eq!(knowledge.examples[0].effects, ["read:in", "write:out"]);
}

#[test]
fn what_holds_under_some_names_of_a_program_says_under_which() {
    for word in vocabulary::facts() {
        let value = [
            ("computes", "whole"),
            ("tells", "counts"),
            ("packs", ".x"),
            ("follows", "package"),
            ("module", "x"),
            ("keeps", "basic"),
        ];
        let value = value.iter().find(|(valued, _)| *valued == word).map_or("", |(_, value)| *value);
        let line = format!("{word} {value}");
        let text = format!(
            "program a b\n  {line} a\n\nprogram c d\n  {line}\n\nprogram e\n  operands FILE* read\n\nprogram f\n  {line} a\n"
        );
        let knowledge = format::read(&[("x.cmds".to_owned(), text)], &[]);
        let names = |program: &format::Level| program.facts.first().map(|known| known.names.join(" "));
        let lists: Vec<_> = knowledge.programs.iter().map(names).collect();
        assert_eq!(lists, [Some("a".to_owned()), Some("c d".to_owned()), None], "{word}");
        assert_eq!(knowledge.problems.len(), 1, "{word}: {:?}", knowledge.problems);
    }
}

#[test]
fn what_is_known_beside_some_options_says_beside_which() {
    use words::Beside;
    let cases = [
        ("copies", Beside::All, ""),
        ("copies a", Beside::All, ""),
        ("copies alone", Beside::With, ""),
        ("copies a with -x --long", Beside::With, "-x --long"),
        ("computes hex when -x", Beside::When, "-x"),
        ("computes hex a unless --long", Beside::Unless, "--long"),
    ];
    for (line, beside, options) in cases {
        let text = format!("program a\n  flag -x --long\n  {line}\n");
        let knowledge = format::read(&[("x.cmds".to_owned(), text)], &[]);
        assert!(knowledge.problems.is_empty(), "{line}: {:?}", knowledge.problems);
        let known = &knowledge.programs[0].facts[0];
        assert_eq!((known.beside, known.options.join(" ")), (beside, options.to_owned()), "{line}");
    }
}
