//! Names that matter and are links on this machine: what lies where they lead is what they mean, whatever it is called there.

use super::classify::{Led, Map, home_tail, inside, tops};
use super::is_special;
use super::path::{self, Names, Reach};
use super::pattern::Part;
use super::tables::{HOME, ORDINARY, Row};
use crate::effect::Scope;
use crate::world::World;
use bumpalo::Bump;

/// All that the machine tells of.
pub(super) fn all<'a>(arena: &'a Bump, world: &dyn World, map: &Map<'_>) -> &'a [Led<'a>] {
    if world.led().is_empty() {
        return &[];
    }
    let lasting = |path: &[u8]| path::normalise(arena, b"", arena.alloc_slice_copy(path));
    arena.alloc_slice_fill_iter(world.led().iter().map(|(name, place)| {
        let (name, place) = (lasting(name), lasting(place));
        let means = Names::Path(name);
        Led { name, place, own: map.scope_by_name(means) == Scope::Own || map.below(means).own }
    }))
}

impl<'a> Led<'a> {
    pub(super) const fn both(&self) -> (&'a [u8], &'a [u8]) {
        (self.name, self.place)
    }
}

impl Led<'_> {
    /// What a path below where this leads is called by the name. `None`: it does not lie there.
    fn renamed<'p>(&'p self, mut names: Names<'p>) -> Option<Vec<Part<'p>>> {
        for name in Names::Path(self.place) {
            let (Some(part), Part::Text(name)) = (names.next(), name) else { return None };
            // Text of which nothing is known may be any name: that alone makes it none.
            if !part.may_be(name) || (part.has_unknown() && !part.specific()) {
                return None;
            }
        }
        Some(Names::Path(self.name).chain(names).collect())
    }
}

impl Map<'_> {
    /// What a path is where a name leads that matters.
    pub(super) fn scope_led(&self, names: Names<'_>) -> Scope {
        let scopes = self.led.iter().filter_map(|led| {
            let parts = led.renamed(names)?;
            let scope = self.scope_by_name(Names::Parts(&parts));
            // Of all else it is said where it really lies.
            is_special(scope).then_some(scope)
        });
        scopes.max().unwrap_or(ORDINARY)
    }

    /// Whether places that matter for themselves lie below a path, because of a home directory or of a name in the path.
    pub(super) fn holds_special(&self, names: Names<'_>) -> bool {
        self.holds(names, is_special)
    }

    /// The same of places with certain meanings.
    pub(super) fn holds(&self, names: Names<'_>, means: fn(Scope) -> bool) -> bool {
        let holds = |row: &Row, names: Names<'_>| means(row.1) && names.relation(row.0) == Reach::Above;
        let of_home = |tail: Names<'_>| HOME.about(tail).any(|row| holds(row, tail));
        let mut rest = names;
        let first = rest.next();
        let usual = first.into_iter().flat_map(tops).filter_map(|top| home_tail(top, rest));
        let named = self.home.both().filter_map(|home| names.below(home));
        if usual.chain(named).any(of_home) {
            return true;
        }
        let mut rest = names;
        while let Some(part) = rest.next() {
            if inside(part).flatten().any(|row| holds(row, rest)) {
                return true;
            }
        }
        false
    }

    /// What a file of this name is that lies at or below a directory, in a place where a name leads.
    pub(super) fn led_by_name(&self, directory: &[u8], name: &[u8]) -> Option<Scope> {
        let scopes = self.led.iter().filter_map(|led| {
            Names::Path(led.place).below(directory)?;
            let itself = led.place.rsplit(|byte| *byte == b'/').next() == Some(name);
            let below: [&[u8]; 3] = [led.name, b"/", name];
            let meant = if itself { led.name.to_vec() } else { below.concat() };
            let scope = self.scope_by_name(Names::Path(&meant));
            matches!(scope, Scope::Persistence | Scope::Own).then_some(scope)
        });
        scopes.max()
    }

    /// Whether what belongs to the firewall or an agent lies at or below a path because a name leads there.
    pub(super) fn covers_led(&self, names: Names<'_>) -> bool {
        self.led.iter().any(|led| {
            led.own && names.may_hold(led.place)
                || led.renamed(names).is_some_and(|parts| self.below(Names::Parts(&parts)).own)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::effect::Scope::{self, Home, Own, Persistence, Product, Secret, Workspace};
    use crate::place::Places;
    use crate::value::{Origins, Value};
    use crate::world::World;
    use crate::{Request, Source};
    use bumpalo::Bump;

    /// Nothing is known but where names lead.
    struct Leading(Vec<(Vec<u8>, Vec<u8>)>);

    impl World for Leading {
        fn led(&self) -> &[(Vec<u8>, Vec<u8>)] {
            &self.0
        }
    }

    #[test]
    fn what_lies_where_a_name_leads_is_what_the_name_means() {
        let led = [
            ("/home/u/.claude", "/home/u/dot/claude"),
            ("/home/u/.bashrc", "/home/u/dot/bashrc"),
            ("/home/u/.aws", "/home/u/dot/aws"),
            ("/home/u/dot/.mcp.json", "/srv/servers"),
        ];
        let bytes = |text: &str| text.as_bytes().to_vec();
        let world = Leading(led.iter().map(|(name, place)| (bytes(name), bytes(place))).collect());
        let request = Request {
            source: Source::Command(b""),
            cwd: b"/home/u/dot",
            workspace: b"/home/u/dot",
            home: b"/home/u",
            dialect: shward_syntax::Dialect::Bash,
        };
        let rows: [(&str, Scope, bool); 14] = [
            ("claude/settings.json", Own, false),
            ("claude/hooks/x/y", Own, false),
            ("claude/agents/x.md", Workspace, false),
            ("claude", Workspace, true),
            (".", Workspace, true),
            ("bashrc", Persistence, false),
            ("bashrc.old", Workspace, false),
            ("aws/credentials", Secret, false),
            ("/srv/servers", Own, true),
            ("/srv", Scope::System, true),
            ("target/x", Product, false),
            ("/home/u/other", Home, false),
            ("claude-code/settings.json", Workspace, false),
            (".claude/settings.json", Own, false),
        ];
        for (path, scope, own) in rows {
            let arena = Bump::new();
            let places = Places::new(&arena, &request, &world);
            let value = Value::text(arena.alloc_str(path).as_bytes(), Origins::LITERAL);
            let target = places.target(&world, Some(b"/home/u/dot"), &value);
            assert_eq!((target.scope, target.covers.own), (scope, own), "{path}");
        }
        let arena = Bump::new();
        let places = Places::new(&arena, &request, &world);
        for (directory, name, expected) in [
            ("/home/u/dot", "settings.json", Some(Own)),
            ("/home/u", "bashrc", Some(Persistence)),
            ("/home/u/dot", "agents", None),
            ("/home/u/dot/src", "settings.json", None),
        ] {
            let found = places.led_by_name(directory.as_bytes(), name.as_bytes());
            assert_eq!(found, expected, "{directory} {name}");
        }
    }
}
