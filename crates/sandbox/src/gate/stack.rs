//! Arguments and environment of a program that has not run yet, from where the kernel has just put them: on its stack.
//!
//! `/proc/PID/cmdline` and `environ` tell the same by twelve system calls more, and the kernel makes an entry for each that it has
//! to take away again when the process ends. They are read where this cannot tell: programs of 32 bits, and more than fits.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::trace;

/// How much is looked at. More is rare, and read from `/proc`.
const MOST: usize = 32 * 1024;

/// Arguments, and environment.
type Strings = (Vec<OsString>, Vec<OsString>);

/// Memory that is used again for each program.
#[derive(Debug, Default)]
pub(super) struct Stack(Vec<u8>);

impl Stack {
    /// What the kernel has put on the stack of a thread that is stopped before its first instruction; `None` where that is to be
    /// asked of `/proc`.
    pub(super) fn strings(&mut self, thread: libc::pid_t) -> Option<Strings> {
        self.0.resize(MOST, 0);
        let start = trace::stack_pointer(thread)?;
        let size = trace::memory(thread, start, &mut self.0)?;
        strings(self.0.get(..size)?, start)
    }
}

/// A stack as a program finds it: the number of arguments, pointers to them, to the environment and to nothing (0) after each, and
/// above them the strings, one after the other. `None` if it is anything else, or goes beyond the end.
fn strings(stack: &[u8], start: usize) -> Option<Strings> {
    let mut words =
        stack.as_chunks::<{ size_of::<usize>() }>().0.iter().map(|word| usize::from_ne_bytes(*word));
    let mut next = None;
    let mut list = |count: Option<usize>, pointers: &mut dyn Iterator<Item = usize>| {
        let mut list = Vec::new();
        loop {
            let pointer = pointers.next()?;
            if pointer == 0 {
                break;
            }
            let text = stack.get(pointer.checked_sub(start)?..)?;
            let text = text.get(..text.iter().position(|byte| *byte == 0)?)?;
            if next.is_some_and(|next| next != pointer) {
                return None;
            }
            next = Some(pointer + text.len() + 1);
            list.push(OsString::from_vec(text.to_vec()));
        }
        count.is_none_or(|count| count == list.len()).then_some(list)
    };
    let count = words.next()?;
    let arguments = list(Some(count), &mut words)?;
    Some((arguments, list(None, &mut words)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: usize = 0x7ffc_0000_0010;

    /// Words, of which those below 1000 and not 0 are places among the strings (but the first), then the strings.
    fn stack(words: &[usize], strings: &[u8]) -> Vec<u8> {
        let above = START + size_of_val(words);
        let word = |(at, word): (usize, &usize)| match *word {
            0 => 0,
            count if at == 0 => count,
            place => above + place - 1,
        };
        words
            .iter()
            .enumerate()
            .map(word)
            .flat_map(usize::to_ne_bytes)
            .chain(strings.iter().copied())
            .collect()
    }

    #[test]
    fn a_stack_is_read_as_the_program_would_read_it() {
        let read = |words: &[usize], text: &[u8]| strings(&stack(words, text), START);
        let of = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        let text = b"ls\0\0-l\0A=b\0C\0";
        assert_eq!(
            read(&[3, 1, 4, 5, 0, 8, 12, 0, 33, 0], text),
            Some((of(&["ls", "", "-l"]), of(&["A=b", "C"])))
        );
        assert_eq!(read(&[0, 0, 0], b""), Some((of(&[]), of(&[]))));
        assert_eq!(read(&[1, 1, 0, 0], b"ls\0"), Some((of(&["ls"]), of(&[]))));
        for (words, text) in [
            (&[2usize, 1, 0, 0][..], &b"ls\0"[..]), // fewer than it says
            (&[0, 1, 0, 0], b"ls\0"),               // more
            (&[1, 1, 0, 0], b"ls"),                 // no end
            (&[1, 9, 0, 0], b"ls\0"),               // outside
            (&[2, 4, 1, 0, 0], b"ls\0-l\0"),        // not one after the other
            (&[1, 1, 0, 5, 0], b"ls\0x\0"),         // a gap
            (&[1, 1, 0], b"ls\0"),                  // no environment
            (&[1], b""),
            (&[], b""),
        ] {
            assert_eq!(read(words, text), None, "{words:?}");
        }
        assert_eq!(strings(&stack(&[1, 1, 0, 0], b"ls\0"), START + 4096), None, "below the stack");
    }
}
