//! What lines of a Makefile say besides what they make: programs that make starts by variables, and functions that do more than
//! put text together (GNU make, 8 "Functions" and 10.3 "Variables Used by Implicit Rules").

use crate::knowledge::installed::is_installed;

/// Functions that read or write files, or make lines of what they are given; `call` calls the others as well.
const ACTING: [&[u8]; 4] = [b"file", b"eval", b"guile", b"shell"];

/// Words that stand before the name of a variable.
const MODIFIERS: [&[u8]; 4] = [b"export", b"override", b"private", b"unexport"];

/// Variables that name what the rules start that make brings along.
const STARTED: [&[u8]; 16] = [
    b"AR", b"AS", b"CC", b"CPP", b"CTANGLE", b"CWEAVE", b"CXX", b"FC", b"LD", b"LEX", b"LINT", b"M2C", b"PC",
    b"RM", b"YACC", b"TEX",
];

/// The name of a variable without what stands before it.
pub(super) fn name_of(head: &[u8]) -> &[u8] {
    let mut name = head.trim_ascii();
    while let Some(rest) = MODIFIERS.iter().find_map(|word| {
        name.strip_prefix(*word).filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
    }) {
        name = rest.trim_ascii();
    }
    name
}

/// The name and the value of an assignment, without the signs that may stand before its `=`.
pub(super) fn assigned(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = text.split_at_checked(text.iter().position(|byte| *byte == b'=')?)?;
    let end = name.iter().rposition(|byte| !matches!(byte, b'?' | b':' | b'+' | b' ' | b'\t'));
    let name = name.get(..end.map_or(0, |at| at + 1)).unwrap_or_default();
    Some((name_of(name), value.get(1..).unwrap_or_default().trim_ascii()))
}

/// The place of the program that a rule of make's own starts by a variable of this name, if the value says one.
pub(super) fn started<'t>(name: &[u8], value: &'t [u8]) -> Option<&'t [u8]> {
    if !STARTED.contains(&name) || value.contains(&b'$') {
        return None;
    }
    // Whose home it is does not matter to what a project says.
    let is_place =
        |word: &&[u8]| word.contains(&b'/') && !word.starts_with(b"-") && !is_installed(word, b"\0");
    value.split(u8::is_ascii_whitespace).find(is_place)
}

/// Whether a line calls a function that does more than put text together, but for `$(shell …)`, which is read where it stands.
pub(super) fn calls_more(line: &[u8]) -> bool {
    let mut rest = line;
    while let Some(at) = rest.iter().position(|byte| *byte == b'$') {
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some((open @ (b'(' | b'{'), after)) = rest.split_first() else { continue };
        let call = after.trim_ascii_start();
        let end = call.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(call.len());
        let (word, behind) = call.split_at(end);
        let is_call = behind.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        let read = (*open, behind.first()) == (b'(', Some(&b' ')) && call.len() == after.len();
        let by_name = || {
            let name =
                behind.split(|byte| matches!(byte, b',' | b')')).next().unwrap_or_default().trim_ascii();
            ACTING.contains(&name) || name.starts_with(b"$")
        };
        if is_call
            && match word {
                b"shell" => !read,
                b"call" => by_name(),
                word => ACTING.contains(&word),
            }
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{assigned, calls_more, name_of, started};

    #[test]
    fn functions_that_act_are_found() {
        for line in [
            "X := $(file >x,y)",
            "${file <x}",
            "$(eval $(x))",
            "a: $( eval x)",
            "${shell rm}",
            "$(shell\trm)",
            "$(call shell,rm)",
            "$(call file,>x)",
            "$(call $(f),x)",
            "$(if x,$(guile x))",
        ] {
            assert!(calls_more(line.as_bytes()), "{line}");
        }
        for line in
            ["$(shell ls)", "$(call files,x)", "$(wildcard *.c)", "$(file)", "$(foreach x,y,$(x))", "$@ $"]
        {
            assert!(!calls_more(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn assignments_are_divided() {
        for sign in ["=", ":=", "::=", "?=", "+=", " = ", " := "] {
            let line = format!(" private CC{sign}x y ");
            assert_eq!(assigned(line.as_bytes()), Some((&b"CC"[..], &b"x y"[..])));
        }
        assert_eq!(assigned(b"a b"), None);
    }

    #[test]
    fn variables_are_told_by_their_names() {
        for (head, name) in [
            ("CC", "CC"),
            ("override SHELL ", "SHELL"),
            ("export  override\tCC", "CC"),
            ("exports", "exports"),
        ] {
            assert_eq!(name_of(head.as_bytes()), name.as_bytes());
        }
        assert_eq!(started(b"CC", b"ccache /tmp/x -I/y"), Some(&b"/tmp/x"[..]));
        for (name, value) in [("CC", "gcc -I/x"), ("CC", "/usr/bin/gcc"), ("CC", "$(X)/gcc"), ("X", "/tmp/x")]
        {
            assert_eq!(started(name.as_bytes(), value.as_bytes()), None);
        }
    }
}
