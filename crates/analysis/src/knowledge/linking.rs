//! Links that a program makes, and what each leads to.

use super::flow::Uses;
use super::run::Run;
use super::scan::Scan;
use super::settled::{linked_hard, linked_to};
use super::values;
use super::words::Role;
use crate::value::{Origins, Value};
use crate::world::FileKind;

/// Tells of each link that is made what it leads to. The last operand is a link or a directory for links; without one
/// they lie here.
pub(super) fn links<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, uses: &Uses<'_, 'a>) {
    let place = uses
        .iter()
        .find(|each| matches!(each.role, Role::DestLink | Role::Dest | Role::Create | Role::WriteBelow));
    for aim in uses.of(|role| matches!(role, Role::List | Role::Read)) {
        if aim.role == Role::Read {
            linked_hard(run, aim.field);
        }
        let prefix = aim.field.value.known_prefix();
        let name = match aim.field.known() {
            Some(text) => Value::text(values::base_name(text), Origins::LITERAL),
            None => {
                let cut = prefix.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
                values::after(run.arena(), &aim.field.value, cut)
            }
        };
        let Some(place) = place else {
            run.session.linked(&name, &aim.field.value);
            continue;
        };
        let slash = Value::text(b"/", Origins::LITERAL);
        let below = values::joined(run.arena(), &[place.field.value, slash, name]);
        // A directory is not replaced by a link: that lies in it.
        let directory = place.field.known().is_some_and(|text| {
            text.is_empty() || text.ends_with(b"/") || matches!(values::base_name(text), b"." | b"..")
        });
        let first = usize::from(directory);
        let (from, to) = (run.target(&aim.field.value, false), run.target(&place.field.value, false));
        let apart = scan.has(&["-T", "--no-target-directory", "-n", "--no-dereference"]);
        let lies_in = directory || !apart && run.session.world().kind(to.path) == FileKind::Directory;
        let to = if lies_in { run.target(&below, false) } else { to };
        linked_to(run, aim.field, &from, to, place.field);
        for link in [place.field.value, below].into_iter().skip(first) {
            run.session.linked(&link, &aim.field.value);
        }
    }
}
