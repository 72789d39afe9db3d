//! Places: what may be read, what may be written, whatever way the path is spelled.

use crate::{both, rules, verdict};
use shward_policy::Decision::{Allow, Ask, Deny};

/// Ways to read a file, with `%` for it. None changes what is decided.
const READERS: &[&str] = &[
    "cat %",
    "head -1 %",
    "base64 < %",
    "grep -n x %",
    "sed -n 1p %",
    "while read -r l; do echo \"$l\"; done < %",
    "cp % copy",
    "x=%; cat $x",
    "tar cf x.tar %",
    "diff % /dev/null",
];

/// Files that hold secrets. `~` is the home directory.
const SECRETS: &[&str] = &[
    "~/.ssh/id_rsa",
    "~/.ssh/id_ed25519",
    "\"$HOME\"/.ssh/id_rsa",
    "../.ssh/id_rsa",
    "./../../dev/.ssh/./id_rsa",
    "/home/dev/.ssh/id_rsa",
    "/root/.ssh/id_rsa",
    "~/.aws/credentials",
    "~/.kube/config",
    "~/.docker/config.json",
    "~/.netrc",
    "~/.git-credentials",
    "~/.pgpass",
    "~/.config/gh/hosts.yml",
    "~/.config/gcloud/credentials.db",
    "~/.vault-token",
    "~/.pypirc",
    "~/.cargo/credentials.toml",
    "~/.gnupg/private-keys-v1.d/x.key",
    "~/.mozilla/firefox/x.default/logins.json",
    "~/.config/google-chrome/Default/Cookies",
    ".env",
    ".env.production",
    "sub/.env.local",
    "/etc/shadow",
    "/etc/gshadow",
    "/proc/self/environ",
    "/proc/1/environ",
];

/// What lies near secrets, or looks like one, and is none.
const NO_SECRETS: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    "environment.py",
    "~/.ssh/id_rsa.pub",
    "~/.ssh/known_hosts",
    "/etc/passwd",
    "/etc/hosts",
    "/etc/os-release",
    "/proc/cpuinfo",
    "src/secrets.py",
    "tokens.json.md",
];

#[test]
fn secrets_are_not_read() {
    let mut wrong = Vec::new();
    for secret in SECRETS {
        for reader in READERS {
            let command = reader.replace('%', secret);
            if both(&command) != (Deny, Deny) {
                wrong.push(format!("{command}: {:?} {:?}", both(&command), rules(&verdict(&command, false))));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A class in brackets is one character, and its `]` does not end them.
#[test]
fn classes_of_characters_hide_no_name() {
    for command in [
        "cat /etc/s[[:alpha:]]adow",
        "cat /etc/shado[^[:digit:]]",
        "cat /etc/s[[.h.]]adow",
        "cat /etc/s[[=h=]x]adow",
        "cat ~/.aw[[:lower:]]/credentials",
        "x=h; cat /etc/s[[:$x:]]adow",
        "cp y .[[:alpha:]]it/config",
        "cp y .claud[[:alpha:]]/settings.json",
        "for d in .[[:alpha:]]*; do cp y $d/config; done",
        "rm -rf /[[:lower:]]*",
    ] {
        assert_eq!(both(command), (Deny, Deny), "{command}");
    }
    for command in ["cat src/[[:alpha:]]*.rs", "ls *[[:digit:]].txt", "cat a[[:b].txt", "cat 'a[[:alpha:]]'"]
    {
        assert_eq!(both(command), (Allow, Allow), "{command}");
    }
}

#[test]
fn what_is_no_secret_may_be_read() {
    let mut wrong = Vec::new();
    for place in NO_SECRETS {
        for reader in READERS {
            let command = reader.replace('%', place);
            if both(&command) != (Allow, Allow) {
                wrong.push(format!("{command}: {:?} {:?}", both(&command), rules(&verdict(&command, false))));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Ways to write a file, with `%` for it.
const WRITERS: &[&str] = &[
    "echo x > %",
    "echo x >> %",
    "tee % < notes.txt",
    "cp notes.txt %",
    "mv notes.txt %",
    "ln -sf /tmp/x %",
    "sed -i s/a/b/ %",
    "rm -f %",
    "install -m 644 notes.txt %",
    "x=%; echo x > \"$x\"",
    "dd if=notes.txt of=%",
];

/// What is executed or obeyed later, what guards the machine, and what guards the agent.
const GUARDED: &[&str] = &[
    "~/.bashrc",
    "~/.bash_profile",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.config/fish/config.fish",
    "~/.vimrc",
    "~/.tmux.conf",
    "~/.gitconfig",
    "~/.ssh/authorized_keys",
    "~/.ssh/config",
    "~/.ssh/rc",
    "~/.config/systemd/user/x.service",
    "~/.config/autostart/x.desktop",
    "/etc/cron.d/x",
    "/etc/crontab",
    "/var/spool/cron/crontabs/dev",
    "/etc/systemd/system/x.service",
    "/etc/profile.d/x.sh",
    "/etc/rc.local",
    "/etc/sudoers",
    "/etc/sudoers.d/x",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf.d/x.conf",
    "/etc/pam.d/sshd",
    "/etc/passwd",
    "/etc/hosts",
    ".git/hooks/pre-commit",
    ".git/config",
    ".envrc",
    ".vscode/tasks.json",
    // Other agents' configuration, and our own.
    "~/.claude/settings.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    "~/.codex/config.toml",
    "~/.cursor/mcp.json",
    ".cursor/hooks.json",
    "~/.gemini/settings.json",
    "~/.config/shward/policy.toml",
    ".shward.toml",
    "~/.local/state/shward/audit.jsonl",
];

#[test]
fn guarded_places_are_not_written() {
    let mut wrong = Vec::new();
    for place in GUARDED {
        for writer in WRITERS {
            let command = writer.replace('%', place);
            if both(&command) != (Deny, Deny) {
                wrong.push(format!("{command}: {:?} {:?}", both(&command), rules(&verdict(&command, false))));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Redirections that lose or copy output, and change nothing.
const HARMLESS: &[&str] = &[
    "2>/dev/null",
    "> /dev/null",
    ">/dev/null 2>&1",
    "&>/dev/null",
    "&> /dev/null",
    "2>&1",
    ">&2",
    "< /dev/null",
    "2>/dev/stderr",
    ">/dev/stdout",
    ">/dev/fd/2",
    "2>>/dev/null",
    "3>/dev/null",
    "2>&-",
    "| tee /dev/null",
    "2>/dev/null || true",
    "2>\"/dev/null\"",
    "2>/dev/../dev/null",
];

#[test]
fn throwing_output_away_costs_no_question() {
    let commands = [
        "ls",
        "ls /nowhere",
        "cat README.md",
        "grep -rn pattern src",
        "find / -name x",
        "git status",
        "make",
        "command -v python3",
        "cargo test",
        "rm -f a.txt",
        "kill %1",
    ];
    let mut wrong = Vec::new();
    for command in commands {
        assert_eq!(both(command), (Allow, Allow), "{command}");
        for tail in HARMLESS {
            let command = format!("{command} {tail}");
            if both(&command) != (Allow, Allow) {
                wrong.push(format!("{command}: {:?} {:?}", both(&command), rules(&verdict(&command, false))));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_a_pattern_or_a_variable_can_mean_is_judged() {
    for (command, decision, rule) in [
        ("cat ~/.ssh/*", Deny, "secret-read"),
        ("cat ~/.ssh/id_*", Deny, "secret-read"),
        ("cat /home/*/.ssh/id_rsa", Deny, "secret-read"),
        ("cat ~/.a*/credentials", Deny, "secret-read"),
        ("cat /etc/sh?dow", Deny, "secret-read"),
        ("cat .e*", Ask, "secret-read-perhaps"),
        ("cat *", Allow, ""),
        ("cat *.md", Allow, ""),
        ("cat \"$FILE\"", Ask, "unknown-read"),
        ("cat src/\"$NAME\".py", Ask, "unknown-read"),
        ("cd ~/.ssh && cat id_rsa", Deny, "secret-read"),
        ("cd \"$DIR\" && cat x", Ask, "unknown-read"),
        ("cd \"$DIR\" && make", Ask, "unknown-construct"),
        ("cd \"$DIR\"; npm test", Ask, "unknown-construct"),
        ("cd src && make", Allow, ""),
        ("busybox --install tools", Allow, ""),
        ("busybox --install -s", Deny, "system-changed"),
        ("cat ~root/.ssh/id_rsa", Deny, "secret-read"),
        ("ln -s ~/.ssh/id_rsa k; cat k", Deny, "secret-read"),
        ("ln -s ~/.ssh/id_rsa; cat id_rsa", Deny, "secret-read"),
        ("ln ~/.ssh/id_rsa k && base64 k", Deny, "secret-read"),
        ("ln -s ~/.ssh d && cat d/id_rsa", Deny, "secret-read"),
        ("ln -s -t sub ~/.ssh; cat sub/.ssh/id_rsa", Deny, "secret-read"),
        ("ln -s / r; cat r/etc/shadow", Deny, "secret-read"),
        ("ln -s /etc/cron.d/x y; echo x > y", Deny, "persistence-written"),
        ("mkdir s; ln -s ../../.bashrc s/b; echo x >> s/b", Deny, "persistence-written"),
        ("ln -s /dev/null ~/.bashrc; echo x >> ~/.bashrc", Deny, "persistence-written"),
        ("ln -s src link; cat link/a.py", Allow, ""),
        ("ln -s \"$X\" k; cat k", Ask, "unknown-construct"),
        ("python3 -c 'print(open(\"/home/dev/.ssh/id_rsa\").read())'", Deny, "secret-read"),
        ("echo x > ~/../../etc/cron.d/x", Deny, "persistence-written"),
        ("echo x > /proc/self/root/etc/passwd", Deny, "persistence-written"),
        ("echo x > /tmp/../etc/passwd", Deny, "persistence-written"),
        ("echo 1 > /proc/sys/kernel/sysrq", Deny, "device-changed"),
        ("echo x > /dev/tcp/192.0.2.1/80", Ask, "network"),
        ("head -c 16 /dev/urandom | xxd", Allow, ""),
        ("dd if=/dev/zero bs=1 count=1", Allow, ""),
    ] {
        let verdict = verdict(command, false);
        let found = rules(&verdict).first().copied().unwrap_or_default();
        assert_eq!((verdict.decision(), found), (decision, rule), "{command}");
    }
}

#[test]
fn what_a_text_names_depends_on_where_it_is_read() {
    // The same text is given to a program that nobody knows, in two directories: in one of them it names a secret.
    let text = format!("{}./shadow", "word ".repeat(60));
    let named = |command: &str| rules(&verdict(command, false)).contains(&"secret-named");
    for (first, second) in [("/home/dev/proj", "/tmp"), ("/home/dev/proj", "/etc"), ("/etc", "/tmp")] {
        let command = format!("for d in {first} {second}; do cd $d && an-unknown-one '{text}'; done");
        assert_eq!(named(&command), [first, second].contains(&"/etc"), "{command}");
    }
}

#[test]
fn options_by_which_patterns_mean_more_count() {
    let mut wrong = Vec::new();
    for (command, alone, contained) in [
        ("shopt -s dotglob; cat ~/*/credentials", Ask, Allow),
        ("shopt -s dotglob; sed -i s/a/b/ */settings.json", Ask, Allow),
        ("shopt -s dotglob; cp x */settings.json", Ask, Allow),
        ("shopt -s dotglob; cat ?env", Ask, Allow),
        ("shopt -s dotglob; rm -rf ~/*", Deny, Deny),
        ("shopt -s globstar; cat /**/credentials", Deny, Deny),
        ("shopt -s globstar; echo x | tee .claude/**/settings.json", Deny, Deny),
        ("shopt -s globstar; for f in src/**/*.ts; do rm \"$f\"; done", Ask, Ask),
        ("shopt -s nocaseglob; cat ~/.SS[H]/ID_R*", Ask, Allow),
        ("shopt -s nocaseglob; rm .GI?/HOOKS/x", Ask, Ask),
        ("[ -n \"$X\" ] && shopt -s dotglob; cat ~/*/credentials", Ask, Allow),
        ("shopt -s globstar dotglob; f=(**/pre-commit); echo x > \"${f[0]}\"", Ask, Allow),
        // Where they make no difference.
        ("shopt -s dotglob; cat src/a*.ts", Allow, Allow),
        ("shopt -s globstar; cat src/*.ts", Allow, Allow),
        ("shopt -s globstar; for f in src/*.ts; do echo \"$f\"; done", Allow, Allow),
        ("shopt -s dotglob; shopt -u dotglob; cat src/*.ts", Allow, Allow),
        ("shopt -s nocasematch; cat src/*.ts", Allow, Allow),
        ("shopt -s dotglob; ls a*", Allow, Allow),
    ] {
        if both(command) != (alone, contained) {
            wrong.push(format!("{command}: {:?}", both(command)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is put into a directory that a pattern may mean.
#[test]
fn what_is_put_as_a_whole_may_be_settings() {
    let denied = [
        ("unzip a.zip -d .cl*", "own-changed"),
        ("cp -r src/. .cl*/", "own-changed"),
        ("rsync -a src/ .cl*", "own-changed"),
        // Each piece of a pattern stays one where it goes through a variable.
        ("for d in .[a-z]*; do cp y $d/settings.json; done", "own-changed"),
        ("for d in .[!.]*; do cp y \"$d\"/config; done", "own-changed"),
        ("for d in .[c][l]*/; do touch ${d}settings.json; done", "own-changed"),
    ];
    for (command, rule) in denied {
        let verdict = verdict(command, false);
        assert_eq!((verdict.decision(), rules(&verdict).first().copied()), (Deny, Some(rule)), "{command}");
    }
    for command in [
        "cp -r .git /tmp/copy.git",
        "tar xf a.tar -C x.git",
        "unzip a.zip -d .config",
        "cp -r src/. */",
        "cp -r template/. new/",
        "tar xf a.tar -C .github/workflows",
        "for d in [a-z]*; do cp y $d/config; done",
    ] {
        assert_eq!(both(command), (Allow, Allow), "{command}");
    }
    assert_eq!(both("ssh-keygen -t rsa"), (Ask, Ask));
}
