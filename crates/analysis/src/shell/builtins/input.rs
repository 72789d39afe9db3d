//! Builtins that give variables values from elsewhere: `read`, `mapfile`, `getopts`, `printf -v`, `let`, `wait -p`, and
//! the tests that evaluate names.

use super::Given;
use crate::knowledge;
use crate::session::Call;
use crate::shell::Interpreter;
use crate::shell::assign::split_subscript;
use crate::shell::flow::{ANY_ARGUMENTS, Port};
use crate::shell::simple::Expanded;
use crate::shell::state::{Content, Element, Flags, Space};
use crate::shell::words::{Got, is_name};
use crate::value::{Field, Origins, Stream, Value};
use shward_syntax::Span;

impl<'a> Interpreter<'a, '_> {
    /// `read`
    pub(super) fn read_builtin(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"adinNptu", b"ers");
        if !given.sure {
            self.argument_unknown(command.span);
        }
        let descriptor = read_from(&given);
        let stream = self.about_to_read(descriptor, command.span);
        let raw = given.has(b'r');
        let plain = given.options.iter().all(|(letter, _)| matches!(letter, b'r' | b'p' | b's' | b'u'));
        let line = stream.text.filter(|_| plain).map(|text| {
            let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
            (text.get(..end).unwrap_or_default(), text.get(end + 1..).unwrap_or_default())
        });
        let line = line.filter(|(line, _)| raw || !line.contains(&b'\\'));
        self.take_input(descriptor, line.map(|(_, rest)| rest));
        // Between names that are divided by what no name holds, each is read whole; what was divided otherwise is one that begins
        // as the first of them does.
        let until = given.value(b'd').is_none_or(|mark| mark.known() == Some(b""));
        let alone =
            given.options.iter().all(|(letter, _)| matches!(letter, b'd' | b'r' | b'p' | b's' | b'u'));
        let whole = (plain || alone && until)
            && given.operands.len() <= 1
            && !given.has(b'a')
            && self.divides_at_blanks();
        if !(plain || alone && until) {
            self.tears_names(descriptor);
        }
        let names = if whole && stream.origins == Origins::NAMES { Origins::FOUND } else { Origins::NONE };
        let unknown = Value::unknown(stream.origins.union(names));
        if let Some(array) = given.value(b'a') {
            match array.known() {
                Some(name) if is_name(name) => {
                    if let Some(name) = self.dereference(name, command.here) {
                        self.fill_array(name, Content::Unknown(stream.origins), command.here);
                    }
                }
                _ => self.assign_named(&array.value, unknown, false, command.here),
            }
            // Other names are not looked at.
            return;
        }
        let names = given.operands;
        let wrong = |name: &Field<'a>| {
            name.known().is_some_and(|text| !is_name(text) && split_subscript(text).is_none())
        };
        let closed = descriptor.is_some_and(|number| self.state.flow.port(number) == Port::Closed);
        if closed || names.iter().any(wrong) {
            // It fails, and not every variable is assigned.
            self.argument_unknown(command.span);
        }
        if names.is_empty() {
            let value = match line {
                Some((line, _)) => Value::text(line, stream.origins),
                None => unknown,
            };
            self.assign(b"REPLY", value, false, command.here);
            return;
        }
        let values = line.and_then(|(line, _)| self.divided(line, names.len()));
        for (index, name) in names.iter().enumerate() {
            if name.many {
                self.unpredictable("a builtin assigns to variables whose names are not known", command.here);
            }
            let value = match values.as_ref().map(|values| values.get(index).copied().unwrap_or_default()) {
                Some(text) => Value::text(text, stream.origins),
                None => unknown,
            };
            self.assign_named(&name.value, value, false, command.here);
        }
    }

    /// What is there to be read.
    fn about_to_read(&mut self, descriptor: Option<u32>, span: Span) -> Stream<'a> {
        match descriptor {
            Some(descriptor) => {
                self.takes_lines(descriptor, span);
                self.believes();
                self.reads(descriptor)
            }
            None => Stream { text: None, origins: Origins::UNKNOWN, source: None },
        }
    }

    /// What was read is gone from a source; what is left, if known.
    fn take_input(&mut self, descriptor: Option<u32>, left: Option<&'a [u8]>) {
        let port = descriptor.map_or(Port::Unknown, |number| self.state.flow.port(number));
        match (port, left) {
            (Port::Source(id) | Port::Both(id, _), Some(left)) if self.doubt_now() == 0 => {
                self.io.rest(id, left);
            }
            (Port::Sink(_), _) => {}
            _ => self.taken(port),
        }
    }

    /// What was read may have ended within a line: of names that a search has printed, what is left begins with a part of one.
    fn tears_names(&mut self, descriptor: Option<u32>) {
        let port = descriptor.map_or(Port::Unknown, |number| self.state.flow.port(number));
        if let Port::Source(id) | Port::Both(id, _) = port {
            self.io.tear(id);
        }
    }

    /// Whether nothing but blanks divides fields.
    fn divides_at_blanks(&mut self) -> bool {
        match self.lookup(b"IFS", Span::default()) {
            Got::One(value, _) => {
                value.known().is_some_and(|text| text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n')))
            }
            Got::Unset => true,
            Got::Any(..) => false,
        }
    }

    /// A line divided among this many variables, if the separators are known.
    fn divided(&mut self, line: &'a [u8], count: usize) -> Option<Vec<&'a [u8]>> {
        let separators = match self.lookup(b"IFS", Span::default()) {
            Got::One(value, _) => value.known()?,
            Got::Unset => b" \t\n",
            Got::Any(..) => return None,
        };
        if separators.is_empty() {
            return Some(vec![line]);
        }
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
        if separators.iter().any(|byte| !is_blank(byte)) {
            let parts: Vec<&[u8]> = line.split(|byte| separators.contains(byte)).collect();
            // With blanks among them, one field too many, or nothing behind the last, the rules are others. Which bytes are a
            // character depends on the locale.
            let plain = !separators.iter().any(is_blank)
                && separators.is_ascii()
                && parts.last().is_some_and(|part| !part.is_empty());
            return (parts.len() == 1 || plain && parts.len() <= count).then_some(parts);
        }
        let mut rest = line;
        let mut values = Vec::with_capacity(count);
        let is_separator = |byte: &u8| separators.contains(byte);
        for index in 0..count {
            let start = rest.iter().position(|byte| !is_separator(byte)).unwrap_or(rest.len());
            rest = rest.get(start..)?;
            let last = index + 1 == count;
            let end = if last {
                rest.iter().rposition(|byte| !is_separator(byte)).map_or(0, |end| end + 1)
            } else {
                rest.iter().position(is_separator).unwrap_or(rest.len())
            };
            values.push(rest.get(..end)?);
            rest = rest.get(end..)?;
        }
        Some(values)
    }

    /// `mapfile`
    pub(super) fn mapfile(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"dnOsuCc", b"t");
        if !given.sure {
            self.argument_unknown(command.span);
        }
        if let Some(callback) = given.value(b'C') {
            match callback.known() {
                // The index and the line, quoted, are added as arguments.
                Some(text) if ends_open(text) => {
                    // They would begin a command.
                    self.unseen_code(Stream::unknown(callback.value.origins, callback.span), callback.span);
                }
                Some(text) => {
                    let array = given.operands.first().map_or(Some(b"MAPFILE".as_slice()), Field::known);
                    if let Some(name) = array.filter(|name| is_name(name)) {
                        // It holds the lines before this one.
                        self.fill_array(name, Content::Unknown(Origins::UNKNOWN), command.here);
                    }
                    let called = self.arena.alloc_slice_copy(&[text, b" \"$@\""].concat());
                    self.call_back(called, command.here, callback.span);
                }
                None => self.argument_unknown(callback.span),
            }
        }
        let descriptor = read_from(&given);
        let stream = self.about_to_read(descriptor, command.span);
        self.take_input(descriptor, None);
        if given.has(b'd') {
            self.tears_names(descriptor);
        }
        let name = match given.operands.first() {
            None => b"MAPFILE",
            Some(field) => match field.known() {
                Some(name) if is_name(name) => name,
                _ => {
                    self.argument_unknown(field.span);
                    return;
                }
            },
        };
        let slot = self.state.get(Space::Variable, name);
        let unfit = [Flags::ASSOCIATIVE, Flags::READ_ONLY, Flags::REFERENCE, Flags::RECASED, Flags::INTEGER];
        if unfit.iter().any(|flag| slot.flags.has(*flag)) || given.operands.len() > 1 {
            self.argument_unknown(command.span);
        }
        let plain = given.options.iter().all(|(letter, _)| *letter == b't');
        match stream.text.filter(|text| plain && self.budget.spend(text.len() / 4)) {
            Some(text) => {
                let mut elements = Vec::new();
                for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
                    let line = if given.has(b't') { line.strip_suffix(b"\n").unwrap_or(line) } else { line };
                    let key = self.arena.alloc_str(&index.to_string()).as_bytes();
                    elements.push(Element { key, value: Value::text(line, stream.origins) });
                }
                let content = Content::Array(self.arena.alloc_slice_copy(&elements));
                self.fill_array(name, content, command.here);
            }
            // Each is a whole name.
            None if plain && given.has(b't') && stream.origins == Origins::NAMES => {
                let found = Origins::NAMES.union(Origins::FOUND);
                self.fill_array(name, Content::Unknown(found), command.here);
            }
            None => self.fill_array(name, Content::Unknown(stream.origins), command.here),
        }
    }

    /// Runs a callback in this shell, any number of times, with any arguments behind it.
    fn call_back(&mut self, called: &'a [u8], here: Span, span: Span) {
        self.called();
        self.in_loop(|shell| {
            shell.repeated(here, &mut |shell| {
                let own = std::mem::replace(&mut shell.state.flow.arguments, &ANY_ARGUMENTS);
                let calls = shell.calls;
                shell.run_here(called, None, span);
                if shell.calls == calls {
                    shell.state.flow.arguments = own;
                }
            });
        });
    }

    /// `getopts`
    pub(super) fn getopts(&mut self, command: &Expanded<'_, 'a>) {
        let origins = self.argument_origins();
        self.assign(b"OPTARG", Value::unknown(origins), false, command.here);
        self.may_be_unset(b"OPTARG");
        self.assign_some_number(b"OPTIND", command.here);
        match command.argv.get(2) {
            Some(name) => {
                if !name.known().is_some_and(is_name) {
                    self.argument_unknown(command.span);
                }
                self.assign_named(&name.value, Value::unknown(Origins::LITERAL), false, command.here);
            }
            None => {
                if command.argv.iter().any(|field| field.many) {
                    self.argument_unknown(command.span);
                }
            }
        }
    }

    /// `let`
    pub(super) fn let_builtin(&mut self, command: &Expanded<'_, 'a>) {
        for field in command.argv.get(1..).unwrap_or_default() {
            self.arithmetic_value(&field.value, false, command.here);
        }
    }

    /// `wait`: `-p` assigns to a variable.
    pub(super) fn wait(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"p", b"fn");
        if let Some(name) = given.value(b'p') {
            self.assign_named(&name.value, Value::unknown(Origins::LITERAL), true, command.here);
            // Without a job to wait for it is unset.
            match name.known().filter(|name| is_name(name)) {
                Some(name) => self.may_be_unset(name),
                None => self.argument_unknown(name.span),
            }
        }
        let unknown = command.argv.iter().skip(1).any(|field| {
            field.known().is_none() && field.value.known_prefix().is_empty() && !is_harmless(field)
        });
        if !given.sure && unknown {
            self.argument_unknown(command.span);
        }
    }

    /// `printf`: `-v` assigns to a variable. False if it does not.
    pub(super) fn printf(&mut self, command: &Expanded<'_, 'a>) -> bool {
        let Some(first) = command.argv.get(1) else { return false };
        let (name, rest) = match first.known() {
            Some(b"-v") => match command.argv.get(2) {
                Some(name) => (name.value, command.argv.get(3..).unwrap_or_default()),
                None => return false,
            },
            Some(text) => match text.strip_prefix(b"-v") {
                Some(name) => {
                    (Value::text(name, Origins::LITERAL), command.argv.get(2..).unwrap_or_default())
                }
                None => return false,
            },
            None => {
                let prefix = first.value.known_prefix();
                if prefix.is_empty() && !is_harmless(first) || prefix.starts_with(b"-") {
                    self.argument_unknown(first.span);
                }
                return false;
            }
        };
        let format = rest.first().and_then(Field::known);
        if format.is_none_or(|format| format == b"--" && rest.len() == 1)
            || format.is_some_and(|format| format.len() > 1 && format.starts_with(b"-") && format != b"--")
        {
            // Without a format, and with an option that there is not, nothing is assigned.
            self.argument_unknown(command.span);
        }
        let mut argv = Vec::with_capacity(rest.len() + 1);
        argv.extend(command.argv.first());
        argv.extend_from_slice(rest);
        let argv: &'a [Field<'a>] = self.arena.alloc_slice_copy(&argv);
        self.begin_invocation(command.argv, command.span, true);
        let output =
            knowledge::invoke(self, &Call { argv, stdin: Stream::EMPTY, piped: false, span: command.span });
        let value = match output.text {
            Some(text) if !text.contains(&0) => Value::text(text, output.origins),
            _ => Value::unknown(output.origins),
        };
        self.assign_named(&name, value, false, command.here);
        true
    }

    /// `test` and `[`: `-v` evaluates the subscript of a name.
    pub(super) fn test_operands(&mut self, command: &Expanded<'_, 'a>) {
        let mut after_operator = false;
        for field in command.argv.get(1..).unwrap_or_default() {
            match field.known() {
                Some(b"-v" | b"-R") => {
                    after_operator = true;
                    continue;
                }
                _ if after_operator => self.tested_variable(&field.value, command.here),
                // Split into several words it may become `-v name`.
                None if field.many && field.value.has_unknown() && !is_harmless(field) => {
                    self.unpredictable("the operands of a test may become -v and a name", command.here);
                }
                _ => {}
            }
            after_operator = false;
        }
    }
}

/// The descriptor from which `read` and `mapfile` read, if known.
fn read_from(given: &Given<'_>) -> Option<u32> {
    match given.value(b'u').map(|field| super::number(&field)) {
        None => Some(0),
        Some(number) => number.and_then(|number| u32::try_from(number).ok()),
    }
}

/// What is not known of it comes from nobody who would lay a trap.
fn is_harmless(field: &Field<'_>) -> bool {
    let origins = field.value.origins;
    (origins.contains(Origins::ENVIRONMENT)
        && Origins::ALL_VARIABLES.union(Origins::LITERAL).contains(origins))
        || (!field.many && origins == Origins::LITERAL)
        || origins == Origins::JOB
}

/// Whether what is added to a command line with a blank begins another command, or ends up somewhere else in it.
fn ends_open(text: &[u8]) -> bool {
    let end = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).and_then(|at| text.get(at));
    matches!(end, None | Some(b';' | b'&' | b'|' | b'(' | b'{' | b'\n' | b'<' | b'>' | b'!' | b'\\'))
}
