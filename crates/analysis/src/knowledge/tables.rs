//! The command knowledge, made from `knowledge/*.cmds` at build time.
//!
//! Each type here is read from the image when it is asked for; its lists stay there. `build/emit.rs` writes the fields
//! in the order in which they are read here.

use super::image::{Cursor, List, Named, Record};
use super::words::{
    Act, Beside, Build, Computed, Condition, Fact, Output, Role, Stdin, Style, Syntax, Telling, bucket,
};
use shward_syntax::same;

/// A program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Variables that it obeys.
    pub(crate) env: List<Named<Role>>,
    level: u32,
    /// Where it stands what else is known of it under this name.
    facts: u32,
    /// Of which kinds that is.
    kinds: u64,
}

impl Program {
    /// Whether both have one description.
    pub(crate) const fn is_same(self, other: Self) -> bool {
        self.level == other.level
    }

    /// Its options, operands and subcommands.
    pub(crate) const fn level(&self) -> Level {
        Level(self.level)
    }

    /// Whether something is known of it, beside whatever options. Of a fact with a value, whether there is one of its kind.
    #[inline]
    pub(crate) fn has(&self, fact: Fact) -> bool {
        self.kinds & fact.bit() != 0
    }

    /// All that is known of it, if something of this kind is.
    pub(crate) fn facts(&self, fact: Fact) -> impl Iterator<Item = Known> {
        let list: List<Known> = Cursor::at(self.facts).skip(8).list();
        list.iter().filter(move |known| known.fact.bit() == fact.bit())
    }

    /// That something is known of it, and beside which options.
    #[inline]
    pub(crate) fn known(&self, fact: Fact) -> Option<Known> {
        if self.has(fact) { self.first(fact) } else { None }
    }

    // Most programs have none: only that is looked at wherever it is asked.
    #[inline(never)]
    fn first(&self, fact: Fact) -> Option<Known> {
        self.facts(fact).next()
    }

    /// How what it prints is computed.
    pub(crate) fn computes(&self) -> Option<(Computed, Known)> {
        self.known(Fact::Computes(Computed::Whole)).and_then(|known| match known.fact {
            Fact::Computes(how) => Some((how, known)),
            _ => None,
        })
    }

    /// Of which kind what it prints is, with some arguments.
    pub(crate) fn tells(&self) -> Option<Telling> {
        self.known(Fact::Tells(Telling::Number)).and_then(|known| match known.fact {
            Fact::Tells(what) => Some(what),
            _ => None,
        })
    }

    /// Which build file it runs, and beside which options.
    pub(crate) fn follows(&self) -> Option<(Build, Known)> {
        self.known(Fact::Follows(Build::Package)).and_then(|known| match known.fact {
            Fact::Follows(build) => Some((build, known)),
            _ => None,
        })
    }

    /// How the names of files end that it packs.
    pub(crate) fn packs(&self) -> Option<&'static str> {
        self.known(Fact::Packs("")).and_then(|known| match known.fact {
            Fact::Packs(ending) => Some(ending),
            _ => None,
        })
    }

    /// How a text is read by which it keeps some of the lines that it is given, and beside which options.
    pub(crate) fn keeps(&self) -> impl Iterator<Item = (Syntax, Known)> {
        let keeps = self.has(Fact::Keeps(Syntax::Fixed));
        let facts = keeps.then(|| self.facts(Fact::Keeps(Syntax::Fixed)));
        facts.into_iter().flatten().filter_map(|known| match known.fact {
            Fact::Keeps(syntax) => Some((syntax, known)),
            _ => None,
        })
    }

    /// Whether a Python module of this name is this program.
    pub(crate) fn is_module(&self, module: &[u8]) -> bool {
        self.facts(Fact::Module("")).any(|known| match known.fact {
            Fact::Module(name) => same(name.as_bytes(), module),
            _ => false,
        })
    }
}

/// What is known of a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) fact: Fact,
    pub(crate) beside: Beside,
    pub(crate) options: List<&'static str>,
}

impl Record for Known {
    const SIZE: usize = 7;

    #[inline]
    fn read(mut cursor: Cursor) -> Self {
        let fact = FACTS.get(usize::from(cursor.u16())).copied().unwrap_or(Fact::WritesDash);
        let beside = match cursor.u8() {
            0 => Beside::All,
            1 => Beside::With,
            2 => Beside::When,
            _ => Beside::Unless,
        };
        Self { fact, beside, options: cursor.list() }
    }
}

impl Record for Program {
    const SIZE: usize = 12;

    fn read(mut cursor: Cursor) -> Self {
        let (env, level, facts) = (cursor.list(), cursor.u32(), cursor.u32());
        Self { env, level, facts, kinds: Cursor::at(facts).u64() }
    }
}

/// A program's own options and operands, or a subcommand's: what is asked of it is read where it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level(u32);

/// Where in the record of a level what lies, in the order in which it is written.
#[derive(Debug, Clone, Copy)]
enum In {
    Style = 0,
    Reader = 1,
    SubAfter = 2,
    Flags = 3,
    Stdin = 5,
    Output = 7,
    Number = 9,
    Short = 13,
    Long = 17,
    Words = 21,
    Operands = 25,
    Effects = 29,
    Cases = 33,
    Otherwise = 37,
    Harmless = 41,
    Subs = 45,
}

impl Level {
    const fn read(self, what: In) -> Cursor {
        Cursor::at(self.0).skip(what as usize)
    }

    fn flag(self, bit: u16) -> bool {
        self.read(In::Flags).u16() & bit != 0
    }

    pub(crate) fn style(self) -> Style {
        match self.read(In::Style).u8() {
            1 => Style::Posix,
            2 => Style::Exact,
            3 => Style::SingleDash,
            4 => Style::Bare,
            5 => Style::KeyValue,
            6 => Style::Words,
            7 => Style::Go,
            _ => Style::Gnu,
        }
    }

    /// Options of this level are accepted after its subcommand too.
    pub(crate) fn global(self) -> bool {
        self.flag(1)
    }

    /// Some option of this level can make the effects worse than its operands do.
    pub(crate) fn sensitive(self) -> bool {
        self.flag(2)
    }

    pub(crate) fn stdin_when_no_operands(self) -> bool {
        self.flag(4)
    }

    /// Standard input, when something is connected to it, is read instead of the place that stands for no operand.
    pub(crate) fn stdin_before_default(self) -> bool {
        self.flag(8)
    }

    /// `@FILE` stands for arguments in a file.
    pub(crate) fn response_files(self) -> bool {
        self.flag(16)
    }

    /// It may start what it starts several times.
    pub(crate) fn repeats(self) -> bool {
        self.flag(32)
    }

    /// The operands may be a command.
    pub(crate) fn runs(self) -> bool {
        self.flag(64)
    }

    /// It becomes the command that it is given, whatever happens, unless one of its options is wrong.
    pub(crate) fn becomes(self) -> bool {
        self.flag(128)
    }

    /// In no implementation (GNU, BSD, busybox, toybox) it has an option that writes or executes: one that is not known is an
    /// error, or changes what is printed.
    pub(crate) fn inert_options(self) -> bool {
        self.flag(256)
    }

    /// Names of files that it reads from a file or from standard input are nothing but that.
    pub(crate) fn names_only(self) -> bool {
        self.flag(512)
    }

    /// It prints what it is given: whole, in part, or spelt in another way.
    pub(crate) fn echoes(self) -> bool {
        self.flag(1024)
    }

    /// Which of the typed readers handles its argument list: their number, counted from one.
    pub(crate) fn reader(self) -> usize {
        usize::from(self.read(In::Reader).u8())
    }

    /// How many operands stand before the subcommand; they are the subcommand's operands.
    pub(crate) fn sub_after(self) -> usize {
        usize::from(self.read(In::SubAfter).u8())
    }

    pub(crate) fn stdin(self) -> Stdin {
        STDINS.get(usize::from(self.read(In::Stdin).u16())).copied().unwrap_or(Stdin::Data)
    }

    pub(crate) fn output(self) -> Output {
        OUTPUTS.get(usize::from(self.read(In::Output).u16())).copied().unwrap_or(Output::Origins(&[]))
    }

    /// `-NUMBER` is an option.
    pub(crate) fn number(self) -> Option<Opt> {
        Opt::at(self.read(In::Number).u32())
    }

    /// `-x`, sorted.
    pub(crate) fn short(self) -> List<Letter> {
        self.read(In::Short).list()
    }

    /// `--name` without the dashes, sorted.
    pub(crate) fn long(self) -> List<Named<Spelling>> {
        self.read(In::Long).list()
    }

    /// Every other spelling (`-name`, `+x`, `word`, `key=`), as typed, sorted.
    pub(crate) fn words(self) -> List<Named<Spelling>> {
        self.read(In::Words).list()
    }

    pub(crate) fn operands(self) -> List<Operands> {
        self.read(In::Operands).list()
    }

    pub(crate) fn effects(self) -> List<Act> {
        self.read(In::Effects).list()
    }

    pub(crate) fn cases(self) -> List<Case> {
        self.read(In::Cases).list()
    }

    pub(crate) fn otherwise(self) -> List<Act> {
        self.read(In::Otherwise).list()
    }

    /// Keys of harmless settings, in lower case; a trailing `*` stands for any ending, a trailing `=` for no value, and one
    /// with a value for that value alone.
    pub(crate) fn harmless(self) -> List<&'static str> {
        self.read(In::Harmless).list()
    }

    /// By name, sorted.
    pub(crate) fn subs(self) -> List<Named<Sub>> {
        self.read(In::Subs).list()
    }

    /// The option that is this letter behind a dash.
    pub(crate) fn letter(self, byte: u8) -> Option<Spelling> {
        let index = self.short().partition_point(|mut cursor| cursor.u8() < byte);
        self.short().get(index).filter(|found| found.byte == byte).map(|found| found.spelling)
    }

    /// The subcommand of this name.
    pub(crate) fn sub(self, name: &[u8]) -> Option<Self> {
        self.subs().find(name).map(|found| Self(found.item.0))
    }
}

/// Where a subcommand's level is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sub(u32);

impl Record for Sub {
    const SIZE: usize = 4;

    fn read(mut cursor: Cursor) -> Self {
        Self(cursor.u32())
    }
}

/// An option of one letter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letter {
    byte: u8,
    spelling: Spelling,
}

impl Record for Letter {
    const SIZE: usize = 1 + Spelling::SIZE;

    fn read(mut cursor: Cursor) -> Self {
        Self { byte: cursor.u8(), spelling: Spelling::read(cursor) }
    }
}

/// How an option is written here, and which it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling {
    pub(crate) takes: Takes,
    /// As typed, with its dashes.
    pub(crate) name: &'static str,
    pub(crate) option: Opt,
}

impl Record for Spelling {
    const SIZE: usize = 9;

    #[inline]
    fn read(mut cursor: Cursor) -> Self {
        let takes = match cursor.u8() {
            0 => Takes::Nothing,
            1 => Takes::Value,
            3 => Takes::Digits,
            _ => Takes::Optional,
        };
        let name = cursor.text();
        Self { takes, name, option: Opt::read_at(cursor.u32()) }
    }
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Value,
    /// Only joined to it.
    Optional,
    /// Only joined to it, and of digits; other options may follow them.
    Digits,
}

/// An option, whatever its spelling. Two options are the same if they are the same record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opt {
    place: u32,
    pub(crate) kind: Kind,
    pub(crate) role: Role,
    pub(crate) acts: List<Act>,
    then: u32,
}

impl Opt {
    fn at(place: u32) -> Option<Self> {
        (place != 0).then(|| Self::read_at(place))
    }

    fn read_at(place: u32) -> Self {
        let mut cursor = Cursor::at(place);
        let kind = match cursor.u8() {
            1 => Kind::Info,
            2 => Kind::Narrow,
            _ => Kind::Plain,
        };
        let role = Role::read(cursor);
        cursor.u16();
        Self { place, kind, role, acts: cursor.list(), then: cursor.u32() }
    }

    /// What the value after this one is.
    pub(crate) fn then(&self) -> Option<Self> {
        Self::at(self.then)
    }
}

impl PartialEq for Opt {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

/// Effects that depend on which options are given, or on what was written before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) condition: Condition,
    /// Options, names of files, or patterns of operands.
    pub(crate) names: List<&'static str>,
    pub(crate) acts: List<Act>,
}

impl Record for Case {
    const SIZE: usize = 9;

    fn read(mut cursor: Cursor) -> Self {
        let condition = match cursor.u8() {
            0 => Condition::When,
            1 => Condition::Unless,
            2 => Condition::Written,
            _ => Condition::Named,
        };
        Self { condition, names: cursor.list(), acts: cursor.list() }
    }
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
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands {
    /// Options of which one must be given; none for the fallback.
    pub(crate) when: List<&'static str>,
    pub(crate) items: List<Item>,
    /// What happens if there are operands.
    pub(crate) acts: List<Act>,
}

impl Record for Operands {
    const SIZE: usize = 12;

    fn read(mut cursor: Cursor) -> Self {
        Self { when: cursor.list(), items: cursor.list(), acts: cursor.list() }
    }
}

/// One operand, or a run of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) repeat: Repeat,
    pub(crate) role: Role,
    /// The place that is meant, with everything below it, if no operand is given.
    pub(crate) default: Option<&'static str>,
}

impl Record for Item {
    const SIZE: usize = 7;

    #[inline]
    fn read(mut cursor: Cursor) -> Self {
        let repeat = match cursor.u8() {
            0 => Repeat::One,
            1 => Repeat::Maybe,
            2 => Repeat::Any,
            _ => Repeat::Some,
        };
        let role = Role::read(cursor);
        cursor.u16();
        Self { repeat, role, default: Some(cursor.text()).filter(|place| !place.is_empty()) }
    }
}

/// How many operands an item takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    One,
    Maybe,
    Any,
    Some,
}

impl Record for Role {
    const SIZE: usize = 2;

    #[inline]
    fn read(mut cursor: Cursor) -> Self {
        ROLES.get(usize::from(cursor.u16())).copied().unwrap_or(Self::Unknown)
    }
}

impl Record for Act {
    const SIZE: usize = 2;

    #[inline]
    fn read(mut cursor: Cursor) -> Self {
        ACTS.get(usize::from(cursor.u16())).copied().unwrap_or(Self::Unknown("tables"))
    }
}

// ROLES, ACTS, OUTPUTS, STDINS, FACTS and READERS: each word that occurs, which the image names by its number; PROGRAMS: where
// the list of all programs is, by bucket; BUCKETS: how many there are; BUCKET_STARTS: where their first indices are.
include!(concat!(env!("OUT_DIR"), "/knowledge_words.rs"));

/// The description of the program with this base name, with the name.
pub(crate) fn program(name: &[u8]) -> Option<(&'static str, Program)> {
    #[cfg(test)]
    if let Some(known) = name.strip_prefix(super::tests::MADE_UP) {
        // In tests each program has another name, of which nothing but the description can know.
        let (name, program) = program(known)?;
        return Some((format!("made-up-{name}").leak(), program));
    }
    let programs: List<Named<Program>> = List::at(PROGRAMS);
    let mut starts = Cursor::at(BUCKET_STARTS).skip(2 * bucket(name, BUCKETS));
    let (start, end) = (usize::from(starts.u16()), usize::from(starts.u16()));
    (start..end)
        .filter_map(|index| programs.get(index))
        .find(|found| same(found.name.as_bytes(), name))
        .map(|found| (found.name, found.item))
}

/// Whether nothing is done with a value in this role before the program has read all options.
pub(super) const fn is_idle(role: Role) -> bool {
    role.is_tame()
        || matches!(
            role,
            Role::Name
                | Role::Plain(_)
                | Role::PlainFile(_)
                | Role::Mode
                | Role::Variable
                | Role::Chdir
                | Role::Connect
                | Role::Identify
                | Role::Setting
        )
}
