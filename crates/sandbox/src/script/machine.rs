//! A list of system calls and jumps, as process 1's child carries it out, and its assembler.
//!
//! The child is a loop of a few instructions over a table in writable memory (`init`). Eight words make an instruction: a
//! number, six arguments, and where the result goes. A number that is not negative is a system call. The others are jumps and
//! arithmetic on 32-bit cells. Arguments are constants; a value that is known only at run time is copied into the instruction that
//! needs it. Forking copies the table with the process, so that each process has cells of its own, as a shell has variables.

/// Where the table begins in memory. Process 1's code knows this address.
pub(crate) const BASE: u64 = 0x1000_1000;

const WORDS: usize = 8;
const SIZE: u64 = (WORDS * 8) as u64;

/// Numbers that are no system calls.
mod operation {
    /// Cell, value, target: jump if the cell's 32 bits equal the value.
    pub(super) const JUMP_IF_EQUAL: i64 = -1;
    /// The same, if they differ.
    pub(super) const JUMP_UNLESS_EQUAL: i64 = -2;
    /// The same, if the cell is less, both signed.
    pub(super) const JUMP_IF_LESS: i64 = -3;
    /// To, from, shift, mask, addend: the 32 bits from there, shifted right, masked and added to, are stored as 64 bits.
    pub(super) const COPY: i64 = -4;
    /// To, from: the 32 bits from there are added to the 64 bits.
    pub(super) const ADD: i64 = -5;
    /// The same, subtracted.
    pub(super) const SUBTRACT: i64 = -6;
    /// Process 1 goes on as such; what follows is its child's.
    pub(super) const GO_ON: i64 = -7;
}

/// A place among the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// The address of eight bytes that instructions read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell(pub(crate) u64);

/// An argument of a system call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value {
    /// This number or address.
    Is(u64),
    /// What the cell holds at that moment.
    In(Cell),
}

/// A word of an instruction.
#[derive(Debug, Clone, Copy)]
enum Word {
    Is(u64),
    /// The address of an instruction.
    At(Label),
    /// The address of an argument of an instruction.
    Argument(Label, usize),
}

/// Collects data and instructions.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    data: Vec<u8>,
    code: Vec<[Word; WORDS]>,
    /// The instruction that each label stands before.
    labels: Vec<usize>,
}

impl Assembler {
    /// Where the next byte of data will lie. The first instruction, a jump to the others, comes before.
    fn here(&self) -> u64 {
        BASE + SIZE + self.data.len() as u64
    }

    fn align(&mut self) {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
    }

    /// Bytes of what has been collected.
    pub(crate) fn size(&self) -> usize {
        self.data.len() + self.code.len() * WORDS * 8
    }

    /// Puts bytes, and gives their address.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let at = self.here();
        self.data.extend_from_slice(bytes);
        at
    }

    /// Puts a string with a NUL at its end.
    pub(crate) fn string(&mut self, text: &[u8]) -> u64 {
        let at = self.bytes(text);
        self.data.push(0);
        at
    }

    /// Puts words one after the other, and gives their address.
    pub(crate) fn words(&mut self, words: &[u64]) -> u64 {
        self.align();
        let at = self.here();
        self.data.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        at
    }

    /// The string at an address.
    pub(crate) fn string_at(&self, address: u64) -> &[u8] {
        let from = usize::try_from(address.saturating_sub(BASE + SIZE)).unwrap_or(usize::MAX);
        let rest = self.data.get(from..).unwrap_or_default();
        rest.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// A cell that holds nothing yet.
    pub(crate) fn cell(&mut self) -> Cell {
        Cell(self.words(&[0]))
    }

    /// A label that stands nowhere yet.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// Puts a label before the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        if let Some(at) = self.labels.get_mut(label.0) {
            *at = self.code.len();
        }
    }

    fn push(&mut self, number: i64, arguments: [Word; 6], result: u64) {
        let [a, b, c, d, e, f] = arguments;
        self.code.push([Word::Is(number as u64), a, b, c, d, e, f, Word::Is(result)]);
    }

    /// A system call.
    pub(crate) fn call(&mut self, number: i64, arguments: &[Value], result: Cell) {
        let label = self.label();
        let mut words = [Word::Is(0); 6];
        for (at, (argument, word)) in arguments.iter().zip(&mut words).enumerate() {
            match argument {
                Value::Is(value) => *word = Word::Is(*value),
                Value::In(cell) => self.copy_to(Word::Argument(label, at), *cell, 0, u32::MAX, Word::Is(0)),
            }
        }
        self.place(label);
        self.push(number, words, result.0);
    }

    fn branch(&mut self, operation: i64, cell: Cell, value: u32, target: Label) {
        let zero = Word::Is(0);
        let arguments = [Word::Is(cell.0), Word::Is(u64::from(value)), Word::At(target), zero, zero, zero];
        self.push(operation, arguments, 0);
    }

    pub(crate) fn jump_if_equal(&mut self, cell: Cell, value: u32, target: Label) {
        self.branch(operation::JUMP_IF_EQUAL, cell, value, target);
    }

    pub(crate) fn jump_unless_equal(&mut self, cell: Cell, value: u32, target: Label) {
        self.branch(operation::JUMP_UNLESS_EQUAL, cell, value, target);
    }

    pub(crate) fn jump_if_less(&mut self, cell: Cell, value: u32, target: Label) {
        self.branch(operation::JUMP_IF_LESS, cell, value, target);
    }

    pub(crate) fn jump_if_negative(&mut self, cell: Cell, target: Label) {
        self.jump_if_less(cell, 0, target);
    }

    /// A jump whatever is.
    pub(crate) fn jump(&mut self, target: Label) {
        let always = Cell(BASE); // the first instruction's number, which is not 0
        self.jump_unless_equal(always, 0, target);
    }

    fn copy_to(&mut self, to: Word, from: Cell, shift: u8, mask: u32, addend: Word) {
        let words = [
            to,
            Word::Is(from.0),
            Word::Is(u64::from(shift)),
            Word::Is(u64::from(mask)),
            addend,
            Word::Is(0),
        ];
        self.push(operation::COPY, words, 0);
    }

    /// `to = (from >> shift & mask) + addend`, in 32 bits.
    pub(crate) fn copy(&mut self, to: Cell, from: Cell, shift: u8, mask: u32, addend: i32) {
        self.copy_to(Word::Is(to.0), from, shift, mask, Word::Is(u64::from(addend as u32)));
    }

    pub(crate) fn set(&mut self, to: Cell, value: u64) {
        self.copy_to(Word::Is(to.0), to, 0, 0, Word::Is(value));
    }

    pub(crate) fn add(&mut self, to: Cell, from: Cell) {
        let zero = Word::Is(0);
        self.push(operation::ADD, [Word::Is(to.0), Word::Is(from.0), zero, zero, zero, zero], 0);
    }

    pub(crate) fn subtract(&mut self, to: Cell, from: Cell) {
        let zero = Word::Is(0);
        self.push(operation::SUBTRACT, [Word::Is(to.0), Word::Is(from.0), zero, zero, zero, zero], 0);
    }

    /// Where process 1 begins with the table: it goes on as process 1, and its child with the next instruction.
    pub(crate) fn go_on(&mut self) {
        self.push(operation::GO_ON, [Word::Is(0); 6], 0);
    }

    /// Goes to a routine, which comes back after this by the jump that `back` stands before.
    pub(crate) fn gosub(&mut self, routine: Label, back: Label) {
        let next = self.label();
        self.copy_to(Word::Argument(back, 2), Cell(BASE), 0, 0, Word::At(next));
        self.jump(routine);
        self.place(next);
    }

    /// The jump by which a routine comes back.
    pub(crate) fn come_back(&mut self, back: Label) {
        self.place(back);
        self.jump(back);
    }

    /// The table, to lie at [`BASE`], beginning with a jump to `start`.
    pub(crate) fn finish(mut self, start: Label) -> Vec<u8> {
        self.align();
        let code = self.here();
        let at = |label: Label| self.labels.get(label.0).map_or(0, |at| code + SIZE * *at as u64);
        let zero = Word::Is(0);
        let number = Word::Is(operation::JUMP_UNLESS_EQUAL as u64);
        let first = [number, Word::Is(BASE), zero, Word::At(start), zero, zero, zero, zero];
        let value = |word: &Word| match *word {
            Word::Is(value) => value,
            Word::At(label) => at(label),
            Word::Argument(label, number) => at(label) + 8 * (1 + number as u64),
        };
        let mut table = Vec::with_capacity(self.size() + WORDS * 8);
        let put = |table: &mut Vec<u8>, words: &[Word; WORDS]| {
            words.iter().for_each(|word| table.extend_from_slice(&value(word).to_ne_bytes()));
        };
        put(&mut table, &first);
        table.extend_from_slice(&self.data);
        self.code.iter().for_each(|words| put(&mut table, words));
        table
    }
}
