//! Answers that were given already, for a stream in which requests come again.
//!
//! A digest says where to look; whether it is the same request, all of its bytes say, so that no other request can be made
//! to look like it. Request and answer are kept as bytes, one behind the other: keeping them is a copy, and so is
//! answering. When there is no room for more, what was longest not asked goes: there are two ages, the old one goes as a
//! whole, and what is asked of it comes into the young one.

use std::hash::{BuildHasher, RandomState};

/// Most bytes of requests and answers of one age.
const ROOM: usize = 2 << 20;

/// Most answers of one age, and places in which they are looked up: so many that a look at one mostly tells.
const MOST: usize = 6 << 10;
const PLACES: usize = 1 << 14;

/// Bits of a place that say which answer is there. The others are those of its digest.
const NUMBERS: u32 = (1 << 13) - 1;
const _: () = assert!(MOST <= NUMBERS as usize && MOST < PLACES);

/// Longest request and longest answer that are kept.
const LONGEST: usize = 16 << 10;

/// Answers by request.
#[derive(Debug)]
pub(super) struct Memo {
    /// Makes the places differ from process to process, so that nobody can prepare requests that share one.
    seed: u64,
    /// By digest: some bits of it above the number of an answer of the young age, counted from one, or zero; and the same of
    /// the old age. Beside each other, since what a digest leads to has to be waited for.
    places: Vec<[u32; 2]>,
    young: Age,
    old: Age,
}

#[derive(Debug, Default)]
struct Age {
    answers: Vec<Answer>,
    text: Vec<u8>,
}

/// Where a request begins in the text, the lengths of its parts and of the answer behind them.
type Answer = [u32; 4];

/// A request: two parts, and where the one ends and the other begins belongs to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'k> {
    parts: [&'k [u8]; 2],
    digest: u64,
}

impl Default for Memo {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0u8);
        Self { seed, places: Vec::new(), young: Age::default(), old: Age::default() }
    }
}

impl Memo {
    /// What a request is kept under. `None`: it is too long for that.
    pub(super) fn key<'k>(&self, parts: [&'k [u8]; 2]) -> Option<Key<'k>> {
        let [first, second] = parts;
        (first.len() + second.len() <= LONGEST)
            .then(|| Key { parts, digest: finished(digest(digest(self.seed, first), second)) })
    }

    /// Tells the answer to this request, if it is known.
    pub(super) fn recall(&mut self, key: &Key<'_>, tell: impl FnOnce(&[u8])) -> bool {
        let mut in_old = None;
        for at in key.places() {
            let Some([young, old]) = self.places.get(at) else { break };
            if *young == 0 && (*old == 0 || in_old.is_some()) {
                break;
            }
            if let Some(answer) = self.young.at(*young, key) {
                tell(answer);
                return true;
            }
            in_old = in_old.or_else(|| self.old.at(*old, key));
        }
        let Some(answer) = in_old else { return false };
        tell(answer);
        let answer = answer.to_vec();
        self.keep(key, &answer);
        true
    }

    /// Keeps an answer that is not known, unless it is too long for that.
    pub(super) fn keep(&mut self, key: &Key<'_>, answer: &[u8]) {
        if answer.len() > LONGEST {
            return;
        }
        if self.places.is_empty() {
            self.places = vec![[0; 2]; PLACES];
        }
        let needed = key.parts.map(<[u8]>::len).iter().sum::<usize>() + answer.len();
        if self.young.answers.len() >= MOST || self.young.text.len() + needed > ROOM {
            std::mem::swap(&mut self.young, &mut self.old);
            self.places.iter_mut().for_each(|place| *place = [0, place[0]]);
            self.young.answers.clear();
            self.young.text.clear();
        }
        for at in key.places() {
            if let Some([free, _]) = self.places.get_mut(at).filter(|[young, _]| *young == 0) {
                *free = key.tag() & !NUMBERS | self.young.put(key, answer);
                return;
            }
        }
    }
}

impl Age {
    /// The answer that a place tells of, if it is one to this request.
    fn at(&self, place: u32, key: &Key<'_>) -> Option<&[u8]> {
        if (place ^ key.tag()) & !NUMBERS != 0 {
            return None;
        }
        let number = (place & NUMBERS) as usize;
        let [from, first, second, answer] = *self.answers.get(number.checked_sub(1)?)?;
        let text = self.text.get(from as usize..)?;
        let (first, text) = text.split_at_checked(first as usize)?;
        let (second, text) = text.split_at_checked(second as usize)?;
        ([first, second] == key.parts).then(|| text.get(..answer as usize))?
    }

    /// Keeps an answer, and gives its number.
    fn put(&mut self, key: &Key<'_>, answer: &[u8]) -> u32 {
        // None of the numbers is above what there is room for.
        let number = |length: usize| length as u32;
        let [first, second] = key.parts;
        self.answers.push([self.text.len(), first.len(), second.len(), answer.len()].map(number));
        for part in [first, second, answer] {
            self.text.extend_from_slice(part);
        }
        number(self.answers.len())
    }
}

impl Key<'_> {
    /// The places where it may be, in the order in which they are taken.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let first = (self.digest >> 32) as usize;
        (first..first + PLACES).map(|at| at % PLACES)
    }

    /// What stands at its place, but for the number.
    const fn tag(&self) -> u32 {
        self.digest as u32
    }
}

/// A multiplicative digest over eight bytes at a time, which goes on where another one has come to. Two words are mixed
/// beside each other, since what a product is has to be waited for.
fn digest(so_far: u64, bytes: &[u8]) -> u64 {
    let mix = |digest: u64, word: [u8; 8]| {
        (digest.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let (pairs, odd) = words.as_chunks::<2>();
    let start = (so_far ^ bytes.len() as u64, so_far.rotate_left(32));
    let (even, other) =
        pairs.iter().fold(start, |(even, other), [first, second]| (mix(even, *first), mix(other, *second)));
    let even = odd.iter().fold(even, |digest, word| mix(digest, *word));
    mix(mix(even, last), other.to_le_bytes())
}

/// A product's low bits know nothing of what stood high in its factors.
fn finished(digest: u64) -> u64 {
    let all = (digest ^ digest >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    all ^ all >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a request has to be answered, which it then is.
    fn asks(memo: &mut Memo, request: &str, answer: &[u8]) -> bool {
        let mut out = b"before".to_vec();
        let parts = request.as_bytes().split_at(request.len().min(3));
        let Some(key) = memo.key(parts.into()) else { return true };
        if memo.recall(&key, |answer| out.extend_from_slice(answer)) {
            assert_eq!(out, [b"before", answer].concat());
            return false;
        }
        assert_eq!(out, b"before");
        memo.keep(&key, answer);
        true
    }

    #[test]
    fn a_request_is_not_taken_for_one_of_the_same_digest() {
        let of = |parts: [&'static [u8]; 2]| Key { parts, digest: 7 << 32 | 9 };
        let mut memo = Memo::default();
        let recalled = |memo: &mut Memo, parts| {
            let mut out = Vec::new();
            memo.recall(&of(parts), |answer| out.extend_from_slice(answer)).then_some(out)
        };
        memo.keep(&of([b"l", b"s"]), b"yes");
        for other in [[b"r" as &[u8], b"m"], [b"", b"ls"], [b"ls", b""]] {
            assert_eq!(recalled(&mut memo, other), None);
        }
        memo.keep(&of([b"r", b"m"]), b"no");
        let answers = [[b"l", b"s"], [b"r", b"m"]].map(|[a, b]| recalled(&mut memo, [a, b]));
        assert_eq!(answers, [Some(b"yes".to_vec()), Some(b"no".to_vec())]);
    }

    #[test]
    fn a_request_that_comes_again_is_not_judged_again() {
        let mut memo = Memo::default();
        assert!(asks(&mut memo, "list", b"yes"));
        assert!(!asks(&mut memo, "list", b"yes"));
        assert!(asks(&mut memo, "list ", b"no"));
        assert!(!asks(&mut memo, "list", b"yes"));
        // Parts do not flow into each other.
        let digests = [[b"ab" as &[u8], b"c"], [b"a", b"bc"], [b"abc", b""]]
            .map(|parts| memo.key(parts).unwrap().digest);
        assert!(digests[0] != digests[1] && digests[1] != digests[2]);
    }

    #[test]
    fn what_is_asked_stays_and_what_is_not_goes() {
        let mut memo = Memo::default();
        for number in 0..4 * MOST {
            assert!(asks(&mut memo, &format!("echo {number}"), b"echo"));
            assert_eq!(asks(&mut memo, "ls", b"ls"), number == 0, "{number}");
        }
        assert!(asks(&mut memo, "echo 0", b"echo"));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut memo = Memo::default();
        let long = "x".repeat(LONGEST + 1);
        assert!(
            asks(&mut memo, &long, b"yes") && asks(&mut memo, &long, b"yes"),
            "what is long is judged each time"
        );
        let verbose = vec![b'x'; LONGEST + 1];
        assert!(
            asks(&mut memo, "ls", &verbose) && asks(&mut memo, "ls", &verbose),
            "so is what has a long answer"
        );
        for number in 0..3 * ROOM / 1000 {
            let command = format!("echo {number:01000}");
            assert!(asks(&mut memo, &command, b"yes") && !asks(&mut memo, &command, b"yes"));
        }
        assert!(memo.old.answers.len() > ROOM / 2000);
        for age in [&memo.young, &memo.old] {
            assert!(age.text.len() <= ROOM && age.answers.len() <= MOST);
        }
    }
}
