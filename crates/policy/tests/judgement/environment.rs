//! Variables that a command sets: what a program may take for code is asked about, what is known to be harmless is not.

use crate::both;
use shward_policy::Decision;

/// Set before a program, exported, and given by `env`: nothing of it is worth a question.
const HARMLESS: &[&str] = &[
    "LANG=C",
    "LC_ALL=C.UTF-8",
    "TZ=UTC",
    "NO_COLOR=1",
    "CI=true",
    "DEBUG=1",
    "DEBUG='app:*'",
    "VERBOSE=2",
    "RUST_LOG=debug",
    "RUST_BACKTRACE=1",
    "NODE_ENV=test",
    "PYTHONUNBUFFERED=1",
    "PYTHONDONTWRITEBYTECODE=1",
    "PORT=8080",
    "FOO=bar",
    "DATABASE_URL=sqlite:test.db",
    "COLUMNS=200",
    "TERM=dumb",
    "GIT_AUTHOR_NAME='A B'",
    "GIT_TERMINAL_PROMPT=0",
    "CARGO_TERM_COLOR=never",
    "CFLAGS='-O2 -Wall'",
    "CC=gcc",
    "CXX=clang++",
    "MAKEFLAGS=-j4",
    "PYTHONPATH=src",
    "APP_CONFIG=config/test.json",
    "LOG_PATH=logs/out.txt",
    "CUDA_VISIBLE_DEVICES=0",
    "OMP_NUM_THREADS=4",
    "DEBIAN_FRONTEND=noninteractive",
];

/// What makes programs run, load or obey something else.
const CARRIERS: &[&str] = &[
    "LD_PRELOAD=./x.so",
    "LD_AUDIT=./x.so",
    "DYLD_INSERT_LIBRARIES=./x.dylib",
    "PATH=/tmp/x:$PATH",
    "BASH_ENV=./x.sh",
    "ENV=./x.sh",
    "GIT_SSH_COMMAND=/tmp/x.sh",
    "GIT_EXTERNAL_DIFF=/tmp/x",
    "GIT_CONFIG_GLOBAL=./x",
    "GIT_CONFIG_COUNT=1",
    "LESSOPEN='|./x %s'",
    "PYTHONSTARTUP=x.py",
    "PYTHONHOME=/tmp/x",
    "NODE_OPTIONS=--require=./x.js",
    "PERL5OPT=-Mx",
    "PERL5DB='BEGIN{system(1)}'",
    "RUBYOPT=-r./x",
    "JAVA_TOOL_OPTIONS=-javaagent:x.jar",
    "GROFF_BIN_PATH=/tmp/x",
    "ZDOTDIR=/tmp/x",
    "TEXINPUTS_CMD=/tmp/x",
    "FZF_DEFAULT_COMMAND='/tmp/x'",
    "FZF_DEFAULT_OPTS='--bind=x:execute(/tmp/x)'",
    "TERMINFO=/tmp/x",
    "GCONV_PATH=/tmp/x",
    "OPENSSL_CONF=/tmp/x",
    "KUBECONFIG=/tmp/x",
    "DOCKER_HOST=tcp://192.0.2.1:2375",
    "HTTPS_PROXY=http://192.0.2.1:8080",
    "http_proxy=http://192.0.2.1:8080",
    "AWS_ENDPOINT_URL=https://192.0.2.1",
    "SSLKEYLOGFILE=/tmp/x",
    "R_PROFILE=/tmp/x",
    "SOME_TOOL_PLUGIN=/tmp/x.so",
    "SOME_TOOL_HOOK=/tmp/x",
    "SOME_TOOL_RC=/tmp/x",
    "SOME_EDITOR=/tmp/x",
    "GNUPGHOME=/tmp/x",
    "MANPAGER=/tmp/x",
    "SYSTEMD_PAGER=/tmp/x",
    "MANOPT=-P/tmp/x",
    "XDG_CONFIG_HOME=/tmp/x",
];

#[test]
fn harmless_variables_cost_no_question() {
    let mut wrong = Vec::new();
    for assignment in HARMLESS {
        for command in [
            format!("{assignment} ./build.sh"),
            format!("{assignment} python3 main.py"),
            format!("export {assignment}; make test"),
            format!("env {assignment} ls -la"),
        ] {
            let found = both(&command);
            if found != (Decision::Allow, Decision::Allow) {
                wrong.push(format!("{command}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn carriers_are_asked_about() {
    let mut wrong = Vec::new();
    for assignment in CARRIERS {
        for command in [
            format!("{assignment} git log"),
            format!("{assignment} ./build.sh"),
            format!("export {assignment}; make test"),
            format!("env {assignment} ls"),
        ] {
            if both(&command).0 == Decision::Allow {
                wrong.push(command);
            }
        }
    }
    assert!(wrong.is_empty(), "allowed:\n{}", wrong.join("\n"));
}

#[test]
fn programs_of_the_workspace_are_its_own_unless_the_command_puts_them_there() {
    assert_eq!(both("PATH=bin:$PATH ls").0, Decision::Allow);
    for command in ["cp x bin/ls; PATH=bin:$PATH ls", "echo x > bin/ls; export PATH=./bin:$PATH; ls"] {
        assert_ne!(both(command).0, Decision::Allow, "{command}");
    }
}
