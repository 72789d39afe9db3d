//! How long a command may run, by what it runs.

use crate::settings::{Settings, TimeoutClass};
use shward_analysis::{Invocation, Plan};

/// Seconds that a run gets where nothing is set.
pub(crate) const DEFAULT_TIMEOUT: u32 = 300;

impl Settings {
    /// The seconds that these settings give a command; `None` when they set nothing for it.
    ///
    /// Of several programs the one that gets the longest counts, because one run holds them all. What is not known for certain
    /// gets the time of no class.
    #[must_use]
    pub fn timeout_for(&self, plan: &Plan<'_>) -> Option<u32> {
        let general = self.timeout.as_ref().map(|set| set.value);
        if self.timeouts.is_empty() {
            return general;
        }
        let of = |invocation: &Invocation<'_>| {
            let classes = self.timeouts.iter().map(|set| &set.value);
            let seconds = classes.filter(|class| class.holds(invocation)).map(|class| class.seconds);
            // Of several classes for one program the strictest.
            seconds.min().unwrap_or(general.unwrap_or(DEFAULT_TIMEOUT))
        };
        plan.invocations.iter().map(of).max().or(general)
    }
}

impl TimeoutClass {
    /// Whether a program that is started is certainly of this class.
    fn holds(&self, invocation: &Invocation<'_>) -> bool {
        let Some(program) = invocation.program else { return false };
        let words = invocation.argv.get(1..).unwrap_or_default();
        self.commands.iter().any(|command| {
            let mut wanted = command.split(' ').filter(|word| !word.is_empty()).map(str::as_bytes);
            let named = wanted.next().is_some_and(|name| name == program);
            let mut words = words.iter();
            named && wanted.all(|wanted| words.next().is_some_and(|word| word.known() == Some(wanted)))
        })
    }
}
