//! Where the changes of a run go, and what becomes of them when it is over.

use super::{Guard, agreed, moved, title};
use crate::outcome::ChangesReport;
use crate::proposal::{Proposal, Then};
use crate::special::Special;
use crate::{Containment, Error, Firewall, Request, RunOptions};
use shward_policy::settings::Live;
use shward_sandbox::Guarantee;
use shward_sandbox::overlay::{Changes, OverlayError, Room, Run};
use std::path::PathBuf;
use std::time::Duration;

/// How long a run waits at least for those that commit, however little is left of its time: they take milliseconds.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);

/// Who may end the wait for others.
pub(crate) struct Asked<'r> {
    /// Whether there was a signal to end.
    pub(crate) interrupted: &'r dyn Fn() -> bool,
    /// Whether the run was cancelled.
    pub(crate) cancelled: &'r dyn Fn() -> bool,
    /// What is left of the run's time.
    pub(crate) left: Duration,
}

/// A layer, or why there is none.
pub(crate) type Layered = Result<Run, String>;

impl Firewall {
    /// Commits what a run did, or drops it. Whatever goes wrong is in the report.
    pub(crate) fn settle_changes(
        &self,
        run: Run,
        guard: &Guard<'_>,
        request: &Request,
        options: &RunOptions,
        asked: &Asked<'_>,
    ) -> ChangesReport {
        let interrupted = asked.interrupted;
        let wait = |run: &Run| {
            run.turn(asked.left.max(LEAST_PATIENCE), &|| (asked.interrupted)() || (asked.cancelled)())
        };
        let failed = |error: OverlayError| {
            let mut report = ChangesReport::default();
            report.failed.push(error.to_string());
            report
        };
        let told = |run: &Run, changes: &Changes| {
            ChangesReport::new(&changes.accepted, &changes.refused).with_targets(
                run,
                &changes.accepted,
                &changes.refused,
            )
        };
        let at_once = options.containment != Containment::Speculate && matches!(options.then, Then::Commit);
        // Held from before it is judged until it is committed, but not while somebody is asked.
        let turn = if at_once && run.is_touched() { wait(&run).map(Some) } else { Ok(None) };
        let judged = turn.and_then(|turn| Ok((turn, run.changes(guard)?)));
        let (mut turn, mut changes) = match judged {
            Ok(judged) => judged,
            Err(error) if at_once => return failed(run.rescued(error)),
            Err(error) => return failed(error),
        };
        let mut report = told(&run, &changes);
        let commit = match &options.then {
            _ if options.containment == Containment::Speculate => false,
            Then::Commit => true,
            Then::Drop => false,
            Then::Ask(decide) => {
                let accepted = &changes.accepted;
                !report.is_empty() && decide(&Proposal { report: &report, run: &run, accepted, interrupted })
            }
        };
        let mut lost = Vec::new();
        if commit && turn.is_none() && !changes.is_empty() {
            // What others have committed meanwhile may give it another meaning, and nobody has agreed to what was not shown.
            let again = wait(&run).and_then(|turn| Ok((turn, agreed::changes(&run, guard, &changes)?)));
            match again {
                Ok((held, judged)) => (turn, (changes, lost)) = (Some(held), judged),
                Err(error) => return failed(run.rescued(error)),
            }
            report = told(&run, &changes);
            if changes.accepted.is_empty() && !lost.is_empty() {
                let error = OverlayError::Others("others have changed all of it since it was asked about");
                lost.push(run.rescued(error).to_string());
                return ChangesReport { failed: lost, ..report };
            }
        }
        if !commit || changes.is_empty() {
            // Mostly nothing was changed, and then nobody waits for the layer to be removed.
            run.leave(&changes);
            return ChangesReport { committed: commit, failed: lost, ..report };
        }
        let committed = run.commit(changes, &title(request));
        drop(turn);
        match committed {
            Ok(mut committed) => {
                let mut not_kept = false;
                if let (Some(undoing), Some(id)) = (self.undoing(), &committed.id) {
                    // What is kept too long is removed by the next run, if not now.
                    let gone = undoing.expire(&request.workspace).unwrap_or_default();
                    if gone.contains(id) {
                        let past = undoing.past(&request.workspace).unwrap_or_default();
                        not_kept = past.iter().any(|past| past.id == *id);
                        committed.id = None;
                    }
                }
                let mut report = ChangesReport { not_kept, ..ChangesReport::committed(&committed, &report) };
                report.failed.extend(lost);
                report
            }
            Err(error) => failed(error),
        }
    }

    /// Makes the directories that a command is seen to rename movable in its layer, as far as nothing is hidden in them, and there is
    /// room: four times as much stays for the command itself.
    pub(crate) fn make_movable(
        &self,
        layer: &mut Run,
        moved: Vec<PathBuf>,
        special: &Special,
    ) -> Result<(), Error> {
        let moved = moved::open(moved, special);
        if moved.is_empty() {
            return Ok(());
        }
        let (files, bytes) = self.space(Some(&layer.layer().upper()), Some(layer.layer())).spare();
        layer.make_movable(&moved, Room::at_most(files / 5, bytes / 5))?;
        Ok(())
    }

    /// The layer for a run that may write, or why it writes straight to the workspace.
    pub(crate) fn layer(
        &self,
        request: &Request,
        options: &RunOptions,
        lacking: &[Guarantee],
    ) -> Result<Layered, Error> {
        let needed = options.containment == Containment::Speculate || !matches!(options.then, Then::Commit);
        let layer = match self.undoing() {
            _ if !options.containment.confines() => Err("it is not confined".to_owned()),
            _ if options.live => Err("it was asked for".to_owned()),
            _ if lacking.contains(&Guarantee::OwnNamespaces) => {
                Err("bubblewrap makes the namespaces, and no overlay".to_owned())
            }
            None => Err("no directory for layers was given".to_owned()),
            Some(undoing) => undoing
                .store(&request.workspace)
                .and_then(|store| store.begin())
                .map_err(|error| error.to_string()),
        };
        let set = self.policy().all_settings().filter_map(|settings| settings.live.as_ref());
        let live = set.map(|set| set.value).max().unwrap_or_default();
        let least = if options.live { Live::Allow } else { Live::Fallback };
        match layer {
            Ok(layer) => Ok(Ok(layer)),
            Err(reason) if needed => Err(Error::NoOverlay(reason)),
            Err(reason) if live > least => Err(Error::Straight(reason, least.name())),
            Err(reason) => Ok(Err(reason)),
        }
    }
}
