//! Who answers what a policy asks, and how often an agent may try.

use serde_json::Value;
use shward_policy::Policy;
use shward_policy::settings::RatePer;
use shward_review::{
    Approver, Asks, Chat, Gatekeeper, GatekeeperError, Limit, Limiter, Per, Program, Rate, StateDir,
};
use std::time::Duration;

/// The rate limits of a policy: of every part of it, since what may only tighten adds its own.
#[must_use]
pub fn rate_limits(policy: &Policy) -> Vec<Limit> {
    let rates = policy.all_settings().flat_map(|settings| &settings.rates);
    let mut limits = Vec::new();
    for rate in rates.map(|set| set.value) {
        let per = match rate.per {
            RatePer::Session => Per::Session,
            RatePer::Program => Per::Program,
            RatePer::Tier => Per::Tier(None),
            RatePer::All => Per::Global,
        };
        let period = Duration::from_secs(rate.seconds.into());
        // What is faster than can be counted is as slow as can be counted.
        let counted = Rate::new(rate.count.max(1), period).or_else(|| Rate::new(1, Duration::from_secs(1)));
        let Some(counted) = counted else { continue };
        let wait = Duration::from_secs(rate.wait.unwrap_or(0).into());
        let limit = Limit { per, rate: counted.at_once(rate.burst), wait };
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    limits
}

/// The gatekeeper of a policy, if it has one. It has at most this time.
///
/// # Errors
/// What the policy says of it is incomplete or wrong.
pub fn policy_gatekeeper(
    policy: &Policy,
    most: Duration,
) -> Result<Option<Box<dyn Gatekeeper>>, GatekeeperError> {
    let settings = policy.settings();
    let seconds = settings.gatekeeper_timeout.as_ref().map_or(20, |set| set.value);
    let deadline = Duration::from_secs(seconds.into()).min(most);
    let key = settings.gatekeeper_key.as_ref().map(|set| set.value.clone());
    match (&settings.gatekeeper_program, &settings.gatekeeper_address, &settings.gatekeeper_model) {
        (None, None, _) => Ok(None),
        (Some(file), None, _) => {
            let arguments = settings.gatekeeper_arguments.iter().flat_map(|set| &set.value);
            let program = Program::new(&file.value)?.arguments(arguments).variables(key).deadline(deadline);
            Ok(Some(Box::new(program)))
        }
        (None, Some(address), Some(model)) => {
            let chat = Chat::new(&address.value, &model.value)?.deadline(deadline);
            Ok(Some(Box::new(match key {
                Some(key) => chat.key_variable(key),
                None => chat,
            })))
        }
        (None, Some(_), None) => {
            Err(GatekeeperError::Unreachable("gatekeeper.address needs gatekeeper.model".to_owned()))
        }
        (Some(_), Some(_), _) => Err(GatekeeperError::Unreachable(
            "gatekeeper.program and gatekeeper.address are two gatekeepers; name one".to_owned(),
        )),
    }
}

/// The gatekeeper that somebody names, else that of the policy. It has at most this time.
///
/// # Errors
/// The system has locked who the gatekeeper is, or what the policy says of it is incomplete or wrong.
pub fn chosen_gatekeeper(
    policy: &Policy,
    named: Option<Box<dyn Gatekeeper>>,
    most: Duration,
) -> Result<Option<Box<dyn Gatekeeper>>, GatekeeperError> {
    match named {
        None => policy_gatekeeper(policy, most),
        // A lock that holds for files alone would let whoever it is for name another in an option.
        Some(_) if policy.locks("gatekeeper") => Err(GatekeeperError::Unreachable(
            "the system's policy says who the gatekeeper is (`lock`), so that no option does; take it out"
                .to_owned(),
        )),
        named => Ok(named),
    }
}

/// Who answers what the policy asks, and how often an agent may try. By default nobody, and as often as it likes.
#[derive(Debug, Default)]
pub struct Reviewers {
    pub(crate) limiter: Option<Limiter>,
    pub(crate) asks: Option<Asks>,
    pub(crate) gatekeeper: Option<Box<dyn Gatekeeper>>,
    pub(crate) approver: Option<Box<dyn Approver>>,
    pub(crate) context: Value,
}

impl Reviewers {
    /// Nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits how often an agent may try.
    #[must_use]
    pub fn limiter(mut self, limiter: Limiter) -> Self {
        self.limiter = (!limiter.limits().is_empty()).then_some(limiter);
        self
    }

    /// Keeps questions for a person who is elsewhere, and uses their answers.
    #[must_use]
    pub fn asks(mut self, asks: Asks) -> Self {
        self.asks = Some(asks);
        self
    }

    /// Asks this gatekeeper.
    #[must_use]
    pub fn gatekeeper(mut self, gatekeeper: impl Gatekeeper + 'static) -> Self {
        self.gatekeeper = Some(Box::new(gatekeeper));
        self
    }

    /// Asks this person about what shward is to run.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Box::new(approver));
        self
    }

    /// Where the stores are.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &StateDir> {
        let limits = self.limiter.iter().map(Limiter::directory);
        limits.chain(self.asks.iter().map(Asks::directory))
    }

    /// Tells the gatekeeper this besides: the task, the system.
    #[must_use]
    pub fn context(mut self, context: Value) -> Self {
        self.context = context;
        self
    }
}
