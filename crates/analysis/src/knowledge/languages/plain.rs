//! One line in Lua, R, Julia, Elixir, Erlang or Haskell that computes and prints, as it is given behind `-e`.
//!
//! There is no grammar in this. A text is vouched for if each name in it is one that computes or prints, a name of a file to be read
//! behind one that reads, or a short name of its own that is never called: in none of these languages so short a name starts, removes
//! or evaluates anything where it is only a value, and nothing that is vouched for calls a value that it is given.

use super::report::Report;

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 4096;

/// The longest name that a text may make up.
const MAX_OWN: usize = 2;

/// Short names that are more than a value: by them everything is reached.
const MODULES: [&[u8]; 5] = [b"_G", b"cd", b"io", b"os", b"rm"];

/// What is known of a language.
struct Words {
    /// What begins a comment.
    comment: &'static [u8],
    /// Quotes around text. Two of these signs in a text begin what is more than that.
    quotes: &'static [u8],
    inserts: &'static [u8],
    /// Signs that mean more than an operation.
    signs: &'static [u8],
    /// Signs between a name and the one that it is looked up in, which belong to it.
    joins: &'static [u8],
    /// Behind this one stands the name of a column or field.
    member: u8,
    /// Words of the language, and names that compute or print, which blanks divide.
    names: &'static str,
    /// Names behind which the file stands that they read.
    reads: &'static str,
}

const LUA: Words = Words {
    comment: b"--",
    quotes: b"\"'",
    inserts: b"[[",
    signs: b"`@$?\\",
    joins: b".:",
    member: 0,
    names: "_VERSION and break do else elseif end false for if in ipairs jit.os jit.version local \
        math.abs math.ceil math.floor math.huge math.max math.min math.pi math.random math.sqrt nil \
        not or os.clock os.date os.time pairs print repeat string.byte string.char string.format \
        string.len string.lower string.rep string.reverse string.sub string.upper table.concat then \
        tonumber tostring true type until while",
    reads: "io.lines",
};

const R: Words = Words {
    comment: b"#",
    quotes: b"\"'",
    inserts: b"\\x",
    signs: b"`@?\\",
    joins: b"",
    member: b'$',
    names: "FALSE Inf NA NULL NaN R.version R.version.string Sys.Date Sys.time TRUE abs all any \
        as.character as.integer as.numeric c cat ceiling colMeans colSums colnames cor cumsum \
        data.frame dim else exp factor floor for format head header if in installed.packages iris \
        is.na length levels list log matrix max mean median min mtcars names nchar ncol nrow \
        packageVersion paste paste0 print prod quantile range rep rev rnorm round rowMeans rowSums \
        runif sd sep seq seq_along seq_len sessionInfo set.seed sort sprintf sqrt str \
        stringsAsFactors substr sum summary table tail tolower toupper unique var which",
    reads: "read.csv read.delim read.table readLines",
};

const JULIA: Words = Words {
    comment: b"#",
    quotes: b"\"",
    inserts: b"$",
    signs: b"`@$?'\\.",
    joins: b".",
    member: 0,
    names: "Float64 Int String VERSION abs ceil collect cos div end exp false float floor for gcd if in \
        isprime join length log lowercase max maximum min minimum mod parse pi print println prod \
        repeat reverse round sin sort sqrt string sum true typeof uppercase zeros",
    reads: "readline readlines",
};

const ELIXIR: Words = Words {
    comment: b"#",
    quotes: b"\"",
    inserts: b"#{",
    signs: b"`@$?'\\~:&",
    joins: b".",
    member: 0,
    names: "Enum.count Enum.max Enum.min Enum.reverse Enum.sort Enum.sum Enum.to_list Enum.uniq \
        Float.round IO.inspect IO.puts Integer.to_string String.downcase String.length \
        String.reverse String.split String.trim String.upcase System.version abs div false length \
        max min nil rem round true",
    reads: "File.read!",
};

const ERLANG: Words = Words {
    comment: b"%",
    quotes: b"\"",
    inserts: b"\\x",
    signs: b"`@$?'\\",
    joins: b":",
    member: 0,
    names: "abs div erlang:system_info halt init:stop io:format io:fwrite length lists:max lists:min \
        lists:reverse lists:seq lists:sort lists:sum math:pi math:pow math:sqrt otp_release rem \
        round",
    reads: "",
};

const HASKELL: Words = Words {
    comment: b"--",
    quotes: b"\"",
    inserts: b"\\x",
    // A brace begins a comment if a dash follows.
    signs: b"`@#?'\\:{",
    joins: b".",
    member: 0,
    names: "False True abs div drop even head in init last length let lines max maximum min minimum mod \
        not odd print product putStrLn replicate reverse show sqrt sum tail take unwords words zip",
    reads: "",
};

/// Reads a text. What cannot be vouched for is recorded as code.
pub(super) fn read<'a>(report: &mut Report<'_, 'a>, language: &'static str, text: &'a [u8]) {
    report.printed = None;
    let words = match language {
        "lua" => &LUA,
        "r" => &R,
        "julia" => &JULIA,
        "elixir" => &ELIXIR,
        "erlang" => &ERLANG,
        _ => &HASKELL,
    };
    match files(words, text) {
        Some(files) => files.into_iter().for_each(|file| {
            let path = report.literal(file);
            report.reads(Some(&path), false);
        }),
        None => report.unseen_code(language, report.text.origins),
    }
}

/// The files that a text reads, if each of its words is known.
fn files<'a>(words: &Words, text: &'a [u8]) -> Option<Vec<&'a [u8]>> {
    let is_name = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!') || *byte == b'.' && words.member == b'$'
    };
    let mut read = Vec::new();
    let mut own: Vec<&[u8]> = Vec::new();
    let mut opening = false;
    let mut rest = text;
    let mut member = false;
    if text.len() > MAX_TEXT || !text.is_ascii() {
        return None;
    }
    while let Some((&first, after)) = rest.split_first() {
        if rest.starts_with(words.comment) || words.signs.contains(&first) || rest.starts_with(b"{-") {
            return None;
        }
        let is_member = std::mem::replace(&mut member, first == words.member);
        if words.quotes.contains(&first) {
            rest = after.get(quoted(words, after, first)?.len() + 1..)?;
            // In R a name in quotes is one that is called, or looked up; and three quotes begin text that ends elsewhere.
            let next = rest.trim_ascii_start();
            if next.starts_with(b"(")
                || next.starts_with(b"::")
                || words.quotes.contains(next.first().unwrap_or(&0))
            {
                return None;
            }
        } else if first.is_ascii_digit() {
            rest = rest.get(number(rest)..)?;
            // Elsewhere than in R a name begins here (`2f(x)`).
            if let (b'$', [b'L', after @ ..]) = (words.member, rest) {
                rest = after;
            }
            if rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                return None;
            }
        } else if first.is_ascii_alphabetic() || first == b'_' {
            let name = name(words, rest, &is_name);
            rest = rest.get(name.len()..)?;
            let behind = rest.trim_ascii_start();
            let has = |names: &str| names.split(' ').any(|known| known.as_bytes() == name);
            // `for k, v in`, `local a, b =`
            let opens = std::mem::replace(&mut opening, matches!(name, b"for" | b"local"));
            if is_member {
                // Of a field nothing is called.
                if behind.starts_with(b"(") {
                    return None;
                }
            } else if has(words.reads) {
                let inner = behind.strip_prefix(b"(")?.trim_ascii_start();
                let (quote, inner) = inner.split_first()?;
                let file = words.quotes.contains(quote).then(|| quoted(words, inner, *quote)).flatten()?;
                let ends = inner.get(file.len() + 1..)?.trim_ascii_start();
                let plain = !file.is_empty() && !file.iter().any(|byte| b":\\|~".contains(byte));
                if !plain || !matches!(ends.first(), Some(b')' | b',')) {
                    return None;
                }
                read.push(file);
                rest = inner.get(file.len() + 1..)?;
            } else if !has(words.names) {
                let called =
                    matches!(behind.first(), Some(b'(' | b'{' | b'"' | b'\'')) || rest.starts_with(b".");
                if name.len() > MAX_OWN || called || MODULES.contains(&name) {
                    return None;
                }
                // It gets its value here, or has got it before.
                let gets = behind.starts_with(b"=") && !behind.starts_with(b"==")
                    || behind.starts_with(b"<-")
                    || behind.starts_with(b"in ")
                    || behind.starts_with(b",") && opens;
                if gets {
                    own.push(name);
                } else if !own.contains(&name) {
                    return None;
                }
            }
        } else {
            if !(first.is_ascii_whitespace() || first.is_ascii_punctuation()) {
                return None;
            }
            // What is called is a name, and nothing that was looked up.
            let next = after.trim_ascii_start().first();
            let calls = match first {
                b')' | b']' | b'}' => match next {
                    Some(b'(') => true,
                    Some(b'{') => words.joins.contains(&b':'),
                    Some(quote) => words.joins.contains(&b':') && words.quotes.contains(quote),
                    None => false,
                },
                b'.' => after.first() == Some(&b'('),
                _ => false,
            };
            // `[=[` begins text in Lua.
            if calls || rest.starts_with(words.inserts) || rest.starts_with(b"[=") {
                return None;
            }
            rest = after;
        }
    }
    Some(read)
}

/// How long the number is that a text begins with.
fn number(text: &[u8]) -> usize {
    let digits = |from: usize| text.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if let Some([b'.', b'0'..=b'9', ..]) = text.get(length..) {
        length += 1 + digits(length + 1);
    }
    match text.get(length..) {
        Some([b'e' | b'E', b'0'..=b'9', ..]) => length + 1 + digits(length + 1),
        Some([b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..]) => length + 2 + digits(length + 2),
        _ => length,
    }
}

/// The name that a text begins with, and what it is looked up in.
fn name<'t>(words: &Words, text: &'t [u8], is_name: &impl Fn(&u8) -> bool) -> &'t [u8] {
    let mut length = 0;
    loop {
        let here = text.get(length..).unwrap_or_default();
        length += here.iter().take_while(|byte| is_name(byte)).count();
        match text.get(length..) {
            Some([join, next, ..])
                if words.joins.contains(join) && (next.is_ascii_alphabetic() || *next == b'_') =>
            {
                length += 1
            }
            _ => return text.get(..length).unwrap_or_default(),
        }
    }
}

/// What stands before the closing quote, if it is text and nothing else.
fn quoted<'t>(words: &Words, text: &'t [u8], quote: u8) -> Option<&'t [u8]> {
    let mut at = 0;
    loop {
        let here = text.get(at..)?;
        match here {
            [b'\\', b'n' | b't' | b'\\' | b'"' | b'\'', ..] => at += 2,
            [b'\\', ..] => return None,
            [byte, ..] if *byte == quote => return text.get(..at),
            _ if here.starts_with(words.inserts) => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_computes_is_told_from_the_rest() {
        for (words, text) in [
            (&LUA, "print(1+1)"),
            (&LUA, "for i=1,10 do print(i, i*i) end"),
            (&LUA, "print(string.format(\"%d\\n\", 3), math.floor(2.5))"),
            (&LUA, "for l in io.lines(\"a.txt\") do print(#l) end"),
            (&R, "1+1"),
            (&R, "summary(mtcars)"),
            (&R, "d <- read.csv(\"data.csv\"); print(head(d)); print(summary(d$price))"),
            (&R, "cat(R.version.string, \"\\n\")"),
            (&R, "installed.packages()[,c(1,3)]"),
            (&R, "x <- c(1.5, 2); for (i in 1:3) print(x[i %% 2 + 1])"),
            (&JULIA, "println(sum(1:100))"),
            (&ELIXIR, "IO.puts(1+1)"),
            (&ELIXIR, "IO.puts(String.upcase(\"a\"))"),
            (&ERLANG, "io:format(\"~p~n\",[1+1]), halt()."),
            (&HASKELL, "sum [1..5]"),
            (&R, "sum(c(1L, 2e-3, 1.5E+10))"),
            (&R, "print(c(1L, 2e-3, 1e5, 2.5e3))"),
        ] {
            assert!(files(words, text.as_bytes()).is_some(), "{text}");
        }
        for (words, text) in [
            (&LUA, "os.execute(\"x\")"),
            (&LUA, "os = 1"),
            (&LUA, "load(\"x\")()"),
            (&LUA, "io.open(\"x\", \"w\")"),
            (&LUA, "local f = load; f(\"x\")"),
            (&LUA, "_G[\"os\"][\"execute\"](\"x\")"),
            (&LUA, "print(1) --[[ x ]] os.execute(\"x\")"),
            (&LUA, "string.gsub(\"x\", \".+\", dofile)"),
            (&LUA, "x.y(1)"),
            (&LUA, "os[\"execute\"](\"x\")"),
            (&LUA, "io['popen']'x'"),
            (&LUA, "local a = {print}; a[1]'x'"),
            (&R, "cat(\"x\", file=\"/etc/x\")"),
            (&R, "(get(\"system\"))(\"x\")"),
            (&LUA, "f\"x\""),
            (&LUA, "io.lines(\"a\", x)(os.execute)"),
            (&LUA, "s:rep(os)"),
            // A bracket of another length holds text, too, in which quotes are nothing.
            (&LUA, "print([=[ \" ]=]) os.execute('x') print([=[ \" ]=])"),
            // In R a text that stands before a parenthesis names what is called.
            (&R, "\"system\"('x')"),
            (&R, "'unlink' (\"x\")"),
            (&R, "readLines(\"~/x\")"),
            (&R, "x"),
            (&R, "system(\"x\")"),
            (&R, "do.call(\"system\", list(\"x\"))"),
            (&R, "sapply(\"x\", \"system\")"),
            (&R, "base::system(\"x\")"),
            (&R, "eval(parse(text=\"x\"))"),
            (&R, "`system`(\"x\")"),
            (&R, "e$system(\"x\")"),
            (&R, "source(\"/tmp/x.R\")"),
            (&R, "read.csv(pipe(\"x\"))"),
            (&R, "read.csv(\"https://example.com/x\")"),
            (&R, "unlink(\"x\", recursive=TRUE)"),
            (&R, "q <- get(\"system\"); q(\"x\")"),
            (&JULIA, "run(`x`)"),
            (&JULIA, "println(\"$(run(x))\")"),
            (&JULIA, "Base.run(x)"),
            (&JULIA, "rm(\"x\")"),
            (&JULIA, "include(\"x\")"),
            // A number before a name is a factor.
            (&JULIA, "1rm(\"x\")"),
            (&JULIA, "1.5rm(\"x\")"),
            (&JULIA, "0x1rm(\"x\")"),
            (&JULIA, "x = \"\"\" \" \"\"\"; run(`x`); y = \"\"\" \" \"\"\""),
            (&ELIXIR, "System.cmd(\"x\", [])"),
            (&ELIXIR, ":os.cmd(~c\"x\")"),
            (&ELIXIR, "IO.puts(\"#{System.cmd(\"x\", [])}\")"),
            (&ERLANG, "os:cmd(\"x\")"),
            (&ERLANG, "apply(os, cmd, [\"x\"])"),
            (&ERLANG, "X = os, X:cmd(\"x\")"),
            (&HASKELL, "System.Process.callCommand \"x\""),
            (&HASKELL, "readFile \"x\""),
            (&LUA, "print([=[\"]=]) os.execute([=[x]=]) print([=[\"]=])"),
            (&R, "\"system\"(\"x\")"),
            (&R, "\"system\" (\"x\")"),
            (&R, "'base'::'system'"),
            (&JULIA, "1rm(\"x\")"),
            (&JULIA, "1.5e3rm(\"x\")"),
            (&JULIA, "2run(1)"),
            (&JULIA, "print(\"\"\"a\" max \"\"\")"),
            (&ELIXIR, "IO.puts(\"\"\"\n\"\n\"\"\")\nSystem.shell(\"> /1/max\")"),
            (&HASKELL, "print 1 {- \" -} >> writeFile \"max\" \"min\" {- \" -}"),
            (&HASKELL, "print 1writeFile"),
            (&HASKELL, "{- \" -} removeFile (show 1) {- \" -}"),
        ] {
            assert!(files(words, text.as_bytes()).is_none(), "{text}");
        }
    }
}
