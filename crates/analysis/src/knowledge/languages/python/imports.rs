//! Imports: which names get which modules.

use super::Reader;
use super::acts::Act;
use super::modules::{self, Module};
use super::symbols::Sym;
use super::tokens::{Keyword as K, Token};
use super::value::Val;
use crate::effect::{EffectKind, Rest};
use crate::value::Origins;
use bumpalo::collections::Vec as BumpVec;

/// Packages of the standard library whose parts only compute.
const HARMLESS_PACKAGES: [&[u8]; 13] = [
    b"collections",
    b"concurrent",
    b"curses",
    b"email",
    b"encodings",
    b"html",
    b"http",
    b"importlib",
    b"json",
    b"unittest",
    b"urllib",
    b"xml",
    b"zoneinfo",
];

/// Most files that one name is taken for.
const MAX_FOUND: usize = 4;

/// The longest file of the script's own that an import is followed into.
const MAX_FOLLOWED: usize = 64 << 10;

impl<'a> Reader<'_, '_, 'a> {
    /// `import a.b as c, d`
    pub(super) fn import(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let first = self.take_name()?;
            let mut path = BumpVec::from_iter_in(self.name(first).iter().copied(), self.report.arena);
            while self.take(Token::Dot) {
                let part = self.take_name()?;
                path.push(b'.');
                path.extend_from_slice_copy(self.name(part));
            }
            let whole = self.module(path.into_bump_slice());
            if self.take_keyword(K::As) {
                let name = self.take_name()?;
                self.bind(name, whole);
            } else {
                let root = self.module(self.name(first));
                self.bind(first, root);
            }
            if !self.take(Token::Comma) {
                return Some(());
            }
        }
    }

    /// `from a.b import c as d, e`, `from a import *`, `from .a import b`
    pub(super) fn import_from(&mut self) -> Option<()> {
        self.at += 1;
        let mut relative = false;
        while self.take(Token::Dot) || self.take(Token::Ellipsis) {
            relative = true;
        }
        let mut path = BumpVec::new_in(self.report.arena);
        while let Some(part) = self.take_name() {
            path.extend_from_slice_copy(self.name(part));
            if !self.take(Token::Dot) {
                break;
            }
            path.push(b'.');
        }
        let path = path.into_bump_slice();
        self.expect(Token::Keyword(K::Import))?;
        let module = if relative { self.own_module(path) } else { self.module(path) };
        if self.take(Token::Operator(b'*')) {
            // What was read before did not know of these names.
            self.unsettled = true;
            self.repeats.changes();
            self.repeats.never_repeat();
            match module {
                Val::Module(module) => {
                    self.stars.push(module);
                    if module.members.is_empty() && !module.rest.is_inert() {
                        self.escape(&Val::Act(module.rest));
                    }
                }
                Val::Foreign => self.foreign_star = true,
                other => self.escape(&other),
            }
            return Some(());
        }
        let parenthesised = matches!(self.peek(), Token::Open { kind: b'(', .. });
        self.at += usize::from(parenthesised);
        while let Some(name) = self.take_name() {
            let val = self.member_or_submodule(&module, path, name);
            let bound = if self.take_keyword(K::As) { self.take_name()? } else { name };
            self.bind(bound, val);
            if !self.take(Token::Comma) {
                break;
            }
        }
        if parenthesised { self.expect(Token::Close) } else { Some(()) }
    }

    fn member_or_submodule(&mut self, module: &Val<'a>, path: &'a [u8], name: Sym) -> Val<'a> {
        if let Val::Module(known) = module {
            return self.member(known, self.name(name));
        }
        if matches!(module, Val::Foreign) {
            // What is imported from the project may be any of its modules.
            let path = crate::knowledge::values::concat(self.report.arena, &[path, b".", self.name(name)]);
            self.written_module(path);
        }
        self.attribute(module, name)
    }

    /// The module of this dotted name.
    pub(super) fn module(&mut self, path: &'a [u8]) -> Val<'a> {
        let root = path.split(|b| *b == b'.').next().unwrap_or_default();
        if let Some(module) = modules::find(path) {
            // Python looks into the working directory first.
            self.written_module(root);
            if module.rest == Act::Project {
                self.report.project();
            }
            return Val::Module(module);
        }
        // The nearest package that is known.
        let mut above = path;
        while let Some(end) = above.iter().rposition(|b| *b == b'.') {
            above = above.get(..end).unwrap_or_default();
            let Some(package) = modules::find(above) else { continue };
            return match package.rest {
                Act::Inert if !HARMLESS_PACKAGES.contains(&root) => Val::Act(Act::Code("python")),
                // What it imports for itself is found through it as through the package.
                Act::Inert => Val::Module(package),
                rest => Val::Act(rest),
            };
        }
        if root.starts_with(b"_") && root != b"__main__" && root.len() > 1 {
            return Val::Act(Act::Code("python"));
        }
        self.own_module(path)
    }

    /// A module of the project, or of a package that it uses.
    fn own_module(&mut self, path: &'a [u8]) -> Val<'a> {
        self.report.project();
        self.written_module(path);
        Val::Foreign
    }

    /// What a module that this script itself has written does.
    fn written_module(&mut self, path: &'a [u8]) {
        let made = Origins::WRITTEN | Origins::NETWORK | Origins::DECODED;
        let arena = self.report.arena;
        let mut file: BumpVec<'a, u8> = BumpVec::with_capacity_in(path.len() + 12, arena);
        file.extend(path.iter().map(|b| if *b == b'.' { b'/' } else { *b }));
        let stem = file.into_bump_slice();
        let mut files: Vec<&'a [u8]> = [&b".py"[..], b"/__init__.py"]
            .map(|ending| crate::knowledge::values::concat(arena, &[stem, ending]))
            .to_vec();
        if self.searches_elsewhere {
            files.extend(self.written_elsewhere(&files));
        }
        for file in files {
            let value = self.report.literal(file);
            if self.report.rehearses_following(value, made) || !self.report.session.has_made_files() {
                continue;
            }
            let content = self.report.session.script_text(&value);
            if !content.origins.intersects(made) {
                continue;
            }
            match content.text.filter(|text| text.len() <= MAX_FOLLOWED) {
                Some(text) => self.follow(text),
                None => self.report.code_elsewhere(content.origins),
            }
        }
    }

    /// Files that the script has written, in whatever directory, under one of these names.
    fn written_elsewhere(&mut self, names: &[&'a [u8]]) -> Vec<&'a [u8]> {
        self.report.asks();
        let effects = self.report.session.effects();
        let steps = effects.len();
        let made = effects.iter().rev().filter_map(|effect| match effect.kind {
            EffectKind::Write { target, .. } if target.rest == Rest::Exact => Some(target.path),
            _ => None,
        });
        let is_one = |path: &&'a [u8]| {
            names.iter().any(|name| path.strip_suffix(*name).is_some_and(|above| above.ends_with(b"/")))
        };
        let mut found: Vec<&'a [u8]> = Vec::new();
        for path in made.filter(is_one) {
            if found.len() <= MAX_FOUND && !found.contains(&path) {
                found.push(path);
            }
        }
        self.report.session.works(steps);
        if found.len() > MAX_FOUND {
            self.report.not_understood("a module of a name that many files have");
        }
        found
    }

    /// A member of a known module.
    pub(super) fn member(&mut self, module: &'static Module, name: &[u8]) -> Val<'a> {
        let mut dotted: BumpVec<'a, u8> = BumpVec::with_capacity_in(64, self.report.arena);
        dotted.extend_from_slice_copy(module.name.as_bytes());
        dotted.push(b'.');
        dotted.extend_from_slice_copy(name);
        if let Some(sub) = modules::find(&dotted) {
            return Val::Module(sub);
        }
        if let Some(act) = modules::member(module, name) {
            return self.act_value(act);
        }
        // What a module does as a program, by arguments that may have been changed.
        if name == b"main" && module.rest == Act::Inert && module.name != "unittest" {
            return Val::Act(Act::Code("python"));
        }
        if let Some(other) = modules::find(name).filter(|_| module.rest != Act::Project) {
            // What a module imports for itself can be reached through it.
            return if is_own_name(module, name) { self.act_value(module.rest) } else { Val::Module(other) };
        }
        if name.starts_with(b"_") {
            return match name {
                b"__name__" | b"__file__" | b"__doc__" | b"__version__" | b"__all__" | b"__path__" => {
                    Val::Data
                }
                _ => Val::Act(Act::Code("python")),
            };
        }
        if module.rest == Act::Project {
            return if super::calls::is_carried(name) {
                modules::find(name).map_or(Val::Foreign, Val::Module)
            } else {
                Val::Foreign
            };
        }
        self.act_value(module.rest)
    }
}

/// Names of modules that are also ordinary members of others.
fn is_own_name(module: &Module, name: &[u8]) -> bool {
    matches!(
        (module.name, name),
        ("datetime", b"datetime" | b"time")
            | ("glob", b"glob")
            | ("copy", b"copy")
            | ("array", b"array")
            | ("bisect", b"bisect")
            | ("decimal", b"decimal")
            | ("calendar", b"calendar")
            | ("pprint", b"pprint")
            | ("time", b"time")
            | ("random", b"random")
            | ("uuid", b"uuid")
            | ("operator", b"abc" | b"operator")
            | ("re", b"copyreg" | b"enum" | b"functools")
            | ("sys", b"platform" | b"copyright")
            | ("platform", b"platform")
            | ("fnmatch", b"fnmatch")
            | ("getopt", b"getopt")
            | ("getpass", b"getpass")
            | ("gettext", b"gettext")
            | ("signal", b"signal")
            | ("select", b"select")
            | ("html", b"html")
            | ("timeit", b"timeit")
            | ("netrc", b"netrc")
            | ("tokenize", b"tokenize")
            | ("typing", b"abc")
    )
}
