//! From the words of the knowledge files to their meaning, and from a wrong word to what would have been right.

use super::effects::{
    LANGUAGES, METADATA, ORIGINS, PACKAGES, PERSISTENCE, PRIVILEGES, REMOTE, SIGNALS, SYSTEMS, VCS,
};
use super::words::{Act, Build, Computed, Fact, Role, Style, Syntax, Telling};

const STYLES: &[(&str, Style)] = &[
    ("gnu", Style::Gnu),
    ("posix", Style::Posix),
    ("exact", Style::Exact),
    ("single-dash", Style::SingleDash),
    ("go", Style::Go),
    ("words", Style::Words),
    ("bare", Style::Bare),
    ("key-value", Style::KeyValue),
];

const FACTS: &[(&str, Fact)] = &[
    ("no-own-files", Fact::NoOwnFiles),
    ("no-addresses", Fact::NoAddresses),
    ("versioned", Fact::Versioned),
    ("dashed", Fact::Dashed),
    ("soaks", Fact::Soaks),
    ("copies", Fact::Copies),
    ("puts-files", Fact::PutsFiles),
    ("writes-dash", Fact::WritesDash),
    ("decodes", Fact::Decodes),
    ("reorders", Fact::Reorders),
    ("links", Fact::Links),
    ("makes-new", Fact::MakesNew),
    ("prints-names", Fact::PrintsNames),
    ("names-here", Fact::NamesHere),
    ("names-led", Fact::NamesLed),
    ("finds-hidden", Fact::FindsHidden),
    ("same-lines", Fact::SameLines),
    ("leaves-out", Fact::LeavesOut),
    ("any-case", Fact::AnyCase),
    ("names-apart", Fact::NamesApart),
    ("names-remotes", Fact::NamesRemotes),
    ("enters-accounts", Fact::EntersAccounts),
    ("fetches-hosts", Fact::FetchesHosts),
    ("loads-modules", Fact::LoadsModules),
    ("reads-posix", Fact::ReadsPosix),
    ("reads-kindred", Fact::ReadsKindred),
    ("reads-other", Fact::ReadsOther),
    ("restricted", Fact::Restricted),
    ("reads-postgres", Fact::ReadsPostgres),
    ("reads-mysql", Fact::ReadsMysql),
    ("reads-sqlite", Fact::ReadsSqlite),
    ("goes-on", Fact::GoesOn),
    ("perl-options", Fact::PerlOptions),
    ("unpacks", Fact::Unpacks),
    ("project-tool", Fact::ProjectTool),
];

/// Words behind which a value stands.
const VALUED: [&str; 6] = ["computes", "tells", "packs", "follows", "module", "keeps"];

const TELLINGS: &[(&str, Telling)] = &[
    ("counts", Telling::Counts),
    ("matches", Telling::Matches),
    ("number", Telling::Number),
    ("word", Telling::Word),
    ("ids", Telling::Ids),
    ("machine", Telling::Machine),
    ("moment", Telling::Moment),
    ("sizes", Telling::Sizes),
    ("commits", Telling::Commits),
    ("new-file", Telling::NewFile),
];

const SYNTAXES: &[(&str, Syntax)] = &[
    ("fixed", Syntax::Fixed),
    ("basic", Syntax::Basic),
    ("extended", Syntax::Extended),
    ("perl", Syntax::Perl),
];

const BUILDS: &[(&str, Build)] = &[
    ("makefile", Build::Makefile),
    ("justfile", Build::Justfile),
    ("package", Build::Package),
    ("tasks", Build::Tasks),
    ("composer", Build::Composer),
];

const COMPUTED: &[(&str, Computed)] = &[
    ("whole", Computed::Whole),
    ("base64", Computed::Base64),
    ("base32", Computed::Base32),
    ("hex", Computed::Hex),
    ("mapped", Computed::Mapped),
    ("mirrored", Computed::Mirrored),
    ("backwards", Computed::Backwards),
    ("first-lines", Computed::FirstLines),
    ("last-lines", Computed::LastLines),
    ("columns", Computed::Columns),
    ("sorted", Computed::Sorted),
    ("somehow", Computed::Somehow),
    ("words", Computed::Words),
    ("formatted", Computed::Formatted),
    ("numbers", Computed::Numbers),
    ("last-name", Computed::LastName),
    ("parent", Computed::Parent),
    ("here", Computed::Here),
    ("nothing", Computed::Nothing),
];

const ROLES: &[(&str, Role)] = &[
    ("text", Role::Text),
    ("name", Role::Name),
    ("name-or-read", Role::NameOrRead),
    ("read-keyed", Role::ReadKeyed),
    ("form", Role::Form),
    ("read", Role::Read),
    ("read-beside", Role::ReadBeside),
    ("list", Role::List),
    ("read-list", Role::ReadList),
    ("read-named", Role::ReadNamed),
    ("write", Role::Write),
    ("write-prefix", Role::WritePrefix),
    ("create-like", Role::CreateLike),
    ("member", Role::Member),
    ("append", Role::Append),
    ("create", Role::Create),
    ("modify", Role::Modify),
    ("truncate", Role::Truncate),
    ("write-below", Role::WriteBelow),
    ("delete", Role::Delete),
    ("delete-tree", Role::DeleteTree),
    ("delete-named", Role::DeleteNamed),
    ("move", Role::Move),
    ("metadata", Role::Metadata("attributes")),
    ("dest", Role::Dest),
    ("dest-link", Role::DestLink),
    ("chdir", Role::Chdir),
    ("run", Role::Run),
    ("run-on-file", Role::RunOnFile),
    ("run-elsewhere", Role::RunElsewhere),
    ("exec", Role::Exec),
    ("exec-line", Role::ExecLine),
    ("exec-elsewhere", Role::ExecElsewhere),
    ("exec-apart", Role::ExecApart),
    ("task", Role::Task("")),
    ("run-all", Role::RunAll),
    ("run-all-elsewhere", Role::RunAllElsewhere),
    ("program", Role::Program),
    ("program-on-files", Role::ProgramOnFiles),
    ("load", Role::Load),
    ("config", Role::Config),
    ("setting", Role::Setting),
    ("connect", Role::Connect),
    ("download", Role::Download),
    ("mount", Role::Mount),
    ("upload", Role::Upload),
    ("send", Role::Send),
    ("identify", Role::Identify),
    ("mode", Role::Mode),
    ("listen", Role::Listen),
    ("process", Role::Process),
    ("variable", Role::Variable),
    ("variables", Role::Variables),
    ("subscript", Role::Subscript),
    ("unknown", Role::Unknown),
];

/// What kind of word was looked for, and what would have been right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoSuchWord {
    pub(crate) what: &'static str,
    pub(crate) valid: Vec<&'static str>,
}

type Found<T> = Result<T, NoSuchWord>;

fn listed<T: Copy>(what: &'static str, word: &str, table: &[(&'static str, T)]) -> Found<T> {
    let found = table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| NoSuchWord { what, valid: table.iter().map(|(name, _)| *name).collect() })
}

fn among(what: &'static str, word: &str, table: &[&'static str]) -> Found<&'static str> {
    let found = table.iter().find(|name| **name == word).copied();
    found.ok_or_else(|| NoSuchWord { what, valid: table.to_vec() })
}

/// A word of an open vocabulary: lower case, digits, `-`.
fn open(what: &'static str, word: &str) -> Found<&'static str> {
    let fits =
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if fits {
        Ok(kept(word))
    } else {
        Err(NoSuchWord { what, valid: vec!["lower-case letters, digits and -"] })
    }
}

/// The tables live as long as the build; so do the words they are made of.
fn kept(word: &str) -> &'static str {
    word.to_owned().leak()
}

/// The style of this name.
pub(crate) fn style(word: &str) -> Found<Style> {
    listed("style", word, STYLES)
}

/// What a line that begins with these words says of the program as a whole, and what of them is not part of that.
pub(crate) fn fact<'w, 't>(words: &'w [&'t str]) -> Found<(Fact, &'w [&'t str])> {
    let (first, rest) = words.split_first().unwrap_or((&"", &[]));
    let (value, others) = rest.split_first().unwrap_or((&"", &[]));
    match *first {
        "computes" => Ok((Fact::Computes(listed("way to compute", value, COMPUTED)?), others)),
        "tells" => Ok((Fact::Tells(listed("kind of text", value, TELLINGS)?), others)),
        "follows" => Ok((Fact::Follows(listed("build file", value, BUILDS)?), others)),
        "keeps" => Ok((Fact::Keeps(listed("way to read a text", value, SYNTAXES)?), others)),
        "packs" if value.starts_with('.') => Ok((Fact::Packs(kept(value)), others)),
        "packs" => Err(NoSuchWord { what: "ending", valid: vec![".gz", ".xz", "…"] }),
        "module" if !value.is_empty() => Ok((Fact::Module(kept(value)), others)),
        "module" => Err(NoSuchWord { what: "module", valid: vec!["its name, as it is written"] }),
        word => Ok((listed("line", word, FACTS)?, rest)),
    }
}

/// Whether a line that begins with this word says something of the program as a whole.
pub(crate) fn is_fact(word: &str) -> bool {
    VALUED.contains(&word) || FACTS.iter().any(|(name, _)| *name == word)
}

/// The words that such lines begin with.
pub(crate) fn facts() -> Vec<&'static str> {
    FACTS.iter().map(|(name, _)| *name).chain(VALUED).collect()
}

/// The role of this name.
pub(crate) fn role(word: &str) -> Found<Role> {
    match word.split_once(':') {
        Some(("code", language)) => Ok(Role::Code(among("language", language, LANGUAGES)?)),
        Some(("module", language)) => Ok(Role::Module(among("language", language, LANGUAGES)?)),
        Some(("script", language)) => Ok(Role::Script(among("language", language, LANGUAGES)?)),
        Some(("task", language)) => Ok(Role::Task(among("language", language, LANGUAGES)?)),
        Some(("metadata", what)) => Ok(Role::Metadata(among("kind of metadata", what, METADATA)?)),
        Some(("plain", marks)) if !marks.is_empty() => Ok(Role::Plain(kept(marks))),
        Some(("plain-write", marks)) if !marks.is_empty() => Ok(Role::PlainWrite(kept(marks))),
        Some(("plain-file", marks)) if !marks.is_empty() => Ok(Role::PlainFile(kept(marks))),
        _ => listed("role", word, ROLES).map_err(|mut e| {
            let open = ["code:LANG", "script:LANG", "task:LANG", "metadata:WHAT", "plain:MARKS"];
            e.valid.extend(open);
            e.valid.extend(["plain-file:MARKS", "plain-write:MARKS"]);
            e
        }),
    }
}

/// The effect of this name.
pub(crate) fn act(word: &str) -> Found<Act> {
    let (kind, detail) = word.split_once(':').unwrap_or((word, ""));
    match kind {
        "recursive" if detail.is_empty() => Ok(Act::Recursive),
        "last" if detail.is_empty() => Ok(Act::Last),
        "no-input" if detail.is_empty() => Ok(Act::NoInput),
        "exec" if detail.is_empty() => Ok(Act::Exec),
        "listen" if detail.is_empty() => Ok(Act::Listen),
        "listen" if detail == "loopback" => Ok(Act::ListenLocally),
        "send" if detail.is_empty() => Ok(Act::Send),
        "environment" if detail.is_empty() => Ok(Act::Environment),
        "secret" if detail.is_empty() => Ok(Act::Secret),
        "connect" => Ok(Act::Connect(kept(detail))),
        "code" => Ok(Act::Code(among("language", detail, LANGUAGES)?)),
        "terminal-unless" if !detail.is_empty() => Ok(Act::TerminalUnless(kept(detail))),
        "loads" => Ok(Act::Loads(among("language", detail, LANGUAGES)?)),
        "signal" => Ok(Act::Signal(among("signal", detail, SIGNALS)?)),
        "privilege" => Ok(Act::Privilege(among("privilege", detail, PRIVILEGES)?)),
        "persist" => Ok(Act::Persist(among("persistence", detail, PERSISTENCE)?)),
        "system" => Ok(Act::System(among("system effect", detail, SYSTEMS)?)),
        "package" => Ok(Act::Package(among("package action", detail, PACKAGES)?)),
        "vcs" => Ok(Act::Vcs(among("version control action", detail, VCS)?)),
        "unknown" => Ok(Act::Unknown(open("reason", detail)?)),
        "obeys" => Ok(Act::Obeys(among("what is obeyed", detail, &["here", "nothing"])?)),
        "remote" => {
            let (action, service) = detail.split_once(':').unwrap_or((detail, ""));
            Ok(Act::Remote(among("remote action", action, REMOTE)?, open("service", service)?))
        }
        "read" | "list" | "write" | "append" | "create" | "modify" | "truncate" | "write-below"
        | "delete" | "delete-tree" | "metadata"
            if !detail.is_empty() =>
        {
            Ok(Act::Place(listed("role", kind, ROLES)?, kept(detail)))
        }
        _ => Err(NoSuchWord {
            what: "effect",
            valid: vec![
                "read:PATH",
                "list:PATH",
                "write:PATH",
                "append:PATH",
                "create:PATH",
                "modify:PATH",
                "truncate:PATH",
                "write-below:PATH",
                "delete:PATH",
                "delete-tree:PATH",
                "metadata:PATH",
                "recursive",
                "last",
                "no-input",
                "exec",
                "code:LANG",
                "connect",
                "connect:HOST",
                "listen",
                "send",
                "signal:WHAT",
                "privilege:WHAT",
                "persist:WHAT",
                "system:WHAT",
                "package:ACTION",
                "vcs:ACTION",
                "remote:ACTION:SERVICE",
                "environment",
                "secret",
                "obeys:here",
                "obeys:nothing",
                "unknown:REASON",
            ],
        }),
    }
}

/// The name of an origin, checked.
pub(crate) fn origin(word: &str) -> Found<&'static str> {
    among("origin", word, ORIGINS)
}

/// A language name, checked.
pub(crate) fn language(word: &str) -> Found<&'static str> {
    among("language", word, LANGUAGES)
}
