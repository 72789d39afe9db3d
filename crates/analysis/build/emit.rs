//! Writes what was read from the knowledge files as Rust tables.

use super::format::{Kind, Level, Opt, Repeat};
use super::words::{Act, Output, Role, Stdin, Style};
use std::fmt::Write;

/// The source text of the tables.
pub(crate) fn tables(programs: &[Level]) -> String {
    let mut writer = Tables::default();
    let mut names = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let level = writer.level(program, Style::Gnu);
        let env: Vec<String> =
            program.env.iter().map(|(n, role)| format!("({n:?}, {})", role_text(*role))).collect();
        writer.line(&format!(
            "static P{number}: Program = Program {{ env: &[{}], level: &L{level} }};",
            env.join(", ")
        ));
        names.extend(program.names.iter().map(|name| (name.clone(), number)));
    }
    names.sort();
    let rows: Vec<String> = names.iter().map(|(name, number)| format!("({name:?}, &P{number})")).collect();
    writer.line(&format!("static PROGRAMS: &[(&str, &Program)] = &[{}];", rows.join(", ")));
    writer.text
}

#[derive(Default)]
struct Tables {
    text: String,
    levels: usize,
    options: usize,
}

/// The three tables in which an option is looked up.
#[derive(Default)]
struct Spellings {
    short: Vec<(u8, String)>,
    long: Vec<(String, String)>,
    words: Vec<(String, String)>,
    number: Option<usize>,
}

impl Tables {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes a level and those below it; gives its number.
    fn level(&mut self, level: &Level, outer: Style) -> usize {
        let style = level.style.unwrap_or(outer);
        let mut subs: Vec<(&str, usize)> = Vec::new();
        for sub in &level.subs {
            let number = self.level(sub, style);
            subs.extend(sub.names.iter().map(|name| (name.as_str(), number)));
        }
        subs.sort_unstable();
        let subs: Vec<String> = subs.iter().map(|(name, number)| format!("({name:?}, &L{number})")).collect();
        let spellings = self.spellings(&level.options);
        let number = self.levels;
        self.levels += 1;
        let mut body = String::new();
        let mut field = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = write!(body, " {name}: {value},");
        };
        field("style", format!("Style::{style:?}"));
        field("global", level.global.to_string());
        // To mean a whole tree matters only to what changes it.
        let gentle = level.reader.is_none()
            && level.operands.iter().flat_map(|line| &line.items).all(|item| item.role.is_tame());
        let harmless = |act: &Act| gentle && *act == Act::Recursive;
        let tame = |o: &Opt| {
            o.acts.iter().all(harmless) && o.role.is_tame() && o.more.iter().all(|role| role.is_tame())
        };
        let sensitive = level.options.iter().any(|o| !tame(o)) || level.cases.iter().any(|case| !case.unless);
        field("sensitive", sensitive.to_string());
        field("number", spellings.number.map_or("None".to_owned(), |n| format!("Some(&O{n})")));
        field(
            "reader",
            level.reader.as_ref().map_or("None".to_owned(), |r| format!("Some(readers::{r}::read)")),
        );
        let short: Vec<String> = spellings.short.iter().map(|(b, s)| format!("({b}, {s})")).collect();
        field("short", format!("&[{}]", short.join(", ")));
        let named = |rows: &[(String, String)]| {
            let rows: Vec<String> = rows.iter().map(|(n, s)| format!("({n:?}, {s})")).collect();
            format!("&[{}]", rows.join(", "))
        };
        field("long", named(&spellings.long));
        field("words", named(&spellings.words));
        let operands: Vec<String> = level
            .operands
            .iter()
            .map(|line| {
                let items: Vec<String> = line
                    .items
                    .iter()
                    .map(|i| {
                        let (repeat, role) = (repeat(i.repeat), role_text(i.role));
                        format!("Item {{ repeat: {repeat}, role: {role}, default: {:?} }}", i.default)
                    })
                    .collect();
                let (items, acts) = (items.join(", "), acts(&line.acts));
                format!("Operands {{ when: &{:?}, items: &[{items}], acts: {acts} }}", line.when)
            })
            .collect();
        field("operands", format!("&[{}]", operands.join(", ")));
        field("effects", acts(&level.effects));
        let cases: Vec<String> = level
            .cases
            .iter()
            .map(|c| {
                format!("Case {{ names: &{:?}, unless: {}, acts: {} }}", c.names, c.unless, acts(&c.acts))
            })
            .collect();
        field("cases", format!("&[{}]", cases.join(", ")));
        field("otherwise", acts(level.otherwise.as_deref().unwrap_or_default()));
        field("stdin", format!("Stdin::{:?}", level.stdin.unwrap_or(Stdin::Data)));
        field("stdin_when_no_operands", level.stdin_when_no_operands.to_string());
        field("stdin_before_default", level.stdin_before_default.to_string());
        field("output", format!("Output::{}", output(level.output.unwrap_or(Output::Origins(&[])))));
        field("harmless", format!("&{:?}", level.harmless));
        field("sub_after", level.sub_after.to_string());
        field("subs", format!("&[{}]", subs.join(", ")));
        self.line(&format!("static L{number}: Level = Level {{{body} }};"));
        number
    }

    fn spellings(&mut self, options: &[Opt]) -> Spellings {
        let mut tables = Spellings::default();
        for option in options {
            let number = self.options;
            self.options += 1;
            let kind = match option.kind {
                Kind::Flag | Kind::Value => "Plain",
                Kind::Info => "Info",
                Kind::Narrow => "Narrow",
            };
            let mut then = "None".to_owned();
            for role in option.more.iter().rev() {
                let further = self.options;
                self.options += 1;
                self.line(&format!(
                    "static O{further}: Opt = Opt {{ kind: Kind::Plain, role: {}, acts: &[], then: {then} }};",
                    role_text(*role)
                ));
                then = format!("Some(&O{further})");
            }
            self.line(&format!(
                "static O{number}: Opt = Opt {{ kind: Kind::{kind}, role: {}, acts: {}, then: {then} }};",
                role_text(option.role),
                acts(&option.acts)
            ));
            for name in &option.names {
                let takes = match (name.optional, option.kind) {
                    (true, _) => "Optional",
                    (false, Kind::Value) => "Value",
                    (false, _) => "Nothing",
                };
                let spelling = format!(
                    "Spelling {{ takes: Takes::{takes}, name: {:?}, option: &O{number} }}",
                    name.text
                );
                match name.text.as_bytes() {
                    b"-NUM" => tables.number = Some(number),
                    [b'-', b'-', ..] => {
                        tables.long.push((name.text.trim_start_matches("--").to_owned(), spelling))
                    }
                    [b'-', byte] => tables.short.push((*byte, spelling)),
                    _ => tables.words.push((name.text.clone(), spelling)),
                }
            }
        }
        tables.short.sort();
        tables.long.sort();
        tables.words.sort();
        tables
    }
}

fn repeat(repeat: Repeat) -> String {
    format!("Repeat::{repeat:?}")
}

fn role_text(role: Role) -> String {
    format!("Role::{role:?}")
}

fn acts(acts: &[Act]) -> String {
    let acts: Vec<String> = acts
        .iter()
        .map(|act| match act {
            Act::Place(role, path) => format!("Act::Place({}, {path:?})", role_text(*role)),
            other => format!("Act::{other:?}"),
        })
        .collect();
    format!("&[{}]", acts.join(", "))
}

fn output(output: Output) -> String {
    match output {
        Output::Origins(names) => format!("Origins(&{names:?})"),
        other => format!("{other:?}"),
    }
}
