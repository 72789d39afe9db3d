//! Builtins that run something: `eval`, `source`, `exec`, `command`, `exit`, `trap`, `jobs -x`, completion, history.

use super::{Given, number};
use crate::effect::{Certainty, EffectKind, Scope, Target, Unknown, WriteMode};
use crate::knowledge::base_name;
use crate::session::Session;
use crate::shell::Interpreter;
use crate::shell::flow::{ANY_ARGUMENTS, Opt, Port};
use crate::shell::functions::{Frame, FrameKind};
use crate::shell::simple::Expanded;
use crate::shell::state::{Content, Slot, Space};
use crate::shell::words::is_name;
use crate::value::{Field, Origins, Stream, Value, contains};
use crate::world::FileKind;
use shward_syntax::Span;

impl<'a> Interpreter<'a, '_> {
    /// `eval`
    pub(super) fn evaluate_text(&mut self, command: &Expanded<'_, 'a>) {
        let (words, levels) = self.evaluated(command.argv.get(1..).unwrap_or_default());
        // Each level left out is as deep as one that is run: a command, what its name leads to, and its text.
        let depth = 3 * levels;
        let entered = (0..depth).take_while(|_| self.budget.enter()).count();
        if entered == depth {
            self.evaluate_words(words, command);
        }
        (0..entered).for_each(|_| self.budget.leave());
    }

    fn evaluate_words(&mut self, words: &[Field<'a>], command: &Expanded<'_, 'a>) {
        let ended = command.argv.get(1).is_some_and(|first| first.known() == Some(b"--"));
        let posix = self.dialect == shward_syntax::Dialect::Posix;
        let dashed = words.first().is_some_and(|first| first.value.known_prefix().starts_with(b"-"));
        if !ended && dashed || ended && posix {
            // An option that there is not: it fails. In dash `--` is the command.
            self.argument_unknown(command.span);
        }
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            if !command.arrays.is_empty() {
                self.not_understood("an array assignment as an argument of eval", command.span);
            }
            return;
        };
        let span = first.span.to(last.span);
        let origins = words.iter().fold(Origins::NONE, |all, field| all.union(field.value.origins));
        match self.joined_text(words) {
            Some(text) if command.arrays.is_empty() => {
                if origins.contains(Origins::DECODED) {
                    self.unseen_code(Stream { text: Some(text), origins, source: None }, span);
                }
                self.run_here(text, None, span);
            }
            _ => {
                self.unseen_code(Stream { text: None, origins, source: Some(span) }, span);
                self.forget_variables();
            }
        }
    }

    /// The arguments of `eval` whose text is run, and how many levels were left out. Where the text is an `eval` again, of
    /// words that a shell reads as they are however often, the inner one runs what the outer one would: each level would
    /// read all that is left once more.
    fn evaluated<'w>(&self, mut words: &'w [Field<'a>]) -> (&'w [Field<'a>], usize) {
        let mut plain = None;
        let mut levels = 0;
        loop {
            if let [first, rest @ ..] = words
                && first.known() == Some(b"--")
            {
                words = rest;
            }
            match words {
                [first, rest @ ..]
                    if !rest.is_empty()
                        && first.known() == Some(b"eval")
                        && *plain
                            .get_or_insert_with(|| self.is_itself(b"eval") && words.iter().all(is_plain)) =>
                {
                    words = rest;
                    levels += 1;
                }
                _ => return (words, levels),
            }
        }
    }

    /// Whether a command name is what the shell makes of it, and nothing that the script has defined.
    pub(in crate::shell) fn is_itself(&self, name: &[u8]) -> bool {
        [Space::Function, Space::Alias, Space::Command]
            .iter()
            .all(|space| self.state.find(*space, name).is_none())
    }

    /// Arguments joined by blanks, if all are known.
    fn joined_text(&mut self, words: &[Field<'a>]) -> Option<&'a [u8]> {
        if let [only] = words {
            return only.known();
        }
        let mut text = Vec::new();
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                text.push(b' ');
            }
            text.extend_from_slice(word.known()?);
        }
        self.budget.produce(text.len()).then(|| &*self.arena.alloc_slice_copy(&text))
    }

    /// `source`
    pub(super) fn source_file(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"p", b"");
        let Some((file, arguments)) = given.operands.split_first() else { return };
        if file.many || !given.options.is_empty() {
            self.argument_unknown(file.span);
            self.unseen_code(Stream::unknown(file.value.origins, file.span), file.span);
            self.forget_variables();
            return;
        }
        let bare = file.known().is_some_and(|name| !name.contains(&b'/'));
        if bare && self.state.get(Space::Variable, b"PATH").content != Content::Initial {
            // It is looked up in `PATH` first.
            self.not_understood("source looks its file up in a PATH that the script changed", file.span);
        }
        if self.dialect == shward_syntax::Dialect::Posix && !arguments.is_empty() {
            // dash does not hand them on.
            self.not_understood("arguments of a sourced file in another shell than bash", file.span);
        }
        let stream = self.read_file(&file.value, true, file.span);
        if let Some(number) = self.descriptor_at(&file.value)
            && let Port::Source(id) = self.state.flow.port(number)
            && self.io.is_pipe(id)
        {
            // It is read to its end before anything of it is run.
            if self.doubt_now() == 0 {
                self.io.rest(id, b"");
            } else {
                self.io.consumed(id);
            }
        }
        match stream.text {
            Some(text) => {
                if stream.origins.contains(Origins::WRITTEN.union(Origins::FILE)) {
                    // What the command has written; or what lay there before.
                    let target = self.target(&file.value);
                    let effect = EffectKind::Execute { target, origin: file.value.origins };
                    self.emit_here(effect, file.span, Certainty::Possible);
                }
                let before = self.state.mark();
                self.frames.push(Frame::new(FrameKind::Source, self.state.mark()));
                let arguments = if arguments.is_empty() { None } else { Some(arguments) };
                let own = self.state.flow.arguments;
                self.run_here(text, arguments, file.span);
                self.leave_frame();
                if let Some(arguments) = arguments {
                    // `return` has left them as they were inside.
                    let now = self.state.flow.arguments;
                    let kept = now == own || now == arguments;
                    self.state.flow.arguments = if kept { own } else { &ANY_ARGUMENTS };
                }
                if bare || self.scripts.is_doubted(text) || !self.surely_written(&file.value) {
                    // One of that name in `PATH` comes first; and where the file could not be written there is none, and nothing was run.
                    self.perhaps_since(&before);
                }
                if self.scripts.is_doubted(text) {
                    // What lay there before may be what is read, or stand before it.
                    self.forget_variables();
                }
            }
            None => {
                let target = self.target(&file.value);
                let own = matches!(target.scope, Scope::Workspace | Scope::Product)
                    && Origins::FILE.union(Origins::LITERAL).contains(stream.origins);
                let language = if own { "project" } else { "shell" };
                let effect =
                    EffectKind::Code { language, text: None, origin: stream.origins, source: stream.source };
                self.emit_here(effect, file.span, Certainty::Certain);
                if !own {
                    self.forget_variables();
                }
            }
        }
    }

    /// Whether what the command writes to this file is there: its directory is, and lets itself be written.
    fn surely_written(&mut self, file: &Value<'a>) -> bool {
        if self.descriptor_at(file).is_some() {
            return true;
        }
        let target = self.target(file);
        !file.is_roundabout() && self.is_surely_written(&target)
    }

    /// The same of a place.
    pub(in crate::shell) fn is_surely_written(&self, target: &Target<'a>) -> bool {
        let cut = target.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let directory = target.path.get(..cut).unwrap_or_default();
        let ours = self.request.workspace;
        let there = directory == b"/tmp"
            || directory == ours
            || directory == self.request.home
            || directory.starts_with(ours)
                && (self.state.flow.places.only() == Some(directory)
                    || self.world.kind(directory) == FileKind::Directory);
        there && !self.made.as_ref().is_some_and(|made| made.contains(target.path))
    }

    /// `exec`
    pub(super) fn replace_shell(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"a", b"cl");
        // dash has no options there: `-l` is the program.
        let foreign = self.dialect == shward_syntax::Dialect::Posix && !given.options.is_empty();
        let own = given.operands.first().and_then(Field::known).map(base_name);
        let renamed =
            given.value(b'a').is_some_and(|name| own.is_none() || name.known().map(base_name) != own);
        if !given.sure || foreign || renamed {
            // By another name many a program does something else: bash that is called `sh`, busybox.
            self.argument_unknown(command.span);
        }
        if given.operands.is_empty() && given.options.is_empty() {
            self.keeps_redirections = true;
            return;
        }
        match given.operands.first().map(|field| field.known()) {
            Some(Some(name)) => {
                if name.contains(&b'/') && !name.starts_with(b"/") && self.state.has_files() {
                    // bash starts it by its whole path, which a script sees as `$0`.
                    self.argument_unknown(command.span);
                }
                match self.state.get(Space::Command, name).content {
                    Content::Command(Some(path)) => self.start_hashed(path, given.operands, command.span),
                    _ => self.start_program(given.operands, command.span),
                }
                self.state.flow.ended = true;
            }
            Some(None) => {
                // Where the words vanish, the redirections stay and the script goes on.
                self.dispatch(&Expanded { argv: given.operands, ..command.clone() }, false);
                self.state.flow.may_have_ended = true;
                self.keeps_redirections = true;
            }
            None => {}
        }
    }

    /// `command` and `builtin`
    pub(super) fn without_functions(&mut self, command: &Expanded<'_, 'a>) {
        let flags: &[u8] =
            if command.argv.first().and_then(Field::known) == Some(b"command") { b"pvV" } else { b"" };
        let given = Given::read(command.argv, b"", flags);
        if !given.sure {
            self.argument_unknown(command.span);
        }
        if given.has(b'v') || given.has(b'V') {
            self.prints(Origins::ENVIRONMENT, command.span);
            return;
        }
        if !given.operands.is_empty() {
            self.dispatch(&Expanded { argv: given.operands, ..command.clone() }, false);
        }
    }

    /// `exit`
    pub(super) fn exit(&mut self, command: &Expanded<'_, 'a>) {
        let failing = command.argv.get(1).and_then(number).is_some_and(|status| status % 256 != 0);
        if command.argv.len() > 2 {
            // With too many arguments it does not exit.
            self.argument_unknown(command.span);
        }
        self.prints_at_exit(command.span);
        self.state.flow.ended = true;
        // What comes after a shell around this one sees where it ended.
        self.state.flow.quietly = failing && self.nested == 0;
        let named = command.argv.first().and_then(Field::known);
        let leaves = command.argv.get(1).is_none_or(|status| match status.known() {
            Some(text) => !text.starts_with(b"--") || text.len() == 2,
            None => !status.many && status.value.origins == Origins::LITERAL,
        });
        if named == Some(b"logout") || !leaves {
            // Only a login shell has an end that is called so; and `--help`, or several words, do not end it.
            self.state.flow.ended = false;
            self.state.flow.may_have_ended = true;
        }
    }

    /// `trap`
    pub(super) fn trap(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"", b"lpP");
        if !given.sure {
            self.argument_unknown(command.span);
        }
        if given.has(b'l') || given.has(b'p') {
            self.prints(Origins::LITERAL, command.span);
            return;
        }
        let [action, conditions @ ..] = given.operands else {
            // Signals may have been ignored from the start.
            return self.prints(Origins::LITERAL, command.span);
        };
        if conditions.is_empty() {
            // `trap INT` resets, `trap "$x"` may print or reset.
            return;
        }
        let Some(text) = action.known() else {
            self.unseen_code(Stream::unknown(action.value.origins, action.span), action.span);
            return;
        };
        if text.is_empty() {
            // Without SIGPIPE, what prints finds out, and says, that nobody reads.
            self.state.flow.options.admit(Opt::Talk, true);
        }
        if matches!(text, b"" | b"-") || text.iter().all(u8::is_ascii_digit) {
            return;
        }
        let at_exit = conditions
            .iter()
            .all(|condition| matches!(condition.known(), Some(b"EXIT" | b"exit" | b"Exit" | b"0")));
        if !at_exit
            && [&b"return"[..], b"break", b"continue", b"trap"].iter().any(|word| contains(text, word))
        {
            self.not_understood("a trap that ends what it interrupts, or sets another", action.span);
        }
        if self.in_trap {
            self.not_understood("a trap that a trap sets", action.span);
        }
        if at_exit && self.has_given() {
            // They are seen first where the shell ends with this command, whatever `mapfile` has put into them since.
            self.not_understood("variables that are given to a trap", command.span);
        }
        let from_inside = |condition: &Field<'a>| match condition.known() {
            // A child that ends sends a signal, too; of numbers, 17.
            Some(name) => [&b"DEBUG"[..], b"ERR", b"RETURN", b"CHLD", b"SIGCHLD", b"CLD", b"SIGCLD", b"17"]
                .iter()
                .any(|own| name.eq_ignore_ascii_case(own)),
            None => true,
        };
        if !at_exit && (conditions.iter().any(from_inside) || self.signalled) {
            // It prints to wherever what it interrupts does.
            self.io.interrupted(true);
        }
        self.set_trap(text, action.span, at_exit);
    }

    /// `jobs`: `-x` runs a command.
    pub(super) fn jobs(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"", b"lnprsx");
        if given.has(b'x') && !given.operands.is_empty() {
            self.dispatch(&Expanded { argv: given.operands, ..command.clone() }, false);
        } else if !given.sure {
            self.argument_unknown(command.span);
        }
        let numbers =
            given.sure && given.options.iter().all(|(letter, _)| *letter == b'p') && given.has(b'p');
        self.prints(if numbers { Origins::JOB } else { Origins::LITERAL }, command.span);
    }

    /// `complete` only registers what an interactive shell would run; `compgen` runs it.
    pub(super) fn completion(&mut self, name: &[u8], command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"oAGWFCXPS", b"DEIabcdefgjkprsuv");
        if name == b"compgen" {
            for letter in [b'C', b'F'] {
                if let Some(value) = given.value(letter) {
                    // They run with words behind them, a function in this very shell, with variables of their own.
                    self.not_understood("compgen runs a function or a command", value.span);
                }
            }
            if let Some(value) = given.value(b'C') {
                match value.known() {
                    Some(text) => self.run_in_subshell(text, value.span),
                    None => self.argument_unknown(value.span),
                }
            }
            if let Some(value) = given.value(b'F') {
                match value.known().map(|name| self.functions_named(name)) {
                    Some((bodies, _)) if !bodies.is_empty() => {
                        self.isolated(|shell| shell.call(bodies, &[value], value.span));
                    }
                    Some(_) => {}
                    None => self.argument_unknown(value.span),
                }
            }
            for letter in [b'W', b'P', b'S', b'X'] {
                if let Some(value) = given.value(letter) {
                    let inert = value
                        .known()
                        .is_some_and(|text| !text.iter().any(|b| matches!(b, b'$' | b'`' | b'<' | b'>')));
                    if !inert {
                        self.not_understood("compgen expands its word list", value.span);
                    }
                }
            }
            if !given.sure {
                self.argument_unknown(command.span);
            }
        }
        self.prints(Origins::ENVIRONMENT, command.span);
    }

    /// Runs text in a subshell.
    pub(super) fn run_in_subshell(&mut self, text: &'a [u8], span: Span) {
        self.isolated(|shell| shell.run_here(text, None, span));
    }

    /// `history`
    pub(super) fn history(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"d", b"acnprsw");
        if given.has(b'c') || given.has(b'd') {
            self.emit_here(EffectKind::System { what: "audit" }, command.span, Certainty::Certain);
        }
        let default = || {
            let path = [self.request.home, b"/.bash_history"].concat();
            Value::text(self.arena.alloc_slice_copy(&path), Origins::LITERAL)
        };
        let file = match given.operands.first() {
            Some(field) if !field.many => field.value,
            Some(_) => Value::unknown(Origins::UNKNOWN),
            None => default(),
        };
        let writes = [(b'w', WriteMode::Replace), (b'a', WriteMode::Append)];
        for (_, mode) in writes.into_iter().filter(|(letter, _)| given.has(*letter)) {
            for target in self.targets(&file) {
                let content = Origins::LITERAL;
                self.emit_here(EffectKind::Write { target, mode, content }, command.span, Certainty::Certain);
                self.file_touched(&target, content);
            }
        }
        if given.has(b'r') || given.has(b'n') {
            self.read_file(&file, false, command.span);
        }
        if given.has(b'p') || !given.sure {
            self.not_understood("history expansion", command.span);
        }
        self.prints(Origins::FILE, command.span);
    }

    /// `fc`: runs commands of the history anew, or after an editor has changed them.
    pub(super) fn fix_command(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"e", b"lnrs");
        if given.has(b'l') && given.sure {
            self.prints(Origins::FILE, command.span);
        } else {
            self.unknown(Unknown::Construct("fc runs commands of the history"), command.span);
        }
    }

    /// `bind`: key bindings can hold commands, and files of them.
    pub(super) fn bind(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"fmqrux", b"lpsvPSVX");
        if given.has(b'x') || given.has(b'f') || !given.operands.is_empty() || !given.sure {
            self.not_understood("bind attaches commands to keys", command.span);
        }
        self.prints(Origins::ENVIRONMENT, command.span);
    }

    /// `enable`
    pub(super) fn enable(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"f", b"adnps");
        if given.has(b'f') {
            let origin = given.value(b'f').map_or(Origins::UNKNOWN, |_| Origins::FILE);
            let effect = EffectKind::Code { language: "native", text: None, origin, source: None };
            self.emit_here(effect, command.span, Certainty::Certain);
            self.unknown(Unknown::Construct("a builtin is loaded from a file"), command.span);
            return;
        }
        if !given.sure {
            self.argument_unknown(command.span);
        }
        if given.operands.is_empty() {
            self.prints(Origins::LITERAL, command.span);
        }
        for operand in given.operands {
            match operand.known() {
                // What no longer is a builtin is looked up as a program, and the other way round.
                Some(name) if is_name(name) || matches!(name, b"[" | b"." | b":") => {
                    // What `hash -p` says of it then counts.
                    if !matches!(self.state.get(Space::Command, name).content, Content::Command(Some(_))) {
                        self.state.set(Space::Command, name, Slot::of(Content::Command(None)));
                    }
                }
                Some(_) => {}
                None => self.argument_unknown(operand.span),
            }
        }
    }

    /// `hash`: `-p` says what program a name stands for.
    pub(super) fn hash(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"p", b"dlrt");
        let others = command.argv.iter().skip(1).any(|field| {
            field
                .known()
                .is_none_or(|text| matches!(text, [b'-', letters @ ..] if !letters.starts_with(b"p")))
        });
        if given.value(b'p').is_some() && others {
            // Another option may undo it, or make the whole fail.
            self.argument_unknown(command.span);
        } else if let Some(path) = given.value(b'p') {
            for operand in given.operands {
                match operand.known() {
                    Some(name) => {
                        self.state.set(Space::Command, name, Slot::of(Content::Command(Some(path.value))));
                    }
                    None => self.argument_unknown(operand.span),
                }
            }
        } else if !given.sure {
            self.argument_unknown(command.span);
        }
        self.prints(Origins::ENVIRONMENT, command.span);
    }
}

/// Whether a word is read again as itself.
fn is_plain(word: &Field<'_>) -> bool {
    word.known().is_some_and(|text| {
        !text.is_empty()
            && text
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.'))
    })
}
