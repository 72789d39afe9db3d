//! Variables that a program obeys and that the script has put into its environment.

use super::image::Named;
use super::reading::{is_free_of, is_plain_name};
use super::run::Run;
use super::script;
use super::words::Role;
use crate::effect::{Unknown, WriteMode};
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};

/// Records what the program does because of its environment.
pub(super) fn obey(run: &mut Run<'_, '_>) {
    if !run.session.has_variables() {
        return;
    }
    let span = run.call.span;
    for Named { name, item: role } in run.program.env.iter() {
        if role == Role::Text {
            continue;
        }
        let Some(value) = run.session.variable(name.as_bytes()) else { continue };
        if value.known().is_some_and(<[u8]>::is_empty) {
            continue;
        }
        let field = Field { value, span, many: false };
        let data = Stream::unknown(Origins::FILE, span);
        match role {
            Role::Run => {
                run.shell(&field, data, Reentry::New);
            }
            Role::Program => run.command_words(&field, Reentry::New),
            Role::Name if value.known().is_some_and(is_plain_name) => {}
            Role::Plain(marks) if value.known().is_some_and(|text| is_free_of(text, marks)) => {}
            Role::Script(language) => {
                script::execute(run, language, &field, &[]);
            }
            Role::Read | Role::Config => {
                run.reads(&field, false);
            }
            Role::List | Role::Chdir => run.lists(&field, false),
            Role::Load => {
                run.reads(&field, false);
                run.code("native", None, field.value.origins, span);
            }
            Role::Write => run.writes(&field, WriteMode::Replace, data),
            Role::Append => run.writes(&field, WriteMode::Append, data),
            Role::Modify => run.writes(&field, WriteMode::Modify, data),
            Role::Create => run.writes(&field, WriteMode::Create, data),
            Role::WriteBelow => run.writes(&field, WriteMode::Below, data),
            Role::Code(language) => run.code(language, field.known(), field.value.origins, span),
            _ => run.not_understood(Unknown::Variable(name.as_bytes()), span),
        }
    }
}
