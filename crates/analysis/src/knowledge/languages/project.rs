//! What the workspace's own build files tell a program to run: recipes of a Makefile or justfile, scripts of a
//! package.json or composer.json, tasks of a deno.json. Running them is the project's own business; they are followed
//! only for what is grave ([`Session::follow`]), and what is not certain of them is left out. What the same command has
//! written there is judged like any other text that it executes.

use super::super::provenance::{NOT_OF_THE_PROJECT, copy_of, linked};
use super::super::run::Run;
use super::super::scan::Scan;
use super::super::values;
use super::super::words::Build;
use super::makefile;
use super::members::{member, unquoted};
use crate::effect::Unknown;
use crate::session::{Reentry, Session};
use crate::value::{Origins, Stream, Value};
use shward_syntax::Dialect;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Most recipes that one command is followed into.
const MAX_RECIPES: usize = 16;

/// Most lines of a build file that are read.
const MAX_LINES: usize = 4096;

/// Follows what this program takes from the build file in its working directory.
pub(crate) fn follow<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) {
    let Some((build, known)) = run.program.follows() else { return };
    if !scan.allows(&known) {
        return;
    }
    let scripts: &[&'static [u8]] = match build {
        Build::Makefile | Build::Justfile => &[],
        Build::Package => &[b"package.json"],
        Build::Tasks if run.call.argv.get(1).and_then(|word| word.known()) == Some(b"task") => {
            &[b"deno.json", b"deno.jsonc", b"package.json"]
        }
        Build::Tasks => return,
        Build::Composer => &[b"composer.json"],
    };
    let words = words_of(run, build);
    if !scripts.is_empty() && matches!(words.first(), Some(&(b"pkg" | b"set-script" | b"version"))) {
        // These change what stands there.
        return;
    }
    let operands: Vec<&'a [u8]> = scan.operands.iter().filter_map(|field| field.known()).collect();
    let makes = build == Build::Makefile;
    if operands.len() != scan.operands.len() || scan.narrow && !makes {
        return;
    }
    let given = scan.value(&["-f", "--file", "--makefile", "--justfile"]).map(|field| field.known());
    let names: &[&'static [u8]] = match build {
        Build::Makefile => &MAKEFILES,
        Build::Justfile => &[b"justfile", b"Justfile", b".justfile"],
        _ => scripts,
    };
    let names: Vec<&'a [u8]> = match given {
        Some(Some(name)) => vec![name],
        Some(None) => Vec::new(),
        None => names.to_vec(),
    };
    let mut files: Vec<_> = names.into_iter().find_map(|name| build_file(run, name)).into_iter().collect();
    if scripts.contains(&b"package.json".as_slice()) {
        // Another directory that it is told to work in, or a workspace of its.
        for path in super::super::written::of_name(run, b"package.json") {
            files.extend(
                build_file(run, path).filter(|(content, _)| content.origins.intersects(NOT_OF_THE_PROJECT)),
            );
        }
    }
    for (content, text) in files {
        follow_file(run, scan, build, (content, text), &words, &operands);
    }
}

/// The words that the program is given, without where it is told to work.
fn words_of<'a>(run: &Run<'_, 'a>, build: Build) -> Vec<&'a [u8]> {
    const PLACES: [&[u8]; 8] =
        [b"--prefix", b"-C", b"--dir", b"--cwd", b"-w", b"--workspace", b"--filter", b"-F"];
    let mut words: Vec<&'a [u8]> = Vec::new();
    let mut rest = run.call.argv.iter().skip(1).filter_map(|field| field.known());
    while let Some(word) = rest.next() {
        let scripts = !matches!(build, Build::Makefile | Build::Justfile);
        if scripts && PLACES.contains(&word) || words.is_empty() && word == b"workspace" {
            rest.next();
        } else {
            words.push(word);
        }
    }
    words
}

/// Follows what the program takes from one build file.
fn follow_file<'a>(
    run: &mut Run<'_, 'a>,
    scan: &Scan<'a>,
    build: Build,
    (content, text): (Stream<'a>, &'a [u8]),
    words: &[&'a [u8]],
    operands: &[&'a [u8]],
) {
    let written = content.origins.intersects(NOT_OF_THE_PROJECT);
    let found = match build {
        Build::Makefile | Build::Justfile => {
            let rules = Rules::of(text, b':');
            let mut found = rules.commands(operands, scan.narrow);
            if build == Build::Makefile {
                shell_calls(text, &mut found);
            }
            if written {
                rules.elsewhere.iter().for_each(|word| include(run, word));
                found.unread.extend_from_slice(&rules.unread);
                found.cut |= rules.cut;
            }
            found
        }
        _ => match scan.value(&["--run"]).and_then(|name| name.known()) {
            Some(name) => scripts_of(text, name),
            None => package_scripts(text, words.iter().copied()),
        },
    };
    if written {
        untold(run, &found, content);
    }
    let span = run.call.span;
    for command in found.commands.into_iter().take(MAX_RECIPES) {
        let text = run.arena().alloc_slice_copy(&command);
        let execute = |session: &mut dyn Session<'a>| {
            session.perhaps(&mut |session| {
                session.run_text(text, Dialect::Posix, &[], Stream::EMPTY, Reentry::New, span);
            });
        };
        if written {
            execute(run.session);
        } else {
            run.session.follow(&mut |session| execute(session));
        }
    }
}

/// A build file of this name, and its text if that is known and read.
fn build_file<'a>(run: &mut Run<'_, 'a>, name: &'a [u8]) -> Option<(Stream<'a>, &'a [u8])> {
    let span = run.call.span;
    let path = Value::text(name, Origins::FILE);
    let copied = run.session.copied_from(&path);
    copy_of(run.session, span, copied);
    let content = run.session.script_text(&path);
    let written = content.origins.intersects(NOT_OF_THE_PROJECT);
    if written && content.text.is_none() {
        run.streamed_code("project", content, span);
    }
    linked(run, &path, content, span);
    let text = content.text.filter(|text| run.session.reads_program(text.len()))?;
    Some((content, text))
}

/// Tells what was not read of a build file that the command itself has written.
fn untold<'a>(run: &mut Run<'_, 'a>, found: &Found, content: Stream<'a>) {
    let span = run.call.span;
    if found.cut || found.commands.len() > MAX_RECIPES {
        run.not_understood(Unknown::Budget("recipes"), span);
    }
    if found.hidden {
        run.streamed_code("project", Stream { text: None, ..content }, span);
    }
    if !found.unread.is_empty() {
        let text = Some(&*run.arena().alloc_slice_copy(&found.unread));
        run.streamed_code("make", Stream { text, ..content }, span);
    }
}

/// A Makefile takes up another file, or has another program than the shell run its recipes.
fn include<'a>(run: &mut Run<'_, 'a>, word: &[u8]) {
    let word = run.arena().alloc_slice_copy(word);
    let mut file = values::field(word, Origins::LITERAL, run.call.span);
    if word.iter().any(|byte| b"$*?[".contains(byte)) {
        file.value = Value::unknown(Origins::LITERAL);
    }
    let content = run.session.script_text(&file.value);
    if content.text.is_some() && content.origins.intersects(NOT_OF_THE_PROJECT) {
        return run.streamed_code("make", content, run.call.span);
    }
    run.executes(&file);
}

/// The files that make reads, in the order in which it looks for them.
const MAKEFILES: [&[u8]; 3] = [b"GNUmakefile", b"makefile", b"Makefile"];

/// What a build file runs.
#[derive(Debug, Default)]
struct Found {
    commands: Vec<Vec<u8>>,
    /// Lines of which it is not known what they run, or that something else is done with.
    unread: Vec<u8>,
    /// Something is spelt in a way that is not followed.
    hidden: bool,
    /// There is more than is looked at.
    cut: bool,
}

impl Found {
    /// A command line, or what it was before its variables could not be replaced.
    fn add(&mut self, command: Option<Vec<u8>>, line: &[u8]) {
        match command {
            Some(command) => self.commands.push(command),
            None => unread(&mut self.unread, line),
        }
    }
}

fn unread(all: &mut Vec<u8>, line: &[u8]) {
    all.extend_from_slice(line);
    all.push(b'\n');
}

/// Whether make runs a line of a recipe although it is told only to print it.
fn runs_always(line: &[u8]) -> bool {
    let marks = line.iter().take_while(|byte| matches!(byte, b'@' | b'-' | b'+' | b' ' | b'\t'));
    marks.into_iter().any(|byte| *byte == b'+')
        || [&b"$(MAKE)"[..], b"${MAKE}"].iter().any(|make| line.windows(make.len()).any(|part| part == *make))
}

/// The files that a line of a Makefile takes up.
fn included(line: &[u8]) -> Option<&[u8]> {
    let (word, files) = line.split_at_checked(line.iter().position(u8::is_ascii_whitespace)?)?;
    matches!(word, b"include" | b"-include" | b"sinclude" | b"load" | b"import" | b"mod").then_some(files)
}

/// What `$(shell COMMAND)` runs, wherever it stands in a Makefile.
fn shell_calls(text: &[u8], found: &mut Found) {
    const CALL: &[u8] = b"$(shell ";
    let mut calls = 0;
    let mut rest = text;
    while let Some(at) = rest.windows(CALL.len()).position(|window| window == CALL) {
        calls += 1;
        if calls > MAX_RECIPES {
            found.cut = true;
            return;
        }
        rest = rest.get(at + CALL.len()..).unwrap_or_default();
        let mut depth = 0usize;
        let end = rest.iter().position(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return true,
                b')' => depth -= 1,
                _ => {}
            }
            false
        });
        let call = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        found.add(Rules::default().expanded(call), call);
    }
}

/// Most rounds in which variables in the values of variables are replaced, and the longest line that comes of it.
const MAX_DEPTH: usize = 8;
const LONGEST: usize = 4096;

/// How much text comes of that for a whole file, at most.
const MOST_TEXT: usize = 64 << 10;

/// What a target needs, and the lines that make it.
type Recipe<'t> = (Vec<&'t [u8]>, Vec<Vec<u8>>);

/// The rules of a Makefile, or the recipes of a justfile.
#[derive(Debug, Default)]
struct Rules<'t> {
    first: Option<&'t [u8]>,
    /// What each target needs and runs.
    targets: BTreeMap<&'t [u8], Recipe<'t>>,
    variables: BTreeMap<&'t [u8], &'t [u8]>,
    /// Other files that are taken up, and programs that run the recipes.
    elsewhere: Vec<&'t [u8]>,
    /// Lines that mean something else.
    unread: Vec<u8>,
    /// There is more than is looked at.
    cut: bool,
    /// How much text came of variables in the values of variables.
    deep: Cell<usize>,
}

/// What runs recipes where nobody says otherwise, or might as well.
const SHELLS: [&[u8]; 8] = [
    b"sh",
    b"bash",
    b"/bin/sh",
    b"/bin/bash",
    b"/usr/bin/bash",
    b"/usr/bin/env bash",
    b"/bin/dash",
    b"/usr/bin/sh",
];

/// Variables by which recipes find, or load, other programs than those that they name.
const OBEYED: [&[u8]; 10] = [
    b"PATH",
    b"LD_PRELOAD",
    b"LD_LIBRARY_PATH",
    b"BASH_ENV",
    b"ENV",
    b"NODE_OPTIONS",
    b"PERL5OPT",
    b"PYTHONPATH",
    b"PYTHONSTARTUP",
    b"RUBYOPT",
];

impl<'t> Rules<'t> {
    fn of(text: &'t [u8], separator: u8) -> Self {
        let mut rules = Self::default();
        let mut current: Vec<&'t [u8]> = Vec::new();
        let mut joined: Vec<u8> = Vec::new();
        for (number, line) in text.split(|b| *b == b'\n').enumerate() {
            if number == MAX_LINES {
                rules.cut = true;
                break;
            }
            if let [b'\t' | b' ', ..] = line {
                let body = line.trim_ascii();
                if let Some(start) = body.strip_suffix(b"\\") {
                    joined.extend_from_slice(start);
                    joined.push(b' ');
                    continue;
                }
                joined.extend_from_slice(body);
                let whole = std::mem::take(&mut joined);
                rules.add(&current, &whole);
                continue;
            }
            joined.clear();
            if line.starts_with(b"#") || line.trim_ascii().is_empty() {
                continue;
            }
            current.clear();
            if let Some(files) = included(line) {
                rules.elsewhere.extend(values::words(files).take(MAX_RECIPES));
                rules.cut |= values::words(files).nth(MAX_RECIPES).is_some();
                continue;
            }
            if makefile::calls_more(line) {
                unread(&mut rules.unread, line);
            }
            let at = line.iter().position(|b| matches!(b, b'=' | b':')).unwrap_or(line.len());
            let (head, tail) = line.split_at(at);
            match tail {
                [b'=', value @ ..] | [b':', b'=', value @ ..] | [b':', b':', b'=', value @ ..] => {
                    let name = head.trim_ascii().strip_suffix(b"?").unwrap_or(head).trim_ascii();
                    let name = makefile::name_of(name);
                    let value = value.trim_ascii();
                    match name {
                        b"SHELL" if !SHELLS.contains(&value) => rules.elsewhere.push(value),
                        _ if makefile::started(name, value).is_some() => {
                            rules.elsewhere.extend(makefile::started(name, value));
                        }
                        [.., b'!']
                        | [b's', b'e', b't', b' ', ..]
                        | b".SHELLFLAGS"
                        | b"MAKEFLAGS"
                        | b"MAKEFILES" => {
                            unread(&mut rules.unread, line);
                        }
                        _ if OBEYED.contains(&name) => {
                            unread(&mut rules.unread, line);
                        }
                        _ if value.contains(&b'`') => unread(&mut rules.unread, line),
                        _ => {}
                    }
                    rules.variables.insert(name, value);
                }
                [first, rest @ ..] if *first == separator => {
                    // The first line of a recipe may stand behind what the target needs.
                    let recipe = rest.iter().position(|b| *b == b';');
                    let (rest, recipe) = rest.split_at(recipe.unwrap_or(rest.len()));
                    if let Some((name, value)) = makefile::assigned(rest) {
                        // A variable of these targets alone.
                        let other = name == b"SHELL" && !SHELLS.contains(&value);
                        rules.elsewhere.extend(if other {
                            Some(value)
                        } else {
                            makefile::started(name, value)
                        });
                        if OBEYED.contains(&name) || name == b".SHELLFLAGS" || name.ends_with(b"!") {
                            unread(&mut rules.unread, line);
                        }
                    }
                    let needs: Vec<&[u8]> =
                        values::words(rest).take_while(|word| !word.starts_with(b"#")).collect();
                    for target in values::words(head) {
                        // Parameters of a recipe, attributes, patterns.
                        if target.iter().any(|b| matches!(b, b'%' | b'$' | b'*' | b'+')) {
                            continue;
                        }
                        if !target.starts_with(b".") {
                            rules.first.get_or_insert(target);
                        }
                        let entry =
                            rules.targets.entry(target.strip_prefix(b"@").unwrap_or(target)).or_default();
                        entry.0.extend(needs.iter().copied().take(MAX_RECIPES));
                        if current.len() >= MAX_RECIPES {
                            rules.cut = true;
                            break;
                        }
                        current.push(target.strip_prefix(b"@").unwrap_or(target));
                    }
                    let Some(recipe) = recipe.strip_prefix(b";").map(<[u8]>::trim_ascii) else { continue };
                    if let Some(start) = recipe.strip_suffix(b"\\") {
                        joined.extend_from_slice(start);
                        joined.push(b' ');
                    } else if !recipe.is_empty() {
                        rules.add(&current, recipe);
                    }
                }
                _ => unread(&mut rules.unread, line),
            }
        }
        rules
    }

    /// A line of the recipe of these targets.
    fn add(&mut self, targets: &[&'t [u8]], line: &[u8]) {
        if targets.is_empty() {
            unread(&mut self.unread, line);
        }
        for target in targets {
            if let Some((_, commands)) = self.targets.get_mut(target) {
                commands.push(line.to_vec());
            }
        }
    }

    /// The command lines that making these targets runs, as far as they are known. `printed`: they are printed and not run, but for
    /// those that are run all the same, and those that make the makefiles themselves (GNU make, 3.5 and 5.7.1).
    fn commands(&self, operands: &[&'t [u8]], printed: bool) -> Found {
        let mut wanted: Vec<&[u8]> = MAKEFILES.into_iter().chain(self.elsewhere.iter().copied()).collect();
        wanted.retain(|name| self.targets.contains_key(name));
        let makefiles = wanted.len();
        wanted.extend(operands.iter().copied().filter(|word| !word.contains(&b'=')));
        if wanted.len() == makefiles {
            wanted.extend(self.first);
        }
        let mut found = Found::default();
        let mut at = 0;
        while let Some(target) = wanted.get(at).copied().filter(|_| at < MAX_RECIPES) {
            at += 1;
            let Some((needs, lines)) = self.targets.get(target) else { continue };
            for need in needs {
                if wanted.len() >= MAX_RECIPES {
                    found.cut |= self.targets.contains_key(need) && !wanted.contains(need);
                } else if !wanted.contains(need) {
                    wanted.push(need);
                }
            }
            // What a makefile needs to be made is made, too.
            let is_run = |line: &&Vec<u8>| !printed || makefiles > 0 || runs_always(line);
            for line in lines.iter().filter(is_run) {
                let expanded = self.expanded(line);
                // What variables of variables say may have been another when they were set, so that it only adds to the rest.
                if expanded.is_none()
                    && let Some(deep) = self.expanded_deeply(line)
                {
                    found.add(Some(deep), line);
                }
                found.add(expanded, line);
            }
        }
        found
    }

    /// A command line with its variables replaced, and those in their values.
    fn expanded_deeply(&self, line: &[u8]) -> Option<Vec<u8>> {
        let start = line.iter().take_while(|b| matches!(b, b'@' | b'-' | b'+' | b' ')).count();
        let mut text = line.get(start..)?.to_vec();
        for _ in 0..MAX_DEPTH {
            if !text.contains(&b'$') {
                return Some(text);
            }
            let mut out = Vec::with_capacity(text.len());
            let mut rest = text.as_slice();
            while let Some((first, after)) = rest.split_first() {
                rest = match (first, after) {
                    // The shell's own would have to be told from make's in the next round.
                    (b'$', [b'(' | b'{', more @ ..]) => {
                        let end = more.iter().position(|b| matches!(b, b')' | b'}'))?;
                        out.extend_from_slice(self.variables.get(more.get(..end)?)?);
                        more.get(end + 1..)?
                    }
                    (b'$', _) | (b'{', [b'{', ..]) => return None,
                    (other, _) => {
                        out.push(*other);
                        after
                    }
                };
                if out.len() > LONGEST {
                    break;
                }
            }
            self.deep.set(self.deep.get().saturating_add(out.len()));
            if out.len() > LONGEST || self.deep.get() > MOST_TEXT {
                return None;
            }
            text = out;
        }
        None
    }

    /// A command line with its variables replaced; `None` if one is not known.
    fn expanded(&self, line: &[u8]) -> Option<Vec<u8>> {
        let start = line.iter().take_while(|b| matches!(b, b'@' | b'-' | b'+' | b' ')).count();
        let mut rest = line.get(start..)?;
        let mut out = Vec::with_capacity(rest.len());
        while let Some((first, after)) = rest.split_first() {
            match (first, after) {
                (b'$', [b'$', more @ ..]) => {
                    out.push(b'$');
                    rest = more;
                }
                (b'$', [b'(', more @ ..]) | (b'$', [b'{', more @ ..]) => {
                    let end = more.iter().position(|b| matches!(b, b')' | b'}'))?;
                    let value = self.variables.get(more.get(..end)?)?;
                    if value.contains(&b'$') {
                        return None;
                    }
                    out.extend_from_slice(value);
                    rest = more.get(end + 1..)?;
                }
                (b'$', _) => return None,
                // `{{name}}` of just.
                (b'{', [b'{', ..]) => return None,
                (other, _) => {
                    out.push(*other);
                    rest = after;
                }
            }
        }
        Some(out)
    }
}

/// The scripts that a command line such as `npm run build` or `yarn test` runs.
fn package_scripts<'w>(text: &[u8], words: impl Iterator<Item = &'w [u8]>) -> Found {
    let words: Vec<&[u8]> = words.filter(|word| !word.starts_with(b"-")).collect();
    let name = match words.as_slice() {
        [b"run" | b"run-script" | b"rum" | b"urn" | b"task", name, ..] => *name,
        [b"test" | b"t" | b"tst", ..] => b"test",
        [b"start", ..] => b"start",
        [b"stop", ..] => b"stop",
        [b"install" | b"i" | b"ci" | b"add", ..] | [] => b"install",
        [name, ..] => *name,
    };
    scripts_of(text, name)
}

/// The script or task of this name, and what runs before and after it.
fn scripts_of(text: &[u8], name: &[u8]) -> Found {
    let beside: &[&[u8]] = match name {
        b"install" | b"pack" => &[b"prepare"],
        b"publish" => &[b"prepare", b"prepublishOnly", b"prepack", b"postpack"],
        _ => &[],
    };
    // Names may be spelt with numbers of characters, too.
    let mut found = Found { hidden: text.windows(2).any(|two| two == b"\\u"), ..Found::default() };
    let Some(scripts) = member(text, b"scripts").or_else(|| member(text, b"tasks")) else {
        return found;
    };
    let before = [b"pre", name].concat();
    let after = [b"post", name].concat();
    for name in [before.as_slice(), name, after.as_slice()].iter().chain(beside) {
        let Some(script) = member(scripts, name) else { continue };
        match unquoted(script) {
            Some(command) => found.commands.push(command),
            None => found.hidden = true,
        }
    }
    found
}
