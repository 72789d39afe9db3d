//! Questions for a person who is elsewhere, and each answer for one use.
//!
//! A command that the policy asks about is entered with the digest of everything that the answer is about. A person lists
//! the questions and answers one from a terminal; the next time that exactly this is asked, the answer is taken out of the
//! store before anybody acts on it, so that it cannot be used twice, however many ask at once. What was taken and not
//! used, because something failed in between, is gone.
//!
//! An answer holds for ten minutes, a question for an hour, and both not longer than the machine is up.

mod file;

pub use file::{Ask, State};

use crate::store::{StateDir, StoreError, boottime};
use file::{Book, Stored};
use shward_audit::Digest;
use std::time::Duration;

/// How long an answer can be used.
pub(crate) const ANSWER_LIFE: Duration = Duration::from_secs(600);

/// How long a question is kept.
pub(crate) const QUESTION_LIFE: Duration = Duration::from_secs(3600);

/// Questions and answers that are kept. A new question replaces the oldest that has no answer; answers are not replaced.
const MAX_ASKS: usize = 32;

/// Longest command, and longest of the other texts together, that is kept, in bytes. What a person cannot be shown whole
/// cannot be approved from elsewhere.
const MAX_TEXT: usize = 8192;

/// A question.
#[derive(Debug, Clone, Default)]
pub struct NewAsk {
    /// Of everything that the answer is about.
    pub digest: Digest,
    /// The command as the person will see it.
    pub command: String,
    /// Where it starts.
    pub cwd: String,
    /// What it may change.
    pub workspace: String,
    /// shward will run it; else somebody else.
    pub contained: bool,
    /// The tier, 1 to 4.
    pub tier: u8,
    /// Why it is asked, a line each.
    pub findings: Vec<String>,
    /// What the agent says it is for.
    pub reasoning: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
}

/// What the store knew about a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// A person has answered. A yes has been taken out of the store, and is this caller's alone.
    Answered(Answered),
    /// A person can answer it under this id.
    Pending(String),
    /// It cannot be kept for a person, for this reason.
    Unlisted(&'static str),
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The question's id.
    pub id: String,
    /// Yes or no.
    pub yes: bool,
    /// Who answered, as the terminal knows them.
    pub by: String,
}

/// The questions for a person, in the state directory.
#[derive(Debug, Clone)]
pub struct Asks {
    directory: StateDir,
}

impl Asks {
    /// Those of this directory.
    #[must_use]
    pub fn new(directory: StateDir) -> Self {
        Self { directory }
    }

    /// Where they are kept.
    #[must_use]
    pub fn directory(&self) -> &StateDir {
        &self.directory
    }

    /// Uses the answer to this question, if a person gave one: a yes is taken out of the store, and is this caller's alone.
    ///
    /// # Errors
    /// The store cannot be relied on, or not written. Nobody has answered then.
    pub fn redeem(&self, digest: &Digest) -> Result<Option<Answered>, StoreError> {
        let mut book = Book::open(&self.directory)?;
        book.forget(boottime());
        match book.find(&digest.to_string()) {
            Some((at, Entered::Answered(answered))) => {
                if answered.yes {
                    book.asks.remove(at);
                    book.save()?;
                }
                Ok(Some(answered))
            }
            _ => Ok(None),
        }
    }

    /// Enters a question, unless it is there already. An answer that somebody gave meanwhile is used.
    ///
    /// # Errors
    /// The store cannot be relied on, or not written. Nobody has answered then.
    pub fn enter(&self, ask: &NewAsk) -> Result<Entered, StoreError> {
        let mut book = Book::open(&self.directory)?;
        let now = boottime();
        book.forget(now);
        let digest = ask.digest.to_string();
        if let Some((at, entered)) = book.find(&digest) {
            if matches!(&entered, Entered::Answered(answered) if answered.yes) {
                book.asks.remove(at);
                book.save()?;
            }
            return Ok(entered);
        }
        let texts = ask.findings.iter().map(String::len).sum::<usize>()
            + ask.reasoning.as_ref().map_or(0, String::len)
            + ask.session.as_ref().map_or(0, String::len)
            + ask.cwd.len()
            + ask.workspace.len();
        if ask.command.len() > MAX_TEXT || texts > MAX_TEXT {
            return Ok(Entered::Unlisted("it is too long to be shown whole"));
        }
        if book.asks.len() >= MAX_ASKS {
            let oldest = book.asks.iter().position(|stored| stored.ask.state == State::Pending);
            match oldest {
                Some(at) => drop(book.asks.remove(at)),
                None => return Ok(Entered::Unlisted("too many answers wait to be used")),
            }
        }
        let stored = Stored::new(ask, &digest, now);
        let id = stored.ask.id.clone();
        book.asks.push(stored);
        book.save()?;
        Ok(Entered::Pending(id))
    }

    /// Every question and answer that still holds, the oldest first.
    ///
    /// # Errors
    /// The store cannot be relied on.
    pub fn list(&self) -> Result<Vec<Ask>, StoreError> {
        let now = boottime();
        let book = Book::open(&self.directory)?;
        Ok(book.asks.into_iter().filter(|stored| stored.until > now).map(|stored| stored.told(now)).collect())
    }

    /// Enters a person's answer to the question that they were shown: `digest` is its. Returns whether it was still there.
    ///
    /// # Errors
    /// The store cannot be relied on, or not written.
    pub fn answer(&self, digest: &str, yes: bool, by: &str) -> Result<bool, StoreError> {
        let mut book = Book::open(&self.directory)?;
        let now = boottime();
        book.forget(now);
        let Some(stored) = book.asks.iter_mut().find(|stored| stored.ask.digest == digest) else {
            return Ok(false);
        };
        stored.ask.state = if yes { State::Allowed } else { State::Denied };
        stored.ask.by = Some(by.to_owned());
        stored.until = now.saturating_add(file::nanos(ANSWER_LIFE));
        book.save()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks() -> (tempfile::TempDir, Asks) {
        let directory = tempfile::tempdir().unwrap();
        let asks = Asks::new(StateDir::new(directory.path().join("state")));
        (directory, asks)
    }

    fn ask(command: &str) -> NewAsk {
        NewAsk {
            digest: Digest::of(command.as_bytes()),
            command: command.to_owned(),
            tier: 2,
            ..NewAsk::default()
        }
    }

    #[test]
    fn a_yes_is_used_once_and_a_no_stays() {
        let (_directory, asks) = asks();
        let Entered::Pending(id) = asks.enter(&ask("a")).unwrap() else { panic!() };
        assert_eq!(
            asks.enter(&ask("a")).unwrap(),
            Entered::Pending(id.clone()),
            "asked again, the same question"
        );
        let digest = asks.list().unwrap()[0].digest.clone();
        assert!(asks.answer(&digest, true, "dev").unwrap());
        assert!(matches!(asks.enter(&ask("a ")).unwrap(), Entered::Pending(_)), "another command");
        assert_eq!(
            asks.enter(&ask("a")).unwrap(),
            Entered::Answered(Answered { id, yes: true, by: "dev".to_owned() })
        );
        let Entered::Pending(_) = asks.enter(&ask("a")).unwrap() else { panic!("used twice") };
        assert!(asks.answer(&digest, false, "dev").unwrap());
        for _ in 0..3 {
            assert!(matches!(asks.enter(&ask("a")).unwrap(), Entered::Answered(Answered { yes: false, .. })));
        }
        assert!(!asks.answer(&Digest::of(b"nobody asked").to_string(), true, "dev").unwrap());
        assert!(asks.answer(&digest, true, "dev").unwrap());
        assert!(asks.redeem(&ask("a").digest).unwrap().is_some_and(|answered| answered.yes));
        assert_eq!(asks.redeem(&ask("a").digest).unwrap(), None, "used twice");
    }

    #[test]
    fn an_answer_holds_for_its_time_and_until_the_machine_is_started_anew() {
        let (directory, asks) = asks();
        let path = directory.path().join("state/asks");
        let digest = ask("a").digest;
        let rewrite = |change: fn(&mut serde_json::Value)| {
            asks.enter(&ask("a")).unwrap();
            assert!(asks.answer(&digest.to_string(), true, "dev").unwrap());
            let mut content = serde_json::from_slice(&std::fs::read(&path).unwrap()[65..]).unwrap();
            change(&mut content);
            let json = content.to_string();
            std::fs::write(&path, format!("{}\n{json}", Digest::of(json.as_bytes()))).unwrap();
        };
        for gone in [
            |content: &mut serde_json::Value| content["asks"][0]["until"] = 1.into(),
            |content: &mut serde_json::Value| content["boot"] = "another".into(),
        ] {
            rewrite(gone);
            assert!(asks.list().unwrap().is_empty());
            assert_eq!(asks.redeem(&digest).unwrap(), None);
            assert!(!asks.answer(&digest.to_string(), true, "dev").unwrap());
            assert!(matches!(asks.enter(&ask("a")).unwrap(), Entered::Pending(_)));
        }
        rewrite(|content| content["v"] = 2.into());
        assert!(matches!(asks.enter(&ask("a")), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn the_store_stays_small_and_answers_are_not_pushed_out() {
        let (directory, asks) = asks();
        asks.enter(&ask("mine")).unwrap();
        asks.answer(&ask("mine").digest.to_string(), true, "dev").unwrap();
        for n in 0..200 {
            let long = format!("{n:0>8000}");
            assert!(matches!(asks.enter(&ask(&long)).unwrap(), Entered::Pending(_)));
        }
        assert_eq!(asks.list().unwrap().len(), MAX_ASKS);
        let length = std::fs::metadata(directory.path().join("state/asks")).unwrap().len();
        assert!(length < 512 << 10, "{length}");
        assert!(matches!(asks.enter(&ask("mine")).unwrap(), Entered::Answered(Answered { yes: true, .. })));
        assert!(matches!(asks.enter(&ask(&"x".repeat(8193))).unwrap(), Entered::Unlisted(_)));
        let many = NewAsk { findings: vec!["x".repeat(4097); 2], ..ask("b") };
        assert!(matches!(asks.enter(&many).unwrap(), Entered::Unlisted(_)));
    }

    #[test]
    fn any_damage_is_noticed_and_nobody_has_answered() {
        let (directory, asks) = asks();
        asks.enter(&ask("a")).unwrap();
        asks.answer(&ask("a").digest.to_string(), true, "dev").unwrap();
        let path = directory.path().join("state/asks");
        let whole = std::fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert!(matches!(asks.enter(&ask("a")), Err(StoreError::Damaged { .. })), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            let cut = asks.enter(&ask("a"));
            assert!(
                matches!(cut, Err(StoreError::Damaged { .. }) | Ok(Entered::Pending(_))),
                "cut at {at}: {cut:?}"
            );
            assert!(at == 0 || cut.is_err(), "only an empty file is a new one");
        }
    }

    #[test]
    fn many_at_once_use_an_answer_once() {
        let (_directory, asks) = asks();
        for _ in 0..20 {
            asks.enter(&ask("a")).unwrap();
            asks.answer(&ask("a").digest.to_string(), true, "dev").unwrap();
            let used: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8)
                    .map(|_| {
                        scope.spawn(|| {
                            usize::from(matches!(
                                asks.enter(&ask("a")).unwrap(),
                                Entered::Answered(Answered { yes: true, .. })
                            ))
                        })
                    })
                    .collect();
                threads.into_iter().map(|t| t.join().unwrap()).sum()
            });
            assert_eq!(used, 1);
        }
    }
}
