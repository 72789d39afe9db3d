//! Classes whose objects are nowhere but where the program names them.
//!
//! An object that goes where it is not followed may have any of its methods called with anything, and anything put into its
//! attributes: so functions of classes count as called with anything from the start. Not where nobody else ever gets the class
//! or an object of it: each place that names the class makes an object under a name, or takes a member of it, and each place
//! that names the object takes a member. Then all calls are seen, and all that its attributes are ever set to.

use super::Reader;
use super::symbols::Sym;
use super::tokens::{Keyword as K, Token};
use super::value::{Val, join};
use std::collections::{BTreeMap, BTreeSet};

/// A class that nobody else gets.
#[derive(Debug, Clone, Copy)]
struct Class {
    name: Sym,
    /// The tokens of its head and of its body.
    from: usize,
    body: usize,
    to: usize,
    column: u8,
    closed: bool,
}

/// A program with more classes has none of these.
const MOST: usize = 64;

/// What is known of the classes of a program, once that was looked for.
#[derive(Debug, Default)]
pub(super) struct Classes {
    looked: bool,
    closed: Vec<Class>,
    /// Names of their objects.
    objects: BTreeSet<u32>,
}

/// Names by which objects are got at that nobody names, or text is executed.
const WAYS: [&[u8]; 21] = [
    b"__builtins__",
    b"__class__",
    b"__dict__",
    b"__globals__",
    b"__main__",
    b"__subclasses__",
    b"builtins",
    b"compile",
    b"delattr",
    b"eval",
    b"exec",
    b"execfile",
    b"gc",
    b"globals",
    b"importlib",
    b"inspect",
    b"locals",
    b"modules",
    b"setattr",
    b"sys.modules",
    b"vars",
];

/// Methods that Python calls by itself and that tell nothing of what the others mean.
const SPECIAL: [&[u8]; 13] = [
    b"__bool__",
    b"__contains__",
    b"__enter__",
    b"__eq__",
    b"__exit__",
    b"__hash__",
    b"__init__",
    b"__iter__",
    b"__len__",
    b"__lt__",
    b"__next__",
    b"__repr__",
    b"__str__",
];

impl<'a> Reader<'_, '_, 'a> {
    /// Whether what stands here is part of a class that nobody else gets.
    pub(super) fn is_in_closed_class(&mut self) -> bool {
        if !self.in_class || self.programs > 0 {
            return false;
        }
        self.look_for_closed();
        let at = self.at;
        self.classes.closed.iter().any(|class| (class.body..class.to).contains(&at))
    }

    /// What `object.name` is, which was just read, if the object is one of such a class: what the program ever sets it to.
    pub(super) fn own_attribute(&mut self, sym: Sym) -> Option<Val<'a>> {
        let back = |by: usize| self.at.checked_sub(by).and_then(|at| self.tokens.get(at)).copied();
        let (Some(Token::Name(object)), Some(Token::Dot), Some(Token::Name(name))) =
            (back(3), back(2), back(1))
        else {
            return None;
        };
        if name != sym || matches!(back(4), Some(Token::Dot)) || self.programs > 0 {
            return None;
        }
        let itself = self.name(object) == b"self" && self.is_in_closed_class();
        if !itself {
            self.look_for_closed();
        }
        if !itself && !self.classes.objects.contains(&object.0) {
            return None;
        }
        let known = self.attribute_of_name(sym)?;
        // What a function gives back, where it looks like an attribute, is not known.
        let called = known.alternatives().iter().any(|each| matches!(each, Val::Local(_)));
        Some(match known {
            Val::Local(_) => known,
            _ if called => join(self.report.arena, Val::Data, known),
            _ => known,
        })
    }

    fn look_for_closed(&mut self) {
        if std::mem::replace(&mut self.classes.looked, true) {
            return;
        }
        let mut classes = self.all_classes();
        if classes.is_empty() || classes.len() > MOST || self.has_other_ways() {
            return;
        }
        for at in 0..classes.len() {
            if let Some(class) = classes.get(at).copied()
                && !self.body_is_closed(&class)
                && let Some(class) = classes.get_mut(at)
            {
                class.closed = false;
            }
        }
        let objects = self.objects_of(&mut classes);
        // What is known of one is known of those that it is made of, and of those that are made of it.
        for _ in 0..classes.len() {
            let open: BTreeSet<u32> =
                classes.iter().filter(|class| !class.closed).map(|class| class.name.0).collect();
            let own: BTreeSet<u32> = classes.iter().map(|class| class.name.0).collect();
            let mut more: BTreeSet<u32> = BTreeSet::new();
            for class in &classes {
                let bases = self.bases_of(class);
                if !class.closed {
                    more.extend(bases.iter().map(|base| base.0));
                } else if bases.iter().any(|base| !own.contains(&base.0) || open.contains(&base.0)) {
                    more.insert(class.name.0);
                }
            }
            classes.iter_mut().for_each(|class| class.closed &= !more.contains(&class.name.0));
        }
        classes.retain(|class| class.closed);
        let known: BTreeSet<u32> = classes.iter().map(|class| class.name.0).collect();
        let held = |of: &BTreeSet<u32>| of.iter().all(|class| known.contains(class));
        self.classes.objects = objects.iter().filter(|(_, of)| held(of)).map(|(name, _)| *name).collect();
        self.classes.closed = classes;
    }

    /// What a class is made of, but for `object`.
    fn bases_of(&self, class: &Class) -> Vec<Sym> {
        let head = self.tokens.get(class.from + 2..class.body).unwrap_or_default();
        let name = |token: &Token<'_>| if let Token::Name(sym) = token { Some(*sym) } else { None };
        head.iter().filter_map(name).filter(|sym| self.name(*sym) != b"object").collect()
    }

    fn has_other_ways(&self) -> bool {
        self.tokens.iter().enumerate().any(|(at, token)| match token {
            Token::Name(sym) => WAYS.contains(&self.name(*sym)),
            Token::Operator(b'*') => matches!(
                at.checked_sub(1).and_then(|before| self.tokens.get(before)),
                Some(Token::Keyword(K::Import))
            ),
            _ => false,
        })
    }

    /// All classes that begin at the left, of others of the program or of nothing, and have no decorator.
    fn all_classes(&self) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        let token = |at: usize| self.tokens.get(at).copied();
        let mut decorated = false;
        let mut top = true;
        for (at, each) in self.tokens.iter().enumerate() {
            match each {
                Token::Newline { column } => top = *column == 0,
                Token::Operator(b'@')
                    if top
                        && matches!(
                            at.checked_sub(1).and_then(token),
                            None | Some(Token::Newline { .. })
                        ) =>
                {
                    decorated = true;
                }
                Token::Keyword(K::Def) if top => decorated = false,
                Token::Keyword(K::Class) => {
                    let plain = top && !std::mem::take(&mut decorated);
                    let Some(Token::Name(name)) = token(at + 1) else { continue };
                    let mut head = at + 2;
                    let mut closed = plain;
                    if let Some(Token::Open { kind: b'(', close, .. }) = token(head) {
                        closed &= self
                            .tokens
                            .get(head + 1..close as usize)
                            .unwrap_or_default()
                            .iter()
                            .all(|base| matches!(base, Token::Name(_) | Token::Comma));
                        head = close as usize + 1;
                    }
                    let (Some(Token::Colon), Some(Token::Newline { column })) =
                        (token(head), token(head + 1))
                    else {
                        continue;
                    };
                    let body = head + 2;
                    let ends = |token: &Token<'_>| matches!(token, Token::Newline { column: next } if *next < column);
                    let rest = self.tokens.get(body..).unwrap_or_default();
                    let to = rest.iter().position(ends).map_or(self.tokens.len(), |end| body + end);
                    classes.push(Class { name, from: at, body, to, column, closed });
                }
                _ => {}
            }
        }
        classes
    }

    /// Whether the functions of a class tell nobody of the object, and all of them are called by their names.
    fn body_is_closed(&self, class: &Class) -> bool {
        let token = |at: usize| self.tokens.get(at).copied();
        // The first line begins behind the end of the head.
        let mut column = class.column;
        let mut starts = true;
        let mut is_static = false;
        for at in class.body..class.to {
            if std::mem::take(&mut starts) && column == class.column && !self.may_begin(at, &mut is_static) {
                return false;
            }
            match token(at) {
                Some(Token::Newline { column: next }) => (column, starts) = (next, true),
                Some(Token::Keyword(K::Class)) => return false,
                Some(Token::Name(sym)) => {
                    let alone = token(at + 1) != Some(Token::Dot);
                    let before = |by: usize| at.checked_sub(by).and_then(token);
                    let first = column == class.column
                        && matches!(before(1), Some(Token::Open { kind: b'(', .. }))
                        && matches!(before(3), Some(Token::Keyword(K::Def)));
                    match self.name(sym) {
                        b"self" | b"cls" if alone && !first => return false,
                        b"super" => match token(at + 1) {
                            Some(Token::Open { kind: b'(', close, .. })
                                if token(close as usize + 1) == Some(Token::Dot) => {}
                            _ => return false,
                        },
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        true
    }

    /// Whether what stands in a class at this token is a function that gets the object under its usual name, or none; or a value
    /// that is none. `is_static` tells of the line before, and is told of this one.
    fn may_begin(&self, at: usize, is_static: &mut bool) -> bool {
        let token = |at: usize| self.tokens.get(at).copied();
        let was_static = std::mem::take(is_static);
        match token(at) {
            Some(Token::Text(_) | Token::Ellipsis) => matches!(token(at + 1), Some(Token::Newline { .. })),
            Some(Token::Operator(b'@')) => {
                let Some(Token::Name(kind)) = token(at + 1) else { return false };
                *is_static = self.name(kind) == b"staticmethod";
                matches!(self.name(kind), b"staticmethod" | b"classmethod" | b"property")
                    && matches!(token(at + 2), Some(Token::Newline { .. }))
            }
            Some(Token::Keyword(K::Async)) if token(at + 1) == Some(Token::Keyword(K::Def)) => {
                *is_static = was_static;
                self.may_begin(at + 1, is_static)
            }
            Some(Token::Keyword(K::Def)) => {
                let (Some(Token::Name(name)), Some(Token::Open { .. })) = (token(at + 1), token(at + 2))
                else {
                    return false;
                };
                let name = self.name(name);
                let special = name.starts_with(b"__") && name.ends_with(b"__");
                let given = match token(at + 3) {
                    Some(Token::Name(first)) => matches!(self.name(first), b"self" | b"cls"),
                    _ => false,
                };
                (!special || SPECIAL.contains(&name)) && (given || was_static)
            }
            Some(Token::Keyword(K::Break)) => true,
            // `name = value`, `name: type = value`
            Some(Token::Name(_)) => {
                let mut assigned = false;
                for token in self.tokens.get(at..).unwrap_or_default() {
                    match token {
                        Token::Newline { .. } => return true,
                        Token::Assign => assigned = true,
                        Token::Semicolon | Token::Walrus | Token::Augment(_) => return false,
                        Token::Open { kind: b'f' | b'%', .. } => return false,
                        Token::Name(_) | Token::Keyword(K::Lambda | K::For | K::Await | K::Yield)
                            if assigned =>
                        {
                            return false;
                        }
                        _ => {}
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// The methods of all classes to which the object is given.
    fn methods_of(&self, classes: &[Class]) -> BTreeSet<u32> {
        let mut methods = BTreeSet::new();
        for class in classes {
            let tokens = self.tokens.get(class.body..class.to).unwrap_or_default();
            for four in tokens.windows(4) {
                if let [Token::Keyword(K::Def), Token::Name(method), Token::Open { .. }, Token::Name(first)] =
                    four
                    && self.name(*first) == b"self"
                {
                    methods.insert(method.0);
                }
            }
        }
        methods
    }

    /// Names of objects, each with the classes that it may be of. Classes that somebody else may get are no longer closed.
    fn objects_of(&self, classes: &mut [Class]) -> BTreeMap<u32, BTreeSet<u32>> {
        let token = |at: usize| self.tokens.get(at).copied();
        let begins = |at: Option<usize>| {
            matches!(
                at.map_or(Some(Token::Newline { column: 0 }), token),
                Some(Token::Newline { .. } | Token::Semicolon)
            )
        };
        let ends = |at: usize| matches!(token(at), None | Some(Token::Newline { .. } | Token::Semicolon));
        let methods = self.methods_of(classes);
        let mut objects: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut made: BTreeSet<usize> = BTreeSet::new();
        let mut lost: BTreeSet<u32> = BTreeSet::new();
        let mut names: BTreeMap<u32, u32> = BTreeMap::new();
        for class in &*classes {
            *names.entry(class.name.0).or_default() += 1;
        }
        lost.extend(names.iter().filter(|(_, count)| **count > 1).map(|(name, _)| *name));
        let member = |at: usize| at.checked_sub(1).and_then(token) == Some(Token::Dot);
        for (at, each) in self.tokens.iter().enumerate() {
            let Token::Name(name) = each else { continue };
            if !names.contains_key(&name.0) || member(at) {
                continue;
            }
            let head = classes.iter().find(|class| (class.from..class.body).contains(&at));
            let seen = match token(at + 1) {
                _ if head.is_some_and(|class| class.from + 1 == at) => true,
                // A class that is made of this one.
                _ if head.is_some() => true,
                Some(Token::Open { kind: b'(', close, .. }) => {
                    let after = close as usize + 1;
                    let target = at.checked_sub(2).and_then(token);
                    match (at.checked_sub(1).and_then(token), target) {
                        _ if token(after) == Some(Token::Dot) => true,
                        (Some(Token::Assign), Some(Token::Name(object)))
                            if begins(at.checked_sub(3)) && ends(after) =>
                        {
                            made.insert(at - 2);
                            objects.entry(object.0).or_default().insert(name.0);
                            true
                        }
                        _ => begins(at.checked_sub(1)) && ends(after),
                    }
                }
                Some(Token::Dot) => match token(at + 2) {
                    Some(Token::Name(member)) => !methods.contains(&member.0),
                    _ => false,
                },
                _ => false,
            };
            if !seen {
                lost.insert(name.0);
            }
        }
        for (at, each) in self.tokens.iter().enumerate() {
            let Token::Name(name) = each else { continue };
            let Some(of) = objects.get(&name.0) else { continue };
            if !member(at) && !made.contains(&at) && token(at + 1) != Some(Token::Dot) {
                lost.extend(of);
            }
        }
        for class in classes.iter_mut() {
            class.closed &= !lost.contains(&class.name.0);
        }
        objects
    }
}
