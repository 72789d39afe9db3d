//! Collects what the parts of one word expand to, splits it into fields, and finds the patterns in it.

use crate::shell::spare::each;
use crate::value::{Field, Origins, Piece, Value};
use bumpalo::Bump;
use shward_syntax::Span;

/// What a word is expanded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum Mode {
    /// Arguments: splitting and globs.
    Fields,
    /// One value: assignments, quoted text, here-documents.
    Single,
    /// A pattern: quoted characters match themselves.
    Pattern,
}

/// The field separators in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum Separators<'a> {
    /// These characters.
    Known(&'a [u8]),
    /// Not known: any unquoted expansion may become any number of fields.
    Unknown,
}

impl Separators<'_> {
    /// Blank, tab, newline.
    pub(in crate::shell) const DEFAULT: Self = Self::Known(b" \t\n");
}

/// What each collected byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Stands for itself; may end a bracket expression.
    Plain,
    /// Quoted: stands for itself.
    Quoted,
    /// An active `*`, `?` or `[`.
    Glob,
    /// Part of an extended pattern, or of a pattern that a value holds.
    Pattern,
    /// Where such a pattern of a value begins: what stands before it is another.
    Begun,
    /// Stands for text that is not known.
    Unknown,
    /// Stands for a decimal number that is not known.
    Number,
    /// Stands for text that is not known, but that nobody wrote to have it evaluated.
    Trusted,
    /// Stands for a word that is not known, without slashes, blanks and pattern characters, and with no dash at its
    /// beginning.
    Word,
    /// The same, or nothing.
    Perhaps,
    /// Stands for the whole path of what the script has just made.
    Made,
}

/// Most bytes and fields for which a builder's memory is kept for the next word.
const KEPT: usize = 64 << 10;

/// Bytes of most words.
const ROOM: usize = 120;

/// From so many bytes on, a word that is one known text refers to it and is no copy of it.
const REFERRED: usize = 256;

/// How far a word has come.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Position {
    fields: usize,
    bytes: usize,
    started: bool,
}

/// Collects one word.
#[derive(Debug)]
pub(in crate::shell) struct Builder<'a> {
    pub(super) arena: &'a Bump,
    mode: Mode,
    separators: Separators<'a>,
    globs: bool,
    extended: bool,
    span: Span,
    pub(super) bytes: Vec<u8>,
    pub(super) kinds: Vec<Kind>,
    /// The lasting text with which the field begins.
    whole: Option<&'a [u8]>,
    /// So many bytes were left out, which the word is charged for all the same.
    left_out: usize,
    /// The current field exists even if it is empty.
    started: bool,
    pub(super) many: bool,
    /// The current field may turn out not to be there, so that what follows joins the one before.
    hanging: bool,
    after_space: bool,
    pub(super) origins: Origins,
    fields: Vec<Field<'a>>,
    /// An element of a list was added.
    listed: bool,
    /// Unquoted literals are split too (the operand of `${x:-a b}`).
    pub(in crate::shell) operand: bool,
    /// The word is one command substitution, and nothing beside it.
    pub(in crate::shell) lone: bool,
}

impl<'a> Builder<'a> {
    /// An empty builder, with room for most words.
    pub(in crate::shell) fn new(arena: &'a Bump) -> Self {
        Self {
            arena,
            mode: Mode::Single,
            separators: Separators::DEFAULT,
            globs: true,
            extended: false,
            span: Span { start: 0, end: 0 },
            bytes: Vec::with_capacity(ROOM),
            kinds: Vec::with_capacity(ROOM),
            whole: None,
            left_out: 0,
            started: false,
            many: false,
            hanging: false,
            after_space: false,
            origins: Origins::NONE,
            fields: Vec::new(),
            listed: false,
            operand: false,
            lone: false,
        }
    }

    /// Makes it ready for a word.
    pub(in crate::shell) fn start(
        &mut self,
        mode: Mode,
        separators: Separators<'a>,
        globs: bool,
        extended: bool,
        span: Span,
    ) {
        self.mode = mode;
        self.separators = separators;
        self.globs = globs;
        self.extended = extended;
        self.span = span;
        self.fields.clear();
        self.left_out = 0;
        self.operand = false;
        self.lone = false;
        self.clear_field();
    }

    fn clear_field(&mut self) {
        self.bytes.clear();
        self.kinds.clear();
        self.whole = None;
        self.started = false;
        self.many = false;
        self.hanging = false;
        self.origins = Origins::NONE;
    }

    /// Whether it has taken so much memory that this should not be kept.
    pub(in crate::shell) const fn is_large(&self) -> bool {
        self.bytes.capacity() > KEPT || self.fields.capacity() > KEPT
    }

    /// What the word is expanded for.
    pub(in crate::shell) const fn mode(&self) -> Mode {
        self.mode
    }

    fn add(&mut self, text: &[u8], kind: Kind) {
        if self.hanging && !text.is_empty() {
            self.hanging = false;
            self.loosen();
        }
        self.bytes.extend_from_slice(text);
        self.kinds.resize(self.bytes.len(), kind);
        if !text.is_empty() {
            self.started = true;
            self.after_space = false;
        }
    }

    /// The current field exists even if nothing is added to it.
    pub(in crate::shell) const fn begin(&mut self) {
        self.started = true;
        self.after_space = false;
    }

    /// Notes where what was added comes from.
    pub(in crate::shell) const fn from(&mut self, origins: Origins) {
        self.origins = self.origins.union(origins);
    }

    /// Quoted text.
    pub(in crate::shell) fn quoted(&mut self, text: &[u8]) {
        self.add(text, Kind::Quoted);
        self.started = true;
        self.from(Origins::LITERAL);
    }

    /// Unquoted literal text of the script.
    pub(in crate::shell) fn literal(&mut self, text: &[u8]) {
        self.from(Origins::LITERAL);
        if self.operand && self.mode == Mode::Fields {
            self.split(text);
        } else {
            self.add(text, if self.mode == Mode::Single { Kind::Quoted } else { Kind::Plain });
        }
    }

    /// An unquoted pattern character of the script.
    pub(in crate::shell) fn glob(&mut self, byte: u8) {
        self.from(Origins::LITERAL);
        let kind = if self.mode == Mode::Single { Kind::Quoted } else { Kind::Glob };
        self.add(&[byte], if self.mode == Mode::Fields && !self.globs { Kind::Plain } else { kind });
    }

    /// An extended pattern of the script, as it is written.
    pub(in crate::shell) fn extended_pattern(&mut self, text: &[u8]) {
        self.from(Origins::LITERAL);
        match self.mode {
            Mode::Single => self.add(text, Kind::Quoted),
            Mode::Pattern => self.add(text, Kind::Plain),
            Mode::Fields => {
                self.add(text, Kind::Pattern);
                self.many = true;
            }
        }
    }

    /// Text that is not known. Unquoted, it may be any number of fields.
    pub(in crate::shell) fn unknown(&mut self, quoted: bool, origins: Origins) {
        self.add(&[0], Kind::Unknown);
        self.from(origins);
        if !quoted && self.mode == Mode::Fields {
            self.many = true;
        }
    }

    /// What a search has printed: names, which are divided at blanks unless they are quoted or kept. Of several that are not
    /// divided the first one tells where they begin, and none of them goes up.
    pub(in crate::shell) fn names(&mut self, quoted: bool) {
        let whole = quoted || self.mode == Mode::Single;
        let alone = self.mode != Mode::Pattern && self.bytes.is_empty() && !self.many;
        let found = alone && (whole || !self.started && self.separators == Separators::DEFAULT);
        self.unknown(quoted, if found { Origins::NAMES.union(Origins::FOUND) } else { Origins::NAMES });
    }

    /// A value of which nothing is known but where it comes from. A part of a name that a search has found leads elsewhere.
    pub(in crate::shell) fn any(&mut self, quoted: bool, origins: Origins) {
        let torn = !quoted && self.mode == Mode::Fields && self.separators != Separators::DEFAULT;
        let torn = torn && origins.contains(Origins::NAMES);
        self.unknown(quoted, if torn { origins.union(Origins::UNKNOWN) } else { origins });
    }

    /// Quoted text that is too long to be kept.
    pub(in crate::shell) fn too_much(&mut self, length: usize, origins: Origins) {
        self.left_out = self.left_out.saturating_add(length);
        self.unknown(true, origins);
    }

    /// How many bytes the current field would have if all text were kept.
    pub(in crate::shell) fn made(&self) -> usize {
        self.bytes.len().saturating_add(self.left_out)
    }

    /// The lasting text that is all of the current field.
    pub(super) fn referred(&self) -> Option<&'a [u8]> {
        self.whole.filter(|text| text.len() == self.bytes.len() && self.left_out == 0)
    }

    /// How many fields are done.
    pub(in crate::shell) fn fields(&self) -> usize {
        self.fields.len()
    }

    /// A decimal number that is not known: one field unless digits separate fields.
    pub(in crate::shell) fn number(&mut self, quoted: bool, origins: Origins) {
        let splits = match self.separators {
            Separators::Known(list) => list.iter().any(|b| b.is_ascii_digit() || *b == b'-'),
            Separators::Unknown => true,
        };
        if splits && !quoted && self.mode == Mode::Fields {
            self.unknown(false, origins);
        } else {
            self.add(&[0], Kind::Number);
            self.from(origins);
        }
    }

    /// A word that is not known, or any number of them: one field unless such words are divided. Not `surely`: it may be
    /// nothing.
    pub(in crate::shell) fn word(&mut self, quoted: bool, origins: Origins, surely: bool, many: bool) {
        if !quoted && self.mode == Mode::Fields {
            if self.separators != Separators::DEFAULT {
                return self.unknown(false, origins);
            }
            self.many |= many;
        }
        self.add(&[0], if surely { Kind::Word } else { Kind::Perhaps });
        self.from(origins);
    }

    /// One word, or nothing.
    pub(in crate::shell) fn perhaps(&mut self, value: &Value<'a>, quoted: bool) {
        self.value(value, quoted);
        self.many |= !quoted && self.mode == Mode::Fields;
    }

    /// The path of what the script has just made; it holds no blanks and no pattern characters.
    pub(in crate::shell) fn fresh(&mut self, quoted: bool, origins: Origins) {
        if !quoted && self.mode == Mode::Fields && self.separators != Separators::DEFAULT {
            return self.unknown(false, origins);
        }
        self.add(&[0], Kind::Made);
        self.from(origins);
    }

    /// One word of any text, or nothing.
    pub(in crate::shell) fn name(&mut self, quoted: bool, origins: Origins) {
        self.unknown(quoted || self.separators == Separators::DEFAULT, origins);
    }

    /// Text of an environment variable that is not known, where it is not split.
    pub(in crate::shell) fn trusted(&mut self, origins: Origins) {
        self.add(&[0], Kind::Trusted);
        self.from(origins);
    }

    /// The value of an expansion.
    pub(in crate::shell) fn value(&mut self, value: &Value<'a>, quoted: bool) {
        self.from(value.origins);
        if quoted {
            self.started = true;
        }
        let divided = !quoted && self.mode == Mode::Fields && self.separators != Separators::DEFAULT;
        if value.origins.contains(Origins::NAMES) && (!self.bytes.is_empty() || divided) {
            // Where a found name lies is known, not how it is told: what stands before it may lead anywhere, and so may a part of it.
            self.unknown(quoted, value.origins.union(Origins::UNKNOWN));
            return;
        }
        if let Some(text) = value.known()
            && self.bytes.is_empty()
            && text.len() >= REFERRED
            && (quoted && self.mode != Mode::Pattern || self.mode == Mode::Single)
        {
            self.whole = Some(text);
        }
        for piece in value.pieces().iter() {
            match piece {
                Piece::Text(text) if quoted => self.add(text, Kind::Quoted),
                Piece::Text(text) => match self.mode {
                    Mode::Fields => self.split(text),
                    Mode::Single => self.add(text, Kind::Quoted),
                    Mode::Pattern => self.active(text),
                },
                Piece::Glob(_) if self.mode == Mode::Pattern => self.unknown(quoted, value.origins),
                Piece::Glob(pattern) => {
                    let (first, rest) = pattern.split_at_checked(1).unwrap_or_default();
                    self.add(first, Kind::Begun);
                    self.add(rest, Kind::Pattern);
                    if !quoted && self.mode == Mode::Fields {
                        self.many = true;
                    }
                }
                Piece::Unknown => self.unknown(quoted, value.origins),
                Piece::Made => self.fresh(quoted, value.origins),
            }
        }
    }

    /// Text of an unquoted expansion in a pattern: its special characters are active.
    fn active(&mut self, text: &[u8]) {
        for byte in text {
            let special = matches!(byte, b'*' | b'?' | b'[');
            self.add(&[*byte], if special { Kind::Glob } else { Kind::Plain });
        }
    }

    /// Unquoted text that is split at the separators and whose pattern characters are active.
    fn split(&mut self, text: &[u8]) {
        let Separators::Known(separators) = self.separators else {
            if !text.is_empty() {
                self.unknown(false, Origins::NONE);
            }
            return;
        };
        if self.extended && text.contains(&b'(') {
            self.unknown(false, Origins::NONE);
            return;
        }
        let globs = self.globs;
        let is_glob = |byte: &u8| globs && matches!(byte, b'*' | b'?' | b'[');
        let mut rest = text;
        loop {
            let length = rest.iter().position(|byte| separators.contains(byte) || is_glob(byte));
            let (plain, after) = rest.split_at_checked(length.unwrap_or(rest.len())).unwrap_or_default();
            if !plain.is_empty() {
                self.add(plain, Kind::Plain);
            }
            let Some((byte, after)) = after.split_first() else { return };
            rest = after;
            if !separators.contains(byte) {
                self.add(&[*byte], Kind::Glob);
            } else if matches!(byte, b' ' | b'\t' | b'\n') {
                if self.started {
                    self.end_field();
                    self.after_space = true;
                }
            } else if self.after_space && !self.started {
                self.after_space = false;
            } else {
                self.end_field();
                self.after_space = false;
            }
        }
    }

    /// The elements of a list (`"$@"`, `${a[@]}`): a field each, the first and last joined to what stands beside them.
    pub(in crate::shell) fn list(&mut self, elements: &[Field<'a>], quoted: bool) {
        if !quoted && self.mode == Mode::Fields && self.divides_list(elements) {
            self.unknown(false, Origins::UNKNOWN);
            return;
        }
        self.listed |= !elements.is_empty();
        // What stands before joins the first element that is there.
        let mut joins = self.started;
        for (index, element) in elements.iter().enumerate() {
            if index > 0 && (quoted || self.started) {
                self.end_field();
            }
            if joins && index > 0 {
                self.unknown(quoted, element.value.origins);
                self.many = true;
            } else {
                self.value(&element.value, quoted);
                self.many |= element.many;
            }
            joins &= element.many;
        }
        self.hanging = elements.len() > 1 && elements.last().is_some_and(|last| last.many);
    }

    /// Whether a list without quotes becomes who knows how many fields: with separators other than blanks, bash divides its
    /// elements, and counts empty ones, by rules that depend on how it has joined them before.
    fn divides_list(&self, elements: &[Field<'a>]) -> bool {
        let Separators::Known(separators) = self.separators else { return !elements.is_empty() };
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
        !separators.iter().all(blank)
            && elements.iter().any(|element| {
                element.value.known().is_none_or(|text| {
                    text.is_empty() || text.iter().any(|byte| separators.contains(byte) || blank(byte))
                })
            })
    }

    /// What follows may join any of the fields before that are surely there, the last one first.
    fn loosen(&mut self) {
        for field in self.fields.iter_mut().rev() {
            let there = !field.many;
            *field = Field { value: Value::unknown(field.value.origins), many: true, ..*field };
            if there {
                break;
            }
        }
    }

    /// Ends the current field, which exists even if it is empty.
    fn end_field(&mut self) {
        let value = self.value_of_field();
        let many = self.many || (value.has_glob() && self.kinds.contains(&Kind::Glob));
        self.fields.push(Field { value, span: self.span, many });
        let origins = self.origins;
        self.clear_field();
        // What follows in this word may come from the same expansion.
        self.origins = origins;
    }

    /// Ends the word and gives its fields.
    pub(in crate::shell) fn finish_fields(&mut self, out: &mut Vec<Field<'a>>) {
        if self.started || self.many {
            self.end_field();
        }
        self.after_space = false;
        if self.fields.len() > KEPT {
            // They do not lie in both places at once.
            out.reserve_exact(self.fields.len());
            each(&mut self.fields, |field| out.push(field));
        } else {
            out.append(&mut self.fields);
        }
    }

    /// Ends the word and gives its one value.
    pub(in crate::shell) fn finish_value(&mut self) -> Value<'a> {
        self.value_of_field()
    }

    /// Whether the word holds text that is not known to be a number.
    pub(in crate::shell) fn has_unknown_text(&self) -> bool {
        self.kinds.iter().any(|kind| {
            !matches!(kind, Kind::Plain | Kind::Quoted | Kind::Glob | Kind::Number | Kind::Trusted)
        })
    }

    /// Whether quoted text beside a list may be divided: bash protects it with characters of its own, and takes these and
    /// what it protects them from for separators.
    pub(in crate::shell) fn divides_quoted(&self) -> bool {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" \t\n:,./;-_+=%@".contains(byte);
        self.mode == Mode::Fields
            && match self.separators {
                Separators::Known(list) => !list.iter().all(plain),
                Separators::Unknown => true,
            }
    }

    /// Where it stands in the word.
    pub(in crate::shell) const fn position(&mut self) -> Position {
        self.listed = false;
        Position { fields: self.fields.len(), bytes: self.bytes.len(), started: self.started }
    }

    /// What was added stays, even if it is nothing.
    pub(in crate::shell) const fn stay(&mut self) {
        self.listed = true;
        self.begin();
    }

    /// If nothing was added since, and no element of a list, then nothing is there because of it.
    pub(in crate::shell) const fn vanish(&mut self, since: &Position) -> bool {
        let vanishes = self.fields.len() == since.fields && self.bytes.len() == since.bytes && !self.listed;
        if vanishes {
            self.started = since.started;
        }
        vanishes
    }

    /// Whether the value is known to be a number, whichever.
    pub(in crate::shell) fn is_number(&self) -> bool {
        matches!(self.kinds.as_slice(), [Kind::Number])
    }

    /// Whether the value is not known, and yet arithmetic may evaluate it.
    pub(in crate::shell) fn is_trusted(&self) -> bool {
        matches!(self.kinds.as_slice(), [Kind::Trusted])
    }

    /// The collected bytes, with a NUL for each number that is not known, for arithmetic.
    pub(in crate::shell) fn arithmetic_text(&self) -> &[u8] {
        &self.bytes
    }

    /// The word as a pattern in which a backslash quotes; `None` if part of it is not known.
    pub(in crate::shell) fn finish_pattern(&mut self) -> Option<&'a [u8]> {
        if self.kinds.iter().any(|kind| !matches!(kind, Kind::Plain | Kind::Quoted | Kind::Glob)) {
            return None;
        }
        if !self.kinds.contains(&Kind::Quoted) {
            return Some(self.arena.alloc_slice_copy(&self.bytes));
        }
        let mut pattern = Vec::with_capacity(self.bytes.len() * 2);
        for (byte, kind) in self.bytes.iter().zip(&self.kinds) {
            if *kind == Kind::Quoted && !byte.is_ascii_alphanumeric() {
                pattern.push(b'\\');
            }
            pattern.push(*byte);
        }
        Some(self.arena.alloc_slice_copy(&pattern))
    }
}
