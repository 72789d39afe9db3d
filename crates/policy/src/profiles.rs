//! The profiles that ship with the program: policy files that anyone can read and copy.

use crate::document::Document;
use crate::file::Source;
use crate::settings::Layer;

/// A profile that the program knows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// For a coding agent: works freely in its workspace, asks for what reaches beyond it.
    #[default]
    Workspace,
    /// Inspection: whatever does more than read is denied.
    ReadOnly,
    /// One literal command with a program from a list.
    Strict,
    /// Argument lists only, with rules for each program.
    Argv,
    /// Four tiers, of which the middle ones are answered by a gatekeeper.
    Tiers,
    /// Everything but the floor is allowed; for a machine that is thrown away afterwards.
    Open,
}

impl Profile {
    /// All profiles.
    pub const ALL: &'static [Self] =
        &[Self::Workspace, Self::ReadOnly, Self::Strict, Self::Argv, Self::Tiers, Self::Open];

    /// The name on the command line and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
            Self::Strict => "strict",
            Self::Argv => "argv",
            Self::Tiers => "tiers",
            Self::Open => "open",
        }
    }

    /// The profile of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|p| p.name() == name)
    }
}

/// Name and text of every shipped profile. Those after the first six extend them.
pub const SHIPPED: &[(&str, &str)] = &[
    ("workspace", include_str!("../profiles/workspace.toml")),
    ("read-only", include_str!("../profiles/read-only.toml")),
    ("strict", include_str!("../profiles/strict.toml")),
    ("argv", include_str!("../profiles/argv.toml")),
    ("tiers", include_str!("../profiles/tiers.toml")),
    ("open", include_str!("../profiles/open.toml")),
    ("command-tool", include_str!("../profiles/command-tool.toml")),
    ("inspect", include_str!("../profiles/inspect.toml")),
    ("sandboxed-shell", include_str!("../profiles/sandboxed-shell.toml")),
];

/// The text of a shipped profile.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The name as the program holds it.
pub(crate) fn static_name(name: &str) -> Option<&'static str> {
    SHIPPED.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// How many profiles may build on each other.
const DEEPEST: usize = 8;

/// The profile at the bottom of what a profile builds on, the nearest that the program knows by itself, and the documents
/// from the bottom up to it.
pub(crate) fn chain(name: &str) -> Result<(Profile, Profile, Vec<Document>), Vec<&'static str>> {
    let known = || SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let mut documents = Vec::new();
    let mut name = name.to_owned();
    let mut first = None;
    for _ in 0..DEEPEST {
        let text = text(&name).ok_or_else(known)?;
        first = first.or(Profile::from_name(&name));
        // Those two say in words what the catalogue says.
        if let Some(profile @ (Profile::Workspace | Profile::ReadOnly)) = Profile::from_name(&name) {
            documents.reverse();
            return Ok((profile, first.unwrap_or(profile), documents));
        }
        let source = Source { layer: Layer::BuiltIn, name: format!("profile {name}"), text: text.to_owned() };
        let document = Document::parse(source).map_err(|_| known())?;
        let base = document.settings.extends.as_ref().map(|set| set.value.clone());
        documents.push(document);
        name = base.unwrap_or_else(|| Profile::Workspace.name().to_owned());
    }
    Err(known())
}
