//! Why a text was refused.
//!
//! Codes, messages and hints are one table, so that documentation and tests can list them.

use crate::Span;
use std::fmt;

/// A refusal: what is wrong, where, what was expected, and how to write it safely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    /// The stable code.
    pub code: ErrorCode,
    /// Where reading stopped.
    pub span: Span,
    /// The token that opened what is not closed.
    pub opener: Option<Span>,
    /// How many bytes of whole lines stand before the command with the error. bash reads and runs a text line by line, and has
    /// run these by then. What is in them can be read.
    pub before: u32,
    /// What was expected there; for [`ErrorCode::NotPosix`], what to write instead.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.code.message(), self.span.start)?;
        if let Some(opener) = self.opener {
            write!(f, " (opened at byte {})", opener.start)?;
        }
        if !self.expected.is_empty() {
            write!(f, ": expected {}", self.expected)?;
        }
        if !self.code.hint().is_empty() {
            write!(f, "; {}", self.code.hint())?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $id:literal $message:literal $hint:literal;)*) => {
        /// The reasons for a refusal.
        ///
        /// The first group are syntax errors, which the shell reports too; the second are texts whose meaning
        /// depends on accidents of the shell's implementation and that can always be written unambiguously.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable identifier, in kebab case.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// What is wrong, without the place.
            #[must_use]
            pub fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }

            /// What to write instead; empty when the message says it all.
            #[must_use]
            pub fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint,)* }
            }
        }

        impl fmt::Display for ErrorCode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

codes! {
    /// Longer than `Options::max_len`.
    TooLong "too-long" "the text is too long" "split it into several commands or a script file";
    /// Nested deeper than `Options::max_depth`.
    TooDeep "too-deep" "the nesting is too deep" "use a function or a variable for the inner part";
    /// Reading it would take more than linear time.
    TooComplex "too-complex" "the text is too complex to read in linear time" "simplify it or split it";
    /// More commands are joined by `&&`, `||` or `|` than are kept at once.
    TooMany "too-many" "too many commands are joined to one" "put them on lines of their own, or in a loop";
    /// A NUL, 0x01 or 0x7f byte, which bash uses internally.
    ControlByte "control-byte" "a control byte that the shell uses internally"
        "produce it with printf, for example printf '\\001'";
    /// A token that cannot stand here.
    UnexpectedToken "unexpected-token" "unexpected token" "";
    /// The text ends too early.
    UnexpectedEnd "unexpected-end" "unexpected end of the text" "";
    /// A reserved word that cannot stand here.
    UnexpectedReservedWord "unexpected-reserved-word" "unexpected reserved word"
        "quote it if an ordinary word is meant";
    /// A list of commands that must not be empty is.
    EmptyList "empty-list" "a list of commands is empty" "write : for a command that does nothing";
    /// A redirection without a target.
    MissingTarget "missing-target" "a redirection lacks its target" "";
    /// A single quote is not closed.
    UnterminatedSingleQuote "unterminated-single-quote" "a single quote is not closed" "";
    /// A double quote is not closed.
    UnterminatedDoubleQuote "unterminated-double-quote" "a double quote is not closed" "";
    /// A backquote is not closed.
    UnterminatedBackquote "unterminated-backquote" "a backquote is not closed" "";
    /// `$(`, `<(` or `>(` is not closed.
    UnterminatedSubstitution "unterminated-substitution" "a substitution is not closed" "";
    /// `${` is not closed.
    UnterminatedParameter "unterminated-parameter" "a parameter expansion is not closed" "";
    /// `((`, `$((`, `$[` or a subscript is not closed.
    UnterminatedArithmetic "unterminated-arithmetic" "an arithmetic expression is not closed" "";
    /// An extended pattern or a group in a regular expression is not closed.
    UnterminatedPattern "unterminated-pattern" "a parenthesis in a pattern is not closed" "";
    /// A compound assignment is not closed.
    UnterminatedArray "unterminated-array" "a compound assignment is not closed" "";
    /// A compound command is not closed.
    UnterminatedCommand "unterminated-command" "a compound command is not closed" "";
    /// `${…}` that is no parameter expansion.
    BadSubstitution "bad-substitution" "not a parameter expansion" "quote the dollar sign if literal text is meant";
    /// An escape in `$'…'` whose value depends on the shell's version.
    BadEscape "bad-escape" "an escape in $'…' whose value is not certain" "write the character itself or another escape";
    /// `for` or `select` with something that is no variable name.
    BadLoopName "bad-loop-name" "not a variable name" "";
    /// A function name that the shell refuses when it runs.
    BadFunctionName "bad-function-name" "not a function name" "use letters, digits and underscores, unquoted";
    /// A function whose body is not a compound command.
    BadFunctionBody "bad-function-body" "a function's body must be a compound command" "put it in braces";
    /// A coprocess with something that is no name or no command.
    BadCoprocess "bad-coprocess" "not a coprocess" "write coproc NAME { command; }";
    /// An error in `[[ … ]]`.
    BadConditional "bad-conditional" "not a conditional expression" "";
    /// `for ((` without exactly three expressions.
    BadArithmeticFor "bad-arithmetic-for" "an arithmetic for needs three expressions" "write for ((init; test; step))";
    /// A here-document delimiter with expansions or other unusual text.
    BadDelimiter "bad-delimiter" "an unusual here-document delimiter" "use a plain word such as 'EOF'";
    /// An extended pattern while `extglob` is off.
    ExtglobOff "extglob-off" "an extended pattern, but extglob is off"
        "put shopt -s extglob on a line before, or quote the text";

    /// `((`, `$((` or `<((` that does not close as plain arithmetic: bash reads it again as nested subshells.
    AmbiguousArithmetic "ambiguous-arithmetic" "double parentheses that are not plain arithmetic"
        "for nested subshells put a space between the parentheses: ( ( or $( (";
    /// A single quote inside `"${…}"`, where shells disagree on what it quotes.
    AmbiguousQuote "ambiguous-quote" "a quote inside ${…} that shells read differently"
        "put the text in a variable first";
    /// `~` or `~name` before a colon or `=~`, where bash does not expand what follows.
    AmbiguousTilde "ambiguous-tilde" "a tilde prefix that ends at a colon or at =~" "quote the tilde, or write the directory";
    /// `$$` right before a bracket or quote, where bash may read another expansion.
    GluedProcessId "glued-process-id" "$$ right before a bracket or quote" "write ${$}";
    /// A brace expansion whose results would be read again as other syntax.
    AmbiguousBrace "ambiguous-brace" "a brace expansion that makes new syntax" "write the words out";
    /// `$'…'` where bash removes its quotes and reads the text again.
    AnsiCInExpansion "ansi-c-in-expansion" "$'…' where bash reads its text a second time"
        "put the text in a variable first";
    /// A here-document in a substitution together with other commands: bash prints and reads it again wrongly.
    HereDocumentInSubstitution "here-document-in-substitution"
        "a here-document and other commands in the same substitution"
        "give the here-document a substitution of its own, or write a file first";
    /// A here-document line in a substitution that starts with the delimiter and has a closing parenthesis.
    HereDocumentEnd "here-document-end" "a here-document line that bash may take for its end"
        "put the delimiter on a line of its own, or use another delimiter";
    /// A substitution or an escape in a pattern or number of `${…}` in a here-document.
    DocumentOperand "document-operand"
        "a substitution or escape inside ${…} in a here-document, which bash reads wrongly"
        "put the result in a variable first";
    /// More here-documents on a line than bash accepts.
    TooManyHereDocuments "too-many-here-documents" "too many here-documents on one line" "use files";
    /// A reserved word after a redirection or an assignment.
    ReservedWordAfterPrefix "reserved-word-after-prefix"
        "a reserved word after a redirection or an assignment" "put the redirection behind the command";
    /// A backslash at the very end of several lines.
    TrailingBackslash "trailing-backslash" "a backslash at the end of several lines" "remove it";
    /// A line continuation inside a reserved word.
    SplitReservedWord "split-reserved-word" "a line continuation inside a reserved word" "write the word in one piece";
    /// `>&-word`: bash closes the descriptor and reads a new word.
    GluedClose "glued-close" "text right after >&- or <&-" "put a space after the minus sign";
    /// `>&word` whose quoted text bash expands a second time.
    TargetExpandedTwice "target-expanded-twice" "the word after >& is expanded twice" "write > word 2>&1";
    /// A backslash in a compound assignment inside a substitution, which bash loses.
    BackslashInArray "backslash-in-array" "a backslash in an array inside a substitution" "use single quotes";
    /// `time` with a compound command at the beginning of a substitution, where bash takes it for a word.
    TimeInSubstitution "time-in-substitution" "time at the beginning of a substitution" "write $( { time …; } )";
    /// `coproc` with a simple command inside a substitution, which bash prints wrongly.
    CoprocessInSubstitution "coprocess-in-substitution" "a coprocess with a simple command inside a substitution"
        "put the command in braces";
    /// Digits or `{name}` right before `<(` or `>(`.
    GluedDescriptor "glued-descriptor" "a descriptor where it cannot stand" "put a space after it";
    /// A descriptor number that does not fit.
    DescriptorTooLarge "descriptor-too-large" "a descriptor number is too large" "use a number below 10";
    /// `{name[…]}>`: an array element as descriptor variable.
    DescriptorElement "descriptor-element" "an array element as descriptor variable" "use a plain variable";
    /// Text glued to the closing parenthesis of a compound assignment.
    TextAfterArray "text-after-array" "text right after a compound assignment" "put a space or semicolon there";
    /// An array subscript with characters that the shell reads differently in different places.
    BadSubscript "bad-subscript" "a subscript that the shell may read differently" "put the subscript in a variable";
    /// `<(` or `>(` where it may or may not be a process substitution.
    AmbiguousProcessSubstitution "ambiguous-process-substitution" "<( where shells disagree on its meaning"
        "put a space between the characters, or use a variable";
    /// `${ …; }` whose end older versions of bash see elsewhere.
    AmbiguousCurrentShell "ambiguous-current-shell" "${ …; } whose end depends on bash's version" "use $(…)";
    /// A construct that dash does not have or reads differently.
    NotPosix "not-posix" "not POSIX: dash reads this differently" "or run it with bash";
}

impl ErrorCode {
    /// Whether every shell reports this while it reads a line, and then runs nothing of the line.
    ///
    /// Errors inside backquotes are reported later, whatever their code: the shell reads what stands there when it runs it.
    #[must_use]
    pub const fn stops_reading(self) -> bool {
        matches!(
            self,
            Self::UnexpectedToken
                | Self::UnexpectedEnd
                | Self::UnexpectedReservedWord
                | Self::EmptyList
                | Self::MissingTarget
                | Self::UnterminatedSingleQuote
                | Self::UnterminatedDoubleQuote
                | Self::UnterminatedBackquote
                | Self::UnterminatedSubstitution
                | Self::UnterminatedParameter
                | Self::UnterminatedCommand
                | Self::BadConditional
                | Self::BadArithmeticFor
                | Self::BadFunctionBody
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_kebab_case() {
        let mut seen = std::collections::BTreeSet::new();
        for code in ErrorCode::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            assert!(code.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            assert!(!code.message().is_empty());
        }
    }

    #[test]
    fn display_is_one_line() {
        let error = ParseError {
            code: ErrorCode::UnterminatedSubstitution,
            span: Span::new(7, 7),
            opener: Some(Span::new(2, 4)),
            before: 0,
            expected: "`)`",
        };
        assert_eq!(
            error.to_string(),
            "a substitution is not closed at byte 7 (opened at byte 2): expected `)`"
        );
    }
}
