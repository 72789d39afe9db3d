//! Whether a rule is about an effect or a program.
//!
//! What is not known counts as matching for a rule that asks or denies, and as not matching for one that allows.

use super::{Compiled, List, Lookup, Row};
use crate::condition::Subject;
use crate::decision::{Decision, Tier};
use crate::pattern;
use crate::program::{File, base};
use crate::reach::address_of;
use shward_analysis::vocabulary::ORIGINS;
use shward_analysis::{EffectKind, Field, Origins, Rest, Scope};

/// What all rules need to know of one subject.
#[derive(Debug)]
pub(crate) struct Facts<'s> {
    subject: &'s Subject<'s>,
    program: &'s [u8],
    /// The file that the program is, as far as it was looked for.
    file: &'s File,
    /// Called by a bare name, or by a path in a system directory.
    system: bool,
    tier: Tier,
}

/// Directories that only an administrator writes, and in which programs are what their names say.
const SYSTEM_DIRECTORIES: [&[u8]; 8] = [
    b"/bin",
    b"/usr/bin",
    b"/sbin",
    b"/usr/sbin",
    b"/usr/local/bin",
    b"/usr/local/sbin",
    b"/run/current-system/sw/bin",
    b"/opt/homebrew/bin",
];

/// Whether a program is called by a bare name, or by a path in a system directory.
pub(crate) fn is_of_system(program: &[u8]) -> bool {
    match program.iter().rposition(|b| *b == b'/') {
        None => true,
        Some(at) => program.get(..at).is_some_and(|directory| SYSTEM_DIRECTORIES.contains(&directory)),
    }
}

impl<'s> Facts<'s> {
    pub(crate) fn new(subject: &'s Subject<'s>, tier: Tier) -> Self {
        let program = subject.invocation.and_then(|i| i.program).unwrap_or_default();
        Self { subject, program, file: File::NONE, system: is_of_system(program), tier }
    }

    /// With the file that the program is.
    pub(crate) const fn with(mut self, file: &'s File) -> Self {
        self.file = file;
        self
    }

    fn words(&self) -> &'s [Field<'s>] {
        self.subject.invocation.and_then(|i| i.argv.get(1..)).unwrap_or_default()
    }
}

impl Compiled {
    /// The rules that are about a subject.
    pub(crate) fn about(&self, facts: &Facts<'_>, lookup: &Lookup) -> impl Iterator<Item = Row> {
        self.candidates(facts.subject, lookup).filter(|row| self.is_about(row, facts))
    }

    /// Whether the rule at this place in the order of the files is about a subject.
    pub(crate) fn is_about_at(&self, at: u32, facts: &Facts<'_>) -> bool {
        self.row(at).is_some_and(|row| self.is_about(&row, facts))
    }

    fn is_about(&self, row: &Row, facts: &Facts<'_>) -> bool {
        let subject = facts.subject;
        let strict = row.decision != Some(Decision::Allow);
        row.kinds.intersects(subject.kinds)
            && row.contained.is_none_or(|contained| contained == subject.context.contained)
            && row.min_tier.is_none_or(|tier| facts.tier >= tier)
            && self.detail_matches(row, subject)
            && (row.scopes == 0 || scope_matches(row.scopes, subject))
            && (row.origins == 0 || origin_matches(row.origins, subject, strict))
            && (row.programs.is_empty() || self.program_matches(row, facts, strict))
            && (row.subcommands.is_empty() || self.subcommand_matches(row, facts, strict))
            && (!row.exact || !row.subcommands.is_empty() || facts.words().is_empty())
            && (row.options.is_empty() || self.option_matches(row, facts, strict))
            && (row.operands.is_empty() || self.operand_matches(row, facts, strict))
            && (row.paths.is_empty() || self.path_matches(row.paths, subject, strict))
            && (row.hosts.is_empty() || self.host_matches(row.hosts, subject, strict))
    }

    fn detail_matches(&self, row: &Row, subject: &Subject<'_>) -> bool {
        if row.plain.intersects(subject.kinds) || row.details.is_empty() {
            return true;
        }
        let Some(effect) = subject.effect else { return false };
        let (kind, detail) = (effect.kind.name(), subject.detail());
        self.list(row.details).any(|entry| entry.split_once(':') == Some((kind, detail)))
    }

    fn program_matches(&self, row: &Row, facts: &Facts<'_>, strict: bool) -> bool {
        let program = facts.program;
        if program.is_empty() {
            // A program whose name is not known may be the one that is meant; the shell itself is none.
            return strict && facts.subject.invocation.is_some_and(|i| i.program.is_none());
        }
        self.list(row.programs).any(|entry| {
            let entry = entry.as_bytes();
            if strict {
                return facts.file.is_meant(entry, program);
            }
            if entry.contains(&b'/') {
                // A pattern's `*` must not be a way out of the directory that it stands in.
                let leaves = program.split(|b| *b == b'/').any(|name| name == b"..");
                return entry == program || (!leaves && pattern::matches(entry, program));
            }
            facts.system && pattern::matches(entry, base(program))
        })
    }

    fn subcommand_matches(&self, row: &Row, facts: &Facts<'_>, strict: bool) -> bool {
        let words = facts.words();
        self.list(row.subcommands).any(|entry| {
            let wanted: Vec<&[u8]> = entry.split(' ').filter(|w| !w.is_empty()).map(str::as_bytes).collect();
            if !strict {
                // What stands first is the subcommand for certain; after options it may be an option's value.
                return (words.len() == wanted.len() || (words.len() > wanted.len() && !row.exact))
                    && words.iter().zip(&wanted).all(|(word, wanted)| word.known() == Some(wanted));
            }
            let operands: Vec<Option<&[u8]>> =
                words.iter().map(Field::known).filter(|w| !w.is_some_and(|w| w.starts_with(b"-"))).collect();
            operands.windows(wanted.len().max(1)).any(|window| {
                window.iter().zip(&wanted).all(|(word, wanted)| word.is_none_or(|word| word == *wanted))
            }) || words.iter().any(|word| word.many && word.value.has_unknown())
        })
    }

    fn option_matches(&self, row: &Row, facts: &Facts<'_>, strict: bool) -> bool {
        facts.words().iter().any(|word| match word.known() {
            Some(word) => self.list(row.options).any(|option| is_option(word, option.as_bytes(), strict)),
            None => strict && may_begin_with_dash(word),
        })
    }

    fn operand_matches(&self, row: &Row, facts: &Facts<'_>, strict: bool) -> bool {
        facts.words().iter().any(|word| match word.known() {
            Some(word) => self.list(row.operands).any(|pattern| pattern::matches(pattern.as_bytes(), word)),
            None => strict && word.value.has_unknown(),
        })
    }

    fn path_matches(&self, paths: List, subject: &Subject<'_>, strict: bool) -> bool {
        let Some(target) = subject.target() else { return false };
        let context = subject.context;
        if target.path.is_empty() {
            // The environment is no place; a path that is not known may be any.
            return strict && target.scope != Scope::Environment;
        }
        let exact = target.rest == Rest::Exact && !target.tree;
        self.list(paths).any(|pattern| {
            if exact {
                return pattern::place_matches(pattern, target.path, context);
            }
            if strict {
                return target.rest == Rest::Unknown
                    || pattern::may_match_below(pattern, target.path, context);
            }
            // Everything that may be meant has to match.
            target.rest != Rest::Unknown
                && pattern.ends_with("/**")
                && pattern::place_matches(pattern, target.path, context)
        })
    }

    fn host_matches(&self, hosts: List, subject: &Subject<'_>, strict: bool) -> bool {
        let Some(EffectKind::Connect { endpoint, .. }) = subject.effect.map(|effect| &effect.kind) else {
            return false;
        };
        let Some(host) = endpoint.host else { return strict };
        let meets = |host: &[u8]| {
            let host = host.strip_suffix(b".").unwrap_or(host);
            self.list(hosts).any(|pattern| {
                let pattern = pattern.to_ascii_lowercase();
                pattern::matches(pattern.strip_suffix('.').unwrap_or(&pattern).as_bytes(), host)
            })
        };
        let host = host.to_ascii_lowercase();
        if !strict {
            // What an escape stands for is not what the pattern was written for.
            return !host.contains(&b'%') && meets(&host);
        }
        let plain = without_escapes(&host);
        meets(&host)
            || meets(&plain)
            || str::from_utf8(&plain).ok().and_then(address_of).is_some_and(|address| {
                // However the one or the other is written: `0x7f.1` is 127.0.0.1.
                meets(address.to_string().as_bytes())
                    || self.list(hosts).any(|entry| address_of(entry) == Some(address))
            })
    }
}

/// A host as the programs read it that take `%2e` in it for a dot.
fn without_escapes(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut rest = host;
    while let [first, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => {
                str::from_utf8(&[*high, *low]).ok().and_then(|d| u8::from_str_radix(d, 16).ok())
            }
            _ => None,
        };
        out.push(escaped.unwrap_or(*first).to_ascii_lowercase());
        rest = if escaped.is_some() { rest.get(3..).unwrap_or_default() } else { after };
    }
    out
}

fn scope_matches(scopes: u16, subject: &Subject<'_>) -> bool {
    subject.target().is_some_and(|target| scopes & (1 << target.scope as u16) != 0)
}

fn origin_matches(origins: u16, subject: &Subject<'_>, strict: bool) -> bool {
    let wanted = ORIGINS
        .iter()
        .enumerate()
        .filter(|(at, _)| origins & (1 << at) != 0)
        .filter_map(|(_, name)| Origins::from_name(name))
        .fold(Origins::NONE, Origins::union);
    let found = subject.origins();
    if strict { found.intersects(wanted) } else { !found.is_empty() && wanted.contains(found) }
}

/// Whether a word is this option. For a denial so is whatever a program may take for it: an abbreviation, a value that is
/// joined, a letter in a cluster.
fn is_option(word: &[u8], option: &[u8], strict: bool) -> bool {
    if word == option {
        return true;
    }
    if !strict {
        return false;
    }
    let name = word.split(|b| *b == b'=').next().unwrap_or(word);
    if name == option || (name.len() > 3 && name.starts_with(b"--") && option.starts_with(name)) {
        return true;
    }
    match (option, word) {
        ([b'-', letter], [b'-', rest @ ..]) if *letter != b'-' => {
            rest.first() != Some(&b'-') && rest.contains(letter)
        }
        _ => false,
    }
}

fn may_begin_with_dash(word: &Field<'_>) -> bool {
    match word.value.known_prefix().first() {
        Some(b'-') | None => word.value.has_unknown() || word.value.has_glob(),
        Some(_) => false,
    }
}
