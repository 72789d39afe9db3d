//! The prepared plan: an immutable list of primitive operations, in the order in which the child carries them out.
//!
//! One object serves three readers. A person reads it ([`Plan`]'s `Display`), an audit record hashes it
//! ([`Plan::canonical`]), the child executes it. Because they are the same object, what was shown is what was done.
//! All strings are prepared here, so that the child needs no memory of its own.

use std::ffi::CString;
use std::fmt;
use std::io::{self, Write as _};

use crate::bubblewrap::Outer;
use crate::cgroup::GroupLimits;
use crate::gap::Gap;
use crate::gate::Identity;
use crate::guarantee::Guarantee;
use crate::operation::{CStrings, Operation, shown};
use crate::script::Script;
use crate::sys::Instruction;
use crate::{Network, init};

/// A command together with everything that will be done to confine it.
///
/// Made by [`Confinement::prepare`](crate::Confinement::prepare), carried out by [`run`](crate::run) any number of times.
#[derive(Debug)]
pub struct Plan {
    pub(crate) operations: Vec<Operation>,
    pub(crate) slots: usize,
    pub(crate) clone_flags: i32,
    pub(crate) network: Network,
    /// `name, program, argv…` as process 1 takes them.
    pub(crate) arguments: CStrings,
    pub(crate) environment: CStrings,
    /// What runs without a shell, for people, and as process 1's child carries it out.
    pub(crate) script: Option<Script>,
    pub(crate) table: Option<Vec<u8>>,
    pub(crate) gaps: Vec<Gap>,
    /// Whether there is a pseudo-terminal.
    pub(crate) terminal: bool,
    /// What the control group of its own limits, if it has one.
    pub(crate) group: Option<GroupLimits>,
    /// Whether every program that starts is judged.
    pub(crate) gated: bool,
    /// The only programs that may be executed, if there is such a list.
    pub(crate) only: Option<Vec<Identity>>,
    /// What bubblewrap does of it, if it makes the namespaces.
    pub(crate) outer: Option<Outer>,
}

impl Plan {
    pub(crate) fn arguments(terminal: bool, program: CString, argv: Vec<CString>) -> CStrings {
        CStrings::new([init::name(terminal), program].into_iter().chain(argv).collect())
    }

    /// Which network the command sees.
    #[must_use]
    pub const fn network(&self) -> Network {
        self.network
    }

    /// The filter of system calls, an array of the kernel's `struct sock_filter` (seccomp(2)).
    #[must_use]
    pub fn filter(&self) -> Option<Vec<u8>> {
        let program = self.operations.iter().find_map(|operation| match operation {
            Operation::Filter { program, .. } => Some(program),
            _ => None,
        })?;
        let bytes = |instruction: &Instruction| {
            let Instruction { code, jump_true, jump_false, k } = *instruction;
            let ([a, b], [c, d, e, f]) = (code.to_ne_bytes(), k.to_ne_bytes());
            [a, b, jump_true, jump_false, c, d, e, f]
        };
        Some(program.iter().flat_map(bytes).collect())
    }

    /// What was asked for and is not given. Empty in the good case.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The same plan, of which also this is not given: by whoever runs it.
    #[must_use]
    pub fn with_gap(mut self, gap: Gap) -> Self {
        self.gaps.push(gap);
        self
    }

    /// The whole plan as bytes that are the same for the same plan: every operation with its parameters, the filter's
    /// instructions, arguments and environment with their values. Left out is what says nothing about what is permitted:
    /// which empty layer an overlay gets, and descriptors that are held so as not to look a path up again. To be hashed,
    /// not shown: the environment may hold what nobody should read in a log.
    pub fn canonical(&self) -> Vec<u8> {
        // A script's table is long, and much of it is zero: it stands there as it is, after its length.
        let table = self.table.as_deref().unwrap_or_default();
        let mut out = Vec::with_capacity(table.len() + TEXT);
        // Writing to memory cannot fail.
        let _ = self.write_canonical(&mut out, table);
        out
    }

    fn write_canonical(&self, out: &mut Vec<u8>, table: &[u8]) -> io::Result<()> {
        writeln!(out, "shward-sandbox plan 2\nclone {:#x}\nnetwork {}", self.clone_flags, self.network)?;
        for (_, file, text) in self.group.iter().flat_map(|group| &group.files) {
            writeln!(out, "group {file} {text}")?;
        }
        for operation in &self.operations {
            write!(out, "{operation}")?;
            match operation {
                Operation::Rule { rights, .. } => write!(out, " {rights:#x}")?,
                Operation::Filter { program, .. } => {
                    for instruction in program {
                        let Instruction { code, jump_true, jump_false, k } = *instruction;
                        let words = [code.into(), jump_true.into(), jump_false.into(), k];
                        for (separator, word) in [b' ', b',', b',', b','].into_iter().zip(words) {
                            out.push(separator);
                            hexadecimal(out, word);
                        }
                    }
                }
                _ => {}
            }
            out.push(b'\n');
        }
        if let Some(Outer { program, arguments, steps, .. }) = &self.outer {
            writeln!(out, "bubblewrap {}", shown(program))?;
            for text in arguments {
                writeln!(out, "bubblewrap {}", shown(text))?;
            }
            for step in steps {
                writeln!(out, "inside {step:?}")?;
            }
        }
        for Identity { device, inode } in self.only.iter().flatten() {
            writeln!(out, "only {device:x}:{inode}")?;
        }
        if !table.is_empty() {
            writeln!(out, "script {}", table.len())?;
            out.extend_from_slice(table);
            out.push(b'\n');
        }
        for (kind, list) in [("argument", &self.arguments), ("environment", &self.environment)] {
            for text in &list.strings {
                writeln!(out, "{kind} {}", shown(text))?;
            }
        }
        Ok(())
    }
}

/// The digits of a number as `{:x}` writes them, which takes several times as long: a filter has half a thousand.
fn hexadecimal(out: &mut Vec<u8>, number: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = number.checked_ilog2().unwrap_or(0) / 4;
    out.extend((0..=digits).rev().filter_map(|digit| DIGITS.get((number >> (4 * digit) & 15) as usize)));
}

/// How much else there is in most plans, in bytes.
const TEXT: usize = 16 << 10;

/// One numbered line per operation; the environment by name only.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let new: Vec<&str> = Guarantee::ALL
            .into_iter()
            .filter(|guarantee| self.clone_flags & guarantee.clone_flag() != 0)
            .map(Guarantee::name)
            .collect();
        match &self.outer {
            None => writeln!(f, " 0  new namespaces: {}; network: {}", new.join(" "), self.network)?,
            Some(outer) => writeln!(
                f,
                " 0  namespaces and mounts by {}; network: {}",
                shown(&outer.program),
                self.network
            )?,
        }
        if self.outer.is_none()
            && !self.operations.iter().any(|operation| matches!(operation, Operation::Filter { .. }))
        {
            writeln!(f, "    NOTHING IS CONFINED: it may do what the user may")?;
        }
        if let Some(group) = &self.group {
            write!(f, "    a control group of its own:")?;
            group.files.iter().try_for_each(|(_, file, text)| write!(f, " {file}={text}"))?;
            writeln!(f)?;
        }
        for (number, operation) in (1..).zip(&self.operations) {
            writeln!(f, "{number:2}  {operation}")?;
        }
        if let Some(outer) = &self.outer {
            write!(f, "    bubblewrap:")?;
            outer.arguments.iter().try_for_each(|argument| write!(f, " {}", shown(argument)))?;
            writeln!(f, "\n    inside, before the command:")?;
            for (number, step) in (1..).zip(&outer.steps) {
                writeln!(f, "{number:2}  {step}")?;
            }
        }
        let names: Vec<String> = self
            .environment
            .strings
            .iter()
            .filter_map(|entry| entry.to_bytes().split(|byte| *byte == b'=').next())
            .map(|name| name.escape_ascii().to_string())
            .collect();
        writeln!(f, "    environment: {}", names.join(" "))?;
        write!(f, "    run:")?;
        match &self.script {
            Some(script) => write!(f, " {script}")?,
            None => {
                (self.arguments.strings.iter().skip(1))
                    .try_for_each(|argument| write!(f, " {}", shown(argument)))?;
            }
        }
        writeln!(f)?;
        for gap in &self.gaps {
            writeln!(f, "    not given: {gap}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        for number in (0..32).flat_map(|bit| [1 << bit, (1 << bit) - 1]).chain([u32::MAX, 0xdead_beef]) {
            let mut out = Vec::new();
            hexadecimal(&mut out, number);
            assert_eq!(out, format!("{number:x}").as_bytes());
        }
    }
}
