//! Builtin functions, and the names that every module has (library reference of Python 3.13, chapters 2 to 5; Python 2's
//! too where they still mean something).

use super::acts::Act::{self, Code, Fold, Is, Open};
use super::acts::Fold as F;
use super::value::Object as O;

const UNKNOWN: Act = Code("python");

/// What a builtin does.
pub(super) fn builtin(name: &[u8]) -> Option<Act> {
    let lengths = LENGTHS.get(usize::from(*name.first()?)).copied().unwrap_or_default();
    if lengths >> name.len().min(63) & 1 == 0 {
        return None;
    }
    let at = BUILTINS.binary_search_by(|(n, _)| n.as_bytes().cmp(name)).ok()?;
    BUILTINS.get(at).map(|(_, act)| *act)
}

/// How long the names are that begin with a byte, as bits.
static LENGTHS: [u64; 256] = {
    let mut lengths = [0; 256];
    let mut rest: &mut [u64] = &mut lengths;
    let mut byte = 0;
    while let Some((each, others)) = rest.split_first_mut() {
        let mut left = BUILTINS;
        while let Some(((name, _), more)) = left.split_first() {
            if let Some(first) = name.as_bytes().first()
                && *first as usize == byte
            {
                *each |= 1 << name.len();
            }
            left = more;
        }
        byte += 1;
        rest = others;
    }
    lengths
};

/// Names, sorted.
pub(super) static BUILTINS: &[(&str, Act)] = &[
    ("ArithmeticError", Act::Keep),
    ("AssertionError", Act::Keep),
    ("AttributeError", Act::Keep),
    ("BaseException", Act::Keep),
    ("BaseExceptionGroup", Act::Keep),
    ("BlockingIOError", Act::Keep),
    ("BrokenPipeError", Act::Keep),
    ("BufferError", Act::Keep),
    ("BytesWarning", Act::Keep),
    ("ChildProcessError", Act::Keep),
    ("ConnectionAbortedError", Act::Keep),
    ("ConnectionError", Act::Keep),
    ("ConnectionRefusedError", Act::Keep),
    ("ConnectionResetError", Act::Keep),
    ("DeprecationWarning", Act::Keep),
    ("EOFError", Act::Keep),
    ("Ellipsis", Act::Opaque),
    ("EncodingWarning", Act::Keep),
    ("EnvironmentError", Act::Keep),
    ("Exception", Act::Keep),
    ("ExceptionGroup", Act::Keep),
    ("FileExistsError", Act::Keep),
    ("FileNotFoundError", Act::Keep),
    ("FloatingPointError", Act::Keep),
    ("FutureWarning", Act::Keep),
    ("GeneratorExit", Act::Keep),
    ("IOError", Act::Keep),
    ("ImportError", Act::Keep),
    ("ImportWarning", Act::Keep),
    ("IndentationError", Act::Keep),
    ("IndexError", Act::Keep),
    ("InterruptedError", Act::Keep),
    ("IsADirectoryError", Act::Keep),
    ("KeyError", Act::Keep),
    ("KeyboardInterrupt", Act::Keep),
    ("LookupError", Act::Keep),
    ("MemoryError", Act::Keep),
    ("ModuleNotFoundError", Act::Keep),
    ("NameError", Act::Keep),
    ("NotADirectoryError", Act::Keep),
    ("NotImplemented", Act::Opaque),
    ("NotImplementedError", Act::Keep),
    ("OSError", Act::Keep),
    ("OverflowError", Act::Keep),
    ("PendingDeprecationWarning", Act::Keep),
    ("PermissionError", Act::Keep),
    ("ProcessLookupError", Act::Keep),
    ("RecursionError", Act::Keep),
    ("ReferenceError", Act::Keep),
    ("ResourceWarning", Act::Keep),
    ("RuntimeError", Act::Keep),
    ("RuntimeWarning", Act::Keep),
    ("StopAsyncIteration", Act::Keep),
    ("StopIteration", Act::Keep),
    ("SyntaxError", Act::Keep),
    ("SyntaxWarning", Act::Keep),
    ("SystemError", Act::Keep),
    ("SystemExit", Act::Keep),
    ("TabError", Act::Keep),
    ("TimeoutError", Act::Keep),
    ("TypeError", Act::Keep),
    ("UnboundLocalError", Act::Keep),
    ("UnicodeDecodeError", Act::Keep),
    ("UnicodeEncodeError", Act::Keep),
    ("UnicodeError", Act::Keep),
    ("UnicodeTranslateError", Act::Keep),
    ("UnicodeWarning", Act::Keep),
    ("UserWarning", Act::Keep),
    ("ValueError", Act::Keep),
    ("Warning", Act::Keep),
    ("ZeroDivisionError", Act::Keep),
    ("__build_class__", UNKNOWN),
    ("__builtins__", UNKNOWN),
    ("__debug__", Act::Inert),
    ("__doc__", Act::Inert),
    ("__file__", Act::Place("./__main__.py")),
    ("__import__", Act::Import),
    ("__loader__", UNKNOWN),
    ("__name__", Act::Inert),
    ("__package__", Act::Inert),
    ("__spec__", UNKNOWN),
    ("abs", Act::Measure),
    ("aiter", Act::Items),
    ("all", Act::Inert),
    ("anext", Act::Element),
    ("any", Act::Inert),
    ("apply", UNKNOWN),
    ("ascii", Act::Opaque),
    ("basestring", Act::Inert),
    ("bin", Act::Inert),
    ("bool", Act::Opaque),
    ("breakpoint", Act::Terminal),
    ("bytearray", Act::Inert),
    ("bytes", Fold(F::Text)),
    ("callable", Act::Opaque),
    ("chr", Fold(F::Character)),
    ("classmethod", Act::Items),
    ("cmp", Act::Inert),
    ("compile", Act::Compile),
    ("complex", Act::Inert),
    ("copyright", Act::Inert),
    ("credits", Act::Inert),
    ("delattr", Act::SetAttribute),
    ("dict", Act::Dict),
    ("dir", Act::Opaque),
    ("divmod", Act::Inert),
    ("enumerate", Act::Enumerate),
    ("eval", Act::Eval),
    ("exec", Act::Eval),
    ("execfile", Act::RunModule),
    ("exit", Act::Inert),
    ("file", Open),
    ("filter", Act::Apply),
    ("float", Act::Count),
    ("format", Act::Inert),
    ("frozenset", Act::Items),
    ("getattr", Act::Attribute),
    ("globals", UNKNOWN),
    ("hasattr", Act::Opaque),
    ("hash", Act::Opaque),
    ("help", Act::Help),
    ("hex", Act::Inert),
    ("id", Act::Opaque),
    ("input", Is(O::Stdin)),
    ("int", Act::Count),
    ("isinstance", Act::Opaque),
    ("issubclass", Act::Opaque),
    ("iter", Act::Sequence),
    ("len", Act::Count),
    ("license", Act::Inert),
    ("list", Act::Sequence),
    ("locals", UNKNOWN),
    ("long", Act::Inert),
    ("map", Act::Apply),
    ("max", Act::Element),
    ("memoryview", Act::Same),
    ("min", Act::Element),
    ("next", Act::Element),
    ("object", Act::Opaque),
    ("oct", Act::Inert),
    ("open", Open),
    ("ord", Act::Count),
    ("pow", Act::Inert),
    ("print", Act::Print),
    ("property", Act::Items),
    ("quit", Act::Inert),
    ("range", Act::Range),
    ("raw_input", Is(O::Stdin)),
    ("reduce", Act::Apply),
    ("reload", UNKNOWN),
    ("repr", Act::Opaque),
    ("reversed", Act::Items),
    ("round", Act::Measure),
    ("set", Act::Items),
    ("setattr", Act::SetAttribute),
    ("slice", Act::Inert),
    ("sorted", Act::Items),
    ("staticmethod", Act::Items),
    ("str", Act::Same),
    ("sum", Act::Items),
    ("super", Act::Opaque),
    ("tuple", Act::Sequence),
    ("type", Act::Class),
    ("unichr", Fold(F::Character)),
    ("unicode", Act::Same),
    ("vars", UNKNOWN),
    ("xrange", Act::Range),
    ("zip", Act::Zip),
];
