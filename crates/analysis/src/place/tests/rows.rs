//! Every row of the tables is reached, and no pattern hides what it names.

use super::{H, Places, W, look, request, value};
use crate::effect::Scope;
use crate::place::tables::{HOME, INSIDE, NAMES, ORDINARY, ROOT};
use crate::world::Frozen;
use bumpalo::Bump;

/// Every row of the tables, as a path, with its scope: `*` stands for `x`.
fn rows_as_paths() -> Vec<(String, Scope)> {
    let path = |anchor: &str, row: &str| format!("{anchor}/{}", row.replace("**", "x").replace('*', "x"));
    let mut all = Vec::new();
    for top in ROOT {
        all.extend(top.rows.rows().iter().map(|(row, scope)| (path(&format!("/{}", top.name), row), *scope)));
    }
    all.extend(HOME.rows().iter().map(|(row, scope)| (path("/home/u", row), *scope)));
    for (name, rows) in INSIDE {
        all.extend(rows.iter().map(|(row, scope)| (path(&format!("/data/{name}"), row), *scope)));
    }
    all.extend(NAMES.iter().map(|(row, scope)| (path("/home/u/proj/sub", row), *scope)));
    all
}

#[test]
fn every_row_is_reached() {
    let arena = Bump::new();
    for (path, scope) in rows_as_paths() {
        let found = look(&arena, &Frozen, W, H, Some(W), arena.alloc_str(&path)).scope;
        assert!(
            found == scope || (found > scope && found >= Scope::Persistence) || scope == ORDINARY,
            "{path}: {found:?}, not {scope:?}"
        );
    }
}

#[test]
fn hiding_a_letter_hides_nothing() {
    let arena = Bump::new();
    let mut hidden = 0;
    for (path, scope) in rows_as_paths().into_iter().filter(|(_, scope)| *scope >= Scope::Persistence) {
        // Each letter of each name in turn, but for the dot that a pattern does not match.
        for (at, _) in path.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()) {
            for pattern in ["?", "*"] {
                let mut path = path.clone();
                path.replace_range(at..=at, pattern);
                // `*.env` says an extension only, which is not enough for names that count everywhere.
                let last = path.rsplit('/').next().unwrap_or_default();
                if let Some(rest) = last.strip_prefix(['?', '*'])
                    && (rest.starts_with('.') || !rest.contains(|c: char| c.is_ascii_alphanumeric()))
                {
                    continue;
                }
                let found = look(&arena, &Frozen, W, H, Some(W), arena.alloc_str(&path)).scope;
                assert!(found >= scope, "{path}: {found:?}, not {scope:?}");
                hidden += 1;
            }
        }
    }
    assert!(hidden > 5_000, "{hidden}");
}

#[test]
fn what_follows_unknown_text_has_the_same_scope_when_it_comes_again() {
    let paths =
        ["$/.ssh/id_rsa", "$/a", "$/etc/shadow", "$x*/b", "$/.git/config", "$/*.pem", "$d/.bashrc", "/a$/b"];
    let arena = Bump::new();
    let places = Places::new(&arena, &request(W, H), &Frozen);
    for round in 0..3 {
        for (at, path) in paths.iter().enumerate() {
            let (cwd, alone) = (Some(W), look(&arena, &Frozen, W, H, Some(W), path));
            let target = places.target(&Frozen, cwd.map(str::as_bytes), &value(&arena, path));
            assert_eq!(target, alone, "{path}, {round}");
            // One of the last came last, and one that is remembered no more.
            let last = paths[(at + round) % paths.len()];
            places.target(&Frozen, None, &value(&arena, last));
        }
    }
}
