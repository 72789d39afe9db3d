//! awk programs: what they read, write and execute beside filtering their input.
//!
//! gawk(1) 5.2, mawk(1), POSIX.1-2024 `awk`. Only the tokens are read, not the grammar: everything by which awk reaches
//! outside has a name or an operator of its own.

/// Most tokens of one program.
const MAX_TOKENS: usize = 20_000;

/// Most tokens between brackets that are looked through.
const MAX_INDEX: usize = 64;

/// Something that a program does beyond text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action<'t> {
    /// `getline < FILE`; `None` if the name is computed.
    Read(Option<&'t [u8]>),
    /// `print > FILE`, `>>`.
    Write(Option<&'t [u8]>, bool),
    /// `system(…)`, `| COMMAND`, `COMMAND | getline`.
    Run(Option<&'t [u8]>),
    /// `/inet/tcp/LOCAL/HOST/PORT`.
    Connect(&'t [u8]),
    Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Name(&'t [u8]),
    Number,
    /// A string; its text if it has no escapes.
    Text(Option<&'t [u8]>),
    Expression,
    Op(&'t [u8]),
    End,
}

/// What a program does; `None` if it is not understood.
pub(crate) fn actions(program: &[u8]) -> Option<Vec<Action<'_>>> {
    let tokens = tokens(program)?;
    let mut found = Vec::new();
    // The depth of brackets at which a print statement began.
    let mut printing: Option<usize> = None;
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|b| tokens.get(b)).copied();
        let after = tokens.get(at + 1).copied();
        // What follows a literal, if that is the whole operand.
        let alone = |index: usize| match (tokens.get(index), tokens.get(index + 1)) {
            (
                Some(Token::Text(text)),
                None | Some(Token::End | Token::Op(b";" | b"}" | b")" | b"|" | b"|&")),
            ) => *text,
            _ => None,
        };
        match token {
            Token::Name(b"system") => found.push(Action::Run(match (after, tokens.get(at + 3)) {
                (Some(Token::Op(b"(")), Some(Token::Op(b")"))) => alone(at + 2),
                _ => None,
            })),
            Token::Name(b"ENVIRON") => found.push(Action::Environment),
            Token::Name(b"ARGV") if !reads_element(&tokens, at) => found.push(Action::Read(None)),
            Token::Name(b"SYMTAB" | b"extension" | b"FUNCTAB") => return None,
            Token::Name(b"print" | b"printf") => printing = Some(depth),
            Token::Name(b"getline") => {
                if let Some(from) = getline_file(&tokens, at) {
                    let name = alone(from);
                    match name.filter(|n| n.starts_with(b"/inet")) {
                        Some(address) => found.push(Action::Connect(address)),
                        None => found.push(Action::Read(name)),
                    }
                }
            }
            Token::Op(b"@") => return None,
            Token::Op(b"(" | b"[" | b"{") => depth += 1,
            Token::Op(b")" | b"]" | b"}") => {
                depth = depth.saturating_sub(1);
                printing = printing.filter(|start| depth >= *start);
            }
            Token::Op(b";") | Token::End => printing = None,
            Token::Op(operator @ (b">" | b">>")) if printing == Some(depth) => {
                let name = alone(at + 1);
                match name.filter(|n| n.starts_with(b"/inet")) {
                    Some(address) => found.push(Action::Connect(address)),
                    None => found.push(Action::Write(name, *operator == b">>")),
                }
            }
            Token::Op(b"|" | b"|&") => {
                let command = if after == Some(Token::Name(b"getline")) {
                    let first = at.checked_sub(2).and_then(|b| tokens.get(b));
                    let whole = matches!(
                        first,
                        None | Some(
                            Token::End | Token::Op(b";" | b"{" | b"(" | b"," | b"!") | Token::Name(b"while")
                        )
                    );
                    match before {
                        Some(Token::Text(text)) if whole => text,
                        _ => None,
                    }
                } else {
                    alone(at + 1)
                };
                match command.filter(|c| c.starts_with(b"/inet")) {
                    Some(address) => found.push(Action::Connect(address)),
                    None => found.push(Action::Run(command)),
                }
            }
            _ => {}
        }
    }
    Some(found)
}

/// `ARGV[…]` that is not assigned.
fn reads_element(tokens: &[Token<'_>], at: usize) -> bool {
    let close = tokens.iter().skip(at).take(MAX_INDEX).position(|t| *t == Token::Op(b"]"));
    close.is_some_and(|close| tokens.get(at + close + 1) != Some(&Token::Op(b"=")))
}

/// Where the file of `getline [variable] < file` begins.
fn getline_file(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut next = at + 1;
    if matches!(tokens.get(next), Some(Token::Op(b"$"))) {
        next += 1;
    }
    if matches!(tokens.get(next), Some(Token::Name(_) | Token::Number)) {
        next += 1;
        if tokens.get(next) == Some(&Token::Op(b"[")) {
            next += 1 + tokens.iter().skip(next).take(MAX_INDEX).position(|t| *t == Token::Op(b"]"))?;
        }
    }
    (tokens.get(next) == Some(&Token::Op(b"<"))).then_some(next + 1)
}

fn tokens(text: &[u8]) -> Option<Vec<Token<'_>>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        if out.len() > MAX_TOKENS {
            return None;
        }
        match first {
            b' ' | b'\t' | b'\r' => rest = tail,
            b'\\' => rest = tail.strip_prefix(b"\n").or_else(|| tail.strip_prefix(b"\r\n"))?,
            b'\n' => {
                // A line goes on after these.
                if !matches!(
                    out.last(),
                    Some(Token::Op(b"," | b"{" | b"&&" | b"||") | Token::Name(b"do" | b"else"))
                ) {
                    out.push(Token::End);
                }
                rest = tail;
            }
            b'#' => {
                let end = tail.iter().position(|b| *b == b'\n').unwrap_or(tail.len());
                rest = tail.get(end..)?;
            }
            b'"' => {
                let (inner, after) = quoted(tail, b'"')?;
                out.push(Token::Text((!inner.contains(&b'\\')).then_some(inner)));
                rest = after;
            }
            b'/' if begins_expression(out.last()) => {
                let (_, after) = expression(tail)?;
                out.push(Token::Expression);
                rest = after;
            }
            b'0'..=b'9' => {
                let end =
                    rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'.').unwrap_or(rest.len());
                out.push(Token::Number);
                rest = rest.get(end..)?;
            }
            b if b.is_ascii_alphabetic() || *b == b'_' => {
                let end =
                    rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(rest.len());
                out.push(Token::Name(rest.get(..end)?));
                rest = rest.get(end..)?;
            }
            b'!'..=b'~' => {
                let two = rest.get(..2).filter(|two| {
                    matches!(
                        *two,
                        b"||" | b"&&" | b">>" | b"|&" | b">=" | b"<=" | b"==" | b"!=" | b"++" | b"--"
                    )
                });
                let operator = two.or(rest.get(..1))?;
                out.push(Token::Op(operator));
                rest = rest.get(operator.len()..)?;
            }
            _ => return None,
        }
    }
    Some(out)
}

/// Whether a slash here begins a regular expression; after an operand it divides.
fn begins_expression(before: Option<&Token<'_>>) -> bool {
    match before {
        None | Some(Token::End) => true,
        Some(Token::Op(op)) => !matches!(*op, b")" | b"]" | b"$" | b"++" | b"--"),
        Some(Token::Name(name)) => {
            matches!(*name, b"print" | b"printf" | b"return" | b"case" | b"in" | b"getline" | b"else" | b"do")
        }
        Some(Token::Number | Token::Text(_) | Token::Expression) => false,
    }
}

/// The text before a closing quote, and what follows it.
fn quoted(text: &[u8], quote: u8) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            b if b == quote => return Some((text.get(..at)?, text.get(at + 1..)?)),
            _ => at += 1,
        }
    }
}

/// A regular expression up to its slash, which a bracket expression hides in some awks and not in others.
fn expression(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (inner, after) = quoted(text, b'/')?;
    let mut open = false;
    let mut escaped = false;
    for byte in inner {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => open = true,
            b']' => open = false,
            _ => {}
        }
    }
    (!open).then_some((inner, after))
}

#[cfg(test)]
mod tests {
    use super::{Action, actions};

    #[test]
    fn harmless_programs_do_nothing_else() {
        let programs = [
            "{print $1}",
            "NR==1",
            "BEGIN{FS=\":\"} {print $1, $NF}",
            "/re/ {c++} END {print c}",
            "$3 > 100 {print $0}",
            "{print ($1 > $2)}",
            "{s += $1 / 2} END {print s / NR}",
            "length($0) > 80",
            "!seen[$0]++",
            "NR>=5 && NR<=10",
            "{gsub(/a|b/, \"x\"); print}",
            "{printf \"%s\\n\", $1}",
            "$1 ~ /x/ || $2 == \"y\"",
            "{print \"system(rm)\"}",
            "# system(\"x\")\n{print}",
            "while ((getline line) > 0) n++",
            "{a[$1] = $2} END {for (k in a) print k, a[k]}",
            "/[|]/ {print}",
            "BEGIN{print ARGV[1]}",
            "{ if ($1 > 5) print $2; else print $3 }",
            "{print $1\n}\n\nEND {print NR}",
        ];
        for program in programs {
            assert_eq!(actions(program.as_bytes()), Some(vec![]), "{program}");
        }
    }

    #[test]
    fn what_reaches_further_is_found() {
        let cases: [(&str, Vec<Action<'_>>); 16] = [
            ("BEGIN{system(\"rm -rf x\")}", vec![Action::Run(Some(b"rm -rf x"))]),
            ("{system(\"rm \" $1)}", vec![Action::Run(None)]),
            ("{system($0)}", vec![Action::Run(None)]),
            ("{print | \"sh\"}", vec![Action::Run(Some(b"sh"))]),
            ("{print $0 | cmd}", vec![Action::Run(None)]),
            ("BEGIN{\"id\" | getline x}", vec![Action::Run(Some(b"id"))]),
            ("BEGIN{while ((\"ls\" | getline x) > 0) print x}", vec![Action::Run(Some(b"ls"))]),
            ("BEGIN{\"a\" \"b\" | getline}", vec![Action::Run(None)]),
            ("{print > \"out\"}", vec![Action::Write(Some(b"out"), false)]),
            ("{print $1, $2 >> \"out\"}", vec![Action::Write(Some(b"out"), true)]),
            ("{print > $1\".txt\"}", vec![Action::Write(None, false)]),
            ("{print > \"a\" $1}", vec![Action::Write(None, false)]),
            ("BEGIN{getline x < \"f\"}", vec![Action::Read(Some(b"f"))]),
            ("BEGIN{while ((getline line < file) > 0) print line}", vec![Action::Read(None)]),
            ("BEGIN{print ENVIRON[\"HOME\"]}", vec![Action::Environment]),
            ("BEGIN{s=\"/inet/tcp/0/h/80\"; s |& getline}", vec![Action::Run(None)]),
        ];
        for (program, expected) in cases {
            assert_eq!(actions(program.as_bytes()), Some(expected), "{program}");
        }
        assert_eq!(
            actions(b"BEGIN{\"/inet/tcp/0/h/80\" |& getline}"),
            Some(vec![Action::Connect(b"/inet/tcp/0/h/80")])
        );
    }

    #[test]
    fn what_may_be_anything_is_not_understood() {
        for program in [
            "BEGIN{f=\"system\"; @f(\"id\")}",
            "@load \"x\"",
            "{print \"a}",
            "/a",
            "BEGIN{SYMTAB[\"x\"]=1}",
            "/[/]/",
        ] {
            assert_eq!(actions(program.as_bytes()), None, "{program}");
        }
    }
}
