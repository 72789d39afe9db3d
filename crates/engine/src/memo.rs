//! Verdicts that were given already, for a stream in which commands come again.
//!
//! Only a judgement in the frozen world is kept: there it depends on the request and the policy alone, and the policy is
//! the firewall's for as long as it lives. A digest says where to look; whether it is the same request, all of its bytes
//! say, so that no other request can be made to look like it. What is seen for the first time is not kept, because most
//! commands never come again and a copy costs as much as a short verdict.

use crate::report::Checked;
use crate::request::{Action, Request};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Places for verdicts. A request that is kept takes the place of another with the same.
const PLACES: usize = 1 << 12;

/// Longest request and verdict that are kept, in bytes of text: 16 MiB in all at the very most.
const LONGEST: usize = 4 << 10;

/// Verdicts by request.
#[derive(Debug)]
pub(crate) struct Memo {
    /// Makes the places differ from process to process, so that nobody can prepare requests that share one.
    seed: u64,
    places: Mutex<Vec<Place>>,
}

#[derive(Debug, Default)]
struct Place {
    /// What the digest of the last request that was not kept says beside the place.
    seen: u32,
    known: Option<Box<Known>>,
}

#[derive(Debug)]
struct Known {
    request: Request,
    contained: bool,
    checked: Checked,
}

impl Default for Memo {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0u8), places: Mutex::new(Vec::new()) }
    }
}

impl Memo {
    /// The verdict on this request, or the one that `judge` gives.
    pub(crate) fn recall<E>(
        &self,
        request: &Request,
        contained: bool,
        judge: impl FnOnce() -> Result<Checked, E>,
    ) -> Result<Checked, E> {
        let parts = parts(request);
        if parts.clone().map(<[u8]>::len).sum::<usize>() > LONGEST {
            return judge();
        }
        let digest = parts.fold(self.seed ^ u64::from(contained), digest);
        // A product's low bits know nothing of what stood high in its factors.
        let digest = (digest ^ digest >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let digest = digest ^ digest >> 32;
        let (place, tag) = (usize::try_from(digest >> 32).unwrap_or(0) % PLACES, digest as u32);
        let mut again = false;
        if let Some(place) = self.places().get_mut(place) {
            match &place.known {
                Some(known) if known.contained == contained && is_same(&known.request, request) => {
                    return Ok(known.checked.clone());
                }
                _ => again = std::mem::replace(&mut place.seen, tag) == tag,
            }
        }
        let checked = judge()?;
        if again && size(&checked) <= LONGEST {
            let request = Request { session: None, call_id: None, reasoning: None, ..request.clone() };
            let known = Box::new(Known { request, contained, checked: checked.clone() });
            if let Some(place) = self.places().get_mut(place) {
                place.known = Some(known);
            }
        }
        Ok(checked)
    }

    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        // A thread that panicked has left whole entries.
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.is_empty() {
            places.resize_with(PLACES, Place::default);
        }
        places
    }
}

/// Everything of a request that its verdict depends on.
fn parts(request: &Request) -> impl Iterator<Item = &[u8]> + Clone {
    let (command, argv): (Option<&String>, &[String]) = match &request.action {
        Action::Command(command) => (Some(command), &[]),
        Action::Argv(argv) => (None, argv),
    };
    let directories = [&request.cwd, &request.workspace, &request.home];
    let directories = directories.into_iter().map(|directory| directory.as_os_str().as_bytes());
    directories.chain(command.into_iter().chain(argv).map(String::as_bytes))
}

fn is_same(a: &Request, b: &Request) -> bool {
    // Compared as bytes: paths that are equal as paths may be spelled differently.
    matches!(a.action, Action::Command(_)) == matches!(b.action, Action::Command(_)) && parts(a).eq(parts(b))
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
    mix(all, last)
}

fn size(checked: &Checked) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    checked.findings.iter().map(|f| f.rule.len() + f.message.len() + text(&f.suggestion)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Firewall, Policy, Setting};

    fn checked(firewall: &Firewall, request: &Request, contained: bool) -> Checked {
        let mut setting = Setting::frozen();
        setting.contained = contained;
        firewall.check(request, &setting).unwrap()
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
                requests.extend([request, outside, argv]);
            }
        }
        for _ in 0..3 {
            for request in &requests {
                for contained in [false, true] {
                    let expected = checked(&plain, request, contained);
                    assert_eq!(checked(&remembering, request, contained), expected, "{request:?}");
                }
            }
        }
    }

    #[test]
    fn a_request_that_comes_again_is_not_judged_again() {
        let memo = Memo::default();
        let request = Request::command("ls", "/w", "/home/u");
        let firewall = Firewall::new(Policy::default());
        let judged =
            |memo: &Memo| memo.recall::<()>(&request, false, || Ok(checked(&firewall, &request, false)));
        let first = judged(&memo);
        assert_eq!(memo.recall(&request, false, || Err(())), Err(()), "once is not again");
        assert_eq!(judged(&memo), first);
        assert_eq!(memo.recall(&request, false, || Err(())), first);
        assert_eq!(memo.recall(&request, true, || Err(())), Err(()));
        // Parts do not flow into each other.
        let other = Request { cwd: "/w/h".into(), home: "ome/u".into(), ..request };
        assert_eq!(memo.recall(&other, false, || Err(())), Err(()));
    }

    #[test]
    fn requests_that_come_once_are_not_kept() {
        let memo = Memo::default();
        let checked =
            checked(&Firewall::new(Policy::default()), &Request::command("ls", "/w", "/home/u"), false);
        for number in 1000..5000 {
            let request = Request::command(format!(": x{number}"), "/w", "/home/u");
            memo.recall::<()>(&request, false, || Ok(checked.clone())).unwrap();
        }
        let kept = memo.places().iter().filter(|place| place.known.is_some()).count();
        assert!(kept < 4, "{kept}");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let memo = Memo::default();
        let firewall = Firewall::new(Policy::default());
        let verdict = checked(&firewall, &Request::command("ls", "/w", "/home/u"), false);
        let ask = |command: &str| {
            let request = Request::command(command, "/w", "/home/u");
            let mut judged = false;
            memo.recall::<()>(&request, false, || {
                judged = true;
                Ok(verdict.clone())
            })
            .unwrap();
            judged
        };
        let long = "x".repeat(LONGEST);
        assert!(ask(&long) && ask(&long) && ask(&long), "what is long is judged each time");
        for number in 0..3 * PLACES {
            ask(&format!("echo {number}"));
            ask(&format!("echo {number}"));
        }
        let places = memo.places();
        assert_eq!(places.len(), PLACES);
        let kept: Vec<_> = places.iter().filter_map(|place| place.known.as_ref()).collect();
        assert!(kept.len() > PLACES / 2, "{}", kept.len());
        assert!(kept.iter().all(|known| parts(&known.request).map(<[u8]>::len).sum::<usize>() <= LONGEST));
    }
}
