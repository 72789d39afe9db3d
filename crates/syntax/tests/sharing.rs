//! What comes again and again lies in the tree once.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

use bumpalo::Bump;
use shward_syntax::{CommandKind, PartKind, parse};

#[test]
fn the_same_parameter_is_one_node() {
    for (source, nodes) in
        [("a $x$x$x", 1), ("a $x \"$x\" $x", 3), ("a $x$y$y$x", 3), ("a $@$@$*$#", 3), ("a $1$1$2", 2)]
    {
        let arena = Bump::new();
        let parsed = parse(&arena, source.as_bytes(), &Default::default()).unwrap();
        let CommandKind::Simple(simple) = parsed.script.items[0].list.first.stages[0].command.kind else {
            panic!("{source}")
        };
        let mut seen: Vec<*const shward_syntax::Parameter<'_>> = Vec::new();
        let words: Vec<_> = simple.words.iter().flat_map(|word| word.parts().to_vec()).collect();
        for part in &words {
            match part.kind {
                PartKind::Parameter(parameter) => seen.push(parameter),
                PartKind::DoubleQuoted([inner]) => match inner.kind {
                    PartKind::Parameter(parameter) => {
                        assert!(parameter.quoted);
                        seen.push(parameter);
                    }
                    _ => panic!("{source}"),
                },
                _ => {}
            }
        }
        seen.dedup();
        assert_eq!(seen.len(), nodes, "{source}");
    }
}
