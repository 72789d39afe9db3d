//! Parameter expansions: `$x`, `${x:-word}`.

use super::{Arithmetic, Word};

/// A parameter expansion.
#[derive(Debug, Clone, Copy)]
pub struct Parameter<'a> {
    /// Which parameter.
    pub name: ParameterName<'a>,
    /// It stands inside double quotes or a here-document.
    pub quoted: bool,
    /// More than its value is meant.
    pub(crate) more: Option<&'a More<'a>>,
}

/// What may be said of a parameter besides its name: most of them are just that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct More<'a> {
    pub(crate) subscript: Option<Subscript<'a>>,
    pub(crate) indirect: bool,
    pub(crate) operation: ParameterOperation<'a>,
}

impl<'a> Parameter<'a> {
    /// The parameter's value and no more.
    #[must_use]
    pub const fn plain(name: ParameterName<'a>, quoted: bool) -> Self {
        Self { name, quoted, more: None }
    }

    /// Whether its value is meant and no more.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.more.is_none()
    }

    /// The text in `[…]`: arithmetic, an associative key, `@` or `*`.
    #[must_use]
    #[inline]
    pub const fn subscript(&self) -> Option<Subscript<'a>> {
        match self.more {
            Some(more) => more.subscript,
            None => None,
        }
    }

    /// `${!name…}`: the value is itself a parameter's name.
    #[must_use]
    #[inline]
    pub const fn indirect(&self) -> bool {
        match self.more {
            Some(more) => more.indirect,
            None => false,
        }
    }

    /// What is done with the value.
    #[must_use]
    #[inline]
    pub const fn operation(&self) -> ParameterOperation<'a> {
        match self.more {
            Some(more) => more.operation,
            None => ParameterOperation::None,
        }
    }
}

/// Which parameter is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterName<'a> {
    /// A variable.
    Variable(&'a [u8]),
    /// `$1` …
    Positional(u32),
    /// `$@`, `$*`, `$#`, `$?`, `$-`, `$$`, `$!`, `$0`, by its character.
    Special(u8),
}

/// An array subscript in an expansion.
#[derive(Debug, Clone, Copy)]
pub enum Subscript<'a> {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Anything else.
    Index(&'a Arithmetic<'a>),
}

/// The operations of parameter expansion (POSIX 2.6.2 and bash's own).
#[derive(Debug, Clone, Copy)]
pub enum ParameterOperation<'a> {
    /// `$x`, `${x}`
    None,
    /// `${#x}`
    Length,
    /// `${x-word}`; `colon`: also when empty.
    Default {
        /** `:-` */
        colon: bool,
        /** What is used instead. */
        word: Word<'a>,
    },
    /// `${x=word}`
    Assign {
        /** `:=` */
        colon: bool,
        /** What is assigned and used. */
        word: Word<'a>,
    },
    /// `${x?word}`
    Error {
        /** `:?` */
        colon: bool,
        /** The message. */
        word: Word<'a>,
    },
    /// `${x+word}`
    Alternative {
        /** `:+` */
        colon: bool,
        /** What is used if set. */
        word: Word<'a>,
    },
    /// `${x#p}`, `${x##p}`
    RemovePrefix {
        /** `##` */
        longest: bool,
        /** The pattern. */
        pattern: Word<'a>,
    },
    /// `${x%p}`, `${x%%p}`
    RemoveSuffix {
        /** `%%` */
        longest: bool,
        /** The pattern. */
        pattern: Word<'a>,
    },
    /// `${x/p/r}`, `${x//p/r}`, `${x/#p/r}`, `${x/%p/r}`
    Replace {
        /// Which matches are replaced.
        which: Replace,
        /// The pattern.
        pattern: &'a Word<'a>,
        /// The replacement; `None` deletes.
        replacement: Option<&'a Word<'a>>,
    },
    /// `${x:offset}`, `${x:offset:length}`
    Substring {
        /// Where it starts.
        offset: &'a Arithmetic<'a>,
        /// How much.
        length: Option<&'a Arithmetic<'a>>,
    },
    /// `${x^p}`, `${x^^p}`, `${x,p}`, `${x,,p}`, `${x~p}`, `${x~~p}`
    Case {
        /// `^`, `,` or `~`.
        operator: u8,
        /// Doubled: every character.
        all: bool,
        /// Which characters; no parts means any.
        pattern: Word<'a>,
    },
    /// `${x@Q}` and its kin, by the letter.
    Transform(u8),
    /// `${(%):-%x}` of zsh, `${.sh.file}` of ksh: the path of the script that is read. Others refuse it when they come to it; the
    /// name is all that stands between the braces.
    ScriptPath,
    /// `${!prefix@}`, `${!prefix*}`; `separate` for `@`.
    Names {
        /** `@` */
        separate: bool,
    },
    /// `${!array[@]}`, `${!array[*]}`.
    Keys {
        /** `@` */
        separate: bool,
    },
}

/// Which matches `${x/…}` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// `/`: the first.
    First,
    /// `//`: all.
    All,
    /// `/#`: at the beginning.
    Prefix,
    /// `/%`: at the end.
    Suffix,
}
