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

#[cfg(test)]
mod tests {
    use super::*;

    /// By what they do, so that none is lost: connect elsewhere, start programs, load code, and change how a shell reads.
    #[test]
    fn what_carries_code_is_known() {
        let carrying = "http_proxy HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY HOSTALIASES LOCALDOMAIN RESOLV_HOST_CONF \
             BROWSER EDITOR VISUAL PAGER MANPAGER SHELL SSH_ASKPASS SUDO_ASKPASS GIT_SSH_COMMAND GH_PAGER LESSOPEN LESSCLOSE \
             LD_PRELOAD DYLD_INSERT_LIBRARIES GCONV_PATH NLSPATH OPENSSL_CONF CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS \
             LUA_PATH LUA_CPATH NODE_OPTIONS NODE_PATH PERL5OPT PYTHONSTARTUP PYTEST_PLUGINS RUBYLIB RUBYOPT \
             ENV BASH_ENV PROMPT_COMMAND PS1 PS2 PS4 IFS CDPATH GLOBIGNORE SHELLOPTS INPUTRC ZDOTDIR";
        for name in carrying.split_whitespace() {
            assert!(carries_code(name), "{name}");
        }
        for name in ["", "PATH", "HOME", "LANG", "TERM", "MY_LD_PRELOAD", "EDITORS"] {
            assert!(!carries_code(name), "{name}");
        }
    }
}
