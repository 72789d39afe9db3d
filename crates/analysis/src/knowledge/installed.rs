//! Where programs are installed.

/// Directories of installed programs, as prefixes.
const INSTALLED: [&[u8]; 9] = [
    b"/bin/",
    b"/sbin/",
    b"/usr/",
    b"/opt/",
    b"/nix/store/",
    b"/snap/bin/",
    b"/home/linuxbrew/.linuxbrew/",
    b"/Applications/",
    b"/Library/",
];

/// Directories below the home directory where toolchains install programs.
const INSTALLED_AT_HOME: [&[u8]; 13] = [
    b".cargo/bin/",
    b".local/bin/",
    b".local/share/mise/installs/",
    b".local/share/uv/python/",
    b".local/share/uv/tools/",
    b".rustup/toolchains/",
    b".volta/bin/",
    b".pyenv/",
    b".rbenv/",
    b".nvm/",
    b".bun/bin/",
    b".deno/bin/",
    b"go/bin/",
];

/// Whether a path leads to where programs are installed, whatever links its directories are.
pub(crate) fn is_installed(path: &[u8], home: &[u8]) -> bool {
    let Some(path) = without_dots(path) else { return false };
    let at_home = || {
        let below = path.strip_prefix(home).and_then(|rest| rest.strip_prefix(b"/"));
        below.is_some_and(|below| INSTALLED_AT_HOME.iter().any(|d| below.starts_with(d)))
    };
    INSTALLED.iter().any(|d| path.starts_with(d)) || at_home()
}

/// An absolute path without `.`, `..` and empty components; `None` if it is relative, or if `..` follows a directory
/// that might be somebody's link.
fn without_dots(path: &[u8]) -> Option<Vec<u8>> {
    let rest = path.strip_prefix(b"/")?;
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in rest.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                const SYSTEM: [&[u8]; 9] =
                    [b"usr", b"bin", b"sbin", b"etc", b"opt", b"var", b"tmp", b"lib", b"local"];
                let fixed = match parts.as_slice() {
                    [] => true,
                    [top] => SYSTEM.contains(top),
                    [b"usr", below] => SYSTEM.contains(below),
                    _ => false,
                };
                if !fixed {
                    return None;
                }
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut clean = Vec::with_capacity(path.len());
    for part in parts {
        clean.push(b'/');
        clean.extend_from_slice(part);
    }
    Some(clean)
}
