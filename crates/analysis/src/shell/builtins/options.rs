//! `set` and `shopt`: options that change what the script means, and the positional parameters.

use super::{Given, number};
use crate::effect::{Certainty, EffectKind, Unknown};
use crate::shell::Interpreter;
use crate::shell::flow::{ANY_ARGUMENTS, Opt};
use crate::shell::simple::Expanded;
use crate::value::{Field, Origins};
use shward_syntax::Span;

/// What an option of `set` does to the analysis.
enum Meaning {
    /// Nothing.
    None,
    /// It is part of the state.
    Tracked(Opt),
    /// Nothing more is run.
    Ends,
    /// The shell keeps a history, or no longer does.
    History,
    /// The script is read or run in another way than it was analysed.
    Other(&'static str),
}

/// Why `set -P` is not followed.
const PHYSICAL: &str = "directories go by their real names";

fn letter_meaning(letter: u8) -> Meaning {
    match letter {
        b'f' => Meaning::Tracked(Opt::NoGlob),
        b'k' => Meaning::Tracked(Opt::Keyword),
        b'a' => Meaning::Tracked(Opt::AllExport),
        b'e' => Meaning::Tracked(Opt::ErrExit),
        b'C' => Meaning::Tracked(Opt::NoClobber),
        b'B' => Meaning::Other("brace expansion is switched"),
        b'H' => Meaning::Other("history expansion is switched"),
        b'P' => Meaning::Other(PHYSICAL),
        b'u' => Meaning::Tracked(Opt::NoUnset),
        b'v' | b'x' => Meaning::Tracked(Opt::Talk),
        b'n' | b't' => Meaning::Ends,
        b'b' | b'h' | b'm' | b'p' | b'E' | b'T' => Meaning::None,
        _ => Meaning::Other("an option of set that is not known"),
    }
}

fn name_meaning(name: &[u8]) -> Meaning {
    match name {
        b"noglob" => Meaning::Tracked(Opt::NoGlob),
        b"keyword" => Meaning::Tracked(Opt::Keyword),
        b"allexport" => Meaning::Tracked(Opt::AllExport),
        b"errexit" => Meaning::Tracked(Opt::ErrExit),
        b"noclobber" => Meaning::Tracked(Opt::NoClobber),
        b"physical" => Meaning::Other(PHYSICAL),
        b"errtrace"
        | b"functrace"
        | b"hashall"
        | b"monitor"
        | b"notify"
        | b"pipefail"
        | b"privileged"
        | b"emacs"
        | b"vi"
        | b"ignoreeof"
        | b"interactive-comments"
        | b"nolog" => Meaning::None,
        b"nounset" => Meaning::Tracked(Opt::NoUnset),
        b"verbose" | b"xtrace" => Meaning::Tracked(Opt::Talk),
        b"noexec" | b"onecmd" => Meaning::Ends,
        b"history" => Meaning::History,
        b"histexpand" => Meaning::Other("history expansion is switched"),
        _ => Meaning::Other("an option of set that changes how the script is read"),
    }
}

impl<'a> Interpreter<'a, '_> {
    /// `set`
    pub(super) fn set_options(&mut self, command: &Expanded<'_, 'a>) {
        let mut arguments = command.argv.get(1..).unwrap_or_default();
        if arguments.is_empty() {
            self.prints_environment(command.span);
            return;
        }
        self.called();
        while let Some((field, rest)) = arguments.split_first() {
            let Some(text) = field.known() else {
                // It may be an option, or the first positional parameter.
                if field.value.known_prefix().first().is_none_or(|byte| matches!(byte, b'-' | b'+')) {
                    self.argument_unknown(field.span);
                    self.state.flow.options.forget();
                }
                self.state.flow.arguments = arguments;
                return;
            };
            match text {
                // Behind `-` there may be none, and they stay.
                b"-" if rest.is_empty() => return,
                b"--" | b"-" => {
                    self.state.flow.arguments = rest;
                    return;
                }
                [sign @ (b'-' | b'+'), letters @ ..] if !letters.is_empty() => {
                    arguments = rest;
                    for letter in letters {
                        if *letter != b'o' {
                            self.apply(letter_meaning(*letter), *sign == b'-', field.span);
                            continue;
                        }
                        match arguments.split_first() {
                            Some((name, rest)) => {
                                arguments = rest;
                                match name.known() {
                                    Some(name) => self.apply(name_meaning(name), *sign == b'-', field.span),
                                    None => self.argument_unknown(name.span),
                                }
                            }
                            None => self.prints(Origins::LITERAL, command.span),
                        }
                    }
                }
                _ => {
                    self.state.flow.arguments = arguments;
                    return;
                }
            }
        }
    }

    fn apply(&mut self, meaning: Meaning, on: bool, span: Span) {
        match meaning {
            Meaning::None => {}
            Meaning::Tracked(Opt::ExpandAliases) => {
                if on {
                    self.begin_aliases(span);
                }
                // What stands on the same line, and functions that were read before, have them in force.
                self.state.flow.options.admit(Opt::ExpandAliases, on);
            }
            Meaning::Ends => self.state.flow.may_have_ended |= on,
            // One of the two may still be on.
            Meaning::Tracked(Opt::Talk) => self.state.flow.options.admit(Opt::Talk, on),
            Meaning::Tracked(option) => self.state.flow.options.set(option, on),
            Meaning::History if !on => {
                self.emit_here(EffectKind::System { what: "audit" }, span, Certainty::Certain);
            }
            Meaning::History => {}
            Meaning::Other(what) => self.unknown(Unknown::Construct(what), span),
        }
    }

    /// `shopt`
    pub(super) fn shopt(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"", b"opqsu");
        if !given.sure {
            self.argument_unknown(command.span);
            self.state.flow.options.forget();
        }
        let on = given.has(b's');
        if on && given.has(b'u') {
            // It does neither.
            self.argument_unknown(command.span);
            self.state.flow.options.forget();
        }
        if given.operands.is_empty() || !on && !given.has(b'u') {
            self.prints(Origins::LITERAL, command.span);
            return;
        }
        for field in given.operands {
            let Some(name) = field.known() else {
                self.argument_unknown(field.span);
                self.state.flow.options.forget();
                continue;
            };
            let meaning = if given.has(b'o') {
                name_meaning(name)
            } else {
                match name {
                    b"nullglob" => Meaning::Tracked(Opt::NullGlob),
                    b"extglob" => Meaning::Tracked(Opt::ExtGlob),
                    b"expand_aliases" => Meaning::Tracked(Opt::ExpandAliases),
                    b"lastpipe" => Meaning::Tracked(Opt::LastPipe),
                    b"nocasematch" => Meaning::Tracked(Opt::OtherMatching),
                    b"nocaseglob" => Meaning::Tracked(Opt::NoCaseGlob),
                    b"dotglob" => Meaning::Tracked(Opt::DotGlob),
                    b"globstar" => Meaning::Tracked(Opt::GlobStar),
                    b"failglob" => Meaning::Tracked(Opt::FailGlob),
                    b"checkwinsize"
                    | b"checkhash"
                    | b"checkjobs"
                    | b"cmdhist"
                    | b"histappend"
                    | b"lithist"
                    | b"huponexit"
                    | b"inherit_errexit"
                    | b"interactive_comments"
                    | b"login_shell"
                    | b"no_empty_cmd_completion"
                    | b"nocase"
                    | b"progcomp"
                    | b"promptvars"
                    | b"shift_verbose"
                    | b"gnu_errfmt"
                    | b"globasciiranges"
                    | b"globskipdots"
                    | b"direxpand"
                    | b"dirspell"
                    | b"hostcomplete"
                    | b"mailwarn"
                    | b"force_fignore"
                    | b"complete_fullquote"
                    | b"histreedit"
                    | b"histverify"
                    | b"noexpand_translation" => Meaning::None,
                    _ => Meaning::Other("an option of shopt that changes how the script is read"),
                }
            };
            self.apply(meaning, on, field.span);
        }
    }

    /// `shift`
    pub(super) fn shift(&mut self, command: &Expanded<'_, 'a>) {
        let count = match command.argv.get(1) {
            None => Some(1),
            Some(field) => number(field),
        };
        self.called();
        if command.argv.len() > 2 {
            self.argument_unknown(command.span);
        }
        let arguments = self.state.flow.arguments;
        let shifted = count.and_then(|count| {
            let (gone, left): (&[Field<'a>], _) = arguments.split_at_checked(count)?;
            (!gone.iter().any(|field| field.many)).then_some(left)
        });
        self.state.flow.arguments = match (shifted, count) {
            (Some(left), _) => left,
            // More than there are: nothing is shifted.
            (None, Some(count)) if count > arguments.len() && self.argument_count().is_some() => arguments,
            _ => &ANY_ARGUMENTS,
        };
    }
}
