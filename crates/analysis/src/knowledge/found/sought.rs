//! What the words of a search say of the names that it may find.

use super::root::MOST_WORDS;
use crate::knowledge::found::{self, Root};
use crate::knowledge::values;
use crate::value::{Field, Piece};

/// A pattern that says nothing, or what is not understood.
const ANY: &[u8] = b"*";

/// One that stands for names of source code and the like.
const CODE: &[u8] = b"*.ts";

/// Longest list of endings that is read.
const LONGEST: usize = 256;

impl Root<'_> {
    /// Whether a search may find a file of this name here, by what its words say of names: `-name '*.ts'` does not.
    pub(crate) fn may_find(&self, name: &[u8]) -> bool {
        let Some((words, lists)) = self.sought.filter(|_| !self.again) else { return true };
        if words.len() > MOST_WORDS {
            return true;
        }
        let known = |at: usize| words.get(at).and_then(Field::known);
        // What is named before is not gone into.
        let pruned = words.iter().rposition(|word| word.known() == Some(b"-prune"));
        let first = pruned.map_or(1, |at| at + 2);
        if let Some(fits) = among_expanded(words, lists, name) {
            return fits;
        }
        let (mut says, mut fits) = (false, false);
        // Of alternatives each has to say something of names.
        let mut alternatives = Vec::new();
        let mut here = false;
        let mut groups: Vec<bool> = Vec::new();
        let (mut negated, mut out) = (false, false);
        let mut left = false;
        for at in 1..words.len() {
            let Some(word) = known(at) else { continue };
            let outer = groups.last().copied().unwrap_or_default();
            match word {
                b"!" | b"-not" => negated = !negated,
                b"(" => groups.push(outer ^ std::mem::take(&mut negated)),
                b")" => {
                    groups.pop();
                }
                b"-o" | b"-or" | b"," if lists && at >= first => alternatives.push(std::mem::take(&mut here)),
                _ => {}
            }
            if matches!(word, b"!" | b"-not" | b"(" | b")") {
                continue;
            }
            // What negates a test stands before it, and its value behind it.
            let left_out = std::mem::replace(&mut out, outer ^ std::mem::take(&mut negated));
            let Some((pattern, by_path)) = told(word, known(at - 1), lists) else { continue };
            let (left_out, pattern) = match pattern.strip_prefix(b"!") {
                Some(pattern) => (!left_out, pattern),
                None => (left_out, pattern),
            };
            if at < first {
                continue;
            }
            let base = values::base_name(pattern);
            let special = base.iter().any(|byte| b"?[{".contains(byte));
            let is_any = special || base.iter().all(|byte| *byte == b'*');
            let is_meant = is_any || values::fits(&name.to_ascii_lowercase(), &base.to_ascii_lowercase());
            if !left_out {
                here = true;
                says = true;
                fits |= is_meant;
            } else if is_meant && !is_any {
                let above = pattern.strip_suffix(base).unwrap_or_default();
                left |= !by_path || matches!(above, b"" | b"*/" | b"**/");
            }
        }
        if !alternatives.is_empty() && (!here || alternatives.contains(&false)) {
            return true;
        }
        !(left && alternatives.is_empty()) && (fits || !says)
    }
}

/// Whether a file of this name may be among operands that the shell expands (`ls src/*.ts`), if there are no others.
fn among_expanded(words: &[Field<'_>], lists: bool, name: &[u8]) -> Option<bool> {
    let is_expanded = |word: &&Field<'_>| word.value.has_glob() && !word.value.has_unknown();
    let first = words.iter().position(|word| is_expanded(&word))?;
    let (before, expanded) = words.split_at_checked(first)?;
    let operands =
        before.iter().skip(1).filter(|word| word.known().is_none_or(|word| !word.starts_with(b"-")));
    if !expanded.iter().all(|word| is_expanded(&word)) || operands.count() > usize::from(!lists) {
        return None;
    }
    // What has another name may be a directory, of which the content is told.
    let mut fits = false;
    for word in expanded {
        let mut pattern = Vec::new();
        for piece in word.value.pieces().iter() {
            match piece {
                Piece::Text(text) => pattern.extend_from_slice(text),
                _ => pattern.push(b'*'),
            }
        }
        let base = values::base_name(&pattern);
        let ending = base.rsplit(|byte| *byte == b'.').next().filter(|ending| ending.len() < base.len())?;
        if pattern.ends_with(b"/") || !found::ORDINARY.contains(&ending) {
            return None;
        }
        fits |= values::fits(name, base);
    }
    Some(fits)
}

/// The pattern for names, or for paths, that a word of a search is, with that before it.
fn told<'a>(word: &'a [u8], before: Option<&[u8]>, lists: bool) -> Option<(&'a [u8], bool)> {
    let before = before.unwrap_or_default();
    if let Some(at) = word.iter().position(|byte| *byte == b'=') {
        let (option, value) = word.split_at_checked(at)?;
        return found::CHOOSING.contains(&option).then_some((value.get(1..)?, false));
    }
    if found::CHOOSING.contains(&before) || matches!(before, b"-name" | b"-iname") {
        return Some((word, false));
    }
    // Programs that read are told by these what to look for.
    let ending = lists && matches!(before, b"-e" | b"--extension") || matches!(before, b"-t" | b"--type");
    if ending && found::ORDINARY.contains(&word) && word != b"sh" {
        return Some((CODE, false));
    }
    let by_path = before.starts_with(b"-") && (before.ends_with(b"path") || before.ends_with(b"wholename"));
    if by_path {
        return Some((word, true));
    }
    if before.starts_with(b"-") && before.ends_with(b"regex") && word != b".*" {
        return Some((of_regex(word), true));
    }
    // Of what reads, an operand may be the text that is looked for. `:!*.lock` leaves out.
    let led = before.starts_with(b"-") && before != b"--";
    let operand = lists && !word.starts_with(b"-") && !led && word.contains(&b'*');
    operand.then_some((if word.starts_with(b":") { ANY } else { word }, true))
}

/// A pattern for names that says what a regular expression for paths does, if that is `.*\.ts` or `.*\.\(ts\|js\)`.
fn of_regex(expression: &[u8]) -> &[u8] {
    let Some(ending) = expression.strip_prefix(b".*\\.") else { return ANY };
    if !ending.is_empty() && ending.iter().all(u8::is_ascii_alphanumeric) {
        return expression.get(1..).unwrap_or(ANY);
    }
    let basic = ending.strip_prefix(b"\\(").and_then(|rest| rest.strip_suffix(b"\\)"));
    let all = basic.or_else(|| ending.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")));
    let Some(all) = all.filter(|all| all.len() < LONGEST) else { return ANY };
    let mut endings = all.split(|byte| *byte == b'|').map(|end| end.strip_suffix(b"\\").unwrap_or(end));
    if endings.all(|end| found::ORDINARY.contains(&end)) { CODE } else { ANY }
}
