//! How the tables are read.

/// Whether an attack works where nothing stops it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    Works,
    Root,
    Maybe,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'t> {
    pub(crate) name: &'t str,
    pub(crate) containment: &'t str,
    pub(crate) language: &'t str,
    pub(crate) outside: Outside,
    /// Without an overlay what exists is not kept from it, but moved aside.
    pub(crate) overlay: bool,
    /// In the workspace: what must not be there, or changed; of ordinary work, what must be there.
    pub(crate) path: Option<&'t str>,
    /// The programs without which it means nothing.
    pub(crate) needs: Option<&'t str>,
    /// The first two numbers of the version of Linux before which it does not work anywhere.
    pub(crate) since: Option<(u32, u32)>,
    pub(crate) program: &'t str,
}

impl Entry<'_> {
    /// Calls of the kernel by their numbers.
    pub(crate) fn needs_x86(&self) -> bool {
        self.language == "call" || self.program.contains(".syscall(")
    }
}

pub(crate) fn read(text: &str) -> Vec<Entry<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') && line.contains(" | ") && line.ends_with("]\n") {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| entry(&text[start + 1..end])).collect()
}

fn entry(text: &str) -> Entry<'_> {
    let (head, program) = text.split_once("]\n").unwrap();
    let mut fields = head.split(" | ");
    let (name, containment, language) =
        (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
    assert!(
        ["workspace-write", "read-only", "loopback", "listed", "terminal", "gated", "live", "session"]
            .contains(&containment),
        "{name}"
    );
    assert!(["bash", "python", "call"].contains(&language), "{name}");
    let (mut outside, mut overlay) = (Outside::Maybe, false);
    let (mut path, mut needs, mut since) = (None, None, None);
    for field in fields {
        match field {
            "works" => outside = Outside::Works,
            "root" => outside = Outside::Root,
            "maybe" => outside = Outside::Maybe,
            "overlay" => overlay = true,
            _ => match field.split_once('=') {
                Some(("path", given)) => path = Some(given),
                Some(("needs", given)) => needs = Some(given),
                Some(("since", given)) => {
                    let (major, minor) = given.split_once('.').unwrap();
                    since = Some((major.parse().unwrap(), minor.parse().unwrap()));
                }
                _ => panic!("{name}: {field}"),
            },
        }
    }
    Entry { name, containment, language, outside, overlay, path, needs, since, program }
}
