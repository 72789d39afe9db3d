//! The arguments of calls.

use super::Reader;
use super::tokens::Token;
use super::value::Val;
use bumpalo::collections::Vec as BumpVec;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    pub(super) positional: BumpVec<'a, Val<'a>>,
    pub(super) named: BumpVec<'a, (&'a [u8], Val<'a>)>,
    /// There may be others that are not known.
    pub(super) open: bool,
    /// What follows stands at a position that is not known.
    shifted: bool,
}

impl<'a> Arguments<'a> {
    /// The argument at a position, or of a name.
    pub(super) fn get(&self, at: usize, names: &[&str]) -> Option<Val<'a>> {
        self.positional.get(at).copied().or_else(|| self.named(names))
    }

    /// The argument of one of these names.
    pub(super) fn named(&self, names: &[&str]) -> Option<Val<'a>> {
        let found = self.named.iter().find(|(name, _)| names.iter().any(|n| n.as_bytes() == *name));
        found.map(|(_, val)| *val)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Val<'a>> {
        self.positional.iter().chain(self.named.iter().map(|(_, val)| val))
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// Takes arguments back that nobody asks for any more: their lists serve the next call.
    pub(super) fn done_with(&mut self, mut arguments: Arguments<'a>) {
        arguments.positional.clear();
        arguments.named.clear();
        self.spare.arguments.push(arguments);
    }

    /// No arguments that are known.
    pub(super) fn no_arguments(&self, open: bool) -> Arguments<'a> {
        let arena = self.report.arena;
        Arguments {
            positional: BumpVec::with_capacity_in(4, arena),
            named: BumpVec::new_in(arena),
            open,
            shifted: false,
        }
    }

    /// The arguments of a call; stands at the parenthesis. `shown`: nobody will ask what the text of an f-string is.
    pub(super) fn arguments(&mut self, close: u32, clause: u32, shown: bool) -> Option<Arguments<'a>> {
        let mut arguments = match self.spare.arguments.pop() {
            Some(spare) => Arguments { open: false, shifted: false, ..spare },
            None => self.no_arguments(false),
        };
        let start = self.at;
        let done = self.deeper(|reader| {
            if clause != 0 {
                let val = reader.comprehension(start, close, clause)?;
                arguments.positional.push(val);
                return Some(());
            }
            reader.at += 1;
            while reader.at < close as usize {
                if reader.take(Token::Operator(b'*')) {
                    let val = reader.expression()?;
                    reader.spread(&val, &mut arguments);
                } else if reader.take(Token::Operator(b'D')) {
                    let val = reader.expression()?;
                    reader.spread_named(&val, &mut arguments);
                } else if let (Token::Name(name), Token::Assign) = (reader.peek(), reader.peek_at(1)) {
                    reader.at += 2;
                    let val = reader.expression()?;
                    arguments.named.push((reader.name(name), val));
                } else if shown
                    && !arguments.shifted
                    && let Some(read) = reader.only_shown()
                {
                    read?;
                    reader.push_argument(&Val::Data, &mut arguments);
                } else {
                    let val = reader.expression()?;
                    reader.push_argument(&val, &mut arguments);
                }
                if !reader.take(Token::Comma) {
                    break;
                }
            }
            (reader.at == close as usize).then_some(())
        });
        done?;
        self.at = close as usize + 1;
        Some(arguments)
    }

    /// A positional argument. One that stands anywhere counts as used in every way.
    fn push_argument(&mut self, val: &Val<'a>, arguments: &mut Arguments<'a>) {
        if arguments.shifted {
            self.escape(val);
        } else {
            arguments.positional.push(*val);
        }
    }

    /// `*values`.
    fn spread(&mut self, val: &Val<'a>, arguments: &mut Arguments<'a>) {
        let mut more = true;
        if let Val::Many(items) = val
            && !items.pairs
        {
            let (sure, others) = self.first_of(items);
            sure.iter().for_each(|one| self.push_argument(one, arguments));
            more = others;
        }
        if more {
            let one = self.elements(val);
            if one.acts() {
                self.escape(&one);
            }
            (arguments.open, arguments.shifted) = (true, true);
        }
    }

    /// `**names`.
    fn spread_named(&mut self, val: &Val<'a>, arguments: &mut Arguments<'a>) {
        if let Val::Many(items) = val
            && items.pairs
            && let Some(vals) = self.all_of(items)
            && vals.iter().step_by(2).all(|key| key.known().is_some())
        {
            for pair in vals.chunks_exact(2) {
                if let [key, val] = pair
                    && let Some(name) = key.known()
                {
                    // Of several pairs with one key the last counts.
                    arguments.named.retain(|(known, _)| *known != name);
                    arguments.named.push((name, *val));
                }
            }
            return;
        }
        let one = self.elements(val);
        if one.acts() {
            self.escape(&one);
        }
        arguments.open = true;
    }
}
