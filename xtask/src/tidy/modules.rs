//! Which file of a crate takes names from which: `use` and the paths in the code, followed through re-exports to the file
//! that defines what is named.

use super::Tree;
use super::lexer::{self, Kind, Token, group_length};
use std::collections::{BTreeMap, BTreeSet};

/// Names that stand for one another through imports are followed this often: an import may name itself.
const FOLLOWED: usize = 16;

/// The modules of one crate that are files, without those for tests.
pub(super) struct Modules<'a> {
    files: Vec<File<'a>>,
}

struct File<'a> {
    path: &'a str,
    /// `["run", "reading"]` for `src/run/reading.rs`.
    module: Vec<String>,
    tokens: Vec<Token>,
    uses: Vec<Use>,
    /// Names of functions, types and other items, at whatever depth.
    items: BTreeSet<String>,
}

/// One name that a `use` brings in.
struct Use {
    /// As written, a leading `super` of an inline module resolved: `["crate", "run", "Name"]`.
    path: Vec<String>,
    /// `None` for `*`.
    name: Option<String>,
    /// Handed on to others: no use of the file's own by itself.
    public: bool,
}

/// From which file to which, and the names that are taken, at least one.
pub(super) type Arrows<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<String>>;

impl File<'_> {
    /// What it brings in for itself: all but what is only handed on.
    fn own_uses(&self) -> Vec<Vec<String>> {
        let mut in_use = false;
        let code = self.tokens.iter().filter(|token| {
            in_use = (in_use || token.is_word("use")) && !token.is_mark(';');
            !in_use
        });
        let words: BTreeSet<&str> = code.filter_map(Token::word).collect();
        let own = |import: &&Use| {
            !import.public || import.name.as_ref().is_some_and(|name| words.contains(name.as_str()))
        };
        self.uses.iter().filter(own).map(|import| import.path.clone()).collect()
    }
}

impl<'a> Modules<'a> {
    /// Those below `source`, a crate's `src`.
    pub(super) fn read(tree: &'a Tree, source: &'a str) -> Modules<'a> {
        let (mut files, mut for_tests) = (Vec::new(), Vec::new());
        for (path, text) in tree.texts(source, ".rs") {
            let (tokens, test_modules) = lexer::without_tests(&lexer::tokens(text));
            for_tests.extend(test_modules.iter().flat_map(|name| module_files(path, name)));
            let Some(module) = module(path, source) else { continue };
            let depths = inline_depths(&tokens);
            files.push(File { path, module, uses: uses(&tokens, &depths), items: items(&tokens), tokens });
        }
        files.retain(|file| !is_below(file.path, &for_tests));
        Modules { files }
    }

    /// Every arrow between two of the files.
    pub(super) fn arrows(&self) -> Arrows<'a> {
        let mut arrows = Arrows::new();
        for file in &self.files {
            let depths = inline_depths(&file.tokens);
            let mut written = file.own_uses();
            written.extend(paths(&file.tokens, &depths));
            for path in written {
                let Some(end) = self.end_of(file, &path, FOLLOWED).filter(|end| end.path != file.path) else {
                    continue;
                };
                let is_type = |name: &&String| name.starts_with(char::is_uppercase);
                let name = path.iter().find(is_type).or(path.last()).cloned().unwrap_or_default();
                arrows.entry((file.path, end.path)).or_default().insert(name);
            }
        }
        arrows
    }

    fn file(&self, module: &[String]) -> Option<&File<'a>> {
        self.files.iter().find(|file| file.module == module)
    }

    /// The file in which a path that is written in `file` ends; none for another crate's, and for what is local.
    fn end_of(&self, file: &File<'a>, path: &[String], follow: usize) -> Option<&File<'a>> {
        let (first, rest) = path.split_first()?;
        let parent = || file.module.split_last().map(|(_, parent)| parent);
        match first.as_str() {
            "crate" => self.walk(self.file(&[])?, rest, follow),
            "self" => self.walk(self.file(&file.module)?, rest, follow),
            "super" => {
                let parent = self.file(parent()?)?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.end_of(parent, rest, follow),
                    _ => self.walk(parent, rest, follow),
                }
            }
            _ => self.member(file, first, rest, follow),
        }
    }

    /// The file in which `rest` ends that begins in `file`.
    fn walk(&self, file: &File<'a>, rest: &[String], follow: usize) -> Option<&File<'a>> {
        let Some((first, after)) = rest.split_first() else { return self.file(&file.module) };
        match self.member(file, first, after, follow) {
            Some(end) => Some(end),
            // What another crate defines is nobody's here.
            None if file.uses.iter().any(|named| named.name.as_ref() == Some(first)) => None,
            None => self.file(&file.module),
        }
    }

    /// The file in which `name::rest` ends, where `name` is a module, an import or a `*` of `file`.
    fn member(&self, file: &File<'a>, name: &String, rest: &[String], follow: usize) -> Option<&File<'a>> {
        let mut module = file.module.clone();
        module.push(name.clone());
        if let Some(child) = self.file(&module) {
            return self.walk(child, rest, follow);
        }
        let follow = follow.checked_sub(1)?;
        if let Some(import) = file.uses.iter().find(|import| import.name.as_ref() == Some(name)) {
            if import.path.first() == Some(name) {
                return None;
            }
            let whole: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.end_of(file, &whole, follow);
        }
        if file.items.contains(name) {
            return None;
        }
        let mut through = file.uses.iter().filter(|import| import.name.is_none());
        through.find_map(|import| {
            let from = self.end_of(file, &import.path, follow)?;
            let has = from.path != file.path
                && (from.items.contains(name)
                    || from.uses.iter().any(|import| import.name.as_ref() == Some(name)));
            if has { self.walk(from, &[std::slice::from_ref(name), rest].concat(), follow) } else { None }
        })
    }
}

/// Where `mod name;` in the file `path` may lead: two files, and the directory of what is below.
pub(super) fn module_files(path: &str, name: &str) -> [String; 3] {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let directory = match file {
        "lib.rs" | "main.rs" | "mod.rs" => directory.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    };
    [format!("{directory}/{name}.rs"), format!("{directory}/{name}/mod.rs"), format!("{directory}/{name}")]
}

/// Whether `path` is one of `files`, or below one that is a directory.
pub(super) fn is_below(path: &str, files: &[String]) -> bool {
    files
        .iter()
        .any(|file| path.strip_prefix(file).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// The module that the file `path` is, from the crate's root.
fn module(path: &str, source: &str) -> Option<Vec<String>> {
    let below = path.strip_prefix(source)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let mut names: Vec<String> = below.split('/').map(str::to_owned).collect();
    let last = names.last()?;
    if last == "mod" || (names.len() == 1 && (last == "lib" || last == "main")) {
        names.pop();
    }
    Some(names)
}

/// For each token, how many modules `mod name { … }` of the file it stands in.
fn inline_depths(tokens: &[Token]) -> Vec<usize> {
    let mut depths = vec![0; tokens.len()];
    for at in 0..tokens.len() {
        if let Some([word, name, open, ..]) = tokens.get(at..)
            && word.is_word("mod")
            && name.word().is_some()
            && open.is_mark('{')
        {
            let body = at + 2..at + 2 + group_length(tokens.get(at + 2..).unwrap_or_default());
            depths.get_mut(body).unwrap_or_default().iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

/// `path` as if it stood outside of the `depth` inline modules around it. There, what is named without `crate` or `super`
/// is local or another crate's.
fn outside(mut path: Vec<String>, depth: usize) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    match (depth, path.first()?.as_str()) {
        (0, _) | (_, "crate") => Some(path),
        (_, "super") if supers < depth => None,
        (_, "super") => {
            path.drain(..depth);
            if supers == depth {
                path.insert(0, "self".to_owned());
            }
            Some(path)
        }
        _ => None,
    }
}

/// What every `use` among `tokens` brings in.
fn uses(tokens: &[Token], depths: &[usize]) -> Vec<Use> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_word("use") {
            continue;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|token| token.is_mark(';')).unwrap_or(rest.len());
        let mut named = Vec::new();
        use_tree(rest.get(..end).unwrap_or_default(), &mut Vec::new(), &mut named);
        let depth = depths.get(at).copied().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let public = before.is_some_and(|token| token.is_word("pub") || token.is_mark(')'));
        found.extend(
            named
                .into_iter()
                .filter_map(|(path, name)| Some(Use { path: outside(path, depth)?, name, public })),
        );
    }
    found
}

/// A path, and the name that it is brought in under: `None` for `*`.
type Branch = (Vec<String>, Option<String>);

/// The branches of `a::b::{c, d as e, f::*}`.
fn use_tree(tokens: &[Token], before: &mut Vec<String>, found: &mut Vec<Branch>) {
    let kept = before.len();
    let mut rest = tokens;
    let mut name = None;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match &token.kind {
            Kind::Word(word) if word == "as" => {
                name = after.first().and_then(Token::word).map(str::to_owned);
                break;
            }
            Kind::Word(word) if word == "self" && !before.is_empty() => {}
            Kind::Word(word) => before.push(word.clone()),
            Kind::Mark('*') => {
                found.push((before.clone(), None));
                before.truncate(kept);
                return;
            }
            Kind::Mark('{') => {
                let group = after.get(..after.len().saturating_sub(1)).unwrap_or_default();
                for branch in branches(group) {
                    use_tree(branch, before, found);
                }
                before.truncate(kept);
                return;
            }
            Kind::Mark(_) | Kind::Text(_) | Kind::Other => {}
        }
    }
    if let Some(last) = before.last() {
        let name = name.unwrap_or_else(|| last.clone());
        found.push((before.clone(), Some(name)));
    }
    before.truncate(kept);
}

/// The parts of a group between its own commas.
fn branches(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0usize;
    let parts = tokens.split(|token| {
        match token.kind {
            Kind::Mark('{') => depth += 1,
            Kind::Mark('}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is_mark(',')
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The paths `a::b` among `tokens` that are in no `use`.
fn paths(tokens: &[Token], depths: &[usize]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_use = false;
    while let Some(token) = tokens.get(at) {
        let depth = depths.get(at).copied().unwrap_or_default();
        in_use = (in_use || token.is_word("use")) && !token.is_mark(';');
        at += 1;
        let Some(first) = token.word().filter(|_| !in_use) else { continue };
        let mut path = vec![first.to_owned()];
        while let Some([one, two, next, ..]) = tokens.get(at..)
            && one.is_mark(':')
            && two.is_mark(':')
            && let Some(word) = next.word()
        {
            path.push(word.to_owned());
            at += 3;
        }
        if path.len() > 1 {
            found.extend(outside(path, depth));
        }
    }
    found
}

/// Names that `tokens` define.
fn items(tokens: &[Token]) -> BTreeSet<String> {
    const KEYWORDS: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static"];
    let pairs = tokens.windows(2).filter_map(|window| match window {
        [keyword, name] if KEYWORDS.iter().any(|word| keyword.is_word(word)) => name.word(),
        _ => None,
    });
    pairs.map(str::to_owned).collect()
}
