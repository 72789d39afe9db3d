//! `alias` and `unalias`.

use crate::shell::Interpreter;
use crate::shell::simple::Expanded;
use crate::shell::state::Space;
use crate::value::{Field, Origins};

impl<'a> Interpreter<'a, '_> {
    pub(super) fn alias_builtin(&mut self, builtin: &[u8], command: &Expanded<'_, 'a>) {
        let arguments = command.argv.get(1..).unwrap_or_default();
        let permitted: &[u8] = if builtin == b"unalias" { b"a" } else { b"p" };
        let wrong = |text: &[u8]| text.iter().skip(1).any(|letter| !permitted.contains(letter));
        if let Some([b'-', _, ..]) = arguments.first().and_then(Field::known).filter(|text| wrong(text)) {
            // An option that there is not: it fails.
            self.argument_unknown(command.span);
        }
        if builtin == b"unalias" {
            let all = arguments.iter().any(|field| field.known() == Some(b"-a"));
            let names: Vec<&'a [u8]> = self.state.touched(Space::Alias).map(|(name, _)| name).collect();
            for name in names {
                if all || arguments.iter().any(|field| field.known() == Some(name)) {
                    self.remove_alias(name);
                }
            }
            return;
        }
        for field in arguments {
            let prefix = field.value.known_prefix();
            match prefix.iter().position(|byte| *byte == b'=') {
                Some(equals) => {
                    let name = prefix.get(..equals).unwrap_or_default();
                    let text = field.known().and_then(|text| text.get(equals + 1..));
                    self.define_alias(name, text, field.span);
                    if field.many && field.value.has_unknown() {
                        self.argument_unknown(field.span);
                    }
                }
                None if field.known().is_none() => self.argument_unknown(field.span),
                None => self.prints(Origins::LITERAL, command.span),
            }
        }
        if arguments.is_empty() {
            self.prints(Origins::LITERAL, command.span);
        }
    }
}
