//! A chart of many rows: each with one point per size, on a logarithmic axis. Where the points of a row lie upon each
//! other, the cost grows linearly.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 230.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const ROW: f64 = 12.0;

/// A row: its name and its values, the one of the smallest size first.
pub(crate) type Row<'r> = (&'r str, Vec<f64>);

/// The chart as a file; `bound` is drawn as a line. Colours are readable on white and on black.
pub(crate) fn chart(title: &str, sizes: &[usize], rows: &[Row<'_>], bound: Option<f64>) -> String {
    let values =
        || rows.iter().flat_map(|(_, values)| values).copied().filter(|value| *value > 0.0).chain(bound);
    let lowest = values().fold(f64::INFINITY, f64::min).log10().floor();
    let highest = values().fold(f64::NEG_INFINITY, f64::max).log10().ceil().max(lowest + 1.0);
    let at = |value: f64| {
        let share = ((value.log10() - lowest) / (highest - lowest)).clamp(0.0, 1.0);
        LEFT + share * (WIDTH - RIGHT - LEFT)
    };
    let bottom = TOP + ROW * rows.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" font-family=\"sans-serif\" font-size=\"9\" \
         fill=\"#777\">\n<title>{title}</title>\n<text x=\"{LEFT}\" y=\"14\" font-size=\"11\">{title}</text>\n",
        bottom + 10.0
    );
    let mut decade = lowest;
    while decade <= highest {
        let x = at(10f64.powf(decade));
        let _ = writeln!(out, "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#7773\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP - 4.0,
            10f64.powf(decade)
        );
        decade += 1.0;
    }
    if let Some(bound) = bound {
        let x = at(bound);
        let _ = writeln!(out, "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#c33\"/>");
    }
    let opacity = |index: usize| 0.25 + 0.75 * (index + 1) as f64 / sizes.len() as f64;
    for (index, size) in sizes.iter().enumerate() {
        let x = LEFT + 110.0 * index as f64;
        let _ = writeln!(
            out,
            "<circle cx=\"{x}\" cy=\"24\" r=\"3\" fill=\"#27c\" fill-opacity=\"{:.2}\"/><text x=\"{}\" y=\"27\">{} kB</text>",
            opacity(index),
            x + 6.0,
            size / 1000
        );
    }
    for (row, (name, values)) in rows.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            LEFT - 6.0,
            y + 3.0
        );
        for (index, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#27c\" fill-opacity=\"{:.2}\"/>",
                at(*value),
                opacity(index)
            );
        }
    }
    out.push_str("</svg>\n");
    out
}
