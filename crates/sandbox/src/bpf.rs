//! A compact emitter for seccomp programs: decisions as a tree, syscall numbers found by binary search.
//!
//! A filter runs on every system call of the command until the kernel's bitmap cache has learnt that a number is always
//! allowed, and it is verified and compiled at every start. A list of comparisons one after the other costs twice as
//! much to install as a search tree over ranges of numbers, so the table is turned into ranges first.

use crate::sys::Instruction;

/// Offsets into `struct seccomp_data` (seccomp(2)).
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// Opcodes of classic BPF: class | size | mode, or class | operation | source (linux/bpf_common.h).
mod code {
    pub(super) const LOAD_WORD: u16 = 0x20;
    pub(super) const AND: u16 = 0x54;
    pub(super) const JUMP: u16 = 0x05;
    pub(super) const JUMP_EQUAL: u16 = 0x15;
    pub(super) const JUMP_GREATER_OR_EQUAL: u16 = 0x35;
    pub(super) const JUMP_ANY_BIT: u16 = 0x45;
    pub(super) const RETURN: u16 = 0x06;
}

/// What the filter answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The call goes on.
    Allow,
    /// The call waits for the exec gate.
    Notify,
    /// The call fails with this errno and is not made.
    Fail(u16),
    /// The process is killed.
    Kill,
}

impl Answer {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Notify => libc::SECCOMP_RET_USER_NOTIF,
            Self::Fail(errno) => libc::SECCOMP_RET_ERRNO | u32::from(errno),
            Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// A comparison of the low 32 bits of an argument, but for addresses. The kernel itself reads `int` arguments so: whoever compares all 64
/// bits is dodged by setting a high one (CVE-2019-10063).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    /// The argument, after `mask`, equals `value`.
    Equals { mask: u32, value: u32 },
    /// The argument has at least one of these bits.
    AnyBit(u32),
    /// The argument is an address, not the null pointer: all 64 bits count.
    Address,
}

/// A decision on one system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Whatever the arguments are.
    Always(Answer),
    /// It depends on an argument (0 to 5).
    If { argument: u32, test: Test, then: Box<Decision>, otherwise: Box<Decision> },
}

impl Decision {
    /// `then` if the argument is one of `values`, else `otherwise`.
    pub(crate) fn one_of(argument: u32, mask: u32, values: &[u32], then: &Self, otherwise: Self) -> Self {
        values.iter().rev().fold(otherwise, |rest, &value| Self::If {
            argument,
            test: Test::Equals { mask, value },
            then: Box::new(then.clone()),
            otherwise: Box::new(rest),
        })
    }
}

/// From this number on, up to the next range, the decision holds.
pub(crate) type Range = (u32, Decision);

/// The whole program: another architecture is killed, then the number is searched in `ranges`, which start at 0 and
/// ascend.
pub(crate) fn program(architecture: u32, ranges: &[Range]) -> Vec<Instruction> {
    let mut emitter = Emitter::default();
    let found = emitter.search(ranges);
    // What is loaded is looked at by the instruction after it.
    emitter.within(found, 0);
    let number = emitter.push(statement(code::LOAD_WORD, NUMBER));
    emitter.branch(code::JUMP_EQUAL, architecture, number, Target::Answer(Answer::Kill));
    emitter.push(statement(code::LOAD_WORD, ARCHITECTURE));
    emitter.backwards.reverse();
    emitter.backwards
}

/// Joins neighbours with the same decision.
pub(crate) fn merge(ranges: Vec<Range>) -> Vec<Range> {
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for (start, decision) in ranges {
        if merged.last().is_none_or(|(_, last)| *last != decision) {
            merged.push((start, decision));
        }
    }
    merged
}

/// Where a program goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// At an instruction, counted from the end of the program.
    At(usize),
    /// Nowhere: this is what the filter answers.
    Answer(Answer),
}

/// Writes a program from its end to its beginning, since jumps only go forwards, and so that all that give the same answer
/// share its instruction: there are as many as ranges, and each is compiled at every start.
#[derive(Debug, Default)]
struct Emitter {
    backwards: Vec<Instruction>,
    /// The instruction of each answer that was written last.
    answers: Vec<(Answer, usize)>,
}

impl Emitter {
    /// Depth is the logarithm of the number of ranges.
    fn search(&mut self, ranges: &[Range]) -> Target {
        let (low, high) = ranges.split_at(ranges.len() / 2);
        match (low.is_empty(), high.first()) {
            (_, None) => Target::Answer(Answer::Kill),
            (true, Some((_, decision))) => self.decide(decision),
            (false, Some((middle, _))) => {
                let from = self.search(high);
                let below = self.search(low);
                self.branch(code::JUMP_GREATER_OR_EQUAL, *middle, from, below)
            }
        }
    }

    /// Depth is that of the decision, which is written by hand in `filter.rs`.
    fn decide(&mut self, decision: &Decision) -> Target {
        let (argument, test, then, otherwise) = match decision {
            Decision::Always(answer) => return Target::Answer(*answer),
            Decision::If { argument, test, then, otherwise } => (argument, test, then, otherwise),
        };
        let then = self.decide(then);
        let otherwise = self.decide(otherwise);
        match *test {
            Test::Equals { mask, value } => {
                self.branch(code::JUMP_EQUAL, value, then, otherwise);
                if mask != u32::MAX {
                    self.push(statement(code::AND, mask));
                }
            }
            Test::AnyBit(bits) => {
                self.branch(code::JUMP_ANY_BIT, bits, then, otherwise);
            }
            Test::Address => {
                self.branch(code::JUMP_ANY_BIT, u32::MAX, then, otherwise);
                let low = self.push(statement(code::LOAD_WORD, FIRST_ARGUMENT + 8 * argument));
                self.branch(code::JUMP_ANY_BIT, u32::MAX, then, low);
                return self.push(statement(code::LOAD_WORD, FIRST_ARGUMENT + 8 * argument + 4));
            }
        }
        self.push(statement(code::LOAD_WORD, FIRST_ARGUMENT + 8 * argument))
    }

    /// An instruction after which the program goes on with the one written last.
    fn push(&mut self, instruction: Instruction) -> Target {
        self.backwards.push(instruction);
        Target::At(self.backwards.len() - 1)
    }

    fn branch(&mut self, operation: u16, k: u32, yes: Target, no: Target) -> Target {
        // Finding the second may take one instruction more.
        let yes = self.within(yes, usize::from(u8::MAX) - 1);
        let no = self.within(no, usize::from(u8::MAX));
        let over = |at: usize| u8::try_from(self.backwards.len() - 1 - at).unwrap_or(u8::MAX);
        self.push(branch(operation, k, over(yes), over(no)))
    }

    /// Where to go to from the instruction that is written next, over at most `most` others.
    fn within(&mut self, target: Target, most: usize) -> usize {
        let end = self.backwards.len();
        let is_near = |at: &usize| end - 1 - at <= most;
        match target {
            Target::At(at) if is_near(&at) => at,
            Target::At(at) => {
                self.backwards.push(statement(code::JUMP, (end - 1 - at) as u32));
                end
            }
            Target::Answer(answer) => {
                let written = self.answers.iter().rev().find(|(other, _)| *other == answer);
                match written.map(|(_, at)| *at).filter(is_near) {
                    Some(at) => at,
                    None => {
                        self.backwards.push(statement(code::RETURN, answer.code()));
                        self.answers.push((answer, end));
                        end
                    }
                }
            }
        }
    }
}

fn statement(code: u16, k: u32) -> Instruction {
    branch(code, k, 0, 0)
}

fn branch(code: u16, k: u32, jump_true: u8, jump_false: u8) -> Instruction {
    Instruction { code, jump_true, jump_false, k }
}

/// A reading of classic BPF by its definition (net/core/filter.c), so that a filter can be tested without running it.
#[cfg(test)]
pub(crate) fn evaluate(program: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut accumulator = 0u32;
    let mut at = 0usize;
    loop {
        let Instruction { code: operation, jump_true, jump_false, k } = program[at];
        at += 1;
        let taken = match operation {
            code::LOAD_WORD => {
                accumulator = match k {
                    NUMBER => number,
                    ARCHITECTURE => architecture,
                    _ => {
                        let argument = arguments[((k - FIRST_ARGUMENT) / 8) as usize];
                        (argument >> (8 * (k % 8))) as u32
                    }
                };
                continue;
            }
            code::AND => {
                accumulator &= k;
                continue;
            }
            code::JUMP => {
                at += k as usize;
                continue;
            }
            code::RETURN => return k,
            code::JUMP_EQUAL => accumulator == k,
            code::JUMP_GREATER_OR_EQUAL => accumulator >= k,
            code::JUMP_ANY_BIT => accumulator & k != 0,
            other => panic!("opcode {other:#x}"),
        };
        at += usize::from(if taken { jump_true } else { jump_false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCH: u32 = 7;

    #[test]
    fn search_finds_every_number() {
        // Odd numbers fail with themselves as errno, so that a wrong leaf is seen. 400 ranges need wide jumps.
        let ranges: Vec<Range> = (0..400)
            .map(|n| (n, Decision::Always(if n % 2 == 1 { Answer::Fail(n as u16) } else { Answer::Allow })))
            .collect();
        let program = program(ARCH, &ranges);
        assert!(program.iter().any(|i| i.code == code::JUMP));
        for n in 0..400 {
            let expected = if n % 2 == 1 { Answer::Fail(n as u16) } else { Answer::Allow };
            assert_eq!(evaluate(&program, ARCH, n, [0; 6]), expected.code(), "{n}");
        }
        assert_eq!(evaluate(&program, ARCH, u32::MAX, [0; 6]), Answer::Fail(399).code());
        assert_eq!(evaluate(&program, ARCH + 1, 0, [0; 6]), Answer::Kill.code());
    }

    #[test]
    fn arguments_are_compared_in_their_low_half() {
        let deny = Decision::Always(Answer::Fail(1));
        let allow = Decision::Always(Answer::Allow);
        let ranges = [(0, Decision::one_of(1, u32::MAX, &[5, 9], &deny, allow))];
        let program = program(ARCH, &ranges);
        for (argument, denied) in [(5, true), (9, true), (6, false), (0x1_0000_0005, true), (0, false)] {
            let got = evaluate(&program, ARCH, 3, [0, argument, 0, 0, 0, 0]);
            assert_eq!(got == Answer::Fail(1).code(), denied, "{argument:#x}");
        }
    }

    #[test]
    fn an_address_is_compared_as_a_whole() {
        let address = |then, otherwise| Decision::If {
            argument: 2,
            test: Test::Address,
            then: Box::new(Decision::Always(then)),
            otherwise: Box::new(Decision::Always(otherwise)),
        };
        for (then, otherwise) in [(Answer::Fail(1), Answer::Allow), (Answer::Allow, Answer::Fail(1))] {
            let program = program(ARCH, &[(0, address(then, otherwise))]);
            for (argument, is) in [(0, false), (1, true), (1 << 32, true), (1 << 63, true), (u64::MAX, true)]
            {
                let got = evaluate(&program, ARCH, 3, [9, 9, argument, 9, 9, 9]);
                assert_eq!(got, if is { then } else { otherwise }.code(), "{argument:#x}");
            }
        }
    }

    #[test]
    fn equal_neighbours_are_one_range() {
        let allow = || Decision::Always(Answer::Allow);
        let merged =
            merge(vec![(0, allow()), (4, allow()), (9, Decision::Always(Answer::Kill)), (10, allow())]);
        assert_eq!(merged.iter().map(|(start, _)| *start).collect::<Vec<_>>(), [0, 9, 10]);
    }
}
