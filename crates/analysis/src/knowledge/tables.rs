//! The command knowledge as static tables, made from `knowledge/*.cmds` at build time. Nothing is built at start-up.

use super::readers::{self, Reader};
use super::words::{Act, Output, Role, Stdin, Style};

/// A program.
#[derive(Debug)]
pub(crate) struct Program {
    /// Variables that it obeys.
    pub(crate) env: &'static [(&'static str, Role)],
    /// Its options, operands and subcommands.
    pub(crate) level: &'static Level,
}

/// A program's own options and operands, or a subcommand's.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) style: Style,
    /// Options of this level are accepted after its subcommand too.
    pub(crate) global: bool,
    /// Some option of this level can make the effects worse than its operands do.
    pub(crate) sensitive: bool,
    /// `-NUMBER` is an option.
    pub(crate) number: Option<&'static Opt>,
    pub(crate) reader: Option<Reader>,
    /// `-x`, sorted.
    pub(crate) short: &'static [(u8, Spelling)],
    /// `--name` without the dashes, sorted.
    pub(crate) long: &'static [(&'static str, Spelling)],
    /// Every other spelling (`-name`, `+x`, `word`, `key=`), as typed, sorted.
    pub(crate) words: &'static [(&'static str, Spelling)],
    pub(crate) operands: &'static [Operands],
    pub(crate) effects: &'static [Act],
    pub(crate) cases: &'static [Case],
    pub(crate) otherwise: &'static [Act],
    pub(crate) stdin: Stdin,
    pub(crate) stdin_when_no_operands: bool,
    /// Standard input, when something is connected to it, is read instead of the place that stands for no operand.
    pub(crate) stdin_before_default: bool,
    pub(crate) output: Output,
    /// Keys of harmless settings, in lower case; a trailing `*` stands for any ending.
    pub(crate) harmless: &'static [&'static str],
    /// How many operands stand before the subcommand; they are the subcommand's operands.
    pub(crate) sub_after: usize,
    /// By name, sorted.
    pub(crate) subs: &'static [(&'static str, &'static Level)],
}

/// How an option is written here, and which it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling {
    pub(crate) takes: Takes,
    /// As typed, with its dashes.
    pub(crate) name: &'static str,
    pub(crate) option: &'static Opt,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Value,
    /// Only joined to it.
    Optional,
}

/// An option, whatever its spelling. Two options are the same if they are the same table entry.
#[derive(Debug)]
pub(crate) struct Opt {
    pub(crate) kind: Kind,
    pub(crate) role: Role,
    pub(crate) acts: &'static [Act],
    /// What the value after this one is.
    pub(crate) then: Option<&'static Opt>,
}

/// Effects that depend on which options are given.
#[derive(Debug)]
pub(crate) struct Case {
    /// Options of which one must be given, or none if `unless`.
    pub(crate) names: &'static [&'static str],
    pub(crate) unless: bool,
    pub(crate) acts: &'static [Act],
}

/// What giving an option means for the whole program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing beyond its role and effects.
    Plain,
    /// Text about the program is printed and nothing else happens.
    Info,
    /// Changes are announced, not made.
    Narrow,
}

/// What the operands mean.
#[derive(Debug)]
pub(crate) struct Operands {
    /// Options of which one must be given; none for the fallback.
    pub(crate) when: &'static [&'static str],
    pub(crate) items: &'static [Item],
    /// What happens if there are operands.
    pub(crate) acts: &'static [Act],
}

/// One operand, or a run of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) repeat: Repeat,
    pub(crate) role: Role,
    /// The place that is meant, with everything below it, if no operand is given.
    pub(crate) default: Option<&'static str>,
}

/// How many operands an item takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    One,
    Maybe,
    Any,
    Some,
}

include!(concat!(env!("OUT_DIR"), "/knowledge_tables.rs"));

/// The description of the program with this base name, with the name.
pub(crate) fn program(name: &[u8]) -> Option<(&'static str, &'static Program)> {
    let at = PROGRAMS.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok()?;
    PROGRAMS.get(at).copied()
}
