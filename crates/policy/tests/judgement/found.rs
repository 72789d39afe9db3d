//! Names that a search found, and git: what a name means depends on where it was printed and what stands around it.

use crate::{Row, allow, ask, contain, deny, judge, rules, verdict};
use shward_policy::Decision;

const NAMES: &[Row] = &[
    // Below what was searched, whatever chooses among them.
    allow("find . -name '*.py' | grep -v test | xargs grep -n foo", 1),
    allow("find . -name '*.py' | head -5 | xargs -I{} cat {}", 1),
    allow("find . -name '*.py' | xargs -I{} cp {} backup/", 2),
    allow("ls; cd src && find . -name '*.c' | xargs wc -l", 1),
    allow("git ls-files '*.rs' | xargs grep -l unsafe", 1),
    allow("grep -rl foo src | xargs cat", 1),
    allow("rg -l foo | xargs sed -i s/foo/bar/", 2),
    allow("find . -name .git -type d | xargs -I{} git -C {}/.. status", 1),
    // Other text among them.
    ask("(echo /home/dev; find build) | xargs rm -rf", 3, "unknown-deleted"),
    contain("(echo /etc/shadow; find build) | xargs cat", 1, "unknown-read"),
    // Names are relative: what stands before them makes other places of them, and so does another directory.
    contain("find etc -name shadow | xargs -I{} cat /{}", 1, "unknown-read"),
    // Names that begin with a slash would be files of the workspace, all of them with the same content then.
    ask("find etc | xargs -I{} cp x /{}", 3, "many-emptied"),
    contain("find etc | xargs -I{} cp evil ../{}", 2, "unknown-written"),
    ask("find build -name a | xargs -I{} rm -rf {}/../..", 3, "unknown-deleted"),
    ask("find build | (cd /; xargs rm -rf)", 3, "unknown-deleted"),
    ask("find build | (cd /; cat | xargs rm -rf)", 3, "unknown-deleted"),
    ask("find build | (cd ..; xargs rm)", 3, "unknown-deleted"),
    contain("find build | xargs env -C / rm -rf", 2, "unknown-construct"),
    contain("find build | xargs tar -C / -cf x.tar", 2, "unknown-construct"),
    contain("find etc -name shadow -exec cat /{} \\;", 2, "unknown-construct"),
    contain("find etc -name shadow -exec env -C / cat {} \\;", 2, "unknown-construct"),
    ask("find etc -type f | xargs -I@ sh -c 'cd / && rm -f \"$1\"' _ @", 3, "many-deleted"),
    deny("git -C / ls-files | xargs rm", 4, "root-destroyed"),
    // A name that becomes two.
    ask("mkdir -p 'build/a /home/dev'; find build | xargs rm -rf", 3, "unknown-deleted"),
    ask("find build | xargs -d/ rm -rf", 3, "unknown-deleted"),
];

/// What a search finds that leaves out no hidden directories: `.git` and `.claude` are among them.
const HIDDEN: &[Row] = &[
    deny("find . -type d | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 3, "persistence-written"),
    deny("find . -type d -exec sh -c 'for d; do cp y \"$d/settings.json\"; done' _ {} +", 4, "own-changed"),
    deny("find . | xargs sh -c 'for d; do echo x > \"$d/tasks.json\"; done' _", 3, "persistence-written"),
    allow("find . -type d | xargs -I{} sh -c 'cp y \"$1/README.md\"' _ {}", 2),
    allow("find . -type d -name 'test*' | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 2),
    allow("find . -type d -not -path '*/.*' | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 2),
    allow("find . -type d | grep -v /. | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 2),
    allow("find . -type d -exec touch {}/__init__.py \\;", 2),
    deny("find . -type d -name '.*' | xargs -I{} sh -c 'cp y \"$1/settings.json\"' _ {}", 4, "own-changed"),
    deny("/usr/bin/find . -type d | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 3, "persistence-written"),
    // Files have nothing behind them, as far as nothing else is found.
    allow("find . -type f | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 2),
    deny("find . ! -type f | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 3, "persistence-written"),
    deny("find . -type d -o -type f | xargs -I{} sh -c 'cp y \"$1/config\"' _ {}", 3, "persistence-written"),
    // A pattern may say that no hidden name is meant.
    deny("find . -type d -name '*' | xargs -I{} mkdir -p {}/hooks", 4, "own-changed"),
    allow("find . -type d -name '*-service' | xargs -I{} mkdir -p {}/hooks", 2),
    allow("find . -maxdepth 1 -name '[!.]*' | xargs -I{} mkdir -p {}/hooks", 2),
    allow("find . -maxdepth 1 -name '[a-z]*' | xargs -I{} mkdir -p {}/hooks", 2),
    allow("find . -type d -path './src/*' -exec touch {}/hooks \\;", 2),
    deny("find src -name '.*' -delete", 4, "own-changed"),
    allow("find build -name '.*' -type f -delete", 2),
    contain("cd /tmp; find . -name '.*' -delete", 2, "temporary-deleted"),
    // Many projects have files of this name.
    allow("find . -type d | xargs -I{} sh -c 'cp y \"$1/config.json\"' _ {}", 2),
    // Hidden names, and what each process has.
    ask("find . -name '.*' -exec cat {} \\;", 2, "own-read"),
    ask("find . -name '.*' | xargs cat", 3, "own-read"),
    allow("find . -maxdepth 1 -name '.*' -exec ls -ld {} +", 1),
    deny("find /proc -name environ -exec cat {} \\;", 3, "memory-read"),
    deny("find /proc -name environ | xargs cat", 3, "memory-read"),
    allow("find /proc -name 'stat*' -exec cat {} \\;", 1),
    // An expression for a whole path.
    deny("find . -regex '.*config' | xargs sed -i s/a/b/", 3, "persistence-written"),
    allow("find . -regex '.*\\.json' | xargs sed -i s/a/b/", 2),
];

/// What hands on some of the names that a search prints looks for the secrets that it spells.
const CHOSEN: &[Row] = &[
    deny("find . -type f | grep '\\.env$' | xargs cat", 3, "secret-read"),
    deny("find ~ | grep -E '\\.(npmrc|pem)$' | while read -r f; do cat \"$f\"; done", 3, "secret-read"),
    deny("for f in $(find / -type f | grep 'id_rsa$'); do cat \"$f\"; done", 3, "secret-read"),
    deny("find . ! \\( -name '*.md' -o -name x \\) | grep -F .env | xargs cat", 3, "secret-read"),
    deny("find . \\( -name a -o -name b \\) -prune -o -print | grep '\\.env' | xargs cat", 3, "secret-read"),
    allow("find . -type f | grep '\\.env$' | xargs ls -l", 1),
    allow("find . -type f | grep '\\.env$'", 1),
    ask("find . -type f | grep '\\.env$' | xargs sed -i s/a/b/", 3, "secret-changed"),
    // In the workspace these are ordinary files, and so are those of which a word says nothing.
    allow("find . | grep -E '\\.(npmrc|pem)$' | xargs cat", 1),
    allow("git ls-files | grep env | xargs cat", 1),
    allow("git ls-files | grep kubeconfig | xargs cat", 1),
    deny("git ls-files | grep -E '(^|/)kubeconfig$' | xargs cat", 3, "secret-read"),
    allow("git ls-files | grep '\\.env\\.example$' | xargs cat", 1),
    // The search, or the next program, does not hand them on.
    allow("find . -name '*.ts' | grep '\\.env' | xargs cat", 1),
    allow("find . -not -name '.env*' | grep '\\.env' | xargs cat", 1),
    allow("rg --files -g '*.ts' | grep '\\.env' | xargs cat", 1),
    allow("rg --files -g '!.env*' --hidden | grep '\\.env' | xargs cat", 1),
    allow("find . -type f | grep -v '\\.env$' | xargs cat", 1),
    // Whichever of the names comes last is written.
    deny("cp y $(find ~ -type f | grep '\\.env$')", 4, "own-changed"),
    deny("unzip a.zip -d $(find .vscode -regex '.*\\(\\.env\\|id_rsa\\)')", 3, "persistence-written"),
    // What other programs leave over is not known, and what a search is told is, if no other one has looked there.
    deny("git ls-files | grep '\\.env' | grep '\\.example$' | xargs cat", 3, "secret-read"),
    deny("git ls-files | grep -v '\\.env.+' | grep '\\.env' | xargs cat", 3, "secret-read"),
    deny("git ls-files | grep '\\.env' | grep '\\.local$' | xargs cat", 3, "secret-read"),
    deny("git ls-files | grep '\\.env$' | grep example | xargs cat", 3, "secret-read"),
    allow("git ls-files -- '*.ts' | grep '\\.env' | xargs cat", 1),
    deny("git ls-files ':!*.lock' | grep '\\.env$' | xargs cat", 3, "secret-read"),
    deny("find . -name '*.ts' -o -type f | grep '\\.env$' | xargs cat", 3, "secret-read"),
    deny("git ls-files '*.md'; git ls-files | grep '\\.env$' | xargs cat", 3, "secret-read"),
    deny("find docker -type f | grep '\\.env$' | xargs cat", 3, "secret-read"),
    deny("git ls-files | grep -E '\\.(ts|tsx|json|md|env)$' | xargs wc -l", 3, "secret-read"),
    deny("git ls-files | grep -E '\\.(env|pem)$' | xargs wc -l", 3, "secret-read"),
    // What has been chosen is nothing that a later pipeline prints, if that searches itself.
    allow("git ls-files | grep '\\.env$' | wc -l; git ls-files '*.ts' | xargs wc -l", 1),
    allow("[ -n \"$(git ls-files | grep '\\.env$')\" ] && echo x; git ls-files '*.ts' | xargs wc -l", 1),
    deny(
        "f() { git ls-files | grep '\\.env$' | sort; }; for x in $(f); do cat \"$x\"; done",
        3,
        "secret-read",
    ),
    deny("x=$(git ls-files | grep '\\.env$'); git ls-files '*.ts' | wc -l; cat $x", 3, "secret-read"),
    allow("git ls-files | grep '\\.env'; for f in $(git ls-files '*.ts'); do cat \"$f\"; done", 1),
];

const GIT: &[Row] = &[
    // A directory that the command has made a repository is configured by it.
    contain("echo 'ref: refs/heads/m' > b/HEAD; git --git-dir=b status", 2, "unread-code"),
    contain("echo 'ref: refs/heads/m' > b/HEAD; git -C b status", 2, "unread-code"),
    contain("echo 'ref: refs/heads/m' > b/HEAD; cd b; git diff", 2, "unread-code"),
    contain("eval 'echo ref: refs/heads/m > b/HEAD; cd b; git diff'", 2, "unread-code"),
    // What is read and written without a repository.
    deny("git interpret-trailers --in-place --trailer 'x: y' ~/.bashrc", 3, "persistence-written"),
    deny("git -C ~ grep --no-index '' .ssh/id_rsa", 3, "secret-read"),
    deny("git -C / grep --no-index root etc/shadow", 3, "secret-read"),
    deny("git hash-object -w ~/.ssh/id_rsa", 3, "secret-read"),
    deny("git config -l -f ~/.netrc", 3, "secret-read"),
    // Another work tree.
    contain("git --work-tree=/home/dev/x checkout main", 2, "unknown-executed"),
    contain("git --work-tree=/home/dev/x merge x", 2, "unknown-executed"),
    contain("git --work-tree=/home/dev/x rm x", 3, "outside-file-deleted"),
    contain("git --work-tree=/home/dev status", 2, "outside-written"),
    contain("git --work-tree=/home/dev checkout main", 2, "outside-written"),
    deny("git --work-tree=/home/dev mv .bashrc x", 3, "persistence-written"),
    deny("git --work-tree=/etc add shadow", 3, "system-changed"),
    contain("git -C /home/dev/x checkout main", 2, "unknown-executed"),
    contain("cd /home/dev/x && git commit -am x", 2, "unknown-executed"),
    // Its configuration names programs, as that of a repository which is named by `--git-dir`.
    contain("git -C /home/dev/x status", 2, "unknown-executed"),
    allow("git -C .. status", 1),
    // Who is asked for what there is.
    contain("git ls-remote git@example.com:x", 2, "network"),
    contain("git ls-remote", 2, "network"),
    contain("git remote show https://example.com/x", 2, "network"),
    allow("git remote show -n origin", 1),
];

#[test]
fn what_is_found_is_judged_by_where_it_was_found() {
    judge(NAMES);
}

#[test]
fn what_is_found_may_be_hidden() {
    judge(HIDDEN);
}

#[test]
fn what_is_chosen_among_what_was_found_is_looked_for() {
    judge(CHOSEN);
}

#[test]
fn decoys_take_no_place_from_what_matters() {
    let many = |from: &str| (0..70).map(|at| format!("{from}{at}")).collect::<Vec<_>>();
    let secrets = many("\\.env\\.a").join("|");
    let names = many("-name .env.a").join(" -o ");
    let places = many("d").join(" ");
    for before in [
        format!("find . | grep -E '({secrets})$' > l; find"),
        format!("find . -regex '.*\\({}\\)' > l; find", secrets.replace('|', "\\|")),
        format!("find . {names} > l; find"),
        format!("find {places} > l; find"),
        format!("find {places}"),
    ] {
        for (place, rule) in [("/", "root-destroyed"), ("~", "home-destroyed")] {
            let command = format!("{before} {place} | xargs rm -rf");
            let verdict = verdict(&command, true);
            assert_eq!(verdict.decision(), Decision::Deny, "{command}");
            assert!(rules(&verdict).contains(&rule), "{command} {:?}", rules(&verdict));
        }
    }
    for option in ["", "-F ", "-g "] {
        let ands = many("--and x").join(" ").repeat(10);
        let command = format!("fd -H {option}kubeconfig . {ands} -x cat");
        assert_eq!(verdict(&command, false).decision(), Decision::Deny, "{command}");
    }
}

#[test]
fn git_reads_and_writes_where_it_is_told() {
    judge(GIT);
}
