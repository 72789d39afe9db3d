//! Functions, and the frames in which `return`, `break` and `continue` find where they lead.

use super::Interpreter;
use super::branches::Ways;
use super::flow::{ANY_ARGUMENTS, NOWHERE, Opt, Status};
use super::reading;
use super::state::{Body, Branch, Content, Flags, Home, Mark, Slot, Space};
use crate::effect::{Certainty, EffectKind, Unknown};
use crate::value::{Field, Origins};
use shward_syntax::{Dialect, Function, Span};

/// Something being run that control can leave early.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// What it is.
    pub(super) kind: FrameKind<'a>,
    /// The state it started from, if something may lead out of it.
    pub(super) mark: Option<Mark<'a>>,
    /// The states in which it was left (`return`, `break`).
    pub(super) left: Option<Branch<'a>>,
    /// The states in which its turn was ended (`continue`).
    pub(super) continued: Option<Branch<'a>>,
    /// Variables that `local` hid.
    pub(super) locals: Vec<Local<'a>>,
    /// How doubtful it was that it is run.
    pub(super) doubt: u32,
    /// How many assignments before commands stood around it.
    pub(super) environment: usize,
}

/// A variable that `local` hid, and what it was. The flag: surely, if the function was left behind the declaration.
pub(super) type Local<'a> = (&'a [u8], Slot<'a>, bool);

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FrameKind<'a> {
    /// A shell or subshell: nothing leads out of it.
    Shell,
    /// A loop.
    Loop,
    /// A function.
    Function(Body<'a>),
    /// A file that is sourced.
    Source,
}

impl<'a> Frame<'a> {
    pub(super) const fn new(kind: FrameKind<'a>, mark: Mark<'a>) -> Self {
        Self::of(kind, Some(mark))
    }

    /// A shell or subshell.
    pub(super) const fn shell() -> Self {
        Self::of(FrameKind::Shell, None)
    }

    const fn of(kind: FrameKind<'a>, mark: Option<Mark<'a>>) -> Self {
        Self { kind, mark, left: None, continued: None, locals: Vec::new(), doubt: 0, environment: 0 }
    }
}

/// Whether a shell of an agent that is zsh calls a function of this name without being told to (zshmisc(1), "Special Functions").
fn calls_itself(name: &[u8]) -> bool {
    let signal = name.strip_prefix(b"TRAP").is_some_and(|signal| signal.iter().all(u8::is_ascii_uppercase));
    signal
        || matches!(
            name,
            b"chpwd"
                | b"precmd"
                | b"preexec"
                | b"periodic"
                | b"zshaddhistory"
                | b"zshexit"
                | b"command_not_found_handler"
        )
}

impl<'a> Interpreter<'a, '_> {
    /// Defines a function.
    pub(super) fn define(&mut self, function: &Function<'_>) {
        // The tree in which it stands may go before it is called. What defines functions was read to stay.
        let Some(function) = reading::lasting(self.functions, function) else {
            return self.unpredictable("a function that was not read", function.name_span);
        };
        if self.state.flow.options.may(Opt::ExpandAliases)
            && self.state.touched(Space::Alias).any(|(_, slot)| slot.content != Content::Initial)
        {
            // They are expanded when it is read, not when it is run.
            self.unpredictable("a function that is defined where there are aliases", function.name_span);
        }
        let body = Body { function, home: self.home() };
        let old = self.state.get(Space::Function, function.name);
        let flags = old.flags.without(Flags::MAYBE);
        if let Content::Functions(kept) = old.content {
            // Where it is not sure that it is defined, it may be any of those that it was before.
            self.budget.produce(size_of_val(kept));
        }
        let mut bodies = vec![body];
        if let Content::Functions(kept) = old.content
            && flags.has(Flags::READ_ONLY)
        {
            // `readonly -f`: it may stay what it is.
            bodies.extend(kept.iter().filter(|other| **other != body));
        }
        let bodies: &'a [Body<'a>] = self.arena.alloc_slice_copy(&bodies);
        let content = Content::Functions(bodies);
        self.state.set(Space::Function, function.name, Slot { content, flags });
        self.defined.extend(bodies.first());
        if calls_itself(function.name) && self.dialect == Dialect::Bash {
            let span = self.span(function.name_span);
            self.doubtful(|shell| shell.isolated(|shell| shell.call(bodies, &[], span)));
        }
        self.state.flow.places.forget_status();
    }

    /// Where a function stands that is defined now.
    fn home(&self) -> &'a Home<'a> {
        let same = |home: &Home<'a>| {
            home.spans == self.spans
                && std::ptr::eq(home.text, self.text)
                && std::ptr::eq(home.functions, self.functions)
        };
        if let Some(home) = self.defined.last().map(|last| last.home).filter(|home| same(home)) {
            return home;
        }
        self.arena.alloc(Home { spans: self.spans, text: self.text, functions: self.functions })
    }

    /// Whether the variable that is seen stands before another one of its name: one that a function around this one made local,
    /// or one that stands before the command that is being run.
    pub(super) fn hides(&self, name: &[u8]) -> bool {
        self.is_given(name) || self.is_local(name, 1)
    }

    /// Whether a function that is being run made this variable local. The innermost functions, so many, do not count.
    pub(super) fn is_local(&self, name: &[u8], but: usize) -> bool {
        let frames = self.frames.get(self.outer_frames..).unwrap_or_default();
        let mut functions = frames.iter().rev().filter(|frame| matches!(frame.kind, FrameKind::Function(_)));
        functions.by_ref().take(but).for_each(drop);
        functions.any(|frame| frame.locals.iter().any(|(local, ..)| *local == name))
    }

    /// The innermost function being run that made this variable local.
    pub(super) fn innermost(&self, name: &[u8]) -> Option<usize> {
        let frames = self.frames.get(self.outer_frames..).unwrap_or_default();
        frames.iter().rposition(|frame| frame.locals.iter().any(|(local, ..)| *local == name))
    }

    /// Whether an assignment before a command that this shell is running gives this variable a value.
    pub(super) fn is_given(&self, name: &[u8]) -> bool {
        self.environment
            .get(self.outer_environment..)
            .unwrap_or_default()
            .iter()
            .any(|(given, _)| *given == name)
    }

    /// Whether any variable is given to what runs.
    pub(super) fn has_given(&self) -> bool {
        self.environment.len() > self.outer_environment
    }

    /// The functions that a command name may stand for, and whether it may also stand for something else.
    pub(super) fn functions_named(&self, name: &[u8]) -> (&'a [Body<'a>], bool) {
        let slot = self.state.get(Space::Function, name);
        match slot.content {
            Content::Functions(bodies) => (bodies, slot.flags.has(Flags::MAYBE)),
            _ => (&[], true),
        }
    }

    /// Calls a function that is one of these.
    pub(super) fn call(&mut self, bodies: &'a [Body<'a>], argv: &[Field<'a>], span: Span) {
        let arguments = argv.get(1..).unwrap_or_default();
        let arguments: &'a [Field<'a>] = self.arena.alloc_slice_copy(arguments);
        if let [body] = bodies {
            self.call_one(body, arguments, span);
            return;
        }
        let start = self.state.mark();
        let mut ways = Ways::from(&start);
        self.doubt += 1;
        for (index, body) in bodies.iter().enumerate() {
            self.call_one(body, arguments, span);
            if index + 1 < bodies.len() {
                self.add_way(&mut ways);
                self.state.rewind(&start);
            }
        }
        self.doubt -= 1;
        self.join_ways(&mut ways);
    }

    fn call_one(&mut self, body: &Body<'a>, arguments: &'a [Field<'a>], span: Span) {
        let active = self.frames.iter().filter(|frame| frame.kind == FrameKind::Function(*body)).count();
        if active >= 2 {
            // The call in which it stands was analysed for any arguments and any state: this one adds nothing.
            return;
        }
        // What it was called with, and its tree, are kept as parts of a plan are.
        if !self.budget.spend(4) || !self.budget.plan(3) || !self.budget.enter() {
            return;
        }
        let outer_arguments = self.state.flow.arguments;
        self.state.flow.arguments = arguments;
        if arguments != outer_arguments {
            self.called();
        }
        if active == 1 {
            self.recursion(body, span);
        }
        let mut frame = Frame::new(FrameKind::Function(*body), self.state.mark());
        frame.doubt = self.doubt_now();
        frame.environment = self.environment.len();
        self.frames.push(frame);
        let outer = (self.text, self.spans, self.functions);
        (self.text, self.spans, self.functions) = (body.home.text, body.home.spans, body.home.functions);
        let line = self.line;
        self.command(body.function.body);
        self.line = line;
        (self.text, self.spans, self.functions) = outer;
        self.leave_frame();
        self.state.flow.arguments = outer_arguments;
        self.budget.leave();
    }

    /// A function calls itself: from here on it runs with arguments and variables of which nothing is known.
    fn recursion(&mut self, body: &Body<'a>, span: Span) {
        let mut inner = self.frames.iter().rev().take_while(|frame| frame.kind != FrameKind::Function(*body));
        if inner.any(|frame| frame.kind == FrameKind::Shell) {
            // In a pipeline or in the background: each copy starts more of them.
            self.emit_here(EffectKind::System { what: "limits" }, span, Certainty::Certain);
        }
        if self.fallible > 0 {
            // Where it has no end, descriptors have one: the redirection fails, and what follows it runs all the same.
            self.not_understood("a function that calls itself where something is redirected", span);
        }
        self.forget_variables();
        self.state.flow.arguments = &ANY_ARGUMENTS;
    }

    /// Nothing that the script has set is known any more.
    pub(super) fn forget_variables(&mut self) {
        self.budget.spend(self.state.size().saturating_mul(3));
        self.state.set_each(Space::Variable, |_, slot| {
            let content = Content::Unknown(slot.origins().union(Origins::LITERAL));
            Some(Slot { content, flags: slot.flags })
        });
        self.state.flow.places = super::flow::Whereabouts::at(None);
        self.state.flow.previous = None;
        self.state.flow.stack = None;
        self.state.flow.last_argument = None;
    }

    /// Comes back from a function or sourced file: joins the states in which it was left and restores its locals.
    pub(super) fn leave_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if let (Some(left), Some(mark)) = (&frame.left, &frame.mark) {
            self.budget.spend(left.size());
            self.state.join(mark, left);
        }
        self.arrive();
        self.bring_back(&frame.locals);
    }

    /// Behind a frame, or at the end of a turn of it, all ways have come together that left it.
    pub(super) fn arrive(&mut self) {
        if self.state.flow.skips >= self.frames.len() {
            self.state.flow.skips = NOWHERE;
        }
    }

    /// `return`: control leaves the innermost function or sourced file.
    pub(super) fn return_from(&mut self, argv: &[Field<'a>]) {
        if let [_, _, more, ..] = argv {
            self.unknown(Unknown::Argument, more.span);
        }
        match argv.get(1..).unwrap_or_default() {
            // The status of the last command is the function's.
            [] => {}
            [status] => {
                let status =
                    status.known().and_then(|text| std::str::from_utf8(text).ok()?.parse::<u8>().ok());
                self.state.flow.places.conclude(match status {
                    Some(0) => Status::Success,
                    Some(_) => Status::Failure,
                    None => Status::Either,
                });
            }
            _ => self.state.flow.places.forget_status(),
        }
        let place = self.frames.iter().rposition(|frame| !matches!(frame.kind, FrameKind::Loop));
        match place.and_then(|index| self.frames.get(index)) {
            Some(frame) if frame.kind != FrameKind::Shell => {
                self.leave_through(place, false);
                // `--help`, or what may be that, leaves nothing.
                self.state.flow.ended = argv.get(1).is_none_or(|status| match status.known() {
                    Some(text) => !text.starts_with(b"--") || text.len() == 2,
                    None => !status.many && status.value.origins == Origins::LITERAL,
                });
            }
            // Outside of functions it is an error in bash and the end of the script in dash; from a subshell in a function
            // it leads nowhere else.
            _ => {
                self.state.flow.places.conclude(match self.dialect {
                    Dialect::Bash => Status::Failure,
                    Dialect::Posix => Status::Either,
                });
                self.state.flow.may_have_ended |= self.dialect == Dialect::Posix;
                self.shell_may_end();
            }
        }
    }

    /// `break` and `continue`: control leaves this many loops, or ends a turn of the outermost of them.
    pub(super) fn leave_loops(&mut self, count: Option<usize>, continues: bool) {
        // The innermost first. From a sourced file, the loop around `source` is left.
        let inner = self.frames.iter().enumerate().rev();
        let inner = inner.take_while(|(_, frame)| matches!(frame.kind, FrameKind::Loop | FrameKind::Source));
        let loops = inner.filter(|(_, frame)| frame.kind == FrameKind::Loop).map(|(index, _)| index);
        let loops: Vec<usize> = loops.collect();
        if loops.is_empty() {
            let mut around = self.frames.iter().rev().take_while(|frame| frame.kind != FrameKind::Shell);
            if self.dialect == Dialect::Posix && around.any(|frame| frame.kind == FrameKind::Loop) {
                // From a function, dash leaves the loop of its caller.
                self.not_understood("a function of another shell than bash that leaves a loop", self.whole());
            }
            return;
        }
        match count {
            Some(count) => {
                let index = loops.get(count.clamp(1, loops.len()) - 1);
                self.leave_through(index.copied(), continues);
            }
            None => {
                for index in loops.into_iter().rev() {
                    self.leave_through(Some(index), continues);
                }
                self.state.flow.ended = false;
            }
        }
    }

    /// What was given before commands that are left ends with them: `x=a eval return`. `around`: how much stays.
    pub(super) fn forget_given(&mut self, around: usize) {
        let given: Vec<_> =
            self.environment.get(around..).unwrap_or_default().iter().map(|(name, _)| *name).collect();
        for name in given {
            let slot = self.state.get(Space::Variable, name);
            let content = Content::Unknown(slot.origins());
            self.state.set(Space::Variable, name, Slot { content, flags: slot.flags });
        }
    }

    /// Variables that functions hid are again what they were.
    pub(super) fn bring_back(&mut self, locals: &[Local<'a>]) {
        for (name, slot, sure) in locals.iter().rev() {
            let now = self.state.get(Space::Variable, name);
            let slot = if *sure { *slot } else { super::state::join_slots(self.arena, *slot, now) };
            self.state.set(Space::Variable, name, slot);
        }
    }

    fn leave_through(&mut self, index: Option<usize>, continues: bool) {
        let Some(around) = index.and_then(|index| self.frames.get(index)).map(|frame| frame.environment)
        else {
            return;
        };
        self.forget_given(around);
        let Some(frame) = index.and_then(|index| self.frames.get_mut(index)) else { return };
        let Some(mark) = &frame.mark else { return };
        let branch = self.state.branch(mark);
        self.budget.spend(branch.size());
        let place = if continues { &mut frame.continued } else { &mut frame.left };
        match place {
            Some(left) => left.absorb(&branch, self.arena),
            none => *none = Some(branch),
        }
        self.state.flow.ended = true;
        self.state.flow.quietly = true;
        self.state.flow.skips = self.state.flow.skips.min(index.unwrap_or(0));
    }

    /// A builtin that the shell reads differently than it is understood here.
    pub(super) fn not_understood(&mut self, what: &'static str, span: Span) {
        self.unknown(Unknown::Construct(what), span);
    }
}
