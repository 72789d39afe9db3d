//! How a run begins, and with what before policy and log are known.

use crate::direct::Own;
use crate::{Error, Firewall, Outcome, Request, RunOptions};
use shward_sandbox::{Ahead, OnOutput};

/// The namespaces of the one run of a process, being made while policy and log are looked for. Nothing of the command is in them, and
/// if the command is not run they go. To be given to [`Firewall::run_begun`] by the thread that made it.
#[derive(Debug)]
pub struct Beginning(Option<Ahead>);

impl Beginning {
    /// Begins, unless the request is one that may need no sandbox.
    #[must_use]
    pub fn of(request: &Request, options: &RunOptions) -> Self {
        // A policy can make options stricter, and then other requests need one, but never fewer.
        let ahead = if Own::read(&request.action, options).is_none() { Ahead::start_once() } else { None };
        Self(ahead)
    }
}

impl Firewall {
    /// Decides about a request as `contained`, records the decision, and runs it in the sandbox if it is allowed.
    /// `on_output` gets every piece of output as it comes, as far as the policy lets output pass (`[limits] max-output`).
    ///
    /// # Errors
    /// The request cannot be judged, the decision cannot be recorded, or the sandbox cannot be built: then nothing ran.
    /// [`Error::Unrecorded`] alone tells of a command that did run.
    pub fn run(
        &self,
        request: &Request,
        options: &RunOptions,
        on_output: OnOutput<'_>,
    ) -> Result<Outcome, Error> {
        self.run_ahead(request, options, None, on_output)
    }

    /// As [`run`](Self::run), with what was begun for it.
    ///
    /// # Errors
    /// As there.
    pub fn run_begun(
        &self,
        request: &Request,
        options: &RunOptions,
        beginning: Beginning,
        on_output: OnOutput<'_>,
    ) -> Result<Outcome, Error> {
        self.run_ahead(request, options, beginning.0, on_output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_begun_for_what_starts_no_process() {
        let begun = |text: &str| {
            let request = Request::command(text, "/", "/");
            Beginning::of(&request, &RunOptions::default()).0.is_some()
        };
        assert!(!begun("true") && !begun("echo a && pwd"));
        assert!(begun("/bin/true") && begun("echo a > b"), "a helper was made");
    }
}
