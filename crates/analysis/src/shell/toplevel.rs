//! `git rev-parse --show-toplevel`: what it prints.
//!
//! That is the directory that holds `.git`, at or above the one where it runs; or nothing, where the repository is damaged or belongs to
//! somebody else. `cd` stays where it is then.

use super::Interpreter;
use super::flow::Status;
use super::state::{Content, Space};
use crate::value::{Field, Origins, Value};
use crate::world::FileKind;
use shward_syntax::{
    CommandKind, Descriptor, PartKind, Redirect, RedirectOperator, RedirectTarget, Script, SubstitutionForm,
    Word, WordPart,
};

/// The longest configuration of a repository that is looked through.
const LONGEST: usize = 64 << 10;

/// The longest file that stands for the `.git` of a linked tree.
const LONGEST_LINK: usize = 4 << 10;

/// Variables that tell git which repository is meant.
const TOLD: [&[u8]; 2] = [b"GIT_DIR", b"GIT_WORK_TREE"];

impl<'a> Interpreter<'a, '_> {
    /// Where the shell stays if git prints nothing, for a command of this form; its word is made the other place.
    pub(super) fn leads_to_toplevel(
        &mut self,
        words: &[Word<'_>],
        argv: &mut [Field<'a>],
    ) -> Option<&'a [u8]> {
        let ([first, second], [_, place]) = (words, argv) else { return None };
        if first.bare() != Some(b"cd") || place.value.known().is_some() || !asks_for_toplevel(second) {
            return None;
        }
        let here = self.state.flow.places.only()?;
        let (top, _) = self.toplevel(here)?;
        *place = Field { value: Value::text(top, Origins::LITERAL), many: false, ..*place };
        Some(here)
    }

    /// The shell may have stayed there.
    pub(super) fn may_stay(&mut self, here: &'a [u8]) {
        self.state.flow.places.add(Some(here), Status::Success);
        self.stands();
    }

    /// What a substitution of this form prints, if that is sure.
    pub(super) fn prints_toplevel(&mut self, script: &Script<'_>) -> Option<&'a [u8]> {
        if !is_the_question(script) {
            return None;
        }
        let here = self.state.flow.places.only()?;
        let (top, sure) = self.toplevel(here)?;
        sure.then_some(top)
    }

    /// What git prints in a directory if it prints anything, where the command has changed nothing that decides it, and whether it does.
    fn toplevel(&mut self, here: &'a [u8]) -> Option<(&'a [u8], bool)> {
        let untold = |name: &&[u8]| !matches!(self.world.variable(name), Some(Some(_)));
        let touched = self.state.touched(Space::Variable).any(|(name, _)| name.starts_with(b"GIT_"));
        let itself = |name: &[u8]| {
            self.functions_named(name).0.is_empty()
                && self.state.get(Space::Alias, name).content == Content::Initial
        };
        let usual = !self.elsewhere
            && !self.bare
            && !self.searches_workspace
            && itself(b"cd")
            && itself(b"git")
            && self.state.get(Space::Variable, b"PATH").content == Content::Initial
            && self.state.get(Space::Command, b"git").content == Content::Initial
            && !self.state.has_files()
            && self.links.is_empty()
            && TOLD.iter().all(untold)
            && !touched
            && self.world.canonical(here).is_some_and(|led| *led == *here);
        if !usual || self.has_removed() {
            return None;
        }
        let mut place = here;
        loop {
            self.budget.spend(4);
            let inside = |name: &[u8]| [place, name].concat();
            match self.world.kind(&inside(b"/.git")) {
                FileKind::Missing => {
                    let slash = place.iter().rposition(|byte| *byte == b'/')?;
                    // It prints nothing where there is no repository at all.
                    place = place.get(..slash).filter(|above| !above.is_empty()).unwrap_or(here);
                    if place == here {
                        return (self.world.kind(b"/.git") == FileKind::Missing).then_some((here, false));
                    }
                }
                FileKind::Directory => {
                    let whole = self.world.kind(&inside(b"/.git/HEAD")) == FileKind::File
                        && self.world.kind(&inside(b"/.git/objects")) == FileKind::Directory
                        && self.world.kind(&inside(b"/.git/refs")) == FileKind::Directory;
                    let config = self.world.content(&inside(b"/.git/config"), LONGEST)?;
                    let sure = self.is_ours(place) && self.is_ours(&inside(b"/.git"));
                    return (whole && is_plain(&config)).then_some((place, sure));
                }
                FileKind::File => {
                    let file = self.world.content(&inside(b"/.git"), LONGEST_LINK)?;
                    let linked = file.strip_prefix(b"gitdir: ")?.trim_ascii_end();
                    let inside = |name: &[u8]| [linked, name].concat();
                    // Only of a linked tree nothing else says where it lies.
                    let whole = linked.starts_with(b"/")
                        && self.world.kind(&inside(b"/HEAD")) == FileKind::File
                        && self.world.kind(&inside(b"/commondir")) == FileKind::File
                        && self.world.kind(&inside(b"/config.worktree")) == FileKind::Missing;
                    let sure =
                        [place, &*[place, b"/.git"].concat(), linked].iter().all(|part| self.is_ours(part));
                    return whole.then_some((place, sure));
                }
                FileKind::Special | FileKind::Unknown => return None,
            }
        }
    }

    /// Whether a place belongs to the user who runs the command: with what belongs to somebody else, git does nothing.
    fn is_ours(&self, place: &[u8]) -> bool {
        !self.unreadable && self.world.belongs(place) == Some(true)
    }
}

/// Whether the configuration of a repository says nothing of where its tree lies, and takes up no other file.
fn is_plain(config: &[u8]) -> bool {
    let config = config.to_ascii_lowercase();
    let says = |word: &[u8]| config.windows(word.len()).any(|part| part == word);
    !says(b"worktree") && !says(b"include")
}

/// Whether a word is `"$(git rev-parse --show-toplevel)"`.
fn asks_for_toplevel(word: &Word<'_>) -> bool {
    let parts = word.parts();
    let [WordPart { kind: PartKind::DoubleQuoted([inner]), .. }] = *parts else { return false };
    let PartKind::CommandSubstitution(substitution) = inner.kind else { return false };
    matches!(substitution.form, SubstitutionForm::Dollar | SubstitutionForm::Backquote)
        && is_the_question(&substitution.script)
}

fn is_the_question(script: &Script<'_>) -> bool {
    const WORDS: [&[u8]; 3] = [b"git", b"rev-parse", b"--show-toplevel"];
    let [item] = script.items else { return false };
    let [stage] = item.list.first.stages else { return false };
    let CommandKind::Simple(simple) = &stage.command.kind else { return false };
    !item.background
        && item.list.rest.is_empty()
        && !item.list.first.negated
        && simple.assignments.is_empty()
        && simple.words.len() == WORDS.len()
        && simple.words.iter().zip(WORDS).all(|(word, text)| word.bare() == Some(text))
        && stage.command.redirects.iter().all(leaves_out_messages)
}

/// `2>/dev/null`
fn leaves_out_messages(redirect: &Redirect<'_>) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    redirect.descriptor == Descriptor::Number(2)
        && redirect.operator == RedirectOperator::Output
        && word.bare() == Some(b"/dev/null")
}
