//! Typed readers for argument lists that the tables cannot describe alone.

pub(crate) mod env;

use super::run::Run;
use super::scan::At;
use crate::value::Stream;

/// Interprets the arguments after `At` and returns standard output.
pub(crate) type Reader = for<'r, 's, 'p, 'a> fn(&'r mut Run<'s, 'a>, &'p At<'a>) -> Stream<'a>;
