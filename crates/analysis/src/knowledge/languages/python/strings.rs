//! Text that is computed from text: followed as far as it is certain.

use super::Reader;
use super::arguments::Arguments;
use super::value::{Object, Val, any_of, join};
use crate::knowledge::values;
use crate::value::{Origins, Piece, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use std::borrow::Cow;

/// The longest text that is computed.
const MAX_COMPUTED: usize = 64 << 10;

/// A string as a path object, and each of several.
pub(super) fn as_path<'a>(arena: &'a Bump, val: Val<'a>) -> Val<'a> {
    match val {
        Val::Text(value) => Val::Path(value),
        Val::OneOf(vals) => any_of(arena, vals.iter().map(|each| as_path(arena, *each))).unwrap_or(val),
        other => other,
    }
}

/// Whether known text in a value begins or ends with blanks.
fn has_blanks_outside(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Text(text) if text.trim_ascii().len() != text.len())
}

/// Whether known text in a value has fields to be filled in.
fn has_fields(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Text(text) if text.contains(&b'{'))
}

/// A value whose known text is in capitals, or has none.
fn in_case<'a>(arena: &'a Bump, value: &Value<'a>, upper: bool) -> Value<'a> {
    let change = |text: &[u8]| if upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() };
    let changed = |piece: &Piece<'a>| match piece {
        Piece::Text(text) => Piece::Text(arena.alloc_slice_copy(&change(text))),
        other => *other,
    };
    let pieces: Vec<Piece<'a>> = value.pieces().iter().map(changed).collect();
    Value::of(arena, &pieces, value.origins)
}

/// Whether it is a number, whatever it is.
fn counts(val: &Val<'_>) -> bool {
    val.alternatives().iter().all(|val| matches!(val, Val::Number(_) | Val::Count))
}

impl<'a> Reader<'_, '_, 'a> {
    pub(super) fn known_text(&self, bytes: &[u8], origins: Origins) -> Val<'a> {
        let arena = self.report.arena;
        Val::Text(Value::text(arena.alloc_slice_copy(bytes), origins))
    }

    /// `a op b`
    pub(super) fn operate(&mut self, a: &Val<'a>, sign: u8, b: &Val<'a>) -> Val<'a> {
        let is_set_id =
            |val: &Val<'_>| matches!(val, Val::Number(mode) if *mode <= 0o7777 && mode & 0o6000 != 0);
        if sign == b'|' && (is_set_id(a) || is_set_id(b)) {
            self.set_id = Some(true);
        }
        for each in [a, b] {
            if each.acts() && !matches!(each, Val::Many(_)) {
                self.escape(each);
            }
        }
        let arena = self.report.arena;
        if let (Val::OneOf(vals), Val::Text(_) | Val::Path(_) | Val::Many(_) | Val::Data | Val::Number(_)) =
            (a, b)
        {
            let each = vals.iter().filter(|v| !matches!(v, Val::OneOf(_)));
            return any_of(arena, each.map(|v| self.operate_text(v, sign, b))).unwrap_or(Val::Data);
        }
        if let (Val::Text(_) | Val::Path(_) | Val::Many(_), Val::OneOf(vals)) = (a, b)
            && sign != b'%'
        {
            let each = vals.iter().filter(|v| !matches!(v, Val::OneOf(_)));
            return any_of(arena, each.map(|v| self.operate_text(a, sign, v))).unwrap_or(Val::Data);
        }
        self.operate_text(a, sign, b)
    }

    /// Whether the program puts such a bit to a number, or calls one by its name: a mode that is not known may hold it.
    pub(super) fn knows_set_id(&mut self) -> bool {
        if let Some(known) = self.set_id {
            return known;
        }
        let named = self.symbols.any(&[b"S_ISUID", b"S_ISGID"]);
        self.set_id = Some(named);
        named
    }

    fn operate_text(&mut self, a: &Val<'a>, sign: u8, b: &Val<'a>) -> Val<'a> {
        let arena = self.report.arena;
        match (sign, a, b) {
            (b'+', Val::Text(x), Val::Text(y)) => Val::Text(self.report.joined(&[*x, *y])),
            (_, Val::Never, _) | (_, _, Val::Never) => Val::Never,
            (b'+', Val::Text(x), Val::Number(_) | Val::Count) => {
                Val::Text(self.report.joined(&[*x, self.formatted_value(b)]))
            }
            (b'+', Val::Number(_) | Val::Count, Val::Text(y)) => {
                Val::Text(self.report.joined(&[self.formatted_value(a), *y]))
            }
            (_, Val::Number(_) | Val::Count, Val::Number(_) | Val::Count) => Val::Count,
            (b'+', Val::Text(x), _) => Val::Text(self.report.joined(&[*x, Value::unknown(self.origins(b))])),
            (b'+', _, Val::Text(y)) => Val::Text(self.report.joined(&[Value::unknown(self.origins(a)), *y])),
            (b'+', Val::Many(_), _) | (b'+', _, Val::Many(_)) | (b'|', Val::Many(_), Val::Many(_)) => {
                self.concatenated(a, b)
            }
            (b'*', Val::Many(_), times) | (b'*', times, Val::Many(_)) => {
                self.repeated(if matches!(a, Val::Many(_)) { a } else { b }, times)
            }
            (b'|' | b'&' | b'^' | b'-', Val::Many(_), _) | (b'|' | b'&' | b'^' | b'-', _, Val::Many(_)) => {
                let both = join(arena, self.elements(a), self.elements(b));
                self.bag(self.at, arena.alloc_slice_copy(&[both]))
            }
            (b'%', Val::Text(template), _) => self.percent(template, b),
            (b'/', Val::Text(x) | Val::Path(x), Val::Text(y) | Val::Path(y)) => {
                Val::Path(self.without_dot(&self.path_join(&[*x, *y])))
            }
            (b'/', Val::Text(x) | Val::Path(x), _) => {
                let y = self.formatted_value(b);
                Val::Path(self.without_dot(&self.path_join(&[*x, y])))
            }
            (b'/', Val::Data, Val::Text(y) | Val::Path(y)) => {
                Val::Path(self.path_join(&[Value::unknown(Origins::UNKNOWN), *y]))
            }
            (b'*', Val::Text(x), _) => Val::Text(Value::unknown(x.origins)),
            (_, Val::Foreign, _) | (_, _, Val::Foreign) => Val::Foreign,
            _ => Val::Data,
        }
    }

    /// `old += val`, any number of times.
    pub(super) fn grown(&mut self, old: &Val<'a>, val: &Val<'a>) -> Val<'a> {
        if val.acts() && !matches!(val, Val::Many(_)) {
            self.escape(val);
        }
        match old {
            Val::Text(text) => {
                let origins = text.origins | self.origins(val).without(Origins::UNKNOWN);
                Val::Text(self.report.joined(&[*text, Value::unknown(origins)]))
            }
            Val::Many(_) => *old,
            // However often it happens.
            _ if counts(old) && counts(val) => Val::Count,
            Val::OneOf(vals) => {
                let many = vals.iter().filter(|val| matches!(val, Val::Many(_))).copied();
                any_of(self.report.arena, many.chain([Val::Data])).unwrap_or(Val::Data)
            }
            _ => Val::Data,
        }
    }

    /// A value in an f-string.
    pub(super) fn formatted_value(&self, val: &Val<'a>) -> Value<'a> {
        match val {
            Val::Text(value) | Val::Path(value) => *value,
            Val::Number(number) => {
                let text = decimal(self.report.arena, *number);
                self.report.literal(text)
            }
            val if counts(val) => self.number(),
            other => Value::unknown(self.origins(other)),
        }
    }

    /// The text of a number that is not known: some name without a slash.
    pub(super) fn number(&self) -> Value<'a> {
        Value::of(self.report.arena, &[Piece::MADE_UP], self.report.text.origins)
    }

    /// What a value with a format specification may become.
    pub(super) fn specified(&self, val: &Val<'a>, specification: &[Value<'a>]) -> Value<'a> {
        let known: Option<Vec<&[u8]>> = specification.iter().map(Value::known).collect();
        let Some(text) = known.map(|parts| parts.concat()).filter(|_| counts(val)) else {
            return Value::unknown(self.origins(val));
        };
        // A moment takes any text for a format. A number has a precision behind its dot, and a per cent sign at the end.
        let is_of_number = |(at, byte): (usize, &u8)| match byte {
            b'.' => text.get(at + 1).is_some_and(u8::is_ascii_digit),
            b'%' => at + 1 == text.len(),
            byte => b"0123456789,_dnxXobfFeEgG".contains(byte),
        };
        if text.iter().enumerate().all(is_of_number) || super::moments::is_date_format(&text) {
            return self.number();
        }
        Value::unknown(self.origins(val))
    }

    /// `template % values`
    fn percent(&mut self, template: &Value<'a>, val: &Val<'a>) -> Val<'a> {
        let Some(text) = template.known() else { return Val::Text(Value::unknown(template.origins)) };
        let values: Vec<Value<'a>> = match val {
            Val::Many(items) if !items.pairs => match self.all_of(items) {
                Some(vals) => vals.iter().map(|v| self.formatted_value(v)).collect(),
                None => Vec::new(),
            },
            Val::OneOf(vals) if vals.iter().any(|v| matches!(v, Val::Many(_))) => Vec::new(),
            other => vec![self.formatted_value(other)],
        };
        let mut values = values.into_iter();
        let mut parts: BumpVec<'a, Value<'a>> = BumpVec::new_in(self.report.arena);
        let mut rest = text;
        while let Some(at) = rest.iter().position(|b| *b == b'%') {
            let (before, after) = rest.split_at(at);
            parts.push(self.report.literal(before));
            match after {
                [b'%', b'%', more @ ..] => {
                    parts.push(self.report.literal(b"%"));
                    rest = more;
                }
                [b'%', b's', more @ ..] => {
                    parts.push(values.next().unwrap_or(Value::unknown(Origins::UNKNOWN)));
                    rest = more;
                }
                _ => {
                    values.next();
                    // `%03d` is a number whatever it is given.
                    let width = after.iter().skip(1).take_while(|b| b".0123456789".contains(b)).count();
                    let numeric = matches!(after.get(width + 1), Some(b'd' | b'i' | b'x' | b'f' | b'u'));
                    parts.push(if numeric { self.number() } else { Value::unknown(template.origins) });
                    let end = after
                        .iter()
                        .skip(1)
                        .position(|b| b.is_ascii_alphabetic() && !matches!(b, b'l' | b'h'));
                    // `%(name)s`: the name's own letters do not end it.
                    let end =
                        match after.iter().position(|b| *b == b')').filter(|_| after.get(1) == Some(&b'(')) {
                            Some(close) => after
                                .iter()
                                .skip(close)
                                .position(|b| b.is_ascii_alphabetic())
                                .map(|n| n + close),
                            None => end.map(|n| n + 1),
                        };
                    rest = end.and_then(|n| after.get(n + 1..)).unwrap_or_default();
                }
            }
        }
        parts.push(self.report.literal(rest));
        Val::Text(self.report.joined(&parts))
    }

    /// A part of something: `val[index]`, `val[from:to:step]`.
    pub(super) fn item(
        &mut self,
        val: &Val<'a>,
        index: &Val<'a>,
        slice: Option<[Option<i64>; 3]>,
        commas: bool,
    ) -> Val<'a> {
        // A slice has none.
        self.last_index = if slice.is_some() { Val::Never } else { *index };
        match val {
            Val::Text(value) => match (value.known(), slice) {
                (Some(text), Some(slice)) => match cut(text, slice).filter(|_| text.is_ascii()) {
                    Some(Cow::Borrowed(part)) => Val::Text(Value::text(part, value.origins)),
                    Some(Cow::Owned(part)) => self.known_text(&part, value.origins),
                    None => Val::Text(Value::unknown(value.origins | Origins::DECODED)),
                },
                _ => Val::Text(Value::unknown(value.origins)),
            },
            Val::Many(items) if !commas => {
                if let Some(slice) = slice {
                    return self.slice_of(items, slice);
                }
                if items.pairs
                    && let Some(vals) = self.all_of(items)
                    && let Some(key) = index.known()
                {
                    self.goes_through(vals.len());
                    let found = vals.chunks_exact(2).rev().find_map(|pair| match pair {
                        [k, v] if k.known() == Some(key) => Some(*v),
                        _ => None,
                    });
                    let all_known = vals.iter().step_by(2).all(|k| k.known().is_some());
                    if let Some(found) = found.filter(|_| all_known) {
                        return found;
                    }
                }
                if !items.pairs
                    && let Val::Number(n) = index
                    && let Some(one) = self.first_of(items).0.get(*n as usize)
                {
                    return *one;
                }
                self.elements(val)
            }
            Val::Many(_) => self.any_of_these(val),
            Val::OneOf(vals) => {
                let each = vals.iter().filter(|v| !matches!(v, Val::OneOf(_)));
                let arena = self.report.arena;
                any_of(arena, each.map(|v| self.item(v, index, slice, commas))).unwrap_or(Val::Data)
            }
            Val::Object(Object::Environment) => self.variable(Some(index)),
            Val::Object(Object::Modules) => match index.known() {
                Some(name) => self.module(name),
                None => {
                    self.lose();
                    Val::Data
                }
            },
            Val::Object(Object::Arguments) => match index {
                _ if slice.is_some() => {
                    let given = self.arguments.iter().map(|field| Val::Text(field.value));
                    let given: Vec<_> = given.collect();
                    // From the first on: the name of the program stands before it.
                    let vals = match (slice, given.is_empty()) {
                        (Some([Some(1), None, None]), false) if self.keeps_arguments => {
                            self.report.arena.alloc_slice_copy(&given)
                        }
                        _ => self.report.arena.alloc_slice_copy(&[self.elements(val)]),
                    };
                    self.bag(self.at, vals)
                }
                Val::Number(n) if *n > 0 => match self.arguments.get(*n as usize - 1) {
                    Some(field) if self.arguments.iter().take(*n as usize).all(|f| !f.many) => {
                        Val::Text(field.value)
                    }
                    _ => Val::Data,
                },
                _ => Val::Data,
            },
            Val::Act(act) if act.is_inert() => *val,
            Val::Object(Object::Client) | Val::Foreign | Val::Lost | Val::Local(_) => *val,
            Val::Module(_) | Val::Act(_) => {
                self.escape(val);
                Val::Data
            }
            _ => Val::Data,
        }
    }

    /// `val[index] = new`
    pub(super) fn store_item(&mut self, container: &Val<'a>, new: &Val<'a>) {
        match container {
            Val::Object(Object::Environment) => {
                let name = self.last_index;
                self.set_variable_to(&name, new);
            }
            Val::Many(_) | Val::OneOf(_) => {
                // A slice gets what the new value holds.
                let index = self.last_index;
                if matches!(index, Val::Never) && self.holds_no_more(container, new) {
                    return self.scramble(container);
                }
                if self.holds_environment(container) {
                    self.set_variable_to(&index, new);
                }
                self.mutate(container, &[*new, index]);
            }
            Val::Object(Object::SearchPath) => self.search_path(new),
            _ => {
                self.change_leaked();
                self.escape(new);
            }
        }
    }

    /// A method of a string.
    pub(super) fn text_method(
        &mut self,
        value: &Value<'a>,
        name: &[u8],
        arguments: &Arguments<'a>,
    ) -> Val<'a> {
        let first = arguments.positional.first().copied();
        let origins = value.origins;
        let unknown = Val::Text(Value::unknown(origins));
        let Some(text) = value.known() else {
            return match name {
                b"encode" | b"decode" => Val::Text(*value),
                // A part of the name of what was just made names something else.
                b"strip" | b"lstrip" | b"rstrip"
                    if first.is_none() && !value.pieces().iter().any(has_blanks_outside) =>
                {
                    Val::Text(value.forgotten(self.report.arena))
                }
                b"format" if !value.pieces().iter().any(has_fields) => {
                    Val::Text(value.forgotten(self.report.arena))
                }
                b"lower" | b"casefold" | b"upper" => {
                    let value = value.forgotten(self.report.arena);
                    Val::Text(in_case(self.report.arena, &value, name == b"upper"))
                }
                // What it was before may still be seen in what it is then.
                b"strip" | b"lstrip" | b"rstrip" | b"format" => {
                    join(self.report.arena, Val::Text(value.forgotten(self.report.arena)), unknown)
                }
                b"replace" | b"join" | b"removeprefix" | b"removesuffix" | b"read" | b"readline" => unknown,
                _ => Val::Data,
            };
        };
        match name {
            b"join" => match first {
                Some(Val::Many(items)) if !items.pairs && self.all_of(items).is_some() => {
                    let separator = Value::text(text, origins);
                    let mut parts = Vec::with_capacity(2 * items.vals.len());
                    for (index, item) in items.vals.iter().enumerate() {
                        if index > 0 {
                            parts.push(separator);
                        }
                        parts.push(item.value().unwrap_or(Value::unknown(self.origins(item))));
                    }
                    match parts.iter().all(|p| p.known().is_some()) {
                        true => Val::Text(self.report.joined(&parts)),
                        false => Val::Text(Value::unknown(self.made_of(&parts))),
                    }
                }
                Some(Val::Text(other)) if other.known() == Some(b"") => Val::Text(*value),
                Some(val) => {
                    let origins = self.origins(&self.elements(&val));
                    Val::Text(Value::unknown(origins))
                }
                None => unknown,
            },
            b"encode" | b"decode" => match first.map(|v| v.known()) {
                None => Val::Text(*value),
                Some(Some(name)) if is_plain_encoding(name) => Val::Text(*value),
                _ => self.decoded(),
            },
            b"format" => {
                let known = !text.contains(&b'{');
                if known { Val::Text(*value) } else { self.template(text, arguments) }
            }
            b"replace" => {
                match (first.and_then(|v| v.known()), arguments.positional.get(1).and_then(|v| v.known())) {
                    (Some(from), Some(to)) if !from.is_empty() => match replaced(text, from, to) {
                        Some(new) => self.known_text(&new, origins),
                        None => unknown,
                    },
                    _ => unknown,
                }
            }
            b"strip" if first.is_none() => self.known_text(text.trim_ascii(), origins),
            b"lstrip" if first.is_none() => self.known_text(text.trim_ascii_start(), origins),
            b"rstrip" if first.is_none() => self.known_text(text.trim_ascii_end(), origins),
            b"lower" | b"casefold" => self.known_text(&text.to_ascii_lowercase(), origins),
            b"upper" => self.known_text(&text.to_ascii_uppercase(), origins),
            b"strip" | b"lstrip" | b"rstrip" | b"removeprefix" | b"removesuffix" => unknown,
            b"split" | b"rsplit" | b"splitlines" => {
                let separator = first.map(|v| v.known());
                let parts: Option<Vec<&'a [u8]>> = match separator {
                    None if name == b"splitlines" => Some(text.split(|b| *b == b'\n').collect()),
                    None => Some(values::words(text).collect()),
                    Some(Some(&[one])) if arguments.positional.len() == 1 => {
                        Some(text.split(|b| *b == one).collect())
                    }
                    _ => None,
                };
                match parts.filter(|p| p.len() <= 64) {
                    Some(parts) => {
                        let arena = self.report.arena;
                        let vals = parts.iter().map(|p| Val::Text(Value::text(p, origins)));
                        let vals = BumpVec::from_iter_in(vals, arena).into_bump_slice();
                        self.container(self.at, false, vals)
                    }
                    None => Val::Data,
                }
            }
            b"swapcase" | b"translate" | b"title" | b"capitalize" | b"zfill" | b"ljust" | b"rjust"
            | b"center" | b"expandtabs" | b"format_map" => {
                Val::Text(Value::unknown(origins | Origins::DECODED))
            }
            _ => Val::Data,
        }
    }

    fn made_of(&self, parts: &[Value<'a>]) -> Origins {
        parts.iter().map(|p| p.origins).fold(Origins::NONE, Origins::union)
    }

    /// `template.format(…)`: fields are not known unless they are plain and given.
    fn template(&mut self, text: &'a [u8], arguments: &Arguments<'a>) -> Val<'a> {
        let mut parts: BumpVec<'a, Value<'a>> = BumpVec::new_in(self.report.arena);
        let mut next = 0usize;
        let mut rest = text;
        while let Some(at) = rest.iter().position(|b| matches!(b, b'{' | b'}')) {
            let (before, after) = rest.split_at(at);
            parts.push(self.report.literal(before));
            match after {
                [b'{', b'{', more @ ..] | [b'}', b'}', more @ ..] => {
                    parts.push(self.report.literal(after.get(..1).unwrap_or_default()));
                    rest = more;
                }
                [b'{', more @ ..] => {
                    let Some(end) = more.iter().position(|b| *b == b'}') else { return Val::Data };
                    let field = more.get(..end).unwrap_or_default();
                    let val = match field {
                        b"" => {
                            next += 1;
                            arguments.positional.get(next - 1).copied()
                        }
                        [digit @ b'0'..=b'9'] => arguments.positional.get(usize::from(digit - b'0')).copied(),
                        // Attributes lead to whatever the value can reach.
                        name if name.windows(2).any(|two| two == b"__") => {
                            self.lose();
                            None
                        }
                        name => arguments.named.iter().find(|(n, _)| *n == name).map(|(_, v)| *v),
                    };
                    parts.push(val.map_or(Value::unknown(Origins::UNKNOWN), |v| self.formatted_value(&v)));
                    rest = more.get(end + 1..).unwrap_or_default();
                }
                _ => return Val::Data,
            }
        }
        parts.push(self.report.literal(rest));
        Val::Text(self.report.joined(&parts))
    }
}

pub(super) fn is_plain_encoding(name: &[u8]) -> bool {
    [
        &b"utf-8"[..],
        b"utf8",
        b"ascii",
        b"latin-1",
        b"latin1",
        b"utf-8-sig",
        b"iso-8859-1",
        b"cp1252",
        b"ignore",
    ]
    .iter()
    .any(|known| name.eq_ignore_ascii_case(known))
}

/// `all[from:to:step]`
pub(super) fn cut<T: Copy>(text: &[T], slice: [Option<i64>; 3]) -> Option<Cow<'_, [T]>> {
    if slice.contains(&Some(i64::MAX)) {
        return None;
    }
    let length = i64::try_from(text.len()).ok()?;
    let [from, to, step] = slice;
    let place = |n: i64| if n < 0 { (n + length).max(0) } else { n.min(length) };
    match step.unwrap_or(1) {
        0 => None,
        step if step > 0 => {
            let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(length)));
            let range = text.get(usize::try_from(from).ok()?..usize::try_from(to.max(from)).ok()?)?;
            Some(match usize::try_from(step).ok()? {
                1 => Cow::Borrowed(range),
                step => Cow::Owned(range.iter().step_by(step).copied().collect()),
            })
        }
        step if from.is_none() && to.is_none() => {
            let step = usize::try_from(-step).ok()?;
            Some(Cow::Owned(text.iter().rev().step_by(step).copied().collect()))
        }
        _ => None,
    }
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(from) {
            Some(after) => {
                out.extend_from_slice(to);
                rest = after;
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
        if out.len() > MAX_COMPUTED {
            return None;
        }
    }
    Some(out)
}

/// The digits of a number.
pub(super) fn decimal(arena: &Bump, mut number: u32) -> &[u8] {
    let length = number.checked_ilog10().map_or(1, |log| log as usize + 1);
    let digits = arena.alloc_slice_fill_copy(length, b'0');
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    digits
}
