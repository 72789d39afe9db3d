//! A run on a thread of its own, whose output is read as it comes; and cancelling runs by the name of their call.

use crate::{Error, Firewall, Outcome, Request, RunOptions};
use shward_sandbox::{Cancel, Stream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many pieces of output wait for their reader. A slow reader slows the command rather than filling memory.
const WAITING: usize = 16;

/// What comes of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunEvent {
    /// A piece of output.
    Output(Stream, Vec<u8>),
    /// It is over: the last event.
    End(Box<Result<Outcome, Error>>),
}

/// A run under way on a thread of its own: an iterator over its output, with the outcome last. Dropping it cancels the run.
#[derive(Debug)]
pub struct OutputEvents {
    events: Receiver<RunEvent>,
    cancel: Option<Cancel>,
}

impl OutputEvents {
    /// Kills the run. Its outcome still comes.
    pub fn cancel(&self) {
        if let Some(cancel) = &self.cancel {
            cancel.cancel();
        }
    }
}

impl Iterator for OutputEvents {
    type Item = RunEvent;

    fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().ok()
    }
}

impl Drop for OutputEvents {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Firewall {
    /// Kills the runs of this call, or keeps them from starting if they are not decided yet. Returns how many there are: none is
    /// no error, because a run may just have ended.
    pub fn cancel(&self, call_id: &str) -> usize {
        self.running().cancel(call_id)
    }

    /// Decides and runs like [`run`](Self::run), on a thread of its own, and returns at once. Whatever goes wrong is told by the
    /// last event.
    #[must_use]
    pub fn stream(self: &Arc<Self>, request: Request, mut options: RunOptions) -> OutputEvents {
        let (sender, events) = sync_channel(WAITING);
        let cancel = match options.cancel.clone().map_or_else(Cancel::new, Ok) {
            Ok(cancel) => cancel,
            Err(error) => return failed(&sender, events, error.into()),
        };
        options.cancel = Some(cancel.clone());
        let (firewall, stop, last) = (self.clone(), cancel.clone(), sender.clone());
        let work = move || {
            let mut relay = |stream: Stream, bytes: &[u8]| {
                // Nobody reads any more.
                if sender.send(RunEvent::Output(stream, bytes.to_vec())).is_err() {
                    stop.cancel();
                }
            };
            let end = firewall.run(&request, &options, &mut relay);
            let _ = sender.send(RunEvent::End(Box::new(end)));
        };
        match std::thread::Builder::new().name("shward run".to_owned()).spawn(work) {
            Ok(_) => {
                drop(last); // or the iterator would never end
                OutputEvents { events, cancel: Some(cancel) }
            }
            Err(error) => failed(&last, events, Error::NoThread(error)),
        }
    }
}

/// A run that did not start.
fn failed(sender: &SyncSender<RunEvent>, events: Receiver<RunEvent>, error: Error) -> OutputEvents {
    let _ = sender.send(RunEvent::End(Box::new(Err(error))));
    OutputEvents { events, cancel: None }
}
