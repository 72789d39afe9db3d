//! A script as a person reads it in a plan.

use std::fmt;
use std::os::unix::ffi::OsStrExt;

use super::{Action, Command, List, Mode, Program, Redirect, Script, Target};

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.fmt(f)
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipeline { commands, negated } => {
                if *negated {
                    write!(f, "! ")?;
                }
                for (at, command) in commands.iter().enumerate() {
                    let between = if at == 0 { "" } else { " | " };
                    write!(f, "{between}{command}")?;
                }
                Ok(())
            }
            Self::And(first, second) => write!(f, "{first} && {second}"),
            Self::Or(first, second) => write!(f, "{first} || {second}"),
            Self::Sequence(lists) => {
                for (at, list) in lists.iter().enumerate() {
                    let between = if at == 0 { "" } else { "; " };
                    write!(f, "{between}{list}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Program(program) => program.fmt(f),
            Action::Print { name, bytes } => write!(f, "{name} \"{}\"", bytes.escape_ascii()),
            Action::PrintDirectory => write!(f, "pwd"),
            Action::Status(0) => write!(f, "true"),
            Action::Status(status) => write!(f, "status {status}"),
            Action::Enter { directory, .. } => {
                write!(f, "cd {}", directory.as_os_str().as_bytes().escape_ascii())
            }
            Action::Group(list) => write!(f, "{{ {list}; }}"),
            Action::Subshell(list) => write!(f, "({list})"),
        }?;
        self.redirects.iter().try_for_each(|redirect| write!(f, " {redirect}"))
    }
}

/// The path, then the argument vector.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{}={} ", name.as_bytes().escape_ascii(), value.as_bytes().escape_ascii())?;
        }
        write!(f, "{}", self.path.as_os_str().as_bytes().escape_ascii())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.as_bytes().escape_ascii()))
    }
}

impl fmt::Display for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptor = self.descriptor;
        match &self.target {
            Target::File { path, mode } => {
                let operator = match mode {
                    Mode::Read => "<",
                    Mode::Write => ">",
                    Mode::Append => ">>",
                    Mode::ReadWrite => "<>",
                };
                write!(f, "{descriptor}{operator}{}", path.as_os_str().as_bytes().escape_ascii())
            }
            Target::Copy(from) => write!(f, "{descriptor}>&{from}"),
            Target::Closed => write!(f, "{descriptor}>&-"),
            Target::Text(text) => write!(f, "{descriptor}<<<\"{}\"", text.escape_ascii()),
        }
    }
}
