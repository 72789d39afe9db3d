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
const GLOBS: &[&str] =
    &["*", "?", "a*", "[ab]", "d/*", "*.txt", "[!a]", "src/*.c", "*nope*", "./?", "[[:alpha:]]"];

pub(super) fn script(random: &mut Random) -> String {
    let fuel = 3 + random.below(30);
    let mut grammar = Grammar { random, here: Vec::new(), fuel };
    let mut text = String::new();
    for _ in 0..=grammar.random.below(4) {
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
    match random.below(14) {
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
        _ => format!("trap {quoted} EXIT"),
    }
}

struct Grammar<'r> {
    random: &'r mut Random,
    /// Bodies of here-documents that are due at the end of the line.
    here: Vec<String>,
    /// How many more constructs may be nested; then only flat ones are left.
    fuel: usize,
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
        let mut text =
            if self.random.once_in(12) { self.pick(&["! ", "time ", "time -p "]) } else { String::new() };
        text.push_str(&self.command(depth));
        for _ in 0..self.random.below(5) / 3 {
            let operator = self.pick(&[" | ", "|", " |& "]);
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
        let name = match self.random.below(40) {
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
                self.pick(&[
                    "export",
                    "declare",
                    "local",
                    "readonly",
                    "declare -i",
                    "declare -a",
                    "typeset -u"
                ]),
                self.assignment(depth)
            ),
            23 => format!("printf -v {} {}; p", self.pick(NAMES), self.word(depth)),
            24 => format!("read {} {} <<< {}; p", self.pick(NAMES), self.pick(NAMES), self.word(depth)),
            25 => format!("cd {}; p", self.pick(&["d", "..", "/tmp", "src", "~", "nope", "-", "d/.."])),
            26 => format!("trap {} {}", self.quoted_script(0), self.pick(&["EXIT", "ERR", "DEBUG", "0"])),
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
            31 => format!("sed -i s/a/b/ {}", self.pick(&["a", "b", "a b", "file.txt"])),
            32 => format!("source <({})", self.printing(depth)),
            33 => format!("${{{}}}", self.parameter(depth)),
            34 => self.word(depth),
            35 => "shift; p \"$@\" \"${1}\"".to_owned(),
            36 => format!("unset {}; p \"${}\"", self.pick(NAMES), self.pick(NAMES)),
            37 => format!("IFS={}; p", self.word(0)),
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

    fn printing(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => format!("echo {}", self.words(depth)),
            1 => format!(
                "printf {}",
                self.pick(&["'%s\\n' p q", "'p %s' q", "%b 'p\\x20q'", "'\\160'", "%s p"])
            ),
            2 => format!("cat <<< {}", self.word(depth)),
            _ => format!("echo -e {}", self.pick(&["'p\\nq'", "'\\x70'", "'p\\c' q"])),
        }
    }

    fn reading(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0 => "bash".to_owned(),
            1 => "xargs p".to_owned(),
            2 => {
                format!("while read {}; do {}; done", self.pick(NAMES), self.closed(depth.saturating_sub(1)))
            }
            3 => "tr a-o b-p | sh".to_owned(),
            4 => "rev | bash".to_owned(),
            5 => "base64 | base64 -d | bash".to_owned(),
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
        match self.random.below(8) {
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
        match self.random.below(if depth == 0 { 12 } else { 20 }) {
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
                self.pick(&["x", "y", "a", "1", "@", "*", "#", "{x}", "{a[@]}", "{a[0]}", "?", "{#x}", "0"])
            ),
            13 => format!("\"${{{}}}\"", self.parameter(depth - 1)),
            14 => format!("${{{}}}", self.parameter(depth - 1)),
            15 => format!("$({})", self.closed(depth - 1)),
            16 => format!("\"$({})\"", self.closed(depth - 1)),
            17 => format!("`{} {}`", self.pick(PROGRAMS), self.pick(&["a", "\\$x", "'b c'", "\\\\a", "*"])),
            18 => format!("$(( {} ))", self.arithmetic(depth - 1)),
            _ => format!("{}({})", self.pick(&["<", ">"]), self.closed(depth - 1)),
        }
    }

    fn parameter(&mut self, depth: usize) -> String {
        let name = self.pick(&["x", "y", "z", "a", "@", "1", "a[0]", "a[@]", "*"]);
        let operator = self.pick(&[
            "", ":-", "-", ":+", "+", ":=", "#", "##", "%", "%%", "/", "//", ":0:", ":1", "^", ",,", "@Q",
            "@U", ":?", "@E",
        ]);
        let operand = match operator.as_str() {
            "" | ":1" | "^" | ",," | "@Q" | "@U" | "@E" => String::new(),
            ":0:" => self.pick(&["1", "2", "0", "-1"]),
            "/" | "//" => format!("{}/{}", self.pick(&["a", "?", "*", "b", "x"]), self.word(depth)),
            _ => self.word(depth),
        };
        if operator.is_empty() && self.random.once_in(3) {
            return format!("{}{name}", self.pick(&["#", "!"]));
        }
        format!("{name}{operator}{operand}")
    }

    fn arithmetic(&mut self, depth: usize) -> String {
        let atom = |grammar: &mut Self| match grammar.random.below(6) {
            0 | 1 => grammar.pick(&["1", "2", "0", "0x10", "010", "2#11", "-1"]),
            2 | 3 => grammar.pick(NAMES),
            4 if depth > 0 => format!("${{{}:-1}}", grammar.pick(NAMES)),
            _ => format!("({} + 1)", grammar.pick(NAMES)),
        };
        let operator = self
            .pick(&[" + ", " * ", " < ", " == ", " && ", " , ", " ? 1 : ", " ** ", " << ", " = ", " += "]);
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

    fn redirect(&mut self, depth: usize) -> String {
        let file = if self.random.once_in(3) { self.word(depth.saturating_sub(1)) } else { self.pick(FILES) };
        match self.random.below(12) {
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
