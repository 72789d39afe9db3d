//! What came of limits and questions, as it stands in verdicts and outcomes.

use super::finding;
use crate::report::{Checked, FindingReport, LimitReport, ReviewReport};
use shward_policy::Decision;
use shward_review::{Answer, Answered, Opinion, StoreError, Turn, Unanswered};
use std::time::Duration;

/// A decision in the making.
pub(super) struct Found {
    pub(super) checked: Checked,
    waited: Duration,
}

impl Found {
    pub(super) fn new(checked: Checked) -> Self {
        Self { checked, waited: Duration::ZERO }
    }

    /// The policy's own reasons to ask.
    pub(super) fn reasons(&self) -> impl Iterator<Item = &FindingReport> {
        self.checked.findings.iter().filter(|f| f.decision == Decision::Ask)
    }

    /// For how long the attempt has to wait.
    pub(super) fn waited(&self) -> Duration {
        self.waited
    }

    /// What the limiter says. Returns whether the attempt has to wait.
    pub(super) fn limit(&mut self, turn: Result<Turn, StoreError>) -> bool {
        match turn {
            Ok(Turn::Now) => {}
            Ok(Turn::After(wait)) => {
                self.waited = wait;
                self.checked.rate_limit =
                    Some(LimitReport { refused: false, limit: None, wait_ms: millis(wait) });
                return true;
            }
            Ok(Turn::Refused(refusal)) => {
                let wait_ms = refusal.wait_ms();
                self.checked.rate_limit =
                    Some(LimitReport { refused: true, limit: Some(refusal.rate.to_string()), wait_ms });
                self.decide(Decision::Deny, finding("rate-limited", Decision::Deny, refusal.message(), None));
            }
            Err(error) => {
                let message = format!("How often commands are run cannot be counted, so none is: {error}.");
                self.decide(Decision::Deny, finding("store-broken", Decision::Deny, message, None));
            }
        }
        false
    }

    /// A person's answer.
    pub(super) fn person(&mut self, answered: &Answered) {
        let answer = if answered.yes { Answer::Allow } else { Answer::Deny };
        self.checked.review = Some(ReviewReport {
            answer: answer.as_str(),
            by: "person",
            name: answered.by.clone(),
            id: (!answered.id.is_empty()).then(|| answered.id.clone()),
            explanation: None,
            suggested_alternative: None,
            required_clarification: None,
        });
        if answered.yes {
            self.allow();
        } else {
            let message = "A person said no. Do not try the same in other words; say what you need instead.";
            self.decide(Decision::Deny, finding("person-denied", Decision::Deny, message.to_owned(), None));
        }
    }

    /// A gatekeeper's opinion.
    pub(super) fn gatekeeper(&mut self, name: &str, opinion: Opinion) {
        let Opinion { answer, explanation, suggested_alternative, required_clarification } = opinion;
        match answer {
            Answer::Allow => self.allow(),
            Answer::Deny => {
                let denied = finding(
                    "gatekeeper-denied",
                    Decision::Deny,
                    explanation.clone(),
                    suggested_alternative.clone(),
                );
                self.decide(Decision::Deny, denied);
            }
            Answer::Challenge => {
                let message = format!(
                    "Clarification needed: {}",
                    required_clarification.as_deref().unwrap_or(&explanation)
                );
                let asked =
                    finding("gatekeeper-challenge", Decision::Ask, message, suggested_alternative.clone());
                self.checked.findings.insert(0, asked);
            }
        }
        self.checked.review = Some(ReviewReport {
            answer: answer.as_str(),
            by: "gatekeeper",
            name: name.to_owned(),
            id: None,
            explanation: Some(explanation),
            suggested_alternative,
            required_clarification,
        });
    }

    /// The policy demands a gatekeeper, and there is none.
    pub(super) fn no_gatekeeper(&mut self) {
        let message = "Configuration Error: No gatekeeper configured for high-risk command. A person has to name one in the \
                       policy (`[gatekeeper]`) or with `--gatekeeper`.";
        self.decide(Decision::Deny, finding("gatekeeper-denied", Decision::Deny, message.to_owned(), None));
    }

    /// Nobody answered where somebody could have.
    pub(super) fn unanswered(&mut self, why: &Unanswered) {
        let message = format!("Nobody answered: {why}.");
        self.checked.findings.insert(0, finding("unanswered", Decision::Ask, message, None));
    }

    /// The store of answers cannot be used. What is asked stays asked.
    pub(super) fn broken(&mut self, error: &StoreError) {
        let told = self.checked.findings.iter().any(|f| f.rule == "store-broken");
        if !told {
            let message = format!("Answers of people cannot be looked up: {error}.");
            self.checked.findings.insert(0, finding("store-broken", Decision::Ask, message, None));
        }
    }

    /// What was answered about is not what there is now.
    pub(super) fn changed(&mut self) {
        let message = "While it was answered or waited for, something that the decision rests on has changed (a file that \
                       it runs or reads, a link, a program). Try it again to have it judged as it is now.";
        self.decide(Decision::Ask, finding("changed-meanwhile", Decision::Ask, message.to_owned(), None));
    }

    /// Only an ask becomes an allow.
    fn allow(&mut self) {
        if self.checked.decision == Decision::Ask && self.checked.tier < 4 {
            self.checked.decision = Decision::Allow;
        }
    }

    fn decide(&mut self, decision: Decision, finding: FindingReport) {
        self.checked.decision = self.checked.decision.max(decision);
        self.checked.findings.insert(0, finding);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
