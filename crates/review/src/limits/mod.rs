//! Rate limits: how often an agent may try, whatever becomes of it.
//!
//! Each limit is a [`Rate`], kept by GCRA (ITU-T I.371, the generic cell rate algorithm): `count` attempts at once, then
//! one more every `period / count`. One number per limit and key is all that is remembered: when the key will be as if it
//! had never been used. In any stretch of time `t` there are at most `count + t · count / period` attempts.
//!
//! An attempt counts when it is made, whether it is then allowed, denied, fails or is killed. An attempt that the limit
//! itself refuses does not count, or the wait that is told would not be true.

mod gcra;
mod store;
mod table;

pub use store::{Limiter, Refusal, Turn};

use std::time::Duration;

/// `count` attempts at once, then one more every `period / count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many attempts; at least 1.
    count: u32,
    /// In which time; at least a millisecond per attempt, at most a day.
    period: Duration,
}

/// The longest period: a day.
const MAX_PERIOD: Duration = Duration::from_secs(86_400);

impl Rate {
    /// `count` attempts in `period`, or `None` for no attempts, more than a thousand a second, or more than a day.
    #[must_use]
    pub const fn new(count: u32, period: Duration) -> Option<Self> {
        let fits =
            count > 0 && period.as_millis() >= count as u128 && period.as_secs() <= MAX_PERIOD.as_secs();
        if fits { Some(Self { count, period }) } else { None }
    }

    /// How many attempts.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// In which time.
    #[must_use]
    pub const fn period(self) -> Duration {
        self.period
    }
}

/// Two rates that hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limit {
    /// For a short time.
    pub burst: Option<Rate>,
    /// For a long time.
    pub sustained: Option<Rate>,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { burst: None, sustained: None };

    /// Three attempts in ten seconds and ten in a minute: what GAIA's shell tool has.
    pub const GAIA: Self = Self {
        burst: Rate::new(3, Duration::from_secs(10)),
        sustained: Rate::new(10, Duration::from_secs(60)),
    };

    const fn is_none(&self) -> bool {
        self.burst.is_none() && self.sustained.is_none()
    }
}

/// What happens to an attempt that is over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExceed {
    /// It is refused, and told how long to wait.
    #[default]
    Refuse,
    /// It waits for its turn, if that comes within this time; else it is refused. At most a minute.
    Wait(Duration),
}

/// The limits of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Each session of an agent.
    pub session: Limit,
    /// Each program by name, in all sessions.
    pub program: Limit,
    /// The attempts of tier 1, 2, 3 and 4, in all sessions.
    pub tier: [Limit; 4],
    /// All attempts of this user.
    pub global: Limit,
    /// What happens beyond.
    pub on_exceed: OnExceed,
}

impl Limits {
    /// GAIA's numbers for each session.
    pub const GAIA: Self = Self { session: Limit::GAIA, ..Self::NONE };

    /// No limits.
    pub const NONE: Self = Self {
        session: Limit::NONE,
        program: Limit::NONE,
        tier: [Limit::NONE; 4],
        global: Limit::NONE,
        on_exceed: OnExceed::Refuse,
    };

    /// Whether nothing is limited; then no store is opened.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let Self { session, program, tier, global, on_exceed: _ } = self;
        [session, program, global].into_iter().chain(tier).all(Limit::is_none)
    }

    fn of(&self, key: &Key<'_>) -> Limit {
        match key {
            Key::Global => self.global,
            Key::Session(_) => self.session,
            Key::Program(_) => self.program,
            Key::Tier(tier) => {
                // A tier that does not exist is limited as the highest.
                let [.., highest] = self.tier;
                self.tier.get(usize::from(tier.wrapping_sub(1))).copied().unwrap_or(highest)
            }
        }
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
            Self::Program(name) => format!("commands that start {}", crate::one_line(name)),
        }
    }
}
