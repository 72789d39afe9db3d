//! From the command line to a [`Request`].

use crate::args::Args;
use crate::flags::{ARGV, CALL_ID, CWD, FILE, FROZEN, HOME, REASONING, SESSION, WORKSPACE};
use crate::terminal::Fail;
use shward::{Account, Action, BadRequest, MAX_COMMAND, Request};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The directories that the options name, made absolute.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    pub(crate) cwd: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) home: PathBuf,
}

impl Directories {
    /// Reads `--cwd`, `--workspace` and `--home`.
    pub(crate) fn from(args: &Args) -> Result<Self, Fail> {
        let here = || {
            std::env::current_dir()
                .map_err(|e| Fail::io(format!("the current directory: {e}; give --cwd DIR")))
        };
        let cwd = match args.get(&CWD) {
            Some(dir) => absolute(dir, here)?,
            None => here()?,
        };
        let workspace = match args.get(&WORKSPACE) {
            Some(dir) => absolute(dir, here)?,
            None => cwd.clone(),
        };
        // It need not exist, but what is none protects nothing in the one that was meant.
        if let Some(dir) = args.get(&HOME).filter(|_| !args.has(&FROZEN))
            && std::fs::metadata(dir).is_ok_and(|meta| !meta.is_dir())
        {
            return Err(Fail::input(format!("--home: {dir:?} is not a directory")));
        }
        let named =
            args.get(&HOME).cloned().or_else(|| std::env::var_os("HOME")).filter(|dir| !dir.is_empty());
        let home = match named.or_else(|| Account::of_process().home().map(Into::into)) {
            Some(dir) => absolute(&dir, here)?,
            // Without a home nothing would be protected as one.
            _ => return Err(Fail::usage("the home directory is not known; give --home DIR")),
        };
        Ok(Self { cwd, workspace, home })
    }
}

/// Lexical only: what the links say is the world's business.
fn absolute(dir: &OsStr, here: impl Fn() -> Result<PathBuf, Fail>) -> Result<PathBuf, Fail> {
    let dir = Path::new(dir);
    let joined = if dir.is_absolute() { dir.to_owned() } else { here()?.join(dir) };
    let mut clean = PathBuf::from("/");
    for component in joined.components() {
        match component {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::Normal(name) => clean.push(name),
            _ => {}
        }
    }
    Ok(clean)
}

/// The request of `check`, `explain` and `run`.
pub(crate) fn request(args: &Args) -> Result<Request, Fail> {
    if let Some(word) = args.operands.first() {
        return Err(Fail::usage(format!("unexpected {word:?}; the command comes after --")));
    }
    let action = match (&args.command, args.get(&FILE), args.has(&ARGV)) {
        (Some(_), Some(_), _) => {
            return Err(Fail::usage("give the command after -- or with --file, not both"));
        }
        (None, Some(_), true) => {
            return Err(Fail::usage("--argv takes the program and its arguments after --, not from a file"));
        }
        (None, Some(file), false) => Action::Command(read_command(file)?),
        (Some(words), None, true) => Action::Argv(words.iter().map(text).collect::<Result<_, _>>()?),
        (Some(words), None, false) => Action::Command(text(&words.join(OsStr::new(" ")))?),
        (None, None, _) => return Err(Fail::usage("no command; give one after --, as in: -- 'ls -la'")),
    };
    let Directories { cwd, workspace, home } = Directories::from(args)?;
    let id = |flag| args.text(flag).map(|text| text.map(str::to_owned)).map_err(Fail::usage);
    let request = Request {
        action,
        cwd,
        workspace,
        home,
        session: id(&SESSION)?,
        call_id: id(&CALL_ID)?,
        reasoning: id(&REASONING)?,
    };
    request.validate().map_err(|e| {
        // Only here is it known how a command is given.
        let hint = if e == BadRequest::Empty && args.get(&FILE).is_none() {
            " after --, as in: -- 'ls -la'"
        } else {
            ""
        };
        Fail::input(format!("{e}{hint}"))
    })?;
    Ok(request)
}

fn text(word: &OsString) -> Result<String, Fail> {
    use std::os::unix::ffi::OsStrExt as _;
    match str::from_utf8(word.as_bytes()) {
        Ok(text) => Ok(text.to_owned()),
        Err(e) => Err(Fail::input(BadRequest::NotUtf8(e.valid_up_to()).to_string())),
    }
}

fn read_command(file: &OsStr) -> Result<String, Fail> {
    let failed = |e: io::Error| {
        Fail::io(match e.kind() {
            io::ErrorKind::NotFound => {
                format!("{file:?} cannot be read: there is no such file; name another")
            }
            _ => format!("{file:?} cannot be read: {e}; name another file"),
        })
    };
    let mut bytes = Vec::new();
    let reader: Box<dyn Read> =
        if file == "-" { Box::new(io::stdin().lock()) } else { Box::new(File::open(file).map_err(failed)?) };
    reader.take(MAX_COMMAND as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_COMMAND {
        return Err(Fail::input(BadRequest::TooLong(bytes.len()).to_string()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(e) => Err(Fail::input(BadRequest::NotUtf8(e.utf8_error().valid_up_to()).to_string())),
    }
}
