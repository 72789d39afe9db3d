//! Variables that carry execution: what it means that a variable gets a value.
//!
//! Many programs take the name of a program, a library, a search path or whole commands from their environment, so an
//! assignment can be as good as a command line. The table of names is an allow-list within the families that do so: every
//! name of a family that is not listed is taken to carry execution, whatever its value. Names that belong to no family
//! are configuration of the program that is run and inert; the command knowledge tells of those that a described
//! program obeys (`env NAME ROLE`).
//!
//! An assignment without `export` is judged the same way, because a variable that came from the environment stays
//! exported when it gets a new value, and what is in the environment is not known.

mod families;
mod prompts;
mod rule;
mod tables;

use super::Interpreter;
use super::words::is_plain_prompt;
use crate::effect::{Certainty, EffectKind, Scope, Unknown};
use crate::knowledge::{endpoint, is_installed};
use crate::place::FRESH;
use crate::session::Reentry;
use crate::value::{Origins, Piece, Stream, Value};
pub(super) use prompts::is_prompt;
use rule::{
    Carrier, Flags, History, Inert, Kept, Obeyed, Options, Place, Program, Prompt, Proxy, Rule, Run,
    RunOnFile, RunOnText, Search, Settings, Tool, Words,
};
use shward_syntax::{Dialect, Span};
use tables::{TOLD, rule, rule_of_given};

/// Commands that do nothing with what a pager or editor is given.
const IDLE: [&[u8]; 7] = [b"", b"cat", b"true", b":", b"false", b"/bin/cat", b"/bin/true"];

/// More directories than this in a search path cost more each.
const USUAL_ENTRIES: usize = 16;

impl<'a> Interpreter<'a, '_> {
    /// A variable gets a value: records what that means for the programs that will see it. `span` is in the text being
    /// run.
    pub(super) fn judge_variable(&mut self, name: &'a [u8], value: &Value<'a>, span: Span) {
        if name == b"DIRSTACK" {
            // Its elements are where `popd` goes.
            self.state.flow.stack = None;
        }
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let span = self.span(span);
        if name == b"PATH" && !has_no_empty_entry(text) {
            self.judge_empty_entries(value, span);
        }
        self.judge_environment(name, value, span);
    }

    /// A search path of which an entry is not known may lead to the working directory: what is not set is empty.
    pub(super) fn judge_empty_entries(&mut self, value: &Value<'a>, span: Span) {
        if may_have_empty_entry(value) {
            self.searches_workspace = true;
            self.finds_project(span);
        }
    }

    /// Programs of the workspace may be found by their mere names.
    fn finds_project(&mut self, span: Span) {
        let effect =
            EffectKind::Code { language: "project", text: None, origin: Origins::FILE, source: None };
        self.emit_here(effect, span, Certainty::Possible);
    }

    /// A variable is surely given to a program with this value, which was judged as any variable before.
    pub(super) fn judge_given(&mut self, name: &'a [u8], value: &Value<'a>, span: Span) {
        if let Some(rule) = rule_of_given(name) {
            self.judge_by(rule, name, value, span);
        }
    }

    /// A program is told something by an argument of this form: what names a program there is started, as by a variable.
    pub(super) fn judge_told(&mut self, name: &'a [u8], value: &Value<'a>, span: Span) {
        let rule = match rule(name) {
            Inert => rule_of_given(name),
            rule => Some(rule),
        };
        if matches!(rule, Some(Tool(_) | Program | Run | RunOnFile | RunOnText)) || TOLD.contains(&name) {
            self.judge_by(Program, name, value, span);
        }
    }

    /// The same with a span in the command that was asked about.
    pub(super) fn judge_environment(&mut self, name: &'a [u8], value: &Value<'a>, span: Span) {
        // Names in lower case are the script's own, but for a few.
        if name.first().is_some_and(u8::is_ascii_lowercase) && !name.contains(&b'_') && name != b"histchars" {
            return;
        }
        self.judge_by(rule(name), name, value, span);
    }

    fn judge_by(&mut self, rule: Rule, name: &'a [u8], value: &Value<'a>, span: Span) {
        let known = value.known();
        let text = |list: &[&str]| known.is_some_and(|text| list.iter().any(|word| word.as_bytes() == text));
        let inert = match rule {
            Inert => true,
            Carrier if name == b"HOME" => known == Some(self.request.home),
            Carrier => false,
            Kept => {
                known.is_some_and(<[u8]>::is_empty)
                    || known.is_none()
                        && value.pieces().iter().all(|piece| *piece == Piece::Unknown)
                        && Origins::ALL_VARIABLES.contains(value.origins)
            }
            Words(words) => text(words),
            Tool(names) => known.is_some_and(|text| {
                text.iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'_' | b'.'))
                    && names.iter().any(|name| {
                        let name = name.as_bytes();
                        text.strip_suffix(name)
                            .is_some_and(|before| before.is_empty() || before.ends_with(b"-"))
                            || text.strip_prefix(name).is_some_and(|after| {
                                after.starts_with(b"-") && after.iter().skip(1).all(u8::is_ascii_digit)
                            })
                    })
            }),
            Flags(prefixes) => known.is_some_and(|text| are_plain_flags(text, prefixes)),
            Prompt => known.is_some_and(is_plain_prompt) || std::mem::take(&mut self.gives_prompt_back),
            Proxy => known.is_some_and(|text| text.is_empty() || endpoint::of(value).loopback),
            Place => matches!(
                self.place_of(value),
                Scope::Workspace | Scope::Product | Scope::Temp | Scope::Harmless | Scope::Repository
            ),
            Obeyed => {
                known.is_some_and(|text| !text.contains(&b'/'))
                    || Origins::LITERAL.union(Origins::ALL_VARIABLES).contains(value.origins)
                        && value.known_prefix().is_empty()
                    || matches!(
                        self.place_of(value),
                        Scope::Workspace
                            | Scope::Product
                            | Scope::Harmless
                            | Scope::System
                            | Scope::Home
                            | Scope::Elsewhere
                    )
            }
            Options => known.is_some_and(|text| {
                text.split(u8::is_ascii_whitespace).all(|word| {
                    [&b"-I"[..], b"-L", b"-D", b"-isystem"].iter().any(|start| word.starts_with(start))
                        || word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.,:=+%".contains(byte))
                })
            }),
            Settings => known.is_some_and(are_plain_settings),
            Search => self.search_path(name, value, span),
            Program if known.is_some_and(|text| are_plain_words(text, self.request.home)) => true,
            Run | RunOnFile | RunOnText | Program => {
                match known {
                    Some(text) if !IDLE.contains(&text) => {
                        // It is run with arguments of the program's choosing.
                        let text = match rule {
                            RunOnFile => &*self.arena.alloc_slice_copy(&[text, b" ", FRESH].concat()),
                            _ => text,
                        };
                        let stdin = match rule {
                            RunOnText => Stream::unknown(Origins::FILE, span),
                            _ => Stream::EMPTY,
                        };
                        self.doubtful(|shell| {
                            shell.run_shell(text, Dialect::Posix, &[], stdin, Reentry::New, span);
                        });
                        true
                    }
                    Some(_) => true,
                    None => false,
                }
            }
            History => {
                self.emit_here(EffectKind::System { what: "audit" }, span, Certainty::Certain);
                true
            }
        };
        if !inert {
            self.unknown(Unknown::Variable(name), span);
        }
    }

    fn place_of(&mut self, value: &Value<'a>) -> Scope {
        use crate::session::Session;
        self.target(value).scope
    }

    /// Judges the directories of a search path. False if one of them is not understood.
    fn search_path(&mut self, name: &[u8], value: &Value<'a>, span: Span) -> bool {
        use crate::session::Session;
        let mut entries: Vec<Vec<Piece<'a>>> = vec![Vec::new()];
        for piece in value.pieces().iter() {
            match piece {
                Piece::Text(text) => {
                    for (index, part) in text.split(|byte| *byte == b':').enumerate() {
                        if index > 0 {
                            entries.push(Vec::new());
                        }
                        if let (false, Some(entry)) = (part.is_empty(), entries.last_mut()) {
                            entry.push(Piece::Text(part));
                        }
                    }
                }
                other => {
                    if let Some(entry) = entries.last_mut() {
                        entry.push(*other);
                    }
                }
            }
        }
        let is_text = |piece: &Piece<'_>| matches!(piece, Piece::Text(_));
        let written = if value.pieces().iter().any(is_text) { Origins::LITERAL } else { Origins::NONE };
        let from_environment =
            written.union(Origins::ALL_VARIABLES).contains(value.origins) && !self.loops_over_names;
        let (mut project, mut filled) = (false, false);
        // Where programs lie in the directories; that of an environment becomes an entry of the path.
        let programs: Option<&[u8]> = match name {
            b"PATH" => Some(b""),
            b"VIRTUAL_ENV" => Some(b"/bin"),
            _ => None,
        };
        let count = entries.len();
        // The whole of a path that grows is looked through each time; few are written that are longer than these.
        if !self.budget.spend(32 * count + 64 * count.saturating_sub(USUAL_ENTRIES)) {
            return false;
        }
        for (index, entry) in entries.iter().enumerate() {
            let place = match entry.as_slice() {
                // An empty entry is the working directory, but `$VAR:x` with an empty variable is what everybody writes.
                [] if (count == 1 || index + 1 == count) && name != b"PATH" => continue,
                // What the environment held before, or a directory that it names.
                [Piece::Unknown, rest @ ..] if from_environment && !rest.contains(&Piece::Unknown) => {
                    continue;
                }
                [Piece::Text(text)] if text.starts_with(b"/") || !text.starts_with(b"-") => {
                    self.target(&Value::of(self.arena, entry, value.origins))
                }
                [] => self.target(&Value::text(b".", Origins::LITERAL)),
                _ => return false,
            };
            // What is found from where the shell stands is another thing than its name says.
            let fixed = matches!(entry.as_slice(), [Piece::Text([b'/', ..]), ..]);
            match place.scope {
                Scope::System | Scope::Home | Scope::Elsewhere if fixed => {}
                Scope::Workspace | Scope::Product => {
                    project = true;
                    filled |= match programs {
                        Some(below) => self.leads_to_programs(&place, below, fixed),
                        None => self.state.has_files(),
                    };
                }
                _ => return false,
            }
        }
        if project {
            self.searches_workspace |= programs.is_some();
            if filled {
                // The script may have put a program there.
                return false;
            }
            self.finds_project(span);
        }
        true
    }
}

/// Whether an entry of a search path is nothing but what is not known. Empty it would be the working directory.
fn may_have_empty_entry(value: &Value<'_>) -> bool {
    let pieces = value.pieces();
    pieces.iter().enumerate().any(|(at, piece)| {
        let begins = match at.checked_sub(1).and_then(|before| pieces.get(before)) {
            Some(Piece::Text(before)) => before.ends_with(b":"),
            before => before.is_none(),
        };
        let ends = match pieces.get(at + 1) {
            Some(Piece::Text(after)) => after.starts_with(b":"),
            after => after.is_none(),
        };
        begins && ends && !matches!(piece, Piece::Text(_))
    })
}

/// Whether the text of an assignment shows that no entry of the search path is empty: each has a letter of its own, or a slash
/// behind a variable, or is `$PATH`, which is not empty where programs are found.
fn has_no_empty_entry(text: &[u8]) -> bool {
    let value = text.iter().position(|byte| *byte == b'=').and_then(|at| text.get(at + 1..));
    value.is_some_and(|value| value.split(|byte| *byte == b':').all(is_no_empty_entry))
}

fn is_no_empty_entry(entry: &[u8]) -> bool {
    let bare: Vec<u8> = entry.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\'')).collect();
    let Some((b'$', rest)) = bare.split_first() else {
        return bare.first().is_some_and(|byte| *byte != b'`');
    };
    let (braced, rest) = rest.strip_prefix(b"{").map_or((false, rest), |rest| (true, rest));
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let (name, rest) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or_default();
    let rest = if braced { rest.strip_prefix(b"}") } else { Some(rest) };
    !name.is_empty() && rest.is_some_and(|rest| rest.starts_with(b"/") || name == b"PATH")
}

/// Whether settings with colons between them name no file that is run, written, or read for more settings
/// (`detect_leaks=0:halt_on_error=1`).
fn are_plain_settings(text: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    text.split(|byte| *byte == b':').all(|setting| {
        let at = setting.iter().position(|byte| *byte == b'=').unwrap_or(setting.len());
        let (name, value) = setting.split_at(at);
        !name.ends_with(b"path")
            && !name.ends_with(b"dir")
            && !name.starts_with(b"include")
            && name.iter().chain(value.iter().skip(1)).all(plain)
    })
}

/// Whether these words are names of programs and options without a place, or of programs that are installed
/// (`ccache /usr/bin/gcc -m32`).
fn are_plain_words(text: &[u8], home: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-+_.:,=/".contains(byte);
    text.split(|byte| *byte == b' ')
        .all(|word| word.iter().all(plain) && (!word.contains(&b'/') || is_installed(word, home)))
}

/// Whether options do no more than those that begin like one of these; a prefix that ends in a blank is the whole option.
fn are_plain_flags(text: &[u8], prefixes: &[&str]) -> bool {
    // make expands them, and a shell then reads them; node and java take quotes away before they look for options.
    if text.iter().any(|byte| b"$`;&|<>(){}\n".contains(byte)) {
        return false;
    }
    let mut words = text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let mut line = Vec::new();
    while let Some(word) = words.next() {
        line.clear();
        line.extend_from_slice(word);
        if word == b"-C" {
            // To rustc this and the next word are one, to others it is no plain option.
            line.extend_from_slice(words.next().unwrap_or_default());
        }
        line.push(b' ');
        let plain = prefixes.iter().any(|prefix| line.starts_with(prefix.as_bytes()));
        // `-D` of rustc takes its value as the next word.
        let value =
            !matches!(word.first(), Some(b'-' | b'@' | b'"' | b'\'' | b'\\')) && !word.contains(&b'/');
        let has = |part: &[u8]| word.windows(part.len()).any(|window| window == part);
        let opaque = word.starts_with(b"-Wl,") && (has(b"plugin") || has(b"@"))
            || [&b"-Wa,"[..], b"-Wp,", b"-wrapper", b"-specs", b"-mllvm"]
                .iter()
                .any(|start| word.starts_with(start));
        if opaque || !(plain || value) {
            return false;
        }
    }
    true
}
