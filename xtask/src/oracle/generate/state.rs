//! Short scripts about what a shell keeps: variables that hide each other, assignments before commands, functions, positional
//! parameters, builtins that fail, callbacks, traps, and aliases over several lines.

use super::random::Random;

const NAMES: &[&str] = &["x", "x", "x", "y"];
const VALUES: &[&str] = &["p", "q", "r", "'p a'", "'q b'", "$y", "\"$x\"", "''"];

/// A script of one to six statements, after functions that they may call.
pub(super) fn script(random: &mut Random) -> String {
    let mut text = String::new();
    let aliases = random.once_in(4);
    if aliases {
        text.push_str("shopt -s expand_aliases\n");
    }
    for name in ["f", "g"] {
        if random.once_in(3) {
            continue;
        }
        let body: Vec<String> = (0..=random.below(3)).map(|_| statement(random, 2, aliases)).collect();
        text.push_str(&format!("{name}() {{ {}; }}{}", body.join("; "), random.pick(&["\n", "; "])));
    }
    for _ in 0..=random.below(6) {
        text.push_str(&statement(random, 2, aliases));
        text.push_str(random.pick(if aliases { &["\n", "\n", "; "] } else { &["; ", "\n"] }));
    }
    // What is kept shows in what is run.
    let last = ["$x", "$x a", "\"$@\"", "$1", "f", "q", "${x[0]}", "a"];
    format!("{text}{}", random.pick(&last))
}

fn statement(random: &mut Random, depth: usize, aliases: bool) -> String {
    let name = random.pick(NAMES);
    let value = random.pick(VALUES);
    match random.below(if depth == 0 { 16 } else { 22 }) {
        0 | 1 => format!("{name}={value}"),
        2 | 3 => {
            let command = random.pick(&[
                "f",
                "g",
                "f p",
                "export x",
                "local x",
                "declare x",
                "read x <<< p",
                "unset x",
                "q",
            ]);
            format!("{name}={value} {command}")
        }
        4 => format!("{name}={value} printf -v {} {value}", random.pick(NAMES)),
        5 => {
            let kind = random.pick(&[
                "local",
                "local",
                "declare",
                "declare -g",
                "export",
                "typeset",
                "local -I",
                "declare -p",
                "declare -x",
                "export -n",
            ]);
            let given = if random.once_in(2) { format!("={value}") } else { String::new() };
            format!("{kind} {name}{given}")
        }
        6 => {
            let options = random.pick(&["", "", "-v ", "-f ", "-fv ", "-Z ", "-n "]);
            format!("unset {options}{}", random.pick(&["x", "x", "y", "f", "q"]))
        }
        7 | 8 => random.pick(&["$x", "$y", "${x[0]}", "\"$@\"", "$1", "p \"$x\""]).to_string(),
        9 | 10 => format!("{} {}", random.pick(&["f", "g"]), random.pick(&["", "p", "q b"])),
        11 => random
            .pick(&["set -- p a", "set -- q", "shift", "set -", "set -x -", "cd d", "cd /tmp"])
            .to_string(),
        12 => fails(random, name, value),
        13 => random
            .pick(&[
                "exit",
                "return",
                "exit 3",
                "exit --help",
                "return --help",
                "return 1",
                "exit $x",
                "logout",
            ])
            .to_string(),
        14 => format!("trap {} EXIT", random.pick(&["'\"$@\"'", "'$x'", "p", "f", "'$1 $y'"])),
        15 if aliases => alias(random, value),
        15 => format!("{}() {{ {}; }}", random.pick(&["q", "f"]), random.pick(&["p", "$x", ":"])),
        16 => format!(
            "mapfile -t -c1 -C {} y <<< {value}",
            quoted(&format!("{};:", statement(random, 0, false)))
        ),
        17 => format!("{name}={value} eval {}", quoted(&statement(random, depth - 1, false))),
        18 => format!("( {} )", statement(random, depth - 1, aliases)),
        19 => format!("if q; then {}; fi", statement(random, depth - 1, aliases)),
        20 => format!("q && {}", statement(random, depth - 1, aliases)),
        _ => format!("readonly -f {}", random.pick(&["f", "g", "q"])),
    }
}

/// What fails, or does something else than it seems to.
fn fails(random: &mut Random, name: &str, value: &str) -> String {
    match random.below(10) {
        0 => format!("read -u 9 {name} <<< {value}"),
        1 => format!("read 1 {name} <<< {value}"),
        2 => format!("read -ra y {name} <<< {value}"),
        3 => format!("printf -v {name}"),
        4 => format!("printf -v {name} -q {value}"),
        5 => format!("export '{name}[0]={value}'").replace("''", ""),
        6 => "pushd -q d > /dev/null".to_owned(),
        7 => format!("declare -p {name}={value}"),
        8 => "cd -Z d".to_owned(),
        _ => "shopt -su nullglob".to_owned(),
    }
}

fn alias(random: &mut Random, value: &str) -> String {
    let name = random.pick(&["a", "q", "r"]);
    match random.below(8) {
        0..=3 => format!("alias {name}={value}"),
        4 => format!("unalias {name}"),
        5 => random.pick(&["shopt -u expand_aliases", "shopt -s expand_aliases", "unalias -a"]).to_string(),
        6 => format!("{} {name}={value}", random.pick(&["alias -Z", "unalias -Z"])),
        _ => format!("{name} b"),
    }
}

fn quoted(script: &str) -> String {
    format!("'{}'", script.replace('\'', r"'\''"))
}
