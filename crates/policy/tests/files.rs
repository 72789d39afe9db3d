//! Policy files: what is accepted, what is refused and how it is said, and what the result decides.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod judging;
mod sources;

use judging::judge;
use shward_policy::file::schema;
use shward_policy::{Decision, Layer, Policy, Profile, UNRESTRICTED, profiles, rules};
use sources::{decision, policy, source};

#[test]
fn shipped_profiles_load_and_the_first_says_what_the_catalogue_says() {
    for (name, text) in profiles::SHIPPED {
        let policy = Policy::of_profile(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(policy.name(), *name);
        // Each can be copied and used as a file of one's own.
        Policy::from_sources(None, &[source(Layer::User, text)]).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    for profile in Profile::ALL {
        assert_eq!(Policy::new(*profile).profile(), *profile);
    }
    let text = profiles::text("workspace").expect("it is shipped");
    for rule in rules().filter(|rule| rule.id != "read-only") {
        let value = if rule.alone == rule.contained {
            format!("\"{}\"", rule.alone)
        } else {
            format!("{{ alone = \"{}\", contained = \"{}\" }}", rule.alone, rule.contained)
        };
        let line = if rule.floor {
            format!("# {} = {value}  # floor, tier {}", rule.id, rule.tier.get())
        } else {
            format!("{} = {value}  # tier {}", rule.id, rule.tier.get())
        };
        assert!(text.lines().any(|l| l == line), "profiles/workspace.toml: missing `{line}`");
    }
}

/// File, the code of its first problem, and a part of what is told.
const BAD: &[(&str, &str, &str)] = &[
    ("shell = ", "syntax", ":1:"),
    ("shel = 'full'", "unknown-key", "did you mean `shell`?"),
    ("frobnicate = 1", "unknown-key", "known here: extends"),
    ("shell = 'fully'", "unknown-word", "one of: full, chain, pipeline, simple, none"),
    ("shell = 1", "wrong-type", "`shell` is a word, not an integer"),
    ("extends = 'nonesuch'", "unknown-profile", "profiles: workspace"),
    ("lock = ['shell']", "lock", "only the system"),
    ("[[timeout]]\nclass = 'a'\nseconds = 5", "missing-key", "`commands` is missing"),
    ("[[timeout]]\nclass = 'a'\ncommands = 'make'", "missing-key", "`seconds` is missing"),
    ("[[timeout]]\nclass = 'a'\ncommands = '-x'\nseconds = 5", "program-name", "by its name"),
    ("[[timeout]]\nclass = 'a'\ncommands = 'make'\nseconds = 0", "out-of-range", ":4:"),
    ("[checks]\nnetwrk = 'ask'", "unknown-key", "did you mean `network`?"),
    ("[checks]\nroot-destroyed = 'allow'", "floor", "which no policy changes"),
    ("[checks]\nnetwork = 'maybe'", "unknown-word", "allow, ask, deny"),
    ("[checks]\nnetwork = { alon = 'ask' }", "unknown-key", "did you mean `alone`?"),
    ("[programs]\nallow = []", "empty-list", "at least one"),
    ("[limits]\ntimeout = 0", "out-of-range", "from 1 to 86400"),
    ("[[tiers.pattern]]\ntier = 3\nregex = '('", "regex", "not a regular expression"),
    ("[[tiers.pattern]]\nregex = 'x'", "missing-key", "`tier` is missing"),
    ("[[rule]]\ndecision = 'deny'\nprogram = 'x'", "missing-key", "needs an `id`"),
    ("[[rule]]\nid = 'X y'\ndecision = 'deny'\nprogram = 'x'", "id", "small letters"),
    ("[[rule]]\nid = 'network'\ndecision = 'deny'\nprogram = 'x'", "id", "built-in check"),
    ("[[rule]]\nid = 'a'\nprogram = 'x'", "missing-key", "decides nothing"),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'", "missing-key", "of nothing what it is about"),
    ("[[rule]]\nid = 'a'\ndecision = 'allow'\noperand = '*'", "too-wide", "an allowance says"),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = []", "empty-list", "`program` is empty"),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'x'\nscope = []", "empty-list", "`scope` is empty"),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'x'\neffect = []", "empty-list", "`effect` is empty"),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'x'\norigin = []", "empty-list", "`origin` is empty"),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'\neffect = 'vcs:psh'", "unknown-word", "force-push"),
    (
        "[[rule]]\nid = 'a'\ndecision = 'deny'\neffect = 'connect'\npath = '/x'",
        "never-matches",
        "have no place",
    ),
    ("[[rule]]\nid = 'a'\ndecision = 'deny'\neffect = 'write'\nhost = 'x'", "never-matches", "have no host"),
    (
        "[[rule]]\nid = 'a'\ndecision = 'deny'\noption = 'force'\nprogram = 'x'",
        "never-matches",
        "not an option",
    ),
    (
        "[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'x'\n[[rule]]\nid = 'a'\ndecision = 'ask'\nprogram = 'y'",
        "duplicate-id",
        "two rules",
    ),
    (
        "[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'x'\nmatch = 'y'",
        "example",
        "does not meet its example",
    ),
    (
        "[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'x'\nnot-match = 'x y'",
        "example",
        "meets what it must not",
    ),
    ("[[binary]]\npath = 'git'", "not-absolute", "absolute"),
    ("[directory]\npolicy = 'below'", "missing-key", "needs `paths`"),
    ("[[rate]]\nper = 'all'", "missing-key", "`count` is missing"),
    ("[network]\nallow = 'https://example.com'", "destination", "pypi.org:443"),
    ("[network]\ndeny = 'a:0'", "destination", "from 1 to 65535"),
    ("[sandbox]\nrequire = 'landlock'", "unknown-requirement", "nothing called \"landlock\""),
    ("[sandbox]\naccept-missing = 'user-ns'", "unknown-guarantee", "cannot be built without"),
];

#[test]
fn wrong_files_are_refused_with_the_line_and_what_would_be_right() {
    // A build without the floor lets a policy change it; that is its purpose, and tested below.
    for (text, code, told) in BAD.iter().filter(|(_, code, _)| !UNRESTRICTED || *code != "floor") {
        let error = Policy::from_sources(None, &[source(Layer::User, text)]).expect_err(text);
        assert_eq!(error.diagnostics.first().map(|d| d.code), Some(*code), "{text}\n{error}");
        let shown = error.to_string();
        assert!(shown.contains(told), "{text}\n{shown}");
        assert!(shown.starts_with("user.toml:"), "{shown}");
    }
    let error = Policy::from_sources(None, &[source(Layer::User, "asked = \"ask\"\nshell = \"ful\"\n")])
        .expect_err("");
    assert_eq!(
        error.to_string(),
        "user.toml:2: `ful` is not known here [unknown-word]\n  |\n2 | shell = \"ful\"\n  |          ^^^\n  = one of: full, chain, \
         pipeline, simple, none"
    );
}

#[test]
fn hostile_files_end_in_an_error() {
    let deep = format!("extends = {}", "[".repeat(100_000));
    let dots = format!("{} = 1", vec!["a"; 100_000].join("."));
    let long_key = format!("{} = 1", "k".repeat(1 << 20));
    let huge = "#".repeat(9 << 20);
    let open = "lock = \"".to_owned() + &"x".repeat(1 << 20);
    let tables = "[a]\n".repeat(50_000);
    let many = "[[rule]]\n".repeat(50_000);
    let nul = "extends = 'a\0b'".to_owned();
    let values = format!("[programs]\ndeny = [{}]", "0,".repeat(3_000_000));
    let unknown: String = (0..300_000).map(|n| format!("k{n} = 1\n")).collect();
    let checks: String = (0..300_000).map(|n| format!("k{n} = 1\n")).collect::<String>();
    let checks = format!("[checks]\n{checks}");
    let costly = "[[tiers.pattern]]\ntier = 2\nregex = '(a{1,100}){1,10}'\n".repeat(10_000);
    let examples =
        "[[rule]]\nid = 'r'\ndecision = 'deny'\nprogram = 'nc'\nnot-match = ['ls -la a b c d e f']\n";
    let examples: String = (0..60_000).map(|n| examples.replace("'r'", &format!("'r{n}'"))).collect();
    let escape = "name = \"\u{1b}[2J\u{202e}\" \n shel = 1".to_owned();
    for text in [
        deep,
        dots,
        long_key,
        huge,
        open,
        tables,
        many,
        nul,
        escape,
        "\u{feff}= =".to_owned(),
        values,
        unknown,
        checks,
        costly,
        examples,
    ] {
        // No file keeps a hook busy until its host gives up waiting.
        let started = std::time::Instant::now();
        let error = Policy::from_sources(None, &[source(Layer::User, &text)]).expect_err("it is no policy");
        let shown = error.to_string();
        assert!(shown.len() < 16_000, "{}", shown.len());
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
        assert!(started.elapsed().as_secs() < 10, "{shown}");
    }
}

/// A policy, a command, and what is decided.
#[test]
fn rules_decide() {
    use Decision::{Allow, Ask, Deny};
    let table: &[(&str, &str, Decision)] = &[
        ("program = 'kubectl'\ndecision = 'deny'", "kubectl --help", Deny),
        ("program = 'kubectl'\ndecision = 'deny'", "sudo kubectl get pods", Deny),
        ("program = 'kubectl'\ndecision = 'deny'", "ls", Allow),
        // A program that is not known may be this one; the shell itself is none.
        ("program = 'kubectl'\ndecision = 'deny'", "\"$X\" get pods", Deny),
        ("program = 'kub*'\ndecision = 'deny'", "\"$X\" get pods", Deny),
        ("program = 'kubectl'\ndecision = 'deny'", "> out", Allow),
        ("program = 'kubectl'\ndecision = 'allow'", "\"$X\" get pods", Ask),
        ("program = ['a', 'kubectl', 'b']\ndecision = 'deny'", "/opt/bin/kubectl get", Deny),
        ("effect = 'code:jq'\ndecision = 'deny'", "ls", Allow),
        ("origin = 'credential'\neffect = 'connect'\ndecision = 'deny'", "ls", Allow),
        ("program = 'git'\nsubcommand = 'push'\ndecision = 'deny'", "git push", Deny),
        ("program = 'git'\nsubcommand = 'push'\ndecision = 'deny'", "git -C sub push", Deny),
        ("program = 'git'\nsubcommand = 'push'\ndecision = 'deny'", "git \"$X\"", Deny),
        ("program = 'git'\nsubcommand = 'push'\ndecision = 'deny'", "git log", Allow),
        ("program = 'git'\nsubcommand = 'remote add'\ndecision = 'deny'", "git remote -v add x y", Deny),
        ("program = 'git'\nsubcommand = 'remote add'\ndecision = 'deny'", "git $X", Deny),
        (
            "program = 'git'\nsubcommand = 'push origin'\ndecision = 'allow'\neffect = ['vcs:push', 'connect']",
            "git push",
            Ask,
        ),
        ("program = 'ls'\noption = '--recursive'\ndecision = 'deny'", "ls --recurs", Deny),
        ("program = 'ls'\noption = '-R'\ndecision = 'deny'", "ls -laR", Deny),
        ("program = 'ls'\noption = '-R'\ndecision = 'deny'", "ls -la", Allow),
        ("program = 'ls'\noption = '-R'\ndecision = 'deny'", "ls \"$X\"", Deny),
        ("program = 'ls'\noption = '-R'\ndecision = 'deny'", "ls \"a$X\"", Allow),
        ("program = 'ls'\noperand = 'sec*'\ndecision = 'deny'", "ls secret", Deny),
        ("path = '$WORKSPACE/private/**'\ndecision = 'deny'", "cat private/a", Deny),
        ("path = '$WORKSPACE/private/**'\ndecision = 'deny'", "cat p*/a", Deny),
        ("path = '$WORKSPACE/private/**'\ndecision = 'deny'", "rm -r .", Deny),
        ("path = '$WORKSPACE/private/**'\ndecision = 'deny'", "cat public/a", Allow),
        ("host = '*.example.com'\ndecision = 'deny'", "curl https://api.EXAMPLE.com/", Deny),
        ("host = '*.example.com'\ndecision = 'deny'", "curl \"https://$H/\"", Deny),
        ("host = '*.example.com'\ndecision = 'allow'", "curl https://api.example.com/", Allow),
        ("host = '*.example.com'\ndecision = 'allow'", "curl https://example.org/", Ask),
        ("host = '*.example.com'\ndecision = 'deny'", "curl https://api%2eexample%2Ecom/", Deny),
        ("host = '*.example.com'\ndecision = 'deny'", "curl https://%61pi.example.com./", Deny),
        ("host = 'example.com.'\ndecision = 'deny'", "curl https://example.com/", Deny),
        ("host = '*.example.com'\ndecision = 'allow'", "curl https://evil.org%2f.example.com/", Ask),
        ("host = '127.0.0.1'\ndecision = 'deny'", "curl http://127.1/", Deny),
        ("host = '127.0.0.1'\ndecision = 'deny'", "curl http://0x7f.0.0.1/", Deny),
        ("host = '127.0.0.1'\ndecision = 'deny'", "curl http://2130706433/", Deny),
        ("host = '127.0.0.1'\ndecision = 'deny'", "curl 'http://[::ffff:7f00:1]/'", Deny),
        ("host = '0x7f.1'\ndecision = 'deny'", "curl http://127.0.0.1/", Deny),
        ("host = '10.*'\ndecision = 'deny'", "curl http://167838211/", Deny),
        ("host = '10.*'\ndecision = 'deny'", "curl http://11.1.1.1/", Ask),
        ("host = '10.1.2.3'\ndecision = 'allow'", "curl http://167838211/", Ask),
        ("host = '*.example.com'\ndecision = 'allow'", "curl \"https://$(cat x)/\"", Ask),
        ("effect = 'vcs:push'\ndecision = 'allow'", "git push", Ask),
        ("effect = ['vcs:push', 'connect']\ndecision = 'allow'", "git push", Allow),
        ("effect = ['vcs:push', 'connect']\ndecision = 'allow'", "git push --force", Ask),
        ("program = 'frobnicate'\ndecision = 'allow'", "frobnicate x", Allow),
        ("program = 'frobnicate'\ndecision = 'allow'", "/tmp/frobnicate x", Ask),
        ("program = 'frob*'\ndecision = 'allow'", "other x", Ask),
        ("program = 'sort'\ndecision = 'allow'", "sort --no-such-option", Ask),
        ("program = 'cat'\ndecision = 'allow'", "cat ~/.ssh/id_rsa", Deny),
        ("program = 'rm'\ndecision = 'allow'", "rm -rf ~", Deny),
        ("scope = 'workspace'\neffect = 'write'\ndecision = 'ask'", "echo x > y", Ask),
        ("scope = 'workspace'\neffect = 'write'\ndecision = 'allow'", "echo x > ../y", Ask),
        // Who asks is not answered by who allows.
        (
            "program = 'curl'\ndecision = 'allow'\n[[rule]]\nid = 's'\neffect = 'connect'\ndecision = 'ask'",
            "curl https://example.com/",
            Ask,
        ),
        ("origin = 'network'\neffect = 'write'\ndecision = 'deny'", "curl http://localhost/x > y", Deny),
        ("origin = 'network'\neffect = 'write'\ndecision = 'deny'", "echo x > y", Allow),
        (
            "origin = 'literal'\neffect = 'connect'\ndecision = 'allow'",
            "curl -d x https://example.com/",
            Allow,
        ),
        (
            "origin = 'literal'\neffect = 'connect'\ndecision = 'allow'",
            "curl -d @x https://example.com/",
            Ask,
        ),
        ("program = 'ls'\ncontained = true\ndecision = 'deny'", "ls", Allow),
        ("program = 'ls'\ntier = 3", "ls", Allow),
        // Tier 4 is never run, whatever else decides.
        ("program = 'ls'\ntier = 4", "ls", Deny),
        ("program = 'ls'\ntier = 4", "pwd; ls -l", Deny),
        ("program = 'ls'\ntier = 4", "pwd", Allow),
        ("program = 'ls'\ntier = 4\ndecision = 'ask'", "ls", Deny),
        ("program = 'ls'\ntier = 4\ndecision = 'allow'", "ls", Deny),
        ("min-tier = 2\ndecision = 'deny'", "touch x", Deny),
        ("min-tier = 2\ndecision = 'deny'", "cat x", Allow),
    ];
    for (rule, command, expected) in table {
        let policy = policy(&format!("[[rule]]\nid = 'r'\n{rule}"));
        assert_eq!(decision(&policy, command), *expected, "{rule}: {command}");
    }
    let policy =
        policy("[[rule]]\nid = 'r'\nprogram = 'ls'\ndecision = 'deny'\nreason = 'No.'\nsuggestion = 'dir'");
    let verdict = judge(&policy, "ls", false);
    let finding = verdict.findings().first().expect("it is denied");
    assert_eq!((&*finding.rule, &*finding.message, finding.suggestion.as_deref()), ("r", "No.", Some("dir")));
    assert_eq!(finding.origin.as_ref().map(|o| (o.layer, o.line)), Some((Layer::User, 1)));
}

/// Settings, a command, and what is decided.
#[test]
fn settings_decide() {
    use Decision::{Allow, Ask, Deny};
    let table: &[(&str, &str, Decision)] = &[
        ("[checks]\nnetwork = 'deny'", "curl https://example.com", Deny),
        ("[checks]\nnetwork = 'allow'", "curl https://example.com", Allow),
        ("[checks]\ndefault = 'allow'\nnetwork = 'deny'", "curl https://example.com", Deny),
        ("[programs]\ndeny = 'nc'", "/opt/x/nc -l 1", Deny),
        ("[[tiers.pattern]]\ntier = 4\nregex = 'secret'", "echo secret", Deny),
        ("[[tiers.pattern]]\ntier = 4\nregex = 'secret'", "echo other", Allow),
        ("[[tiers.pattern]]\ntier = 3\nregex = 'secret'", "echo secret", Allow),
        ("[programs]\nallow = 'ls'\nunlisted = 'deny'", "ls", Allow),
        ("[programs]\nallow = 'ls'\nunlisted = 'deny'", "/bin/ls", Allow),
        ("[programs]\nallow = 'ls'\nunlisted = 'deny'", "/bin/cat", Deny),
        ("[programs]\nallow = '/opt/x'\nunlisted = 'deny'\n[checks]\ndefault = 'allow'", "/opt/x", Allow),
        ("[programs]\nallow = '/opt/x'\nunlisted = 'deny'\n[checks]\ndefault = 'allow'", "/opt/y", Deny),
        ("[programs]\nallow = 'ls'\nunlisted = 'deny'", "./ls", Deny),
        ("[programs]\nallow = '/home/dev/proj/ls'\nunlisted = 'deny'", "./ls", Allow),
        ("[programs]\nallow = '/home/dev/proj/ls'\nunlisted = 'deny'", "ls", Deny),
        // A rule that allows a program lists it, and no other rule does.
        (
            "[programs]\nallow = 'cat'\nunlisted = 'deny'\n[[rule]]\nid = 'r'\nprogram = 'ls'\ndecision = 'allow'",
            "ls",
            Allow,
        ),
        (
            "[programs]\nallow = 'cat'\nunlisted = 'deny'\n[[rule]]\nid = 'r'\nprogram = 'ls'\ndecision = 'ask'",
            "ls",
            Deny,
        ),
        ("[programs]\nallow = 'ls'\nunlisted = 'deny'", "ls | cat", Deny),
        ("[programs]\nallow = 'ls'\nunlisted = 'ask'", "ls | cat", Ask),
        ("[programs]\nallow = 'sudo'\nunlisted = 'deny'", "sudo id", Deny),
        ("[programs]\nallow = 'curl'\nskips = 'questions'", "curl https://example.com", Allow),
        ("[programs]\nallow = 'cat'\nskips = 'questions'", "cat ~/.ssh/id_rsa", Deny),
        ("[programs]\nallow = 'curl'\nskips = 'nothing'", "curl https://example.com", Ask),
        ("[paths]\nallow = '$WORKSPACE'", "cat a", Allow),
        ("[paths]\nallow = '$WORKSPACE'", "cat ../x", Deny),
        ("[paths]\nallow = '$WORKSPACE'", "cat \"$X\"", Deny),
        ("[paths]\nallow = '$WORKSPACE'", "cat \"$PWD/a/$X\"", Deny),
        ("[paths]\ndeny = '$WORKSPACE/p/k'", "cat p/*", Deny),
        ("[paths]\ndeny = '$WORKSPACE/p/k'", "cat q/*", Allow),
        ("[paths]\ndeny = '$WORKSPACE/p'", "grep -r x .", Deny),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x d", Allow),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x /d/a", Deny),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x /d/a=b", Deny),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x --o=/d/a=b", Deny),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x -o/d/a", Deny),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x @/d/a h:/e", Deny),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'", "x file:///d/a", Deny),
        (
            "[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\ndeny = '/d/**'",
            "x ,,,,,,,,,,,,,,,,,,d/a",
            Deny,
        ),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\nallow = '$WORKSPACE'", "x a/b=c", Allow),
        ("[programs]\nallow = 'x'\nskips = 'questions'\n[paths]\nallow = '$WORKSPACE'", "x /e=c", Deny),
        ("asked = 'deny'", "git push", Deny),
        ("approval = 'always'", "ls", Ask),
        ("shell = 'none'", "ls", Deny),
        ("shell = 'pipeline'", "ls | wc", Allow),
        ("shell = 'pipeline'", "ls; ls", Deny),
        ("shell = 'chain'", "ls && ls 2>/dev/null", Allow),
        ("shell = 'chain'", "ls > x", Deny),
        ("shell = 'chain'", "ls 2>&1 3>&-", Allow),
        ("shell = 'chain'", "ls > 1", Deny),
        ("shell = 'chain'", "ls > ~/dev/null", Deny),
        ("shell = 'chain'", "ls > /dev/null$X", Deny),
        ("shell = 'chain'", "ls < 0", Deny),
        ("shell = 'chain'", "ls &", Deny),
        ("shell = 'chain'", "ls \"$(ls)\"", Deny),
        ("shell = 'chain'", "cat << x\nx", Deny),
        ("shell = 'pipeline'", "ls && ls", Deny),
        ("shell = 'simple'", "ls a '*'", Allow),
        ("shell = 'simple'", "! ls", Deny),
        ("shell = 'simple'", "ls &", Deny),
        ("shell = 'simple'", "ls | ls", Deny),
        ("shell = 'simple'", "X=1 ls", Deny),
        ("shell = 'simple'", "ls 2>&1", Deny),
        ("shell = 'simple'", "l* a", Deny),
        ("shell = 'chain'", "ls $(ls)", Deny),
        ("control-characters = 'refuse'", "ls \u{202e}x", Deny),
        ("control-characters = 'refuse'", "ls \u{1b}x", Deny),
        ("control-characters = 'refuse'", "ls\tx", Allow),
        ("control-characters = 'refuse'", "ls \u{61c}x", Deny),
        ("control-characters = 'refuse'", "ls \u{3164}x", Deny),
        ("control-characters = 'refuse'", "ls x\u{fe00}", Deny),
        ("decide-by = 'tier'", "ls", Allow),
        ("decide-by = 'tier'", "touch x", Ask),
        // What is not understood has the tier that the policy gives it.
        ("decide-by = 'tier'\n[tiers]\ndefault = 4", "frobnicate", Deny),
        ("decide-by = 'tier'", "rm -rf ~", Deny),
        ("[[tiers.pattern]]\ntier = 4\nregex = '^nuke'\n[tiers]\n", "nuke x", Deny),
        ("decide-by = 'tier'\n[[tiers.pattern]]\ntier = 4\nregex = '^nuke'", "nuke x", Deny),
    ];
    for (text, command, expected) in table {
        // A table may not be opened twice; this case was only there to see that it is refused.
        let Ok(policy) = Policy::from_sources(None, &[source(Layer::User, text)]) else {
            assert!(text.ends_with("[tiers]\n"), "{text}");
            continue;
        };
        assert_eq!(decision(&policy, command), *expected, "{text}: {command}");
    }
}

/// What tightens a policy that is added to another tightens both, and tells them apart.
#[test]
fn a_policy_is_added_with_all_its_parts() {
    let [denies, asks] = ["[programs]\ndeny = 'ls'", "approval = 'always'"].map(policy);
    let all = policy("").and(asks.clone().and(denies));
    assert_eq!(decision(&all, "ls"), Decision::Deny);
    assert_ne!(all.canonical(), policy("").and(asks).canonical());
}

/// Two policies together decide the same in either order, and no more loosely than either.
#[test]
fn together_the_stricter_counts_in_either_order() {
    let texts = [
        "",
        "asked = 'deny'",
        "approval = 'always'",
        "decide-by = 'tier'",
        "asked = 'deny'\napproval = 'always'",
        "decide-by = 'tier'\nasked = 'deny'",
        "[[rule]]\nid = 'r'\nprogram = 'ls'\ndecision = 'ask'",
        "[checks]\nnetwork = 'deny'",
        "[programs]\ndeny = 'ls'",
        "[checks]\nnetwork = 'allow'",
    ];
    let load = |text: &&str| policy(text);
    for (first, second) in texts.iter().flat_map(|first| texts.iter().map(move |second| (first, second))) {
        for command in ["ls", "touch x", "curl https://example.com", "git push", "rm -rf ~", "cat a | wc"] {
            let together = decision(&load(first).and(load(second)), command);
            let shown = format!("{first:?} and {second:?}: {command}");
            assert_eq!(together, decision(&load(second).and(load(first)), command), "{shown}");
            assert!(
                together >= decision(&load(first), command).max(decision(&load(second), command)),
                "{shown}"
            );
        }
    }
}

/// Only a build with the feature `unrestricted` lets a policy change the floor, and its policies are told apart in records.
#[test]
fn the_floor_is_lifted_by_a_build_only() {
    let (named, all) = ("[checks]\nroot-destroyed = 'allow'", "[checks]\ndefault = 'allow'");
    let load = |text| Policy::from_sources(None, &[source(Layer::User, text)]);
    let lifted = if UNRESTRICTED { Decision::Allow } else { Decision::Deny };
    assert_eq!(decision(&load(all).expect("it fits"), "rm -rf ~"), lifted);
    assert_eq!(load(named).is_ok(), UNRESTRICTED);
    assert_eq!(
        decision(&Policy::default(), "rm -rf ~"),
        Decision::Deny,
        "nothing is lifted unless a policy says so"
    );
    let canonical = String::from_utf8(Policy::default().canonical()).expect("it is text");
    assert_eq!(canonical.lines().next().is_some_and(|line| line.ends_with(" unrestricted")), UNRESTRICTED);
}

#[test]
fn layers_lie_over_each_other() {
    let layers = [
        source(Layer::System, "lock = ['shell']\nshell = 'chain'\n[programs]\ndeny = 'nc'"),
        source(Layer::User, "[checks]\nnetwork = 'allow'\n[programs]\ndeny = 'socat'"),
    ];
    let policy = Policy::from_sources(None, &layers).expect("they fit");
    assert_eq!(decision(&policy, "nc -l 1"), Decision::Deny);
    assert_eq!(decision(&policy, "socat"), Decision::Deny);
    assert_eq!(decision(&policy, "curl https://example.com"), Decision::Allow);
    let told = policy.told();
    let shell = told.iter().find(|(_, key, ..)| *key == "shell").expect("it is set");
    assert_eq!((shell.3.layer, &*shell.3.file, shell.3.line), (Layer::System, "system.toml", 2));

    let unlocked = source(Layer::User, "shell = 'full'");
    let locked = Policy::from_sources(None, &[layers[0].clone(), unlocked]).expect_err("it is locked");
    assert!(locked.to_string().contains("`shell` is locked by system.toml:1"), "{locked}");
}

#[test]
fn what_may_only_tighten_never_relaxes() {
    let relaxing =
        "[checks]\ndefault = 'allow'\n[[rule]]\nid = 'a'\ndecision = 'allow'\neffect = ['connect', 'vcs']";
    let project = source(Layer::Project, relaxing);
    let trusted = Policy::from_sources(None, std::slice::from_ref(&project)).expect("it fits");
    let untrusted = Policy::from_layers(None, &[], &[project]).expect("it fits");
    let default = Policy::default();
    for command in ["git push", "curl https://example.com", "crontab x", "ls", "rm -rf ~", "echo x | sh"] {
        assert_eq!(decision(&untrusted, command), decision(&default, command), "{command}");
    }
    assert_eq!(decision(&trusted, "git push"), Decision::Allow);
    let stricter = source(
        Layer::Project,
        "[checks]\nnetwork = 'deny'\n[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = 'ls'",
    );
    let tightened = Policy::from_layers(None, &[], &[stricter]).expect("it fits");
    assert_eq!(decision(&tightened, "curl https://example.com"), Decision::Deny);
    assert_eq!(decision(&tightened, "ls"), Decision::Deny);
    assert_ne!(tightened.canonical(), default.canonical());
}

#[test]
fn hosts_and_losses_are_what_every_part_permits() {
    let user = source(
        Layer::User,
        "[network]\nallow = ['a.org', 'b.org']\n[sandbox]\naccept-missing = ['net-ns', 'landlock']",
    );
    let wider = source(
        Layer::Project,
        "[network]\nallow = ['b.org', 'c.org']\n[sandbox]\naccept-missing = ['net-ns', 'ipc-ns']",
    );
    let policy = Policy::from_layers(None, &[user], std::slice::from_ref(&wider)).expect("it fits");
    let reach = policy.reach();
    for (host, permitted) in [("a.org", false), ("b.org", true), ("c.org", false)] {
        assert_eq!(reach.name(host, 443).is_ok(), permitted, "{host}");
    }
    assert_eq!(policy.accepted_losses(), ["net-ns"]);
    let alone = Policy::from_layers(None, &[], &[wider]).expect("it fits");
    assert!(alone.reach().is_empty() && alone.accepted_losses().is_empty());
    assert!(Policy::default().reach().is_empty());
}

/// Every line of the template that is a key or a header, without its comment sign.
#[test]
fn every_example_of_the_template_is_one() {
    let lines = schema::template();
    let lines = lines.lines().filter_map(|line| line.strip_prefix("# "));
    let is_key = |line: &&str| {
        line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains([' ', '`']))
    };
    let text: String = lines.filter(is_key).flat_map(|line| [line, "\n"]).collect();
    for header in ["[checks]", "[[tiers.pattern]]", "[[binary.positional]]", "[[rule]]", "[gatekeeper]"] {
        assert!(text.contains(header), "{header}\n{text}");
    }
    // Some examples exclude each other; none is of the wrong form.
    let told = match Policy::from_sources(None, &[source(Layer::System, &text)]) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics.iter().map(|d| (d.code, d.message.clone())).collect(),
    };
    assert!(
        told.iter().all(|(code, _)| ["positional", "example", "never-matches", "exact"].contains(code)),
        "{told:?}\n{text}"
    );
}

/// What is kept is the way back from what a project's commands have done.
#[test]
fn no_project_says_what_is_kept_to_be_undone() {
    let text = "[undo]\nruns = 0\nsize = 0\nage = 0\n";
    for layer in [Layer::System, Layer::User, Layer::Explicit] {
        let policy = Policy::from_sources(None, &[source(layer, text)]).expect("it may");
        assert_eq!(policy.settings().undo_runs.as_ref().map(|set| set.value), Some(0), "{layer:?}");
    }
    for layer in [Layer::Project, Layer::Environment] {
        let trusted = Policy::from_sources(None, &[source(layer, text)]);
        let untrusted = Policy::from_layers(None, &[], &[source(layer, text)]);
        for refused in [trusted, untrusted] {
            let said = refused.expect_err("it may not").to_string();
            assert!(said.contains("only the policy of the system or the user"), "{said}");
        }
    }
}

#[test]
fn a_child_does_not_write_straight_where_its_parent_does_not() {
    let policy = |text: &str| Policy::from_sources(None, &[source(Layer::User, text)]).expect("it fits");
    let live = |word: &str| policy(&format!("[sandbox]\nlive = {word:?}\n"));
    for (child, parent, wider) in [
        ("allow", "fallback", true),
        ("fallback", "deny", true),
        ("deny", "fallback", false),
        ("fallback", "allow", false),
    ] {
        let found = shward_policy::exceeds(&live(child), &live(parent));
        assert_eq!(!found.is_empty(), wider, "{child} below {parent}: {found:?}");
    }
    assert!(shward_policy::exceeds(&policy(""), &live("deny")).iter().any(|w| w.what == "sandbox.live"));
}

/// Nobody can use one of none.
#[test]
fn a_list_of_no_programs_is_told_as_such() {
    for (text, told) in [
        ("extends = 'strict'", "no program is"),
        (
            "extends = 'strict'\n[programs]\nallow = ['ls', 'git']",
            "in the allowed list: ls, git. Use one of these",
        ),
    ] {
        let verdict = judge(&policy(text), "curl x", false);
        assert!(verdict.findings().iter().any(|finding| finding.message.contains(told)), "{verdict:?}");
    }
}
