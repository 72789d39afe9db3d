//! Variables that never pass into a run: what makes a program load, execute or connect to something else.

/// Names, compared without regard to case, because programs differ in it (`http_proxy`, `HTTP_PROXY`).
const NAMES: [&str; 39] = [
    "ALL_PROXY",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "EDITOR",
    "ENV",
    "FTP_PROXY",
    "GCONV_PATH",
    "GLOBIGNORE",
    "HOSTALIASES",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IFS",
    "INPUTRC",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCALDOMAIN",
    "LUA_CPATH",
    "LUA_PATH",
    "MANPAGER",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NO_PROXY",
    "OPENSSL_CONF",
    "PAGER",
    "PROMPT_COMMAND",
    "PS1",
    "PS2",
    "PS4",
    "RESOLV_HOST_CONF",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "VISUAL",
    "ZDOTDIR",
];

/// Beginnings of names.
const FAMILIES: [&str; 10] =
    ["BASH", "DYLD_", "GH_", "GIT_", "JAVA_TOOL_", "LD_", "PERL", "PYTHON", "PYTEST_", "_JAVA"];

/// Whether a variable can carry code, or lead a program to code.
#[must_use]
pub fn carries_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || FAMILIES.iter().any(|family| name.starts_with(family))
}
