//! Programs and instructions that are executed.

use crate::condition::{Condition, Subject, on};
use crate::decision::Tier::{Four, Three, Two};
use crate::kinds::{Kinds, Scopes};
use crate::rule::Rule;
use shward_analysis::{EffectKind, Origins, Scope, Unknown, is_known_language, names_grave};
use shward_syntax::OneOf;

/// Commands with which the firewall's own rules are answered or changed.
const CONTROLS: [&[u8]; 9] =
    [b"approve", b"deny", b"install", b"uninstall", b"undo", b"policy", b"init", b"hook", b"serve"];

const OURS: &[u8] = b"shward";

fn controls_us(subject: &Subject<'_>) -> bool {
    subject.program() == OURS && is_told_to_control(subject)
}

/// Whether a program is given one of these commands, or perhaps one.
fn is_told_to_control(subject: &Subject<'_>) -> bool {
    let words = subject.invocation.and_then(|invocation| invocation.argv.get(1..)).unwrap_or_default();
    words.iter().any(|word| word.known().is_none_or(|text| CONTROLS.contains(&text)))
}

static SHELLS: OneOf<7> = OneOf::new(["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"]);

/// Whether a rule is about a program as such, whatever it does.
pub(super) fn is_named(program: &[u8]) -> bool {
    program == OURS || SHELLS.has(program) || MINERS.has_in_any_case(program)
}

/// Whether a shell is told to be interactive, and not given a command.
fn is_interactive_shell(subject: &Subject<'_>) -> bool {
    let Some(invocation) = subject.invocation.filter(|_| SHELLS.has(subject.program())) else {
        return false;
    };
    let options =
        invocation.argv.iter().skip(1).map_while(|word| word.known().filter(|text| text.starts_with(b"-")));
    let has = |letter: u8| {
        options.clone().filter(|option| !option.starts_with(b"--")).any(|option| option.contains(&letter))
    };
    has(b'i') && !has(b'c')
}

/// Programs whose only purpose on somebody else's machine is to use it up.
static MINERS: OneOf<12> = OneOf::new([
    "xmrig",
    "xmr-stak",
    "minerd",
    "cpuminer",
    "cgminer",
    "bfgminer",
    "ethminer",
    "nbminer",
    "t-rex",
    "phoenixminer",
    "lolminer",
    "teamredminer",
]);

fn mines(subject: &Subject<'_>) -> bool {
    MINERS.has_in_any_case(subject.program())
}

/// Variables that make other programs load or run what they name.
const LOADERS: [&[u8]; 12] = [
    b"LD_PRELOAD",
    b"LD_LIBRARY_PATH",
    b"LD_AUDIT",
    b"DYLD_INSERT_LIBRARIES",
    b"DYLD_LIBRARY_PATH",
    b"BASH_ENV",
    b"ENV",
    b"PROMPT_COMMAND",
    b"PERL5OPT",
    b"PYTHONSTARTUP",
    b"LESSOPEN",
    b"GIT_SSH_COMMAND",
];

fn loads(subject: &Subject<'_>) -> bool {
    matches!(subject.reason(), Some(Unknown::Variable(name)) if LOADERS.contains(name))
}

/// A file that this same command has written, from its own text or from other files: in the workspace it is the project's
/// own code, which the next command may run unasked. Where it lies is judged with the program that is executed.
///
/// Text that stands in the command has to be known as it is executed: what a program has rearranged, or what may be one
/// text or another, nobody has read, nor what a program says of its own accord. Of what is built the source is as good as the
/// product.
fn is_just_written(subject: &Subject<'_>) -> bool {
    let own = Origins::WRITTEN.union(Origins::LITERAL).union(Origins::FILE);
    let built = subject.detail() == "native";
    let copied = subject.origins().contains(Origins::FILE) && !subject.origins().contains(Origins::LITERAL);
    let read = copied || is_seen(subject) && is_known_language(subject.detail()) || built;
    subject.origins().contains(Origins::WRITTEN) && own.contains(subject.origins()) && read
}

/// Text of which a reader did not understand a part, and which names what does harm, or places outside.
fn is_grave(subject: &Subject<'_>) -> bool {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Code { language, text: Some(text), .. }) => {
            // In these, two slashes begin a comment, and routes begin with one.
            // Markup closes with one.
            let is_markup = *language == "settings" && text.trim_ascii_start().starts_with(b"<");
            let has_places = !matches!(*language, "php" | "source") && !is_markup;
            names_grave(language, text)
                || has_places && subject.is_opaque() && subject.mentions().outside
                || is_markup && leads_outside(text)
        }
        _ => false,
    }
}

/// Whether a build that is written as markup (Ant) has a value that is a place outside, or takes part of itself from an address.
fn leads_outside(text: &[u8]) -> bool {
    const STARTS: [&[u8]; 4] = [b"/", b"..", b"~", b"file:"];
    let mut rest = text;
    let mut is_build = false;
    let mut leads = false;
    while let Some((first, after)) = rest.split_first() {
        match first {
            b'<' => {
                is_build |= after.starts_with(b"project");
                // What a definition from elsewhere puts in is not seen here.
                leads |= after.starts_with(b"!DOCTYPE");
                leads |=
                    after.strip_prefix(b"url").and_then(<[u8]>::first).is_some_and(u8::is_ascii_whitespace);
            }
            b'"' | b'\'' => {
                // A tag that ends behind a value is no place.
                let value = after.trim_ascii_start();
                leads |= !value.starts_with(b"/>") && STARTS.iter().any(|start| value.starts_with(start));
            }
            _ => {}
        }
        rest = after;
    }
    is_build && leads
}

/// Code of which the whole text is known.
fn is_seen(subject: &Subject<'_>) -> bool {
    matches!(subject.effect.map(|effect| &effect.kind), Some(EffectKind::Code { text: Some(_), .. }))
}

/// A text that this same command has written and that a program then loads: not a library that was built, but a
/// configuration which may name programs, and which nobody reads.
fn is_text_loaded(subject: &Subject<'_>) -> bool {
    subject.detail() == "native" && is_seen(subject)
}

/// A file that this same command has written from what is not known.
fn is_written_unseen(subject: &Subject<'_>) -> bool {
    !is_just_written(subject)
}

fn names_secret(subject: &Subject<'_>) -> bool {
    matches!(subject.mentions().scope, Some(Scope::Secret | Scope::Environment))
}

fn names_protected(subject: &Subject<'_>) -> bool {
    subject.mentions().scope.is_some()
}

fn is_too_long(subject: &Subject<'_>) -> bool {
    subject.mentions().too_long
}

fn is_reverse_shell(subject: &Subject<'_>) -> bool {
    is_remote_control(subject) && subject.signs().handed_over()
}

fn is_remote_control(subject: &Subject<'_>) -> bool {
    subject.signs().network() && subject.signs().spawning()
}

fn starts_shell(subject: &Subject<'_>) -> bool {
    subject.signs().bare_shell()
}

fn names_shell(subject: &Subject<'_>) -> bool {
    subject.signs().shell()
}

/// Words and text that nobody understands, and that are looked through for that reason.
const TOLD: Condition = on(Kinds::CODE.or(Kinds::INVOCATION)).opaque();

/// The command itself was refused by the parser, not some text that it executes.
fn is_refused(subject: &Subject<'_>) -> bool {
    subject.plan.refused.is_some()
}

pub(super) const RULES: &[Rule] = &[
    Rule::deny(
        "firewall-controlled",
        Four,
        &[
            on(Kinds::INVOCATION).and(controls_us),
            // By another name, or by a link to it.
            on(Kinds::EXECUTE).covering(|covers| covers.guarded).and(is_told_to_control),
        ],
        "Answers or changes this firewall's own decisions. Only a person may do that, at a terminal of their own.",
    )
    .instead("shward check -- COMMAND")
    .floor(),
    Rule::deny(
        "terminal-code",
        Three,
        &[
            on(Kinds::CODE).what(&["terminal"]),
            on(Kinds::CODE).from(Origins::TERMINAL),
            on(Kinds::INVOCATION).and(is_interactive_shell),
        ],
        "Hands control to {program}, which then runs whatever it is told: an interactive shell, or a program with a way \
         out to one. Nobody can judge that beforehand. Give the commands themselves.",
    )
    .instead("bash -c 'COMMANDS'"),
    Rule::deny(
        "network-code",
        Three,
        &[on(Kinds::CODE.or(Kinds::EXECUTE)).from(Origins::NETWORK)],
        "Executes what comes over the network{from}: whoever controls the other end controls this machine. Download to a \
         file in the workspace, read it, then run it.",
    )
    .flow(Origins::NETWORK)
    .instead("curl -fsSL -o script.sh URL"),
    Rule::deny(
        "secret-code",
        Three,
        &[on(Kinds::CODE.or(Kinds::EXECUTE)).from(Origins::SECRET)],
        "Executes what a file of secrets says{from}. Such a file holds data; error messages would print it.",
    )
    .flow(Origins::SECRET),
    Rule::deny(
        "decoded-code",
        Three,
        &[on(Kinds::CODE.or(Kinds::EXECUTE)).from(Origins::DECODED).and(|s| !is_seen(s))],
        "Executes text that was decoded, decrypted or unpacked{from}, so that nobody can read what it does. Write the \
         commands out.",
    )
    .instead("base64 -d FILE > decoded.txt")
    .flow(Origins::DECODED),
    Rule::contain(
        "decoded-text",
        Two,
        &[on(Kinds::CODE).from(Origins::DECODED).and(is_seen)],
        "Executes text that stands encoded in the command and is decoded{from}. It was judged, but whoever reads the \
         command does not see what it does. Write the commands out.",
    )
    .flow(Origins::DECODED),
    Rule::contain(
        "piped-text",
        Two,
        &[on(Kinds::CODE).what(&["shell"]).and(|s| is_seen(s) && !s.origins().contains(Origins::DECODED))],
        "Hands text to a shell through a pipe, which executes it. It was judged, but whoever looks for commands sees text \
         that is printed. Write the commands themselves.",
    ),
    Rule::deny(
        "miner",
        Four,
        &[on(Kinds::INVOCATION).and(mines)],
        "Starts the crypto-currency miner {program}. That uses up a machine for somebody else.",
    ),
    Rule::deny(
        "reverse-shell",
        Four,
        &[TOLD.and(is_reverse_shell)],
        "Starts a shell and opens a connection to elsewhere: whoever is at the other end gets this machine. No task needs \
         that.",
    ),
    Rule::deny(
        "secret-named",
        Three,
        &[TOLD.and(names_secret)],
        "Gives a file of keys, tokens or passwords to {program}, of which it is not known what it does with it. Use a \
         placeholder, or let a person do this step.",
    ),
    Rule::deny(
        "shell-started",
        Three,
        &[TOLD.and(starts_shell)],
        "Has {program} start a shell, which then runs whatever it is told. Nobody can judge that beforehand. Give the \
         commands themselves.",
    )
    .instead("bash -c 'COMMANDS'"),
    Rule::ask(
        "remote-control",
        Three,
        &[TOLD.and(is_remote_control)],
        "Runs code that was not understood, and that both connects to elsewhere and starts programs. Do one of the two.",
    ),
    Rule::deny(
        "protected-in-code",
        Three,
        &[on(Kinds::CODE).and(names_protected)],
        "Names a protected file (a start-up file, a device, the configuration of the system or of this firewall) in \
         {what} code that was not understood and may change it. Show the change and let a person make it.",
    ),
    Rule::deny(
        "long-code",
        Three,
        &[on(Kinds::CODE).and(is_too_long)],
        "Executes {what} code of more than 64 KiB that stands in the command. Nobody reads that much, and it is not looked \
         through here. Write it to a file in the workspace, in a command of its own, and run that.",
    ),
    Rule::ask(
        "long-argument",
        Three,
        &[TOLD.and(is_too_long)],
        "Gives {program}, of which it is not known what it does, an argument of more than 64 KiB, which is not looked \
         through here. Write it to a file in the workspace and name that.",
    ),
    Rule::ask(
        "protected-named",
        Three,
        &[TOLD.and(names_protected)],
        "Names a protected file (a start-up file, a device, the configuration of the system or of this firewall) to \
         {program}, of which it is not known what it does with it.",
    ),
    Rule::ask(
        "shell-named",
        Three,
        &[TOLD.and(names_shell)],
        "Names a shell to {program}, which is not understood here and may start it. Give the commands themselves.",
    )
    .instead("bash -c 'COMMANDS'"),
    Rule::ask(
        "loader-variable",
        Three,
        &[on(Kinds::UNKNOWN).and(loads)],
        "Sets {what}, which makes every program that is started load or run something else. Start the program without it.",
    ),
    // bash has run the lines before the one that it cannot read.
    Rule::deny(
        "syntax",
        Two,
        &[on(Kinds::UNKNOWN).what(&["syntax"]).and(is_refused)],
        "Cannot be read for certain: {what}.",
    )
    .floor(),
    Rule::ask(
        "not-parsed",
        Two,
        &[on(Kinds::UNKNOWN).what(&["syntax"]).and(|s| !is_refused(s))],
        "Executes {what}. Write it in a simpler way.",
    ),
    Rule::deny(
        "not-followed",
        Three,
        &[on(Kinds::UNKNOWN).what(&["exhausted"])],
        "Cannot be followed to its end ({what}). Split it into smaller commands, or write it in a simpler way.",
    )
    .floor(),
    Rule::ask(
        "too-much",
        Three,
        &[on(Kinds::UNKNOWN).what(&["budget"])],
        "Is too large, too deep or endless to be followed ({what}). Split it into smaller commands.",
    ),
    Rule::contain(
        "unknown-variable",
        Two,
        &[on(Kinds::UNKNOWN).what(&["variable"])],
        "Sets {what}, which can make programs run something else. Start the program without it.",
    ),
    Rule::ask(
        "unknown-program",
        Two,
        &[on(Kinds::UNKNOWN).what(&["program"])],
        "Starts a program whose name cannot be told from the command. Write the name out.",
    ),
    Rule::contain(
        "unknown-option",
        Two,
        &[on(Kinds::UNKNOWN).what(&["option", "subcommand"])],
        "Uses {what} of {program}, which is not known here, so that what it does is not either. Use a documented option, \
         or leave it out.",
    ),
    Rule::contain(
        "unknown-construct",
        Two,
        &[on(Kinds::UNKNOWN)],
        "Does something that cannot be told from the command ({what}). Write values out instead of computing them.",
    ),
    Rule::contain(
        "written-code",
        Two,
        &[on(Kinds::CODE).from(Origins::WRITTEN).and(is_written_unseen)],
        "Runs {what} code that this command itself writes{from}, out of what is not known or lies outside of the workspace, \
         so that nobody has seen it. Write the file first, in a command of its own, and look at it.",
    )
    .instead("cat FILE")
    .flow(Origins::WRITTEN),
    Rule::contain(
        "unread-code",
        Two,
        &[on(Kinds::CODE).and(|s| is_text_loaded(s) || s.detail() != "project" && (!is_just_written(s) || is_grave(s)))],
        "Runs {what} code{from} that was not understood, or that nobody has seen. Write out what it does in simple \
         commands.",
    )
    .flow(Origins::FILE),
    Rule::contain(
        "temporary-program",
        Two,
        &[on(Kinds::EXECUTE).at(Scopes::TEMP)],
        "Runs {place} from a temporary directory, where anybody may have put it. Keep programs in the workspace.",
    ),
    Rule::contain(
        "unknown-executed",
        Two,
        &[on(Kinds::EXECUTE).and(|s| !s.is_own_code())],
        "Runs {place}, of which it is not known what it does. Use a known program, or let a person decide.",
    ),
];
