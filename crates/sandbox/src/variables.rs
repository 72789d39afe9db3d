//! Looking through the environment without copying it.

use std::ffi::{CStr, OsString, c_char};
use std::os::unix::ffi::OsStringExt as _;
use std::ptr;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The variables of this process whose name is wanted, with their values. [`std::env::vars_os`] copies every variable,
/// which takes a short-lived process longer than many a verdict.
///
/// ```
/// let found = shward_sandbox::variables(|name| name == b"PATH");
/// assert_eq!(found.first().map(|(_, value)| value), std::env::var_os("PATH").as_ref());
/// ```
pub fn variables(wanted: impl Fn(&[u8]) -> bool) -> Vec<(OsString, OsString)> {
    let mut found = Vec::new();
    // SAFETY: a list of C strings that ends with a null. Who changes it has promised that nobody reads it meanwhile
    // (`std::env::set_var`); this program never does.
    unsafe {
        let mut next = ptr::addr_of!(environ).read();
        while !next.is_null() && !(*next).is_null() {
            let variable = CStr::from_ptr(*next).to_bytes();
            // As the standard library has it, a name may begin with `=`.
            let end = variable.iter().skip(1).position(|&byte| byte == b'=').map(|end| end + 1);
            if let Some((name, value)) = end.and_then(|end| variable.split_at_checked(end))
                && wanted(name)
            {
                let value = value.strip_prefix(b"=").unwrap_or_default();
                found.push((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())));
            }
            next = next.add(1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn all_that_the_standard_library_finds_is_found() {
        assert_eq!(variables(|_| true), std::env::vars_os().collect::<Vec<_>>());
        assert!(variables(|_| false).is_empty());
    }
}
