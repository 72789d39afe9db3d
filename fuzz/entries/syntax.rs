//! What the fuzz target of the parser does with its input, and what must hold then. The tests replay the seeds through
//! the same. Apart from the others: the fewer crates a target is built with, the more inputs it gets through.

#[path = "../../crates/syntax/tests/support/dump.rs"]
mod dump;

use bumpalo::Bump;
use dump::dump_up_to_layout;
use shward_syntax::{Dialect, Options, parse, print};
use std::cell::RefCell;

const DIALECTS: [Dialect; 2] = [Dialect::Bash, Dialect::Posix];

thread_local! {
    /// One arena for all inputs: asking the system for memory takes longer than reading a short command.
    static ARENA: RefCell<Bump> = RefCell::new(Bump::new());
}

/// Reads shell text: every span lies in it, and the tree, printed and read again, is the same.
pub(crate) fn parser(data: &[u8]) {
    ARENA.with_borrow_mut(|arena| {
        for dialect in DIALECTS {
            read(arena, data, dialect);
            arena.reset();
        }
    });
}

fn read(arena: &Bump, data: &[u8], dialect: Dialect) {
    let options = Options { dialect, ..Options::default() };
    match parse(arena, data, &options) {
        Ok(parsed) => {
            for item in parsed.script.items {
                assert!(item.list.first.span.end as usize <= data.len());
            }
            let text = print(&parsed.script);
            let again = parse(arena, &text, &options).unwrap_or_else(|error| {
                panic!("{error}, as it is printed:\n{}", String::from_utf8_lossy(&text))
            });
            assert_eq!(dump_up_to_layout(&parsed.script), dump_up_to_layout(&again.script));
        }
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end as usize <= data.len())
        }
    }
}
