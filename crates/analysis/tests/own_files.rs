//! Which programs are known to have no files of their own, as they are named.

use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source, analyze};

fn all_have_none(command: &str) -> bool {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: b"/home/u/proj",
        workspace: b"/home/u/proj",
        home: b"/home/u",
        dialect: shward_syntax::Dialect::Bash,
    };
    let plan = analyze(&arena, &request, &Frozen);
    !plan.invocations.is_empty() && plan.invocations.iter().all(|started| started.no_own_files)
}

#[test]
fn a_program_is_known_by_its_name_and_where_the_systems_lie() {
    for command in ["cat x", "/bin/cat x", "/usr/bin/cat x", "echo a; true", "\\cat x", "grep -n a x | head"]
    {
        assert!(all_have_none(command), "{command}");
    }
    for command in [
        "git status",
        "./cat x",
        "bin/cat x",
        "/home/u/proj/bin/cat x",
        "/usr/bin/../bin/cat x",
        "/usr/local/bin/cat x",
        "//bin/cat x",
        "/bin/zgrep x",
        "zgrep a x",
        "frob",
        "/bin/frob",
        "cat x; git status",
    ] {
        assert!(!all_have_none(command), "{command}");
    }
}
