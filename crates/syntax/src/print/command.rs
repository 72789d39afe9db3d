//! Lists, pipelines, commands, redirections and the bodies of here-documents.

use super::arithmetic::Until;
use super::{Context, Printer};
use crate::parser::is_plain;
use crate::{
    Assignment, AssignmentValue, Case, CaseEnd, Command, CommandKind, Connector, Descriptor, For,
    HereDocument, If, Item, Loop, PartKind, Pipeline, Redirect, RedirectOperator, RedirectTarget, Script,
    SimpleCommand, Stage, Test, Word, is_name,
};

/// So many here-documents may wait for one line to end.
const MOST_PENDING: usize = 16;

impl<'t> Printer<'t> {
    /// A whole program, or the commands between backquotes.
    pub(super) fn text(&mut self, script: &Script<'t>) {
        for (index, item) in script.items.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).and_then(|index| script.items.get(index)) {
                match before.line == item.line {
                    true => self.put(separator(before)),
                    false => self.newline(),
                }
            }
            self.item(item);
        }
        if !self.pending.is_empty() {
            self.last_newline();
        }
    }

    /// The commands inside a compound command or a substitution, without what ends the last of them.
    fn list(&mut self, script: &Script<'t>) {
        for (index, item) in script.items.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).and_then(|index| script.items.get(index)) {
                self.separate(before);
            }
            self.item(item);
        }
    }

    /// A list and a reserved word behind it.
    fn list_and(&mut self, script: &Script<'t>, keyword: &str) {
        self.list(script);
        if let Some(last) = script.items.last() {
            self.separate(last);
        }
        self.put(keyword.as_bytes());
    }

    /// A list and a closing parenthesis or `;;`, which no semicolon needs to stand before.
    fn list_closed(&mut self, script: &Script<'t>, closing: &str) {
        self.list(script);
        if !self.pending.is_empty() {
            self.newline();
        } else if script.items.last().is_some_and(ends_empty) {
            self.put(b";");
        }
        self.put(closing.as_bytes());
    }

    /// What stands between an item and the next token of an inner list.
    fn separate(&mut self, item: &Item<'t>) {
        if self.pending.is_empty() {
            self.put(separator(item));
        } else {
            self.newline();
        }
    }

    /// The end of a line and the bodies that follow it.
    fn newline(&mut self) {
        self.line_end();
        if self.nested && !self.ended {
            self.put(b" ");
        }
    }

    fn line_end(&mut self) {
        self.put(b"\n");
        for document in std::mem::take(&mut self.pending) {
            if !self.ended {
                self.here_document_body(document);
                self.here_document_end(document);
            }
        }
    }

    /// The end of the last line of a text and the bodies that follow it. Where the delimiter of the last document that
    /// is not empty would end a document around this text, the end of the text does what it does.
    fn last_newline(&mut self) {
        let full = |document: &&HereDocument<'_>| !document.body().is_empty();
        let last = self.pending.iter().rposition(full).unwrap_or(0);
        let rest = self.pending.split_off(last);
        if rest.iter().all(|document| !self.around.contains(&document.delimiter)) {
            self.pending.extend(rest);
            return self.newline();
        }
        self.line_end();
        if let Some(document) = rest.first() {
            self.here_document_body(document);
        }
    }

    /// What ends a here-document: the line with its delimiter, if there can be one.
    fn here_document_end(&mut self, document: &'t HereDocument<'t>) {
        let last = document.body().last();
        let continued = matches!(last, Some(last) if !ends_line(&last.kind));
        if continued {
            // Only a line continuation at the very end leaves a body without its newline.
            self.put(b"\\\n");
        }
        // A delimiter that begins with a tab is never found where leading tabs are removed.
        self.ended = continued || (document.strip_tabs && document.delimiter.first() == Some(&b'\t'));
        if !self.ended {
            self.put(if document.strip_tabs { b"\t" } else { b"" });
            self.put(document.delimiter);
            self.put(b"\n");
        }
    }

    fn here_document_body(&mut self, document: &'t HereDocument<'t>) {
        let start = self.out.len();
        self.around.push(document.delimiter);
        if document.quoted {
            for part in document.body() {
                if let PartKind::Quoted(text) = part.kind {
                    self.put(text);
                }
            }
        } else {
            let substitution = std::mem::replace(&mut self.in_substitution, false);
            self.parts(document.body(), Context::HereDocument, 0);
            self.in_substitution = substitution;
        }
        self.around.pop();
        if document.strip_tabs {
            // The tab that is removed again keeps a line from looking like the end of a document around this one.
            let body = self.out.split_off(start);
            for line in body.split_inclusive(|byte| *byte == b'\n') {
                self.put(b"\t");
                self.put(line);
            }
        }
    }

    /// The commands of a substitution, up to the closing character.
    pub(super) fn substitution(&mut self, script: &Script<'t>, current: bool) {
        let pending = std::mem::take(&mut self.pending);
        let nested = std::mem::replace(&mut self.nested, true);
        let outer = std::mem::replace(&mut self.in_substitution, true);
        if current {
            self.put(b" ");
            self.list_and(script, "}");
        } else {
            // Right at the beginning bash takes `time` for an ordinary word unless a simple command follows.
            let first = script.items.first().map(|item| item.list.first);
            if first
                .is_some_and(|first| first.timed && first.stages.first().is_some_and(|one| !is_plain(one)))
            {
                self.put(b"\n ");
            }
            self.parenthesis(script);
        }
        self.in_substitution = outer;
        self.nested = nested;
        self.pending = pending;
    }

    /// `` `…` ``; `in_quotes`: right inside double quotes, where a backslash before `"` is removed too.
    pub(super) fn backquoted(&mut self, script: &Script<'t>, in_quotes: bool) {
        let outer = std::mem::take(&mut self.out);
        let pending = std::mem::take(&mut self.pending);
        let nested = std::mem::replace(&mut self.nested, true);
        let substitution = std::mem::replace(&mut self.in_substitution, false);
        let ended = std::mem::replace(&mut self.ended, false);
        self.text(script);
        self.ended = ended;
        self.in_substitution = substitution;
        self.nested = nested;
        self.pending = pending;
        let inner = std::mem::replace(&mut self.out, outer);
        self.put(b"`");
        for (index, byte) in inner.iter().enumerate() {
            let next = inner.get(index + 1);
            let escaped = match byte {
                b'`' => true,
                b'\\' => match next {
                    None | Some(b'$' | b'`' | b'\\' | b'\n') => true,
                    Some(b'"') => in_quotes,
                    Some(_) => false,
                },
                _ => false,
            };
            if escaped {
                self.put(b"\\");
            }
            self.out.push(*byte);
        }
        self.put(b"`");
    }

    /// After an opening parenthesis: the list and the closing one. Two adjacent ones would open an expression.
    fn parenthesis(&mut self, script: &Script<'t>) {
        let start = self.out.len();
        self.list_closed(script, ")");
        if self.out.get(start) == Some(&b'(') {
            self.out.insert(start, b' ');
        }
    }

    fn item(&mut self, item: &Item<'t>) {
        self.pipeline(&item.list.first);
        for (connector, pipeline) in item.list.rest {
            self.put(if *connector == Connector::And { b" &&" } else { b" ||" });
            if self.pending.len() >= MOST_PENDING {
                self.newline();
            } else {
                self.put(b" ");
            }
            self.pipeline(pipeline);
        }
        if item.background {
            self.put(b" &");
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'t>) {
        let mut words: [&[u8]; 2] = [b"", b""];
        if pipeline.timed {
            let option = |stage: &Stage<'_>| match stage.command.kind {
                CommandKind::Simple(SimpleCommand { assignments, words: [first, ..] })
                    if assignments.is_empty() =>
                {
                    matches!(first.bare(), Some(b"-p" | b"--"))
                }
                _ => false,
            };
            let option = !pipeline.negated && pipeline.stages.first().is_some_and(option);
            words = [b"time", if option { b"--" } else { b"" }];
        }
        if pipeline.negated {
            words = [words[0], b"!"];
        }
        if pipeline.stages.is_empty() && !pipeline.negated && !pipeline.timed {
            words = [b"!", b"!"];
        }
        let mut first = true;
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            self.space_unless(&mut first);
            self.put(word);
        }
        let mut stages = pipeline.stages.iter().peekable();
        while let Some(stage) = stages.next() {
            self.space_unless(&mut first);
            self.command(stage.command);
            if let Some(next) = stages.peek() {
                self.put(if stage.pipes_stderr { b" |&" } else { b" |" });
                // `time` is an ordinary word only on the same line.
                if self.pending.len() >= MOST_PENDING && !begins_with_time(next.command) {
                    self.newline();
                    first = true;
                }
            }
        }
    }

    fn space_unless(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.put(b" ");
        }
    }

    fn command(&mut self, command: &Command<'t>) {
        match command.kind {
            CommandKind::Simple(simple) => {
                let mut first = true;
                self.assignments_and_words(&simple, &mut first);
                self.redirects(command.redirects.all(), first);
                return;
            }
            CommandKind::BraceGroup(script) => {
                self.put(b"{ ");
                self.list_and(&script, "}");
            }
            CommandKind::Subshell(script) => {
                self.put(b"(");
                self.parenthesis(&script);
            }
            CommandKind::If(command) => self.if_command(command),
            CommandKind::While(command) => self.loop_command(b"while ", command),
            CommandKind::Until(command) => self.loop_command(b"until ", command),
            CommandKind::For(command) => self.for_command(b"for ", command),
            CommandKind::Select(command) => self.for_command(b"select ", command),
            CommandKind::ArithmeticFor(command) => {
                self.put(b"for ((");
                for (expression, closing) in
                    [(&command.init, ";"), (&command.test, ";"), (&command.step, "))")]
                {
                    self.expression(expression, Until::Semicolon);
                    self.put(closing.as_bytes());
                }
                self.put(b"; do ");
                self.list_and(&command.body, "done");
            }
            CommandKind::Case(command) => self.case_command(command),
            CommandKind::Conditional(command) => {
                self.put(b"[[ ");
                self.test(command.expression);
                self.put(b" ]]");
            }
            CommandKind::Arithmetic(expression) => {
                self.put(b"((");
                self.expression(expression, Until::Parenthesis);
                self.put(b"))");
            }
            CommandKind::Function(function) => {
                self.put(if is_name(function.name) { b"" } else { b"function " });
                self.put(function.name);
                self.put(b" () ");
                self.command(function.body);
            }
            CommandKind::Coprocess(coprocess) => {
                self.put(b"coproc ");
                if let Some(name) = coprocess.name {
                    self.put(name);
                    self.put(b" ");
                }
                match coprocess.body.kind {
                    // A word before a reserved word would be taken for the coprocess's name, but `time` is none, and would
                    // be reserved after a redirection.
                    CommandKind::Simple(simple) if !begins_with_time(coprocess.body) => {
                        self.redirects(coprocess.body.redirects.all(), true);
                        let mut first = coprocess.body.redirects.is_empty();
                        self.assignments_and_words(&simple, &mut first);
                    }
                    _ => self.command(coprocess.body),
                }
            }
        }
        self.redirects(command.redirects.all(), false);
    }

    fn assignments_and_words(&mut self, simple: &SimpleCommand<'t>, first: &mut bool) {
        for assignment in simple.assignments {
            self.space_unless(first);
            self.assignment(assignment);
        }
        for word in simple.words {
            self.space_unless(first);
            self.word(word);
        }
    }

    fn if_command(&mut self, command: &If<'t>) {
        let mut keyword: &[u8] = b"if ";
        for (condition, body) in command.arms {
            self.put(keyword);
            self.list_and(condition, "then ");
            self.list_and(body, "");
            keyword = b"elif ";
        }
        if let Some(otherwise) = &command.otherwise {
            self.put(b"else ");
            self.list_and(otherwise, "");
        }
        self.put(b"fi");
    }

    fn loop_command(&mut self, keyword: &[u8], command: &Loop<'t>) {
        self.put(keyword);
        self.list_and(&command.condition, "do ");
        self.list_and(&command.body, "done");
    }

    fn for_command(&mut self, keyword: &[u8], command: &For<'t>) {
        self.put(keyword);
        self.put(command.name);
        if let Some(words) = command.words {
            self.put(b" in");
            for word in words {
                self.put(b" ");
                self.word(word);
            }
        }
        self.put(b"; do ");
        self.list_and(&command.body, "done");
    }

    fn case_command(&mut self, command: &Case<'t>) {
        self.put(b"case ");
        self.word(&command.word);
        self.put(b" in ");
        for arm in command.arms {
            // Without the parenthesis this would end the command.
            if arm.patterns.first().is_some_and(|pattern| pattern.bare() == Some(b"esac")) {
                self.put(b"(");
            }
            for (index, pattern) in arm.patterns.iter().enumerate() {
                self.put(if index > 0 { b" | " } else { b"" });
                self.word(pattern);
            }
            self.put(if arm.body.items.is_empty() { b")" } else { b") " });
            self.list_closed(&arm.body, "");
            self.put(match arm.end {
                CaseEnd::Break => b" ;; ",
                CaseEnd::FallThrough => b" ;& ",
                CaseEnd::Continue => b" ;;& ",
            });
        }
        self.put(b"esac");
    }

    fn test(&mut self, test: &Test<'t>) {
        match test {
            Test::And(left, right) | Test::Or(left, right) => {
                self.test(left);
                self.put(if matches!(test, Test::And(..)) { b" && " } else { b" || " });
                self.test(right);
            }
            Test::Not(inner) => {
                self.put(b"! ");
                self.test(inner);
            }
            Test::Group(inner) => {
                self.put(b"( ");
                self.test(inner);
                self.put(b" )");
            }
            Test::Unary(operator, word) => {
                self.put(operator);
                self.put(b" ");
                self.word(word);
            }
            Test::Binary(operator, left, right) => {
                self.word(left);
                self.put(b" ");
                self.put(operator);
                self.put(b" ");
                self.word(right);
            }
            Test::Word(word) => self.word(word),
        }
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment<'t>) {
        self.put(assignment.name);
        if let Some(subscript) = &assignment.subscript {
            self.put(b"[");
            self.expression(subscript, Until::Bracket);
            self.put(b"]");
        }
        self.put(if assignment.append { b"+=" } else { b"=" });
        match assignment.value {
            AssignmentValue::Scalar(word) => self.word(&word),
            AssignmentValue::Array(elements) => {
                let outer = self.without_backslash;
                self.without_backslash |= self.in_substitution;
                self.put(b"(");
                for (index, element) in elements.iter().enumerate() {
                    self.put(if index > 0 { b" " } else { b"" });
                    if let Some(subscript) = element.subscript() {
                        self.put(b"[");
                        self.expression(subscript, Until::Bracket);
                        self.put(if element.append() { b"]+=" } else { b"]=" });
                    }
                    self.word(&element.value());
                }
                self.put(b")");
                self.without_backslash = outer;
            }
        }
    }

    fn redirects(&mut self, redirects: &'t [Redirect<'t>], mut first: bool) {
        for redirect in redirects {
            self.space_unless(&mut first);
            match redirect.descriptor {
                Descriptor::Default => {}
                Descriptor::Number(number) => self.put(number.to_string().as_bytes()),
                Descriptor::Variable(name) => {
                    self.put(b"{");
                    self.put(name);
                    self.put(b"}");
                }
            }
            self.put(match redirect.operator {
                RedirectOperator::Input => b"< ",
                RedirectOperator::Output => b"> ",
                RedirectOperator::Append => b">> ",
                RedirectOperator::Clobber => b">| ",
                RedirectOperator::ReadWrite => b"<> ",
                RedirectOperator::DuplicateInput => b"<&",
                RedirectOperator::DuplicateOutput => b">&",
                RedirectOperator::OutputBoth => b"&> ",
                RedirectOperator::AppendBoth => b"&>> ",
                RedirectOperator::HereDocument => b"<<",
                RedirectOperator::HereString => b"<<< ",
            });
            match redirect.target {
                RedirectTarget::Word(word) => self.word(&word),
                RedirectTarget::HereDocument(document) => {
                    self.delimiter(document);
                    self.pending.push(document);
                }
            }
        }
    }

    fn delimiter(&mut self, document: &HereDocument<'_>) {
        let text = document.delimiter;
        if document.strip_tabs {
            self.put(b"-");
        } else if !document.quoted && text.first() == Some(&b'-') {
            self.put(b" ");
        }
        if !document.quoted {
            self.put(text);
        } else if self.in_pair {
            for byte in text {
                self.put(&[b'\\', *byte]);
            }
        } else {
            // A single quote stands between double quotes, everything else between single ones.
            for (index, piece) in text.split(|byte| *byte == b'\'').enumerate() {
                self.put(if index > 0 { b"\"'\"" } else { b"" });
                if !piece.is_empty() || text.is_empty() {
                    self.put(b"'");
                    self.put(piece);
                    self.put(b"'");
                }
            }
        }
    }

    fn word(&mut self, word: &Word<'t>) {
        self.parts(&word.parts(), Context::Word, 0);
    }
}

/// What stands between an item and the next one on the same line.
fn separator(item: &Item<'_>) -> &'static [u8] {
    if item.background { b" " } else { b"; " }
}

/// Whether the last part of a body ends its last line.
fn ends_line(part: &PartKind<'_>) -> bool {
    matches!(part, PartKind::Quoted(text) if text.last() == Some(&b'\n'))
}

/// Whether the item ends with a bare `!` or `time`, which a parenthesis may not follow.
fn ends_empty(item: &Item<'_>) -> bool {
    let last = item.list.rest.last().map_or(&item.list.first, |(_, pipeline)| pipeline);
    last.stages.is_empty()
}

fn begins_with_time(command: &Command<'_>) -> bool {
    match command.kind {
        CommandKind::Simple(SimpleCommand { assignments, words: [first, ..] }) if assignments.is_empty() => {
            first.bare() == Some(b"time")
        }
        _ => false,
    }
}
