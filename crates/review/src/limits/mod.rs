//! Rate limits: how often an agent may try, whatever becomes of it.
//!
//! Each [`Limit`] is kept by GCRA (ITU-T I.371, the generic cell rate algorithm): so many attempts at once, then one more
//! every `period / count`. One number per limit and key is all that is remembered: when the key will be as if it had never
//! been used. In any stretch of time `t` there are at most `burst + t · count / period` attempts. Burst and sustained limits
//! are two limits for the same thing; an attempt has to fit all.
//!
//! An attempt counts when it is made, whether it is then allowed, denied, fails or is killed. An attempt that the limit
//! itself refuses does not count, or the wait that is told would not be true.

mod gcra;
mod store;
mod table;

pub use store::{Limiter, Refusal, Turn};

use std::fmt;
use std::time::Duration;

/// `burst` attempts at once, and one more every `period / count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many at once; at least 1.
    burst: u32,
    /// How many; at least 1.
    count: u32,
    /// In which time; at least a millisecond per attempt, at most a day.
    period: Duration,
}

/// The longest period: a day.
const MAX_PERIOD: Duration = Duration::from_secs(86_400);

impl Rate {
    /// `count` attempts in `period`, all of them at once if need be; `None` for no attempts, more than a thousand a second,
    /// or more than a day.
    #[must_use]
    pub const fn new(count: u32, period: Duration) -> Option<Self> {
        let fits =
            count > 0 && period.as_millis() >= count as u128 && period.as_secs() <= MAX_PERIOD.as_secs();
        if fits { Some(Self { burst: count, count, period }) } else { None }
    }

    /// With so many at once; at least one.
    #[must_use]
    pub const fn at_once(mut self, burst: u32) -> Self {
        self.burst = if burst == 0 { 1 } else { burst };
        self
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { burst, count, period } = self;
        if burst != count {
            write!(f, "{burst} at once and ")?;
        }
        write!(f, "{count} in {} s", period.as_secs_f64())
    }
}

/// What a limit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Each session of an agent.
    Session,
    /// Each program by name, in all sessions.
    Program,
    /// Each tier, or only this one, in all sessions.
    Tier(Option<u8>),
    /// All attempts of this user.
    Global,
}

impl Per {
    fn is_for(self, key: &Key<'_>) -> bool {
        match (self, key) {
            (Self::Session, Key::Session(_))
            | (Self::Program, Key::Program(_))
            | (Self::Global, Key::Global) => true,
            (Self::Tier(one), Key::Tier(tier)) => one.is_none_or(|one| one == *tier),
            _ => false,
        }
    }
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What it is for.
    pub per: Per,
    /// How many.
    pub rate: Rate,
    /// How long an attempt that is over it waits for its turn, at most a minute; one whose turn comes later is refused.
    /// Zero refuses at once.
    pub wait: Duration,
}

impl Limit {
    /// A limit that refuses.
    #[must_use]
    pub const fn new(per: Per, rate: Rate) -> Self {
        Self { per, rate, wait: Duration::ZERO }
    }
}

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key<'a> {
    /// Everything.
    Global,
    /// A tier, 1 to 4.
    Tier(u8),
    /// A session; attempts without one share the empty name.
    Session(&'a str),
    /// A program, by the name it is called with.
    Program(&'a str),
}

impl Key<'_> {
    /// The key in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Global => "all commands".to_owned(),
            Self::Tier(tier) => format!("commands of tier {tier}"),
            Self::Session("") => "commands without a session".to_owned(),
            Self::Session(_) => "this session's commands".to_owned(),
            Self::Program("") => "commands whose program is not known".to_owned(),
            Self::Program(name) => format!("commands that start {}", crate::one_line(name)),
        }
    }
}
