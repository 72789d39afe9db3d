//! One command in other words that mean the same to bash. Which words are chosen does not depend on the command, so
//! two commands can be put into the same ones: a harmless one to be run, and a dangerous one to be judged.

use super::random::Random;

/// How often a spelling is put into another one at most.
const NESTED: usize = 3;

/// The command in a spelling that the random numbers choose.
pub(super) fn spelled(random: &mut Random, words: &[&str]) -> String {
    let mut text = written(random, words);
    for _ in 0..random.below(NESTED + 1) {
        text = within(random, &text);
    }
    text
}

fn each(words: &[&str], change: impl Fn(&str) -> String) -> String {
    words.iter().map(|word| change(word)).collect::<Vec<_>>().join(" ")
}

fn characters(word: &str, change: impl Fn(char) -> String) -> String {
    word.chars().map(change).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The words of the command in other letters, or out of variables.
fn written(random: &mut Random, words: &[&str]) -> String {
    let plain = words.join(" ");
    let (name, rest) =
        words.split_first().map_or(("", String::new()), |(name, rest)| (*name, rest.join(" ")));
    let split = name.char_indices().nth(1).map_or(name.len(), |(at, _)| at);
    let (head, tail) = name.split_at(split);
    match random.below(44) {
        0 => each(words, |word| format!("'{word}'")),
        1 => each(words, |word| format!("\"{word}\"")),
        2 => each(words, |word| characters(word, |c| format!("{c}''"))),
        3 => each(words, |word| characters(word, |c| format!("\"{c}\"''"))),
        4 => each(words, |word| characters(word, |c| format!("\\{c}"))),
        5 => each(words, |word| format!("$'{}'", characters(word, |c| format!("\\x{:02x}", u32::from(c))))),
        6 => each(words, |word| format!("$'{}'", characters(word, |c| format!("\\{:03o}", u32::from(c))))),
        7 => each(words, |word| format!("$'{}'", characters(word, |c| format!("\\u{:04x}", u32::from(c))))),
        8 => each(words, |word| characters(word, |c| format!("{c}\\\n"))),
        9 => each(words, |word| format!("$\"{word}\"")),
        10 => format!("unset nope; {}", each(words, |word| characters(word, |c| format!("{c}${{nope}}")))),
        11 => each(words, |word| format!("$(){word}``")),
        12 => each(words, |word| format!("{word}$@")),
        13 => format!("{{{}}}", words.join(",")),
        14 => words.join("\t \t"),
        15 => format!("x={name}; $x {rest}"),
        16 => format!("x={head}; ${{x}}{tail} {rest}"),
        17 => format!("x={head} y={tail}; $x$y {rest}"),
        18 => format!("x={}; $x", quoted(&plain)),
        19 => format!("IFS=,; x={}; $x", quoted(&words.join(","))),
        20 => format!("x=({plain}); \"${{x[@]}}\""),
        21 => format!("x=(a {name}); ${{x[1]}} {rest}"),
        22 => format!("x={head}; x+={tail}; $x {rest}"),
        23 => format!("unset x; ${{x:-{name}}} {rest}"),
        24 => format!("unset x; : ${{x:={name}}}; $x {rest}"),
        25 => format!("y=1; ${{y:+{name}}} {rest}"),
        26 => format!("x=zz{name}; ${{x#zz}} {rest}"),
        27 => format!("x={name}zz; ${{x%zz}} {rest}"),
        28 => format!("x=@{tail}; ${{x/@/{head}}} {rest}"),
        29 => format!("x=ab{name}; ${{x:2}} {rest}"),
        30 => format!("x={}; ${{x,,}} {rest}", name.to_uppercase()),
        31 => format!("y={name}; x=y; ${{!x}} {rest}"),
        32 => format!("y={name}; declare -n x=y; $x {rest}"),
        33 => format!("printf -v x %s {name}; $x {rest}"),
        34 => format!("read x <<< {name}; $x {rest}"),
        35 => format!("mapfile -t x <<< {name}; ${{x[0]}} {rest}"),
        36 => format!("set -- {plain}; \"$@\""),
        37 => format!("for x in {name}; do $x {rest}; done"),
        38 => format!("$(echo {name}) {rest}"),
        39 => format!("$(printf '%s ' {plain})"),
        40 => format!("f() {{ \"$@\"; }}; f {plain}"),
        41 => format!("declare -A x=([a]={name}); ${{x[a]}} {rest}"),
        42 => format!("x={}; echo \"$x\" > s; . ./s", quoted(&plain)),
        _ => plain,
    }
}

/// A script inside of something that runs it.
fn within(random: &mut Random, text: &str) -> String {
    let script = quoted(text);
    match random.below(48) {
        0 => format!("eval {script}"),
        1 => format!("bash -c {script}"),
        2 => format!("bash <<< {script}"),
        3 => format!("bash <<'E'\n{text}\nE"),
        4 => format!("echo {script} | bash"),
        5 => format!("printf '%s\\n' {script} | bash"),
        6 => format!("printf '{}' | bash", characters_of(text, |byte| format!("\\{byte:03o}"))),
        7 => format!("echo {} | base64 -d | bash", base64(text)),
        8 => format!("eval \"$(echo {} | base64 -d)\"", base64(text)),
        9 => format!("echo {} | xxd -r -p | bash", characters_of(text, |byte| format!("{byte:02x}"))),
        10 => format!("source <(echo {script})"),
        11 => format!("bash <(printf %s {script})"),
        12 => format!("env bash -c {script}"),
        13 => format!("A=1 bash -c {script}"),
        14 => format!("nohup bash -c {script}"),
        15 => format!("timeout -k 1 5 bash -c {script}"),
        16 => format!("nice -n 3 bash -c {script}"),
        17 => format!("xargs -a a -n1 bash -c {script}"),
        18 => format!("find . -maxdepth 0 -exec bash -c {script} \\;"),
        19 => format!("f() {{ {text}\n}}; f"),
        20 => format!("shopt -s expand_aliases\nalias x={script}\nx"),
        21 => format!("trap {script} EXIT"),
        22 => format!("( {text}\n)"),
        23 => format!("{{ {text}\n}}"),
        24 => format!("{{ {text}\n}} & wait"),
        25 => format!("true | {{ {text}\n}}"),
        26 => format!("if true; then {text}\nfi"),
        27 => format!("while true; do {text}\nbreak; done"),
        28 => format!("until false; do {text}\nbreak; done"),
        29 => format!("echo \"a$({text}\n)\""),
        30 => format!("x=$({text}\n)"),
        31 => format!("cat <({text}\n)"),
        32 => format!("cat <<E\n$(bash -c {script})\nE"),
        33 => format!("echo x > >({text}\n)"),
        34 => format!("case a in a) {text}\n;; esac"),
        35 => format!("false || {{ {text}\n}}"),
        36 => format!("x={script}; eval \"$x\""),
        37 => format!("x={script}; bash -c \"$x\""),
        38 => format!("printf -v x %s {script}; eval \"$x\""),
        39 => format!("echo {script} > s; bash s"),
        40 => format!("cat > s <<'E'\n{text}\nE\nsh -c 'bash ./s'"),
        41 => format!("setsid bash -c {script}"),
        42 => format!("command eval {script}"),
        43 => format!("builtin eval {script}"),
        44 => format!("stdbuf -o0 bash -c {script}"),
        45 => format!("coproc {{ {text}\n}}; wait"),
        46 => format!("x=({script}); eval \"${{x[0]}}\""),
        _ => format!("for i in 1; do {text}\ndone"),
    }
}

fn characters_of(text: &str, change: impl Fn(u8) -> String) -> String {
    text.bytes().map(change).collect()
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for shift in [18, 12, 6, 0].iter().take(group.len() + 1) {
            let digit = usize::try_from(bits >> shift & 63).ok().and_then(|index| DIGITS.get(index));
            out.push(char::from(*digit.unwrap_or(&b'=')));
        }
        out.extend(std::iter::repeat_n('=', 3 - group.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_does_not_depend_on_the_command() {
        for number in 0..500 {
            let [short, long] = [&["p", "q"], &["another", "argument"]]
                .map(|words| spelled(&mut Random::new(3, number), words).len());
            assert!(short < long, "{number}");
        }
        assert_eq!(["", "a", "ab", "abc"].map(base64), ["", "YQ==", "YWI=", "YWJj"]);
    }
}
