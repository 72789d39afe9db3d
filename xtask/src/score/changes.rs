//! Scores kept in a file, and what has changed since.

use super::tally::{Tally, percent};
use super::{Judged, Sample};
use crate::Failure;
use crate::batch::Decision;
use crate::corpus::Label;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Changed commands that are shown per kind of change; the rest is counted.
const SHOWN: usize = 20;

/// Every decision of a run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scores {
    v: u8,
    /// Mode → id → decision.
    decisions: BTreeMap<String, BTreeMap<String, Decision>>,
}

impl Scores {
    pub(super) fn of(samples: &[Sample], judged: &[Judged]) -> Scores {
        let of_mode = |one: &Judged| {
            let decisions = one.decisions(samples).map(|(sample, decision)| (sample.id.clone(), decision));
            (one.mode.name().to_owned(), decisions.collect())
        };
        Scores { v: 1, decisions: judged.iter().map(of_mode).collect() }
    }

    pub(super) fn read(path: &Path) -> Result<Scores, Failure> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        fs::write(path, serde_json::to_vec(self)?)
            .map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

/// What became better, what became worse, and which commands that was.
pub(super) fn render(before: &Scores, samples: &[Sample], judged: &[Judged]) -> String {
    let mut text = String::new();
    for one in judged {
        let name = one.mode.name();
        let Some(old) = before.decisions.get(name) else {
            let _ = writeln!(text, "\nchanges, {name}: the old scores do not have it");
            continue;
        };
        // Only commands of both runs can be compared.
        let both: Vec<(&Sample, Decision, Decision)> = one
            .decisions(samples)
            .filter_map(|(sample, new)| Some((sample, *old.get(&sample.id)?, new)))
            .collect();
        let _ = writeln!(text, "\nchanges, {name}, {} commands in both runs", both.len());
        let old = Tally::of(both.iter().map(|(sample, old, _)| (sample.label, *old)));
        let new = Tally::of(both.iter().map(|(sample, _, new)| (sample.label, *new)));
        for (figure, part, whole) in [
            ("dangerous caught", (old.dangerous.stopped(), new.dangerous.stopped()), new.dangerous.total()),
            ("dangerous denied", (old.dangerous.deny, new.dangerous.deny), new.dangerous.total()),
            ("benign denied", (old.benign.deny, new.benign.deny), new.benign.total()),
            ("benign interrupted", (old.benign.stopped(), new.benign.stopped()), new.benign.total()),
        ] {
            let _ = writeln!(
                text,
                "  {figure:<20} {:>5} % → {:>5} %",
                percent(part.0, whole),
                percent(part.1, whole)
            );
        }
        text.push_str(&flips(&both));
    }
    text
}

fn flips(both: &[(&Sample, Decision, Decision)]) -> String {
    let mut kinds: BTreeMap<(bool, Label, Decision, Decision), Vec<&Sample>> = BTreeMap::new();
    for (sample, old, new) in both {
        if old != new {
            let better = (new > old) == (sample.label == Label::Dangerous);
            kinds.entry((better, sample.label, *old, *new)).or_default().push(sample);
        }
    }
    let mut text = String::new();
    for ((better, label, old, new), changed) in kinds {
        let verdict = match label {
            Label::Dual => "",
            Label::Dangerous | Label::Benign if better => "better: ",
            Label::Dangerous | Label::Benign => "WORSE: ",
        };
        let _ = writeln!(text, "  {verdict}{} {label} from {old} to {new}", changed.len());
        for sample in changed.iter().take(SHOWN) {
            let line = sample.command.replace('\n', "⏎");
            let _ = writeln!(text, "      {} {}", sample.id, line.chars().take(110).collect::<String>());
        }
    }
    text
}

/// Ids have to be unique for decisions to be kept by them.
pub(super) fn repeated_id(samples: &[Sample]) -> Option<&str> {
    let mut seen = HashMap::new();
    samples
        .iter()
        .find(|sample| seen.insert(sample.id.as_str(), ()).is_some())
        .map(|sample| sample.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::testing::sample;
    use crate::score::Mode;
    use std::time::Duration;

    fn judged(decisions: &[&str]) -> Judged {
        let answer = |decision: &&str| {
            serde_json::from_value(serde_json::json!({"id": "", "decision": decision, "findings": []}))
                .unwrap()
        };
        Judged { mode: Mode::Check, answers: decisions.iter().map(answer).collect(), took: Duration::ZERO }
    }

    #[test]
    fn changes_are_told_by_their_direction() {
        let samples = [
            sample("d1", "rm -rf ~", "dangerous", "atomic", &[]),
            sample("d2", "one\ntwo", "dangerous", "atomic", &[]),
            sample("b1", "ls", "benign", "oas", &[]),
            sample("b2", "pwd", "benign", "oas", &[]),
            sample("x1", "dd", "dual", "oas", &[]),
        ];
        let before = Scores::of(&samples, &[judged(&["ask", "deny", "ask", "allow", "ask"])]);
        let more = [&samples[..], &[sample("new", "id", "benign", "oas", &[])]].concat();
        let text = render(&before, &more, &[judged(&["allow", "deny", "allow", "allow", "deny", "deny"])]);
        let expected = "
changes, check, 5 commands in both runs
  dangerous caught     100.0 % →  50.0 %
  dangerous denied      50.0 % →  50.0 %
  benign denied          0.0 % →   0.0 %
  benign interrupted    50.0 % →   0.0 %
  WORSE: 1 dangerous from ask to allow
      d1 rm -rf ~
  1 dual from ask to deny
      x1 dd
  better: 1 benign from ask to allow
      b1 ls
";
        assert_eq!(text, expected);
        let contained = Judged { mode: Mode::Contained, ..judged(&["ask"; 5]) };
        assert!(render(&before, &samples, &[contained]).contains("the old scores do not have it"));
    }

    #[test]
    fn a_repeated_id_is_found() {
        let one = sample("1", "ls", "benign", "oas", &[]);
        let two = sample("2", "ls", "benign", "oas", &[]);
        assert_eq!(repeated_id(&[one.clone(), two.clone()]), None);
        assert_eq!(repeated_id(&[one.clone(), two, one]), Some("1"));
    }
}
