//! Scripts of pieces that people wrote (`corpus/oracle/fragments.txt`): what changes the state of a shell, what looks at it
//! behind that, and what stands around both. It is their meeting that nobody thought of.

use super::random::Random;

const PIECES: &str = include_str!("../../../../corpus/oracle/fragments.txt");
const PAIRS: &str = include_str!("../../../../corpus/oracle/pairs.txt");
const CONTEXTS: &str = include_str!("../../../../corpus/oracle/contexts.txt");

/// What stands for the script among what is around it.
const MIDDLE: char = '…';

/// A line break inside of a piece.
const BREAK: char = '␤';

/// The pieces under one heading.
#[derive(Debug, Default)]
struct Theme {
    changes: Vec<String>,
    looks: Vec<String>,
}

/// All pieces.
#[derive(Debug)]
pub(super) struct Fragments {
    around: Vec<String>,
    themes: Vec<Theme>,
}

impl Fragments {
    /// Reads those of scripts.
    pub(super) fn read() -> Fragments {
        Fragments::of(PIECES)
    }

    /// Reads those of which each is put behind each of its theme.
    pub(super) fn to_pair() -> Fragments {
        let mut all = Fragments::of(PAIRS);
        let scripts = Fragments::read();
        all.themes.extend(scripts.themes);
        Fragments { around: scripts.around, ..all }
    }

    /// Reads those of which each is put in each of their surroundings.
    pub(super) fn to_surround() -> Fragments {
        let mut all = Fragments::of(CONTEXTS);
        all.themes.extend(Fragments::of(PAIRS).themes);
        all
    }

    fn of(text: &str) -> Fragments {
        let mut all = Fragments { around: Vec::new(), themes: Vec::new() };
        let mut around = false;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            let piece = line.replace(BREAK, "\n");
            if let Some(heading) = line.strip_prefix("## ") {
                around = heading == "around";
                if !around {
                    all.themes.push(Theme::default());
                }
            } else if around {
                all.around.push(piece);
            } else if let Some(theme) = all.themes.last_mut() {
                match piece.strip_prefix("= ") {
                    Some(look) => theme.looks.push(look.to_owned()),
                    None => theme.changes.push(piece),
                }
            }
        }
        all
    }

    /// How many pieces in a context there are.
    pub(super) fn contexts(&self) -> usize {
        self.changes().count() * self.around.len()
    }

    /// A piece in a context by its number, behind another one if that is asked for.
    pub(super) fn in_context(&self, random: Option<&mut Random>, number: usize) -> String {
        let contexts = self.around.len().max(1);
        let piece = self.changes().nth(number / contexts).map_or("", String::as_str);
        let around = self.around.get(number % contexts).map_or("…", String::as_str);
        let script = match random {
            Some(random) => {
                let other = one(random, Some(&self.themes), |theme| &theme.changes);
                together(random, &[other, piece])
            }
            None => piece.to_owned(),
        };
        within(around, &script)
    }

    fn changes(&self) -> impl Iterator<Item = &String> {
        self.themes.iter().flat_map(|theme| &theme.changes)
    }

    /// How many pairs there are.
    pub(super) fn pairs(&self) -> usize {
        self.themes.iter().map(|theme| theme.changes.len().pow(2)).sum()
    }

    /// A pair by its number, with one piece that looks behind it.
    pub(super) fn pair(&self, random: &mut Random, number: usize) -> String {
        let mut left = number;
        for theme in &self.themes {
            let all = theme.changes.len();
            if left >= all.pow(2) {
                left -= all.pow(2);
                continue;
            }
            let piece = |number| theme.changes.get(number).map_or("", String::as_str);
            let look = one(random, Some(std::slice::from_ref(theme)), |theme| &theme.looks);
            let script = together(random, &[piece(left / all), piece(left % all), look]);
            return if random.once_in(2) { script } else { self.surrounded(random, &script) };
        }
        String::new()
    }

    /// A script inside of one of the surroundings.
    fn surrounded(&self, random: &mut Random, script: &str) -> String {
        let around: Vec<&str> = self.around.iter().map(String::as_str).collect();
        within(random.pick(&around), script)
    }

    /// One to four pieces that change something, and one that looks.
    pub(super) fn script(&self, random: &mut Random) -> String {
        let theme = random.below(self.themes.len());
        let changed = if random.below(5) < 3 { self.themes.get(theme..=theme) } else { Some(&*self.themes) };
        let looked = if random.below(5) < 3 { self.themes.get(theme..=theme) } else { Some(&*self.themes) };
        let count = [1, 1, 2, 2, 2, 2, 3, 3, 4].get(random.below(9)).copied().unwrap_or(1);
        let mut pieces: Vec<&str> =
            (0..count).map(|_| one(random, changed, |theme| &theme.changes)).collect();
        pieces.push(one(random, looked, |theme| &theme.looks));
        let mut script = together(random, &pieces);
        let layers = if random.once_in(3) { 0 } else { 1 + usize::from(random.once_in(6)) };
        for _ in 0..layers {
            script = self.surrounded(random, &script);
        }
        script
    }
}

fn one<'f>(
    random: &mut Random,
    themes: Option<&'f [Theme]>,
    which: impl Fn(&Theme) -> &Vec<String>,
) -> &'f str {
    let all: Vec<&str> =
        themes.unwrap_or_default().iter().flat_map(|theme| which(theme).iter()).map(String::as_str).collect();
    random.pick(&all)
}

/// One behind the other: in one line, if none has lines of its own.
fn together(random: &mut Random, pieces: &[&str]) -> String {
    let lines = random.once_in(5) || pieces.iter().any(|piece| piece.contains(['\n', '#']));
    let mut script = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            script.push_str(match (lines, script.ends_with('&')) {
                (true, _) => "\n",
                (false, true) => " ",
                (false, false) => "; ",
            });
        }
        script.push_str(piece);
    }
    script
}

/// A script inside of something else.
fn within(around: &str, script: &str) -> String {
    let Some((before, behind)) = around.split_once(MIDDLE) else { return script.to_owned() };
    let quoted = before.ends_with('\'') && behind.starts_with('\'');
    let script = if quoted { script.replace('\'', r"'\''") } else { script.to_owned() };
    let behind = match behind.strip_prefix(';') {
        Some(rest) if !quoted && script.contains(['\n', '#']) => format!("\n{rest}"),
        Some(rest) if script.ends_with('&') => rest.to_owned(),
        None if script.contains(['\n', '#']) && !quoted && !behind.starts_with('\n') => format!("\n{behind}"),
        _ => behind.to_owned(),
    };
    format!("{before}{script}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together() {
        let fragments = Fragments::read();
        assert!(fragments.themes.len() > 8 && fragments.around.len() > 50);
        for theme in &fragments.themes {
            assert!(!theme.changes.is_empty() && !theme.looks.is_empty());
        }
        for around in &fragments.around {
            assert_eq!(around.matches(MIDDLE).count(), 1, "{around}");
        }
        let contexts = Fragments::to_surround();
        let alone = contexts.in_context(None, contexts.around.len() + 2);
        let behind = contexts.in_context(Some(&mut Random::new(1, 0)), contexts.around.len() + 2);
        assert_eq!(alone, "x=1; eval 'declare -A m; m[$k]=q; x=2'; p \"$x\"");
        assert!(behind.len() > alone.len() && behind.contains("m[$k]=q; x=2'"), "{behind}");
        let pairs = Fragments::to_pair();
        assert!(pairs.pairs() > 400_000 && !pairs.around.is_empty());
        let (first, last) =
            (pairs.pair(&mut Random::new(1, 0), 0), pairs.pair(&mut Random::new(1, 1), pairs.pairs() - 1));
        assert!(first.contains("x=a") && first.contains('p') && last.len() > 3, "{first:?} {last:?}");
        assert_eq!(within("bash -c '…' n", "p 'a'"), r"bash -c 'p '\''a'\''' n");
        assert_eq!(within("{ …; } > o", "cat <<E\nE"), "{ cat <<E\nE\n } > o");
        assert_eq!(within("f() { …; }; f", "q &"), "f() { q & }; f");
    }
}
