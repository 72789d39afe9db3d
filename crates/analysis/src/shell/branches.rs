//! Lists, `if` and `case`: every way is gone, and the ways are joined.

use super::Interpreter;
use super::state::{Branch, Flags, Mark, Space};
use shward_syntax::{
    AndOr, Assignment, AssignmentValue, Case, CaseEnd, CommandKind, Connector, If, PartKind, Pipeline,
    WordPart,
};

/// The ways that have been gone from one mark.
///
/// Marks and branches are large, so neither is moved about.
pub(super) struct Ways<'m, 'a> {
    mark: &'m Mark<'a>,
    gone: Option<Branch<'a>>,
}

impl<'m, 'a> Ways<'m, 'a> {
    pub(super) const fn from(mark: &'m Mark<'a>) -> Self {
        Self { mark, gone: None }
    }
}

impl<'a> Interpreter<'a, '_> {
    /// The way that led to the current state is gone.
    pub(super) fn add_way(&mut self, ways: &mut Ways<'_, 'a>) {
        let branch = self.state.branch(ways.mark);
        self.add_branch(ways, branch);
    }

    fn add_branch(&mut self, ways: &mut Ways<'_, 'a>, branch: Branch<'a>) {
        self.budget.spend(branch.size());
        match &mut ways.gone {
            Some(gone) => gone.absorb(&branch, self.arena),
            none => *none = Some(branch),
        }
    }

    /// Makes the current state cover all ways. None has been gone then.
    pub(super) fn join_ways(&mut self, ways: &mut Ways<'_, 'a>) {
        if let Some(branch) = &ways.gone {
            self.budget.spend(branch.size() + self.state.changes(ways.mark.moment()));
            self.state.join(ways.mark, branch);
            ways.gone = None;
        }
    }

    /// `a && b || c`
    pub(super) fn and_or(&mut self, list: &AndOr<'_>) {
        // Whether the command before has succeeded nobody has asked.
        self.conclude_news(false);
        if list.rest.is_empty() {
            return self.pipeline(&list.first);
        }
        let mark = self.state.mark();
        self.pipeline(&list.first);
        // The ways on which the pipelines that follow are skipped as long as the operators stay the same.
        let mut succeeded = Ways::from(&mark);
        let mut failed = Ways::from(&mark);
        // Whether everything so far has surely run, and succeeded.
        let mut sure = self.succeeds(&list.first);
        for (connector, pipeline) in list.rest {
            if !self.budget.spend(1) {
                return;
            }
            let on_success = *connector == Connector::And;
            sure &= on_success;
            let (places, news) = (self.state.flow.places, self.state.flow.news);
            self.conclude_news(!on_success);
            let mut skipping = self.state.branch(&mark);
            skipping.flow.places = places.when(!on_success);
            self.state.flow.news = news;
            self.conclude_news(on_success);
            self.state.flow.places = places.when(on_success);
            let (joining, skipped) =
                if on_success { (&mut succeeded, &mut failed) } else { (&mut failed, &mut succeeded) };
            self.join_ways(joining);
            self.add_branch(skipped, skipping);
            if on_success {
                self.conditional += u32::from(!sure);
                self.pipeline(pipeline);
                self.conditional -= u32::from(!sure);
                sure = sure && self.succeeds(pipeline);
            } else {
                self.doubtful(|shell| shell.pipeline(pipeline));
            }
        }
        self.join_ways(&mut succeeded);
        self.join_ways(&mut failed);
    }

    /// Whether a pipeline cannot fail: it gives plain text to variables that take any.
    fn succeeds(&self, pipeline: &Pipeline<'_>) -> bool {
        let [stage] = pipeline.stages else { return false };
        let CommandKind::Simple(simple) = &stage.command.kind else { return false };
        simple.words.is_empty()
            && simple.assignments.iter().all(|assignment| self.takes_any_text(assignment))
            && !pipeline.negated
            && stage.command.redirects.is_empty()
    }

    /// Whether an assignment gives plain text to a variable that takes any.
    pub(super) fn takes_any_text(&self, assignment: &Assignment<'_>) -> bool {
        const READ_ONLY: [&[u8]; 6] = [b"UID", b"EUID", b"PPID", b"BASHOPTS", b"SHELLOPTS", b"BASH_VERSINFO"];
        let flags = self.state.get(Space::Variable, assignment.name).flags;
        let AssignmentValue::Scalar(word) = assignment.value else { return false };
        !READ_ONLY.contains(&assignment.name)
            && ![Flags::READ_ONLY, Flags::INTEGER, Flags::REFERENCE].iter().any(|flag| flags.has(*flag))
            && assignment.subscript.is_none()
            && word.parts().iter().all(is_text)
    }

    /// `if`
    pub(super) fn conditional(&mut self, node: &If<'_>) {
        let mark = self.state.mark();
        let mut ways = Ways::from(&mark);
        for (index, (condition, body)) in node.arms.iter().enumerate() {
            if index == 0 {
                self.script(condition);
            } else {
                self.doubtful(|shell| shell.script(condition));
            }
            let after = self.state.mark();
            let places = self.state.flow.places;
            self.state.flow.places = places.when(true);
            self.doubtful(|shell| shell.script(body));
            self.add_way(&mut ways);
            self.state.rewind(&after);
            self.state.flow.places = places.when(false);
        }
        if let Some(body) = &node.otherwise {
            self.doubtful(|shell| shell.script(body));
        }
        self.join_ways(&mut ways);
        // Where no body runs, the status is zero whatever the conditions' was.
        self.state.flow.places.forget_status();
    }

    /// `case`
    pub(super) fn case(&mut self, node: &Case<'_>) {
        self.value(&node.word);
        let mark = self.state.mark();
        let mut ways = Ways::from(&mark);
        let mut falling = Ways::from(&mark);
        let mut complete = false;
        for arm in node.arms {
            for (index, pattern) in arm.patterns.iter().enumerate() {
                // Where one matches, those behind it are not expanded.
                let text = if index == 0 {
                    self.doubtful(|shell| shell.pattern(pattern))
                } else {
                    self.perhaps(|shell| shell.pattern(pattern))
                };
                complete |= text == Some(b"*");
            }
            let start = self.state.mark();
            self.join_ways(&mut falling);
            self.doubtful(|shell| shell.script(&arm.body));
            match arm.end {
                CaseEnd::Break => self.add_way(&mut ways),
                // With `;;&` the next patterns are tried; their bodies, or none, may follow.
                CaseEnd::FallThrough | CaseEnd::Continue => {
                    self.add_way(&mut falling);
                    self.add_way(&mut ways);
                }
            }
            self.state.rewind(&start);
        }
        if complete && let Some(gone) = ways.gone.take() {
            self.state.rewind(&mark);
            self.state.enter(&gone);
        } else {
            self.join_ways(&mut ways);
        }
        self.state.flow.places.forget_status();
    }
}

/// Whether a part of a word stands for text, whatever the shell knows.
fn is_text(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::SingleQuoted(_) | PartKind::AnsiC(_) => true,
        PartKind::DoubleQuoted(parts) => parts.iter().all(is_text),
        _ => false,
    }
}
