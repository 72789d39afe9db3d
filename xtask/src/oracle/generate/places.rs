//! What a variable may hold, in every place that takes its value, and expressions that assign, in every place that takes one
//! (`corpus/oracle/places.txt`): what is written there may be expanded once more, or be lost with the process that expands it.

const TEXT: &str = include_str!("../../../../corpus/oracle/places.txt");

/// What is known before a value is taken, and what looks at it afterwards.
const BEFORE_VALUE: &str =
    "declare -A m=([k]=mk); f() { p F \"$1\"; }; x=5; y=6; z=klm; a=(7 8 9); set -- A B; echo p s > s";
const AFTER_VALUE: &str = "p E \"$x\" \"$y\" \"${a[*]}\" \"$v\" \"$t\"";

/// The same for an expression.
const BEFORE_EXPRESSION: &str = "f() { p F \"$x\"; }; x=5; z=klm; r=y; a=(7 8 9)";
const AFTER_EXPRESSION: &str = "p E \"$x\" \"$y\" \"${a[0]}\" \"$v\"";

/// What stands for an expression, and for the whole in what is around it.
const MIDDLE: &str = "…";

/// The lines under each heading.
#[derive(Debug, Default)]
pub(super) struct Places {
    values: Vec<String>,
    takers: Vec<String>,
    expressions: Vec<String>,
    places: Vec<String>,
    around: Vec<String>,
}

impl Places {
    pub(super) fn read() -> Places {
        let mut all = Places::default();
        let mut heading = "";
        for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            if let Some(next) = line.strip_prefix("## ") {
                heading = next;
                continue;
            }
            let line =
                if line == "∅" { String::new() } else { line.replace('␤', "\n").replace('␉', "\t") };
            match heading {
                "values" => all.values.push(line),
                "takers" => all.takers.push(line),
                "expressions" => all.expressions.push(line),
                "places" => all.places.push(line),
                _ => all.around.push(line),
            }
        }
        all
    }

    fn taken(&self) -> usize {
        self.values.len() * self.takers.len()
    }

    /// How many commands they make.
    pub(super) fn count(&self) -> usize {
        self.taken() + self.expressions.len() * self.places.len() * self.around.len()
    }

    /// A command by its number.
    pub(super) fn command(&self, number: usize) -> String {
        let one = |lines: &[String], number: usize| lines.get(number).cloned().unwrap_or_default();
        let Some(number) = number.checked_sub(self.taken()) else {
            let values = self.values.len().max(1);
            let (value, taker) = (one(&self.values, number % values), one(&self.takers, number / values));
            return [BEFORE_VALUE, &format!("t={}", quoted(&value)), &taker, AFTER_VALUE].join("\n");
        };
        let (around, places) = (self.around.len().max(1), self.places.len().max(1));
        let place = one(&self.places, number / around % places);
        let expression = one(&self.expressions, number / around / places);
        let script = place.replace(MIDDLE, &expression);
        let whole = one(&self.around, number % around).replace(MIDDLE, &script);
        [BEFORE_EXPRESSION, &whole, AFTER_EXPRESSION].join("\n")
    }
}

/// A text in quotes that say each of its bytes.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\t', "\\t");
    format!("$'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_meets_every_taker() {
        let places = Places::read();
        let all = [&places.values, &places.takers, &places.expressions, &places.places, &places.around];
        assert!(all.iter().all(|lines| lines.len() > 10), "{places:?}");
        assert!(places.values.iter().any(String::is_empty));
        assert!(places.places.iter().chain(&places.around).all(|line| line.contains(MIDDLE)));
        assert!(places.command(0).contains("t=$'a<(p evil)'\np $t\n"), "{}", places.command(0));
        let last = places.command(places.count() - 1);
        assert!(last.starts_with(BEFORE_EXPRESSION) && !last.contains(MIDDLE), "{last}");
    }
}
