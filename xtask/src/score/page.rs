//! The scores as a page that is kept with the project, so that a change shows in it.

use super::table;
use super::{Judged, Sample};
use crate::Failure;
use crate::corpus::Label;
use std::fs;
use std::path::Path;

/// Writes the page.
pub(super) fn write(path: &Path, samples: &[Sample], judged: &[Judged]) -> Result<(), Failure> {
    fs::write(path, render(samples, judged)).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn render(samples: &[Sample], judged: &[Judged]) -> String {
    let count = |label| samples.iter().filter(|sample| sample.label == label).count();
    format!(
        "# The score\n\n\
         How labelled commands are judged. Written by `cargo xtask score DIR --page corpus/SCORE.md`, not by hand.\n\n\
         {} commands: {} dangerous, {} benign, {} dual. They were judged with the default policy and with nothing of the\n\
         file system to be seen. Where a figure is given twice, the first is `check` (somebody else runs the command), the\n\
         second `--contained` (shward runs it). Caught is what is asked about or denied; interrupted is the same of benign\n\
         commands.\n\n\
         ```text\n{}```\n",
        samples.len(),
        count(Label::Dangerous),
        count(Label::Benign),
        count(Label::Dual),
        table::scores(samples, judged)
    )
}
