//! Writes what was read from the knowledge files as the image that `src/knowledge/tables.rs` reads.

use super::format::{Case, Item, Kind, Level, Operands, Opt, Repeat};
use super::words::{Act, Beside, Condition, Fact, Output, Role, Stdin, Style, bucket};
use std::collections::HashMap;
use std::fmt::Debug;

/// The compiled knowledge.
pub(crate) struct Image {
    /// Records and lists.
    pub(crate) bytes: Vec<u8>,
    /// Every name, one after the other.
    pub(crate) text: String,
    /// Rust: the words that the records name by their number.
    pub(crate) words: String,
    /// Rust: the readers that the records name by their number.
    pub(crate) readers: String,
}

/// Bytes of a row of the table of programs: its name, its variables, its level, and what holds under this name.
const PROGRAM: usize = 16;

/// The image of these programs. Fails if something does not fit its field.
pub(crate) fn image(programs: &[Level]) -> Result<Image, String> {
    // What has no place of its own is read here: no list, and nothing that is known.
    let mut writer = Writer { bytes: vec![0; 12], ..Writer::default() };
    // Every command is looked for in these two tables, so they lie beside each other and before all else. What they hold is
    // known at the end.
    let count = programs.iter().map(|program| program.names.len()).sum::<usize>();
    let shares = count.next_power_of_two();
    let starts = writer.record(&vec![0; 2 * (shares + 1)])?;
    let list = writer.record(&vec![0; 2 + PROGRAM * count])?;
    // The names of the programs lie together, because every command is looked for among them: few pages are touched.
    let mut names: Vec<&String> = programs.iter().flat_map(|program| &program.names).collect();
    names.sort();
    for name in names {
        writer.text(name)?;
    }
    let mut named = Vec::new();
    for program in programs {
        let level = writer.level(program, Style::Gnu)?;
        let mut env: Vec<&(String, Role)> = program.env.iter().collect();
        env.sort_by(|a, b| a.0.cmp(&b.0));
        let rows = env.into_iter().map(|(name, role)| {
            Ok(join(&[&writer.text(name)?.to_le_bytes(), &writer.roles.number(role)?.to_le_bytes()]))
        });
        let rows = rows.collect::<Result<Vec<_>, String>>()?;
        let env = writer.list(&rows)?;
        for name in &program.names {
            named.push((name, env, level, writer.facts(program, name)?));
        }
    }
    // By bucket, and where each bucket begins: whoever looks for a name compares it with the one or two of its bucket.
    named.sort();
    named.sort_by_key(|(name, ..)| bucket(name.as_bytes(), shares));
    let narrow = |number: usize| u16::try_from(number).map_err(|_| "too many programs".to_owned());
    let mut row = Vec::new();
    for wanted in 0..=shares {
        let before = named.partition_point(|(name, ..)| bucket(name.as_bytes(), shares) < wanted);
        row.extend(narrow(before)?.to_le_bytes());
    }
    writer.fill(starts, &row);
    let mut rows = narrow(named.len())?.to_le_bytes().to_vec();
    for (name, env, level, facts) in &named {
        rows.extend(writer.text(name)?.to_le_bytes());
        rows.extend([env, level, facts].iter().flat_map(|place| place.to_le_bytes()));
    }
    writer.fill(list, &rows);
    let words = [
        format!("const PROGRAMS: u32 = {list};"),
        format!("const BUCKETS: usize = {shares};"),
        format!("const BUCKET_STARTS: u32 = {starts};"),
        rust("ROLES", "Role", writer.roles.words.iter().map(|role| format!("Role::{role:?}"))),
        rust("ACTS", "Act", writer.acts.words.iter().map(act)),
        rust("OUTPUTS", "Output", writer.outputs.words.iter().map(output)),
        rust("FACTS", "Fact", writer.facts.words.iter().map(fact)),
        rust("STDINS", "Stdin", writer.stdins.words.iter().map(|stdin| format!("Stdin::{stdin:?}"))),
    ];
    let readers = writer.readers.words.iter().map(|name| format!("{name}::read"));
    let readers = rust("READERS", "Reader", readers);
    Ok(Image { bytes: writer.bytes, text: writer.text, words: words.join("\n"), readers })
}

/// Words in the order in which they first occur.
#[derive(Debug)]
struct Words<T> {
    words: Vec<T>,
}

impl<T> Default for Words<T> {
    fn default() -> Self {
        Self { words: Vec::new() }
    }
}

impl<T: PartialEq + Clone + Debug> Words<T> {
    fn number(&mut self, word: &T) -> Result<u16, String> {
        let known = self.words.iter().position(|w| w == word);
        let index = known.unwrap_or_else(|| {
            self.words.push(word.clone());
            self.words.len() - 1
        });
        u16::try_from(index).map_err(|_| format!("{word:?} is one word too many"))
    }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    text: String,
    texts: HashMap<String, u32>,
    lists: HashMap<Vec<u8>, u32>,
    roles: Words<Role>,
    acts: Words<Act>,
    outputs: Words<Output>,
    stdins: Words<Stdin>,
    facts: Words<Fact>,
    readers: Words<String>,
}

/// The three tables in which an option is looked up, and `-NUM`.
#[derive(Default)]
struct Spellings {
    short: Vec<(u8, Vec<u8>)>,
    long: Vec<(String, Vec<u8>)>,
    words: Vec<(String, Vec<u8>)>,
    number: u32,
}

impl Writer {
    /// A text as its place and length in one number.
    fn text(&mut self, text: &str) -> Result<u32, String> {
        if let Some(known) = self.texts.get(text) {
            return Ok(*known);
        }
        let start = u32::try_from(self.text.len()).ok().filter(|start| *start < 1 << 24);
        let length = u8::try_from(text.len()).ok();
        let (Some(start), Some(length)) = (start, length) else {
            return Err(format!("no room for ‘{text}’"));
        };
        self.text.push_str(text);
        let packed = start << 8 | u32::from(length);
        self.texts.insert(text.to_owned(), packed);
        Ok(packed)
    }

    /// Appends a record; gives its place.
    fn record(&mut self, bytes: &[u8]) -> Result<u32, String> {
        let place = u32::try_from(self.bytes.len()).map_err(|_| "the image is too large".to_owned())?;
        self.bytes.extend_from_slice(bytes);
        Ok(place)
    }

    /// Appends a list, unless the same is there already; gives its place.
    fn list(&mut self, rows: &[Vec<u8>]) -> Result<u32, String> {
        if rows.is_empty() {
            return Ok(0);
        }
        let count = u16::try_from(rows.len()).map_err(|_| "a list is too long".to_owned())?;
        let mut bytes = count.to_le_bytes().to_vec();
        bytes.extend(rows.iter().flatten());
        if let Some(known) = self.lists.get(&bytes) {
            return Ok(*known);
        }
        let place = self.record(&bytes)?;
        self.lists.insert(bytes, place);
        Ok(place)
    }

    /// Writes into room that was left.
    fn fill(&mut self, place: u32, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(place as usize..).and_then(|rest| rest.get_mut(..bytes.len()))
        {
            room.copy_from_slice(bytes);
        }
    }

    fn names(&mut self, names: &[String]) -> Result<u32, String> {
        let rows = names.iter().map(|name| Ok(self.text(name)?.to_le_bytes().to_vec()));
        let rows = rows.collect::<Result<Vec<_>, String>>()?;
        self.list(&rows)
    }

    fn acts(&mut self, acts: &[Act]) -> Result<u32, String> {
        let rows = acts.iter().map(|act| Ok(self.acts.number(act)?.to_le_bytes().to_vec()));
        let rows = rows.collect::<Result<Vec<_>, String>>()?;
        self.list(&rows)
    }

    /// What is known of a program under this name.
    fn facts(&mut self, program: &Level, name: &String) -> Result<u32, String> {
        let mut rows = Vec::new();
        let known: Vec<_> = program.facts.iter().filter(|known| known.names.contains(name)).collect();
        for known in &known {
            let fact = self.facts.number(&known.fact)?.to_le_bytes();
            let beside = match known.beside {
                Beside::All => 0,
                Beside::With => 1,
                Beside::When => 2,
                Beside::Unless => 3,
            };
            rows.push(join(&[&fact, &[beside], &self.names(&known.options)?.to_le_bytes()]));
        }
        if rows.is_empty() {
            return Ok(0);
        }
        // Which there are comes first: most are asked for where there is none.
        let all = known.iter().fold(0_u64, |all, known| all | known.fact.bit()).to_le_bytes();
        let list = self.list(&rows)?;
        self.record(&join(&[&all, &list.to_le_bytes()]))
    }

    /// Writes a level and those below it; gives its place.
    fn level(&mut self, level: &Level, outer: Style) -> Result<u32, String> {
        let style = level.style.unwrap_or(outer);
        let mut subs: Vec<(&String, u32)> = Vec::new();
        for sub in &level.subs {
            let place = self.level(sub, style)?;
            subs.extend(sub.names.iter().map(|name| (name, place)));
        }
        subs.sort();
        let mut rows = Vec::new();
        for (name, place) in subs {
            rows.push(join(&[&self.text(name)?.to_le_bytes(), &place.to_le_bytes()]));
        }
        let subs = self.list(&rows)?;
        let spellings = self.spellings(&level.options)?;
        let short: Vec<Vec<u8>> = spellings.short.iter().map(|(byte, row)| join(&[&[*byte], row])).collect();
        let short = self.list(&short)?;
        let long = self.named(&spellings.long)?;
        let words = self.named(&spellings.words)?;
        let rows = level.operands.iter().map(|line| self.operands(line)).collect::<Result<Vec<_>, _>>()?;
        let operands = self.list(&rows)?;
        let rows = level.cases.iter().map(|case| self.case(case)).collect::<Result<Vec<_>, _>>()?;
        let cases = self.list(&rows)?;
        let effects = self.acts(&level.effects)?;
        let otherwise = self.acts(level.otherwise.as_deref().unwrap_or_default())?;
        let harmless = self.names(&level.harmless)?;
        let flags = [
            level.global,
            sensitive(level),
            level.stdin_when_no_operands,
            level.stdin_before_default,
            level.response_files,
            level.repeats,
            level.operands.iter().any(runs),
            level.becomes,
            level.inert_options,
            level.names_only,
            level.echoes,
        ];
        let flags = (0..).zip(flags).fold(0_u16, |all, (bit, flag)| all | u16::from(flag) << bit);
        let reader = match &level.reader {
            Some(name) => self.readers.number(name)? + 1,
            None => 0,
        };
        let narrow = |number: usize| u8::try_from(number).map_err(|_| "too many to count".to_owned());
        let stdin = self.stdins.number(&level.stdin.unwrap_or(Stdin::Data))?;
        let output = self.outputs.number(&level.output.unwrap_or(Output::Origins(&[])))?;
        let mut record = vec![style_number(style), narrow(reader.into())?, narrow(level.sub_after)?];
        record.extend(flags.to_le_bytes());
        record.extend(stdin.to_le_bytes());
        record.extend(output.to_le_bytes());
        for place in
            [spellings.number, short, long, words, operands, effects, cases, otherwise, harmless, subs]
        {
            record.extend(place.to_le_bytes());
        }
        self.record(&record)
    }

    fn operands(&mut self, line: &Operands) -> Result<Vec<u8>, String> {
        let items = line.items.iter().map(|item| self.item(item)).collect::<Result<Vec<_>, _>>()?;
        let places = [self.names(&line.when)?, self.list(&items)?, self.acts(&line.acts)?];
        Ok(places.iter().flat_map(|place| place.to_le_bytes()).collect())
    }

    fn item(&mut self, item: &Item) -> Result<Vec<u8>, String> {
        let repeat = match item.repeat {
            Repeat::One => 0,
            Repeat::Maybe => 1,
            Repeat::Any => 2,
            Repeat::Some => 3,
        };
        let role = self.roles.number(&item.role)?.to_le_bytes();
        let default = self.text(item.default.as_deref().unwrap_or_default())?.to_le_bytes();
        Ok(join(&[&[repeat], &role, &default]))
    }

    fn case(&mut self, case: &Case) -> Result<Vec<u8>, String> {
        let (names, acts) = (self.names(&case.names)?.to_le_bytes(), self.acts(&case.acts)?.to_le_bytes());
        let condition = match case.condition {
            Condition::When => 0,
            Condition::Unless => 1,
            Condition::Written => 2,
            Condition::Named => 3,
        };
        Ok(join(&[&[condition], &names, &acts]))
    }

    fn named(&mut self, rows: &[(String, Vec<u8>)]) -> Result<u32, String> {
        let rows = rows.iter().map(|(name, row)| Ok(join(&[&self.text(name)?.to_le_bytes(), row])));
        let rows = rows.collect::<Result<Vec<_>, String>>()?;
        self.list(&rows)
    }

    fn option(&mut self, kind: u8, role: Role, acts: &[Act], then: u32) -> Result<u32, String> {
        let (role, acts) = (self.roles.number(&role)?.to_le_bytes(), self.acts(acts)?.to_le_bytes());
        self.record(&join(&[&[kind], &role, &acts, &then.to_le_bytes()]))
    }

    fn spellings(&mut self, options: &[Opt]) -> Result<Spellings, String> {
        let mut tables = Spellings::default();
        for option in options {
            let kind = match option.kind {
                Kind::Flag | Kind::Value => 0,
                Kind::Info => 1,
                Kind::Narrow => 2,
            };
            let mut then = 0;
            for role in option.more.iter().rev() {
                then = self.option(0, *role, &[], then)?;
            }
            let place = self.option(kind, option.role, &option.acts, then)?;
            for name in &option.names {
                let takes = match (name.optional, option.kind) {
                    (true, _) if name.digits => 3,
                    (true, _) => 2,
                    (false, Kind::Value) => 1,
                    (false, _) => 0,
                };
                let row = join(&[&[takes], &self.text(&name.text)?.to_le_bytes(), &place.to_le_bytes()]);
                match name.text.as_bytes() {
                    b"-NUM" => tables.number = place,
                    [b'-', b'-', ..] => {
                        tables.long.push((name.text.trim_start_matches("--").to_owned(), row));
                    }
                    [b'-', byte] => tables.short.push((*byte, row)),
                    _ => tables.words.push((name.text.clone(), row)),
                }
            }
        }
        tables.short.sort();
        tables.long.sort();
        tables.words.sort();
        Ok(tables)
    }
}

/// Whether what a line of operands says may end in a command.
fn runs(line: &Operands) -> bool {
    line.items.last().is_some_and(|item| item.role.is_command())
}

/// Whether an option of this level can make the effects worse than its operands do.
fn sensitive(level: &Level) -> bool {
    // To mean a whole tree matters only to what changes it.
    let gentle = level.reader.is_none()
        && level.operands.iter().flat_map(|line| &line.items).all(|item| item.role.is_tame());
    let harmless = |act: &Act| gentle && *act == Act::Recursive;
    let tame =
        |o: &Opt| o.acts.iter().all(harmless) && o.role.is_tame() && o.more.iter().all(|role| role.is_tame());
    // What a reader makes of an option the tables do not say.
    level.reader.is_some()
        || level.options.iter().any(|o| !tame(o))
        || level.cases.iter().any(|case| case.condition == Condition::When)
}

fn style_number(style: Style) -> u8 {
    match style {
        Style::Gnu => 0,
        Style::Posix => 1,
        Style::Exact => 2,
        Style::SingleDash => 3,
        Style::Bare => 4,
        Style::KeyValue => 5,
        Style::Words => 6,
        Style::Go => 7,
    }
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// A static table in Rust.
fn rust(name: &str, kind: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.collect();
    format!("static {name}: [{kind}; {}] = [\n{}\n];", rows.len(), rows.join(",\n"))
}

fn act(act: &Act) -> String {
    match act {
        Act::Place(role, path) => format!("Act::Place(Role::{role:?}, {path:?})"),
        other => format!("Act::{other:?}"),
    }
}

fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Computes(how) => format!("Fact::Computes(Computed::{how:?})"),
        Fact::Tells(what) => format!("Fact::Tells(Telling::{what:?})"),
        Fact::Keeps(syntax) => format!("Fact::Keeps(Syntax::{syntax:?})"),
        Fact::Follows(build) => format!("Fact::Follows(Build::{build:?})"),
        other => format!("Fact::{other:?}"),
    }
}

fn output(output: &Output) -> String {
    match output {
        Output::Origins(names) => format!("Output::Origins(&{names:?})"),
        other => format!("Output::{other:?}"),
    }
}
