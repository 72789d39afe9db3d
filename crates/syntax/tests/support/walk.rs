//! Visits every span of a tree with its children, to check that they nest.

use shward_syntax::*;

/// What is to be known of the source.
struct Source<'s> {
    len: u32,
    text: &'s [u8],
}

/// Checks that spans lie within the source, within their parents, and in order.
pub fn check(parsed: &Parsed<'_>, source: &[u8]) {
    let source = &Source { len: source.len() as u32, text: source };
    let whole = Span::new(0, source.len);
    for note in parsed.notes {
        within(note.span, whole, "note");
    }
    script(&parsed.script, whole, source);
}

fn within(inner: Span, outer: Span, what: &str) {
    assert!(inner.start <= inner.end, "{what}: {inner:?} is backwards");
    assert!(outer.start <= inner.start && inner.end <= outer.end, "{what}: {inner:?} is not in {outer:?}");
}

fn script(script: &Script<'_>, outer: Span, source: &Source<'_>) {
    within(script.span, outer, "script");
    let mut end = script.span.start;
    let mut line = 0;
    for item in script.items {
        within(item.span, script.span, "item");
        assert!(item.span.start >= end, "items out of order");
        let between = source.text.get(end as usize..item.span.start as usize);
        let newline = between.is_some_and(|text| text.contains(&b'\n'));
        assert!(item.line == line || (item.line == line + 1 && newline), "line of {:?}", item.span);
        (end, line) = (item.span.end, item.line);
        pipeline(&item.list.first, item.span, source);
        for (_, next) in item.list.rest {
            pipeline(next, item.span, source);
        }
    }
}

fn pipeline(pipeline: &Pipeline<'_>, outer: Span, source: &Source<'_>) {
    within(pipeline.span, outer, "pipeline");
    for stage in pipeline.stages {
        command(stage.command, pipeline.span, source);
    }
}

fn command(command: &Command<'_>, outer: Span, source: &Source<'_>) {
    within(command.span, outer, "command");
    let span = command.span;
    for redirect in command.redirects {
        within(redirect.span, span, "redirect");
        match redirect.target {
            RedirectTarget::Word(target) => word(&target, redirect.span, source),
            RedirectTarget::HereDocument(document) => {
                within(document.body_span(), Span::new(0, source.len), "here-document");
                parts(document.body(), document.body_span(), source);
            }
        }
    }
    let list = |inner: &Script<'_>| script(inner, span, source);
    match command.kind {
        CommandKind::Simple(simple) => {
            for one in simple.assignments {
                assignment(one, span, source);
            }
            for one in simple.words {
                word(one, span, source);
            }
        }
        CommandKind::BraceGroup(inner) | CommandKind::Subshell(inner) => list(&inner),
        CommandKind::If(inner) => {
            for (condition, body) in inner.arms {
                list(condition);
                list(body);
            }
            inner.otherwise.iter().for_each(list);
        }
        CommandKind::While(inner) | CommandKind::Until(inner) => {
            list(&inner.condition);
            list(&inner.body);
        }
        CommandKind::For(inner) | CommandKind::Select(inner) => {
            within(inner.name_span, span, "loop name");
            for one in inner.words.unwrap_or(&[]) {
                word(one, span, source);
            }
            list(&inner.body);
        }
        CommandKind::ArithmeticFor(inner) => {
            for one in [&inner.init, &inner.test, &inner.step] {
                arithmetic(one, span, source);
            }
            list(&inner.body);
        }
        CommandKind::Case(inner) => {
            word(&inner.word, span, source);
            for arm in inner.arms {
                for pattern in arm.patterns {
                    word(pattern, span, source);
                }
                list(&arm.body);
            }
        }
        CommandKind::Conditional(inner) => test(inner.expression, span, source),
        CommandKind::Arithmetic(inner) => arithmetic(inner, span, source),
        CommandKind::Function(inner) => {
            within(inner.name_span, span, "function name");
            self::command(inner.body, span, source);
        }
        CommandKind::Coprocess(inner) => self::command(inner.body, span, source),
    }
}

fn test(expression: &Test<'_>, outer: Span, source: &Source<'_>) {
    match expression {
        Test::And(left, right) | Test::Or(left, right) => {
            test(left, outer, source);
            test(right, outer, source);
        }
        Test::Not(inner) | Test::Group(inner) => test(inner, outer, source),
        Test::Unary(_, operand) | Test::Word(operand) => word(operand, outer, source),
        Test::Binary(_, left, right) => {
            word(left, outer, source);
            word(right, outer, source);
        }
    }
}

fn assignment(assignment: &Assignment<'_>, outer: Span, source: &Source<'_>) {
    within(assignment.span, outer, "assignment");
    if let Some(subscript) = &assignment.subscript {
        arithmetic(subscript, assignment.span, source);
    }
    match assignment.value {
        AssignmentValue::Scalar(value) => word(&value, assignment.span, source),
        AssignmentValue::Array(elements) => {
            for element in elements {
                if let Some(subscript) = element.subscript() {
                    arithmetic(subscript, assignment.span, source);
                }
                word(&element.value(), assignment.span, source);
            }
        }
    }
}

fn arithmetic(expression: &Arithmetic<'_>, outer: Span, source: &Source<'_>) {
    within(expression.span, outer, "arithmetic");
    parts(expression.parts, expression.span, source);
}

fn word(word: &Word<'_>, outer: Span, source: &Source<'_>) {
    within(word.span(), outer, "word");
    parts(&word.parts(), word.span(), source);
}

fn parts(parts: &[WordPart<'_>], outer: Span, source: &Source<'_>) {
    let mut end = outer.start;
    for one in parts {
        within(one.span, outer, "part");
        // The pieces of a literal that was joined over a line continuation share its span.
        let shared = matches!(one.kind, PartKind::Literal(_) | PartKind::Brace(_) | PartKind::Tilde(_));
        assert!(one.span.start >= end || shared, "parts out of order: {:?} after {end}", one.span);
        end = one.span.end;
        part(one, source);
    }
}

fn part(one: &WordPart<'_>, source: &Source<'_>) {
    let span = one.span;
    match one.kind {
        PartKind::DoubleQuoted(inner) | PartKind::Locale(inner) => parts(inner, span, source),
        PartKind::ExtendedGlob(glob) => glob.patterns.iter().for_each(|pattern| word(pattern, span, source)),
        PartKind::Brace(Brace::List(words)) => words.iter().for_each(|inner| word(inner, span, source)),
        PartKind::CommandSubstitution(inner) => script(&inner.script, span, source),
        PartKind::ProcessSubstitution(inner) => script(&inner.script, span, source),
        PartKind::Arithmetic(inner) => arithmetic(inner, span, source),
        PartKind::ArrayAssignment(inner) => assignment(inner, span, source),
        PartKind::Parameter(parameter) => parameter_operands(parameter, span, source),
        _ => {}
    }
}

fn parameter_operands(parameter: &Parameter<'_>, span: Span, source: &Source<'_>) {
    if let Some(Subscript::Index(index)) = &parameter.subscript() {
        arithmetic(index, span, source);
    }
    match parameter.operation() {
        ParameterOperation::Default { word: inner, .. }
        | ParameterOperation::Assign { word: inner, .. }
        | ParameterOperation::Error { word: inner, .. }
        | ParameterOperation::Alternative { word: inner, .. }
        | ParameterOperation::RemovePrefix { pattern: inner, .. }
        | ParameterOperation::RemoveSuffix { pattern: inner, .. }
        | ParameterOperation::Case { pattern: inner, .. } => word(&inner, span, source),
        ParameterOperation::Replace { pattern, replacement, .. } => {
            word(pattern, span, source);
            replacement.iter().for_each(|inner| word(inner, span, source));
        }
        ParameterOperation::Substring { offset, length } => {
            arithmetic(offset, span, source);
            length.iter().for_each(|inner| arithmetic(inner, span, source));
        }
        _ => {}
    }
}
