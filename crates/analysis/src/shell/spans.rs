//! How spans of text that is run lead back to the command that was asked about.

use shward_syntax::Span;

/// How spans of the text being run map to the command that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spans {
    /// The text is the command, or stands in it from this offset on.
    Shifted(u32),
    /// The text was made up: all of it is this part of the command.
    Fixed(Span),
}

impl Spans {
    /// The span in terms of the command that was asked about.
    pub(super) const fn map(self, span: Span) -> Span {
        match self {
            Self::Shifted(by) => Span::new(span.start.saturating_add(by), span.end.saturating_add(by)),
            Self::Fixed(outer) => outer,
        }
    }

    /// The map for text that the part of `source` at `span` carries: the text itself, or the text in quotes.
    pub(super) fn of(text: &[u8], source: &[u8], span: Span) -> Self {
        let carrier = source.get(span.start as usize..span.end as usize).unwrap_or_default();
        if text.is_empty() {
            return Self::Fixed(span);
        }
        if carrier == text {
            return Self::Shifted(span.start);
        }
        match carrier {
            [b'\'' | b'"', inner @ .., b'\'' | b'"'] if inner == text => {
                Self::Shifted(span.start.saturating_add(1))
            }
            _ => Self::Fixed(span),
        }
    }
}
