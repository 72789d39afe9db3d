//! Prompts are expanded like words when bash shows them or traces with them, so what gets the name of one is judged as one. What a
//! virtual environment's `activate` keeps and gives back is no more than was there.

mod short;

use bumpalo::Bump;
use short::{CWD, HOME, short};
use shward_analysis::{
    Effect, EffectKind, Endpoint, Frozen, Request, Rest, Scope, Source, Target, WriteMode, analyze,
};

fn effects(command: &str) -> Vec<String> {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: HOME.as_bytes(),
        dialect: shward_syntax::Dialect::Bash,
    };
    short(analyze(&arena, &request, &Frozen).effects)
}

/// As versions of `python3 -m venv` write it, and with what `uv venv` asks of other shells, as far as it is about variables.
const ACTIVATE: [&str; 3] = [
    "deactivate () {
    if [ -n \"${_OLD_VIRTUAL_PATH:-}\" ] ; then
        PATH=\"${_OLD_VIRTUAL_PATH:-}\"
        export PATH
        unset _OLD_VIRTUAL_PATH
    fi
    if [ -n \"${_OLD_VIRTUAL_PYTHONHOME:-}\" ] ; then
        PYTHONHOME=\"${_OLD_VIRTUAL_PYTHONHOME:-}\"
        export PYTHONHOME
        unset _OLD_VIRTUAL_PYTHONHOME
    fi
    if [ -n \"${_OLD_VIRTUAL_PS1:-}\" ] ; then
        PS1=\"${_OLD_VIRTUAL_PS1:-}\"
        export PS1
        unset _OLD_VIRTUAL_PS1
    fi
    unset VIRTUAL_ENV
    unset VIRTUAL_ENV_PROMPT
    if [ ! \"${1:-}\" = \"nondestructive\" ] ; then
        unset -f deactivate
    fi
}
deactivate nondestructive
",
    "VIRTUAL_ENV=\"/w/venv\"
export VIRTUAL_ENV
_OLD_VIRTUAL_PATH=\"$PATH\"
PATH=\"$VIRTUAL_ENV/bin:$PATH\"
export PATH
if [ -n \"${PYTHONHOME:-}\" ] ; then
    _OLD_VIRTUAL_PYTHONHOME=\"${PYTHONHOME:-}\"
    unset PYTHONHOME
fi
if [ -z \"${VIRTUAL_ENV_DISABLE_PROMPT:-}\" ] ; then
    _OLD_VIRTUAL_PS1=\"${PS1:-}\"
    PS1=\"(venv) ${PS1:-}\"
    export PS1
    VIRTUAL_ENV_PROMPT=\"(venv) \"
    export VIRTUAL_ENV_PROMPT
fi
",
    "if [ \"false\" = \"true\" ]; then
    if [ -n \"${BASH_VERSION:+x}\" ] ; then
        SCRIPT_PATH=\"${BASH_SOURCE[0]}\"
    elif [ -n \"${ZSH_VERSION:+x}\" ] ; then
        SCRIPT_PATH=\"${(%):-%x}\"
    elif [ -n \"${KSH_VERSION:+x}\" ] ; then
        SCRIPT_PATH=\"${.sh.file}\"
    fi
fi
VIRTUAL_ENV='/w/.venv'
_OLD_VIRTUAL_PATH=\"$PATH\"
PATH=\"$VIRTUAL_ENV/bin:$PATH\"
export VIRTUAL_ENV
if [ \"x\" != x ] ; then
    VIRTUAL_ENV_PROMPT=\"\"
else
    VIRTUAL_ENV_PROMPT=$(basename \"$VIRTUAL_ENV\")
fi
export VIRTUAL_ENV_PROMPT
if [ -z \"${VIRTUAL_ENV_DISABLE_PROMPT-}\" ] ; then
    _OLD_VIRTUAL_PS1=\"${PS1-}\"
    PS1=\"(${VIRTUAL_ENV_PROMPT}) ${PS1-}\"
    export PS1
fi
",
];

/// Values that are no more than what prompts hold, and text.
const GIVEN_BACK: &[&str] = &[
    "_OLD_VIRTUAL_PS1=\"$PS1\"; PS1=\"(venv) $PS1\"; export PS1",
    "PS1=\"(\"venv\") ${PS1:-}\"",
    "PS1='(venv) '\"$PS1\"",
    "KEPT_PS4=$PS4; PS4='+ '; set -x; ls; set +x; PS4=$KEPT_PS4",
    "x=venv; PS1=\"($x) ${PS1-}\"",
    "PS1=\"${PS1:-} \"",
    "set -- a; PS1=\"$OLD_PS1\"",
    "_OLD_PS1='\\u@\\h$ '; PS1=$_OLD_PS1",
    "PYTHONHOME=\"${_OLD_VIRTUAL_PYTHONHOME:-}\"; export PYTHONHOME; python3 -c 'print(1)'",
];

/// What must not pass: a value that nobody has seen, text around it that makes it code, or a name that holds what was not judged.
const JUDGED: &[&str] = &[
    "read -r K_PS1 < f; PS4=$K_PS1; set -x; ls",
    "read -ra PS4 <<< '$(id)'; set -x; ls",
    "read -ra K_PS4 < f; PS4=$K_PS4; set -x; ls",
    "printf -v K_PS1 %s \"$(cat f)\"; PS4=$K_PS1; set -x; ls",
    "printf -v K_PS1 '$%s' '(id)'; PS4=$K_PS1; set -x; ls",
    "mapfile -t K_PS1 < f; PS4=$K_PS1; set -x; ls",
    "mapfile K_PS1 <<< '$(id)'; PS4=$K_PS1; set -x; ls",
    "for K_PS1 in '$(id)'; do PS4=$K_PS1; set -x; ls; done",
    "for K_PS1 in \"$(cat f)\"; do PS4=$K_PS1; set -x; ls; done",
    "select K_PS1 in \"$(cat f)\"; do PS4=$K_PS1; set -x; ls; done",
    "while read -r K_PS1; do PS4=$K_PS1; set -x; ls; done < f",
    "K_PS1=$(cat f); PS4=$K_PS1; set -x; ls",
    "K_PS1='$(id)'; PS4=$K_PS1; set -x; ls",
    "K_PS1+='$(id)'; PS4=$K_PS1; set -x; ls",
    "export K_PS1=\"$(cat f)\"; PS4=$K_PS1; set -x; ls",
    "declare K_PS1=\"$(cat f)\"; PS4=$K_PS1; set -x; ls",
    "f() { local K_PS1=\"$(cat f)\"; PS4=$K_PS1; set -x; ls; }; f",
    "readonly K_PS1='$(id)'; PS4=$K_PS1; set -x; ls",
    "K_PS1=(a); K_PS1[0]='$(id)'; PS4=$K_PS1; set -x; ls",
    "declare -A K_PS1=([a]=b [0]=\"$X\"); PS4=$K_PS1; set -x; ls",
    "evil=$(cat f); declare -n K_PS1=evil; PS4=$K_PS1; set -x; ls",
    "evil=$(cat f); declare -n K_PS1=evil; declare +n K_PS1 PS4=\"$K_PS1\"; set -x; ls",
    "declare -n r=K_PS1; r=$(cat f); PS4=$K_PS1; set -x; ls",
    "declare -n r=PS4; r=\"$(cat f)$K_PS1\"; set -x; ls",
    ": ${K_PS1:=$(cat f)}; PS4=$K_PS1; set -x; ls",
    ": ${K_PS1:='$(id)'}; PS4=$K_PS1; set -x; ls",
    "getopts ab K_PS1; PS4=$K_PS1; set -x; ls",
    "env K_PS1='$(id)' bash -c 'PS4=$K_PS1; set -x; ls'",
    "K_PS1='$(id)' bash -c 'PS4=$K_PS1; set -x; ls'",
    "coproc K_PS1 { cat; }; PS4=$K_PS1; set -x; ls",
    "PS1='$'\"$K_PS1\"",
    "PS1=\"\\$$K_PS1\"",
    "PS1=\"\\\\$K_PS1\"",
    "PS1=\"$K_PS1(id)\"",
    "PS1=\"$K_PS1{x:=y}\"",
    "x='(id)'; PS1=\"$K_PS1$x\"",
    "x='$'; PS1=\"$x$K_PS1\"",
    "PS1=\"$K_PS1$L_PS1\"",
    "PS1=\"$X $K_PS1\"",
    "PS1=\"$(cat f) $K_PS1\"",
    "PS1=\"`cat f` $K_PS1\"",
    "PS1=\"${X:-a} $K_PS1\"",
    "PS1=\"${K_PS1:-$X}\"",
    "PS1=\"${K_PS1:-$(cat f)}\"",
    "PS1=\"${K_PS1#?}\"",
    "PS1=\"${K_PS1//a/\\$}\"",
    "PS1=\"${K_PS1:1:3}\"",
    "PS1=\"${!K_PS1}\"",
    "PS1=\"${K_PS1[1]}\"",
    "PS1=\"${K_PS1@Q}\"",
    "PS1+=\"$X\"",
    "PS1+='$(id)'",
    "x=ok; while read -r l; do PS4=\"$x $PS4\"; x=$l; done < f; set -x; ls",
    "export PYTHONHOME=$PWD/e; cp x e/lib/os.py; python3 -c 'print(1)'",
    "PYTHONHOME=/mnt/x python3 -c 'print(1)'",
    "VIRTUAL_ENV=$(cygpath -u /a); PATH=\"$VIRTUAL_ENV/bin:$PATH\"",
    "VIRTUAL_ENV_PROMPT=$(cat f); PS1=\"($VIRTUAL_ENV_PROMPT) $PS1\"",
    "PS1=\"$(( x )) $PS1\" PS4=\"$Y\"",
    "PS1=\"${(%):-%x}$X\"",
    "python3 -c 'print(1)'; export PYTHONHOME=/tmp/x; python3 -c 'print(1)'",
    "read -r _OLD_VIRTUAL_PYTHONHOME < f; PYTHONHOME=\"$_OLD_VIRTUAL_PYTHONHOME\"; python3 -c 'print(1)'",
    "mkdir -p lib; echo 'import os' > lib/os.py; PYTHONHOME=/w/lib python3 -c 'print(1)'",
];

/// Whether anything in the plan is not understood, or runs a program that is not described.
fn is_judged(effects: &[String]) -> bool {
    effects.iter().any(|effect| effect.starts_with("unknown:") || effect == "exec:id")
}

#[test]
fn what_activates_an_environment_is_understood() {
    let whole = ACTIVATE.concat();
    for script in ACTIVATE.iter().copied().chain([whole.as_str()]) {
        let effects = effects(script);
        assert!(!is_judged(&effects), "{effects:?}: {script}");
    }
}

#[test]
fn what_a_prompt_held_is_given_back() {
    for command in GIVEN_BACK {
        let effects = effects(command);
        assert!(!is_judged(&effects), "{effects:?}: {command}");
    }
}

#[test]
fn what_nobody_has_seen_is_no_prompt() {
    let passes: Vec<_> = JUDGED.iter().filter(|command| !is_judged(&effects(command))).collect();
    assert!(passes.is_empty(), "{passes:#?}");
}
