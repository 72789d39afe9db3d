//! What bash makes of words under `set -f`, `IFS=` and the variables of [`Shell`]: a small evaluator over the tree,
//! used to check that the tree means what bash reads. It gives up (`None`) where it does not know.

use shward_syntax::*;

/// The state that the tested scripts start in.
pub const PROLOGUE: &str = "set -f; IFS=; HOME=/h; x='X v'; y=; ";

fn variable(name: &[u8]) -> Option<&'static [u8]> {
    match name {
        b"x" => Some(b"X v"),
        b"y" => Some(b""),
        b"IFS" => Some(b""),
        b"HOME" => Some(b"/h"),
        _ => None,
    }
}

/// Text that a word may become; `solid` text remains a field even if it is empty.
#[derive(Clone, Default, Debug)]
pub struct Text {
    bytes: Vec<u8>,
    solid: bool,
}

/// The fields that the words become.
pub fn fields(words: &[Word<'_>]) -> Option<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    for word in words {
        for parts in braces(&word.parts())? {
            let text = text(&parts, false)?;
            if text.solid || !text.bytes.is_empty() {
                out.push(text.bytes);
            }
        }
    }
    Some(out)
}

/// The value of a word that is neither split nor brace-expanded.
pub fn single(parts: &[WordPart<'_>]) -> Option<Vec<u8>> {
    text(parts, false).map(|text| text.bytes)
}

/// The words that brace expansion makes, each a list of parts.
fn braces<'a>(parts: &[WordPart<'a>]) -> Option<Vec<Vec<WordPart<'a>>>> {
    let mut words: Vec<Vec<WordPart<'a>>> = vec![Vec::new()];
    for part in parts {
        let alternatives: Vec<Vec<WordPart<'a>>> = match part.kind {
            PartKind::Brace(Brace::List(list)) => {
                let mut all = Vec::new();
                for word in list.iter() {
                    all.extend(braces(&word.parts())?);
                }
                all
            }
            PartKind::Brace(Brace::Range(_)) => return None,
            _ => vec![vec![*part]],
        };
        let mut next = Vec::new();
        for word in &words {
            for alternative in &alternatives {
                next.push([word.as_slice(), alternative].concat());
            }
        }
        if next.len() > 2000 {
            return None;
        }
        words = next;
    }
    Some(words)
}

fn text(parts: &[WordPart<'_>], quoted: bool) -> Option<Text> {
    let mut out = Text::default();
    for part in parts {
        let mut solid = |bytes: &[u8]| {
            out.bytes.extend_from_slice(bytes);
            out.solid = true;
        };
        match part.kind {
            PartKind::Literal(bytes) => out.bytes.extend_from_slice(bytes),
            PartKind::Quoted(bytes) | PartKind::SingleQuoted(bytes) | PartKind::AnsiC(bytes) => solid(bytes),
            PartKind::DoubleQuoted(inner) | PartKind::Locale(inner) => solid(&text(inner, true)?.bytes),
            PartKind::Glob(byte) => out.bytes.push(byte),
            PartKind::Tilde(b"") => solid(b"/h"),
            PartKind::Parameter(parameter) => {
                let value = self::parameter(parameter, quoted)?;
                out.bytes.extend_from_slice(&value.bytes);
                out.solid |= value.solid;
            }
            PartKind::CommandSubstitution(substitution) => {
                out.bytes.extend_from_slice(&output(&substitution.script)?);
            }
            PartKind::Arithmetic(expression) => {
                let value = text(expression.parts, true)?.bytes;
                let value = std::str::from_utf8(&value).ok()?.trim().parse::<u8>().ok()?;
                out.bytes.extend_from_slice(value.to_string().as_bytes());
            }
            _ => return None,
        }
    }
    Some(out)
}

/// What a script of `echo` commands prints, without trailing newlines.
fn output(script: &Script<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for item in script.items {
        let AndOr { first, rest: [] } = item.list else { return None };
        let ([stage], false, false) = (first.stages, first.negated, item.background) else { return None };
        let CommandKind::Simple(simple) = stage.command.kind else { return None };
        if !simple.assignments.is_empty() || !stage.command.redirects.is_empty() {
            return None;
        }
        let fields = fields(simple.words)?;
        let (command, arguments) = fields.split_first()?;
        if command != b"echo" || arguments.first().is_some_and(|argument| argument.starts_with(b"-")) {
            return None;
        }
        out.extend_from_slice(&arguments.join(&b' '));
        out.push(b'\n');
    }
    while out.last() == Some(&b'\n') {
        out.pop();
    }
    Some(out)
}

fn parameter(parameter: &Parameter<'_>, quoted: bool) -> Option<Text> {
    let ParameterName::Variable(name) = parameter.name else { return None };
    if parameter.indirect() || parameter.subscript().is_some() {
        return None;
    }
    let value = variable(name);
    let known = |bytes: &[u8]| Some(Text { bytes: bytes.to_vec(), solid: quoted });
    let missing = |colon: bool| value.is_none_or(|value| colon && value.is_empty());
    match parameter.operation() {
        ParameterOperation::None => known(value.unwrap_or(b"")),
        ParameterOperation::Length => known(value.unwrap_or(b"").len().to_string().as_bytes()),
        ParameterOperation::Default { colon, word } => {
            if missing(colon) {
                text(&word.parts(), quoted)
            } else {
                known(value?)
            }
        }
        ParameterOperation::Alternative { colon, word } => {
            if missing(colon) {
                known(b"")
            } else {
                text(&word.parts(), quoted)
            }
        }
        ParameterOperation::RemovePrefix { pattern, .. } => {
            let pattern = literal_pattern(&pattern)?;
            let value = value.unwrap_or(b"");
            known(value.strip_prefix(pattern.as_slice()).unwrap_or(value))
        }
        ParameterOperation::RemoveSuffix { pattern, .. } => {
            let pattern = literal_pattern(&pattern)?;
            let value = value.unwrap_or(b"");
            known(value.strip_suffix(pattern.as_slice()).unwrap_or(value))
        }
        ParameterOperation::Replace { which, pattern, replacement } => {
            let pattern = literal_pattern(pattern)?;
            let value = value.unwrap_or(b"");
            let replacement = match replacement {
                Some(word) => text(&word.parts(), false)?.bytes,
                None => Vec::new(),
            };
            // After its quotes are removed, the pattern may begin with a sign that anchors it.
            if which != Replace::First || matches!(pattern.first(), None | Some(b'#' | b'%' | b'/')) {
                return None;
            }
            match value.windows(pattern.len()).position(|window| window == pattern) {
                Some(at) => known(&[&value[..at], &replacement, &value[at + pattern.len()..]].concat()),
                None => known(value),
            }
        }
        _ => None,
    }
}

/// A pattern without active special characters.
fn literal_pattern(word: &Word<'_>) -> Option<Vec<u8>> {
    let inactive = |part: &WordPart<'_>| match part.kind {
        PartKind::Glob(_) | PartKind::ExtendedGlob(_) => false,
        PartKind::Literal(text) => !text.contains(&b'\\'),
        // A value may hold special characters, and quoting inside it would have to be tracked.
        PartKind::Parameter(_) | PartKind::CommandSubstitution(_) => false,
        _ => true,
    };
    if !word.parts().iter().all(inactive) {
        return None;
    }
    text(&word.parts(), false).map(|text| text.bytes)
}
