//! Laws over commands that people and models really wrote, put together at random: adding never relaxes, what is allowed
//! together is allowed alone, and layout changes nothing.
//!
//! The commands are those of the project's sample and of the corpora that `SHWARD_SHARED` names; `SHWARD_FULL` puts more
//! of them together, `SHWARD_SEED` others.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use bumpalo::Bump;
use shward::policy::Profile;
use shward::{Decision, Firewall, Policy, Request, Setting};
use shward_syntax::{Connector, Options, parse, print};
use std::collections::BTreeSet;
use std::path::Path;

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let other = std::env::var("SHWARD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        Self(seed.wrapping_add(other).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % bound as u64).unwrap_or(0)
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

fn rounds(few: usize, many: usize) -> usize {
    if std::env::var_os("SHWARD_FULL").is_some() { many } else { few }
}

fn commands() -> Vec<String> {
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/dev-sample.jsonl")];
    if let Some(shared) = std::env::var_os("SHWARD_SHARED") {
        for entry in std::fs::read_dir(Path::new(&shared).join("corpora/dev")).unwrap() {
            files.push(entry.unwrap().path());
        }
    }
    let mut commands = BTreeSet::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            commands.insert(row["command"].as_str().unwrap().to_owned());
        }
    }
    commands.into_iter().collect()
}

/// The decision; `None` if the command cannot be read for certain.
fn decide(firewall: &Firewall, command: &str, contained: bool) -> Option<Decision> {
    let arena = Bump::new();
    parse(&arena, command.as_bytes(), &Options::default()).ok()?;
    let mut setting = Setting::frozen();
    setting.contained = contained;
    let request = Request::command(command, "/workspace", "/home/dev");
    firewall.examine(&request, &setting).ok().map(|checked| checked.decision)
}

/// Whether the command can be put between other words: one line, that ends where it ends, and whose last part is not run
/// in the background, where standard input is another one.
fn is_one_piece(command: &str) -> bool {
    let arena = Bump::new();
    let Ok(parsed) = parse(&arena, command.as_bytes(), &Options::default()) else { return false };
    !parsed.script.items.iter().any(|item| item.background)
        && !command.contains(['\n', '#'])
        && !command.ends_with('\\')
}

/// How two commands are put together; `B` is run in all of them, and in those that are marked as if it stood alone.
const TOGETHER: &[(&str, bool)] = &[
    ("A; B", false),
    ("A && B", false),
    ("A || B", false),
    ("A | B", false),
    ("$( A ) B", false),
    ("if A; then B; fi", false),
    ("while A; do B; done", false),
    ("{ A; }\nB", false),
    ("( A ); B", true),
    ("echo \"$( A )\"; B", true),
    ("cat <( A ); B", true),
    ("f() { A; }; B", true),
];

#[test]
fn adding_never_relaxes() {
    let firewall = Firewall::new(Policy::default());
    let commands: Vec<String> = commands().into_iter().filter(|command| is_one_piece(command)).collect();
    let mut random = Random::new(1);
    let (mut judged, mut wrong) = (0, Vec::new());
    for _ in 0..rounds(6000, 400_000) {
        let (first, second) = (random.pick(&commands), random.pick(&commands));
        let (shape, alone) = *random.pick(TOGETHER);
        let contained = random.below(2) == 0;
        let (before, after) = shape.split_once('A').unwrap();
        let both = format!("{before}{first}{}", after.replace('B', second));
        let Some(decision) = decide(&firewall, &both, contained) else { continue };
        let first = decide(&firewall, first, contained).filter(|_| !shape.starts_with("f()"));
        let second = decide(&firewall, second, contained).filter(|_| alone);
        judged += 1;
        if first.max(second).is_some_and(|strictest| decision < strictest) {
            wrong.push(format!("{decision:?}, not {:?} ({contained}): {both}", first.max(second)));
        }
    }
    eprintln!("{judged} pairs");
    assert!(judged > 4000);
    assert!(wrong.is_empty(), "{} of {judged}\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}

/// Whatever a pattern means by an option of the shell, it means no less.
#[test]
fn options_by_which_patterns_mean_more_never_relax() {
    let firewall = Firewall::new(Policy::default());
    let mut relaxed = Vec::new();
    let rows = ["for f in src/*; do > $f; done", "docker run -it x --name a*b sh", "echo hi > src/*.txt"];
    let commands = commands();
    for command in commands.iter().map(String::as_str).chain(rows) {
        for option in ["dotglob", "globstar", "nocaseglob"] {
            let with = format!("shopt -s {option}\n{command}");
            for contained in [false, true] {
                let pair = (decide(&firewall, command, contained), decide(&firewall, &with, contained));
                if let (Some(before), Some(after)) = pair
                    && after < before
                {
                    relaxed.push(format!("{option}, contained {contained}: {command}"));
                }
            }
        }
    }
    assert!(relaxed.is_empty(), "{relaxed:#?}");
}

/// What cannot be read to its end hides nothing: the shell runs what stands before that, and a flood what stands behind it.
#[test]
fn what_the_floor_denies_is_denied_beside_what_is_not_read() {
    let denied = "rm -rf /";
    let beside = [
        format!("{denied}\nfi"),
        format!("{denied}\n)"),
        format!("{denied}\necho '"),
        format!("{denied}\necho $(("),
        format!("bash -c '{denied}\nfi'"),
        format!("eval '{denied}\n)'"),
        format!("bash <<E\n{denied}\nfi\nE"),
        format!("bash -c '{denied}; echo `fi`'"),
        "printf 'rm -rf $1\nfi\n' > s; . ./s /".to_owned(),
        "printf 'rm -rf $1\nfi\n' > s; bash ./s /".to_owned(),
        format!("sh -c '{denied}; [[ a && b ]]'"),
        format!("bash -c '{denied}; {}:{}'", "( ".repeat(120), " )".repeat(120)),
        format!("{}ls{}; {denied}", "( ".repeat(60), " )".repeat(60)),
        format!("{}ls; {denied}", "eval ".repeat(60)),
        format!("ls{}; {denied}", " *".repeat(9000)),
        format!("{}{denied}", ":;".repeat(50_000)),
        format!("set -- a; {}{denied}", "set -- $@ $@; ".repeat(20)),
        format!("x=aaaaaaaaaa; {}{denied}", "x=$x$x; ".repeat(40)),
        format!("{}; {denied}", (3..80).map(|n| format!("exec {n}</dev/null; ")).collect::<String>()),
    ];
    for profile in Profile::ALL {
        let firewall = Firewall::new(Policy::of_profile(profile.name()).unwrap());
        for contained in [false, true] {
            let mut setting = Setting::frozen();
            setting.contained = contained;
            for command in [denied.to_owned()].iter().chain(&beside) {
                let request = Request::command(command, "/workspace", "/home/dev");
                let decision = firewall.examine(&request, &setting).unwrap().decision;
                let shown: String = command.chars().take(60).collect();
                assert_eq!(decision, Decision::Deny, "{profile:?} contained: {contained}: {shown}");
            }
        }
    }
}

/// Each command of a list is judged at most as strictly as the list, as far as nothing before it changes what it means.
#[test]
fn what_is_allowed_together_is_allowed_alone() {
    let firewall = Firewall::new(Policy::default());
    let (mut judged, mut wrong) = (0, Vec::new());
    for command in commands() {
        if decide(&firewall, &command, false) != Some(Decision::Allow) {
            continue;
        }
        let arena = Bump::new();
        let parsed = parse(&arena, command.as_bytes(), &Options::default()).unwrap();
        let Some(item) = parsed.script.items.first() else { continue };
        // Whatever comes first starts as the whole does.
        let end = match item.list.rest.first() {
            Some((Connector::And | Connector::Or, _)) => item.list.first.span.end,
            None => item.span.end,
        };
        let text = command.get(item.span.start as usize..end as usize).unwrap();
        // The body of a here-document stands behind the line.
        if text.len() < command.len() && !text.contains("<<") {
            judged += 1;
            if decide(&firewall, text, false).is_some_and(|decision| decision != Decision::Allow) {
                wrong.push(format!("{text}\n  of {command}"));
            }
        }
    }
    eprintln!("{judged} first commands");
    assert!(judged > 100 && wrong.is_empty(), "{} of {judged}\n{}", wrong.len(), wrong.join("\n"));
}

/// The same program in the printer's layout, and in layouts made from that.
#[test]
fn layout_changes_nothing() {
    let firewall = Firewall::new(Policy::default());
    let commands = commands();
    let step = (commands.len() / rounds(1500, commands.len())).max(1);
    let (mut judged, mut wrong) = (0, Vec::new());
    for command in commands.iter().step_by(step) {
        let Some(expected) = decide(&firewall, command, false) else { continue };
        let arena = Bump::new();
        let parsed = parse(&arena, command.as_bytes(), &Options::default()).unwrap();
        let printed = String::from_utf8(print(&parsed.script)).unwrap();
        if printed.is_empty() {
            continue;
        }
        let mut layouts = vec![
            format!("# said before: rm -rf /\n\n  {command}\n\n# and after `rm -rf ~`"),
            printed.clone(),
            format!("\n\t {}\n", printed.trim_end_matches('\n')),
        ];
        if is_one_piece(&printed) && !printed.contains(['\'', '"', '\\', '`']) {
            layouts.push(printed.replace(' ', " \\\n\t "));
            layouts.push(format!("{printed}   # \"$(rm -rf /)"));
        }
        for layout in layouts {
            judged += 1;
            let decision = decide(&firewall, &layout, false);
            if decision != Some(expected) {
                wrong.push(format!("{decision:?}, not {expected:?}: {layout}\n  is {command}"));
            }
        }
    }
    eprintln!("{judged} layouts");
    assert!(wrong.is_empty(), "{} of {judged}\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

/// Programs that take options in any order, as getopt_long(3) does.
#[test]
fn the_order_of_options_changes_nothing() {
    const PROGRAMS: &[(&str, &[&str], &str)] = &[
        ("rm", &["-r", "-f", "-v", "--one-file-system"], "src"),
        ("ls", &["-l", "-a", "-h", "--sort=size"], "src"),
        ("grep", &["-r", "-n", "-i", "--include=*.rs"], "TODO src"),
        ("cp", &["-r", "-p", "-v", "-f"], "a b"),
        ("chmod", &["-R", "-v", "-c"], "777 /etc"),
        ("curl", &["-s", "-L", "-o out", "-X POST", "-d @notes.md"], "https://example.com/x"),
        ("git push", &["--force", "--tags", "-v"], "origin main"),
        ("git clean", &["-f", "-d", "-x"], ""),
        ("tar", &["-x", "-z", "-v", "-f a.tgz", "-C /tmp"], ""),
        ("sort", &["-u", "-r", "-n", "-o out"], "in"),
        ("sed", &["-i", "-n", "-e p", "-e w/etc/x"], "a"),
        ("wget", &["-q", "-O /etc/x", "--no-check-certificate"], "https://example.com"),
        ("docker run", &["--rm", "-i", "-v /:/host", "--privileged"], "alpine ls"),
        ("pip install", &["-q", "-U", "-t x"], "requests"),
        ("touch", &["-c", "-m", "-d now"], "a"),
    ];
    let firewall = Firewall::new(Policy::default());
    let mut random = Random::new(5);
    for (program, options, operands) in PROGRAMS {
        let mut order = options.to_vec();
        let expected = decide(&firewall, &format!("{program} {} {operands}", order.join(" ")), false);
        for _ in 0..24 {
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at + 1));
            }
            let command = format!("{program} {} {operands}", order.join(" "));
            assert_eq!(decide(&firewall, &command, false), expected, "{command}");
        }
    }
}
