//! A chart of one curve: both axes logarithmic, one line, its values written at its points.

use super::scaling::Curve;
use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 50.0;
const MARGIN: f64 = 30.0;

/// The chart as a file. Colours are readable on white and on black.
pub(super) fn chart(curve: &Curve) -> String {
    let across = Axis::over(curve.points.iter().map(|p| p.0), LEFT, WIDTH - MARGIN);
    let up = Axis::over(curve.points.iter().map(|p| p.1), HEIGHT - BOTTOM, MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\" \
         fill=\"#777\">\n<title>{}: {} by {}</title>\n",
        curve.title, curve.up, curve.across
    );
    for value in across.marks() {
        let x = across.at(value);
        let (top, bottom) = (MARGIN, HEIGHT - BOTTOM);
        let _ = writeln!(out, "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#7773\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            short(value)
        );
    }
    for value in up.marks() {
        let y = up.at(value);
        let _ = writeln!(out, "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#7773\"/>", WIDTH - MARGIN);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            short(value)
        );
    }
    let at = |(x, y): &(f64, f64)| (across.at(*x), up.at(*y));
    let line: Vec<String> = curve.points.iter().map(at).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#27c\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for point in &curve.points {
        let (x, y) = at(point);
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#27c\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            y - 8.0,
            short(point.1)
        );
    }
    let (middle, below) = ((LEFT + WIDTH - MARGIN) / 2.0, HEIGHT - 12.0);
    let _ =
        writeln!(out, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>", curve.across);
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"14\">{}</text>\n</svg>", curve.up);
    out
}

/// A logarithmic axis over whole decades.
struct Axis {
    from: i32,
    to: i32,
    start: f64,
    end: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Axis {
        let decade = |value: f64| value.max(1e-9).log10();
        let lowest = values.clone().map(decade).fold(f64::INFINITY, f64::min);
        let highest = values.map(decade).fold(f64::NEG_INFINITY, f64::max);
        if lowest > highest {
            return Axis { from: 0, to: 1, start, end };
        }
        let from = lowest.floor() as i32;
        Axis { from, to: (highest.ceil() as i32).max(from + 1), start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(1e-9).log10() - f64::from(self.from)) / f64::from(self.to - self.from);
        self.start + share * (self.end - self.start)
    }

    fn marks(&self) -> impl Iterator<Item = f64> + use<> {
        (self.from..=self.to).map(|decade| 10f64.powi(decade))
    }
}

/// A number with two or three digits that count.
fn short(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", value / 1e6),
        1e3.. => format!("{}k", value / 1e3),
        100.0.. => format!("{value:.0}"),
        _ if value == value.round() => format!("{value}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_evenly_apart() {
        let axis = Axis::over([3.0, 2000.0].into_iter(), 0.0, 400.0);
        assert_eq!((axis.from, axis.to), (0, 4));
        let at: Vec<f64> = axis.marks().map(|mark| axis.at(mark)).collect();
        assert_eq!(at, [0.0, 100.0, 200.0, 300.0, 400.0]);
        assert_eq!(Axis::over(std::iter::empty(), 0.0, 1.0).to, 1);
    }

    #[test]
    fn a_chart_has_all_points() {
        let points = vec![(1.0, 5.0), (10.0, 6.0), (100.0, 5.5)];
        let curve = Curve { name: "x", title: "T", across: "a", up: "u", points };
        let chart = chart(&curve);
        assert_eq!(chart.matches("<circle").count(), 3);
        assert!(chart.starts_with("<svg") && chart.ends_with("</svg>\n") && !chart.contains("NaN"));
        for text in ["T: u by a", ">5.50<", ">100<"] {
            assert!(chart.contains(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.25, 7.0, 7.31, 42.66, 123.4, 1000.0, 1e6].map(short);
        assert_eq!(all, ["0.25", "7", "7.31", "42.7", "123", "1k", "1M"]);
    }
}
