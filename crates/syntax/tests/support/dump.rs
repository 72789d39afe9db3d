//! A compact printer of syntax trees, spans left out.
//!
//! Lists: `(cmd word …)`, `(&& a b)`, `(| a b)`, `(& a)`, `(if …)` and so on. Words: parts joined by `+`. A literal is
//! itself; `Q"…"` is text quoted by a backslash or between double quotes, `S"…"`, `A"…"` are `'…'` and `$'…'`,
//! `D[…]`, `M[…]` are `"…"` and `$"…"`, `G*` a glob character, `X@[…]` an extended pattern, `B[…]` a brace
//! expansion, `T[…]` a tilde prefix.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use shward_syntax::*;
use std::fmt::Write;

/// What is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Exact,
    /// How literal text is cut into parts, which line continuations decide.
    UpToLayout,
    /// What bash's own printer does not preserve.
    Canonical,
}

pub fn dump(script: &Script<'_>) -> String {
    let mut out = String::new();
    Dump(&mut out, Style::Exact).script(script);
    out
}

/// The same for two programs that differ in nothing but layout.
pub fn dump_up_to_layout(script: &Script<'_>) -> String {
    let mut out = String::new();
    Dump(&mut out, Style::UpToLayout).script(script);
    out
}

/// The same, with differences left out that bash's own printer does not preserve: default descriptors, the kind of
/// quotes, the default name of a coprocess, `elif`, `[[ word ]]`, `for` without `in`, the group around a body.
pub fn dump_canonical(script: &Script<'_>) -> String {
    let mut out = String::new();
    Dump(&mut out, Style::Canonical).script(script);
    out
}

pub fn dump_parts(parts: &[WordPart<'_>]) -> String {
    let mut out = String::new();
    Dump(&mut out, Style::Exact).parts(parts);
    out
}

struct Dump<'s>(&'s mut String, Style);

impl Dump<'_> {
    fn canonical(&self) -> bool {
        self.1 == Style::Canonical
    }

    fn put(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn text(&mut self, kind: &str, text: &[u8]) {
        write!(self.0, "{kind}\"{}\"", text.escape_ascii()).unwrap();
    }

    fn separated<T>(&mut self, between: &str, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.put(between);
            }
            each(self, item);
        }
    }

    fn script(&mut self, script: &Script<'_>) {
        self.separated("; ", script.items, |dump, item| {
            dump.and_or(&item.list);
            if item.background {
                dump.put(" &");
            }
        });
    }

    fn and_or(&mut self, list: &AndOr<'_>) {
        for (connector, _) in list.rest.iter().rev() {
            self.put(if *connector == Connector::And { "(&& " } else { "(|| " });
        }
        self.pipeline(&list.first);
        for (_, pipeline) in list.rest {
            self.put(" ");
            self.pipeline(pipeline);
            self.put(")");
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'_>) {
        let mut close = 0;
        for (set, name) in [(pipeline.timed, "(time "), (pipeline.negated, "(! ")] {
            if set {
                self.put(name);
                close += 1;
            }
        }
        match pipeline.stages {
            [stage] => self.command(stage.command),
            [] => self.put("()"),
            stages => {
                self.put("(|");
                for stage in stages {
                    self.put(" ");
                    self.command_with(stage.command, stage.pipes_stderr);
                    if stage.pipes_stderr && !self.canonical() {
                        self.put(" 2>&1");
                    }
                }
                self.put(")");
            }
        }
        self.put(&")".repeat(close));
    }

    fn command(&mut self, command: &Command<'_>) {
        self.command_with(command, false);
    }

    /// `pipes_stderr`: followed by `|&`, of which bash makes a redirection, the last one.
    fn command_with(&mut self, command: &Command<'_>, pipes_stderr: bool) {
        let merged = pipes_stderr && self.canonical();
        let redirected =
            (merged || !command.redirects.is_empty()) && !matches!(command.kind, CommandKind::Simple(_));
        if redirected {
            self.put("(redirect ");
        }
        match command.kind {
            CommandKind::Simple(simple) => {
                self.put("(cmd");
                for assignment in simple.assignments {
                    self.put(" ");
                    self.assignment(assignment);
                }
                for word in simple.words {
                    self.put(" ");
                    self.word(word);
                }
                self.redirects(command.redirects.all());
                self.put(if merged { " 2>&1)" } else { ")" });
            }
            CommandKind::BraceGroup(script) => self.list("{", &[&script]),
            CommandKind::Subshell(script) => self.list("sub", &[&script]),
            CommandKind::If(command) => {
                self.put("(if");
                for (index, (condition, body)) in command.arms.iter().enumerate() {
                    self.put(if index > 0 && self.canonical() { " else [(if [" } else { " [" });
                    self.script(condition);
                    self.put("] [");
                    self.script(body);
                    self.put("]");
                }
                if let Some(otherwise) = &command.otherwise {
                    self.put(" else [");
                    self.script(otherwise);
                    self.put("]");
                }
                if self.canonical() {
                    self.put(&")]".repeat(command.arms.len() - 1));
                }
                self.put(")");
            }
            CommandKind::While(command) => self.list("while", &[&command.condition, &command.body]),
            CommandKind::Until(command) => self.list("until", &[&command.condition, &command.body]),
            CommandKind::For(command) => self.for_command("for", command),
            CommandKind::Select(command) => self.for_command("select", command),
            CommandKind::ArithmeticFor(command) => {
                self.put("(for((");
                for expression in [&command.init, &command.test, &command.step] {
                    self.put("[");
                    self.arithmetic(expression);
                    self.put("]");
                }
                self.put(")) [");
                self.script(&command.body);
                self.put("])");
            }
            CommandKind::Case(command) => {
                self.put("(case ");
                self.word(&command.word);
                for arm in command.arms {
                    self.put(" [");
                    self.separated("|", arm.patterns, Self::word);
                    self.put(": ");
                    self.script(&arm.body);
                    self.put(match arm.end {
                        CaseEnd::Break => "]",
                        CaseEnd::FallThrough => " ;&]",
                        CaseEnd::Continue => " ;;&]",
                    });
                }
                self.put(")");
            }
            CommandKind::Conditional(command) => {
                self.put("[[");
                self.test(command.expression);
                self.put("]]");
            }
            CommandKind::Arithmetic(expression) => {
                self.put("((");
                self.arithmetic(expression);
                self.put("))");
            }
            CommandKind::Function(function) => {
                write!(self.0, "(function {} ", function.name.escape_ascii()).unwrap();
                let wrap = self.canonical() && !matches!(function.body.kind, CommandKind::BraceGroup(_));
                self.put(if wrap { "({ [" } else { "" });
                self.command(function.body);
                self.put(if wrap { "])" } else { "" });
                self.put(")");
            }
            CommandKind::Coprocess(coprocess) => {
                self.put("(coproc ");
                if let Some(name) = coprocess.name.or(self.canonical().then_some(b"COPROC")) {
                    write!(self.0, "{} ", name.escape_ascii()).unwrap();
                }
                self.command(coprocess.body);
                self.put(")");
            }
        }
        if redirected {
            self.redirects(command.redirects.all());
            self.put(if merged { " 2>&1)" } else { ")" });
        }
    }

    fn list(&mut self, name: &str, scripts: &[&Script<'_>]) {
        write!(self.0, "({name}").unwrap();
        for script in scripts {
            self.put(" [");
            self.script(script);
            self.put("]");
        }
        self.put(")");
    }

    fn for_command(&mut self, name: &str, command: &For<'_>) {
        write!(self.0, "({name} {}", command.name.escape_ascii()).unwrap();
        if command.words.is_none() && self.canonical() {
            self.put(" in D[${@}]");
        }
        if let Some(words) = command.words {
            self.put(" in");
            for word in words {
                self.put(" ");
                self.word(word);
            }
        }
        self.put(" [");
        self.script(&command.body);
        self.put("])");
    }

    fn test(&mut self, test: &Test<'_>) {
        match test {
            Test::And(left, right) | Test::Or(left, right) => {
                self.put(if matches!(test, Test::And(..)) { "(&& " } else { "(|| " });
                self.test(left);
                self.put(" ");
                self.test(right);
                self.put(")");
            }
            Test::Not(inner) => {
                self.put("(! ");
                self.test(inner);
                self.put(")");
            }
            Test::Group(inner) => {
                self.put("(");
                self.test(inner);
                self.put(")");
            }
            Test::Unary(operator, word) => {
                write!(self.0, "{} ", operator.escape_ascii()).unwrap();
                self.word(word);
            }
            Test::Binary(operator, left, right) => {
                self.word(left);
                write!(self.0, " {} ", operator.escape_ascii()).unwrap();
                self.word(right);
            }
            Test::Word(word) => {
                self.put(if self.canonical() { "-n " } else { "" });
                self.word(word);
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect<'_>]) {
        for redirect in redirects {
            self.put(" ");
            match redirect.descriptor {
                Descriptor::Default if self.canonical() => match redirect.operator {
                    RedirectOperator::Input
                    | RedirectOperator::ReadWrite
                    | RedirectOperator::DuplicateInput
                    | RedirectOperator::HereDocument
                    | RedirectOperator::HereString => self.put("0"),
                    RedirectOperator::OutputBoth | RedirectOperator::AppendBoth => {}
                    _ => self.put("1"),
                },
                Descriptor::Default => {}
                Descriptor::Number(number) => write!(self.0, "{number}").unwrap(),
                Descriptor::Variable(name) => write!(self.0, "{{{}}}", name.escape_ascii()).unwrap(),
            }
            self.put(match redirect.operator {
                RedirectOperator::Input => "<",
                RedirectOperator::Output => ">",
                RedirectOperator::Append => ">>",
                RedirectOperator::Clobber => ">|",
                RedirectOperator::ReadWrite => "<>",
                RedirectOperator::DuplicateInput if self.canonical() => ">&",
                RedirectOperator::DuplicateInput => "<&",
                RedirectOperator::DuplicateOutput => ">&",
                RedirectOperator::OutputBoth => "&>",
                RedirectOperator::AppendBoth => "&>>",
                RedirectOperator::HereDocument => "<<",
                RedirectOperator::HereString => "<<<",
            });
            match redirect.target {
                RedirectTarget::Word(word) => self.word(&word),
                RedirectTarget::HereDocument(document) => {
                    if document.strip_tabs {
                        self.put("-");
                    }
                    if document.quoted {
                        self.put("'");
                    }
                    write!(self.0, "{}[", document.delimiter.escape_ascii()).unwrap();
                    self.parts(document.body());
                    self.put("]");
                }
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment<'_>) {
        write!(self.0, "{}", assignment.name.escape_ascii()).unwrap();
        if let Some(subscript) = &assignment.subscript {
            self.put("[");
            self.arithmetic(subscript);
            self.put("]");
        }
        self.put(if assignment.append { "+=" } else { "=" });
        match assignment.value {
            AssignmentValue::Scalar(word) => self.word(&word),
            AssignmentValue::Array(elements) => {
                self.put("(");
                self.separated(" ", elements, |dump, element| {
                    if let Some(subscript) = element.subscript() {
                        dump.put("[");
                        dump.arithmetic(subscript);
                        dump.put(if element.append() { "]+=" } else { "]=" });
                    }
                    dump.word(&element.value());
                });
                self.put(")");
            }
        }
    }

    fn arithmetic(&mut self, expression: &Arithmetic<'_>) {
        self.parts(expression.parts);
    }

    fn word(&mut self, word: &Word<'_>) {
        if word.parts().is_empty() {
            self.put("''");
        }
        self.parts(&word.parts());
    }

    /// Adjacent pieces of quoted text are one: how the parser cuts them is of no importance.
    fn parts(&mut self, parts: &[WordPart<'_>]) {
        let mut first = true;
        let mut parts = parts.iter().peekable();
        while let Some(part) = parts.next() {
            if !std::mem::take(&mut first) {
                self.put("+");
            }
            let merges = |kind: &PartKind<'_>| match kind {
                PartKind::Quoted(_) => matches!(part.kind, PartKind::Quoted(_)),
                PartKind::Literal(_) => {
                    matches!(part.kind, PartKind::Literal(_)) && self.1 == Style::UpToLayout
                }
                _ => false,
            };
            let (PartKind::Quoted(text) | PartKind::Literal(text)) = part.kind else {
                self.part(&part.kind);
                continue;
            };
            let mut text = text.to_vec();
            while let Some(WordPart { kind: PartKind::Quoted(more) | PartKind::Literal(more), .. }) =
                parts.next_if(|next| merges(&next.kind))
            {
                text.extend_from_slice(more);
            }
            match part.kind {
                PartKind::Quoted(_) => self.part(&PartKind::Quoted(&text)),
                _ => self.part(&PartKind::Literal(&text)),
            }
        }
    }

    fn part(&mut self, part: &PartKind<'_>) {
        match *part {
            PartKind::Literal(text) => {
                let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./=:,-%@!#^~{}]".contains(byte);
                if text.iter().all(plain) {
                    write!(self.0, "{}", text.escape_ascii()).unwrap();
                } else {
                    self.text("L", text);
                }
            }
            PartKind::Quoted(text) => self.text("Q", text),
            PartKind::SingleQuoted(text) => self.text("S", text),
            PartKind::AnsiC(text) => self.text(if self.canonical() { "S" } else { "A" }, text),
            PartKind::DoubleQuoted(parts) => self.bracketed("D", parts),
            PartKind::Locale(parts) => self.bracketed(if self.canonical() { "D" } else { "M" }, parts),
            PartKind::Glob(byte) => write!(self.0, "G{}", char::from(byte)).unwrap(),
            PartKind::ExtendedGlob(glob) => {
                write!(self.0, "X{}[", char::from(glob.operator)).unwrap();
                self.separated("|", glob.patterns, Self::word);
                self.put("]");
            }
            PartKind::Brace(Brace::List(words)) => {
                self.put("B[");
                self.separated("|", words, Self::word);
                self.put("]");
            }
            PartKind::Brace(Brace::Range(range)) => {
                write!(self.0, "B[{}..{}", range.first.escape_ascii(), range.last.escape_ascii()).unwrap();
                if let Some(step) = range.step {
                    write!(self.0, "..{}", step.escape_ascii()).unwrap();
                }
                self.put("]");
            }
            PartKind::Tilde(login) => write!(self.0, "T[{}]", login.escape_ascii()).unwrap(),
            PartKind::Parameter(parameter) => self.parameter(parameter),
            PartKind::CommandSubstitution(substitution) => {
                let (open, close) = match substitution.form {
                    SubstitutionForm::Dollar => ("$(", ")"),
                    SubstitutionForm::Backquote => ("`", "`"),
                    SubstitutionForm::Current => ("${ ", " }"),
                    SubstitutionForm::Reply => ("${| ", " }"),
                };
                self.put(open);
                self.script(&substitution.script);
                self.put(close);
            }
            PartKind::ProcessSubstitution(substitution) => {
                self.put(if substitution.output { ">(" } else { "<(" });
                self.script(&substitution.script);
                self.put(")");
            }
            PartKind::Arithmetic(expression) => self.bracketed("$((", expression.parts),
            PartKind::ArrayAssignment(assignment) => self.assignment(assignment),
        }
    }

    fn bracketed(&mut self, name: &str, parts: &[WordPart<'_>]) {
        self.put(name);
        self.put("[");
        self.parts(parts);
        self.put("]");
    }

    fn parameter(&mut self, parameter: &Parameter<'_>) {
        self.put("${");
        if parameter.indirect() {
            self.put("!");
        }
        if matches!(parameter.operation(), ParameterOperation::Length) {
            self.put("len ");
        }
        match parameter.name {
            ParameterName::Variable(name) => write!(self.0, "{}", name.escape_ascii()).unwrap(),
            ParameterName::Positional(number) => write!(self.0, "{number}").unwrap(),
            ParameterName::Special(byte) => write!(self.0, "{}", char::from(byte)).unwrap(),
        }
        match &parameter.subscript() {
            None => {}
            Some(Subscript::At) => self.put("[@]"),
            Some(Subscript::Star) => self.put("[*]"),
            Some(Subscript::Index(index)) => self.bracketed("", index.parts),
        }
        let colon = |colon: bool| if colon { ":" } else { "" };
        match parameter.operation() {
            ParameterOperation::None | ParameterOperation::Length => {}
            ParameterOperation::Default { colon: c, word } => self.operation(&[colon(c), "-"], &word),
            ParameterOperation::Assign { colon: c, word } => self.operation(&[colon(c), "="], &word),
            ParameterOperation::Error { colon: c, word } => self.operation(&[colon(c), "?"], &word),
            ParameterOperation::Alternative { colon: c, word } => self.operation(&[colon(c), "+"], &word),
            ParameterOperation::RemovePrefix { longest, pattern } => {
                self.operation(&["#", if longest { "#" } else { "" }], &pattern);
            }
            ParameterOperation::RemoveSuffix { longest, pattern } => {
                self.operation(&["%", if longest { "%" } else { "" }], &pattern);
            }
            ParameterOperation::Replace { which, pattern, replacement } => {
                let operator = match which {
                    Replace::First => "/",
                    Replace::All => "//",
                    Replace::Prefix => "/#",
                    Replace::Suffix => "/%",
                };
                self.operation(&[operator], pattern);
                if let Some(replacement) = replacement {
                    self.operation(&[" / "], replacement);
                }
            }
            ParameterOperation::Substring { offset, length } => {
                self.bracketed(":", offset.parts);
                if let Some(length) = length {
                    self.bracketed(":", length.parts);
                }
            }
            ParameterOperation::Case { operator, all, pattern } => {
                let operator = char::from(operator).to_string();
                self.operation(&[&operator, if all { &operator } else { "" }], &pattern);
            }
            ParameterOperation::ScriptPath => self.put(" script"),
            ParameterOperation::Transform(letter) => write!(self.0, "@{}", char::from(letter)).unwrap(),
            ParameterOperation::Names { separate } => self.put(if separate { " names@" } else { " names*" }),
            ParameterOperation::Keys { separate } => self.put(if separate { " keys@" } else { " keys*" }),
        }
        self.put("}");
    }

    fn operation(&mut self, operator: &[&str], word: &Word<'_>) {
        for piece in operator {
            self.put(piece);
        }
        self.word(word);
    }
}
