//! What the value of a variable may do.

/// What the value of a variable does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// Nothing.
    Inert,
    /// Anything: code, or configuration that can hold code.
    Carrier,
    /// Directories, separated by colons, in which programs or modules are looked up.
    Search,
    /// A place of code: inert if it is empty, or what another variable held.
    Kept,
    /// A place for files that are no code: inert in the workspace and temporary directories, and what is home already.
    Place,
    /// A place for files that may hold code: inert unless it is temporary, guarded, or not known.
    Obeyed,
    /// Options of a program: inert if they name no place and nothing to be run.
    Options,
    /// A shell command that is run.
    Run,
    /// A shell command that is run with the name of a file behind it, which may hold any text.
    RunOnFile,
    /// A shell command that is run and gets text to show.
    RunOnText,
    /// Names of programs that are started: what they do is what they say, if none of them is a place.
    Program,
    /// Options, of which those that begin like one of these are inert.
    Flags(&'static [&'static str]),
    /// Inert if it is one of these words.
    Words(&'static [&'static str]),
    /// The name of a program that does what its name says, if it is no path and ends like one of these.
    Tool(&'static [&'static str]),
    /// Settings with colons between them: inert if each is a name with a number or a word, and none names a file.
    Settings,
    /// It says what the shell's history keeps.
    History,
    /// A prompt, which is expanded like a word.
    Prompt,
    /// Where connections go instead.
    Proxy,
}

pub(super) use Rule::{
    Carrier, Flags, History, Inert, Kept, Obeyed, Options, Place, Program, Prompt, Proxy, Run, RunOnFile,
    RunOnText, Search, Settings, Tool, Words,
};

pub(super) const COMPILER: Rule =
    Tool(&["cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "ar", "as", "nm", "ranlib", "strip"]);
pub(super) const COMPILE: Rule = Flags(&[
    "-O",
    "-g",
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-m",
    "-std=",
    "-W",
    "-w",
    "-pipe",
    "-pthread",
    "-fPIC",
    "-fpic",
    "-fno-",
    "-fsanitize=",
    "-fstack",
    "-fcommon",
    "-fopenmp",
    "-fprofile",
    "-ftest-coverage",
    "-coverage",
    "--coverage",
    "-fvisibility",
    "-funroll",
    "-ffast-math",
    "-fPIE",
    "-pie",
    "-static",
    "-shared",
    "-s",
    "-pedantic",
    "-isystem",
    "-fpermissive",
    "-fdiagnostics",
]);
