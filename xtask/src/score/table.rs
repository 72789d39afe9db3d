//! The scores as a table for people.

use super::tally::{Tally, percent};
use super::{Judged, Sample};
use crate::corpus::{DOCUMENTATION, Label};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A row: its name and which samples it is about.
type Row<'a> = (String, Box<dyn Fn(&Sample) -> bool + 'a>);

/// The scores and how long judging took.
pub(super) fn render(samples: &[Sample], judged: &[Judged]) -> String {
    let mut text = scores(samples, judged);
    for Judged { mode, answers, took } in judged {
        let rate = answers.len() as f64 / took.as_secs_f64().max(f64::EPSILON);
        let errors = answers.iter().filter(|answer| answer.error.is_some()).count();
        let _ = writeln!(
            text,
            "{:<10} {} commands in {:.2} s, {rate:.0} per second, {errors} errors",
            mode.name(),
            answers.len(),
            took.as_secs_f64()
        );
    }
    text
}

/// The scores alone, which are the same on every machine.
pub(super) fn scores(samples: &[Sample], judged: &[Judged]) -> String {
    let sources: BTreeSet<&str> = samples.iter().map(|sample| sample.source.as_str()).collect();
    let effects: BTreeSet<&str> =
        samples.iter().flat_map(|sample| &sample.effect).map(String::as_str).collect();
    let by_source = |source: &str| -> Row<'_> {
        let owned = source.to_owned();
        (source.to_owned(), Box::new(move |sample: &Sample| sample.source == owned))
    };
    let by_effect = |effect: &str| -> Row<'_> {
        let owned = effect.to_owned();
        (effect.to_owned(), Box::new(move |sample: &Sample| sample.effect.contains(&owned)))
    };
    let totals: Vec<Row<'_>> = vec![
        ("all".into(), Box::new(|_| true)),
        ("agents".into(), Box::new(Sample::is_from_an_agent)),
        ("documentation".into(), Box::new(|sample| sample.source == DOCUMENTATION)),
    ];
    let mut text = String::new();
    section(&mut text, "source", sources.into_iter().map(by_source).collect(), samples, judged);
    section(&mut text, "effect", effects.into_iter().map(by_effect).collect(), samples, judged);
    section(&mut text, "total", totals, samples, judged);
    text.push_str(&mixes(samples, judged));
    text
}

/// One block of rows. Each figure is given per mode, in the order `check/contained`.
fn section(text: &mut String, title: &str, rows: Vec<Row<'_>>, samples: &[Sample], judged: &[Judged]) {
    let _ = writeln!(
        text,
        "{title:<28} {:>9} {:>13} {:>13} {:>9} {:>13} {:>13}",
        "dangerous", "caught %", "denied %", "benign", "denied %", "interrupted %"
    );
    for (name, belongs) in rows {
        let tallies: Vec<Tally> = judged.iter().map(|judged| tally(judged, samples, &belongs)).collect();
        let Some(first) = tallies.first() else { continue };
        let (dangerous, benign) = (first.dangerous.total(), first.benign.total());
        if dangerous + benign == 0 {
            continue;
        }
        let figures = |part: fn(&Tally) -> usize, whole: usize| -> String {
            let figures: Vec<String> = tallies.iter().map(|tally| percent(part(tally), whole)).collect();
            if whole == 0 { "–".to_owned() } else { figures.join("/") }
        };
        let _ = writeln!(
            text,
            "{name:<28} {dangerous:>9} {:>13} {:>13} {benign:>9} {:>13} {:>13}",
            figures(|tally| tally.dangerous.stopped(), dangerous),
            figures(|tally| tally.dangerous.deny, dangerous),
            figures(|tally| tally.benign.deny, benign),
            figures(|tally| tally.benign.stopped(), benign),
        );
    }
    text.push('\n');
}

/// What became of the commands that depend on circumstances.
fn mixes(samples: &[Sample], judged: &[Judged]) -> String {
    let mut text = String::new();
    for one in judged {
        let dual = tally(one, samples, &|_: &Sample| true).dual;
        let share = |part| percent(part, dual.total());
        let _ = writeln!(
            text,
            "{:<10} {} dual commands: {} % allowed, {} % asked, {} % denied",
            one.mode.name(),
            dual.total(),
            share(dual.allow),
            share(dual.ask),
            share(dual.deny)
        );
    }
    text
}

fn tally(judged: &Judged, samples: &[Sample], belongs: &dyn Fn(&Sample) -> bool) -> Tally {
    let chosen = judged.decisions(samples).filter(|(sample, _)| belongs(sample));
    Tally::of(chosen.map(|(sample, decision)| -> (Label, _) { (sample.label, decision) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::testing::sample;
    use crate::score::Mode;
    use std::time::Duration;

    #[test]
    fn figures_are_given_for_both_modes() {
        let samples = [
            sample("1", "a", "dangerous", "atomic", &["destroy", "privilege"]),
            sample("2", "b", "dangerous", "atomic", &["destroy"]),
            sample("3", "c", "benign", "oas", &["none"]),
            sample("4", "d", "benign", "tldr", &["none"]),
            sample("5", "e", "dual", "tldr", &["unknown"]),
        ];
        let judged = |mode, decisions: [&str; 5]| {
            let answers = decisions.map(|decision| {
                serde_json::from_value(serde_json::json!({"id": "", "decision": decision, "findings": []}))
                    .unwrap()
            });
            Judged { mode, answers: answers.into(), took: Duration::from_secs(2) }
        };
        let text = render(
            &samples,
            &[
                judged(Mode::Check, ["deny", "ask", "ask", "deny", "ask"]),
                judged(Mode::Contained, ["deny", "allow", "allow", "allow", "allow"]),
            ],
        );
        let rows: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for expected in [
            "atomic 2 100.0/50.0 50.0/50.0 0 – –",
            "destroy 2 100.0/50.0 50.0/50.0 0 – –",
            "privilege 1 100.0/100.0 100.0/100.0 0 – –",
            "agents 0 – – 1 0.0/0.0 100.0/0.0",
            "documentation 0 – – 1 100.0/0.0 100.0/0.0",
            "all 2 100.0/50.0 50.0/50.0 2 50.0/0.0 100.0/0.0",
            "check 1 dual commands: 0.0 % allowed, 100.0 % asked, 0.0 % denied",
            "contained 5 commands in 2.00 s, 2 per second, 0 errors",
        ] {
            assert!(rows.iter().any(|row| row == expected), "{expected}\n{text}");
        }
        assert!(!rows.iter().any(|row| row.starts_with("unknown ")), "dual commands have no row");
    }
}
