//! `git apply`: which files are changed stands in the patch.

use super::patch::{self, Form};
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Reads the arguments of `git apply`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    patch::read_as(run, at, Form::Git)
}
