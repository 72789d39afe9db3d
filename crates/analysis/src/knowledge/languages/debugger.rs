//! The commands of GDB and LLDB (GDB 13 manual; LLDB 19 command map): those that look at a program and lead through it.
//!
//! An expression may call functions of the program, and with them those of the system: none in which a parenthesis stands is vouched
//! for.

/// Commands that show something, whatever follows them, as long as that calls nothing.
const SHOW: &str = "backtrace bt where disas disassemble down echo f frame help i image inf info l list output p \
    print printf ptype q quit exit register show up v var version whatis x";

/// Commands that set marks and say what is done there.
const MARK: &str = "awatch b break breakpoint br catch clear d delete disable display enable hbreak ignore rb rbreak \
    rwatch tb tbreak undisplay watch";

/// Commands that start the program, or let it go on.
const RUN: &str = "advance c continue fin finish kill n next nexti ni process r run s si start starti step stepi u \
    until";

/// What may be set: how things are shown.
const SETTINGS: &str =
    "breakpoint confirm disassembly-flavor height listsize pagination print style verbose width";

/// Options that say where a mark is set, and nothing of what is done there.
const WHERE: &str = "-n --name -l --line -location -a --address -r --func-regex";

/// What is done with threads that only looks at one, or lets it go on.
const THREADS: &str = "backtrace continue find info list select step-in step-out step-over until";

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
        // `thread apply all bt`, `thread backtrace all`
        b"thread" | b"t" => {
            let of_all = rest.strip_prefix(b"apply all ").map(<[u8]>::trim_ascii);
            match of_all {
                Some(inner) if inner.starts_with(b"t") => None,
                Some(inner) => command(inner.strip_prefix(b"-s ").unwrap_or(inner)),
                None => {
                    let what = first(rest);
                    (what.iter().all(u8::is_ascii_digit) || is_among(THREADS, what)).then_some(false)
                }
            }
        }
        // `frame apply all` takes a command, and any beginning of that word will do.
        b"frame" | b"f" if rest.starts_with(b"a") => None,
        // LLDB can put into a file what it reads.
        b"x" if rest.starts_with(b"-") || rest.windows(2).any(|two| two == b" -") => None,
        _ if has(MARK) => marks(rest).then_some(false),
        _ => has(SHOW).then_some(false),
    }
}

/// The word with which a text begins.
fn first(text: &[u8]) -> &[u8] {
    text.split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default()
}

/// Whether nothing is done at a mark but to stop, or to show a value. What LLDB is told in short it puts between quotes.
fn marks(rest: &[u8]) -> bool {
    let what = first(rest);
    let acts = what.len() > 1 && b"command".starts_with(what) && what.len() < rest.len();
    let mut words = rest.split(|byte| matches!(byte, b' ' | b'\t'));
    !acts
        && !rest.iter().any(|byte| matches!(byte, b'"' | b'\''))
        && words.all(|word| !word.starts_with(b"-") || is_among(WHERE, word))
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
            "t 2",
            "thread 2",
            "thread backtrace all",
            "t apply all bt full",
            "frame 1",
            "frame variable",
            "breakpoint set -n main",
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
            "x -o /etc/x 0x10",
            "x/10i -o /etc/x",
            "thread trace export ctf -f x",
            "breakpoint write -f x",
            "t apply all shell ls",
            "thread a all shell ls",
            "thread apply all t apply all shell ls",
            "frame apply all shell ls",
            "f ap all shell ls",
            "breakpoint command add 1 -o \"platform shell ls\"",
            "breakpoint set -n main -C 'platform shell ls'",
            "br com add 1",
            "watch command add 1",
            "breakpoint read -f x",
            "b main' -C 'platform shell ls",
            "display 1\" -o \"platform shell ls",
        ] {
            assert_eq!(starts_program(text.as_bytes()), None, "{text}");
        }
    }
}
