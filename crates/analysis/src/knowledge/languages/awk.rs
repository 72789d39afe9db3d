//! awk programs: what they read, write and execute beside filtering their input.
//!
//! gawk(1) 5.2, mawk(1), POSIX.1-2024 `awk`. Only the tokens are read, not the grammar: everything by which awk reaches
//! outside has a name or an operator of its own.

/// Most tokens of one program.
const MAX_TOKENS: usize = 20_000;

/// Most tokens between brackets that are looked through.
const MAX_INDEX: usize = 64;

/// Most tokens of a statement that are looked through.
const MAX_STATEMENT: usize = 256;

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
            Token::Name(b"getline") => match getline_file(&tokens, at) {
                Source::Input => {}
                Source::Unknown => found.push(Action::Read(None)),
                Source::At(from) => {
                    let name = alone(from);
                    match name.filter(|n| n.starts_with(b"/inet")) {
                        Some(address) => found.push(Action::Connect(address)),
                        None => found.push(Action::Read(name)),
                    }
                }
            },
            Token::Op(b"@") => return None,
            // A function of a library (`inplace::begin`).
            Token::Op(b":") if after == Some(Token::Op(b":")) => return None,
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

/// `ARGV[…]` that is only looked at: not assigned, counted up, or handed to what may change it.
fn reads_element(tokens: &[Token<'_>], at: usize) -> bool {
    let simple = |token: &Token<'_>| matches!(token, Token::Name(_) | Token::Number | Token::Op(b"+" | b"-"));
    let Some(inner) = tokens.get(at + 2..) else { return false };
    let length = inner.iter().take(MAX_INDEX).take_while(|token| simple(token)).count();
    let bracketed = tokens.get(at + 1) == Some(&Token::Op(b"["))
        && length > 0
        && inner.get(length) == Some(&Token::Op(b"]"));
    let changed = matches!(
        inner.get(length + 1),
        Some(Token::Op(b"=" | b"++" | b"--" | b"+" | b"-" | b"*" | b"/" | b"%" | b"^" | b"["))
    );
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let taken = match before {
        Some(Token::Name(name)) => *name == b"getline",
        Some(Token::Op(b"++" | b"--")) => true,
        Some(Token::Op(b"(" | b",")) => !is_argument_to_look_at(tokens, at),
        _ => false,
    };
    bracketed && !changed && !taken
}

/// Whether the innermost parenthesis around this belongs to something that changes nothing in it.
fn is_argument_to_look_at(tokens: &[Token<'_>], at: usize) -> bool {
    let mut depth = 0usize;
    for index in (at.saturating_sub(MAX_INDEX)..at).rev() {
        match tokens.get(index) {
            Some(Token::Op(b")" | b"]")) => depth += 1,
            Some(Token::Op(b"[")) => depth = depth.saturating_sub(1),
            Some(Token::Op(b"(")) if depth > 0 => depth -= 1,
            Some(Token::Op(b"(")) => {
                let owner = index.checked_sub(1).and_then(|at| tokens.get(at));
                return matches!(
                    owner,
                    Some(Token::Name(
                        b"if"
                            | b"while"
                            | b"print"
                            | b"printf"
                            | b"sprintf"
                            | b"length"
                            | b"substr"
                            | b"index"
                            | b"tolower"
                            | b"toupper"
                            | b"int"
                    ))
                );
            }
            // `print a, ARGV[1]`
            Some(Token::End | Token::Op(b";" | b"{" | b"}")) => return true,
            None => return false,
            _ => {}
        }
    }
    at <= MAX_INDEX
}

/// The file of `getline [variable] < file`.
enum Source {
    /// None is named.
    Input,
    /// It begins here.
    At(usize),
    /// What stands before it is not taken apart.
    Unknown,
}

/// Where `getline` takes its line from.
fn getline_file(tokens: &[Token<'_>], at: usize) -> Source {
    let less = |at: usize| tokens.get(at) == Some(&Token::Op(b"<"));
    let at = at + 1;
    let end = match (tokens.get(at), tokens.get(at + 1)) {
        (Some(Token::Op(b"<")), _) => Some(at),
        (Some(Token::Name(_)), Some(Token::Op(b"["))) => {
            let inner = tokens.get(at + 2..).unwrap_or_default().iter().take(MAX_INDEX);
            let plain = inner.take_while(|token| !matches!(token, Token::Op(b"]" | b"[" | b"("))).count();
            let close = at + 2 + plain;
            (tokens.get(close) == Some(&Token::Op(b"]"))).then_some(close + 1)
        }
        (Some(Token::Name(_)), Some(Token::Op(b"(" | b"++" | b"--"))) => None,
        (Some(Token::Name(_)), _) => Some(at + 1),
        (Some(Token::Op(b"$")), Some(Token::Name(_) | Token::Number)) if less(at + 2) => Some(at + 2),
        (Some(Token::Op(b"$" | b"(" | b"++" | b"--" | b"-" | b"+" | b"!")), _) => None,
        (Some(Token::Number | Token::Text(_) | Token::Expression), _) => None,
        // Nothing that can be assigned to begins here.
        _ => return Source::Input,
    };
    match end {
        Some(end) if less(end) => Source::At(end + 1),
        Some(_) => Source::Input,
        None => {
            let rest = tokens.get(at..).unwrap_or_default();
            let statement =
                rest.iter().take_while(|token| !matches!(token, Token::End | Token::Op(b";" | b"}")));
            let mut statement = statement.take(MAX_STATEMENT + 1);
            let mut length = 0;
            let compares = statement.any(|token| {
                length += 1;
                *token == Token::Op(b"<")
            });
            if compares || length > MAX_STATEMENT { Source::Unknown } else { Source::Input }
        }
    }
}

fn tokens(text: &[u8]) -> Option<Vec<Token<'_>>> {
    let mut out = Vec::new();
    // For each parenthesis that is open, whether it is the head of a statement; and that of the last one closed.
    let mut heads: Vec<bool> = Vec::new();
    let mut headed = false;
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        if out.len() > MAX_TOKENS {
            return None;
        }
        match first {
            b' ' | b'\t' | b'\r' => rest = tail,
            b'\\' => rest = tail.strip_prefix(b"\n").or_else(|| tail.strip_prefix(b"\r\n"))?,
            b'\n' => {
                // A line goes on after these, in gawk after a question mark and a colon as well.
                if !matches!(
                    out.last(),
                    Some(Token::Op(b"," | b"{" | b"&&" | b"||" | b"?" | b":") | Token::Name(b"do" | b"else"))
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
            b'/' if begins_expression(out.last(), headed)? => {
                let (_, after) = expression(tail)?;
                out.push(Token::Expression);
                rest = after;
            }
            b'0'..=b'9' => {
                out.push(Token::Number);
                rest = rest.get(number(rest)?..)?;
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
                match operator {
                    b"(" => heads
                        .push(matches!(out.last(), Some(Token::Name(b"if" | b"while" | b"for" | b"switch")))),
                    // One that was not opened closes nothing.
                    b")" => headed = heads.pop().unwrap_or(true),
                    _ => {}
                }
                out.push(Token::Op(operator));
                rest = rest.get(operator.len()..)?;
            }
            _ => return None,
        }
    }
    Some(out)
}

/// Whether a slash here begins a regular expression; after an operand it divides. `None`: awks differ, or the grammar
/// decides. `headed`: the last parenthesis that was closed is that of `if` or the like.
fn begins_expression(before: Option<&Token<'_>>, headed: bool) -> Option<bool> {
    Some(match before {
        None | Some(Token::End) => true,
        Some(Token::Op(b")")) if headed => return None,
        Some(Token::Op(b"$")) => return None,
        Some(Token::Op(op)) => !matches!(*op, b")" | b"]" | b"++" | b"--"),
        Some(Token::Name(b"getline" | b"exit" | b"length")) => return None,
        Some(Token::Name(name)) => {
            matches!(*name, b"print" | b"printf" | b"return" | b"case" | b"in" | b"else" | b"do")
        }
        Some(Token::Number | Token::Text(_) | Token::Expression) => false,
    })
}

/// The length of a number. What stands right behind it and could be part of one to some awk is not understood.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |at: usize| text.iter().skip(at).take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    if text.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if let [b'e' | b'E', rest @ ..] = text.get(length..)? {
        let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
        let power = digits(length + 1 + sign);
        length += if power > 0 { 1 + sign + power } else { 0 };
    }
    let goes_on = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    (!text.get(length).is_some_and(goes_on)).then_some(length)
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

/// A regular expression up to its slash, which a bracket expression hides in some awks and not in others: both must see
/// the same end.
fn expression(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (inner, after) = quoted(text, b'/')?;
    (closes(inner)? && closes_simply(inner)).then_some((inner, after))
}

/// Whether no bracket expression is open at the end, where any `]` closes one.
fn closes_simply(inner: &[u8]) -> bool {
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
    !open
}

/// Whether no bracket expression is open at the end, where a `]` first in one is a member of it, and classes have
/// brackets of their own. `None` if such a class has no end.
fn closes(inner: &[u8]) -> Option<bool> {
    let mut at = 0;
    while let Some(byte) = inner.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'[' => {
                at += usize::from(inner.get(at) == Some(&b'^'));
                at += usize::from(inner.get(at) == Some(&b']'));
                loop {
                    match (inner.get(at), inner.get(at + 1)) {
                        (None, _) => return Some(false),
                        (Some(b']'), _) => break,
                        (Some(b'\\'), _) => at += 2,
                        (Some(b'['), Some(kind @ (b':' | b'.' | b'='))) => {
                            let rest = inner.get(at + 2..)?;
                            at += 4 + rest.windows(2).position(|pair| pair == [*kind, b']'])?;
                        }
                        _ => at += 1,
                    }
                }
                at += 1;
            }
            _ => {}
        }
    }
    Some(true)
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
            "/[]/",
            "/[a[:alpha:]/",
            "BEGIN{x=1system(\"X\")}",
            "BEGIN{getline / 2 / 3}",
            "{ if (1) /x/; y }",
            "{ x = $/y/ }",
        ] {
            assert_eq!(actions(program.as_bytes()), None, "{program}");
        }
    }
}
