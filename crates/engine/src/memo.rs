//! Answers that were given already, for a stream in which commands come again.
//!
//! Only a judgement in the frozen world is kept: there it depends on the request and the policy alone, and the policy is
//! the firewall's for as long as it lives. A digest says where to look; whether it is the same request, all of its bytes
//! say, so that no other request can be made to look like it. Request and answer are kept as bytes, one behind the other:
//! keeping them is a copy, and so is answering. When there is no room for more, what was longest not asked goes: there are
//! two ages, the old one goes as a whole, and what is asked of it comes into the young one.

use crate::request::{Action, Request};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most bytes of requests and answers of one age.
const ROOM: usize = 2 << 20;

/// Places for answers of one age, and how many of them are taken at most.
const PLACES: usize = 1 << 13;
const MOST: usize = PLACES / 4 * 3;

/// Longest request and longest answer that are kept.
const LONGEST: usize = 4 << 10;

/// Answers by request.
#[derive(Debug)]
pub(crate) struct Memo {
    /// Makes the places differ from process to process, so that nobody can prepare requests that share one.
    seed: u64,
    ages: Mutex<Ages>,
}

#[derive(Debug, Default)]
struct Ages {
    young: Age,
    old: Age,
    /// Memory for the key of the next request.
    spare: Vec<u8>,
}

#[derive(Debug, Default)]
struct Age {
    places: Vec<Place>,
    taken: usize,
    text: Vec<u8>,
}

/// Where a request begins in the text, its length and that of the answer behind it, and what the digest says beside the
/// place. No answer is empty. Numbers, because memory for zeros is asked for and not written.
type Place = [u32; 4];

/// A request whose answer is not known.
#[derive(Debug)]
pub(crate) struct Unanswered {
    /// Everything of it that its verdict depends on.
    key: Vec<u8>,
    digest: u64,
}

impl Default for Memo {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0u8), ages: Mutex::new(Ages::default()) }
    }
}

impl Memo {
    /// Appends the answer to this request, or says what to [keep](Self::keep) it under.
    pub(crate) fn recall(&self, request: &Request, contained: bool, out: &mut Vec<u8>) -> Option<Unanswered> {
        let mut ages = self.ages();
        let mut key = std::mem::take(&mut ages.spare);
        write_key(request, contained, &mut key);
        let digest = if key.len() > LONGEST { 0 } else { digest(self.seed, &key) };
        let unanswered = Unanswered { key, digest };
        if unanswered.key.len() > LONGEST {
            return Some(unanswered);
        }
        let from = out.len();
        if let Some(answer) = ages.young.find(&unanswered) {
            out.extend_from_slice(answer);
        } else if let Some(answer) = ages.old.find(&unanswered) {
            out.extend_from_slice(answer);
            let answer = out.get(from..).unwrap_or_default();
            ages.put(&unanswered, answer);
        } else {
            return Some(unanswered);
        }
        ages.spare = unanswered.key;
        None
    }

    /// Keeps an answer.
    pub(crate) fn keep(&self, unanswered: Unanswered, answer: &[u8]) {
        let mut ages = self.ages();
        if unanswered.key.len() <= LONGEST && answer.len() <= LONGEST {
            ages.put(&unanswered, answer);
        }
        ages.spare = unanswered.key;
    }

    fn ages(&self) -> MutexGuard<'_, Ages> {
        // A thread that panicked has left whole entries.
        self.ages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ages {
    fn put(&mut self, unanswered: &Unanswered, answer: &[u8]) {
        let needed = unanswered.key.len() + answer.len();
        if self.young.taken >= MOST || self.young.text.len() + needed > ROOM {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.places.fill(Place::default());
            self.young.taken = 0;
            self.young.text.clear();
        }
        self.young.put(unanswered, answer);
    }
}

impl Age {
    fn find(&self, unanswered: &Unanswered) -> Option<&[u8]> {
        let tag = unanswered.digest as u32;
        for at in unanswered.places() {
            let [from, request, answer, known] = *self.places.get(at)?;
            if answer == 0 {
                return None;
            }
            if known == tag {
                let (request, text) = self.text.get(from as usize..)?.split_at_checked(request as usize)?;
                if request == unanswered.key {
                    return text.get(..answer as usize);
                }
            }
        }
        None
    }

    fn put(&mut self, unanswered: &Unanswered, answer: &[u8]) {
        if self.places.is_empty() {
            self.places = vec![Place::default(); PLACES];
        }
        let (Ok(from), Ok(request), Ok(length)) = (
            u32::try_from(self.text.len()),
            u32::try_from(unanswered.key.len()),
            u32::try_from(answer.len()),
        ) else {
            return;
        };
        let place = [from, request, length, unanswered.digest as u32];
        for at in unanswered.places() {
            if let Some(free) = self.places.get_mut(at).filter(|[_, _, answer, _]| *answer == 0) {
                *free = place;
                self.taken += 1;
                self.text.extend_from_slice(&unanswered.key);
                self.text.extend_from_slice(answer);
                return;
            }
        }
    }
}

impl Unanswered {
    /// The places where it may be, in the order in which they are taken.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let first = (self.digest >> 32) as usize;
        (first..first + PLACES).map(|at| at % PLACES)
    }
}

/// Writes everything of a request that its verdict depends on, so that no two requests are written alike.
fn write_key(request: &Request, contained: bool, key: &mut Vec<u8>) {
    key.clear();
    let directories = [&request.cwd, &request.workspace, &request.home];
    let mut part = |bytes: &[u8]| {
        key.extend_from_slice(&bytes.len().to_ne_bytes());
        key.extend_from_slice(bytes);
    };
    directories.into_iter().for_each(|directory| part(directory.as_os_str().as_bytes()));
    match &request.action {
        Action::Command(command) => part(command.as_bytes()),
        Action::Argv(argv) => argv.iter().for_each(|argument| part(argument.as_bytes())),
    }
    key.push(u8::from(contained) | u8::from(matches!(request.action, Action::Argv(_))) << 1);
}

/// A multiplicative digest over eight bytes at a time.
fn digest(seed: u64, bytes: &[u8]) -> u64 {
    let mix = |digest: u64, word: [u8; 8]| {
        (digest.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let all = words.iter().fold(seed ^ bytes.len() as u64, |digest, word| mix(digest, *word));
    let all = mix(all, last);
    // A product's low bits know nothing of what stood high in its factors.
    let all = (all ^ all >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    all ^ all >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Firewall, Policy, Setting};

    fn answer(firewall: &Firewall, request: &Request, contained: bool) -> String {
        let mut setting = Setting::frozen();
        setting.contained = contained;
        let mut out = Vec::new();
        firewall.check_as_json(request, &setting, Some("7"), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Whether a request has to be answered, which it then is.
    fn asks(memo: &Memo, command: &str, answer: &[u8]) -> bool {
        let request = Request::command(command, "/w", "/home/u");
        let mut out = b"before".to_vec();
        match memo.recall(&request, false, &mut out) {
            Some(unanswered) => {
                assert_eq!(out, b"before");
                memo.keep(unanswered, answer);
                true
            }
            None => {
                assert_eq!(out, [b"before", answer].concat());
                false
            }
        }
    }

    #[test]
    fn requests_that_differ_in_anything_are_judged_each_for_itself() {
        let plain = Firewall::new(Policy::default());
        let remembering = Firewall::new(Policy::default()).with_memo();
        let mut requests = Vec::new();
        for (cwd, home) in [("/w", "/home/u"), ("/", "/home/u"), ("/w", "/w"), ("/w/home", "/u")] {
            for command in ["rm -rf x", "rm -rf /w", "cat ~/x", "curl x.example", "ls", "rm -rf ~"] {
                let request = Request::command(command, cwd, home);
                let outside = Request { workspace: "/elsewhere".into(), ..request.clone() };
                let words = command.split(' ').map(str::to_owned).collect();
                let argv = Request { action: Action::Argv(words), ..request.clone() };
                let whole = Request { action: Action::Argv(vec![command.to_owned()]), ..request.clone() };
                requests.extend([request, outside, argv]);
                requests.extend(command.contains(' ').then_some(whole));
            }
        }
        let mut keys = Vec::new();
        for _ in 0..3 {
            for request in &requests {
                for contained in [false, true] {
                    let expected = answer(&plain, request, contained);
                    assert_eq!(answer(&remembering, request, contained), expected, "{request:?}");
                    let mut key = Vec::new();
                    write_key(request, contained, &mut key);
                    keys.push(key);
                }
            }
        }
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 2 * requests.len());
    }

    #[test]
    fn a_request_is_not_taken_for_one_of_the_same_digest() {
        let of = |key: &[u8]| Unanswered { key: key.to_vec(), digest: 7 << 32 | 9 };
        let mut age = Age::default();
        age.put(&of(b"ls"), b"yes");
        assert_eq!(age.find(&of(b"rm")), None);
        age.put(&of(b"rm"), b"no");
        assert_eq!((age.find(&of(b"ls")), age.find(&of(b"rm"))), (Some(&b"yes"[..]), Some(&b"no"[..])));
    }

    #[test]
    fn a_request_that_comes_again_is_not_judged_again() {
        let memo = Memo::default();
        assert!(asks(&memo, "ls", b"yes"));
        assert!(!asks(&memo, "ls", b"yes"));
        assert!(asks(&memo, "ls ", b"no"));
        assert!(!asks(&memo, "ls", b"yes"));
        let mut request = Request::command("ls", "/w", "/home/u");
        assert!(memo.recall(&request, true, &mut Vec::new()).is_some());
        // Parts do not flow into each other.
        (request.cwd, request.home) = ("/w/h".into(), "ome/u".into());
        assert!(memo.recall(&request, false, &mut Vec::new()).is_some());
    }

    #[test]
    fn what_is_asked_stays_and_what_is_not_goes() {
        let memo = Memo::default();
        for number in 0..4 * MOST {
            assert!(asks(&memo, &format!("echo {number}"), b"echo"));
            assert_eq!(asks(&memo, "ls", b"ls"), number == 0, "{number}");
        }
        assert!(asks(&memo, "echo 0", b"echo"));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let memo = Memo::default();
        let long = "x".repeat(LONGEST);
        assert!(asks(&memo, &long, b"yes") && asks(&memo, &long, b"yes"), "what is long is judged each time");
        let verbose = vec![b'x'; LONGEST + 1];
        assert!(asks(&memo, "ls", &verbose) && asks(&memo, "ls", &verbose), "so is what has a long answer");
        for number in 0..3 * ROOM / 1000 {
            let command = format!("echo {number:01000}");
            assert!(asks(&memo, &command, b"yes") && !asks(&memo, &command, b"yes"));
        }
        let ages = memo.ages();
        assert!(ages.old.taken > ROOM / 2000);
        for age in [&ages.young, &ages.old] {
            assert!(age.text.len() <= ROOM && age.taken <= MOST && age.places.len() == PLACES);
        }
    }
}
