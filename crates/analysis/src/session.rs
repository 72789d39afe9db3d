//! The contract between the shell interpreter (`shell`) and the command knowledge (`knowledge`).
//!
//! The interpreter calls [`knowledge::invoke`](crate::knowledge::invoke) for every program that a script starts. What a
//! program means for the script (effects, commands that it runs in turn) the knowledge tells through this trait.

use crate::effect::{Certainty, Effect, EffectKind, Scope, Target, WriteMode};
use crate::value::{Field, Origins, Stream, Value};
use crate::world::World;
use bumpalo::Bump;
use shward_syntax::{Dialect, Span};

/// A program being started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The argument list, the command word first.
    pub(crate) argv: &'a [Field<'a>],
    /// What it gets on standard input.
    pub(crate) stdin: Stream<'a>,
    /// That is what another command of the pipeline writes.
    pub(crate) piped: bool,
    /// The simple command that starts it.
    pub(crate) span: Span,
}

/// What the arguments of a shell ask of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Starting {
    /// It is interactive, and expands aliases.
    pub(crate) interactive: bool,
    /// What fails, or is not set, may end it.
    pub(crate) leaves_early: bool,
    /// It may tell what it runs.
    pub(crate) traces: bool,
    /// Its redirections do not replace what is there.
    pub(crate) no_clobber: bool,
}

/// How text that is executed relates to the shell that executes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reentry {
    /// In the same shell: `eval`, `source`, traps.
    Same,
    /// In a new shell that inherits the environment only: `sh -c`, scripts, `system(3)`.
    New,
    /// In a new shell that shares bash's syntax and reads some of it in another way (zsh, ksh).
    Foreign,
    /// On another machine or in another root: paths and programs are not this machine's (`ssh host cmd`, `docker run`).
    Elsewhere,
}

/// What the knowledge may do to the interpreter's state.
pub(crate) trait Session<'a> {
    /// The arena in which everything lives.
    fn arena(&self) -> &'a Bump;

    /// The machine.
    fn world(&self) -> &dyn World;

    /// From here on a file may not let itself be read.
    fn lock_reading(&mut self);

    /// Records an effect of the current invocation.
    fn emit(&mut self, kind: EffectKind<'a>, span: Span, certainty: Certainty);

    /// All effects recorded so far; used to take back what a dry run does not do.
    fn effects(&mut self) -> &mut Vec<Effect<'a>>;

    /// The place that a path argument means: made absolute against the working directory, normalised, links followed
    /// as far as the world knows them, and classified.
    fn target(&mut self, path: &Value<'a>) -> Target<'a>;

    /// Whether a file that nobody may change lies at or below a path, with a name that ends like this.
    fn guards_below(&self, _path: &[u8], _end: &[u8]) -> bool {
        false
    }

    /// What is protected under exactly this name in a directory below this one, wherever that may lie.
    fn protected_by_name(&self, _directory: &[u8], _name: &[u8]) -> Option<Scope> {
        None
    }

    /// What is protected in directories below this one and found by a pattern for names or paths.
    fn protected_by_pattern(&self, _directory: &[u8], _pattern: &[u8]) -> Option<Scope> {
        None
    }

    /// The words of a program that was started, its name first.
    fn words_of(&self, _invocation: Option<u32>) -> &'a [Field<'a>] {
        &[]
    }

    /// The home directory of the user who runs it; where the knowledge's `~/…` paths lie.
    fn home(&self) -> &'a [u8];

    /// The working directory, if known.
    fn cwd(&self) -> Option<&'a [u8]>;

    /// Whether a working directory that is not known lies below the workspace, and is as it was found.
    fn works_within(&self) -> bool {
        false
    }

    /// The invocation that is being carried out, to which effects belong.
    fn invocation(&self) -> Option<u32> {
        None
    }

    /// Notes that the invocation that is being carried out looks at no files but those that its arguments name.
    fn has_no_own_files(&mut self) {}

    /// Whether what is there and matches a pattern lies in the workspace, links followed.
    fn stays_below_workspace(&mut self, _pattern: &Value<'a>) -> bool {
        true
    }

    /// Where the invocation of an effect worked; `None` if that is not known, or if it looked elsewhere (`git -C`).
    fn worked_in(&self, _invocation: Option<u32>) -> Option<&'a [u8]> {
        self.cwd()
    }

    /// How many effects there were before the pipeline that is being run: what comes through its pipes was made since.
    fn upstream(&self) -> usize {
        0
    }

    /// How many invocations there were before the pipeline that is being run.
    fn upstream_calls(&self) -> u32 {
        0
    }

    /// Where the standard input of an invocation comes from.
    fn given_to(&self, _invocation: u32) -> Origins {
        Origins::UNKNOWN
    }

    /// Whether the script has opened files, or may have, that programs can read and write beside the first three descriptors.
    fn has_open_files(&self) -> bool {
        true
    }

    /// How often a directory was entered so far that is not itself a name which a search found: names that were found
    /// before may mean something else in it.
    fn departures(&self) -> u32 {
        0
    }

    /// Whether what the program prints is seen by whoever gave the command: no pipe, file or substitution takes it.
    fn shows_output(&self) -> bool {
        false
    }

    /// Charges for so many steps of work, such as looking through everything that was told so far.
    fn works(&mut self, _steps: usize) {}

    /// Whether nothing is used up of what may be spent. Where something is, nothing more is told, and the plan says so.
    fn goes_on(&self) -> bool {
        true
    }

    /// Charges for text that a program is known to print. False where there is none left, and so it counts as unknown.
    fn prints(&mut self, _bytes: usize) -> bool {
        true
    }

    /// Charges for reading a program of so many bytes, as often as it is started. False where that is too much.
    fn reads_program(&mut self, _bytes: usize) -> bool {
        true
    }

    /// Runs `inner` with another working directory (`git -C`, `make -C`, `env --chdir`).
    fn in_directory(&mut self, directory: &Value<'a>, inner: &mut dyn FnMut(&mut dyn Session<'a>));

    /// Runs `inner` with these variables, or with all of them if there is no list, taken out of the environment.
    fn without_variables(&mut self, names: Option<&[&'a [u8]]>, inner: &mut dyn FnMut(&mut dyn Session<'a>));

    /// The content of a file as far as this script and the world tell it: what the script itself wrote there, else what
    /// the world holds. Used to follow scripts.
    fn file_text(&mut self, path: &Value<'a>) -> Stream<'a>;

    /// What was read so far decides over what the program does: names, commands, changes.
    fn believes(&mut self) {}

    /// Does what may not be done, or not wholly.
    fn perhaps(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>));

    /// What is started inside goes on while the command does what follows.
    fn beside(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>));

    /// Runs `inner` over a file of the script's own that a program may take up by itself. Not where it is being run for that already:
    /// a script that starts the tool which may have started it does the same again, and false if that may be in another directory, or
    /// if anything has changed since, by which it may do something else.
    fn taking_up(&mut self, _path: &'a [u8], inner: &mut dyn FnMut(&mut dyn Session<'a>)) -> bool;

    /// Whether a word that is a pattern may be no word at all.
    fn patterns_may_vanish(&self) -> bool {
        false
    }

    /// Another program is started by this one with exactly this argument list (`sudo`, `env`, `xargs`, `find -exec`).
    /// Functions and aliases of the script do not apply. Returns what it writes to standard output.
    fn run_argv(&mut self, argv: &'a [Field<'a>], stdin: Stream<'a>, how: Reentry, span: Span) -> Stream<'a>;

    /// How the next shell starts.
    fn expects_shell(&mut self, _: Starting) {}

    /// Text is executed as shell commands (`sh -c`, `system(3)`). `span` is where the text stands in the command that was
    /// asked about. Returns what it writes to standard output.
    fn run_text(
        &mut self,
        text: &'a [u8],
        dialect: Dialect,
        arguments: &'a [Field<'a>],
        stdin: Stream<'a>,
        how: Reentry,
        span: Span,
    ) -> Stream<'a>;

    /// A variable of the environment gets a value for what the closure runs (`env NAME=value cmd`). The value is judged:
    /// a variable that carries execution is an effect.
    fn with_variable(
        &mut self,
        name: &'a [u8],
        value: &Field<'a>,
        inner: &mut dyn FnMut(&mut dyn Session<'a>),
    );

    /// A program of the project's own, or one that carries out what a project says, is told this by an argument as by a variable
    /// (`./configure CC=x`): if that names a program, it is started.
    fn told(&mut self, _name: &'a [u8], _value: &Field<'a>) {}

    /// Whether the script may have written a file or made a link. If not, no file holds what it has made, and what else a file
    /// holds need not be looked up to know that.
    fn has_made_files(&self) -> bool {
        true
    }

    /// As [`file_text`](Self::file_text), of a file that is executed: where it may also still hold what was there before,
    /// its origins have `FILE` among them.
    fn script_text(&mut self, path: &Value<'a>) -> Stream<'a> {
        self.file_text(path)
    }

    /// Records that the script makes a link, and what it leads to: whoever uses the link later uses that. A link whose
    /// name is a pattern may be any that matches, to the same name where the aim lies.
    fn linked(&mut self, _link: &Value<'a>, _aim: &Value<'a>) {}

    /// Records that a file or directory, with all that is in it, is copied or moved to this place, or into it.
    fn carried(&mut self, _from: &Target<'a>, _to: &Target<'a>) {}

    /// Whether a redirection has put into a file what something prints: that is text, and nothing that was built.
    fn is_printed(&self, _file: &Target<'a>) -> bool {
        false
    }

    /// Records that a file or directory is moved to this place: it lies nowhere else any more.
    fn moved(&mut self, _from: &Target<'a>, _to: &Target<'a>) {}

    /// Whether a word is made of another one by the shell, so that each value of that gives another value of this.
    fn is_made_of(&self, _word: Span, _other: Span) -> bool {
        false
    }

    /// Records that the program fails if something is at this place, and else makes a directory there.
    fn makes_new(&mut self, _target: &Target<'a>) {}

    /// Records that a file or directory gets another name, or may get one: whoever stands in it stands elsewhere then.
    fn renamed(&mut self, _from: &Target<'a>) {}

    /// What is run from here on, until [`ends_repeating`](Self::ends_repeating), may be run several times, one after the other:
    /// what a later one reads an earlier one may have written.
    fn begins_repeating(&mut self) {}

    /// The same, no longer.
    fn ends_repeating(&mut self) {}

    /// What was copied or moved to this path by the script, if it is one file and that is known.
    fn copied_from(&mut self, _path: &Value<'a>) -> Option<&'a [u8]> {
        None
    }

    /// Records that what is packed or unpacked gets names that are not known.
    fn renames_packed(&mut self) {}

    /// The write that was told last leaves the content of its file alone.
    fn kept(&mut self) {}

    /// Records that the script has written this file with this content, so that reading or executing it later is understood.
    fn wrote(&mut self, target: Target<'a>, mode: WriteMode, content: Stream<'a>);

    /// Runs `inner` over code that is the workspace's own and may run anyway: of all that it does only what is grave and
    /// certain stays in the plan, and nothing of what it changes is known afterwards. Too many files, or too deep in
    /// each other, are not followed; nor is anything by a session that knows no files.
    fn follow(&mut self, _inner: &mut dyn FnMut(&mut dyn Session<'a>)) {}

    /// Records that what lies at this place, or below it, is run as the workspace's own: what is written there while it may
    /// be run is not.
    fn runs_from(&mut self, _place: &'a [u8]) {}

    /// Records that the program reads its standard input.
    fn takes_input(&mut self, _span: Span) {}

    /// The origins of what is read from this place (secret, environment, file, …).
    fn read_origins(&mut self, target: &Target<'a>) -> Origins;

    /// The shell that runs the command: its builtins differ (`echo` of dash reads escapes, that of bash does not).
    fn dialect(&self) -> Dialect {
        Dialect::Bash
    }

    /// Whether the script has touched any variable.
    fn has_variables(&self) -> bool {
        false
    }

    /// What the script has put into the environment under this name; `None` if it has not.
    fn variable(&self, _name: &[u8]) -> Option<Value<'a>> {
        None
    }
}
