//! Whatever a path argument is, it gets an answer.

use super::{H, W, look, request};
use crate::effect::Rest;
use crate::place::Places;
use crate::value::{Origins, Piece, Value};
use crate::world::Frozen;
use bumpalo::Bump;

#[test]
fn hostile_paths_are_answered() {
    let arena = Bump::new();
    let deep = "../a/".repeat(20_000);
    let wide = "*/".repeat(5_000);
    let long = "x".repeat(200_000);
    for path in [&deep, &wide, &long] {
        look(&arena, &Frozen, W, H, Some(W), arena.alloc_str(path));
    }
}

#[test]
fn no_value_makes_it_fail() {
    const WORDS: [&[u8]; 16] = [
        b"",
        b"/",
        b"..",
        b".",
        b"//",
        b"etc",
        b"home",
        b".ssh",
        b"\xff\xfe",
        b"proc/self/root",
        b"*",
        b"a\nb",
        b".git",
        b"dev",
        b"u",
        b"shadow",
    ];
    // A linear congruential generator: the same values on every run.
    let mut state = 1u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut arena = Bump::new();
    for _ in 0..20_000 {
        let pieces: Vec<Piece<'_>> = (0..next(8))
            .map(|_| match next(6) {
                0 => Piece::Unknown,
                1 => Piece::Glob([b"*" as &[u8], b"?", b"[a-z]", b"[", b"@(a|b)", b""][next(6)]),
                _ => Piece::Text(WORDS[next(WORDS.len())]),
            })
            .collect();
        let value = Value::of(&arena, &pieces, Origins::LITERAL);
        let cwd = [Some(W.as_bytes()), Some(b"/" as &[u8]), None][next(3)];
        let places = Places::new(&arena, &request([W, "/", "/home/u"][next(3)], H), &Frozen);
        let target = places.target(&Frozen, cwd, &value);
        assert!(target.path.is_empty() || target.path.starts_with(b"/"), "{value:?}");
        assert!(value.has_unknown() == (target.rest == Rest::Unknown) || cwd.is_none(), "{value:?}");
        arena.reset();
    }
}
