//! Functions of which an argument says what they do.

use super::super::report::is_url;
use super::Reader;
use super::acts::Act;
use super::acts::Reach;
use super::arguments::Arguments;
use super::network::sent;
use super::value::Val;
use crate::effect::WriteMode;
use crate::value::{Origins, Value};

/// `TIOCGWINSZ` of Linux: how large the terminal is.
const WINDOW_SIZE: u32 = 0x5413;

impl<'a> Reader<'_, '_, 'a> {
    /// A function of which an argument says what it does.
    pub(super) fn special(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        match act {
            Act::Source => {
                let from = arguments.get(0, &["source", "filename_or_stream"]).unwrap_or(Val::Data);
                for each in from.alternatives().to_vec() {
                    match each.value() {
                        Some(value) if !is_url(value.known_prefix()) && !value.known_prefix().is_empty() => {
                            self.report.reads(Some(&value), false);
                        }
                        Some(_) => self.connect_url(&each, sent(arguments, usize::MAX)),
                        None => {}
                    }
                }
                self.hand_over(arguments, Reach::Sensitive);
            }
            Act::Control => {
                self.hand_over_acting(arguments);
                // What types in a terminal, or changes a device.
                if !matches!(
                    arguments.positional.get(1),
                    Some(Val::Number(WINDOW_SIZE) | Val::Act(Act::Inert))
                ) {
                    self.report.code("terminal", Origins::TERMINAL);
                }
            }
            Act::Help => {
                if let Some(first @ (Val::Text(_) | Val::OneOf(_))) = arguments.positional.first().copied() {
                    self.import_by_name(Some(first));
                }
            }
            Act::Loader => self.discover(arguments),
            Act::FileType => {
                let mode = arguments.get(0, &["mode"]);
                let reads = match mode {
                    None => !arguments.open,
                    Some(mode) => mode
                        .known()
                        .is_some_and(|mode| !mode.iter().any(|b| matches!(b, b'w' | b'a' | b'x' | b'+'))),
                };
                if !reads {
                    self.report.writes(None, WriteMode::Replace);
                }
            }
            _ => {
                self.hand_over_acting(arguments);
                // Arguments that name files which are read.
                let files = arguments.named(&["fromfile_prefix_chars"]);
                if arguments.open || files.is_some_and(|val| !matches!(val, Val::Nothing)) {
                    self.report.reads(None, false);
                }
            }
        }
        Val::Data
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// A text that a package evaluates as a formula or fills in as a template: Python, or something that leads to it.
    pub(super) fn formula(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let text = arguments.positional.first().copied();
        let plain = |val: &Val<'a>| match val {
            Val::Number(_) | Val::Count | Val::Foreign => true,
            val => val.known().is_some_and(is_plain_formula),
        };
        if arguments.open || !text.is_some_and(|text| text.alternatives().iter().all(plain)) {
            self.lose();
        }
        self.perform(Act::Project, arguments)
    }
}

/// Whether a formula names nothing by which code is reached.
fn is_plain_formula(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 16] = [
        b"attr", b"bytes", b"chr", b"compile", b"eval", b"exec", b"format", b"getattr", b"globals",
        b"import", b"include", b"input", b"lambda", b"locals", b"open", b"vars",
    ];
    let marks = text.iter().any(|b| matches!(b, b'@' | b'\\')) || text.windows(2).any(|two| two == b"__");
    let mut words = text.split(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    !marks && !words.any(|word| WORDS.contains(&word))
}

/// The file that `file:path?mode=rw` names, if it is one of these; `None` within where it is not known.
pub(super) fn file_of_uri<'a>(value: &Value<'a>) -> Option<Option<&'a [u8]>> {
    value.known_prefix().strip_prefix(b"file:")?;
    let Some(path) = value.known().and_then(|text| text.strip_prefix(b"file:")) else { return Some(None) };
    let path = path.strip_prefix(b"//localhost").or_else(|| path.strip_prefix(b"//")).unwrap_or(path);
    let path = path.split(|b| matches!(b, b'?' | b'#')).next().unwrap_or_default();
    if path.is_empty() || path == b":memory:" {
        return None;
    }
    Some((!path.contains(&b'%')).then_some(path))
}
