//! Attributes: what can be reached from a value.

use super::Reader;
use super::acts::{Act, Fold};
use super::calls::{is_carried, shell_name};
use super::modules;
use super::moments;
use super::mutators::is_mutator;
use super::symbols::Sym;
use super::value::{Object, Union, Val, join};

impl<'a> Reader<'_, '_, 'a> {
    /// `val.name`
    pub(super) fn attribute(&mut self, val: &Val<'a>, sym: Sym) -> Val<'a> {
        let name = self.name(sym);
        if !self.may_touch(name) {
            self.lose();
            return Val::Data;
        }
        let Val::OneOf(vals) = val else { return self.attribute_of(val, sym, name) };
        let mut result = Union::new(self.report.arena);
        for each in vals.iter() {
            result.add(self.attribute_of(each, sym, name));
        }
        result.get().unwrap_or(Val::Data)
    }

    /// Whether an attribute of this name tells no more than it should.
    pub(super) fn may_touch(&self, name: &[u8]) -> bool {
        match name {
            b"f_globals" | b"f_builtins" | b"f_locals" | b"f_back" | b"f_code" | b"tb_frame"
            | b"gi_frame" | b"gi_code" | b"cr_frame" | b"cr_code" | b"ag_frame" | b"ag_code"
            | b"func_globals" | b"func_code" | b"im_func" | b"im_self" | b"co_code" | b"load_module"
            | b"exec_module" | b"get_code" | b"find_module" => {
                // A loader runs the file that it was made for, which is an effect of its own already.
                matches!(name, b"load_module" | b"exec_module")
            }
            b"__class__" => match (self.peek(), self.peek_at(1)) {
                (super::tokens::Token::Dot, super::tokens::Token::Name(next)) => {
                    matches!(self.name(next), b"__name__" | b"__qualname__" | b"__module__" | b"__doc__")
                }
                (super::tokens::Token::Dot | super::tokens::Token::Open { .. }, _) => false,
                _ => true,
            },
            _ if !name.starts_with(b"__") || !name.ends_with(b"__") => true,
            b"__name__"
            | b"__file__"
            | b"__doc__"
            | b"__version__"
            | b"__all__"
            | b"__path__"
            | b"__author__"
            | b"__init__"
            | b"__len__"
            | b"__str__"
            | b"__repr__"
            | b"__iter__"
            | b"__next__"
            | b"__enter__"
            | b"__exit__"
            | b"__module__"
            | b"__qualname__"
            | b"__annotations__"
            | b"__eq__"
            | b"__hash__"
            | b"__lt__"
            | b"__contains__"
            | b"__add__"
            | b"__getitem__"
            | b"__setitem__"
            | b"__call__"
            | b"__main__"
            | b"__package__"
            | b"__stdout__"
            | b"__stderr__"
            | b"__stdin__"
            | b"__post_init__"
            | b"__aenter__"
            | b"__aexit__"
            | b"__bool__"
            | b"__mro__"
            | b"__cause__"
            | b"__context__"
            | b"__dataclass_fields__"
            | b"__wrapped__"
            | b"__format__"
            | b"__index__"
            | b"__int__"
            | b"__float__"
            | b"__import__"
            | b"__builtins__"
            | b"__table__"
            | b"__tablename__"
            | b"__members__"
            | b"__slots__"
            | b"__version_info__"
            | b"__license__"
            | b"__title__" => true,
            _ => false,
        }
    }

    pub(super) fn attribute_of(&mut self, val: &Val<'a>, sym: Sym, name: &'a [u8]) -> Val<'a> {
        match val {
            Val::Module(module) => self.member(module, name),
            Val::Act(act) => match (act, name) {
                (Act::Fold(Fold::Text), b"fromhex") => Val::Act(Act::Fold(Fold::Hex)),
                // Nothing that `open` carries under a plain name opens anything.
                (Act::Open, _) if !name.starts_with(b"__") => Val::Act(Act::Inert),
                // A method of the class, to which the object is given.
                (Act::Make(object), _) if super::lost::acts_by(*object, name) => match object {
                    Object::Server => Val::Act(Act::Code("shell")),
                    _ => Val::Act(Act::Network),
                },
                (Act::PathOf, b"home") => Val::Act(Act::Fold(Fold::Home)),
                (Act::PathOf, b"cwd") => Val::Act(Act::Fold(Fold::Here)),
                (Act::PathOf, _) => {
                    self.path_function(name);
                    Val::Act(Act::Inert)
                }
                (Act::Inert, b"obj") => self.carried_object(),
                (Act::Count, _) if moments::makes_moment(name) => *val,
                (act, _) if act.is_inert() => match modules::find(name).filter(|m| leads_on(*act, m)) {
                    Some(module) => Val::Module(module),
                    // `list.reverse`
                    None if is_mutator(name) => Val::Act(Act::Mutate),
                    // A method of a type is not the type.
                    None => Val::Act(match act {
                        Act::Items | Act::Sequence | Act::Dict | Act::Element => Act::Items,
                        Act::Decode | Act::Project | Act::Temporary => *act,
                        _ => Act::Inert,
                    }),
                },
                _ => *val,
            },
            Val::Foreign => {
                if let Some(module) = modules::find(name).filter(|_| is_carried(name)) {
                    return Val::Module(module);
                }
                shell_name(name).map_or(Val::Foreign, Val::Act)
            }
            Val::Object(object) => match object {
                Object::Process | Object::Client | Object::Native | Object::Server => *val,
                Object::Stdin => *val,
                Object::Environment => {
                    self.report.environment();
                    Val::Data
                }
                Object::Modules => {
                    self.lose();
                    Val::Data
                }
                Object::Stdout if !matches!(name, b"encoding" | b"errors" | b"closed" | b"name") => {
                    // What is written by it is not followed, or stands in another order.
                    self.report.prints(None);
                    *val
                }
                Object::Socket | Object::SearchPath | Object::Database => {
                    // A method that is named without being called.
                    self.lose_object(*object);
                    if *object == Object::SearchPath && is_mutator(name) {
                        self.lose();
                    }
                    let arguments = self.no_arguments(true);
                    if super::lost::acts_by(*object, name) {
                        self.object_method(*object, name, &arguments);
                    }
                    Val::Data
                }
                _ => Val::Data,
            },
            Val::Path(path) => self.path_attribute(path, name),
            Val::Lost => Val::Lost,
            Val::Local(_) if name == b"__call__" => match self.attribute_of_name(sym) {
                Some(known) => join(self.report.arena, *val, known),
                None => *val,
            },
            // A method that is named without being called.
            Val::Many(_) => {
                if is_mutator(name) {
                    self.mutate(val, &[Val::Data]);
                }
                if val.acts() {
                    self.escape(val);
                }
                self.leak(val);
                Val::Data
            }
            Val::File(_) if name == b"buffer" => *val,
            Val::File(path) if name == b"name" => self.name_of(Val::Text(*path), sym),
            Val::Text(path) if name == b"name" && path.is_made() => self.name_of(*val, sym),
            Val::Count if moments::is_part_of_moment(name) => *val,
            Val::Data if name == b"obj" => self.carried_object(),
            _ => {
                if matches!(val, Val::Data) {
                    self.path_reference(name);
                }
                let known = self.attribute_of_name(sym);
                known.map_or(Val::Data, |known| match known {
                    Val::Local(_) => known,
                    known => join(self.report.arena, Val::Data, known),
                })
            }
        }
    }

    /// `file.name`: a path, or what the program has put there.
    fn name_of(&mut self, path: Val<'a>, sym: Sym) -> Val<'a> {
        match self.attribute_of_name(sym) {
            Some(known) => join(self.report.arena, path, known),
            None => path,
        }
    }

    /// `error.obj`: what an attribute was missing of, which may be any module or function.
    fn carried_object(&mut self) -> Val<'a> {
        self.lose();
        Val::Data
    }

    /// `val.name = new`
    pub(super) fn store_attribute(&mut self, val: &Val<'a>, sym: Sym, new: &Val<'a>) {
        let name = self.name(sym);
        if !self.may_touch(name) {
            self.lose();
        }
        // `context.keylog_filename`: what is said there goes into a file.
        if name == b"keylog_filename" {
            self.write_each(Some(*new), crate::effect::WriteMode::Append);
        }
        // Whoever has the object may call what it is given.
        if new.acts() {
            self.escape(new);
        }
        for each in val.alternatives() {
            match each {
                Val::Module(module) => {
                    if module.name == "sys" && name == b"path" {
                        self.search_path(new);
                    } else if !may_be_replaced(module, name) {
                        self.lose();
                    }
                    // What is printed from now on may go elsewhere.
                    self.report.prints(None);
                    self.escape(new);
                }
                // A class of a module, or a function.
                Val::Act(_) if new.acts() => {
                    self.escape(new);
                    self.lose();
                }
                Val::Act(Act::PathOf | Act::Temporary | Act::Fresh(_) | Act::Run) | Val::Lost => self.lose(),
                Val::Object(Object::Environment) => self.lose(),
                _ => {}
            }
        }
        self.bind_attribute(sym, *new);
    }

    /// `del val.name`
    pub(super) fn delete_attribute(&mut self, val: &Val<'a>, sym: Sym) {
        let name = self.name(sym);
        let module = val.alternatives().iter().any(|v| matches!(v, Val::Module(_) | Val::Act(_) | Val::Lost));
        if module || !self.may_touch(name) {
            self.lose();
        }
    }
}

/// Whether a name that a class, a function or an unlisted part of a package carries is taken for this module.
fn leads_on(act: Act, module: &modules::Module) -> bool {
    let name = module.name.as_bytes();
    let more = || !module.rest.is_inert() || !module.members.is_empty() || modules::is_package(name);
    is_carried(name) || (act == Act::Inert && more())
}

/// Members of modules that nothing depends on which is followed here.
fn may_be_replaced(module: &modules::Module, name: &[u8]) -> bool {
    match module.name {
        "sys" => matches!(
            name,
            b"stdout"
                | b"stderr"
                | b"argv"
                | b"dont_write_bytecode"
                | b"excepthook"
                | b"tracebacklimit"
                | b"ps1"
        ),
        "time" | "random" | "warnings" | "logging" => modules::member(module, name).is_none(),
        _ => false,
    }
}
