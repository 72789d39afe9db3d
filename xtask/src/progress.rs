//! A progress bar on standard error, if somebody is there to see it.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

const WIDTH: usize = 30;
const PAUSE: Duration = Duration::from_millis(100);

/// Shows how far a count has come. Gone when dropped.
pub(crate) struct Progress {
    name: &'static str,
    total: usize,
    start: Instant,
    next: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(name: &'static str, total: usize) -> Progress {
        let start = Instant::now();
        Progress { name, total, start, next: io::stderr().is_terminal().then_some(start) }
    }

    pub(crate) fn show(&mut self, done: usize) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + PAUSE);
            let elapsed = now.duration_since(self.start).as_secs_f64();
            eprint!("\r{}", line(self.name, done, self.total, elapsed));
            let _ = io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.next.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

fn line(name: &str, done: usize, total: usize, elapsed: f64) -> String {
    let filled = (done * WIDTH).checked_div(total).unwrap_or(WIDTH).min(WIDTH);
    let rate = if elapsed > 0.0 { done as f64 / elapsed } else { 0.0 };
    format!("{name} [{}{}] {done}/{total}  {rate:.0}/s\x1b[K", "#".repeat(filled), " ".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up() {
        let bar = |done, total| line("x", done, total, 2.0).matches('#').count();
        assert_eq!([bar(0, 10), bar(5, 10), bar(10, 10), bar(11, 10), bar(0, 0)], [0, 15, 30, 30, 30]);
        assert!(line("x", 5, 10, 2.0).ends_with("5/10  2/s\x1b[K"));
    }
}
