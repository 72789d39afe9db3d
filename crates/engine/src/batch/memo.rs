//! Answers that were given already, for a stream in which requests come again.
//!
//! A digest says where to look; whether it is the same request, all of its bytes say, so that no other request can be made
//! to look like it. Request and answer are kept as bytes, one behind the other: keeping them is a copy, and so is
//! answering. When there is no room for more, what was longest not asked goes: there are two ages, the old one goes as a
//! whole, and what is asked of it comes into the young one.

use std::hash::{BuildHasher, RandomState};

/// Most bytes of requests and answers of one age.
const ROOM: usize = 2 << 20;

/// Places for answers of one age, and how many of them are taken at most.
const PLACES: usize = 1 << 13;
const MOST: usize = PLACES / 4 * 3;

/// Longest request and longest answer that are kept.
const LONGEST: usize = 16 << 10;

/// Answers by request.
#[derive(Debug)]
pub(super) struct Memo {
    /// Makes the places differ from process to process, so that nobody can prepare requests that share one.
    seed: u64,
    young: Age,
    old: Age,
}

#[derive(Debug, Default)]
struct Age {
    places: Vec<Place>,
    taken: usize,
    text: Vec<u8>,
}

/// Where a request begins in the text, the lengths of its parts and of the answer behind them, and what the digest says
/// beside the place. No answer is empty. Numbers, because memory for zeros is asked for and not written.
type Place = [u32; 5];

/// A request: two parts, and where the one ends and the other begins belongs to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'k> {
    parts: [&'k [u8]; 2],
    digest: u64,
}

impl Default for Memo {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0u8);
        Self { seed, young: Age::default(), old: Age::default() }
    }
}

impl Memo {
    /// What a request is kept under. `None`: it is too long for that.
    pub(super) fn key<'k>(&self, parts: [&'k [u8]; 2]) -> Option<Key<'k>> {
        let [first, second] = parts;
        (first.len() + second.len() <= LONGEST)
            .then(|| Key { parts, digest: finished(digest(digest(self.seed, first), second)) })
    }

    /// Appends the answer to this request, if it is known.
    pub(super) fn recall(&mut self, key: &Key<'_>, out: &mut Vec<u8>) -> bool {
        let from = out.len();
        if let Some(answer) = self.young.find(key) {
            out.extend_from_slice(answer);
            return true;
        }
        let Some(answer) = self.old.find(key) else { return false };
        out.extend_from_slice(answer);
        self.keep(key, out.get(from..).unwrap_or_default());
        true
    }

    /// Keeps an answer that is not known, unless it is too long for that.
    pub(super) fn keep(&mut self, key: &Key<'_>, answer: &[u8]) {
        if answer.len() > LONGEST {
            return;
        }
        let needed = key.parts.map(<[u8]>::len).iter().sum::<usize>() + answer.len();
        if self.young.taken >= MOST || self.young.text.len() + needed > ROOM {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.places.fill(Place::default());
            self.young.taken = 0;
            self.young.text.clear();
        }
        self.young.put(key, answer);
    }
}

impl Age {
    fn find(&self, key: &Key<'_>) -> Option<&[u8]> {
        let tag = key.digest as u32;
        let lengths = key.parts.map(|part| part.len() as u32);
        for at in key.places() {
            let [from, first, second, answer, known] = *self.places.get(at)?;
            if answer == 0 {
                return None;
            }
            if known == tag && [first, second] == lengths {
                let text = self.text.get(from as usize..)?;
                let (first, text) = text.split_at_checked(first as usize)?;
                let (second, text) = text.split_at_checked(second as usize)?;
                if [first, second] == key.parts {
                    return text.get(..answer as usize);
                }
            }
        }
        None
    }

    fn put(&mut self, key: &Key<'_>, answer: &[u8]) {
        if self.places.is_empty() {
            self.places = vec![Place::default(); PLACES];
        }
        // None of them is above the room there is.
        let [from, first, second, length] =
            [self.text.len(), key.parts[0].len(), key.parts[1].len(), answer.len()].map(|n| n as u32);
        let place = [from, first, second, length, key.digest as u32];
        for at in key.places() {
            if let Some(free) = self.places.get_mut(at).filter(|[_, _, _, answer, _]| *answer == 0) {
                *free = place;
                self.taken += 1;
                for part in key.parts.into_iter().chain([answer]) {
                    self.text.extend_from_slice(part);
                }
                return;
            }
        }
    }
}

impl Key<'_> {
    /// The places where it may be, in the order in which they are taken.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let first = (self.digest >> 32) as usize;
        (first..first + PLACES).map(|at| at % PLACES)
    }
}

/// A multiplicative digest over eight bytes at a time, which goes on where another one has come to.
fn digest(so_far: u64, bytes: &[u8]) -> u64 {
    let mix = |digest: u64, word: [u8; 8]| {
        (digest.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let all = words.iter().fold(so_far ^ bytes.len() as u64, |digest, word| mix(digest, *word));
    mix(all, last)
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
        if memo.recall(&key, &mut out) {
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
        let mut age = Age::default();
        age.put(&of([b"l", b"s"]), b"yes");
        for other in [[b"r", b"m"] as [&[u8]; 2], [b"", b"ls"], [b"ls", b""]] {
            assert_eq!(age.find(&Key { parts: other, digest: 7 << 32 | 9 }), None);
        }
        age.put(&of([b"r", b"m"]), b"no");
        let answers = [age.find(&of([b"l", b"s"])), age.find(&of([b"r", b"m"]))];
        assert_eq!(answers, [Some(&b"yes"[..]), Some(&b"no"[..])]);
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
        assert!(memo.old.taken > ROOM / 2000);
        for age in [&memo.young, &memo.old] {
            assert!(age.text.len() <= ROOM && age.taken <= MOST && age.places.len() == PLACES);
        }
    }
}
