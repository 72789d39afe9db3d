//! `scp`, and what it has in common with `rsync`: operands that name a place on another machine (`host:path`, `rsync://host/…`) or here.

use crate::effect::{EffectKind, Unknown, WriteMode};
use crate::knowledge::apply;
use crate::knowledge::flow::Use;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::value::{Field, Origins, Stream};

/// Reads the arguments of `scp`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    read_as(run, at, Form::Files)
}

/// What is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Files, to a file or a directory.
    Files,
    /// Trees, to a directory, with rules for what of them.
    Trees,
}

/// Reads the arguments of what copies from one machine to another.
pub(super) fn read_as<'a>(run: &mut Run<'_, 'a>, at: &At<'a>, form: Form) -> Stream<'a> {
    let scan = run.scan(at);
    // What is said of operands is said of these very words, of which there may be many.
    let operands = scan.operands.as_ptr_range();
    let places = |field: &Field<'a>| operands.contains(&std::ptr::from_ref(field));
    let mut uses = apply::uses(run, &scan);
    uses.retain(|u| !(u.role == Role::Text && places(u.field)));
    let (target, sources) = match scan.operands.split_last() {
        Some((target, sources)) if !sources.is_empty() || scan.has(&["--read-batch"]) => {
            (Some(target), sources)
        }
        _ => (None, &scan.operands[..]),
    };
    let sends = target.is_some_and(is_remote);
    for source in sources {
        let role = match (is_remote(source), sends) {
            (true, _) => Role::Download,
            (false, true) => Role::Upload,
            (false, false) => Role::Read,
        };
        uses.push(Use { role, field: source });
    }
    if let Some(target) = target {
        let role = if sends { Role::Connect } else { below(form, target) };
        uses.push(Use { role, field: target });
        if scan.has(&[
            "--delete",
            "--del",
            "--delete-before",
            "--delete-during",
            "--delete-delay",
            "--delete-after",
            "--delete-excluded",
        ]) && !scan.narrow
            && !sends
        {
            // Whatever is at the target and not at the source goes.
            run.deletes(target, true);
        }
    }
    for rule in scan.values(&["--filter", "-f"]) {
        if form == Form::Trees {
            merge(run, &rule);
        }
    }
    for list in scan.values(&["--files-from"]).filter(is_remote) {
        uses.push(Use { role: Role::Connect, field: run.arena().alloc(list) });
    }
    if scan.has(&["--remove-source-files"]) && !scan.narrow {
        for source in sources.iter().filter(|s| !is_remote(s)) {
            run.deletes(source, true);
        }
    }
    let output = apply::apply_as(run, &scan, &uses);
    if scan.narrow {
        // What would be done is written there all the same.
        for file in scan.values(&["--log-file"]) {
            run.writes(&file, WriteMode::Append, Stream::unknown(Origins::FILE, file.span));
        }
    }
    if sends && scan.has(&["--delete"]) && !scan.narrow {
        let span = run.call.span;
        run.does(EffectKind::Remote { action: "destroy", service: "rsync" }, span);
    }
    if scan.operands.iter().any(|o| o.value.known_prefix().is_empty() && o.value.has_unknown()) {
        run.not_understood(Unknown::Argument, run.call.span);
    }
    output
}

/// A filter rule that has more of them read from a file (`merge FILE`, `. FILE`): a line that is none is printed.
fn merge<'a>(run: &mut Run<'_, 'a>, rule: &Field<'a>) {
    let prefix = rule.value.known_prefix();
    let rest = prefix.strip_prefix(b"merge").or_else(|| prefix.strip_prefix(b"."));
    match rest.and_then(|rest| rest.iter().position(|b| matches!(b, b' ' | b'_'))) {
        Some(at) => {
            let cut = prefix.len() - rest.map_or(0, <[u8]>::len) + at + 1;
            let file = Field { value: values::after(run.arena(), &rule.value, cut), ..*rule };
            run.reads(&file, false);
        }
        None if prefix.is_empty() => run.not_understood(Unknown::Argument, rule.span),
        None => {}
    }
}

/// A target that is a directory by its spelling is written below, else it may be either.
fn below<'a>(form: Form, target: &Field<'a>) -> Role {
    // One of many files that are there may be replaced.
    let directory = form == Form::Trees && !target.value.names_what_is_there()
        || target.known().is_some_and(|t| t.ends_with(b"/") || values::base_name(t) == b".");
    if directory { Role::WriteBelow } else { Role::Dest }
}

/// A colon before any slash makes the rest a path elsewhere.
fn is_remote(field: &Field<'_>) -> bool {
    let prefix = field.value.known_prefix();
    let end = prefix.iter().position(|b| matches!(b, b':' | b'/'));
    end.is_some_and(|at| prefix.get(at) == Some(&b':') && at > 0)
}
