//! The commands of GDB and LLDB (GDB 13 manual; LLDB 19 command map): those that look at a program and lead through it.
//!
//! An expression may call functions of the program, and with them those of the system: none in which a parenthesis stands is vouched
//! for.

/// Commands that show something, whatever follows them, as long as that calls nothing.
const SHOW: &str = "backtrace bt where disas disassemble down echo f frame help i image inf info l list output p \
    print printf ptype q quit exit register show source-list t target-list up v var version whatis x";

/// Commands that set marks and say what is done there.
const MARK: &str = "awatch b break breakpoint br catch clear d delete disable display enable hbreak ignore rb rbreak \
    rwatch tb tbreak undisplay watch";

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
        // `thread apply all bt`, `thread backtrace all`
        b"thread" => {
            let of_all = rest.strip_prefix(b"apply all ").map(<[u8]>::trim_ascii);
            match of_all {
                Some(inner) if inner.starts_with(b"thread") => None,
                Some(inner) => command(inner.strip_prefix(b"-s ").unwrap_or(inner)),
                None => (!rest.starts_with(b"apply")).then_some(false),
            }
        }
        _ => (has(SHOW) || has(MARK)).then_some(false),
    }
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
        ] {
            assert_eq!(starts_program(text.as_bytes()), None, "{text}");
        }
    }
}
