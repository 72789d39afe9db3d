//! From roles to effects.
//!
//! What is read comes first, because what is written, sent and printed carries its origins; then what is changed; then
//! what is executed.

use super::acts::{Phase, act, acts, has_acts, load_anything, recursive};
use super::change::{change, content, take_back};
use super::evaluate;
use super::execute::execute;
use super::flow::{Flow, Use, Uses};
use super::foreign::foreign;
use super::image::List;
use super::languages::project;
use super::linking;
use super::names;
use super::network;
use super::reading::{read, read_stdin};
use super::run::Run;
use super::scan::Scan;
use super::tables::{Item, Kind, Repeat};
use super::unpacked;
use super::values;
use super::words::{Computed, Fact, Output, Role, Style};
use crate::effect::{Unknown, WriteMode};
use crate::value::{Field, Origins, Stream};
use bumpalo::collections::Vec as BumpVec;
use std::cell::OnceCell;

/// The directory changes among the options of this level.
pub(crate) fn directories<'a>(scan: &Scan<'a>) -> Vec<Field<'a>> {
    let chdirs = scan.own().iter().filter(|g| g.option.role == Role::Chdir).filter_map(|g| g.value).copied();
    chdirs.collect()
}

/// Records the effects of split arguments; returns standard output.
pub(crate) fn apply<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Stream<'a> {
    let uses = uses(run, scan);
    apply_as(run, scan, &uses)
}

/// As [`apply`], with other roles for values and operands than the tables give them.
pub(crate) fn apply_as<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, uses: &Uses<'_, 'a>) -> Stream<'a> {
    let directories = directories(scan);
    let mut output = Stream::EMPTY;
    run.within(&directories, &mut |run| output = apply_uses(run, scan, uses));
    output
}

/// Values and operands with their roles.
pub(crate) fn uses<'s, 'a>(run: &mut Run<'_, 'a>, scan: &'s Scan<'a>) -> Uses<'s, 'a> {
    let any = !(scan.given.is_empty() && scan.operands.is_empty());
    let mut uses = Uses::with_capacity(if any { 3 } else { 0 });
    for given in &scan.given {
        if let Some(field) = given.value {
            uses.push(Use { role: given.option.role, field });
        }
    }
    if scan.lost {
        return uses;
    }
    let items = scan.operands_line().map_or(List::NONE, |line| line.items);
    let mut shares = Shares::new(items, &scan.operands);
    let elsewhere = run.call.stdin.origins != Origins::TERMINAL
        && scan.levels.last().is_some_and(|level| level.stdin_before_default());
    let bare = scan.levels.last().is_some_and(|level| level.style() == Style::Bare);
    for item in items.iter().filter(is_operand) {
        let share = shares.of(&item);
        uses.push_all(item.role, share);
        if bare && is_place(item.role) {
            for field in share {
                let Some(at) = joined_at(field.value.known_prefix()) else { continue };
                let value = values::after(run.arena(), &field.value, at);
                uses.push(Use { role: item.role, field: run.arena().alloc(Field { value, ..*field }) });
            }
        }
        if let Some(place) = item.default
            && share.is_empty()
            && (recursive(scan) || item.role == Role::WriteBelow)
            && !elsewhere
        {
            let field = values::field(place.as_bytes(), Origins::LITERAL, run.call.span);
            uses.push(Use { role: item.role, field: run.arena().alloc(field) });
        }
    }
    let left_over = shares.left;
    if let Some(first) = left_over.first() {
        run.not_understood(Unknown::Argument, first.span);
        uses.push_all(Role::Text, left_over);
    }
    uses
}

/// Whether a word in this role names a place that is changed.
fn is_place(role: Role) -> bool {
    matches!(role, Role::Write | Role::Append | Role::Modify | Role::WriteBelow | Role::Dest)
}

/// Where a path begins in an option whose name is not known: `--name=PATH`, `-o/PATH`, `-o../PATH`.
fn joined_at(word: &[u8]) -> Option<usize> {
    let name = word.strip_prefix(b"-")?;
    if let Some(at) = name.iter().position(|byte| *byte == b'=') {
        return Some(at + 2);
    }
    let is_path = |rest: &[u8]| rest.starts_with(b"/") || rest.starts_with(b"./") || rest.starts_with(b"../");
    (name.first() != Some(&b'-') && is_path(name.get(1..)?)).then_some(2)
}

/// Whether an item stands for operands, and not for a command.
fn is_operand(item: &Item) -> bool {
    !item.role.is_command()
}

/// Gives each item its operands; fixed items at the end take the last words.
struct Shares<'a, 'o> {
    /// What no item has taken.
    left: &'o [Field<'a>],
    /// So many of that no fixed item needs.
    spare: usize,
}

impl<'a, 'o> Shares<'a, 'o> {
    fn new(items: List<Item>, operands: &'o [Field<'a>]) -> Self {
        let fixed = |item: &Item| is_operand(item) && matches!(item.repeat, Repeat::One | Repeat::Some);
        let needed = items.iter().filter(fixed).count();
        Self { left: operands, spare: operands.len().saturating_sub(needed) }
    }

    /// The operands that are meant by the next item.
    fn of(&mut self, item: &Item) -> &'o [Field<'a>] {
        let count = match item.repeat {
            Repeat::One => 1,
            Repeat::Maybe => self.spare.min(1),
            Repeat::Any => self.spare,
            Repeat::Some => 1 + self.spare,
        };
        if !matches!(item.repeat, Repeat::One) {
            self.spare = self.spare.saturating_sub(count);
        }
        let (share, left) = self.left.split_at(count.min(self.left.len()));
        self.left = left;
        share
    }
}

fn apply_uses<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, uses: &Uses<'_, 'a>) -> Stream<'a> {
    if scan.info {
        return about(run, scan);
    }
    let first_effect = run.session.effects().len();
    let mut flow = Flow {
        origins: Origins::NONE,
        source: None,
        sent: Origins::NONE,
        input: evaluate::wants(run, scan).then(|| BumpVec::new_in(run.arena())),
        stdin: false,
        tree: recursive(scan),
        here: false,
        told: OnceCell::new(),
    };
    for (role, fields) in uses.runs() {
        for field in *fields {
            read(run, &mut flow, scan, &Use { role: *role, field });
        }
    }
    read_stdin(run, &mut flow, scan, uses);
    let mut endpoints = 0usize;
    for (role, fields) in uses.runs() {
        for field in *fields {
            endpoints += usize::from(network::collect(run, &mut flow, &Use { role: *role, field }));
        }
    }
    let has_acts = has_acts(scan);
    if has_acts {
        acts(run, &mut flow, scan, endpoints, Phase::Reading);
    }
    for (role, fields) in uses.runs() {
        for field in *fields {
            if !run.session.goes_on() {
                break;
            }
            let each = Use { role: *role, field };
            change(run, &flow, scan, uses, &each);
            network::connect(run, &flow, &each);
        }
    }
    if run.has(Fact::Links, scan) {
        linking::links(run, scan, uses);
    }
    if has_acts {
        load_anything(run, scan);
        acts(run, &mut flow, scan, endpoints, Phase::Acting);
    } else {
        project::follow(run, scan);
    }
    if flow.here {
        unpacked::here(run, scan, uses, content(run, &flow, WriteMode::Below));
    }
    network::keeps_by_address(run, scan, uses);
    if scan.narrow {
        take_back(run, first_effect);
    }
    foreign(run, uses, first_effect);
    let executed = execute(run, &mut flow, scan, uses);
    output(run, scan, &flow, executed)
}

/// Text about the program is printed, with what some of it tells besides.
fn about<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Stream<'a> {
    let span = run.call.span;
    let mut flow = Flow {
        origins: Origins::LITERAL,
        source: None,
        sent: Origins::NONE,
        input: None,
        stdin: false,
        tree: false,
        here: false,
        told: OnceCell::new(),
    };
    for given in scan.given.iter().filter(|given| given.option.kind == Kind::Info) {
        for each in given.option.acts.iter() {
            act(run, &mut flow, each, 0, Phase::Reading);
        }
    }
    Stream::unknown(flow.origins, span)
}

/// Standard output.
fn output<'a>(
    run: &mut Run<'_, 'a>,
    scan: &Scan<'a>,
    flow: &Flow<'a>,
    executed: Option<Stream<'a>>,
) -> Stream<'a> {
    let span = run.call.span;
    let kind = scan.levels.last().map_or(Output::Origins(&[]), |level| level.output());
    if let Some(inner) = executed {
        return match kind {
            Output::Origins([]) => inner,
            _ => Stream {
                text: None,
                origins: inner.origins | named(kind),
                source: inner.source.or(Some(span)),
            },
        };
    }
    let decoded = if evaluate::decodes(run, scan, flow.origins) { Origins::DECODED } else { Origins::NONE };
    let may_be_known = !scan.unlisted && run.session.prints(0);
    let evaluated = if may_be_known { evaluate::output(run, scan, flow.input.as_deref()) } else { None };
    if let Some(text) = evaluated {
        run.session.prints(text.len());
        return Stream {
            text: Some(text),
            origins: flow.origins | decoded,
            source: flow.source.or(Some(span)),
        };
    }
    match kind {
        Output::None => Stream::unknown(Origins::NONE, span),
        Output::Status if names::lists_here(run, scan) => {
            if scan.operands.iter().any(|operand| operand.value.has_glob()) {
                // Of a directory among them names are printed that are looked up here.
                let here = values::field(b".", Origins::LITERAL, span);
                run.lists(&here, false);
            }
            Stream::unknown(Origins::NAMES, span)
        }
        Output::Status => Stream::unknown(Origins::FILE | Origins::UNKNOWN, span),
        Output::Origins(_) => {
            // The number of a process that is printed alone is that, if it is printed as it is.
            let computed = run.program.computes().map(|(how, _)| how);
            let whole = matches!(computed, Some(Computed::Whole | Computed::Words));
            let printed = match flow.origins {
                Origins::JOB if whole => Origins::NONE,
                origins if origins.intersects(Origins::JOB.union(Origins::NOTED)) && !whole => {
                    named(kind) | Origins::UNKNOWN
                }
                _ => named(kind),
            };
            let origins = names::kept(run, scan, flow.origins | printed | decoded);
            Stream { text: None, origins, source: flow.source.or(Some(span)) }
        }
    }
}

/// The origins that an `output` line names.
fn named(output: Output) -> Origins {
    let Output::Origins(names) = output else { return Origins::NONE };
    names.iter().filter_map(|name| Origins::from_name(name)).fold(Origins::NONE, Origins::union)
}
