//! `completions`: scripts for shells that complete verbs and options, written from the tables.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{DECISIONS, Flag, VERBS, Verb};
use crate::terminal::{self, Fail};
use std::fmt::Write as _;

/// Carries out the verb.
///
/// # Errors
/// The shell is not known.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let script = match args.operands.as_slice() {
        [shell] => match shell.to_str() {
            Some("bash") => bash(),
            Some("zsh") => zsh(),
            Some("fish") => fish(),
            _ => return Err(Fail::usage(format!("unknown shell {shell:?}; shells: {}", SHELLS.join(" ")))),
        },
        _ => return Err(Fail::usage(format!("name one shell; shells: {}", SHELLS.join(" ")))),
    };
    terminal::line(script.trim_end()).map(|()| Exit::Allow)
}

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// What an option's value may be: these words, or files if there are none and its placeholder is that of a path.
fn values(verb: &Verb, flag: &Flag) -> Vec<&'static str> {
    match flag.name {
        "profile" => shward::policy::profiles::SHIPPED.iter().map(|(name, _)| *name).collect(),
        "contain" => shward::Containment::ALL.iter().map(|level| level.name()).collect(),
        "gate" => vec!["off", "observe", "enforce"],
        "approve" if verb.name == "run" => vec!["auto", "tty", "never"],
        "approve" => vec!["auto", "never"],
        "color" => vec!["auto", "always", "never"],
        "decision" => DECISIONS.to_vec(),
        _ => Vec::new(),
    }
}

fn is_path(verb: &Verb, flag: &Flag) -> bool {
    matches!(flag.value, Some("FILE" | "DIR" | "PATH" | "PARENT" | "WHO")) && values(verb, flag).is_empty()
}

/// The words that may stand right after a verb: those with which the lines of its usage begin.
fn operands(verb: &Verb) -> Vec<&'static str> {
    let lines = verb.usage.lines().map(|line| {
        let line = line.trim_start();
        line.strip_prefix("shward ").and_then(|rest| rest.strip_prefix(verb.name)).unwrap_or(line)
    });
    let first = |line: &'static str| line.split_whitespace().next().unwrap_or_default();
    lines
        .map(first)
        .flat_map(|word| match word {
            "HOST" => vec![shward_hosts::claude::HOST],
            "SHELL" => SHELLS.to_vec(),
            _ if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()) => vec![word],
            _ => Vec::new(),
        })
        .collect()
}

/// Whether files may stand after a verb.
fn takes_files(verb: &Verb) -> bool {
    verb.usage.contains("FILE")
}

fn options(verb: &Verb) -> Vec<String> {
    verb.flags().map(|flag| format!("--{}", flag.name)).collect()
}

/// After `--` stands a command, which is completed as one word after the other, by names of files.
fn bash() -> String {
    let verbs: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    let mut out = format!(
        "# bash completion of shward: eval \"$(shward completions bash)\"\n\
         _shward() {{\n\
         \x20   local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb=${{COMP_WORDS[1]}} words= word\n\
         \x20   COMPREPLY=()\n\
         \x20   if ((COMP_CWORD == 1)); then\n\
         \x20       mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- \"$cur\")\n\
         \x20       return\n\
         \x20   fi\n\
         \x20   for word in \"${{COMP_WORDS[@]:2:COMP_CWORD-2}}\"; do\n\
         \x20       [[ $word == -- ]] && return\n\
         \x20   done\n\
         \x20   case \"$verb $before\" in\n",
        verbs.join(" ")
    );
    for verb in VERBS {
        for flag in verb.flags().filter(|flag| flag.value.is_some()) {
            let words = values(verb, flag);
            // What is completed by names of files, or can only be typed, is left to the default.
            let action = match words.is_empty() {
                true => "return".to_owned(),
                false => format!("words='{}'", words.join(" ")),
            };
            let _ = writeln!(out, "        '{} --{}') {action} ;;", verb.name, flag.name);
        }
    }
    out.push_str("        *) case \"$verb\" in\n");
    for verb in VERBS {
        let _ = write!(out, "            {}) words='{}'", verb.name, options(verb).join(" "));
        let first = operands(verb).join(" ");
        if !first.is_empty() {
            let _ = write!(out, "; ((COMP_CWORD == 2)) && words=\"{first} $words\"");
        }
        out.push_str(" ;;\n");
    }
    let _ = writeln!(out, "            help) words='{}' ;;", verbs.join(" "));
    out.push_str(
        "        esac ;;\n\
         \x20   esac\n\
         \x20   mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n\
         }\n\
         complete -o default -F _shward shward\n",
    );
    out
}

/// The first sentence of a help up to what it lists or puts in brackets, which is what fits beside a name.
fn short(help: &str) -> &str {
    let line = help.lines().next().unwrap_or_default();
    let end = [" (", ";", ":", ". "].iter().filter_map(|mark| line.find(mark)).min();
    line.get(..end.unwrap_or(line.len())).unwrap_or(line)
}

/// Text within single quotes of zsh and fish.
fn quoted(text: &str) -> String {
    text.replace('\'', "'\\''")
}

/// Text within a specification of zsh's `_arguments`.
fn specified(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if matches!(letter, '[' | ']' | ':' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    quoted(&out)
}

fn zsh() -> String {
    let mut out = String::from(
        "#compdef shward\n\
         # zsh completion of shward: put this into a file named _shward in a directory of $fpath\n\
         _shward() {\n\
         \x20   local -a verbs\n\
         \x20   if (( CURRENT == 2 )); then\n\
         \x20       verbs=(\n",
    );
    for verb in VERBS {
        let _ = writeln!(out, "            '{}:{}'", verb.name, quoted(&verb.summary.replace(':', "\\:")));
    }
    out.push_str(
        "        )\n\
         \x20       _describe -t verbs verb verbs\n\
         \x20       return\n\
         \x20   fi\n\
         \x20   local verb=$words[2]\n\
         \x20   shift words\n\
         \x20   (( CURRENT-- ))\n\
         \x20   case $verb in\n",
    );
    for verb in VERBS {
        let _ = writeln!(out, "        {}) _arguments \\", verb.name);
        for flag in verb.flags() {
            let value = match flag.value {
                None => String::new(),
                Some(value) => {
                    let words = values(verb, flag);
                    let action = match (words.is_empty(), is_path(verb, flag)) {
                        (false, _) => format!("({})", words.join(" ")),
                        (true, true) => "_files".to_owned(),
                        (true, false) => " ".to_owned(),
                    };
                    format!(":{}:{action}", specified(value))
                }
            };
            let _ =
                writeln!(out, "            '*--{}[{}]{value}' \\", flag.name, specified(short(flag.help)));
        }
        let words = operands(verb);
        if !words.is_empty() {
            let _ = writeln!(out, "            '1:what:({})' \\", words.join(" "));
        }
        out.push_str("            '*: :_files' ;;\n");
    }
    let verbs: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    let _ = writeln!(out, "        help) _arguments '1:verb:({})' ;;", verbs.join(" "));
    out.push_str(
        "    esac\n\
         }\n\
         if [ \"$funcstack[1]\" = _shward ]; then _shward \"$@\"; else compdef _shward shward; fi\n",
    );
    out
}

fn fish() -> String {
    let mut out = String::from(
        "# fish completion of shward: shward completions fish > ~/.config/fish/completions/shward.fish\n\
         function __shward_is -d 'This verb, and so many words before the cursor'\n\
         \x20   set -l words (commandline -opc)\n\
         \x20   test \"$words[2]\" = $argv[1]; and begin; test (count $argv) -lt 2; or test (count $words) -eq $argv[2]; end\n\
         end\n\
         complete -c shward -f\n",
    );
    for verb in VERBS {
        let _ = writeln!(
            out,
            "complete -c shward -n __fish_use_subcommand -a {} -d '{}'",
            verb.name,
            quoted(verb.summary)
        );
        let _ = writeln!(out, "complete -c shward -n '__shward_is help 2' -a {}", verb.name);
        let seen = format!("complete -c shward -n '__shward_is {}'", verb.name);
        for flag in verb.flags() {
            let value = match (flag.value, values(verb, flag)) {
                (None, _) => String::new(),
                (Some(_), words) if !words.is_empty() => format!(" -x -a '{}'", words.join(" ")),
                (Some(_), _) if is_path(verb, flag) => " -r -F".to_owned(),
                (Some(_), _) => " -x".to_owned(),
            };
            let _ = writeln!(out, "{seen} -l {}{value} -d '{}'", flag.name, quoted(short(flag.help)));
        }
        if !operands(verb).is_empty() {
            let first = operands(verb).join(" ");
            let _ = writeln!(out, "complete -c shward -n '__shward_is {} 2' -a '{first}'", verb.name);
        }
        if takes_files(verb) {
            let _ = writeln!(out, "{seen} -F");
        }
    }
    out
}
