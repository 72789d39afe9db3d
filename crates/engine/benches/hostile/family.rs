//! What both benches of hostile commands have in common: the families, their sizes, the table and the chart.

use super::{chart, inputs};
use std::path::PathBuf;

/// Bytes, as far as the family can be cut to size.
pub(crate) const SIZES: [usize; 4] = [15_000, 60_000, 240_000, 960_000];

/// What one family costs for each byte, at each size.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) costs: Vec<f64>,
}

impl Row {
    /// What the largest size costs.
    pub(crate) fn last(&self) -> f64 {
        self.costs.last().copied().unwrap_or_default()
    }

    /// Whether a byte costs more than twice of what it costs at a sixteenth of the length, and more than what is cheap.
    pub(crate) fn grows(&self, cheap: f64) -> bool {
        self.last() > 2.0 * self.costs[1] && self.last() > cheap
    }
}

/// Measures the families that `--only TEXT` names, or all, and draws them into `file` if `--svg DIR` says where. `cost` gives
/// what a command costs in all; the rows have `unit` times of that for each byte.
pub(crate) fn measure(
    title: &str,
    file: &str,
    unit: f64,
    bound: Option<f64>,
    cost: impl Fn(String) -> f64,
) -> Vec<Row> {
    let mut svg: Option<PathBuf> = None;
    let mut only = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--svg" => svg = arguments.next().map(PathBuf::from),
            "--only" => only = arguments.next(),
            _ => {}
        }
    }
    println!("Hostile commands: {title}");
    let mut rows = Vec::new();
    for (name, input) in inputs::FAMILIES {
        if only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let each = |size| {
            let command = input(size);
            // What is short at any size counts as if it were of this one.
            let bytes = command.len().max(size) as f64;
            cost(command) / bytes * unit
        };
        let row = Row { name, costs: SIZES.into_iter().map(each).collect() };
        let cells: String = row.costs.iter().map(|value| format!("{value:9.1}")).collect();
        println!("{name:40} {cells}");
        rows.push(row);
    }
    if let Some(directory) = svg {
        let all: Vec<_> = rows.iter().map(|row| (row.name, row.costs.clone())).collect();
        let drawn = chart::chart(&format!("Hostile commands: {title}"), &SIZES, &all, bound);
        std::fs::write(directory.join(file), drawn).unwrap();
    }
    rows
}

/// How many there are, and which costs most.
pub(crate) fn sum_up(rows: &[Row], unit: &str) {
    println!("{} families", rows.len());
    if let Some(most) = rows.iter().max_by(|a, b| a.last().total_cmp(&b.last())) {
        println!("the most: {}, {:.1} {unit}", most.name, most.last());
    }
}
