//! `rsync`: trees that are copied from or to another machine, or here.

use super::remote_copy::{self, Form};
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Reads the arguments of `rsync`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    remote_copy::read_as(run, at, Form::Trees)
}
