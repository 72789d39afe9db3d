//! The form in which a command is asked for: what of the shell's language a policy accepts, and where it may start.

use crate::Context;
use crate::decision::{Decision, Tier};
use crate::found::Found;
use crate::pattern::is_below;
use crate::policy::Part;
use crate::settings::{DirectoryPolicy, Shell};
use bumpalo::Bump;
use shward_analysis::{Source, World};
use shward_syntax::{Command, CommandKind, PartKind, Script, Word, WordPart};
use shward_syntax::{Options, Redirect, RedirectOperator, RedirectTarget, parse};

/// Judges the text of a command, or that there is one.
pub(crate) fn judge(part: &Part, source: &Source<'_>, found: &mut Found) {
    let words = match source {
        Source::Command(text) => std::slice::from_ref(text),
        Source::Argv(words) => words,
    };
    if part.settings.refuse_controls.as_ref().is_some_and(|set| set.value)
        && words.iter().any(|w| has_controls(w))
    {
        found.say(
            "control-characters",
            Decision::Deny,
            Tier::Two,
            "Has control, invisible or bidirectional characters. Write the command in plain letters, on one line.",
        );
    }
    let Source::Command(text) = source else { return };
    let wrong = match part.shell() {
        Shell::Full => return,
        Shell::None => {
            found.say(
                "shell-refused",
                Decision::Deny,
                Tier::Two,
                "No shell reads commands here. Give the program and its arguments as a list (`--argv -- PROGRAM ARG…`).",
            );
            return;
        }
        Shell::Simple => {
            let globs = part.settings.block_globs.as_ref().is_some_and(|set| set.value);
            simple(text, globs).err().map(|why| ("not-simple", why))
        }
        Shell::Chain => joined(text, true).err().map(|why| ("not-a-chain", why)),
        Shell::Pipeline => joined(text, false).err().map(|why| ("not-a-pipeline", why)),
    };
    if let Some((rule, why)) = wrong {
        found.say(rule, Decision::Deny, Tier::Two, why);
    }
}

/// Whether a text has characters that a reader does not see: controls, and what no terminal draws or what turns the rest around
/// (Unicode 15.1, general categories Cc, Cf, Zl, Zp and Default_Ignorable_Code_Point).
fn has_controls(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.chars().any(|c| {
        (c.is_control() && c != '\t')
            || matches!(
                c,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                    | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
                    | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}'
                    | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            )
    })
}

/// Characters that the strict form refuses anywhere, quoted or not: what begins an expansion, and what moves a cursor.
const REFUSED: &[u8] = b"$`\n\r\0\x0b\x0c\x07\x08\x7f";

/// Whether a text is one literal command: no operators, redirects, assignments or expansions.
fn simple(text: &[u8], block_globs: bool) -> Result<(), String> {
    if let Some(byte) = text.iter().find(|b| REFUSED.contains(b)) {
        return Err(format!(
            "Has {}, which is not accepted even in quotes. Give one literal command.",
            name_of(*byte)
        ));
    }
    let arena = Bump::new();
    let parsed =
        parse(&arena, text, &Options::default()).map_err(|error| format!("Cannot be read: {error}."))?;
    if text.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1 {
        return Err("Ends in a backslash that quotes nothing. Take it away, or double it.".to_owned());
    }
    let command = only(&parsed.script)?;
    let rest = text.get(command.span.end as usize..).unwrap_or_default().trim_ascii();
    if !rest.is_empty() && !rest.starts_with(b"#") {
        return Err("Has an operator after the command. Give one program with its arguments.".to_owned());
    }
    let CommandKind::Simple(simple) = &command.kind else {
        return Err("Is more than one simple command. Give one program with its arguments.".to_owned());
    };
    if let Some(assignment) = simple.assignments.first() {
        let name = String::from_utf8_lossy(assignment.name);
        return Err(format!(
            "Sets the variable {name} before the command. An assignment is not the command."
        ));
    }
    if !command.redirects.is_empty() {
        return Err("Redirects its input or output. Give one program with its arguments.".to_owned());
    }
    let Some((program, _)) = simple.words.split_first() else {
        return Err("There is no command.".to_owned());
    };
    if !program.parts().iter().all(|part| is_literal(part, true)) {
        return Err("The name of the program is not literal. Write it out.".to_owned());
    }
    if literal_text(program).is_empty() {
        return Err("The name of the program is empty.".to_owned());
    }
    if simple.words.iter().any(|word| word.parts().iter().any(|part| !is_literal(part, block_globs))) {
        let globs = if block_globs { " A pattern counts." } else { "" };
        return Err(format!("Has a word that the shell would expand.{globs} Write the arguments out."));
    }
    Ok(())
}

fn name_of(byte: u8) -> String {
    match byte {
        b'$' => "a `$`".to_owned(),
        b'`' => "a backtick".to_owned(),
        b'\n' => "a line break".to_owned(),
        byte => format!("the control character 0x{byte:02x}"),
    }
}

/// The one command of a script that has only one.
fn only<'a>(script: &Script<'a>) -> Result<&'a Command<'a>, String> {
    let [item] = script.items else {
        return Err("Is not exactly one command.".to_owned());
    };
    if item.background || !item.list.rest.is_empty() || item.list.first.negated || item.list.first.timed {
        return Err(
            "Joins commands or runs in the background. Give one program with its arguments.".to_owned()
        );
    }
    match item.list.first.stages {
        [stage] => Ok(stage.command),
        _ => Err("Is a pipeline. Give one program with its arguments.".to_owned()),
    }
}

fn is_literal(part: &WordPart<'_>, block_globs: bool) -> bool {
    match &part.kind {
        PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::SingleQuoted(_) => true,
        PartKind::DoubleQuoted(parts) => parts.iter().all(|part| matches!(part.kind, PartKind::Quoted(_))),
        // They name files or repeat words, and run nothing.
        PartKind::Glob(_) | PartKind::Tilde(_) | PartKind::Brace(_) => !block_globs,
        _ => false,
    }
}

fn literal_text(word: &Word<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in word.parts().iter() {
        match &part.kind {
            PartKind::Literal(text) | PartKind::Quoted(text) | PartKind::SingleQuoted(text) => {
                out.extend_from_slice(text);
            }
            PartKind::DoubleQuoted(parts) => {
                for part in *parts {
                    if let PartKind::Quoted(text) = part.kind {
                        out.extend_from_slice(text);
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether a text is simple commands joined by pipes, and by `&&`, `||` and `;` where `operators` are accepted.
fn joined(text: &[u8], operators: bool) -> Result<(), String> {
    let arena = Bump::new();
    let parsed =
        parse(&arena, text, &Options::default()).map_err(|error| format!("Cannot be read: {error}."))?;
    let several =
        parsed.script.items.len() > 1 || parsed.script.items.iter().any(|item| !item.list.rest.is_empty());
    if several && !operators {
        return Err("Joins commands. Send them one at a time; pipes are accepted.".to_owned());
    }
    for item in parsed.script.items {
        if item.background {
            return Err("Runs in the background. Run it in the foreground.".to_owned());
        }
        let pipelines = std::iter::once(&item.list.first).chain(item.list.rest.iter().map(|(_, p)| p));
        for stage in pipelines.flat_map(|pipeline| pipeline.stages) {
            let CommandKind::Simple(simple) = &stage.command.kind else {
                return Err("Has a shell construct. Use simple commands only.".to_owned());
            };
            if simple.words.iter().any(|word| word.parts().iter().any(substitutes)) {
                return Err("Substitutes a command's output. Run the inner command first.".to_owned());
            }
            if !stage.command.redirects.iter().all(is_harmless) {
                return Err(
                    "Redirects to or from a file. Only descriptors and /dev/null are accepted.".to_owned()
                );
            }
        }
    }
    Ok(())
}

fn substitutes(part: &WordPart<'_>) -> bool {
    match &part.kind {
        PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => parts.iter().any(substitutes),
        PartKind::Literal(_)
        | PartKind::Quoted(_)
        | PartKind::SingleQuoted(_)
        | PartKind::AnsiC(_)
        | PartKind::Glob(_)
        | PartKind::Tilde(_)
        | PartKind::Brace(_)
        | PartKind::Parameter(_) => false,
        _ => true,
    }
}

fn is_harmless(redirect: &Redirect<'_>) -> bool {
    match &redirect.target {
        RedirectTarget::Word(word) if word.parts().iter().all(|part| is_literal(part, true)) => {
            let text = literal_text(word);
            // Elsewhere than after `<&` and `>&` it is a file of that name.
            let duplicates = matches!(
                redirect.operator,
                RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
            );
            text == b"/dev/null"
                || (duplicates && !text.is_empty() && text.iter().all(|b| b.is_ascii_digit() || *b == b'-'))
        }
        RedirectTarget::Word(_) | RedirectTarget::HereDocument(_) => false,
    }
}

/// The directories that a list of them means.
pub(crate) fn directories<'p>(entries: &'p [String], context: &Context<'p>) -> impl Iterator<Item = Vec<u8>> {
    let expand = |entry: &String| {
        for (name, base) in
            [("$WORKSPACE", context.workspace), ("$HOME", context.home), ("$TMP", b"/tmp" as &[u8])]
        {
            if let Some(rest) = entry.strip_prefix(name) {
                return [base, rest.as_bytes()].concat();
            }
        }
        entry.as_bytes().to_vec()
    };
    entries.iter().map(expand).collect::<Vec<_>>().into_iter()
}

/// Judges where the command is to start.
pub(crate) fn judge_directory(part: &Part, context: &Context<'_>, world: &dyn World, found: &mut Found) {
    let Some(policy) = part.settings.directory.as_ref() else { return };
    let Some(paths) = part.settings.directory_paths.as_ref() else { return };
    let real =
        |path: &[u8]| world.canonical(path).map_or_else(|| path.to_vec(), std::borrow::Cow::into_owned);
    let cwd = real(context.cwd);
    let fits = directories(&paths.value, context).any(|directory| {
        let directory = real(&directory);
        match policy.value {
            DirectoryPolicy::Any => true,
            DirectoryPolicy::Below => is_below(&cwd, &directory),
            DirectoryPolicy::Fixed | DirectoryPolicy::Listed => cwd == directory,
        }
    });
    if !fits && policy.value != DirectoryPolicy::Any {
        found.say(
            "directory-denied",
            Decision::Deny,
            Tier::Two,
            format!(
                "A command must not start in `{}`. Start it in one of: {}.",
                String::from_utf8_lossy(&cwd),
                paths.value.join(", ")
            ),
        );
    }
}
