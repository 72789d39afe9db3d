//! Scripts from a grammar: everything the shell can say, with programs that are not there and a few that are harmless.

use super::random::Random;

/// How deeply constructs are nested.
const DEPTH: usize = 3;

const PROGRAMS: &[&str] = &["p", "q", "r", "prog", "p1", "p-2"];
const NAMES: &[&str] = &["x", "y", "z", "a", "v1"];
const FILES: &[&str] = &["o", "a", "b", "d/n", "/tmp/t", "./f", "file.txt", "~/h", "../workspace/u"];
const LITERALS: &[&str] = &[
    "a", "b", "1", "-x", "--long=v", "foo", "x=y", "a b", "*", "[", "]", "{}", "~", "-", "#c", "é", "a'b",
    "$", "\\n", "p q", "", "=", "a,b", "0", "10", "-n", "./a", "d/", "%s", "E", "w1", ":", "!", "@", "i",
    "id",
];
/// The kinds of simple commands that only bash has.
const BASH_ONLY: &[usize] = &[23, 24, 32, 38];
const GLOBS: &[&str] =
    &["*", "?", "a*", "[ab]", "d/*", "*.txt", "[!a]", "src/*.c", "*nope*", "./?", "[[:alpha:]]"];

/// Whose syntax is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::oracle) enum Dialect {
    Bash,
    /// What every shell of POSIX reads as bash does.
    Posix,
}

/// A script, most often a small one: of the large ones there is seldom one in which nothing is unknown, and each costs as
/// much to run as ten small ones.
pub(super) fn script(random: &mut Random, dialect: Dialect) -> String {
    let (fuel, lines) = match random.below(8) {
        0 => (3 + random.below(30), 4),
        1 | 2 => (2 + random.below(10), 3),
        _ => (random.below(6), 2),
    };
    let mut grammar = Grammar { random, dialect, here: Vec::new(), fuel, substituted: false };
    let mut text = String::new();
    for _ in 0..=grammar.random.below(lines) {
        text.push_str(&grammar.list(DEPTH));
        text.push('\n');
        text.push_str(&grammar.documents());
    }
    text
}

/// A script inside of something that the shell reads in another way.
pub(super) fn wrapped(random: &mut Random, script: &str) -> String {
    let script = script.trim_end();
    let quoted = format!("'{}'", script.replace('\'', r"'\''"));
    match random.below(20) {
        0 => format!("p $({script}\n)"),
        1 => format!("p \"$({script}\n)\""),
        2 => format!("p \"${{nope:-$({script}\n)}}\""),
        3 => format!("cat <({script}\n)"),
        4 => format!("cat <<E\n$({script}\n)\nE"),
        5 => format!("x=(1 $({script}\n)); p \"${{x[@]}}\""),
        6 => format!("eval {quoted}"),
        7 => format!("bash -c {quoted}"),
        8 => format!("f() {{\n{script}\n}}; f a b"),
        9 => format!("x={quoted}; eval \"$x\""),
        10 => format!("echo {quoted} | bash"),
        11 => format!("bash <<< {quoted}"),
        12 => format!("if true; then\n{script}\nfi | cat"),
        13 => format!("( {script}\n); p after"),
        14 => format!("{{ {script}\n}} > o; cat o"),
        15 => format!("for x in a 'b c'; do\n{script}\ndone"),
        16 => format!("while read x y; do\n{script}\ndone < file.txt"),
        17 => format!("f() {{ local x=q; {script}\n}}; f; p \"$x\""),
        18 => format!("x=a; {script}\n p \"$x\" $y"),
        _ => format!("trap {quoted} EXIT"),
    }
}

struct Grammar<'r> {
    random: &'r mut Random,
    dialect: Dialect,
    /// Bodies of here-documents that are due at the end of the line.
    here: Vec<String>,
    /// How many more constructs may be nested; then only flat ones are left.
    fuel: usize,
    /// Inside of a substitution, where a here-document beside other commands is refused.
    substituted: bool,
}

impl Grammar<'_> {
    /// The depth that is left, and a little less fuel.
    fn burn(&mut self, depth: usize) -> usize {
        let left = if self.fuel == 0 { 0 } else { depth };
        self.fuel = self.fuel.saturating_sub(1);
        left
    }

    fn documents(&mut self) -> String {
        self.here.drain(..).map(|body| format!("{body}\n")).collect()
    }

    fn pick(&mut self, list: &[&str]) -> String {
        self.random.pick(list).to_owned()
    }

    /// One of what every shell knows, and of what bash adds.
    fn pick_known(&mut self, everywhere: &[&str], bash: &[&str]) -> String {
        let more = if self.posix() { 0 } else { bash.len() };
        let index = self.random.below(everywhere.len() + more);
        everywhere.iter().chain(bash).nth(index).copied().unwrap_or_default().to_owned()
    }

    fn posix(&self) -> bool {
        self.dialect == Dialect::Posix
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.and_or(depth);
        let more = if self.fuel == 0 { 0 } else { self.random.below(3) };
        for _ in 0..more {
            // A line may end only where no here-document waits for it.
            let end =
                if self.here.is_empty() { self.pick(&["; ", " ;", "\n", " & "]) } else { "; ".to_owned() };
            text = format!("{text}{end}{}", self.and_or(depth));
        }
        text
    }

    fn and_or(&mut self, depth: usize) -> String {
        let mut text = self.pipeline(depth);
        for _ in 0..self.random.below(2) {
            let operator = self.pick(&[" && ", " || "]);
            text = format!("{text}{operator}{}", self.pipeline(depth));
        }
        text
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = if self.random.once_in(12) {
            self.pick_known(&["! "], &["time ", "time -p "])
        } else {
            String::new()
        };
        text.push_str(&self.command(depth));
        for _ in 0..self.random.below(5) / 3 {
            let operator = self.pick_known(&[" | ", "|"], &[" |& "]);
            text = format!("{text}{operator}{}", self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        let depth = self.burn(depth);
        if depth == 0 || self.random.below(10) < 6 {
            return self.simple(depth);
        }
        let depth = depth - 1;
        let text = match self.random.below(12) {
            0 => format!("( {} )", self.closed(depth)),
            1 => format!("{{ {}; }}", self.closed(depth)),
            2 => format!(
                "if {}; then {}; else {}; fi",
                self.closed(depth),
                self.closed(depth),
                self.closed(depth)
            ),
            3 => format!("while read {}; do {}; done < a", self.pick(NAMES), self.closed(depth)),
            4 | 5 => {
                let (name, words) = (self.pick(NAMES), self.words(depth));
                format!("for {name} in {words}; do {}; done", self.closed(depth))
            }
            6 => {
                let (subject, pattern) = (self.word(depth), self.word(depth));
                format!(
                    "case {subject} in {pattern}) {};; *) {};; esac",
                    self.closed(depth),
                    self.closed(depth)
                )
            }
            7 => {
                let name = self.pick(&["f", "g", "p", "echo"]);
                format!("{name}() {{ {}; }}; {name} {}", self.closed(depth), self.words(depth))
            }
            8 | 9 | 11 if self.posix() => format!("[ {} ]", self.test(depth)),
            8 => format!("[[ {} ]]", self.condition(depth)),
            9 => format!("(( {} ))", self.arithmetic(depth)),
            10 => format!("until true; do {}; done", self.closed(depth)),
            _ => format!("for (( i = 0; i < 2; i++ )); do {}; done", self.closed(depth)),
        };
        let redirect = if self.random.once_in(4) { self.redirect(depth) } else { String::new() };
        format!("{text}{redirect}")
    }

    /// A list with the documents that belong to it, for where its end must not be a document's line.
    fn closed(&mut self, depth: usize) -> String {
        let outer = std::mem::take(&mut self.here);
        let mut text = self.list(depth);
        if !self.here.is_empty() {
            let bodies = self.documents();
            text = format!("{text}\n{bodies}:");
        }
        self.here = outer;
        text
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(4) / 3 {
            text.push_str(&self.assignment(depth));
            text.push(' ');
        }
        let words = self.words(depth);
        let kind = self.random.below(44);
        let name = match if self.posix() && BASH_ONLY.contains(&kind) { 0 } else { kind } {
            0..=13 => self.pick(PROGRAMS),
            14 => return format!("{text}{}", self.assignment(depth)),
            15 => format!("echo {words}; p"),
            16 => format!("{} | {}", self.printing(depth), self.reading(depth)),
            17 => {
                let wrapper = self.pick(&[
                    "env",
                    "env A=1",
                    "timeout 5",
                    "nohup",
                    "nice -n 1",
                    "xargs",
                    "xargs -n1",
                    "command",
                    "exec",
                    "builtin",
                    "stdbuf -o0",
                    "setsid",
                ]);
                format!("{wrapper} {}", self.pick(PROGRAMS))
            }
            18 => format!("eval {}", self.quoted_script(depth)),
            19 => format!("bash -c {}", self.quoted_script(depth)),
            20 => format!("sh -c {} _ ", self.quoted_script(0)),
            21 => format!("set -- {words}; p \"$@\""),
            22 => format!(
                "{} {}; p",
                self.pick_known(
                    &["export", "readonly"],
                    &["declare", "local", "declare -i", "declare -a", "typeset -u", "declare -x"]
                ),
                self.assignment(depth)
            ),
            23 => format!("printf -v {} {}; p", self.pick(NAMES), self.word(depth)),
            24 => format!("read {} {} <<< {}; p", self.pick(NAMES), self.pick(NAMES), self.word(depth)),
            25 => format!("cd {}; p", self.pick(&["d", "..", "/tmp", "src", "~", "nope", "-", "d/.."])),
            26 => format!(
                "trap {} {}",
                self.quoted_script(0),
                self.pick_known(&["EXIT", "0", "INT", "TERM"], &["ERR", "DEBUG"])
            ),
            27..=31 => self.on_files(kind),
            32 => format!("source <({})", self.printing(depth)),
            33 => format!("${{{}}}", self.parameter(depth)),
            34 => self.word(depth),
            35 => "shift; p \"$@\" \"${1}\"".to_owned(),
            36 => format!("unset {}; p \"${}\"", self.pick(NAMES), self.pick(NAMES)),
            37 => format!("IFS={}; p", self.word(0)),
            39 => format!("[ {} ] && p", self.test(depth)),
            40 => format!("printf {} > o; cat o; p", self.word(depth)),
            41 => {
                let name = self.pick(NAMES);
                format!("{}; p \"${name}\" ${name}", self.assignment_to(&name, depth))
            }
            42 => format!("test -e {} || p", self.pick(FILES)),
            43 => format!("command -v p > {}; p", self.pick(FILES)),
            38 => format!("mapfile -t {} <<< {}; p", self.pick(NAMES), self.word(depth)),
            _ => format!("alias p={}; p", self.word(0)),
        };
        text.push_str(&name);
        text.push(' ');
        text.push_str(&words);
        for _ in 0..self.random.below(5) / 3 {
            text.push_str(&self.redirect(depth));
        }
        text
    }

    /// What changes files, by the number that [`simple`](Self::simple) has drawn.
    fn on_files(&mut self, kind: usize) -> String {
        match kind {
            27 => format!("rm -f {}", self.pick(FILES)),
            28 => format!(
                "{} {} {}",
                self.pick(&["cp", "mv", "ln -s", "cp -r", "ln -f"]),
                self.pick(&["a", "b", "d", "src"]),
                self.pick(&["o", "d", "n", "/tmp", "d/n"])
            ),
            29 => format!(
                "{} {}",
                self.pick(&[
                    "mkdir -p",
                    "touch",
                    "rmdir",
                    "truncate -s0",
                    "tee",
                    "chmod +x",
                    "rm -rf",
                    "install -d"
                ]),
                self.pick(FILES)
            ),
            30 => format!(
                "find {} {}",
                self.pick(&[".", "d", "src d"]),
                self.pick(&[
                    "-name '*.c' -exec p {} \\;",
                    "-type f -exec p {} +",
                    "-delete",
                    "-name e | xargs p",
                    "-exec sh -c 'p \"$1\"' _ {} \\;",
                    "-print0 | xargs -0 p"
                ])
            ),
            _ => format!("sed -i s/a/b/ {}", self.pick(&["a", "b", "a b", "file.txt"])),
        }
    }

    fn printing(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => format!("echo {}", self.words(depth)),
            1 => format!(
                "printf {}",
                self.pick(&["'%s\\n' p q", "'p %s' q", "%b 'p\\x20q'", "'\\160'", "%s p"])
            ),
            _ if self.posix() => "printf 'p\\040q'".to_owned(),
            2 => format!("cat <<< {}", self.word(depth)),
            _ => format!("echo -e {}", self.pick(&["'p\\nq'", "'\\x70'", "'p\\c' q"])),
        }
    }

    fn reading(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            1 => "xargs p".to_owned(),
            2 => {
                format!("while read {}; do {}; done", self.pick(NAMES), self.closed(depth.saturating_sub(1)))
            }
            3 => "tr a-o b-p | sh".to_owned(),
            4 | 0 if self.posix() => "sh".to_owned(),
            0 => "bash".to_owned(),
            4 => "rev | bash".to_owned(),
            5 => "base64 | base64 -d | sh".to_owned(),
            6 => "tee o | cat".to_owned(),
            _ => "head -n1 | sh -s a".to_owned(),
        }
    }

    fn quoted_script(&mut self, depth: usize) -> String {
        let script = self.closed(depth.saturating_sub(2));
        if self.random.once_in(4) {
            format!("\"{}\"", script.replace(['"', '`', '\\'], ""))
        } else {
            format!("'{}'", script.replace('\'', r"'\''"))
        }
    }

    fn assignment(&mut self, depth: usize) -> String {
        let name = self.pick(NAMES);
        self.assignment_to(&name, depth)
    }

    fn assignment_to(&mut self, name: &str, depth: usize) -> String {
        match self.random.below(8) {
            0..=2 if self.posix() => {
                format!("{name}={}", self.pick(&["a b", "", "'a  b'", "*", "~", "\"$y\"c"]))
            }
            0 => format!("{name}=({})", self.words(depth)),
            1 => format!("{name}+={}", self.word(depth)),
            2 => format!("{name}[1]={}", self.word(depth)),
            3 => format!("{name}={}", self.pick(PROGRAMS)),
            _ => format!("{name}={}", self.word(depth)),
        }
    }

    fn words(&mut self, depth: usize) -> String {
        let count = self.random.below(4);
        (0..count).map(|_| self.word(depth)).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self, depth: usize) -> String {
        let mut text = self.part(depth);
        for _ in 0..self.random.below(5) / 3 {
            text.push_str(&self.part(depth));
        }
        text
    }

    fn part(&mut self, depth: usize) -> String {
        let depth = self.burn(depth);
        let kind = self.random.below(if depth == 0 { 12 } else { 20 });
        match if self.posix() && matches!(kind, 6 | 10 | 19) { 0 } else { kind } {
            0..=3 => self.pick(&["a", "b", "1", "-x", "foo", "p", "0", "x=y", "E"]),
            4 | 5 => format!("'{}'", self.pick(LITERALS).replace('\'', "")),
            6 => {
                let text = self.pick(LITERALS);
                format!("$'{}'", text.chars().map(escaped).collect::<String>())
            }
            7 => format!("\"{}\"", self.pick(LITERALS).replace(['"', '`', '$', '\\'], "")),
            8 => self.pick(&["\\a", "\\ ", "\\$x", "a\\\nb", "\\\\", "\\*", "\\~", "\"\"", "''"]),
            9 => self.pick(GLOBS),
            10 => self.pick(&[
                "{a,b}",
                "{1..3}",
                "x{,y}z",
                "{p,q}{1,2}",
                "{a",
                "a}",
                "{a..c}",
                "{}",
                "{$x,b}",
                "{01..3}",
                "~",
                "~/a",
                "~+",
            ]),
            11 | 12 => format!(
                "${}",
                self.pick_known(
                    &["x", "y", "a", "1", "@", "*", "#", "{x}", "?", "{#x}", "0"],
                    &["{a[@]}", "{a[0]}"]
                )
            ),
            13 => format!("\"${{{}}}\"", self.parameter(depth - 1)),
            14 => format!("${{{}}}", self.parameter(depth - 1)),
            15 => format!("$({})", self.inner(depth - 1)),
            16 => format!("\"$({})\"", self.inner(depth - 1)),
            17 => format!("`{} {}`", self.pick(PROGRAMS), self.pick(&["a", "\\$x", "'b c'", "\\\\a", "*"])),
            18 => format!("$(( {} ))", self.arithmetic(depth - 1)),
            _ => format!("{}({})", self.pick(&["<", ">"]), self.inner(depth - 1)),
        }
    }

    fn parameter(&mut self, depth: usize) -> String {
        let name = self.pick_known(&["x", "y", "z", "a", "1"], &["a[0]", "a[@]", "@", "*"]);
        let mut operator = self.pick_known(
            &["", ":-", "-", ":+", "+", ":=", "#", "##", "%", "%%", ":?"],
            &["/", "//", ":0:", ":1", "^", ",,", "@Q", "@U", "@E"],
        );
        // The shell assigns to variables only.
        if operator == ":=" && !NAMES.contains(&name.as_str()) {
            operator = ":-".to_owned();
        }
        let operand = match operator.as_str() {
            "" | ":1" | "^" | ",," | "@Q" | "@U" | "@E" => String::new(),
            ":0:" => self.pick(&["1", "2", "0", "-1"]),
            "/" | "//" => format!("{}/{}", self.pick(&["a", "?", "*", "b", "x"]), self.word(depth)),
            _ => self.word(depth),
        };
        if operator.is_empty() && self.random.once_in(3) {
            return format!("{}{name}", self.pick_known(&["#"], &["!"]));
        }
        format!("{name}{operator}{operand}")
    }

    fn arithmetic(&mut self, depth: usize) -> String {
        let atom = |grammar: &mut Self| match grammar.random.below(9) {
            0 | 1 | 6..=8 => grammar.pick_known(&["1", "2", "0", "0x10", "010", "-1"], &["2#11"]),
            2 | 3 => grammar.pick(NAMES),
            4 if depth > 0 => format!("${{{}:-1}}", grammar.pick(NAMES)),
            _ => format!("({} + 1)", grammar.pick(NAMES)),
        };
        let operator = self.pick_known(
            &[" + ", " * ", " < ", " == ", " && ", " ? 1 : ", " << ", " = ", " += "],
            &[" , ", " ** "],
        );
        let (left, right) = (atom(self), atom(self));
        match operator.as_str() {
            " = " | " += " => format!("{}{operator}{right}", self.pick(NAMES)),
            _ => format!("{left}{operator}{right}"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let (left, right) = (self.word(depth), self.word(depth));
        match self.random.below(5) {
            0 => format!("-n {left}"),
            1 => format!("{left} == {right}"),
            2 => format!("-e {left} && {right} != b"),
            3 => format!("{left} =~ {}", self.pick(&["a", "^x", "(a|b)", "\"a\""])),
            _ => format!("! -f {left} || -z {right}"),
        }
    }

    /// What `[` compares.
    fn test(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => format!("-n {}", self.word(depth)),
            1 => format!("{} = {}", self.word(depth), self.word(depth)),
            2 => format!("-e {}", self.pick(FILES)),
            _ => format!("\"${}\" != b", self.pick(NAMES)),
        }
    }

    /// A list in a substitution.
    fn inner(&mut self, depth: usize) -> String {
        let outer = std::mem::replace(&mut self.substituted, true);
        let text = self.closed(depth);
        self.substituted = outer;
        text
    }

    fn redirect(&mut self, depth: usize) -> String {
        let file = if self.random.once_in(3) { self.word(depth.saturating_sub(1)) } else { self.pick(FILES) };
        let kind = self.random.below(12);
        let kind = match kind {
            7 | 8 | 10 if self.posix() => 0,
            11 if self.substituted && !self.random.once_in(20) => 0,
            _ => kind,
        };
        match kind {
            0..=3 => format!(" > {file}"),
            4 => format!(" >> {file}"),
            5 => format!(" < {file}"),
            6 => self.pick(&[" 2>&1", " >&2", " 2>/dev/null", " 3>&1", " <&-", " 2>&-"]),
            7 => format!(" &> {file}"),
            8 => format!(" <<< {file}"),
            9 => format!(" >| {file}"),
            10 => format!(" {{fd}}> {file}"),
            _ => {
                let (mark, end) = if self.random.once_in(2) { ("E", "E") } else { ("'E'", "E") };
                let body = format!("{}\n{}", self.pick(&["p", "$x", "a b", "\\$x `q`", "$(q)", "'a'"]), end);
                self.here.push(body);
                format!(" <<{mark}")
            }
        }
    }
}

/// A character as `$'…'` may spell it.
fn escaped(character: char) -> String {
    match character {
        '\'' | '\\' => format!("\\{character}"),
        'a' => "\\x61".to_owned(),
        'p' => "\\160".to_owned(),
        ' ' => "\\u0020".to_owned(),
        other => other.to_string(),
    }
}
