//! A person at the controlling terminal.
//!
//! The question goes to `/dev/tty` and the answer comes from there, never from standard input, which the agent may hold.
//! What was typed before the question was shown does not count. A process in the background has no terminal: it would be
//! stopped on reading, and an agent that starts one in a script would hang.

use crate::wanted::{SLICE, Wanted};
use crate::{Shown, lookalikes, one_line};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::termios::{QueueSelector, isatty, tcflush, tcgetpgrp, ttyname};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

/// Answers that are neither yes nor no, after which it is no.
const MAX_ATTEMPTS: usize = 5;

/// Longest line that is looked at, in bytes.
const MAX_LINE: usize = 64;

/// Rows of a command that are shown before the rest is only counted; `e` shows all, and has to come before a yes.
const MAX_ROWS: usize = 40;

/// Characters of a row: a line that is longer takes several.
const ROW: usize = 80;

/// What a person is asked.
#[derive(Debug, Clone, Default)]
pub struct Question<'a> {
    /// The command, or the arguments joined.
    pub command: &'a str,
    /// Where it starts.
    pub cwd: &'a str,
    /// The tier, 1 to 4.
    pub tier: u8,
    /// What the agent says it is for.
    pub reasoning: Option<&'a str>,
    /// Why it is asked, a line each.
    pub findings: &'a [String],
    /// Who will run it and what it may then do.
    pub permission: Permission<'a>,
    /// What it would do, in detail; shown when asked for.
    pub explanation: &'a str,
    /// Until when somebody waits for the answer. Whoever takes time to answer has to look at it.
    pub wanted: Wanted<'a>,
}

/// Who will run the command, and what it may do then.
#[derive(Debug, Clone, Default)]
pub enum Permission<'a> {
    /// Somebody else, with every right that they have.
    #[default]
    Others,
    /// shward, with these permissions, a line each.
    Sandbox(&'a [String]),
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Do it.
    Yes,
    /// Do not.
    No,
}

/// Why nobody answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// There is no terminal to ask at.
    #[error("there is no terminal to ask at")]
    NoTerminal,
    /// The terminal belongs to another job.
    #[error("this job is in the background, so its terminal is not there to ask at")]
    Background,
    /// We are inside a sandbox, where an agent could be the one who types.
    #[error("this process is confined, so whoever answers here may not be a person")]
    Confined,
    /// Time is over.
    #[error("nobody answered within {} s", .0.as_secs())]
    Late(Duration),
    /// Whoever asked does not wait for an answer any more.
    #[error("what it was asked for was ended meanwhile")]
    Withdrawn,
    /// The terminal broke.
    #[error("the terminal: {0}")]
    Broken(String),
}

/// Somebody who can say yes or no to a command that the policy asks about.
pub trait Approver: std::fmt::Debug + Send + Sync {
    /// Who that is, for the record.
    fn name(&self) -> String;

    /// Asks.
    ///
    /// # Errors
    /// Nobody answered. The command is not run.
    fn ask(&self, question: &Question<'_>) -> Result<Reply, Unanswered>;
}

/// The controlling terminal.
#[derive(Debug, Clone)]
pub struct Terminal {
    deadline: Duration,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(120) }
    }
}

/// Whether this process is confined by a system-call filter and cannot gain rights: inside a run of shward, or of another
/// agent's sandbox (proc_pid_status(5)). What cannot be read counts as confined.
#[must_use]
pub fn is_confined() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    field("NoNewPrivs:") != Some("0") && field("Seccomp:") != Some("0")
}

impl Terminal {
    /// With another deadline, after which the answer is no.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Shows a text and asks a question that is answered with yes or no. As soon as `stopped` says so the answer is no, whatever is
    /// typed: a signal that its handler only remembers would otherwise be less than a key.
    ///
    /// # Errors
    /// Nobody answered; that is not a yes.
    pub fn confirm(
        &self,
        shown: &str,
        question: &str,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Reply, Unanswered> {
        let mut tty = Self::open()?;
        let end = Instant::now() + self.deadline;
        say(&mut tty, Shown::new(shown).text())?;
        // What was typed before the question could be read is no answer to it.
        tcflush(&tty, QueueSelector::IFlush).map_err(|e| Unanswered::Broken(e.to_string()))?;
        for _ in 0..MAX_ATTEMPTS {
            say(&mut tty, &format!("{question} [y]es, [n]o: "))?;
            match line(&mut tty, end, self.deadline, stopped)?.as_str() {
                _ if stopped() => break,
                "y" | "Y" | "yes" => return Ok(Reply::Yes),
                "n" | "N" | "no" => return Ok(Reply::No),
                _ => say(&mut tty, "Please answer y or n.\n")?,
            }
        }
        Ok(Reply::No)
    }

    /// Shows a text that ends in a question, and returns the line that is typed then.
    ///
    /// # Errors
    /// Nobody answered.
    pub fn typed_after(&self, shown: &str) -> Result<String, Unanswered> {
        let mut tty = Self::open()?;
        let end = Instant::now() + self.deadline;
        say(&mut tty, Shown::new(shown).text())?;
        // What was typed before the question could be read is no answer to it.
        tcflush(&tty, QueueSelector::IFlush).map_err(|e| Unanswered::Broken(e.to_string()))?;
        line(&mut tty, end, self.deadline, &|| false)
    }

    /// The terminal, if a person can be asked at it.
    ///
    /// # Errors
    /// There is none, or it is not ours to use.
    pub fn open() -> Result<File, Unanswered> {
        if is_confined() {
            return Err(Unanswered::Confined);
        }
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
        let tty = rustix::fs::openat(CWD, "/dev/tty", flags, Mode::empty());
        let tty = File::from(tty.map_err(|_| Unanswered::NoTerminal)?);
        let foreground = tcgetpgrp(&tty).map_err(|_| Unanswered::NoTerminal)?;
        if foreground != rustix::process::getpgrp() {
            return Err(Unanswered::Background);
        }
        Ok(tty)
    }
}

impl Approver for Terminal {
    fn name(&self) -> String {
        let user = rustix::process::getuid().as_raw();
        let streams = [
            io::stderr().as_fd().try_clone_to_owned(),
            io::stdin().as_fd().try_clone_to_owned(),
            io::stdout().as_fd().try_clone_to_owned(),
        ];
        let terminal = streams.into_iter().flatten().find(|stream| isatty(stream));
        let name = terminal.and_then(|stream| ttyname(stream, Vec::new()).ok());
        // What is said here is recorded, so no terminal is claimed that there is not.
        match name {
            Some(name) => format!("user {user} at {}", name.to_string_lossy()),
            None if rustix::fs::openat(
                CWD,
                "/dev/tty",
                OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY,
                Mode::empty(),
            )
            .is_ok() =>
            {
                format!("user {user} at a terminal")
            }
            None => format!("user {user} without a terminal"),
        }
    }

    fn ask(&self, question: &Question<'_>) -> Result<Reply, Unanswered> {
        let mut tty = Self::open()?;
        let end = Instant::now() + self.deadline;
        let (shown, mut seen) = text(question, MAX_ROWS);
        say(&mut tty, &shown)?;
        // What was typed before the question could be read is no answer to it.
        tcflush(&tty, QueueSelector::IFlush).map_err(|e| Unanswered::Broken(e.to_string()))?;
        for _ in 0..MAX_ATTEMPTS {
            say(&mut tty, "Allow it once? [y]es, [n]o, [e]xplain: ")?;
            let typed = line(&mut tty, end, self.deadline, &|| question.wanted.is_withdrawn())?;
            match typed.as_str() {
                _ if question.wanted.is_withdrawn() => return Err(Unanswered::Withdrawn),
                "y" | "Y" | "yes" if !seen => say(&mut tty, "Look at all of it first: e\n")?,
                "y" | "Y" | "yes" => return Ok(Reply::Yes),
                "n" | "N" | "no" => return Ok(Reply::No),
                "e" | "E" | "explain" => {
                    seen = true;
                    let explanation = Shown::new(question.explanation);
                    say(&mut tty, &format!("\n{}\n{}\n", text(question, usize::MAX).0, explanation.text()))?;
                }
                "" => {}
                _ => say(&mut tty, "Please answer y, n or e.\n")?,
            }
        }
        Ok(Reply::No)
    }
}

fn say(tty: &mut File, text: &str) -> Result<(), Unanswered> {
    tty.write_all(text.as_bytes()).map_err(|e| Unanswered::Broken(e.to_string()))
}

/// One typed line. The end of input is no, and so is it to be stopped.
fn line(
    tty: &mut File,
    end: Instant,
    deadline: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<String, Unanswered> {
    let broken = |e: io::Error| Unanswered::Broken(e.to_string());
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        if stopped() {
            let _ = say(tty, "\n");
            return Ok("n".to_owned());
        }
        let left = end.saturating_duration_since(Instant::now());
        let slice = Timespec::try_from(left.min(SLICE)).map_err(|_| Unanswered::Late(deadline))?;
        match poll(&mut [PollFd::new(tty, PollFlags::IN)], Some(&slice)) {
            Ok(0) if left > SLICE => continue,
            Ok(0) => {
                let _ = say(tty, "\nNobody answered: not run.\n");
                return Err(Unanswered::Late(deadline));
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(e) => return Err(broken(e.into())),
        }
        let mut bytes = [0; MAX_LINE];
        let Some(count) = read_now(tty, &mut bytes).map_err(broken)? else { continue };
        let piece = bytes.get(..count).unwrap_or_default();
        if piece.is_empty() {
            return Ok("n".to_owned());
        }
        line.extend_from_slice(piece);
        if line.ends_with(b"\n") {
            return Ok(if too_long {
                String::new()
            } else {
                String::from_utf8_lossy(&line).trim().to_owned()
            });
        }
        if line.len() >= MAX_LINE {
            // What is as long is no answer, and what is left of it none to the next question.
            (line, too_long) = (Vec::new(), true);
        }
    }
}

/// What has been typed, without waiting: a signal key takes away what was there a moment ago (termios(3), `NOFLSH`), and a read
/// would wait for ever for somebody who has left. `None` if there is nothing.
fn read_now(tty: &mut File, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    let flags = fcntl_getfl(&*tty)?;
    fcntl_setfl(&*tty, flags | OFlags::NONBLOCK)?;
    let count = tty.read(bytes);
    fcntl_setfl(&*tty, flags)?;
    match count {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        count => count.map(Some),
    }
}

/// The question as it is shown, with at most so many rows of the command, and whether those are all.
fn text(question: &Question<'_>, most: usize) -> (String, bool) {
    let mut out = String::from("\nshward: an agent wants to run this command:\n\n");
    let command = Shown::new(question.command);
    let mut lines = command.text().lines();
    let (mut left, mut cut) = (most, false);
    for line in lines.by_ref() {
        let line = line.replace('\t', "    ");
        let rows = line.chars().count().div_ceil(ROW).max(1);
        let shown: String = line.chars().take(left.saturating_mul(ROW)).collect();
        let _ = writeln!(out, "    {shown}");
        cut = rows > left;
        left = left.saturating_sub(rows);
        if left == 0 {
            break;
        }
    }
    let more = lines.count();
    let rest = match (cut, more) {
        (false, 0) => String::new(),
        (false, _) => format!("    … {more} more lines (e shows them)\n"),
        (true, 0) => "    … the rest of this line (e shows it)\n".to_owned(),
        (true, _) => format!("    … the rest of this line and {more} more (e shows them)\n"),
    };
    out.push_str(&rest);
    if command.text() != question.command {
        out.push_str("\n  careful: it holds invisible characters, which are shown as \\u{…} above\n");
    }
    let strange = lookalikes(question.command);
    if !strange.is_empty() {
        let list: Vec<String> =
            strange.iter().take(12).map(|c| format!("{c} (U+{:04X})", u32::from(*c))).collect();
        let _ = writeln!(
            out,
            "\n  careful: it holds letters that look like ASCII and are not: {}",
            list.join(", ")
        );
    }
    let _ = writeln!(out, "\n  in       {}", one_line(question.cwd));
    if let Some(reasoning) = question.reasoning {
        let _ = writeln!(out, "  to       {} (says the agent)", one_line(reasoning));
    }
    let _ = writeln!(out, "  tier     {}", question.tier);
    for finding in question.findings {
        let _ = writeln!(out, "  because  {}", one_line(finding));
    }
    match question.permission {
        Permission::Others => {
            out.push_str(
                "  run by   the agent itself, with every right it has; shward does not confine it\n",
            );
        }
        Permission::Sandbox(lines) => {
            out.push_str("  run by   shward, confined:\n");
            for line in lines {
                let _ = writeln!(out, "           {}", one_line(line));
            }
        }
    }
    out.push('\n');
    (out, rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was there when the terminal was looked at, a signal key may have taken away.
    #[test]
    fn a_read_does_not_wait_for_what_is_gone() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (mut reader, mut writer) = (File::from(reader), File::from(writer));
        let mut bytes = [0; MAX_LINE];
        assert!(read_now(&mut reader, &mut bytes).unwrap().is_none());
        writer.write_all(b"y\n").unwrap();
        assert_eq!(read_now(&mut reader, &mut bytes).unwrap(), Some(2));
        assert!(!fcntl_getfl(&reader).unwrap().contains(OFlags::NONBLOCK));
        drop(writer);
        assert_eq!(read_now(&mut reader, &mut bytes).unwrap(), Some(0));
    }

    /// The end of a long line is no answer by itself.
    #[test]
    fn a_line_is_read_as_a_whole() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (mut reader, mut writer) = (File::from(reader), File::from(writer));
        let later = Duration::from_secs(60);
        let mut typed = |text: &str| {
            writer.write_all(text.as_bytes()).unwrap();
            line(&mut reader, Instant::now() + later, later, &|| false).unwrap()
        };
        assert_eq!(typed("y\n"), "y");
        for length in [MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, 3 * MAX_LINE] {
            let answer = typed(&format!("{}y\n", "a".repeat(length)));
            assert!(answer != "y" && answer.len() <= MAX_LINE, "{length}: {answer}");
            assert_eq!(typed("n\n"), "n", "{length}");
        }
    }

    #[test]
    fn what_is_shown_cannot_steer_the_terminal() {
        let question = Question {
            command: "rm -rf x\u{1b}[2K\u{1b}[1A; ls \u{202e}txt.exe\u{200b} \u{430}",
            cwd: "/w\n  tier     1",
            tier: 3,
            reasoning: Some("tidy\u{1b}]0;title\u{7}up"),
            findings: &["Deletes `x\ry`".to_owned()],
            permission: Permission::Sandbox(&["no network".to_owned()]),
            ..Question::default()
        };
        let (shown, all) = text(&question, 40);
        assert!(all);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        assert!(!shown.contains(['\u{202e}', '\u{200b}']));
        for part in [
            "\\u{1b}[2K",
            "\\u{202e}txt.exe\\u{200b}",
            "invisible",
            "(U+0430)",
            "/w⏎",
            "no network",
            "\\u{d}y",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(shown.lines().filter(|line| line.starts_with("  tier ")).count(), 1);
    }

    #[test]
    fn a_long_command_is_counted_and_shown_when_asked_for() {
        let command = "x\n".repeat(100);
        let question = Question { command: &command, ..Question::default() };
        assert!(text(&question, 40).0.contains("… 60 more lines"));
        assert_eq!(text(&question, usize::MAX).0.matches("    x\n").count(), 100);
        // command, whether all is shown, what is told of the rest
        let blanks = format!("ls{}; rm -rf x", " ".repeat(40 * ROW));
        let long = "x".repeat(40 * ROW);
        for (command, all, told) in [
            ("x\n".repeat(40), true, ""),
            ("x\n".repeat(41), false, "… 1 more lines"),
            (long.clone(), true, ""),
            (format!("{long}y"), false, "… the rest of this line (e shows it)"),
            (format!("{long}\ny"), false, "… 1 more lines"),
            (format!("a\n{long}\ny"), false, "… the rest of this line and 1 more (e"),
            (blanks, false, "… the rest of this line"),
        ] {
            let question = Question { command: &command, ..Question::default() };
            let (shown, seen) = text(&question, 40);
            assert!(seen == all && shown.contains(told), "{told}: {shown}");
            let (whole, seen) = text(&question, usize::MAX);
            assert!(seen && command.lines().all(|line| whole.contains(line)), "{told}");
        }
    }
}
