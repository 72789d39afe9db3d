//! Commands that nobody wrote: from a grammar, and by changing ones that somebody did.

mod grammar;
mod mutate;
mod random;

use random::Random;

/// The longest command that is generated, in bytes.
const LONGEST: usize = 4000;

/// Command `number` of a seed. It depends on nothing else, but on the corpus if that is not empty.
pub(super) fn command(seed: u64, number: usize, corpus: &[&str]) -> String {
    let mut random = Random::new(seed, number);
    let command = match random.below(10) {
        0..=5 => grammar::script(&mut random),
        6 => {
            let script = grammar::script(&mut random);
            mutate::mutated(&mut random, &script)
        }
        7 => {
            let script = grammar::script(&mut random);
            grammar::wrapped(&mut random, &script)
        }
        _ if corpus.is_empty() => grammar::script(&mut random),
        _ => {
            let base = random.pick(corpus);
            mutate::mutated(&mut random, base)
        }
    };
    if command.len() > LONGEST { "true".to_owned() } else { command }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_by_seed_and_number() {
        let corpus = ["ls -l | wc", "echo 'a b' > x"];
        let all = |seed| (0..200).map(|number| command(seed, number, &corpus)).collect::<Vec<_>>();
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        let different: std::collections::HashSet<_> = all(1).into_iter().collect();
        assert!(different.len() > 150, "only {} different ones", different.len());
    }
}
