//! Programs that the machine's search path finds where the agent may write.

mod short;

use bumpalo::Bump;
use short::{CWD, HOME, short};
use shward_analysis::{
    Effect, EffectKind, Endpoint, Request, Rest, Scope, Source, Target, World, WriteMode, analyze,
};
use std::borrow::Cow;

/// A machine on which every program lies in this directory.
struct Programs(&'static str);

impl World for Programs {
    fn program(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        Some(Some(Cow::Owned([self.0.as_bytes(), b"/", name].concat())))
    }
}

fn effects(directory: &'static str, command: &str) -> Vec<String> {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: HOME.as_bytes(),
        dialect: shward_syntax::Dialect::Bash,
    };
    short(analyze(&arena, &request, &Programs(directory)).effects)
}

#[test]
fn what_a_name_leads_to_is_executed() {
    for (directory, command, expected) in [
        ("/usr/bin", "ls", &["list:."][..]),
        ("/tmp/bin", "ls", &["exec:/tmp/bin/ls", "list:."]),
        ("/tmp/bin", "echo a", &[]),
        // What such a program prints may be anything.
        ("/usr/bin", "cat $(echo a | cut -c1)", &["read:a"]),
        ("/tmp/bin", "cat $(echo a | cut -c1)", &["exec:/tmp/bin/cat", "exec:/tmp/bin/cut", "read:*"]),
        // The script's own search path is judged where it is set.
        ("/tmp/bin", "export PATH=/usr/bin; ls", &["list:."]),
    ] {
        assert_eq!(effects(directory, command), expected, "{directory}: {command}");
    }
    let own = effects(".venv/bin", "wc -l a");
    assert!(own.iter().any(|effect| effect.starts_with("exec:")) && own.len() == 2, "{own:?}");
}

#[test]
fn a_program_that_is_looked_for_first_is_started() {
    for (command, expected) in [
        ("$(which cat) a", &["read:a"][..]),
        ("\"$(command -v cat)\" a", &["read:a"]),
        ("X=$(which rm); $X -r a", &["delete-tree:a"]),
        ("X=$(type -P cat); \"$X\" a", &["read:a"]),
    ] {
        assert_eq!(effects("/usr/bin", command), expected, "{command}");
    }
    // What else is printed there, or found, is not known.
    for command in
        ["$(which cat; echo x) a", "which() { echo rm; }; $(which cat) a", "$(which cat | tr a b) a"]
    {
        let all = effects("/usr/bin", command);
        assert!(
            all.iter().any(|effect| effect.starts_with("unknown") || effect.starts_with("delete")),
            "{command}: {all:?}"
        );
    }
}
