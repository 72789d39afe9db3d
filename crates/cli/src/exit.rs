//! The exit codes, one table: what scripts and hosts may rely on.

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Allowed, or done.
    Allow,
    /// Something was found that the verb looks for.
    Found,
    /// Denied.
    Deny,
    /// Asked.
    Ask,
    /// The command line is wrong.
    Usage,
    /// The input is wrong.
    BadInput,
    /// A file could not be read or written.
    Io,
    /// The policy cannot be used.
    BadPolicy,
    /// `run`: it ran into its time limit.
    TimedOut,
    /// `run`: shward failed before anything ran.
    NotRun,
    /// `run`: denied, or asked and not answered, as about the changes of a preview.
    Refused,
    /// `run`: the command's own code.
    Command(u8),
    /// `run`: the command died of a signal.
    Signal(i32),
}

/// What each code means, for `--help`.
pub(crate) const TABLE: &[(&str, &str)] = &[
    ("0", "allowed (check, explain), done"),
    (
        "1",
        "something was found (audit: the log does not verify, a line is no record; policy: a remark, a difference, a case that fails; doctor: something is refused; undo: something was left as it is, or there were fewer runs, or one that was not kept; install --check: the hook is not there)",
    ),
    ("2", "denied (check, explain, hook)"),
    ("3", "asked (check, explain)"),
    ("64", "wrong usage"),
    ("65", "bad input"),
    ("74", "a file could not be read or written"),
    ("78", "the policy cannot be used; nothing is decided without it"),
    ("124", "run: timed out"),
    ("125", "run: shward failed before running anything"),
    ("126", "run: denied, or asked and not answered, as about the changes of --preview"),
    (
        "128+n",
        "run: the command, or shward with it, died of signal n; else run passes the command's code through",
    ),
];

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Found => 1,
            Self::Deny => 2,
            Self::Ask => 3,
            Self::Usage => 64,
            Self::BadInput => 65,
            Self::Io => 74,
            Self::BadPolicy => 78,
            Self::TimedOut => 124,
            Self::NotRun => 125,
            Self::Refused => 126,
            Self::Command(code) => code,
            Self::Signal(n) => u8::try_from(128 + n).unwrap_or(255),
        }
    }
}
