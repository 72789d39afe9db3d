//! Expansions: what `$` and a backquote begin, and process substitution (POSIX 2.6).

use super::{Parser, Place, Result};
use crate::chars::is_name_start;
use crate::cursor::{Cursor, END, Segment};
use crate::{
    CommandKind, CommandSubstitution, ErrorCode, NoteKind, Parameter, ParameterName, PartKind,
    ProcessSubstitution, Script, Span, SubstitutionForm,
};
use bumpalo::collections::Vec as BumpVec;

/// What surrounds an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Unquoted.
    Word,
    /// The operand of an unquoted `${…}`.
    Operand,
    /// A pattern or replacement in `"${…}"`, where quotes work as if outside.
    QuotedPattern,
    /// Directly between double quotes.
    DoubleQuoted,
    /// Between double quotes in the operand of `"${…}"`.
    InnerQuotes,
    /// A here-document's body.
    HereDocument,
    /// The operand of `"${…}"`.
    QuotedOperand,
    /// An arithmetic expression.
    Arithmetic,
}

impl Context {
    /// The result is neither split nor used as a pattern.
    pub(super) fn is_quoted(self) -> bool {
        !matches!(self, Self::Word | Self::Operand | Self::QuotedPattern)
    }

    /// Somewhere inside double quotes or what the shell treats alike.
    pub(super) fn is_in_quotes(self) -> bool {
        !matches!(self, Self::Word | Self::Operand)
    }
}

impl<'a> Parser<'a> {
    /// Reads what `$` begins. False, with the cursor where it was, if it stands for itself.
    pub(super) fn dollar(&mut self, context: Context) -> Result<bool> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let next = self.cursor.peek();
        if next == b'(' && self.in_document_operand {
            return self.fail_from(start, ErrorCode::DocumentOperand, "");
        }
        match next {
            b'(' if self.cursor.peek_second() == b'(' => {
                self.skip_two();
                self.arithmetic_expansion(start)?;
            }
            b'(' => {
                self.cursor.advance(1);
                let script = self.substitution_body(start)?;
                self.push_substitution(SubstitutionForm::Dollar, script, context, start);
            }
            b'{' => {
                self.cursor.advance(1);
                self.braced_parameter(start, context)?;
            }
            b'[' => {
                self.cursor.advance(1);
                self.require_bash(start, "$((…))")?;
                self.bracket_arithmetic(start)?;
            }
            b'\'' | b'"' => return self.dollar_quote(next, start, context),
            b'0'..=b'9' => {
                self.cursor.advance(1);
                let name = match next {
                    b'0' => ParameterName::Special(next),
                    _ => ParameterName::Positional(u32::from(next - b'0')),
                };
                self.push_parameter(name, start, context);
            }
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.cursor.advance(1);
                if next == b'$' {
                    self.check_after_process_id(start, context)?;
                }
                self.push_parameter(ParameterName::Special(next), start, context);
            }
            _ if is_name_start(next) => {
                let name = self.name();
                self.push_parameter(ParameterName::Variable(name), start, context);
            }
            _ => {
                self.cursor.set_position(start);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// After `$$`: in some places bash takes its second character and what follows for another expansion.
    fn check_after_process_id(&mut self, start: usize, context: Context) -> Result<()> {
        let nested = !matches!(context, Context::Word | Context::DoubleQuoted | Context::HereDocument);
        match self.cursor.peek() {
            b'{' | b'(' | b'[' => self.fail_from(start, ErrorCode::GluedProcessId, ""),
            b'\'' | b'"' if nested => self.fail_from(start, ErrorCode::GluedProcessId, ""),
            _ => Ok(()),
        }
    }

    /// `$'…'` and `$"…"`, where they are quotations.
    fn dollar_quote(&mut self, quote: u8, start: usize, context: Context) -> Result<bool> {
        match context {
            Context::DoubleQuoted | Context::InnerQuotes | Context::HereDocument => {
                self.cursor.set_position(start);
                return Ok(false);
            }
            Context::QuotedOperand | Context::Arithmetic => {
                return self.fail_from(start, ErrorCode::AnsiCInExpansion, "");
            }
            Context::Word | Context::Operand | Context::QuotedPattern => {}
        }
        self.require_bash(start, if quote == b'"' { "\"…\"" } else { "\"$(printf …)\"" })?;
        if quote == b'"' {
            self.locale_quoted(start)?;
        } else if context == Context::Word {
            self.ansi_c_quoted(start)?;
        } else {
            let text = self.ansi_c_text(start)?;
            // bash decodes this while it reads the word and, in a substitution, reads the result again.
            let special = |byte: &u8| b"$`\\'\"{}<>()~*?[".contains(byte);
            if text.iter().any(special) {
                return self.fail_from(start, ErrorCode::AnsiCInExpansion, "");
            }
            self.push(PartKind::AnsiC(text), start);
        }
        Ok(true)
    }

    fn push_parameter(&mut self, name: ParameterName<'a>, start: usize, context: Context) {
        let quoted = context.is_quoted();
        if !quoted {
            self.note(NoteKind::ZshDiffers, start);
        }
        let same = self.parameter.filter(|last| last.name == name && last.quoted == quoted);
        let parameter = same.unwrap_or_else(|| self.arena.alloc(Parameter::plain(name, quoted)));
        self.parameter = Some(parameter);
        self.push(PartKind::Parameter(parameter), start);
    }

    pub(super) fn push_substitution(
        &mut self,
        form: SubstitutionForm,
        script: Script<'a>,
        context: Context,
        start: usize,
    ) {
        let substitution = CommandSubstitution { form, script, quoted: context.is_quoted() };
        self.push(PartKind::CommandSubstitution(self.arena.alloc(substitution)), start);
    }

    /// `<(…)` or `>(…)`
    pub(super) fn process_substitution(&mut self) -> Result<()> {
        let start = self.cursor.position();
        let output = self.cursor.peek() == b'>';
        self.skip_two();
        self.require_bash(start, "a pipe or a temporary file")?;
        if self.cursor.peek() == b'(' {
            return self.fail_from(start, ErrorCode::AmbiguousArithmetic, "");
        }
        let script = self.substitution_body(start)?;
        let substitution = self.arena.alloc(ProcessSubstitution { output, script });
        self.push(PartKind::ProcessSubstitution(substitution), start);
        Ok(())
    }

    /// The commands after `$(`, `<(` or `>(`, and the closing parenthesis.
    fn substitution_body(&mut self, start: usize) -> Result<Script<'a>> {
        let opener = self.cursor.span_from(start);
        self.enter()?;
        let pending = std::mem::take(&mut self.pending);
        let outer = std::mem::replace(&mut self.in_substitution, true);
        let documents = self.documents;
        self.blanks();
        let first = std::mem::replace(&mut self.substitution_start, self.cursor.position());
        let script = self.list(Place::Inner)?;
        self.substitution_start = first;
        self.blanks();
        match self.cursor.peek() {
            b')' => {}
            END => return self.unterminated(ErrorCode::UnterminatedSubstitution, opener, "`)`"),
            _ => return self.unterminated(ErrorCode::UnexpectedToken, opener, "`)`"),
        }
        let alone = self.pending.is_empty() && is_single_pipeline(script);
        if documents != self.documents && !alone {
            return self.fail_from(start, ErrorCode::HereDocumentInSubstitution, "");
        }
        self.cursor.advance(1);
        self.in_substitution = outer;
        self.pending = pending;
        self.leave();
        Ok(script)
    }

    /// `${ …; }` or `${| …; }`, at the character after the brace.
    pub(super) fn current_shell_substitution(&mut self, start: usize, context: Context) -> Result<()> {
        let form = match self.cursor.peek() {
            b'|' => SubstitutionForm::Reply,
            _ => SubstitutionForm::Current,
        };
        self.require_bash(start, "$(…)")?;
        let opener = self.cursor.span_from(start);
        self.cursor.advance(1);
        let body = self.cursor.position();
        self.enter()?;
        let pending = std::mem::take(&mut self.pending);
        let outer = std::mem::replace(&mut self.in_substitution, true);
        let documents = self.documents;
        let script = self.nonempty_list(Place::Current)?;
        self.blanks();
        if self.cursor.peek() != b'}' {
            return self.unterminated(ErrorCode::UnterminatedSubstitution, opener, "`}`");
        }
        // Before 5.3 bash takes the first brace outside quotes for the end; then there is an error, but only then
        // do all versions agree on where the rest begins.
        let text = self.cursor.slice(body, self.cursor.position());
        self.spend(text.len())?;
        if documents != self.documents || text.iter().any(|byte| matches!(byte, b'}' | b'#')) {
            return self.fail_from(start, ErrorCode::AmbiguousCurrentShell, "");
        }
        self.cursor.advance(1);
        self.in_substitution = outer;
        self.pending = pending;
        self.leave();
        self.push_substitution(form, script, context, start);
        Ok(())
    }

    /// `` `…` ``: the commands are what is left when backslashes before `$`, `` ` `` and `\` are removed, and in
    /// double quotes also those before `"`.
    pub(super) fn backquoted(&mut self, context: Context) -> Result<()> {
        let start = self.cursor.position();
        if self.in_document_operand {
            return self.fail(ErrorCode::DocumentOperand, "");
        }
        self.cursor.advance(1);
        let opener = self.cursor.span_from(start);
        let in_quotes = context == Context::DoubleQuoted;
        let from = self.cursor.position();
        let mut at = from;
        let mut escapes = false;
        loop {
            match self.cursor.byte_at(at) {
                b'`' => break,
                END => {
                    self.cursor.set_position(self.cursor.len());
                    return self.unterminated(ErrorCode::UnterminatedBackquote, opener, "`` ` ``");
                }
                b'\\' => {
                    escapes |= removes_backslash(self.cursor.byte_at(at + 1), in_quotes);
                    at += 2;
                }
                _ => at += 1,
            }
        }
        self.spend(at - from)?;
        if context == Context::InnerQuotes && self.cursor.slice(from, at).contains(&b'\\') {
            return self.fail_from(start, ErrorCode::AmbiguousQuote, "");
        }
        self.enter()?;
        let outer = self.cursor;
        self.cursor = if escapes {
            let (text, map) = self.without_backslashes(from, at, in_quotes);
            Cursor::derived(text, map)
        } else {
            let mut inner = self.cursor.ending_at(at);
            inner.set_position(from);
            inner
        };
        let pending = std::mem::take(&mut self.pending);
        let substitution = std::mem::replace(&mut self.in_substitution, false);
        let extglob = self.extglob;
        let script = self.script_to_end()?;
        self.extglob = extglob;
        self.in_substitution = substitution;
        self.pending = pending;
        self.cursor = outer;
        self.cursor.set_position(at + 1);
        self.leave();
        self.push_substitution(SubstitutionForm::Backquote, script, context, start);
        Ok(())
    }

    /// The text between two positions without the backslashes that quote inside backquotes.
    fn without_backslashes(&self, from: usize, to: usize, in_quotes: bool) -> (&'a [u8], &'a [Segment]) {
        let mut text = BumpVec::with_capacity_in(to - from, self.arena);
        let mut map = BumpVec::new_in(self.arena);
        let mut piece = from;
        let mut at = from;
        while at < to {
            if self.cursor.byte_at(at) != b'\\' {
                at += 1;
                continue;
            }
            let next = self.cursor.byte_at(at + 1);
            if removes_backslash(next, in_quotes) {
                self.cursor.copy_into(piece, at, &mut text, &mut map);
                piece = at + 1 + usize::from(next == b'\n');
            }
            at += 2;
        }
        self.cursor.copy_into(piece, to, &mut text, &mut map);
        (text.into_bump_slice(), map.into_bump_slice())
    }
}

/// Whether a backslash before the character disappears inside backquotes. A newline disappears with it, even where
/// the commands are in single quotes.
fn removes_backslash(next: u8, in_quotes: bool) -> bool {
    matches!(next, b'$' | b'`' | b'\\' | b'\n') || (next == b'"' && in_quotes)
}

/// Whether a script is one pipeline of simple commands, which bash prints faithfully even with here-documents.
fn is_single_pipeline(script: Script<'_>) -> bool {
    match script.items {
        [item] => {
            !item.background
                && item.list.rest.is_empty()
                && item
                    .list
                    .first
                    .stages
                    .iter()
                    .all(|stage| matches!(stage.command.kind, CommandKind::Simple(_)))
        }
        _ => false,
    }
}

impl Span {
    /// Whether the span covers nothing.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }
}
