//! Commands that try to make the judgement hang, crash or take all memory, in any size.

/// A family of inputs: its name, and the input of about so many bytes.
pub(crate) type Family = (&'static str, fn(usize) -> String);

fn nested(open: &str, inner: &str, close: &str, size: usize) -> String {
    let times = size / (open.len() + close.len()).max(1);
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

/// As many units as fit, each with its number.
fn numbered(size: usize, unit: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < size {
        text.push_str(&unit(number));
        number += 1;
    }
    text
}

/// Backquotes in backquotes, which need twice as many backslashes on each level.
fn backquotes(size: usize) -> String {
    let mut text = "a".to_owned();
    while 2 * text.len() < size {
        text = format!("`echo {}`", text.replace('\\', "\\\\").replace('`', "\\`"));
    }
    text
}

/// A shell that is told in base64 to start another one that is told so, and so on.
fn layers(size: usize) -> String {
    let mut text = "ls".to_owned();
    loop {
        let outer = format!("echo {} | base64 -d | sh", base64(text.as_bytes()));
        if outer.len() > size.max(40) {
            return text;
        }
        text = outer;
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0, |all, at| all << 8 | usize::from(three.get(at).copied().unwrap_or(0)));
        let letter = |at: usize| {
            let letter = LETTERS.get(number >> (18 - 6 * at) & 63);
            letter.copied().map(char::from).unwrap_or_default()
        };
        text.extend((0..4).map(|at| if at <= three.len() { letter(at) } else { '=' }));
    }
    text
}

/// A program in a file, half as long as the command, and as many starts of it as fit.
fn again(line: &str, start: &str, n: usize) -> String {
    format!("cat > a <<'E'\n{}E\n{}", flood(line, n / 2), flood(start, n / 2))
}

fn flood(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len().max(1))
}

/// A Python program that does the same again and again.
fn python(begins: &str, line: &str, size: usize) -> String {
    format!("python3 -c '{begins}{}'", flood(line, size))
}

/// An array, half as long as the command, and what is done with it.
fn elements(size: usize, unit: &str) -> String {
    format!("a=({}); {}", numbered(size / 2, |i| format!("x{i} ")), flood(unit, size / 2))
}

/// Files in one directory, half as long as the command, and what is done with them.
fn written(size: usize, text: &str, unit: &str) -> String {
    format!("{}{}", numbered(size / 2, |i| format!("echo {text} > d/f{i}; ")), flood(unit, size / 2))
}

/// A function, half as long as the command, and calls of it as many as fit.
fn called(size: usize, unit: impl Fn(usize) -> String) -> String {
    format!("f() {{\n{}\n}}\n{}", numbered(size / 2, unit), flood("f\n", size / 2))
}

/// What is done in two loops, each of eight turns.
fn turned(size: usize, unit: impl Fn(usize) -> String) -> String {
    let words = "1 2 3 4 5 6 7 8";
    let body = numbered(size, unit);
    format!("for y in {words}; do for z in {words}; do\n{body}\ndone; done\n")
}

/// What is done in three loops, each of any number of turns.
fn circled(size: usize, unit: impl Fn(usize) -> String) -> String {
    format!("{}{}{}", "while a; do ".repeat(3), numbered(size, unit), "done; ".repeat(3))
}

/// A short command: functions that call one another four times each, and the last of them what is given.
fn doubled(size: usize, body: &str) -> String {
    let calls = |i| format!("f{}() {{ f{i}; f{i}; f{i}; f{i}; }}; ", i + 1);
    format!("f0() {{ {body}; }}; {}f9", numbered(size.min(400), calls))
}

/// All families.
pub(crate) const FAMILIES: &[Family] = &[
    ("words of what is counted", |n| format!("echo {}", flood("$(seq 1 9999)", n))),
    ("words of a counted variable", |n| format!("x=$(seq 1 9999); echo {}", flood("$x", n))),
    ("text of a counted variable", |n| format!("x=$(seq 1 9999); echo \"{}\"", flood("$x", n))),
    ("elements of what is counted", |n| format!("x=({})", flood("$(seq -w 1 9999)", n))),
    ("counting", |n| flood("seq 1 9999 | cat | tac; ", n)),
    ("many files", |n| numbered(n, |i| format!("echo a > f{i}; "))),
    ("many files, appended and read", |n| numbered(n, |i| format!("echo a >> f{i}; cat f{}; ", i / 2))),
    ("many files, one command", |n| format!("rm{}", numbered(n, |i| format!(" f{i}")))),
    ("many directories", |n| numbered(n, |i| format!("cd d{i}; touch a; "))),
    ("many shells", |n| numbered(n, |i| format!("v{i}=1; sh -c 'echo a > f{i}'; "))),
    ("many evals", |n| numbered(n, |i| format!("eval 'v{i}=1'; "))),
    ("many calls", |n| numbered(n, |i| format!("f{i}() {{ v{i}=1; }}; f{i}; "))),
    ("many variables in commands", |n| numbered(n, |i| format!("v{i}=1; echo $v{} > /dev/null; ", i / 2))),
    ("null elements, replaced", |n| {
        format!("set --{}; IFS=; {}", flood(" ''", n / 2), flood("echo \"${*:-f}\"; ", n / 2))
    }),
    ("unknown options of what reads", |n| format!("cat{}", flood(" -Q a", n))),
    ("packages around a module", |n| format!("echo 1 > b.py; python3 -m a{}", flood(".a", n))),
    ("tools of projects", |n| flood("yarn rimraf a; ", n)),
    ("many branches", |n| numbered(n, |i| format!("if a; then v{i}=1; else v{i}=2; fi; "))),
    ("many subshells", |n| numbered(n, |i| format!("( v{i}=1; echo a > f{i} ); "))),
    ("many loops", |n| numbered(n, |i| format!("for v{i} in a b c; do echo $v{i}; done; "))),
    ("many traps", |n| numbered(n, |i| format!("( v{i}=1; trap 'ls' EXIT ); "))),
    ("many links", |n| numbered(n, |i| format!("ln -s a{i} b{i}; "))),
    ("many traps of functions", |n| numbered(n, |i| format!("f{i}() {{ ls; }}; ( trap f{i} EXIT ); "))),
    ("many traps on errors", |n| numbered(n, |i| format!("( f{i}() {{ v{i}=1; }}; trap f{} ERR ); ", i / 2))),
    ("functions of one name before traps", |n| {
        numbered(n, |i| format!("f() {{ ls {i}; }}; ( trap f EXIT ); "))
    }),
    ("traps within traps", |n| nested("( trap 'ls' EXIT; ", "a", " )", n)),
    ("many moves", |n| numbered(n, |i| format!("mv d{i} e{i}; touch d{i}/x; cat e{i}/y; "))),
    ("moves to and fro", |n| flood("mv a b; mv b a; ", n)),
    ("moves of where the shell is", |n| {
        numbered(n, |i| format!("cd d{i}; mv ../d{i} ../e{i}; touch x; cd ..; "))
    }),
    ("changes of directory after moves", |n| {
        format!("{}{}", numbered(n / 2, |i| format!("mv d{i} e{i}; ")), flood("cd a; touch b; cd -; ", n / 2))
    }),
    ("moves of written files", |n| {
        numbered(n, |i| format!("echo a > d/f{i}; mv d e{i}; cat e{i}/f{i}; mv e{i} d; "))
    }),
    ("words of find", |n| format!("find . -exec cp x{} \\;", flood(" {}a", n))),
    ("many finds", |n| numbered(n, |i| format!("find . -name a{i} -exec cp x {{}}b{i} \\; "))),
    ("words of find behind what they name", |n| format!("find . -exec cp {{}}{} \\;", flood("/a", n))),
    ("parents of patterns", |n| format!("cat{}", flood(" ..*/x", n))),
    ("parents of one pattern", |n| format!("cat {}x", flood("..*/", n))),
    ("patterns through links", |n| format!("ln -s /etc a; ln -s / b; cat{}", flood(" ?/*/x", n))),
    ("starts of what was written", |n| numbered(n, |i| format!("echo ls > s{i}; sh s{i}; "))),
    ("starts of one script", |n| format!("echo 'ls; pwd' > s; {}", flood("sh s; ", n))),
    ("Python programs of one file", |n| again("x = 1\n", "python3 a; ", n)),
    ("JavaScript programs of one file", |n| again("x = 1;\n", "node a; ", n)),
    ("Perl programs of one file", |n| again("$x = 1;\n", "perl a; ", n)),
    ("SQL scripts of one file", |n| again("select 1;\n", "sqlite3 b<a; ", n)),
    ("awk programs of one file", |n| again("{ x = 1 }\n", "awk -f a; ", n)),
    ("jq programs of one file", |n| again(".a|\n", "jq -f a; ", n)),
    ("Makefiles of one file", |n| again("a:\n\tls\n", "make -f a; ", n)),
    ("tests of many files", |n| {
        format!("{}{}", numbered(n.min(300), |i| format!("echo 1 > a{i}.py; ")), flood("pytest; ", n))
    }),
    ("starts in loops", |n| numbered(n, |i| format!("echo ls > s{i}; while a; do sh s{i}; done; "))),
    ("starts by xargs", |n| numbered(n, |i| format!("echo ls > s{i}; ls | xargs -n 1 sh s{i}; "))),
    ("starts in loops in loops", |n| {
        nested("while a; do ", &numbered(n / 2, |i| format!("sh s{i}; ")), "; done", n.min(40_000) / 20)
    }),
    ("links in archives", |n| {
        numbered(n, |i| {
            format!("ln -s /etc a{i}; tar cf c{i} a{i}; tar xf c{i} -C d{i}; echo a > d{i}/a{i}/b; ")
        })
    }),
    ("archives after links", |n| {
        format!(
            "ln -s /etc a; ln -s / b; tar cf c a b; {}",
            numbered(n, |i| format!("tar xf c -C d{i}; cp x d{i}/y; "))
        )
    }),
    ("copies from outside", |n| numbered(n, |i| format!("cp -r /etc/a{i} b{i}; cat b{i}/c; "))),
    ("scripts beside what writes them", |n| numbered(n, |i| format!("sh s{i} & echo ls > s{i}; "))),
    ("scripts in pipes with what writes them", |n| numbered(n, |i| format!("sh s{i} | tee s{}; ", i / 2))),
    ("jobs in jobs", |n| nested("{ sh a & ", "b", " } & ", n)),
    ("files made unreadable", |n| numbered(n, |i| format!("echo a > f{i}; chmod 0 f{i}; cat f{i}; "))),
    ("local arrays", |n| numbered(n, |i| format!("f{i}() {{ local -a v; v=1 ls; }}; f{i}; "))),
    ("references", |n| numbered(n, |i| format!("declare -n r{i}=v{}; r{i}=1; ", i / 2))),
    ("references to references", |n| {
        format!("{}v0=1; echo $v0", numbered(n, |i| format!("declare -n v{i}=v{}; ", i + 1)))
    }),
    ("sparse arrays", |n| numbered(n, |i| format!("a[{}]=x; ", i * 7))),
    ("watches", |n| format!("{}ls", flood("watch -x ", n))),
    ("branches after moves", |n| {
        format!(
            "{}{}",
            numbered(n / 2, |i| format!("mv d{i} e{i}; ")),
            flood("if a; then ( b ); fi; ", n / 2)
        )
    }),
    ("many aliases", |n| {
        format!("shopt -s expand_aliases\n{}", numbered(n, |i| format!("alias a{i}='ls '\na{i} x\n")))
    }),
    ("many descriptors", |n| numbered(n, |i| format!("exec {}>f; ", 10 + i % 200))),
    ("functions that double", |n| {
        format!("f0() {{ ls; }}; {} f9", numbered(n, |i| { format!("f{}() {{ f{i}; f{i}; }}; ", i + 1) }))
    }),
    ("aliases that double", |n| {
        format!(
            "shopt -s expand_aliases\n{}a1",
            numbered(n, |i| format!("alias a{i}='a{0} ; a{0} '\n", i + 1))
        )
    }),
    ("text that doubles in evals", |n| format!("x='eval \"$x;$x\"'; {}", flood("eval \"$x\"; ", n))),
    ("loops in loops", |n| nested("for i in 1 2 3 4; do ", "ls", "; done", n)),
    ("nested backquotes", backquotes),
    ("bracket arithmetic", |n| format!("echo {}", nested("$[", "1", "]", n))),
    ("arithmetic in arithmetic", |n| format!("echo {}", nested("$((1+", "1", "))", n))),
    ("names in arithmetic", |n| format!("{}echo $((v0))", numbered(n, |i| format!("v{i}=v{}; ", i + 1)))),
    ("powers", |n| format!("echo $((2{}))", flood("**9", n))),
    ("subscripts", |n| format!("echo ${{a{}}}", nested("[a", "[1]", "]", n))),
    ("extended patterns", |n| format!("shopt -s extglob\necho {}", nested("@(a|", "b", ")", n))),
    ("extended patterns, candidates", |n| {
        format!("shopt -s extglob\nx={}; echo ${{x//+(a|aa)+(a|aa)b/}}", flood("a", n))
    }),
    ("case candidates", |n| format!("case {} in {}b) ls;; esac", flood("a", n), "*a".repeat(20))),
    ("test candidates", |n| format!("[[ {} == {}b ]]", flood("a", n), "*a".repeat(20))),
    ("suffix candidates", |n| format!("x={}; echo ${{x%%*a*a*a*b}}", flood("a", n))),
    ("case of characters", |n| format!("x={}; echo ${{x^^[a-z]}}", flood("a", n))),
    ("conditions joined", |n| format!("[[ a{} ]]", flood(" && a", n))),
    ("regular expression", |n| format!("[[ a =~ {} ]]", nested("(a", "b", ")*", n))),
    ("coprocesses", |n| nested("coproc { ", "a", "; }", n)),
    ("selections", |n| nested("select a in b; do ", "c", "; done", n)),
    ("current-shell substitutions", |n| nested("${ ", "a", "; }", n)),
    ("redirected groups", |n| nested("{ ", "a;", " } > a;", n)),
    ("here-documents in substitutions", |n| nested("$(cat <<E\n", "a", "\nE\n)", n)),
    ("here-documents in backquotes", |n| flood("`cat <<E\nE\n`\n", n)),
    ("stripped here-document", |n| format!("cat <<-E\n{}\tE\n", flood("\t\\\n", n))),
    ("unterminated arithmetic", |n| flood("$((", n)),
    ("unterminated brackets", |n| flood("$[a[", n)),
    ("unterminated tests", |n| flood("[[ ( ", n)),
    ("unterminated groups", |n| flood("{ ", n)),
    ("unterminated ifs", |n| flood("if ", n)),
    ("unterminated cases", |n| flood("case a in a) ", n)),
    ("unterminated arrays", |n| flood("a=(", n)),
    ("unterminated patterns", |n| format!("shopt -s extglob\n{}", flood("@(", n))),
    ("unterminated process substitutions", |n| flood("<(", n)),
    ("unterminated ANSI quotes", |n| flood("$'\\'", n)),
    ("ANSI quotes", |n| format!("echo $'{}'", flood("\\x41\\u00e9", n))),
    ("tildes", |n| format!("echo x={}", flood("~:", n))),
    ("tildes after names", |n| flood("a=b:~ ", n)),
    ("digits of descriptors", |n| format!("ls {}", flood("123456789>a ", n))),
    ("named descriptors", |n| format!("ls {}", flood("{a}>b ", n))),
    ("assigned arrays", |n| flood("a[1]+=(b) ", n)),
    ("perl", |n| format!("perl -e '{}'", flood("$x = 1; ", n))),
    ("perl brackets", |n| format!("perl -e '{}'", flood("(", n))),
    ("javascript", |n| format!("node -e '{}'", flood("x = 1; ", n))),
    ("SQL", |n| format!("sqlite3 a.db '{}'", flood("select 1; ", n))),
    ("python calls", |n| format!("python3 -c '{}'", flood("f(x)\n", n))),
    ("python functions", |n| {
        format!("python3 -c '{}'", numbered(n, |i| format!("def f{i}(): return f{}()\n", i + 1)))
    }),
    ("python lists of lists", |n| {
        let doubled = flood("x = [x, x, x, x, x, x, x, x]\n", n);
        format!("python3 -c 'x = [1]\n{doubled}for y in x: print(y)'")
    }),
    ("python lists that are handed on", |n| {
        let calls = numbered(n, |i| format!("a{i} = [f(a{i}), a{i}, x]\nx = [a{i}, a{i}, x]\n"));
        format!("python3 -c 'x = []\ndef f(y): return [y, x, y]\n{calls}'")
    }),
    ("python strings", |n| format!("python3 -c 'x = {}'", flood("\"a\" + ", n) + "\"b\"")),
    ("python strings side by side", |n| format!("python3 -c 'x = {}'", flood("\"a\" ", n))),
    ("xargs of words", |n| format!("echo {} | xargs rm", flood("a ", n))),
    ("find tests", |n| format!("find . {} -print", nested("\\( ", "-name a", " \\)", n))),
    ("git options", |n| format!("git{} status", flood(" -c a.b=c", n))),
    ("subshells", |n| nested("( ", "a", " )", n)),
    ("groups", |n| nested("{ ", "a;", " };", n)),
    ("substitutions", |n| nested("$(", "a", ")", n)),
    ("quoted substitutions", |n| nested("\"$(", "a", ")\"", n)),
    ("backquotes", |n| flood("`", n)),
    ("parameters", |n| nested("${a:-", "x", "}", n)),
    ("arithmetic", |n| format!("echo $(({}))", nested("(", "1", ")", n))),
    ("arithmetic commands", |n| nested("((", "1", "))", n)),
    ("arithmetic bomb", |n| format!("echo $(({}1))", flood("1?2:", n))),
    ("process substitutions", |n| nested("<(cat ", "a", ")", n)),
    ("conditions", |n| format!("[[ {} ]]", nested("( ", "a", " )", n))),
    ("negated conditions", |n| format!("[[ {}a ]]", flood("! ", n))),
    ("ifs", |n| nested("if a; then ", "b", "; fi", n)),
    ("loops", |n| nested("while a; do ", "b", "; done", n)),
    ("cases", |n| nested("case a in b) ", "c", " ;; esac", n)),
    ("functions", |n| nested("f() { ", "a;", " };", n)),
    ("braces, nested", |n| format!("echo {}", nested("{a,", "b", "}", n))),
    ("braces, product", |n| format!("echo {}", flood("{a,b}", n))),
    ("braces, list", |n| format!("echo {{a{}}}", flood(",a", n))),
    ("braces, range", |n| format!("echo {}", flood("{1..99999999}", n))),
    ("open braces", |n| format!("echo {}", flood("{a,", n))),
    ("sudo", |n| format!("{}ls", flood("sudo ", n))),
    ("env", |n| format!("{}ls", flood("env A=1 ", n))),
    ("eval", |n| format!("{}ls", flood("eval ", n))),
    ("command", |n| format!("{}ls", flood("command ", n))),
    ("bash -c", |n| format!("{}ls", flood("bash -c ", n))),
    ("xargs", |n| format!("{}ls", flood("xargs ", n))),
    ("time", |n| format!("{}ls", flood("time ", n))),
    ("negations", |n| format!("{}ls", flood("! ", n))),
    ("semicolons", |n| flood("a;", n)),
    ("only semicolons", |n| flood(";", n)),
    ("lines", |n| flood("ls -l x\n", n)),
    ("pipes", |n| format!("a{}", flood("|a", n))),
    ("conjunctions", |n| format!("a{}", flood("&&a", n))),
    ("backgrounds", |n| flood("a&", n)),
    ("one word", |n| flood("a", n)),
    ("one quoted word", |n| format!("'{}'", flood("a ", n))),
    ("backslashes", |n| flood("\\", n)),
    ("continued lines", |n| format!("l{}s", flood("\\\n", n))),
    ("arguments", |n| format!("rm{}", flood(" a", n))),
    ("options", |n| format!("ls{}", flood(" -l", n))),
    ("option cluster", |n| format!("ls -{}", flood("l", n))),
    ("globs", |n| format!("ls{}", flood(" *", n))),
    ("one glob", |n| format!("ls {}b", flood("*a", n))),
    ("pattern candidates", |n| format!("x={}; echo ${{x//{}b/c}}", flood("a", n), "*a".repeat(20))),
    ("prefix candidates", |n| format!("x={}; echo ${{x##*a*a*a*b}}", flood("a", n))),
    ("variables", |n| format!("x=1;{}", flood("echo $x;", n))),
    ("growing variable", |n| format!("x=aaaaaaaaaa;{}", flood("x=$x$x;", n))),
    ("growing list", |n| format!("set -- a;{}", flood("set -- $@ $@;", n))),
    ("assignments", |n| flood("x=1 ", n)),
    ("many variables", |n| numbered(n, |i| format!("v{i}=1;"))),
    ("many functions", |n| numbered(n, |i| format!("f{i}(){{ ls;}};"))),
    ("aliases", |n| format!("shopt -s expand_aliases\n{}", flood("alias a='a '\n", n))),
    ("traps", |n| flood("trap 'ls' EXIT;", n)),
    ("array", |n| format!("a=({})", flood("x ", n))),
    ("array elements", |n| flood("a[1]=x;", n)),
    ("redirections", |n| format!("ls {}", flood(">a ", n))),
    ("descriptors", |n| format!("ls {}>a", flood("9", n))),
    ("here-documents", |n| format!("cat {}\n{}", flood("<<E ", n / 2), flood("E\n", n / 4))),
    ("here-document body", |n| format!("cat <<E\n{}E\n", flood("$x\n", n))),
    ("here-strings", |n| format!("cat {}", flood("<<< a ", n))),
    ("unterminated quotes", |n| format!("echo '{}", flood("a", n))),
    ("unterminated documents", |n| flood("cat <<E\n", n)),
    ("unterminated substitutions", |n| flood("$(", n)),
    ("unterminated parameters", |n| flood("${a", n)),
    ("unterminated double quotes", |n| flood("\"$(echo ", n)),
    ("dollars", |n| flood("$", n)),
    ("comments", |n| flood("# $(rm)\n", n)),
    ("decoded", |n| format!("echo {} | base64 -d | sh", flood("bHMK", n))),
    ("decoded again", |n| format!("echo x{}| sh", flood("| rev ", n))),
    ("printf", |n| format!("printf {} x", flood("%s", n))),
    ("find", |n| format!("find .{}", flood(" -name a -o", n))),
    ("python", |n| format!("python3 -c '{}'", flood("x=1\n", n))),
    ("python brackets", |n| format!("python3 -c '{}'", flood("(", n))),
    ("awk", |n| format!("awk '{{{}}}'", flood("x=1;", n))),
    ("sed", |n| format!("sed '{}' a", flood("s/a/b/;", n))),
    ("control bytes", |n| flood("\u{1}\u{7f}", n)),
    ("blanks", |n| format!("ls{}", flood(" \t", n))),
    ("other blanks", |n| flood("\u{a0}a\u{3000}", n)),
    ("path", |n| format!("rm -rf {}", flood("/..", n))),
    ("path of names", |n| format!("cat {}", flood("a/../", n))),
    ("layers of base64", layers),
    ("many long here-documents", |n| {
        numbered(n, |i| format!("cat > f{i} <<'E'\n{}E\n", flood("a line of text\n", n.min(9000))))
    }),
    ("here-document to Python", |n| format!("python3 - <<'E'\n{}E\n", flood("x = f(1)\n", n))),
    ("many here-documents to Python", |n| {
        numbered(n, |i| format!("python3 - <<'E'\nopen(\"f{i}\", \"w\").write(\"a\")\nE\n"))
    }),
    ("cases in functions", |n| {
        let function = |i| format!("f{i}() {{ case $1 in a) f{} ;; b*|?c) ls ;; esac; }}; ", i + 1);
        format!("{}f0 $a", numbered(n, function))
    }),
    ("functions in functions", |n| nested("f() { g() { ", "ls", "; }; g; }; f", n)),
    ("functions of one name in branches", |n| {
        flood("if a; then f() { ls; }; else f() { cat b; }; fi; f; ", n)
    }),
    ("arrays of arrays", |n| numbered(n, |i| format!("a{}=(x \"${{a{i}[@]}}\"); ", i + 1))),
    ("aliases of aliases", |n| {
        let alias = |i| format!("alias a{i}='a{} | '\na{i} ls\n", i / 2);
        format!("shopt -s expand_aliases\n{}", numbered(n, alias))
    }),
    ("braces beside globs", |n| format!("ls {}", flood("{a,b*}?{c,*} ", n))),
    ("globs in braces", |n| format!("ls {{{}}}*", flood("*,", n))),
    ("globs of a variable", |n| format!("x='{}'; ls $x", flood("*a", n))),
    ("arithmetic that assigns", |n| {
        format!("echo $(({}1))", numbered(n, |i| format!("v{}=v{i}+{i},", i + 1)))
    }),
    ("patterns of parameters", |n| format!("x=abcabc; {}", flood("echo ${x//a*/b}${x%%[a-c]*}${x^^}; ", n))),
    ("pipelines of xargs", |n| {
        numbered(n, |i| format!("find . -name a{i} | xargs -n 1 sh -c 'ls \"$1\"' a | xargs rm; "))
    }),
    ("expressions for names", |n| format!("find . | grep{} | xargs cat", flood(" -e '\\.env'", n))),
    ("expressions for many names", |n| {
        format!("find . | grep{} | xargs cat", numbered(n, |i| format!(" -e '\\.env\\.a{i}'")))
    }),
    ("an expression of many names", |n| {
        format!("find . | grep -E '({})$' | xargs cat", numbered(n, |i| format!("\\.env\\.a{i}|")))
    }),
    ("expressions for names in many places", |n| {
        let places = numbered(n / 2, |i| format!(" d{i}"));
        let names = numbered(n / 2, |i| format!(" -e '\\.env\\.a{i}'"));
        format!("find{places} | grep{names} | xargs cat")
    }),
    ("pipelines that choose names", |n| {
        numbered(n, |i| format!("find a{i} b{i} | grep -E '\\.env|id_rsa' | xargs cat; "))
    }),
    ("a pipeline that chooses names again", |n| {
        format!("find .{} | xargs cat", numbered(n, |i| format!(" | grep '\\.env\\.a{i}'")))
    }),
    ("groups in an expression for names", |n| {
        format!("find . | grep -E '{}' | xargs cat", flood("(a|b|/)?", n))
    }),
    ("deep groups in an expression for names", |n| {
        format!("find . | grep -E '{}' | xargs cat", nested("(", "\\.env", ")", n))
    }),
    ("sets in an expression for names", |n| {
        format!("find . | grep '{}' | xargs cat", flood("[[:alpha:][", n))
    }),
    ("alternatives in an expression for names", |n| {
        let all = numbered(n / 2, |i| format!("a{i}|"));
        format!("find . | grep -E '({all}b){}' | xargs cat", flood("x", n / 2))
    }),
    ("expressions of find", |n| {
        format!("find .{} -exec cat {{}} +", flood(" -o -regex '.*/\\(\\.env\\|id_rsa\\)'", n))
    }),
    ("patterns of fd", |n| format!("fd -H .{} -x cat", numbered(n, |i| format!(" --and '\\.env\\.a{i}'")))),
    ("archives in a directory of settings", |n| {
        format!("cd .vscode; {}", flood("unzip ../a; cp -r ../x/. .; ", n))
    }),
    ("copies into a directory of settings", |n| format!("cp -r {} .vscode", flood("x/. ", n))),
    ("shells of find", |n| format!("find . {}", flood("-exec sh -c 'rm \"$1\"' a {} \\; ", n))),
    ("Python in shells of find", |n| flood("find . -exec sh -c 'python3 -c \"print(1)\" | sh' \\; ", n)),
    ("many awk programs", |n| numbered(n, |i| format!("awk '{{ print $1 > \"f{i}\" }}' a; "))),
    ("many sed scripts", |n| numbered(n, |i| format!("sed -n 's/a/b/w f{i}' a; "))),
    ("many jq programs", |n| flood("jq '.a | select(.b) | .c[]' a.json; ", n)),
    ("Makefile from standard input", |n| {
        format!("make -f - <<'E'\n{}E\n", numbered(n, |i| format!("t{i}: t{}\n\tsh s{i}\n", i + 1)))
    }),
    ("what printf prints, executed", |n| numbered(n, |i| format!("printf 'rm f%d\\n' {i} | sh; "))),
    ("sourced files", |n| numbered(n, |i| format!("echo 'v{i}=1' > s{i}; . ./s{i}; "))),
    ("substitutions in loops that read", |n| flood("while read x; do cat <(ls $x) >> f; done < a; ", n)),
    ("python paths joined", |n| python("import os\nx = \"a\"\n", "x = os.path.join(x, \"a\")\n", n)),
    ("python paths divided", |n| python("import pathlib\nx = pathlib.Path(\"a\")\n", "x = x / \"a\"\n", n)),
    ("python paths renamed", |n| {
        python("import pathlib\nx = pathlib.Path(\"a\")\n", "x = x.with_suffix(\".b\")\n", n)
    }),
    ("python texts formatted", |n| python("x = \"a\"\n", "x = f\"{x}a\"\n", n)),
    ("python texts in templates", |n| python("x = \"a\"\n", "x = \"%sa\" % x\n", n)),
    ("python texts joined", |n| python("x = \"a\"\n", "x = \"a\".join([x, \"b\"])\n", n)),
    ("python slices of a long text", |n| {
        python(&format!("x = \"{}\"\n", flood("a", n.min(8000) / 2)), "x = x[1:]\n", n)
    }),
    ("python uses of a long path", |n| {
        python(&format!("x = \"{}\"\n", flood("a", n / 2)), "open(x)\n", n / 2)
    }),
    ("python prints of a long text", |n| {
        python(&format!("x = \"{}\"\n", flood("a", n / 2)), "print(x)\n", n / 2)
    }),
    ("python commands of a long text", |n| {
        python(&format!("import os\nx = \"{}\"\n", flood("ls;", n / 2)), "os.system(x)\n", n / 2)
    }),
    ("python dictionaries", |n| {
        let pairs = numbered(n / 2, |i| format!("\"k{i}\": {i}, "));
        format!("python3 -c 'x = {{{pairs}}}\n{}'", numbered(n / 2, |i| format!("y = x[\"k{i}\"]\n")))
    }),
    ("python lists that are joined", |n| {
        format!("python3 -c 'x = []\n{}'", numbered(n, |i| format!("x = x + [{i}]\n")))
    }),
    ("python lists that double", |n| python("x = []\n", "x += x\n", n)),
    ("python directories", |n| python("import os\n", "os.chdir(\"a\")\n", n)),
    ("python files", |n| {
        format!("python3 -c '{}'", numbered(n, |i| format!("with open(\"f{i}\") as f: s = f.read()\n")))
    }),
    ("ruby", |n| format!("ruby -e '{}'", numbered(n, |i| format!("x{i} = File.join(\"a\", \"b\"); ")))),
    ("ruby files", |n| format!("ruby -e '{}'", numbered(n, |i| format!("File.write(\"f{i}\", \"a\"); ")))),
    ("php", |n| format!("php -r '{}'", numbered(n, |i| format!("$x{i} = $x; ")))),
    ("php files", |n| {
        format!("php -r '{}'", numbered(n, |i| format!("file_put_contents(\"f{i}\", \"a\"); ")))
    }),
    ("sed labels", |n| format!("sed '{}' a", numbered(n, |i| format!(":a{i};ba{i};")))),
    ("many coprocesses", |n| numbered(n, |i| format!("coproc c{i} {{ ls; }}; "))),
    ("traps of variables", |n| numbered(n, |i| format!("trap \"kill $x{i}\" EXIT; "))),
    ("traps of functions that return", |n| format!("f() {{ trap 'ls' RETURN; }}; {}", flood("f; ", n))),
    ("temporary directories", |n| {
        numbered(n, |i| format!("d{i}=$(mktemp -d); trap \"rm -rf $d{i}\" EXIT; "))
    }),
    ("patterns by option", |n| {
        format!("shopt -s globstar nocaseglob; {}", numbered(n, |i| format!("cat **/a{i}*; ")))
    }),
    ("pictures", |n| format!("convert {}b.pdf", numbered(n, |i| format!("a{i}.png ")))),
    ("hosts of copies", |n| format!("scp {}b", numbered(n, |i| format!("h{i}:a ")))),
    ("addresses", |n| format!("curl {}", numbered(n, |i| format!("http://h{i}/ ")))),
    ("hosts", |n| numbered(n, |i| format!("ssh h{i} ls; "))),
    ("bare environments", |n| numbered(n, |i| format!("env -i A{i}=b ls; "))),
    ("elements that are set", |n| elements(n, "a[1]=b; ")),
    ("elements that are read", |n| elements(n, "echo ${a[1]}; ")),
    ("last elements", |n| elements(n, "echo ${a[-1]}; ")),
    ("counted parameters", |n| {
        format!("set --{}; {}", numbered(n / 2, |i| format!(" a{i}")), flood("echo $#; ", n / 2))
    }),
    ("parts of a long variable", |n| format!("x={}; {}", flood("a", n / 2), flood("y=${x:1:2}; ", n / 2))),
    ("lengths of a long variable", |n| format!("x={}; {}", flood("a", n / 2), flood("y=${#x}; ", n / 2))),
    ("variables in functions", |n| {
        format!("f() {{ {}}}; {}", numbered(n / 2, |i| format!("v{i}=2; ")), flood("f; ", n / 2))
    }),
    ("local variables in functions", |n| {
        format!("f() {{ {}}}; {}", numbered(n / 2, |i| format!("local v{i}=1; ")), flood("f; ", n / 2))
    }),
    ("directories in branches", |n| numbered(n, |i| format!("if x; then cd a{i}; else cd b{i}; fi; rm c; "))),
    ("files of a directory", |n| written(n, "a", "cat d/*; ")),
    ("scripts of a directory", |n| written(n, "ls", "sh d/*; ")),
    ("scripts that are found", |n| written(n, "ls", "find d -exec sh {} \\; ; ")),
    ("archives of a directory", |n| written(n, "ls", "tar cf a.tar d; ")),
    ("projects of many files", |n| written(n, "ls", "make; ")),
    ("programs beside many files", |n| {
        let files = numbered(n / 2, |i| format!("echo x > a{i}.js; "));
        format!("{files}{}", numbered(n / 2, |i| format!("node a{i}.js; ")))
    }),
    ("owners", |n| format!("setfacl -m u:a:r {}", numbered(n, |i| format!("a{i} ")))),
    ("modes", |n| format!("chmod +x {}", numbered(n, |i| format!("a{i} ")))),
    ("databases", |n| format!("sqlite3 {}", numbered(n, |i| format!("a{i} ")))),
    ("macros", |n| format!("m4 {}", numbered(n, |i| format!("a{i} ")))),
    ("links to what is not known", |n| format!("ln -s {}", numbered(n, |i| format!("$a{i} ")))),
    ("copies of what is not known", |n| format!("scp {}", numbered(n, |i| format!("$a{i} ")))),
    ("unpacked with unknown options", |n| format!("unace e {}", numbered(n, |i| format!("--o{i}=a ")))),
    ("terminals of words", |n| format!("tmux new {}", numbered(n, |i| format!("a{i}=b ")))),
    ("starts of a debugger", |n| format!("gdb {}./x", flood("-ex r ", n))),
    ("python texts that grow", |n| python("x = \"a\"\n", "x += \"a\"\n", n)),
    ("functions that differ in branches", |n| {
        numbered(n, |i| format!("if a; then f() {{ ls {i}; }}; f; fi; "))
    }),
    ("functions that differ in loops", |n| {
        numbered(n, |i| format!("while a; do f() {{ ls {i}; }}; f; done; "))
    }),
    ("traps about many files", |n| numbered(n, |i| format!("trap 'rm f{i}' EXIT; "))),
    ("traps beside many files", |n| numbered(n, |i| format!("{{ trap 'y={i}' RETURN; }} > o{i}; "))),
    ("shells elsewhere beside many files", |n| numbered(n, |i| format!("{{ ssh h{i} ls; }} > o{i}; "))),
    ("files in temporary directories", |n| numbered(n, |i| format!("t=$(mktemp -d); touch $t/a{i}; "))),
    ("temporary directories in loops", |n| turned(n, |i| format!("t=$(mktemp -d); touch $t/a{i}; "))),
    ("search paths that grow", |n| numbered(n, |i| format!("f{i}() {{ PATH=$PATH:/a{i}; ls; }}; f{i}; "))),
    ("directories in loops", |n| numbered(n, |i| format!("while a; do cd d{i}; cd -; done; "))),
    ("functions that are defined again", |n| called(n, |i| format!("f{i}() {{ ls; }}; "))),
    ("functions that call themselves", |n| called(n, |i| format!("f{i}() {{ f{i} x; }}; f{i}; "))),
    ("lists in functions", |n| called(n, |_| "for i in \"${a[@]}\"; do echo $i; done; ".to_owned())),
    ("parts of variables in functions", |n| called(n, |i| format!("y=${{x:{i}:2}}; "))),
    ("sums in functions", |n| called(n, |i| format!("((n{i}++)); "))),
    ("choices in functions", |n| called(n, |i| format!("if [ -f a{i} ]; then x=1; else x=2; fi; "))),
    ("substitutions in functions", |n| called(n, |i| format!("x=$(echo {i}); "))),
    ("search paths in functions", |n| called(n, |i| format!("PATH=$PATH:/a{i}; ls; "))),
    ("programs in loops", |n| turned(n, |i| format!("php -r 'echo {i};'; "))),
    ("directories of git in loops", |n| turned(n, |i| format!("git -C d{i} status; "))),
    ("exports in loops", |n| turned(n, |i| format!("export E{i}=1; "))),
    ("copies in endless loops", |n| circled(n, |i| format!("cp a{i} b{i}\n"))),
    ("here-documents in endless loops", |n| circled(n, |i| format!("cat <<E > f{i}\n$x\nE\n"))),
    ("substituted files in endless loops", |n| circled(n, |i| format!("cat <(ls a{i}) > >(tee b{i})\n"))),
    ("Python files in endless loops", |n| circled(n, |i| format!("echo x=1 > a{i}.py; python3 a{i}.py\n"))),
    ("Python files in functions", |n| called(n, |i| format!("echo x=1 > a{i}.py; python3 a{i}.py; "))),
    ("commands of Python in functions", |n| {
        called(n, |i| format!("python3 -c 'import os; os.system(\"ls {i}\")'; "))
    }),
    ("coprocesses in functions", |n| {
        called(n, |i| format!("coproc C{i} {{ cat; }}; echo x >&${{C{i}[1]}}; "))
    }),
    ("search paths of a command in functions", |n| called(n, |i| format!("PATH=/a{i} ls; "))),
    ("classes without an end in brackets", |n| format!("ls [{}", flood("[:", n))),
    ("replaced names in an archive", |n| format!("tar cf a --transform='s,x,{}y,' b", flood("\\1.", n))),
    ("moves in functions that double", |n| doubled(n, "mv d e")),
    ("links in functions that double", |n| doubled(n, "ln -s /etc l$i; cat l$i/x; touch l$i/*")),
    ("counting in functions that double", |n| doubled(n, "seq 1 9999 | sort | cat")),
    ("what traps do again in functions that double", |n| doubled(n, "trap 'mv a b; exec {x}>f' ERR; ls")),
];
