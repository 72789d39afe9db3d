//! An abstract interpreter of the shell: runs a script over what is known of its values instead of the values
//! themselves, and notes everything it may do.
//!
//! Where the shell would take one of several ways, all are taken, one after the other from the same state, and the
//! states they leave are joined: what they agree on stays known. What happens on a way that may not be taken is
//! `Possible`. What cannot be followed is an `Unknown` effect, which stands for anything at all, so the plan always
//! covers what the script does; where the budget ends, the rest is one such effect.
//!
//! The shell is assumed to be started as `bash -c` or `sh -c` is by an agent: not interactive, no start-up files, no
//! functions, aliases or special variables (`PS4`, `IFS`, `SHELLOPTS`) taken from its environment. What an environment
//! variable holds is not known unless the [`World`] tells it, but it is not believed to be a trap laid for arithmetic.

mod aliases;
mod alike;
mod arithmetic;
mod assign;
mod branches;
mod bridge;
mod budget;
mod builtins;
mod calls;
mod carriers;
mod conditions;
mod descriptors;
mod endings;
mod files;
mod filling;
mod flow;
mod follow;
mod functions;
mod io;
mod levels;
mod lines;
mod links;
mod listed;
mod loops;
mod messages;
mod moving;
mod news;
mod racing;
mod reading;
mod redirect;
mod reentry;
mod renaming;
mod run;
mod simple;
mod spans;
mod spare;
mod state;
mod traps;
mod words;

use crate::effect::{Certainty, Effect, EffectKind, Target, Unknown};
use crate::place::Places;
use crate::plan::{Invocation, Plan};
use crate::session::{Session, Starting};
use crate::value::{Field, Origins, Stream};
use crate::world::World;
use crate::{Request, Source};
use budget::Budget;
use bumpalo::Bump;
use flow::{Flow, Port, Whereabouts};
use functions::Frame;
use io::{Io, SinkKind};
use links::{instead, leads};
use reentry::given_options;
use shward_syntax::{Dialect, Function, Options, ParseError, Span, parse};
use spans::Spans;
use spare::Spare;
use state::{HandedOn, State};
use std::collections::BTreeSet;
use std::mem::take;
use traps::Trap;

/// Works out everything that a request may do. Never fails: what cannot be read is refused in the plan itself, with one
/// `Unknown` effect that covers it.
///
/// ```
/// use shward_analysis::{Frozen, Request, Source, analyze};
///
/// let arena = bumpalo::Bump::new();
/// let request = Request {
///     source: Source::Command(b"cd src && wc -l *.rs > ../count"),
///     cwd: b"/workspace",
///     workspace: b"/workspace",
///     home: b"/home/me",
///     dialect: Default::default(),
/// };
/// let plan = analyze(&arena, &request, &Frozen);
/// assert_eq!(plan.invocations[1].cwd, Some(b"/workspace/src".as_slice()));
/// ```
pub fn analyze<'a>(arena: &'a Bump, request: &Request<'a>, world: &dyn World) -> Plan<'a> {
    match request.source {
        Source::Command(text) => {
            let options = Options { dialect: request.dialect, ..Options::default() };
            if text.len() > reading::PIECE {
                return reading::analyze_pieces(arena, request, world, text, &options, reading::PIECE);
            }
            match parse(arena, text, &options) {
                Ok(parsed) => {
                    let mut shell = Interpreter::new(arena, request, world, text);
                    shell.functions = parsed.functions;
                    shell.reading = true;
                    shell.with_traps(|shell| shell.script(&parsed.script));
                    Plan { notes: parsed.notes, ..shell.finish() }
                }
                Err(error) => refused(arena, error, text.len()),
            }
        }
        Source::Argv(words) => {
            let (text, fields) = joined(arena, words);
            let mut shell = Interpreter::new(arena, request, world, text);
            shell.start_program(fields, shell.whole());
            shell.finish()
        }
    }
}

fn refused<'a>(arena: &'a Bump, error: ParseError, length: usize) -> Plan<'a> {
    let span = Span::new(0, u32::try_from(length).unwrap_or(u32::MAX));
    let kind = EffectKind::Unknown { reason: Unknown::Syntax };
    let effects = arena.alloc_slice_copy(&[Effect::new(kind, Certainty::Certain, span, None)]);
    Plan { invocations: &[], effects, refused: Some(error), notes: &[], led: &[] }
}

/// The elements of an argument list as fields, and the text through which their spans count.
fn joined<'a>(arena: &'a Bump, words: &[&'a [u8]]) -> (&'a [u8], &'a [Field<'a>]) {
    let mut text = Vec::new();
    let mut fields = Vec::with_capacity(words.len());
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        let start = u32::try_from(text.len()).unwrap_or(u32::MAX);
        text.extend_from_slice(word);
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        fields.push(Field {
            value: crate::value::Value::text(word, Origins::LITERAL),
            span: Span::new(start, end),
            many: false,
        });
    }
    (arena.alloc_slice_copy(&text), arena.alloc_slice_copy(&fields))
}

/// The interpreter.
pub(crate) struct Interpreter<'a, 'w> {
    arena: &'a Bump,
    request: Request<'a>,
    world: &'w dyn World,
    places: Places<'a>,
    state: State<'a>,
    io: Io<'a>,
    budget: Budget,
    following: follow::Following,
    effects: Vec<Effect<'a>>,
    invocations: Vec<Invocation<'a>>,
    /// Functions, loops, sourced files and subshells being run, innermost last.
    frames: Vec<Frame<'a>>,
    traps: Vec<Trap<'a>>,
    /// How many of them belong to the shells around the one that runs.
    outer_traps: usize,
    /// Every function that was ever defined.
    defined: Vec<&'a state::Body<'a>>,
    /// What is being run is a trap.
    in_trap: bool,
    /// A trap has been set that runs between commands.
    trapped: bool,
    /// A signal has been sent.
    signalled: bool,
    /// What a variable holds may be one of many words of a loop, or a number in its place: names in the workspace.
    loops_over_names: bool,
    /// The value that is being assigned is what a prompt held, and text that runs nothing.
    gives_prompt_back: bool,
    /// `$PATH` may lead into the workspace.
    searches_workspace: bool,
    /// Where `$PATH` leads in the workspace.
    programs_at: Vec<&'a [u8]>,
    /// The last known `$PATH`, and whether the programs of the system are found there.
    searched: (&'a [u8], bool),
    /// What a program made that may be a directory, which no redirection writes. None until then, as dropping an empty tree costs.
    made: Option<BTreeSet<&'a [u8]>>,
    /// How often the shell changed its directory, on whichever way.
    moves: u32,
    moving: moving::Moving<'a>,
    /// How often it changed its positional parameters.
    calls: u32,
    /// Variables that assignments before a command, and wrappers, put into the environment of what is being run.
    environment: Vec<(&'a [u8], Field<'a>)>,
    /// Links that the command makes or may make.
    links: links::Links<'a>,
    /// What the command copies from outside of the workspace, or of a program's name: the copies, and what each is one of.
    copies: Vec<(&'a [u8], &'a [u8])>,
    /// Places that were last taken for what such a link may lead to, each with the place that was named.
    detours: Vec<(Target<'a>, Target<'a>)>,
    /// Files that the last effect has changed, with what was known of them before.
    touched: Vec<(&'a [u8], state::Slot<'a>)>,
    /// Memory for the same.
    spare_touched: Vec<(&'a [u8], state::Slot<'a>)>,
    /// Modes or owners were changed: a file may not let itself be written.
    locked: bool,
    /// The same of being read.
    unreadable: bool,
    /// What was removed, and when: files and directories by their names, and where names are not known what those begin with.
    removed: Vec<(&'a [u8], u32)>,
    /// Where something below was written, and whether the name is whole.
    refilled: Vec<(&'a [u8], bool)>,
    /// Files of a repository were brought into the tree.
    brought: bool,
    /// How many commands around what is being run have redirections that may fail.
    fallible: u32,
    /// Scripts that run beside what comes after them.
    scripts: racing::Scripts<'a>,
    /// Memory for trees of evaluated text that is not in use.
    passing: Vec<Bump>,
    /// Builders of words that are not in use.
    spare: Vec<words::Builder<'a>>,
    /// The command that was asked about.
    source: &'a [u8],
    /// The text being run, to which spans in its tree refer.
    text: &'a [u8],
    spans: Spans,
    /// The functions that are defined in it, where they stay when the rest of its tree goes.
    functions: &'a [&'a Function<'a>],
    dialect: Dialect,
    /// The line being run, of whichever text is read line by line.
    line: u32,
    /// How many lines have been run.
    lines: u32,
    /// At the top level of a text, where lines are read one by one.
    reading: bool,
    /// The line being run, where others may follow it.
    open_line: Option<lines::Line<'a>>,
    /// An error may have ended the line being run.
    line_may_have_ended: bool,
    /// How many conditions stand around what is being run.
    doubt: u32,
    /// How many `&&` stand before what is being run: it is told as certain, but what it prints may be missing.
    conditional: u32,
    /// The invocation being run, to which effects belong.
    current: Option<u32>,
    /// Invocations that looked in another directory than that in which they were started.
    away: Option<BTreeSet<u32>>,
    /// How many effects and invocations there were when the outermost pipeline began that is being run.
    upstream: Option<(usize, usize)>,
    /// How often a directory was entered that is not itself a name which a search found.
    departures: u32,
    /// What is being run has paths and programs of another machine.
    elsewhere: bool,
    /// Arithmetic is being evaluated in a part that may not be evaluated.
    unsure: u32,
    /// How often, all unrolled loops around it multiplied, what is being run runs.
    turns: usize,
    /// How the next shell starts.
    starting: Starting,
    /// So many subshells, and shells that were started, are around what is being run.
    nested: u32,
    /// How much of the environment belongs to the shells around the one that is being run.
    outer_environment: usize,
    /// The environment of the world was taken away.
    bare: bool,
    /// The shell that is being run reads some of bash's syntax in another way.
    foreign: bool,
    /// How many of the frames belong to the shells around the one that is being run.
    outer_frames: usize,
    /// The command that has just run was an `exec` whose redirections stay.
    keeps_redirections: bool,
    /// Variables to which redirections gave numbers of their own, and when.
    numbered: Vec<(&'a [u8], u32)>,
    /// Variables that hold the descriptors and processes of coprocesses.
    coprocesses: Option<BTreeSet<&'a [u8]>>,
    /// The descriptor by which the next process substitution goes.
    next_descriptor: u32,
    /// So many redirections are around what is being run.
    redirected: u32,
    /// Names of descriptors from which the program reads that is being run.
    read_names: Vec<u32>,
    /// Files that programs have taken up, and what they were handed on, innermost last.
    taken_up: Vec<(&'a [u8], HandedOn<'a>)>,
}

impl std::fmt::Debug for Interpreter<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interpreter").field("state", &self.state).finish_non_exhaustive()
    }
}

impl<'a, 'w> Interpreter<'a, 'w> {
    // Inlined, so that it is made where it lies.
    #[inline(always)]
    fn new(arena: &'a Bump, request: &Request<'a>, world: &'w dyn World, text: &'a [u8]) -> Self {
        let flow = Flow {
            places: Whereabouts::at(Some(request.cwd)),
            arguments: &[],
            zero: None,
            last_argument: None,
            options: given_options(request.dialect),
            standard: [Port::Terminal; 3],
            others: &[],
            stack: Some(&[]),
            previous: None,
            stayed: false,
            settled: 0,
            went: false,
            ended: false,
            quietly: false,
            may_have_ended: false,
            skips: flow::NOWHERE,
            news: &[],
        };
        let Spare { effects, invocations, frames } = spare::take();
        Self {
            arena,
            request: *request,
            world,
            places: Places::new(arena, request, world),
            state: State::new(arena, flow),
            io: Io::default(),
            budget: Budget::for_length(text.len()),
            following: follow::Following::default(),
            effects,
            invocations,
            frames,
            traps: Vec::new(),
            outer_traps: 0,
            defined: Vec::new(),
            in_trap: false,
            trapped: false,
            signalled: false,
            loops_over_names: false,
            gives_prompt_back: false,
            searches_workspace: false,
            programs_at: Vec::new(),
            searched: (&[], false),
            made: None,
            moves: 0,
            moving: moving::Moving::default(),
            calls: 0,
            environment: Vec::new(),
            links: links::Links::default(),
            copies: Vec::new(),
            detours: Vec::new(),
            touched: Vec::new(),
            spare_touched: Vec::new(),
            locked: false,
            unreadable: false,
            removed: Vec::new(),
            refilled: Vec::new(),
            brought: false,
            fallible: 0,
            scripts: racing::Scripts::default(),
            passing: Vec::new(),
            spare: Vec::new(),
            source: text,
            text,
            spans: Spans::Shifted(0),
            functions: &[],
            dialect: request.dialect,
            line: 0,
            lines: 0,
            reading: false,
            open_line: None,
            line_may_have_ended: false,
            doubt: 0,
            conditional: 0,
            current: None,
            away: None,
            upstream: None,
            departures: 0,
            elsewhere: false,
            unsure: 0,
            turns: 1,
            starting: Starting::default(),
            nested: 0,
            outer_environment: 0,
            bare: false,
            foreign: false,
            outer_frames: 0,
            keeps_redirections: false,
            numbered: Vec::new(),
            coprocesses: None,
            next_descriptor: descriptors::LAST_SUBSTITUTION,
            redirected: 0,
            read_names: Vec::new(),
            taken_up: Vec::new(),
        }
    }

    /// The plan; nothing can be run any more.
    fn finish(&mut self) -> Plan<'a> {
        if let Some(what) = self.budget.exhausted() {
            let kind = EffectKind::Unknown { reason: Unknown::Exhausted(what) };
            let certainty = if self.is_certain() { Certainty::Certain } else { Certainty::Possible };
            self.tell(Effect::new(kind, certainty, self.whole(), None));
        }
        // A long command takes most memory here: what is done with goes first.
        self.state.give_up();
        self.io.give_up();
        let (effects, told) = spare::settled(self.arena, take(&mut self.effects));
        let (invocations, started) = spare::settled(self.arena, take(&mut self.invocations));
        spare::give_back(Spare { effects: told, invocations: started, frames: take(&mut self.frames) });
        Plan { invocations, effects, refused: None, notes: &[], led: self.places.all_led() }
    }

    /// Text of the tree for as long as the analysis lasts: the tree may go before. Most of it stands in what is being run.
    #[inline]
    fn lasting(&self, text: &[u8]) -> &'a [u8] {
        let from = text.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        match self.text.get(from..from.saturating_add(text.len())) {
            Some(same) => same,
            None => self.arena.alloc_slice_copy(text),
        }
    }

    /// The span of everything.
    fn whole(&self) -> Span {
        Span::new(0, u32::try_from(self.source.len()).unwrap_or(u32::MAX))
    }

    /// A span of the text being run, in terms of the command that was asked about.
    const fn span(&self, span: Span) -> Span {
        self.spans.map(span)
    }

    /// Records an effect; in doubt it is only possible. What the budget has no room for is covered by its end.
    fn emit_here(&mut self, kind: EffectKind<'a>, span: Span, certainty: Certainty) {
        let certainty = if self.is_certain() { certainty } else { Certainty::Possible };
        let kind = self.hoard_deleted(kind);
        if !self.budget.plan(1) {
            return;
        }
        self.tell(Effect::new(kind, certainty, span, self.current));
        self.judge_change(&kind);
        // The link may not have come about: then it happens where it was said.
        let detours: Vec<_> = self.detours.iter().copied().filter(|(led, _)| leads(kind, led)).collect();
        for (_, named) in detours {
            let kind = instead(kind, named);
            self.tell(Effect::new(kind, Certainty::Possible, span, self.current));
        }
    }

    fn tell(&mut self, effect: Effect<'a>) {
        // A loop or a second working directory says the same again.
        if !self.effects.iter().rev().take(4).any(|e| e.span == effect.span && *e == effect) {
            self.effects.push(effect);
        }
    }

    /// Something was not understood.
    fn unknown(&mut self, reason: Unknown<'a>, span: Span) {
        self.emit_here(EffectKind::Unknown { reason }, span, Certainty::Certain);
    }

    /// Whether what is being run surely runs.
    const fn is_certain(&self) -> bool {
        self.doubt == 0 && !self.may_have_ended()
    }

    /// Whether control may not get here.
    const fn may_have_ended(&self) -> bool {
        self.state.flow.may_have_ended || self.state.flow.ended || self.line_may_have_ended
    }

    /// Runs something that may not be run.
    fn doubtful<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        self.doubt += 1;
        let result = inner(self);
        self.doubt -= 1;
        result
    }

    /// Runs something in a subshell: what it changes of the shell's own state is undone.
    fn isolated<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.state.mark();
        self.nested += 1;
        let result = self.with_traps(inner);
        self.nested -= 1;
        self.budget.spend(self.state.changes(mark.moment()));
        self.state.leave_subshell(&mark);
        self.find_itself();
        result
    }

    /// Runs something with this standard input and returns what it writes to standard output.
    fn captured(&mut self, stdin: Stream<'a>, inner: impl FnOnce(&mut Self)) -> Stream<'a> {
        let [before, ..] = self.state.flow.standard;
        // A program that starts another one hands its own standard input on.
        let own = match before {
            Port::Source(id) | Port::Both(id, _) if self.io.source(id) == stdin => self.io.handed_on(id),
            _ => None,
        };
        let source = own.unwrap_or_else(|| self.io.open_source(stdin));
        self.set_standard(0, Port::Source(source));
        let kind = if self.shows_output() { SinkKind::Shown } else { SinkKind::Capture };
        let output = self.collecting(kind, inner);
        self.set_standard(0, before);
        output
    }

    /// Runs something in a substitution and returns what it writes to standard output.
    fn capturing(&mut self, inner: impl FnOnce(&mut Self)) -> Stream<'a> {
        self.collecting(SinkKind::Capture, inner)
    }

    fn collecting(&mut self, kind: SinkKind<'a>, inner: impl FnOnce(&mut Self)) -> Stream<'a> {
        let [_, before, _] = self.state.flow.standard;
        let sink = self.io.open_sink(kind, self.doubt_now(), None);
        self.set_standard(1, Port::Sink(sink));
        inner(self);
        self.set_standard(1, before);
        let output = self.io.collected(self.arena, sink);
        self.io.retire(sink);
        output
    }

    /// Connects one of the first three descriptors.
    fn set_standard(&mut self, descriptor: usize, port: Port) {
        if let Some(place) = self.state.flow.standard.get_mut(descriptor) {
            *place = port;
        }
    }

    /// How doubtful it is that what is being run runs.
    fn doubt_now(&self) -> u32 {
        let skipped = self.may_have_ended() || self.state.flow.skips != flow::NOWHERE;
        self.doubt + self.conditional + u32::from(skipped)
    }

    /// What comes out of standard input. Reading it leaves less of it for others.
    fn stdin(&mut self) -> Stream<'a> {
        self.reads(0)
    }

    /// Something reads from a descriptor: from that of which the shell reads its script as well, it takes what would have been run.
    fn takes_lines(&mut self, descriptor: u32, span: Span) {
        // bash keeps the script that it reads in one of its own (255).
        let own = descriptor >= flow::FIRST_OWN && !self.state.flow.is_open(descriptor);
        if own || self.io.is_run(self.state.flow.port(descriptor)) {
            self.unknown(Unknown::Construct("a command reads from the script in which it stands"), span);
        }
    }

    /// Whether standard input is the end of a pipe.
    fn is_piped(&self) -> bool {
        matches!(self.state.flow.port(0), Port::Source(id) if self.io.is_pipe(id))
    }

    /// What comes out of a descriptor.
    fn reads(&mut self, descriptor: u32) -> Stream<'a> {
        match self.state.flow.port(descriptor) {
            Port::Source(id) | Port::Both(id, _) => self.io.source(id),
            Port::Terminal => Stream::TERMINAL,
            Port::Closed => Stream::EMPTY,
            Port::Unknown | Port::Sink(_) => Stream { text: None, origins: Origins::UNKNOWN, source: None },
        }
    }

    /// Something has read from standard input, it is not known how much.
    fn consume_stdin(&mut self) {
        let [port, ..] = self.state.flow.standard;
        if !matches!(port, Port::Sink(_)) {
            self.taken(port);
        }
    }

    /// Something is written to standard output.
    fn write_out(&mut self, stream: Stream<'a>) {
        self.write_to(1, stream);
    }

    /// Something is written to a descriptor.
    fn write_to(&mut self, descriptor: u32, stream: Stream<'a>) {
        self.write_to_port(self.state.flow.port(descriptor), stream);
    }

    fn write_to_port(&mut self, port: Port, stream: Stream<'a>) {
        if let Port::Sink(id) | Port::Both(_, id) = port {
            let doubt = self.doubt_now();
            let copied = self.io.write(id, stream, doubt, &mut self.effects);
            self.budget.produce(copied);
        }
        if port == Port::Unknown {
            let any = Stream { text: None, ..stream };
            for id in 0..self.io.sinks() {
                if !self.budget.spend(1) {
                    return;
                }
                self.io.write(id, any, 0, &mut self.effects);
            }
        }
    }
}
