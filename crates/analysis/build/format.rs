//! Reads the knowledge files (`*.cmds`), whose form `docs/knowledge.md` describes.
//!
//! A line that is wrong is reported with its place and what would be right; its program, half described, is left out then.

use super::vocabulary::{self, NoSuchWord};
use super::whole;
use super::words::{Act, Beside, Condition, Fact, Output, Role, Stdin, Style};
use std::collections::BTreeMap;
use std::fmt;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// What all files together say.
#[derive(Debug, Default)]
pub(crate) struct Knowledge {
    pub(crate) programs: Vec<Level>,
    pub(crate) examples: Vec<Example>,
    pub(crate) problems: Vec<Problem>,
}

/// A command and the effects it must have.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) command: String,
    pub(crate) effects: Vec<String>,
}

/// A program or a subcommand.
#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) names: Vec<String>,
    pub(crate) style: Option<Style>,
    pub(crate) global: bool,
    pub(crate) reader: Option<String>,
    pub(crate) options: Vec<Opt>,
    pub(crate) operands: Vec<Operands>,
    pub(crate) effects: Vec<Act>,
    pub(crate) cases: Vec<Case>,
    pub(crate) otherwise: Option<Vec<Act>>,
    pub(crate) stdin: Option<Stdin>,
    pub(crate) stdin_when_no_operands: bool,
    pub(crate) stdin_before_default: bool,
    pub(crate) response_files: bool,
    pub(crate) repeats: bool,
    pub(crate) becomes: bool,
    pub(crate) inert_options: bool,
    pub(crate) names_only: bool,
    pub(crate) echoes: bool,
    pub(crate) facts: Vec<Known>,
    pub(crate) output: Option<Output>,
    pub(crate) harmless: Vec<String>,
    pub(crate) env: Vec<(String, Role)>,
    /// How many operands stand before the subcommand.
    pub(crate) sub_after: usize,
    pub(crate) subs: Vec<Level>,
}

/// What is known of a program as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) line: usize,
    pub(crate) fact: Fact,
    /// The names under which it is true.
    pub(crate) names: Vec<String>,
    pub(crate) beside: Beside,
    pub(crate) options: Vec<String>,
}

/// Effects that depend on which options are given, or on what was written before.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) line: usize,
    pub(crate) condition: Condition,
    /// Options as typed, names of files, or patterns in which `\_` was a blank.
    pub(crate) names: Vec<String>,
    pub(crate) acts: Vec<Act>,
}

/// An option: all names of one line.
#[derive(Debug)]
pub(crate) struct Opt {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) names: Vec<Name>,
    pub(crate) role: Role,
    /// The roles of the values after the first.
    pub(crate) more: Vec<Role>,
    pub(crate) acts: Vec<Act>,
}

/// What an option line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Value,
    Info,
    Narrow,
}

/// One spelling of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// As typed, with its dashes.
    pub(crate) text: String,
    /// It has an optional, joined value.
    pub(crate) optional: bool,
    /// That is made of digits; what follows them are further options.
    pub(crate) digits: bool,
}

/// One `operands` line.
#[derive(Debug)]
pub(crate) struct Operands {
    pub(crate) line: usize,
    /// Options of which one must be given, as typed.
    pub(crate) when: Vec<String>,
    pub(crate) items: Vec<Item>,
    /// What happens if there are operands and this line applies.
    pub(crate) acts: Vec<Act>,
}

/// One operand, or a run of them.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) repeat: Repeat,
    pub(crate) role: Role,
    /// What is meant, with everything below it, if no operand is given.
    pub(crate) default: Option<String>,
}

/// How many operands an item takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    One,
    Maybe,
    Any,
    Some,
}

/// Reads the files, given as name and text, in this order. `readers` are the typed readers that exist.
pub(crate) fn read(files: &[(String, String)], readers: &[String]) -> Knowledge {
    let mut knowledge = Knowledge::default();
    for (file, text) in files {
        File { file, readers, knowledge: &mut knowledge }.read(text);
    }
    let mut seen: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let mut problems = Vec::new();
    knowledge.programs.retain(|program| {
        for name in &program.names {
            if let Some((file, line)) = seen.get(name) {
                let message = format!("program ‘{name}’ is already described in {file}:{line}");
                problems.push(Problem { file: program.file.clone(), line: program.line, message });
                return false;
            }
        }
        for name in &program.names {
            seen.insert(name.clone(), (program.file.clone(), program.line));
        }
        true
    });
    knowledge.problems.extend(problems);
    knowledge
}

/// A line without its indentation.
struct Line<'t> {
    number: usize,
    depth: usize,
    words: Vec<&'t str>,
    text: &'t str,
}

struct File<'k> {
    file: &'k str,
    readers: &'k [String],
    knowledge: &'k mut Knowledge,
}

impl File<'_> {
    fn problem(&mut self, line: usize, message: String) {
        self.knowledge.problems.push(Problem { file: self.file.to_owned(), line, message });
    }

    fn read(&mut self, text: &str) {
        // The levels that are open: the program, its subcommand, and so on.
        let mut open: Vec<Level> = Vec::new();
        let mut broken = false;
        for (index, raw) in text.lines().enumerate() {
            let number = index + 1;
            let line = match split(raw, number) {
                Ok(Some(line)) => line,
                Ok(None) => continue,
                Err(message) => {
                    self.problem(number, message);
                    broken = true;
                    continue;
                }
            };
            let first = line.words.first().copied().unwrap_or_default();
            if line.depth == 0 {
                self.close_program(&mut open, broken);
                broken = false;
            }
            let result = match (line.depth, first) {
                (0, "source") => Ok(()),
                (0, "program") => self.open_level(&mut open, &line),
                (0, _) => {
                    Err(format!("‘{first}’ cannot stand here: unindented lines are `source` and `program`"))
                }
                (_, "example") => self.example(&line),
                _ if broken && open.is_empty() => Ok(()),
                (depth, _) if depth > open.len() => {
                    Err("indented too far: two spaces a level, below a `program` or `sub` line".to_owned())
                }
                (depth, "sub") => {
                    fold(&mut open, depth);
                    self.open_level(&mut open, &line)
                }
                (depth, _) => {
                    fold(&mut open, depth);
                    match open.last_mut() {
                        Some(level) => describe(level, &line, self.readers),
                        None => Err("this belongs below a `program` line".to_owned()),
                    }
                }
            };
            if let Err(message) = result {
                self.problem(number, message);
                broken = true;
            }
        }
        self.close_program(&mut open, broken);
    }

    fn open_level(&mut self, open: &mut Vec<Level>, line: &Line<'_>) -> Result<(), String> {
        let names: Vec<String> = line.words.iter().skip(1).map(|w| (*w).to_owned()).collect();
        let mut level = Level { file: self.file.to_owned(), line: line.number, ..Level::default() };
        let named = !names.is_empty();
        level.names = names;
        open.push(level);
        if named { Ok(()) } else { Err("at least one name is needed".to_owned()) }
    }

    fn close_program(&mut self, open: &mut Vec<Level>, broken: bool) {
        fold(open, 1);
        let Some(program) = open.pop() else { return };
        let mut problems = Vec::new();
        whole::check(&program, &mut Vec::new(), &mut problems);
        let sound = problems.is_empty();
        for (line, message) in problems {
            self.problem(line, message);
        }
        if sound && !broken {
            self.knowledge.programs.push(program);
        }
    }

    fn example(&mut self, line: &Line<'_>) -> Result<(), String> {
        let text = line.text.strip_prefix("example").unwrap_or_default();
        let (command, effects) =
            text.rsplit_once(" => ").ok_or("expected `example COMMAND => EFFECT…` (or `=> none`)")?;
        let effects: Vec<String> =
            effects.split_whitespace().filter(|e| *e != "none").map(|e| e.to_owned()).collect();
        let command = command.trim().to_owned();
        self.knowledge.examples.push(Example {
            file: self.file.to_owned(),
            line: line.number,
            command,
            effects,
        });
        Ok(())
    }
}

/// Splits a line; `None` for blank lines and comments.
fn split(raw: &str, number: usize) -> Result<Option<Line<'_>>, String> {
    let text = raw.trim_end();
    let body = text.trim_start_matches(' ');
    if body.is_empty() || body.starts_with('#') {
        return Ok(None);
    }
    let indent = text.len() - body.len();
    if body.starts_with('\t') || !indent.is_multiple_of(2) {
        return Err("indent with two spaces a level".to_owned());
    }
    Ok(Some(Line { number, depth: indent / 2, words: body.split_whitespace().collect(), text: body }))
}

/// Closes the levels deeper than `depth` into their parents.
fn fold(open: &mut Vec<Level>, depth: usize) {
    while open.len() > depth.max(1) {
        let Some(inner) = open.pop() else { return };
        if let Some(outer) = open.last_mut() {
            outer.subs.push(inner);
        }
    }
}

/// The names of a program for which a line holds: those that it tells, or all.
fn some_names(level: &Level, told: &[&str]) -> Result<Vec<String>, String> {
    if let Some(other) = told.iter().find(|name| !level.names.iter().any(|known| known == *name)) {
        return Err(format!("‘{other}’ is no name of this program: {}", level.names.join(" ")));
    }
    let told: Vec<String> = told.iter().map(|name| (*name).to_owned()).collect();
    Ok(if told.is_empty() { level.names.clone() } else { told })
}

/// What a line says of the program as a whole: `WORD [VALUE] [NAME…] [alone | with OPTION… | when OPTION… | unless OPTION…]`.
fn known(level: &Level, words: &[&str], line: usize) -> Result<Known, String> {
    let (fact, rest) = wrong(vocabulary::fact(words))?;
    let end = rest.iter().position(|word| matches!(*word, "alone" | "with" | "when" | "unless"));
    let (names, condition) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, &[]));
    let (beside, options) = match condition {
        [] => (Beside::All, condition),
        ["alone"] => (Beside::With, &[][..]),
        [word, options @ ..] if *word != "alone" && !options.is_empty() => match *word {
            "with" => (Beside::With, options),
            "when" => (Beside::When, options),
            _ => (Beside::Unless, options),
        },
        _ => return Err("expected `alone`, or option names after `with`, `when` or `unless`".to_owned()),
    };
    let options = options.iter().map(|name| (*name).to_owned()).collect();
    Ok(Known { line, fact, names: some_names(level, names)?, beside, options })
}

/// Adds what a line says to its level.
fn describe(level: &mut Level, line: &Line<'_>, readers: &[String]) -> Result<(), String> {
    let (first, rest) = line.words.split_first().ok_or("empty line")?;
    match *first {
        "style" => level.style = Some(wrong(vocabulary::style(one(rest)?))?),
        "global" => level.global = none(rest)?,
        "flag" => level.options.push(option(Kind::Flag, line.number, rest)?),
        "option" => level.options.push(option(Kind::Value, line.number, rest)?),
        "info" => level.options.push(option(Kind::Info, line.number, rest)?),
        "narrow" => level.options.push(option(Kind::Narrow, line.number, rest)?),
        "operands" => level.operands.push(operands(line.number, rest)?),
        "effect" => {
            let (condition, names, effects) = match rest {
                [condition @ ("when" | "unless"), rest @ ..] => {
                    let count = rest.iter().take_while(|w| is_option_name(w)).count();
                    if count == 0 {
                        return Err(format!("expected option names after `{condition}`"));
                    }
                    let condition = if *condition == "when" { Condition::When } else { Condition::Unless };
                    (condition, rest.get(..count), rest.get(count..))
                }
                [condition @ ("written" | "named"), rest @ ..] => {
                    let colon = rest.iter().position(|w| *w == ":").filter(|at| *at > 0);
                    let colon =
                        colon.ok_or_else(|| format!("expected `effect {condition} PATTERN… : EFFECT…`"))?;
                    let condition =
                        if *condition == "written" { Condition::Written } else { Condition::Named };
                    (condition, rest.get(..colon), rest.get(colon + 1..))
                }
                _ => {
                    level.effects.extend(acts(rest)?);
                    return Ok(());
                }
            };
            let names = names.unwrap_or_default().iter().map(|word| word.replace("\\_", " ")).collect();
            let acts = acts(effects.unwrap_or_default())?;
            level.cases.push(Case { line: line.number, condition, names, acts });
        }
        "otherwise" => level.otherwise = Some(acts(rest)?),
        "stdin" => level.stdin = Some(stdin(rest)?),
        "stdin-when-no-operands" => level.stdin_when_no_operands = none(rest)?,
        "stdin-before-default" => level.stdin_before_default = none(rest)?,
        "response-files" => level.response_files = none(rest)?,
        "repeats" => level.repeats = none(rest)?,
        "becomes" => level.becomes = none(rest)?,
        "inert-options" => level.inert_options = none(rest)?,
        "names-only" => level.names_only = none(rest)?,
        "echoes" => level.echoes = none(rest)?,
        "sub-after" => {
            level.sub_after = one(rest)?.parse().map_err(|_| "expected a number of operands".to_owned())?;
        }
        "output" => level.output = Some(output(rest)?),
        "reader" => {
            let name = one(rest)?;
            if !readers.iter().any(|r| r == name) {
                return Err(format!("no reader ‘{name}’; there are: {}", readers.join(" ")));
            }
            level.reader = Some(name.to_owned());
        }
        "harmless" => {
            several(rest)?;
            level.harmless.extend(rest.iter().map(|w| w.to_ascii_lowercase()));
        }
        "setting" => match rest {
            [name, role] if name.contains('.') && !name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                level.env.push(((*name).to_owned(), wrong(vocabulary::role(role))?));
            }
            _ => return Err("expected `setting NAME ROLE`, a name with a dot and in lower case".to_owned()),
        },
        "env" => match rest {
            [name, role] => level.env.push(((*name).to_owned(), wrong(vocabulary::role(role))?)),
            _ => return Err("expected `env NAME ROLE`".to_owned()),
        },
        other => {
            if vocabulary::is_fact(other) {
                let known = known(level, &line.words, line.number)?;
                level.facts.push(known);
                return Ok(());
            }
            let facts = vocabulary::facts().join(" ");
            return Err(format!(
                "‘{other}’ is no line; there are: style flag option info narrow operands effect sub sub-after global \
                 otherwise stdin stdin-when-no-operands stdin-before-default response-files repeats becomes inert-options names-only echoes output reader harmless setting env example {facts}"
            ));
        }
    }
    Ok(())
}

fn wrong<T>(found: Result<T, NoSuchWord>) -> Result<T, String> {
    found.map_err(|e| format!("no such {}; there are: {}", e.what, e.valid.join(" ")))
}

fn one<'t>(words: &[&'t str]) -> Result<&'t str, String> {
    match words {
        [word] => Ok(word),
        _ => Err("exactly one word is needed here".to_owned()),
    }
}

fn none(words: &[&str]) -> Result<bool, String> {
    if words.is_empty() { Ok(true) } else { Err("nothing may follow here".to_owned()) }
}

fn several(words: &[&str]) -> Result<(), String> {
    if words.is_empty() { Err("at least one word is needed here".to_owned()) } else { Ok(()) }
}

fn acts(words: &[&str]) -> Result<Vec<Act>, String> {
    several(words)?;
    words.iter().map(|word| wrong(vocabulary::act(word)).map_err(|e| format!("‘{word}’: {e}"))).collect()
}

fn stdin(words: &[&str]) -> Result<Stdin, String> {
    match words {
        ["data"] => Ok(Stdin::Data),
        ["none"] => Ok(Stdin::None),
        ["list"] => Ok(Stdin::List),
        ["code", language] => Ok(Stdin::Code(wrong(vocabulary::language(language))?)),
        _ => Err("expected `stdin data`, `stdin none`, `stdin list` or `stdin code LANG`".to_owned()),
    }
}

fn output(words: &[&str]) -> Result<Output, String> {
    match words {
        ["none"] => Ok(Output::None),
        ["status"] => Ok(Output::Status),
        [] => Err("expected `output none`, `output status` or `output ORIGIN…`".to_owned()),
        _ => {
            let origins: Result<Vec<_>, _> = words.iter().map(|w| wrong(vocabulary::origin(w))).collect();
            Ok(Output::Origins(origins?.leak()))
        }
    }
}

fn option(kind: Kind, line: usize, words: &[&str]) -> Result<Opt, String> {
    let colon = words.iter().position(|w| *w == ":");
    let (words, effects) = match colon {
        Some(at) => (words.get(..at).unwrap_or_default(), acts(words.get(at + 1..).unwrap_or_default())?),
        None => (words, Vec::new()),
    };
    let (names, roles) = match (kind, words) {
        (Kind::Value, words) => named_values(words)?,
        (_, names) => (names, vec![Role::Text]),
    };
    several(names)?;
    if roles.iter().any(|role| role.is_command()) {
        return Err(
            "`exec` is for operands; an option's value is `run` (a command line) or `program`".to_owned()
        );
    }
    let names = names.iter().map(|word| name(word)).collect::<Result<Vec<_>, _>>()?;
    let (role, more) = roles.split_first().ok_or("an option needs a role")?;
    Ok(Opt { line, kind, names, role: *role, more: more.to_vec(), acts: effects })
}

/// The names of an option and the roles of its values: `NAME… VALUE ROLE [VALUE ROLE]…` or `NAME… ROLE`.
fn named_values<'w, 't>(words: &'w [&'t str]) -> Result<(&'w [&'t str], Vec<Role>), String> {
    let role = |word: &str| wrong(vocabulary::role(word)).map_err(|e| format!("‘{word}’: {e}"));
    let usual = "expected `option NAME… VALUE ROLE [: EFFECT…]`, VALUE in capitals";
    let capital = |w: &&str| w.starts_with(|c: char| c.is_ascii_uppercase()) && !w.ends_with('=');
    if let Some(at) = words.iter().position(capital) {
        let (names, values) = words.split_at_checked(at).ok_or(usual)?;
        let roles = values.chunks(2).map(|pair| match pair {
            [value, word] if capital(value) => role(word),
            _ => Err(usual.to_owned()),
        });
        return Ok((names, roles.collect::<Result<_, _>>()?));
    }
    match words {
        [names @ .., word] if !word.starts_with(['-', '+']) && !names.is_empty() => {
            Ok((names, vec![role(word)?]))
        }
        _ => Err(usual.to_owned()),
    }
}

fn name(word: &str) -> Result<Name, String> {
    let (text, optional) = match word.split_once('[') {
        Some((text, rest)) if rest.ends_with(']') => (text, true),
        Some(_) => return Err(format!("‘{word}’: `[` is not closed")),
        None => (word, false),
    };
    if text.is_empty() || text == "--" {
        return Err(format!("‘{word}’ is no option name"));
    }
    if text.starts_with("--") && text.contains('=') {
        return Err(format!(
            "‘{word}’: write `--name[=VALUE]` for an optional value, `option --name VALUE ROLE` else"
        ));
    }
    Ok(Name { text: text.to_owned(), optional, digits: word.ends_with("[DIGITS]") })
}

/// As typed, in any style.
fn is_option_name(word: &str) -> bool {
    word.starts_with(['-', '+']) || word.ends_with('=')
}

fn operands(line: usize, words: &[&str]) -> Result<Operands, String> {
    let colon = words.iter().position(|w| *w == ":");
    let (mut words, effects) = match colon {
        Some(at) => (words.get(..at).unwrap_or_default(), acts(words.get(at + 1..).unwrap_or_default())?),
        None => (words, Vec::new()),
    };
    let mut when = Vec::new();
    if let Some((&"when", rest)) = words.split_first() {
        let names = rest.iter().take_while(|w| is_option_name(w)).count();
        when.extend(rest.iter().take(names).map(|w| (*w).to_owned()));
        words = rest.get(names..).unwrap_or_default();
        if when.is_empty() {
            return Err("expected option names after `when`".to_owned());
        }
    }
    let mut items = Vec::new();
    for pair in words.chunks(2) {
        let [name, role] = pair else {
            return Err("expected pairs `NAME ROLE` (NAME may end in `*`, `+` or `?`)".to_owned());
        };
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Err(format!("‘{name}’: an operand's name is in capitals, its role follows it"));
        }
        let (name, default) = match name.split_once('=') {
            Some((name, place)) if name.ends_with(['*', '?']) && !place.is_empty() => {
                (name, Some(place.to_owned()))
            }
            Some(_) => return Err(format!("‘{name}’: expected `NAME*=PLACE` or `NAME?=PLACE`")),
            None => (*name, None),
        };
        let repeat = match name.chars().last() {
            Some('*') => Repeat::Any,
            Some('+') => Repeat::Some,
            Some('?') => Repeat::Maybe,
            _ => Repeat::One,
        };
        let role = wrong(vocabulary::role(role)).map_err(|e| format!("‘{role}’: {e}"))?;
        items.push(Item { repeat, role, default });
    }
    let open_ended = items.iter().filter(|i| matches!(i.repeat, Repeat::Any | Repeat::Some)).count();
    if open_ended > 1 {
        return Err("only one operand may repeat".to_owned());
    }
    if items.iter().rev().skip(1).any(|i| i.role.is_command()) {
        return Err("`exec` takes all that follows; nothing may stand after it".to_owned());
    }
    Ok(Operands { line, when, items, acts: effects })
}
