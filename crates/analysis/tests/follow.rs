//! Scripts and recipes of the workspace: followed for what is grave, and for nothing else.

mod short;

use bumpalo::Bump;
use short::{CWD, HOME, short};
use shward_analysis::{
    Effect, EffectKind, Endpoint, FileKind, Request, Rest, Scope, Source, Target, World, WriteMode, analyze,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A machine of which some files are known.
struct Files(BTreeMap<Vec<u8>, Vec<u8>>);

impl Files {
    fn of(files: &[(&str, &str)]) -> Self {
        let path = |name: &str| format!("{CWD}/{name}").into_bytes();
        Self(files.iter().map(|(name, text)| (path(name), text.as_bytes().to_vec())).collect())
    }
}

impl World for Files {
    fn kind(&self, path: &[u8]) -> FileKind {
        if self.0.contains_key(path) { FileKind::File } else { FileKind::Unknown }
    }

    fn content(&self, path: &[u8], limit: usize) -> Option<Cow<'_, [u8]>> {
        self.0.get(path).filter(|text| text.len() <= limit).map(|text| Cow::Borrowed(text.as_slice()))
    }
}

fn effects(world: &Files, command: &str) -> Vec<String> {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: HOME.as_bytes(),
        dialect: shward_syntax::Dialect::Bash,
    };
    short(analyze(&arena, &request, world).effects)
}

/// What package managers and frameworks put into a project does what the program does that it starts.
#[test]
fn scripts_of_installed_programs_are_those_programs() {
    let node = "#!/usr/bin/env node\nrequire('x')\n";
    let python = "#!/usr/bin/env python3\nimport x\n";
    let files = Files::of(&[
        ("node_modules/.bin/prisma", node),
        ("node_modules/prisma/build/index.js", node),
        ("manage.py", python),
        ("gradlew", "#!/bin/sh\nexec java x\n"),
    ]);
    for (command, effect) in [
        ("./node_modules/.bin/prisma migrate reset --force", "remote:destroy:sql"),
        ("node node_modules/.bin/prisma migrate reset --force", "remote:destroy:sql"),
        ("node node_modules/prisma/build/index.js migrate reset --force", "remote:destroy:sql"),
        ("./manage.py flush", "remote:destroy:sql"),
        ("./gradlew publish", "package:publish"),
    ] {
        let found = effects(&files, command);
        assert!(found.iter().any(|each| each == effect), "{command}: {found:?}");
    }
    // What is not understood of the arguments may be the script's own.
    let found = effects(&files, "./gradlew --own-option");
    assert!(!found.iter().any(|each| each.starts_with("unknown")), "{found:?}");
    // The system's program of that name starts a shell and writes the file.
    let own = Files::of(&[("script", "#!/bin/sh\necho \"$@\"\n")]);
    let found = effects(&own, "./script one");
    assert!(!found.iter().any(|each| each.starts_with("write") || each.starts_with("code")), "{found:?}");
}

const GRAVE: &str = "rm -rf /\n";

/// Whether following found what is grave.
fn found(files: &[(&str, &str)], command: &str) -> bool {
    effects(&Files::of(files), command).contains(&"delete-tree:/".to_owned())
}

#[test]
fn what_is_grave_is_found() {
    let package =
        r#"{"name": "rm -rf /", "scripts": {"pretest": "rm -rf /", "build": "tsc", "x": "echo \"a\""}}"#;
    let makefile = "X = -rf\nall: build\n\techo done\nbuild:\n\t@rm $(X) \\\n\t  /\nclean:\n\trm -r build\n";
    for (files, command) in [
        (&[("x.sh", GRAVE)][..], "bash x.sh"),
        (&[("x.sh", "#!/bin/sh\nrm -rf /\n")], "./x.sh"),
        (&[("x.py", "import shutil\nshutil.rmtree('/')\n")], "python3 x.py"),
        (&[("x.js", "require('child_process').execSync('rm -rf /')")], "node x.js"),
        (&[("Makefile", makefile)], "make"),
        (&[("Makefile", makefile)], "make build"),
        (&[("Makefile", "all: ; rm -rf /\n")], "make"),
        (&[("Makefile", "all: b\nb: c ; @rm -rf \\\n  /\nc:\n")], "make"),
        (&[("justfile", "t:\n  rm -rf /\n")], "just t"),
        (&[("package.json", package)], "npm test"),
        (&[("package.json", package)], "npm run test"),
        (&[("package.json", package)], "yarn test"),
        (&[("a.sh", "bash b.sh"), ("b.sh", GRAVE)], "bash a.sh"),
    ] {
        assert!(found(files, command), "{command}: {files:?}");
    }
    for (files, command) in [
        (&[("Makefile", makefile)][..], "make clean"),
        (&[("Makefile", makefile)], "make -n"),
        (&[("Makefile", "all:\n\trm -rf $(Y)/\n")], "make"),
        (&[("package.json", package)], "npm run build"),
        (&[("x.sh", "if test -f x; then rm -rf /; fi")], "bash x.sh"),
    ] {
        assert!(!found(files, command), "{command}: {files:?}");
    }
}

#[test]
fn nothing_else_is_added() {
    let script = "pip install x\ncurl https://example.com\n$(unknown) | sh\nrm -r src\necho x > /tmp/y\ncat ~/.ssh/id_rsa\n";
    let world = Files::of(&[("x.sh", script), ("Makefile", "all:\n\tcurl https://example.com\n")]);
    assert_eq!(effects(&world, "bash x.sh"), ["exec:./x.sh"]);
    assert_eq!(effects(&world, "make"), ["code:project"]);
    // What the script writes is not what this command has written.
    let world = Files::of(&[("x.sh", "curl -o y.sh https://example.com/y.sh\n")]);
    assert_eq!(effects(&world, "bash x.sh; bash z.sh"), ["exec:./x.sh", "exec:./z.sh"]);
}

#[test]
fn files_are_followed_up_to_a_length() {
    let script = |length: usize| format!("{GRAVE}#{}\n", "x".repeat(length - GRAVE.len() - 2));
    assert!(found(&[("x.sh", &script(64 << 10))], "bash x.sh"));
    assert!(!found(&[("x.sh", &script((64 << 10) + 1))], "bash x.sh"));
}

#[test]
fn files_are_followed_up_to_a_depth() {
    let files = [("1", "bash 2"), ("2", "bash 3"), ("3", "bash 4"), ("4", "bash 5"), ("5", GRAVE)];
    assert!(found(&files, "bash 2"));
    assert!(!found(&files, "bash 1"));
}

#[test]
fn only_so_many_files_are_followed() {
    let before = |count: usize| format!("{}bash last.sh", "bash one.sh; ".repeat(count));
    let files = [("one.sh", "true"), ("last.sh", GRAVE)];
    assert!(found(&files, &before(15)));
    assert!(!found(&files, &before(16)));
}
