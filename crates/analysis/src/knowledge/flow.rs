//! What the parts of one program's interpretation hand to each other: its values and operands with their roles, and what
//! was read, which is what it writes, sends and prints.

use super::words::Role;
use crate::value::{Field, Origins};
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;

/// A value or operand and what it means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'s, 'a> {
    pub(crate) role: Role,
    pub(crate) field: &'s Field<'a>,
}

/// What the parts of a program hand to each other.
#[derive(Debug)]
pub(crate) struct Flow<'a> {
    /// Where everything that was read comes from, arguments included.
    pub(crate) origins: Origins,
    /// Where that was produced, if by another part of the command.
    pub(crate) source: Option<Span>,
    /// What is sent out.
    pub(crate) sent: Origins,
    /// The texts that were read, if all are known.
    pub(crate) input: Option<BumpVec<'a, &'a [u8]>>,
    /// Standard input is read.
    pub(crate) stdin: bool,
    /// What the operands name is meant with everything below it.
    pub(crate) tree: bool,
}
