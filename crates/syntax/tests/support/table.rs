//! Reads the tables in `tests/data`.

/// The rows of a table: a program and what is expected of it.
pub fn rows(text: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut program: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(expected) = line.strip_prefix('=') {
            rows.push((program.join("\n"), expected.strip_prefix(' ').unwrap_or(expected).to_owned()));
            program.clear();
        } else if let Some(part) = line.strip_prefix('>') {
            program.push(part.strip_prefix(' ').unwrap_or(part));
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "neither row nor comment: {line}");
            assert!(program.is_empty(), "a program without a tree: {program:?}");
        }
    }
    rows
}
