//! What names are bound to, and what is lost from sight.

use super::acts::Act;
use super::repeats::Lookup;
use super::symbols::Sym;
use super::value::{Val, covers, join, joined};
use super::{Binding, Exposed, Pass, Reader, WIDENING, builtins, modules};

impl<'a> Reader<'_, '_, 'a> {
    fn get(&self, sym: Sym) -> Binding<'a> {
        self.bindings.get(sym.0 as usize).copied().unwrap_or_default()
    }

    /// What is known of a name, to be changed.
    fn binding(&mut self, sym: Sym) -> Option<&mut Binding<'a>> {
        let index = sym.0 as usize;
        if self.bindings.len() <= index {
            self.bindings.resize(index + 1, Binding::default());
        }
        self.bindings.get_mut(index)
    }

    /// What is known with what a pass adds to it, if that is more than was known. Late passes add no more texts, so that there
    /// is an end. `seen`: this pass has looked up what was known before.
    fn learns(&mut self, old: Option<Val<'a>>, val: Val<'a>, seen: bool) -> Option<Val<'a>> {
        let arena = self.report.arena;
        match old {
            None if self.pass == Pass::Learning && (self.passes < WIDENING || val.acts()) => {
                (self.learnt, self.changed) = (true, true);
                self.unsettled |= seen;
                if !val.is_recognised() {
                    self.repeats.never_repeat();
                }
                return Some(val);
            }
            Some(old) if covers(&old, &val) => return None,
            _ => {}
        }
        let learning = self.pass == Pass::Learning;
        let all = match old {
            _ if learning && self.passes >= WIDENING && !val.acts() => {
                old.map_or(Val::Data, |old| join(arena, old, Val::Data))
            }
            Some(old) => joined(arena, old, val),
            None => val,
        };
        // What was put behind what there was before is not among that.
        let more = |old: &Val<'a>| {
            let new = all.alternatives().get(old.alternatives().len()..).unwrap_or_default();
            new.iter().any(|val| !matches!(val, Val::Never))
        };
        let changed = !old.is_some_and(|old| !more(&old) && covers(&old, &all));
        if learning {
            // The next pass will see what this one sees, unless it looks something up that is known better by now, or learns
            // the same again.
            let again = !covers(&all, &val);
            (self.learnt, self.changed) = (true, self.changed | changed);
            self.unsettled |= seen || again;
            if again {
                self.repeats.learns_again();
            }
            if !val.is_recognised() {
                self.repeats.never_repeat();
            }
        }
        changed.then_some(all)
    }

    /// A name gets a value.
    pub(super) fn bind(&mut self, sym: Sym, val: Val<'a>) {
        let name = self.name(sym);
        // What a class holds is reached through its objects, and by Python itself if its name is special.
        let in_class = self.in_class && matches!(val, Val::Act(_) | Val::Local(_));
        if val.acts()
            && (in_class || self.exposes(&val) || (is_special(name) && !matches!(val, Val::Local(_))))
        {
            self.escape(&val);
        }
        let plain = self.is_plain();
        let (old, seen, changed) = self
            .binding(sym)
            .map_or((None, false, 0), |binding| (binding.ever, binding.seen, binding.changed));
        let ever = self.learns(old, val, seen);
        self.repeats.learns_of(Lookup::Known(sym, changed));
        if self.pass == Pass::Recording && val.acts() && !old.is_some_and(|old| covers(&old, &val)) {
            // What was read before did not know of this.
            self.escape(&val);
        }
        if let Some(ever) = ever {
            self.is_known_to_be(sym, ever);
        }
        let since = self.repeats.now();
        let mut now = Some(val).filter(|_| plain);
        if let Some(binding) = self.binding(sym) {
            now = now.filter(|_| !binding.shared);
            (binding.now, binding.since) = (now, since);
        }
        self.repeats.binds(sym, now);
        if self.in_class {
            self.bind_attribute(sym, val);
        }
    }

    /// Whether a value that is bound can be reached by other ways than by the name.
    fn exposes(&self, val: &Val<'a>) -> bool {
        match self.exposed {
            Exposed::Nothing => false,
            Exposed::Members => !matches!(val, Val::Module(_)),
            Exposed::Everything => true,
        }
    }

    /// Something that may run at any time binds this name: what it is bound to now is never certain.
    pub(super) fn share(&mut self, sym: Sym) {
        if self.binding(sym).is_some_and(|binding| !std::mem::replace(&mut binding.shared, true)) {
            self.repeats.changes();
        }
        self.unbind(sym);
    }

    /// A name is bound no more: what it meant before may be found in its stead.
    pub(super) fn unbind(&mut self, sym: Sym) {
        let since = self.repeats.now();
        if let Some(binding) = self.binding(sym) {
            (binding.now, binding.since) = (None, since);
        }
        self.repeats.binds(sym, None);
    }

    /// An attribute of some object gets a value.
    pub(super) fn bind_attribute(&mut self, sym: Sym, val: Val<'a>) {
        let binding = self.get(sym);
        let all = self.learns(binding.attribute, val, binding.attribute_seen);
        self.repeats.learns_of(Lookup::KnownAttribute(sym, binding.attribute_changed));
        if let Some(all) = all {
            let change = self.repeats.change();
            if let Some(binding) = self.binding(sym) {
                (binding.attribute, binding.attribute_changed) = (Some(all), change);
            }
        }
    }

    /// More is known of what a name may ever be bound to.
    fn is_known_to_be(&mut self, sym: Sym, ever: Val<'a>) {
        let change = self.repeats.change();
        if let Some(binding) = self.binding(sym) {
            (binding.ever, binding.changed) = (Some(ever), change);
        }
    }

    /// What an attribute of this name may have been set to.
    pub(super) fn attribute_of_name(&mut self, sym: Sym) -> Option<Val<'a>> {
        let binding = self.binding(sym)?;
        binding.attribute_seen = true;
        let (attribute, changed) = (binding.attribute, binding.attribute_changed);
        self.repeats.looks_up(Lookup::Attribute(sym, changed));
        attribute
    }

    /// What a name means here. A parameter that no call is known of, and a name that is nothing, is `Data`.
    pub(super) fn lookup(&mut self, sym: Sym) -> Val<'a> {
        let plain = self.is_plain();
        let Some(binding) = self.binding(sym) else { return Val::Data };
        let changed = binding.changed;
        if plain {
            let (since, now) = (binding.since, binding.now);
            binding.seen |= now.is_none();
            self.repeats.looks_up(Lookup::Now(sym, since));
            if let Some(now) = now {
                return now;
            }
        } else {
            binding.seen = true;
        }
        self.repeats.looks_up(Lookup::Ever(sym, changed));
        let builtin = self.meant_by_python(sym);
        if let Some(ever) = self.binding(sym).and_then(|binding| binding.ever) {
            // It may not have been bound yet, and then still mean the builtin.
            return match builtin {
                Some(act) => join(self.report.arena, ever, self.act_value(act)),
                None => ever,
            };
        }
        let name = self.name(sym);
        for module in self.stars.iter().rev() {
            if modules::member(module, name).is_some() {
                return self.member(module, name);
            }
        }
        if let Some(act) = builtin {
            return self.act_value(act);
        }
        if let Some(val) = self.brought_by_star(sym) {
            return val;
        }
        match self.pass {
            _ if self.foreign_star => Val::Foreign,
            Pass::Learning if self.parameters.contains(&sym.0) => {
                self.unbound = true;
                Val::Never
            }
            _ => Val::Data,
        }
    }

    /// What a name that is not listed may be if a star import has brought it: a member of a module that may do anything,
    /// or what such a module has imported for itself.
    fn brought_by_star(&mut self, sym: Sym) -> Option<Val<'a>> {
        let name = self.name(sym);
        if self.stars.is_empty() || name.starts_with(b"_") || self.parameters.contains(&sym.0) {
            return None;
        }
        if let Some(module) = modules::find(name) {
            return Some(Val::Module(module));
        }
        let rest = self.stars.iter().rev().map(|module| module.rest).find(|rest| !rest.is_inert())?;
        Some(self.act_value(rest))
    }

    /// What Python itself may mean by a name here.
    fn meant_by_python(&mut self, sym: Sym) -> Option<Act> {
        let name = self.name(sym);
        // Looked up once. By most names it means nothing.
        let act = (*self.binding(sym)?.builtin.get_or_insert_with(|| builtins::builtin(name)))?;
        (!self.is_surely_bound(sym)).then_some(act)
    }

    /// Something goes where it is not followed: it counts as used in every way.
    pub(super) fn escape(&mut self, val: &Val<'a>) {
        match val {
            Val::Text(value) | Val::Path(value) => self.report.mention(value, false),
            Val::Module(module) => {
                if module.rest != Act::Project {
                    self.lose();
                }
            }
            Val::Lost => self.lose(),
            Val::Act(act) => self.use_anyhow(*act),
            Val::Object(super::value::Object::Native) => {
                self.report.code("native", crate::value::Origins::NONE)
            }
            Val::Object(super::value::Object::Environment) => self.report.environment(),
            Val::Object(super::value::Object::Modules) => self.lose(),
            Val::Local(number) => self.call_from_elsewhere(*number),
            Val::Many(items) if self.walks(items.vals.len()) => {
                self.give_away(val);
                for item in items.vals {
                    self.escape(item);
                }
            }
            Val::OneOf(vals) if self.walks(vals.len()) => {
                for each in vals.iter() {
                    self.escape(each);
                }
            }
            Val::Many(_)
            | Val::OneOf(_)
            | Val::Data
            | Val::Nothing
            | Val::Number(_)
            | Val::Count
            | Val::Never
            | Val::File(_)
            | Val::Foreign => {}
            Val::Object(object) => self.lose_object(*object),
        }
    }

    /// The number of the definition whose name stands at this token.
    pub(super) fn define(&mut self, at: usize, parameters: &'a [Sym]) -> u32 {
        let next = u32::try_from(self.definitions.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(self.base + at).or_insert(next);
        if number == next {
            self.changed = true;
            self.definitions.push(parameters);
            self.unsettled |= parameters.iter().any(|sym| self.get(*sym).seen);
            for sym in parameters {
                if self.parameters.insert(sym.0) {
                    let change = self.repeats.change();
                    if let Some(binding) = self.binding(*sym) {
                        binding.changed = change;
                    }
                }
            }
        }
        number
    }

    /// A function is called by something that is not followed.
    fn call_from_elsewhere(&mut self, number: u32) {
        let Some(parameters) = self.definitions.get(number as usize).copied() else { return };
        for parameter in parameters {
            self.bind_parameter(*parameter, Val::Data);
        }
    }

    /// A call binds a parameter.
    pub(super) fn bind_parameter(&mut self, sym: Sym, val: Val<'a>) {
        let binding = self.get(sym);
        let old = binding.ever;
        if matches!(val, Val::Never) {
            return;
        }
        let ever = self.learns(old, val, binding.seen);
        self.repeats.learns_of(Lookup::Known(sym, binding.changed));
        if self.pass == Pass::Recording && val.acts() && !old.is_some_and(|old| covers(&old, &val)) {
            self.escape(&val);
        }
        if let Some(ever) = ever {
            self.is_known_to_be(sym, ever);
        }
    }
}

/// Names that Python itself looks up: `__exit__` and the like.
fn is_special(name: &[u8]) -> bool {
    name.starts_with(b"__") && name.ends_with(b"__") && name.len() > 4
}
