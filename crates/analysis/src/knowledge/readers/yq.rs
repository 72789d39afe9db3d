//! `yq`: the language of `jq`, with files.

use super::jq::{self, Form};
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Reads the arguments of `yq`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    jq::read_as(run, at, Form::Yq)
}
