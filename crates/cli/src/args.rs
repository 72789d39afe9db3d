//! What was typed, checked against the table of flags.

use crate::flags::{Flag, HELP, Verb};
use lexopt::Arg;
use std::ffi::OsString;

/// The parsed command line of one verb.
#[derive(Debug, Default)]
pub(crate) struct Args {
    values: Vec<(&'static str, OsString)>,
    /// The words that are not options, before `--`.
    pub(crate) operands: Vec<OsString>,
    /// The words after `--`, if it was there.
    pub(crate) command: Option<Vec<OsString>>,
}

impl Args {
    /// Reads the words after the verb.
    ///
    /// # Errors
    /// A message that names the wrong word and what would be right.
    pub(crate) fn parse(
        verb: &'static Verb,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, String> {
        let mut args = Self::default();
        let mut parser = lexopt::Parser::from_args(words);
        loop {
            if let Some(raw) = parser.try_raw_args()
                && raw.peek().is_some_and(|word| word == "--")
            {
                args.command = Some(raw.skip(1).collect());
                return Ok(args);
            }
            let name = match parser.next().map_err(|e| e.to_string())? {
                None => return Ok(args),
                Some(Arg::Value(word)) => {
                    args.operands.push(word);
                    continue;
                }
                Some(Arg::Short('h')) => HELP.name,
                Some(Arg::Short(c)) => return Err(unknown(verb, &format!("-{c}"))),
                Some(Arg::Long(name)) => match verb.flags().find(|f| f.name == name) {
                    Some(flag) => flag.name,
                    None => return Err(unknown(verb, &format!("--{name}"))),
                },
            };
            let takes_value = verb.flags().any(|f| f.name == name && f.value.is_some());
            let value = if takes_value { given(name, &mut parser)? } else { OsString::new() };
            args.values.push((name, value));
        }
    }

    /// Whether the switch was given.
    pub(crate) fn has(&self, flag: &Flag) -> bool {
        self.values.iter().any(|(name, _)| *name == flag.name)
    }

    /// The last value given for the option.
    pub(crate) fn get(&self, flag: &Flag) -> Option<&OsString> {
        self.values.iter().rev().find(|(name, _)| *name == flag.name).map(|(_, v)| v)
    }

    /// The last value as text.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub(crate) fn text(&self, flag: &Flag) -> Result<Option<&str>, String> {
        match self.get(flag) {
            None => Ok(None),
            Some(v) => v.to_str().map(Some).ok_or_else(|| format!("--{}: the value is not UTF-8", flag.name)),
        }
    }

    /// Every value as text, in the order given.
    ///
    /// # Errors
    /// One is not UTF-8.
    pub(crate) fn texts(&self, flag: &Flag) -> Result<Vec<&str>, String> {
        let values = self.values.iter().filter(|(name, _)| *name == flag.name);
        values
            .map(|(_, v)| v.to_str().ok_or_else(|| format!("--{}: the value is not UTF-8", flag.name)))
            .collect()
    }

    /// The last value as a number.
    ///
    /// # Errors
    /// It is not a number in the range.
    pub(crate) fn number(&self, flag: &Flag, least: u64, most: u64) -> Result<Option<u64>, String> {
        let Some(text) = self.text(flag)? else { return Ok(None) };
        match text.parse() {
            Ok(n) if (least..=most).contains(&n) => Ok(Some(n)),
            _ => Err(format!("--{}: {text:?} is not a whole number from {least} to {most}", flag.name)),
        }
    }
}

/// The value of an option. An empty one is what a variable leaves that is not set, and no directory, file or name: nothing that
/// was meant. Nor is `--`.
fn given(name: &str, parser: &mut lexopt::Parser) -> Result<OsString, String> {
    let value = parser.value().map_err(|e| e.to_string())?;
    if value.is_empty() {
        return Err(format!("--{name}: the value is empty; name it, or leave the option out"));
    }
    if value == "--" {
        return Err(format!("--{name}: the value is missing; give it before --"));
    }
    Ok(value)
}

fn unknown(verb: &Verb, name: &str) -> String {
    match nearest(name.trim_start_matches('-'), verb.flags().map(|flag| flag.name)) {
        Some(flag) => format!("unknown option {name}; did you mean --{flag}?"),
        None => format!("unknown option {name}; `shward {} --help` lists the options", verb.name),
    }
}

/// What is said of a word after a verb that is none of these.
pub(crate) fn unknown_word(word: &str, known: &[&'static str], what: &str) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("unknown {word:?}; did you mean {near}?"),
        None => format!("unknown {word:?}; {what}"),
    }
}

/// What was meant by a word that is none of these, if one is near: letters left out, added, changed or in the wrong order, or
/// its beginning.
pub(crate) fn nearest(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let length = word.chars().count();
    if !(2..=32).contains(&length) {
        return None;
    }
    let apart = |name: &str| if name.starts_with(word) { 0 } else { strsim::osa_distance(word, name) };
    let (apart, name) = known.map(|name| (apart(name), name)).min_by_key(|(apart, _)| *apart)?;
    // A third of the letters, or one of a short word.
    (apart <= (length / 3).max(1)).then_some(name)
}
