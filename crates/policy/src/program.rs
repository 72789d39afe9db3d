//! Which file a program is: a name is looked up as the shell will, a path loses its detours, and links are followed.
//!
//! A rule that asks or denies is about a program by whichever of its names it says. What is found here only adds to the names
//! that a program is known by, so that it can only tighten; an allowance goes by what the command says.

use crate::Context;
use crate::pattern;
use shward_analysis::{Invocation, World};
use std::borrow::Cow;

/// Programs that are what the name of a link to them says. That one of them is denied says nothing of what the links are.
const MANY_IN_ONE: [&[u8]; 10] = [
    b"busybox",
    b"toybox",
    b"coreutils",
    b"rustup",
    b"rustup-init",
    b"snap",
    b"volta-shim",
    b"mise",
    b"ccache",
    b"distcc",
];

/// The file of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct File {
    /// Where its name or path leads, if that is known and says more than the command does.
    found: Option<Vec<u8>>,
    /// That with every link followed, if it is another.
    real: Option<Vec<u8>>,
}

impl File {
    /// A program whose file nobody looks for.
    pub(crate) const NONE: &'static Self = &Self { found: None, real: None };

    /// That of an invocation. Without a world, a name leads nowhere.
    pub(crate) fn of(invocation: &Invocation<'_>, context: &Context<'_>, world: Option<&dyn World>) -> Self {
        let Some(program) = invocation.program.filter(|p| !p.is_empty() && !invocation.builtin) else {
            return Self::default();
        };
        let cwd = invocation.cwd.unwrap_or(context.cwd);
        let named = if program.contains(&b'/') {
            Some(Cow::Borrowed(program))
        } else {
            world.and_then(|world| world.program(program)).flatten()
        };
        let Some(named) = named else { return Self::default() };
        let found = normalised(&named, cwd);
        let real = world.and_then(|world| world.canonical(&found)).filter(|real| **real != *found);
        let real = real.map(Cow::into_owned);
        Self { found: (*found != *program).then(|| found.into_owned()), real }
    }

    /// The last name of what the links lead to.
    pub(crate) fn real_name(&self) -> Option<&[u8]> {
        self.real.as_deref().map(base)
    }

    /// Whether a rule that asks or denies is about this program by an entry of its list.
    pub(crate) fn is_meant(&self, entry: &[u8], program: &[u8]) -> bool {
        let paths = [Some(program), self.found.as_deref(), self.real.as_deref()];
        if entry.contains(&b'/') {
            let (entry, name) = (merged(entry), base(entry));
            // A bare name may be the file of that name; that it may be any file of a directory only where it is not known.
            let may_be = !program.contains(&b'/') && (self.found.is_none() || !name.contains(&b'*'));
            return paths.into_iter().flatten().any(|path| pattern::matches(entry, merged(path)))
                || (may_be && pattern::matches(name, program));
        }
        let is_link = |name: &[u8]| !MANY_IN_ONE.contains(&name);
        pattern::matches(entry, base(program))
            || self.real_name().is_some_and(|name| is_link(name) && pattern::matches(entry, name))
    }
}

/// Of the directories that are one on most systems (file-hierarchy(7)), the shorter name.
fn merged(path: &[u8]) -> &[u8] {
    match path.strip_prefix(b"/usr") {
        Some(rest) if rest.starts_with(b"/bin/") || rest.starts_with(b"/sbin/") => rest,
        _ => path,
    }
}

/// The last part of a program's name.
pub(crate) fn base(program: &[u8]) -> &[u8] {
    program.rsplit(|b| *b == b'/').next().unwrap_or_default()
}

/// A path against a directory, without `.`, `..` and doubled slashes; a bare name as it is.
pub(crate) fn normalised<'p>(path: &'p [u8], cwd: &[u8]) -> Cow<'p, [u8]> {
    if !path.contains(&b'/') {
        return Cow::Borrowed(path);
    }
    let start: &[u8] = if path.starts_with(b"/") { b"" } else { cwd };
    let mut names: Vec<&[u8]> = Vec::new();
    for name in start.split(|b| *b == b'/').chain(path.split(|b| *b == b'/')) {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let mut out = Vec::new();
    for name in names {
        out.push(b'/');
        out.extend_from_slice(name);
    }
    Cow::Owned(out)
}
