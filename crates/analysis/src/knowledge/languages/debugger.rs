//! The commands of GDB and LLDB (GDB 13 manual; LLDB 19 command map): those that look at a program and lead through it.
//!
//! An expression may call functions of the program, and with them those of the system: none in which a parenthesis stands is vouched
//! for.

/// Commands that show something, whatever follows them, as long as that calls nothing.
const SHOW: &str = "backtrace bt where disas disassemble down echo f frame help i image inf info l list output p \
    print printf ptype q quit exit register show up v var version whatis x";

/// Of these commands, those below them that only look; others carry out further commands (`frame apply`, also cut short), or
/// keep them for later (`breakpoint command add`).
const BELOW: [(&str, &str); 5] = [
    ("breakpoint br", "set list delete disable enable clear"),
    ("f frame", "variable var v select info function level address"),
    ("image", "lookup list"),
    ("register", "read"),
    ("thread t", "backtrace info list select until step-in step-inst step-inst-over step-out step-over"),
];

/// Options of those that set marks, or look: others of LLDB's carry out commands, or write files.
const OPTIONS: &str = "-a -A -c -f -F -l -L -m -n -r -s -v --address --file --format --func-regex --line --name --count \
    -function -line -location -source -full -frame-arguments --";

/// Commands that set marks and say what is done there.
const MARK: &str = "awatch b br break breakpoint catch clear d delete disable display enable hbreak ignore rb rbreak rwatch tb \
    tbreak undisplay watch";

/// Commands that start the program, or let it go on.
const RUN: &str = "advance c continue fin finish kill n next nexti ni process r run s si start starti step stepi u \
    until";

/// What may be set: how things are shown.
const SETTINGS: &str =
    "breakpoint confirm disassembly-flavor height listsize pagination print style verbose width";

/// Whether a word is one of these.
fn is_among(words: &str, word: &[u8]) -> bool {
    words.split(' ').any(|known| known.as_bytes() == word)
}

/// Whether a text is nothing but such commands, and whether the program is started by them. `None`: it may be others.
pub(super) fn starts_program(text: &[u8]) -> Option<bool> {
    let mut starts = false;
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        starts |= command(line.trim_ascii())?;
    }
    Some(starts)
}

/// The same of one command.
fn command(line: &[u8]) -> Option<bool> {
    if line.is_empty() || line.starts_with(b"#") {
        return Some(false);
    }
    // A parenthesis calls, an equals sign changes the program, and the rest belongs to a shell.
    if line.iter().any(|byte| b"()=`|;<>&\\".contains(byte)) {
        return None;
    }
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'/')).unwrap_or(line.len());
    let (word, rest) = line.split_at_checked(end)?;
    let rest = rest.trim_ascii();
    let has = |words: &str| is_among(words, word);
    if has(RUN) {
        // Only the name of what LLDB does with the process, or a number or place up to which it goes.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.*+-".contains(byte);
        let starts = matches!(word, b"r" | b"run" | b"start" | b"starti" | b"process");
        let alone = rest.is_empty()
            || word == b"process" && matches!(rest, b"launch" | b"continue" | b"kill" | b"status");
        return (if starts { alone } else { rest.iter().all(plain) }).then_some(true);
    }
    match word {
        b"set" => {
            let what = rest.split(|byte| matches!(byte, b' ' | b'\t')).next()?;
            is_among(SETTINGS, what).then_some(false)
        }
        // `thread apply all bt`
        b"thread" if rest.starts_with(b"apply all ") => {
            let inner = rest.strip_prefix(b"apply all ")?.trim_ascii();
            let inner = inner.strip_prefix(b"-s ").unwrap_or(inner);
            (!inner.starts_with(b"thread")).then(|| command(inner)).flatten()
        }
        _ => ((has(SHOW) || has(MARK) || has("thread t")) && only_looks(word, rest)).then_some(false),
    }
}

/// Whether what follows a command leaves it one that only looks, or sets a mark.
fn only_looks(word: &[u8], rest: &[u8]) -> bool {
    // LLDB takes the quotes off.
    let words = rest.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    let mut words = words.filter(|word| !word.is_empty());
    // Quotes end what LLDB puts its own around. The program says which files its source is in, not a path. Objective-C calls in
    // brackets.
    if matches!(word, b"display" | b"undisplay") && rest.contains(&b'"')
        || matches!(word, b"l" | b"list") && rest.contains(&b'/')
        || rest.starts_with(b"[")
        || rest.windows(2).any(|two| two == b" [")
    {
        return false;
    }
    // LLDB keeps commands for when it stops at a mark, and takes any beginning of the word.
    let keeps = |first: &[u8]| first.len() > 1 && b"command".starts_with(first) && rest.len() > first.len();
    if is_among(MARK, word) && words.clone().next().is_some_and(keeps) {
        return false;
    }
    // The variables that a program would get are the debugger's own.
    let is_environment = |first: &[u8]| first.len() > 2 && b"environment".starts_with(first);
    if word == b"show" && words.clone().next().is_some_and(is_environment) {
        return false;
    }
    // What is examined begins with no option, but LLDB writes it to files.
    if word == b"x" && words.clone().any(|word| word.len() > 1 && word.starts_with(b"-")) {
        return false;
    }
    let below = BELOW.iter().find(|(names, _)| is_among(names, word)).map(|(_, below)| *below);
    if let (Some(below), Some(first)) = (below, words.clone().next()) {
        let number = first.iter().all(|byte| byte.is_ascii_digit() || b".-".contains(byte));
        if !number && !is_among(below, first) {
            return false;
        }
    }
    words.all(|word| {
        !word.starts_with(b"-") || word.iter().skip(1).all(u8::is_ascii_digit) || is_among(OPTIONS, word)
    })
}

#[cfg(test)]
mod tests {
    use super::starts_program;

    #[test]
    fn what_looks_is_told_from_what_acts() {
        for text in [
            "bt",
            "bt full",
            "info locals",
            "p x",
            "x/10i $pc",
            "thread apply all bt",
            "break main",
            "set pagination off",
            "thread backtrace all",
            "thread 2",
            "frame variable",
            "f 3",
            "breakpoint set -n main",
            "breakpoint set --file a.c --line 3",
            "x/4x $sp - 8",
            "image lookup -n main",
            "t 2",
            "frame 1",
            "break continue_here",
            "watch -l x",
        ] {
            assert_eq!(starts_program(text.as_bytes()), Some(false), "{text}");
        }
        for text in ["run", "r", "start", "process launch", "break main\nrun\nbt\nquit"] {
            assert_eq!(starts_program(text.as_bytes()), Some(true), "{text}");
        }
        for text in [
            "shell rm -rf ~",
            "!ls",
            "call system(\"x\")",
            "p system(\"x\")",
            "python import os",
            "source x",
            "run > /etc/x",
            "run `id`",
            "set args x; y",
            "pipe bt | sh",
            "| bt | sh",
            "define x",
            "set exec-wrapper env",
            "thread apply all shell ls",
            "bt\nshell ls",
            "dump memory x 0 1",
            "set logging file x",
            "expression -- 1",
            "platform shell ls",
            "script x",
            "command script import x",
            "process launch -- x",
            "process handle",
            "make",
            "cd /",
            "file x",
            "load x",
            "remote put x",
            "compile code x",
            "generate-core-file x",
            "frame apply all shell ls",
            "f apply all shell ls",
            "frame app 1 shell ls",
            "thread appl all shell ls",
            "thread apply all frame apply all shell ls",
            "breakpoint command add -o \"platform shell x\" 1",
            "breakpoint set -n main -C \"platform shell x\"",
            "breakpoint set -n main --command \"platform shell x\"",
            "breakpoint set -Hn main -HC \"platform shell x\"",
            "b -n main -C \"platform shell x\"",
            "breakpoint write -f x",
            "breakpoint read -f x",
            "watch command add -o \"platform shell x\" 1",
            "display x\" -o \"platform shell x",
            "x --outfile x -c 10 $sp",
            "x -ox $sp",
            "b main \"-C\" \"platform shell x\"",
            "x \"-ox\" $sp",
            "thread trace dump instructions -F x",
            "image load x",
            "p [NSTask launch]",
            "list /etc/x:1",
            "x -o /etc/x 0x10",
            "x/10i -o /etc/x",
            "thread trace export ctf -f x",
            "t apply all shell ls",
            "thread a all shell ls",
            "thread apply all t apply all shell ls",
            "f ap all shell ls",
            "breakpoint command add 1 -o \"platform shell ls\"",
            "breakpoint set -n main -C 'platform shell ls'",
            "br com add 1",
            "watch command add 1",
            "b main' -C 'platform shell ls",
            "display 1\" -o \"platform shell ls",
            "show environment",
            "show env PATH",
        ] {
            assert_eq!(starts_program(text.as_bytes()), None, "{text}");
        }
    }
}
