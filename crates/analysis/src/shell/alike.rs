//! What zsh and the Korn shells read as bash does: plain commands of literal words, quoted variables and substitutions, in
//! the compound commands of POSIX.
//!
//! These shells share bash's syntax and give it other meanings: `=cmd` and qualifiers of globs, variables that are not
//! split, arrays that count from 1, `$x[1]` and `$x:h`, a pipeline whose last stage runs in the shell itself, a second
//! redirection that does not replace the first, an `echo` that reads backslashes (zshexpn(1), zshmisc(1), ksh(1)). What is
//! not among the forms listed here is therefore not understood.

use shward_syntax::{
    AndOr, Assignment, AssignmentValue, CaseEnd, Command, CommandKind, Descriptor, Parameter, ParameterName,
    ParameterOperation, PartKind, Pipeline, Redirect, RedirectOperator, RedirectTarget, Script,
    SimpleCommand, Word, WordPart,
};

/// Names that these shells do not look up as programs, and that do something else than in bash, or that bash has not.
const OTHER_COMMANDS: &[&str] = &[
    "-",
    ".",
    "alias",
    "always",
    "autoload",
    "bg",
    "bindkey",
    "builtin",
    "bye",
    "chdir",
    "command",
    "compctl",
    "coproc",
    "declare",
    "dirs",
    "disable",
    "disown",
    "echotc",
    "echoti",
    "emulate",
    "enable",
    "end",
    "fc",
    "fg",
    "float",
    "foreach",
    "function",
    "functions",
    "getln",
    "getopts",
    "hash",
    "hist",
    "history",
    "integer",
    "jobs",
    "let",
    "limit",
    "local",
    "log",
    "logout",
    "mapfile",
    "nameref",
    "nocorrect",
    "noglob",
    "popd",
    "print",
    "private",
    "pushd",
    "pushln",
    "r",
    "read",
    "readarray",
    "readonly",
    "redirect",
    "rehash",
    "repeat",
    "return",
    "sched",
    "select",
    "setopt",
    "shopt",
    "source",
    "stat",
    "stop",
    "suspend",
    "time",
    "times",
    "trap",
    "ttyctl",
    "type",
    "typeset",
    "ulimit",
    "unalias",
    "unfunction",
    "unhash",
    "unlimit",
    "unsetopt",
    "vared",
    "whence",
    "where",
    "which",
    "zcompile",
    "zformat",
    "zle",
    "zmodload",
    "zparseopts",
    "zprof",
    "zpty",
    "zregexparse",
    "zselect",
    "zsocket",
    "zstyle",
    "zsystem",
    "ztcp",
];

/// Variables that mean something to these shells (zshparam(1)), but for those that every shell has.
const OTHER_VARIABLES: &[&str] = &[
    "ARGV0",
    "CDPATH",
    "COLUMNS",
    "DIRSTACKSIZE",
    "EGID",
    "ENV",
    "ERRNO",
    "EUID",
    "FCEDIT",
    "FIGNORE",
    "FPATH",
    "FUNCNEST",
    "GID",
    "HISTCHARS",
    "HISTCMD",
    "HISTFILE",
    "HISTSIZE",
    "HOME",
    "IFS",
    "KEYBOARD_HACK",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "LOGCHECK",
    "MAIL",
    "MAILCHECK",
    "MAILPATH",
    "MANPATH",
    "MODULE_PATH",
    "NULLCMD",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "PATH",
    "POSTEDIT",
    "PPID",
    "PROMPT",
    "PROMPT2",
    "PROMPT3",
    "PROMPT4",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PSVAR",
    "PWD",
    "RANDOM",
    "READNULLCMD",
    "REPORTMEMORY",
    "REPORTTIME",
    "RPROMPT",
    "RPROMPT2",
    "RPS1",
    "RPS2",
    "SECONDS",
    "SHLVL",
    "SPROMPT",
    "STTY",
    "TERM",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TIMEFMT",
    "TMOUT",
    "TMPPREFIX",
    "TMPSUFFIX",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "UID",
    "USERNAME",
    "WATCH",
    "WATCHFMT",
    "WORDCHARS",
    "ZDOTDIR",
    "ZLS_COLORS",
    "_",
    "aliases",
    "argv",
    "builtins",
    "cdpath",
    "commands",
    "compstate",
    "dirstack",
    "errnos",
    "fignore",
    "fpath",
    "funcstack",
    "functions",
    "histchars",
    "history",
    "historywords",
    "jobdirs",
    "jobstates",
    "jobtexts",
    "keymaps",
    "mailpath",
    "manpath",
    "mapfile",
    "module_path",
    "modules",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "patchars",
    "pipestatus",
    "prompt",
    "psvar",
    "reswords",
    "signals",
    "status",
    "termcap",
    "terminfo",
    "userdirs",
    "usergroups",
    "watch",
    "widgets",
    "words",
];

/// Whether every shell with this syntax reads a script as bash does.
pub(super) fn is_alike(script: &Script<'_>) -> bool {
    script.items.iter().all(|item| list(&item.list))
}

fn list(list: &AndOr<'_>) -> bool {
    pipeline(&list.first) && list.rest.iter().all(|(_, next)| pipeline(next))
}

fn pipeline(pipeline: &Pipeline<'_>) -> bool {
    // Beside a pipe a redirection is a second way for the same output or input.
    let joined = pipeline.stages.len() > 1;
    let whole = |redirect: &Redirect<'_>| !joined || redirect.descriptor == Descriptor::Number(2);
    !pipeline.timed
        && !pipeline.stages.is_empty()
        && pipeline.stages.iter().all(|stage| {
            !stage.pipes_stderr && stage.command.redirects.iter().all(whole) && command(stage.command)
        })
}

fn command(command: &Command<'_>) -> bool {
    let twice = |(index, one): (usize, &Redirect<'_>)| {
        let before = command.redirects.get(..index).unwrap_or_default();
        before.iter().any(|other| number(other) == number(one))
    };
    if command.redirects.iter().enumerate().any(twice) || !command.redirects.iter().all(redirect) {
        return false;
    }
    match &command.kind {
        CommandKind::Simple(command) => simple(command),
        CommandKind::BraceGroup(script) | CommandKind::Subshell(script) => is_alike(script),
        CommandKind::If(node) => {
            node.arms.iter().all(|(condition, body)| is_alike(condition) && is_alike(body))
                && node.otherwise.as_ref().is_none_or(is_alike)
        }
        CommandKind::While(node) | CommandKind::Until(node) => {
            is_alike(&node.condition) && is_alike(&node.body)
        }
        CommandKind::For(node) => {
            variable(node.name)
                && node.words.is_none_or(|words| words.iter().all(word))
                && is_alike(&node.body)
        }
        CommandKind::Case(node) => {
            word(&node.word)
                && node.arms.iter().all(|arm| {
                    arm.end != CaseEnd::Continue && arm.patterns.iter().all(pattern) && is_alike(&arm.body)
                })
        }
        _ => false,
    }
}

const fn number(redirect: &Redirect<'_>) -> Option<u32> {
    match (redirect.descriptor, redirect.operator) {
        (Descriptor::Number(number), _) => Some(number),
        (_, RedirectOperator::Input | RedirectOperator::HereDocument | RedirectOperator::HereString) => {
            Some(0)
        }
        (_, RedirectOperator::Output | RedirectOperator::Append | RedirectOperator::DuplicateOutput) => {
            Some(1)
        }
        _ => None,
    }
}

fn redirect(redirect: &Redirect<'_>) -> bool {
    if number(redirect).is_none_or(|number| number > 2) {
        return false;
    }
    match (redirect.operator, &redirect.target) {
        (RedirectOperator::Output | RedirectOperator::Append, RedirectTarget::Word(file)) => word(file),
        // `<1-9>` is a pattern.
        (RedirectOperator::Input, RedirectTarget::Word(file)) => {
            let ranges =
                |text: &[u8]| text.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
            word(file) && !fixed(file).is_none_or(|text| ranges(&text))
        }
        (RedirectOperator::DuplicateOutput, RedirectTarget::Word(file)) => {
            matches!(file.bare(), Some(b"1" | b"2" | b"-"))
        }
        (RedirectOperator::HereString, RedirectTarget::Word(text)) => word(text),
        (RedirectOperator::HereDocument, RedirectTarget::HereDocument(text)) => {
            text.quoted || quoted(text.body())
        }
        _ => false,
    }
}

fn simple(simple: &SimpleCommand<'_>) -> bool {
    if !simple.assignments.iter().all(assignment) || !simple.words.iter().all(word) {
        return false;
    }
    // Redirections without a command start one of the shell's choice; that there are none is looked at with them.
    let Some((first, rest)) = simple.words.split_first() else { return !simple.assignments.is_empty() };
    let Some(name) = fixed(first) else { return false };
    let literal = |word: &Word<'_>| fixed(word).is_some();
    let plain =
        |word: &Word<'_>| fixed(word).is_some_and(|text| !text.starts_with(b"-") && !text.starts_with(b"+"));
    let alone = simple.assignments.is_empty();
    match name.as_slice() {
        b"" => false,
        b":" | b"true" | b"false" | b"pwd" | b"umask" | b"wait" | b"break" | b"continue" | b"shift"
        | b"exit" => alone && rest.iter().all(literal),
        b"test" | b"[" | b"kill" => true,
        b"printf" => rest.first().and_then(fixed).is_some_and(|format| is_plain_format(&format)),
        b"eval" => alone && rest.iter().all(plain),
        b"exec" => alone && rest.first().is_some_and(|program| plain(program) && !other(program)),
        b"cd" => {
            alone && matches!(rest, [only] if plain(only) && fixed(only).is_some_and(|text| !text.is_empty()))
        }
        b"echo" => {
            let reads = |word: &Word<'_>| fixed(word).is_none_or(|text| text.contains(&b'\\'));
            alone && !rest.iter().any(reads)
        }
        b"export" | b"unset" => {
            alone
                && rest.iter().all(|word| {
                    let text = match *word.parts() {
                        [WordPart { kind: PartKind::Literal(text), .. }, ..] => text,
                        _ => return false,
                    };
                    let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
                    super::words::is_name(name) && variable(name)
                })
        }
        b"set" => {
            let flags: [&[u8]; 5] = [b"-e", b"-u", b"-x", b"-eu", b"-eux"];
            match rest {
                [only] if fixed(only).is_some_and(|text| flags.contains(&text.as_slice())) => alone,
                [first, ..] => alone && first.bare() == Some(b"--"),
                [] => false,
            }
        }
        _ => !other(first) && !name.starts_with(b"%"),
    }
}

/// Whether a format has nothing but text, `%s` and `\n`.
fn is_plain_format(format: &[u8]) -> bool {
    let after = |sign: u8, letter: u8| {
        let pairs = format.windows(2).filter(|pair| pair.first() == Some(&sign));
        format.last() != Some(&sign) && pairs.into_iter().all(|pair| pair.last() == Some(&letter))
    };
    !format.starts_with(b"-") && after(b'%', b's') && after(b'\\', b'n')
}

fn other(name: &Word<'_>) -> bool {
    fixed(name).is_none_or(|name| {
        OTHER_COMMANDS.iter().any(|other| other.as_bytes() == name.as_slice())
            || name.starts_with(b"zf_")
            || name.starts_with(b"comp")
    })
}

fn variable(name: &[u8]) -> bool {
    !OTHER_VARIABLES.iter().any(|other| other.as_bytes() == name) && !name.starts_with(b"ZSH_")
}

fn assignment(assignment: &Assignment<'_>) -> bool {
    let AssignmentValue::Scalar(value) = &assignment.value else { return false };
    let part = |part: &WordPart<'_>| match part.kind {
        // What is assigned is not split.
        PartKind::CommandSubstitution(substitution) => is_alike(&substitution.script),
        PartKind::Parameter(inner) => value.parts().len() == 1 && parameter(inner),
        _ => plain_part(part),
    };
    variable(assignment.name)
        && assignment.subscript.is_none()
        && !assignment.append
        && !value.parts().first().is_some_and(begins_with_equals)
        && value.parts().iter().all(part)
}

fn word(word: &Word<'_>) -> bool {
    if matches!(word.bare(), Some(b"{}" | b"]"))
        || matches!(*word.parts(), [WordPart { kind: PartKind::Glob(b'['), .. }])
    {
        return true;
    }
    !word.parts().first().is_some_and(begins_with_equals) && word.parts().iter().all(plain_part)
}

fn pattern(word: &Word<'_>) -> bool {
    word.parts().iter().all(|part| matches!(part.kind, PartKind::Glob(b'*' | b'?')) || plain_part(part))
}

fn begins_with_equals(part: &WordPart<'_>) -> bool {
    matches!(part.kind, PartKind::Literal(text) if text.starts_with(b"="))
}

/// A part that is one and the same text everywhere.
fn plain_part(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Literal(text) => text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-./,:@%+=".contains(byte)),
        PartKind::Quoted(_) | PartKind::SingleQuoted(_) | PartKind::Tilde(b"") => true,
        PartKind::DoubleQuoted(parts) => quoted(parts),
        _ => false,
    }
}

/// What stands in double quotes or in a here-document.
fn quoted(parts: &[WordPart<'_>]) -> bool {
    let mut after_name = false;
    for part in parts {
        let alike = match part.kind {
            PartKind::Quoted(text) | PartKind::Literal(text) => {
                let subscript = after_name && matches!(text.first(), Some(b'[' | b':'));
                let special = text.iter().any(|byte| matches!(byte, b'$' | b'`' | b'!'));
                !subscript && !special
            }
            PartKind::Parameter(inner) => {
                let list = matches!(inner.name, ParameterName::Special(b'@'));
                parameter(inner) && (!list || parts.len() == 1)
            }
            PartKind::CommandSubstitution(substitution) => is_alike(&substitution.script),
            _ => false,
        };
        if !alike {
            return false;
        }
        after_name = matches!(part.kind, PartKind::Parameter(_));
    }
    true
}

fn parameter(parameter: &Parameter<'_>) -> bool {
    let known = match parameter.name {
        ParameterName::Variable(name) => variable(name) || matches!(name, b"HOME" | b"PWD" | b"PATH"),
        ParameterName::Positional(number) => (1..=9).contains(&number),
        ParameterName::Special(byte) => matches!(byte, b'@' | b'?' | b'$'),
    };
    known
        && parameter.subscript().is_none()
        && !parameter.indirect()
        && matches!(parameter.operation(), ParameterOperation::None)
}

/// The text of a word in which nothing is expanded.
fn fixed(word: &Word<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for part in word.parts().iter() {
        match part.kind {
            PartKind::Literal(more) | PartKind::Quoted(more) | PartKind::SingleQuoted(more) => {
                text.extend_from_slice(more);
            }
            PartKind::Glob(byte) => text.push(byte),
            PartKind::DoubleQuoted(parts) => {
                for part in parts {
                    let PartKind::Quoted(more) = part.kind else { return None };
                    text.extend_from_slice(more);
                }
            }
            _ => return None,
        }
    }
    Some(text)
}
