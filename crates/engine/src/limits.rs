//! What a caller may ask for, within what every part of the policy lets a run have.

use crate::{Containment, Error, Firewall, RunOptions};
use shward_analysis::Plan;
use shward_policy::settings::ExecGate;
use shward_sandbox::overlay::Layer;
use shward_sandbox::{Limits, OnOutput, Reserve, Space, Stream};
use std::path::Path;
use std::time::Duration;

/// The time of a run for which nothing is set.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

fn seconds(number: u32) -> Duration {
    Duration::from_secs(u64::from(number))
}

impl Firewall {
    /// Refuses a time that is longer than may be asked for.
    pub(crate) fn refuse_above_ceiling(&self, options: &RunOptions) -> Result<(), Error> {
        let ceilings = self.policy().all_settings().filter_map(|s| s.timeout_ceiling.as_ref());
        let Some(ceiling) = ceilings.map(|set| set.value).min() else { return Ok(()) };
        match options.timeout {
            Some(asked) if asked > seconds(ceiling) => Err(Error::TimeoutAboveCeiling { ceiling }),
            _ => Ok(()),
        }
    }

    /// Refuses a run that would not be confined, unless the policy permits it, and what else was asked for does without a sandbox.
    pub(crate) fn refuse_unconfined(&self, options: &RunOptions) -> Result<(), Error> {
        if options.containment.confines() {
            return Ok(());
        }
        Err(Error::NotConfined(match options {
            _ if !self.policy().permits_full() => {
                "the policy does not permit that; a person can, with [sandbox] full = true"
            }
            RunOptions { gate: ExecGate::Observe | ExecGate::Enforce, .. } => {
                "the exec gate takes a sandbox, and it was asked for, or the policy wants it"
            }
            RunOptions { pty: Some(_), .. } => "a terminal of its own takes a sandbox",
            RunOptions { allow_hosts, .. } if !allow_hosts.is_empty() => {
                "named hosts take a sandbox, and it would reach every host"
            }
            _ => return Ok(()),
        }))
    }

    /// How long a command may run: the shortest that any part of the policy gives, or what was asked for as far as the part lets
    /// callers ask.
    pub(crate) fn timeout(&self, plan: &Plan<'_>, options: &RunOptions) -> Duration {
        let parts = self.policy().all_settings().map(|settings| {
            let given = settings.timeout_for(plan).map(seconds);
            match (options.timeout, &settings.timeout_ceiling) {
                (None, _) => given.unwrap_or(DEFAULT_TIMEOUT),
                (Some(asked), None) => given.map_or(asked, |given| asked.min(given)),
                (Some(asked), Some(ceiling)) => asked.min(seconds(ceiling.value)),
            }
        });
        parts.min().unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The options within the limits of every part of the policy.
    pub(crate) fn limited(&self, options: &RunOptions) -> RunOptions {
        let mut limited = options.clone();
        if !limited.allow_exec.is_empty() {
            limited.gate = limited.gate.max(ExecGate::Observe); // or nobody would learn what was killed
        }
        for settings in self.policy().all_settings() {
            limited.gate =
                limited.gate.max(settings.exec_gate.as_ref().map_or(ExecGate::Off, |set| set.value));
            if settings.read_only.as_ref().is_some_and(|set| set.value) {
                limited.containment = Containment::ReadOnly;
            }
            limited.kill_on_output |= settings.kill_on_output.as_ref().is_some_and(|set| set.value);
            if let Some(bytes) = &settings.max_output {
                limited.max_output =
                    limited.max_output.min(usize::try_from(bytes.value).unwrap_or(usize::MAX));
            }
        }
        limited
    }

    /// Passes on of each stream what every part of the policy lets pass, of `limited` options.
    pub(crate) fn passed<'o>(
        &self,
        options: &RunOptions,
        on_output: OnOutput<'o>,
    ) -> impl FnMut(Stream, &[u8]) + use<'o> {
        let limits = self.policy().all_settings().filter_map(|settings| settings.max_output.as_ref());
        let limit = limits.map(|set| usize::try_from(set.value).unwrap_or(usize::MAX)).min();
        // What is killed for one byte more has not written that.
        let limit = limit.or(options.kill_on_output.then_some(options.max_output)).unwrap_or(usize::MAX);
        let mut left = [limit; 2];
        move |stream, bytes| {
            let [out, err] = &mut left;
            let left = if stream == Stream::Stdout { out } else { err };
            let bytes = bytes.get(..*left).unwrap_or(bytes);
            *left -= bytes.len();
            if !bytes.is_empty() {
                on_output(stream, bytes);
            }
        }
    }

    /// The least of what every part of the policy lets a run use. What is the default gives way to the main part alone: whoever may
    /// only tighten cannot raise it.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(count) = &self.policy().settings().processes {
            limits.processes = Some(count.value);
        }
        if let Some(bytes) = &self.policy().settings().private {
            limits.private_bytes = bytes.value;
        }
        for settings in self.policy().all_settings() {
            let least = |known: Option<u64>, given: u64| Some(known.map_or(given, |known| known.min(given)));
            if let Some(bytes) = &settings.memory {
                limits.data = least(limits.data, bytes.value);
            }
            if let Some(count) = &settings.processes {
                limits.processes = least(limits.processes, count.value);
            }
            if let Some(bytes) = &settings.run_memory {
                limits.run_memory = least(limits.run_memory, bytes.value);
            }
            if let Some(bytes) = &settings.private {
                limits.private_bytes = limits.private_bytes.min(bytes.value);
            }
            if let Some(hundredths) = &settings.processors {
                limits.processors = least(limits.processors, hundredths.value);
            }
        }
        limits
    }

    /// What a run has to leave of the disk with its changes, and how much of it they may take. Parts of the policy that may only tighten
    /// can want more of it.
    pub(crate) fn space(&self, changes: Option<&Path>, layer: Option<&Layer>) -> Space {
        let mut reserve = Reserve::default();
        reserve.bytes = self.policy().settings().disk_reserve.as_ref().map(|set| set.value);
        let mut most: Option<u64> = None;
        for settings in self.policy().all_settings() {
            let wanted = settings.disk_reserve.as_ref().map_or(0, |set| set.value);
            reserve.at_least = reserve.at_least.max(wanted);
            most = settings.run_disk.iter().map(|set| set.value).chain(most).min();
        }
        let mut space = Space::new();
        space.reserves = changes.map(|directory| (directory.to_owned(), reserve)).into_iter().collect();
        space.most = layer.map(Layer::upper).zip(most);
        space
    }

    /// Whether some part of the policy says how much a run may write.
    pub(crate) fn bounds_writing(&self) -> bool {
        self.policy().all_settings().any(|settings| settings.run_disk.is_some())
    }
}
