//! The JSON that goes to a gatekeeper and the JSON that comes back.

use super::fence::visible;
use super::{Answer, Case, GatekeeperError, Input, Opinion};
use crate::shown::is_blank;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The case as one object. Every text in it that an agent may have written is made visible; `altered` says whether that
/// changed the command.
pub(super) fn case(case: &Case<'_>) -> Value {
    let mut object = Map::new();
    object.insert("v".to_owned(), json!(1));
    let altered = match case.input {
        Input::Command(text) => {
            let shown = visible(text);
            let altered = shown != text;
            object.insert("command".to_owned(), Value::String(shown));
            altered
        }
        Input::Argv(argv) => {
            let shown: Vec<String> = argv.iter().map(|word| visible(word)).collect();
            let altered = shown != argv;
            object.insert("argv".to_owned(), json!(shown));
            altered
        }
    };
    object.insert("altered".to_owned(), json!(altered));
    object.insert("cwd".to_owned(), json!(visible(case.cwd)));
    object.insert("workspace".to_owned(), json!(visible(case.workspace)));
    object.insert("contained".to_owned(), json!(case.contained));
    object.insert("tier".to_owned(), json!(case.tier));
    object.insert("reasoning".to_owned(), json!(case.reasoning.map(visible)));
    let finding = |f: &super::CaseFinding<'_>| json!({ "rule": f.rule, "message": visible(f.message) });
    object.insert("findings".to_owned(), case.findings.iter().map(finding).collect());
    object.insert("plan".to_owned(), visible_value(case.plan, 0));
    object.insert("context".to_owned(), visible_value(case.context, 0));
    Value::Object(object)
}

/// How deep a context may be; what is deeper is left out.
const MAX_DEPTH: usize = 16;

fn visible_value(value: &Value, depth: usize) -> Value {
    match value {
        _ if depth > MAX_DEPTH => Value::Null,
        Value::String(text) => Value::String(visible(text)),
        Value::Array(items) => items.iter().map(|item| visible_value(item, depth + 1)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (visible(name), visible_value(value, depth + 1))).collect()
        }
        plain => plain.clone(),
    }
}

/// The answer's JSON schema, in the subset that structured outputs know: every field required, none besides.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["decision", "explanation", "suggested_alternative", "required_clarification"],
        "properties": {
            "decision": { "type": "string", "enum": ["ALLOW", "DENY", "CHALLENGE"] },
            "explanation": { "type": "string" },
            "suggested_alternative": { "type": ["string", "null"] },
            "required_clarification": { "type": ["string", "null"] },
        },
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    decision: Word,
    explanation: String,
    #[serde(default)]
    suggested_alternative: Option<String>,
    #[serde(default)]
    required_clarification: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Word {
    Allow,
    Deny,
    Challenge,
}

/// Reads an answer: exactly one object of this form, nothing before or after.
pub(super) fn opinion(bytes: &[u8]) -> Result<Opinion, GatekeeperError> {
    let wire: Wire = serde_json::from_slice(bytes).map_err(|e| {
        GatekeeperError::Malformed(format!(
            "the answer is not one JSON object with decision and explanation: {e}"
        ))
    })?;
    let answer = match wire.decision {
        Word::Allow => Answer::Allow,
        Word::Deny => Answer::Deny,
        Word::Challenge => Answer::Challenge,
    };
    if is_blank(&wire.explanation) {
        return Err(GatekeeperError::Malformed("the answer has no explanation".to_owned()));
    }
    let some = |text: Option<String>| text.filter(|t| !is_blank(t));
    Ok(Opinion {
        answer,
        explanation: wire.explanation,
        suggested_alternative: some(wire.suggested_alternative),
        required_clarification: some(wire.required_clarification),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_is_an_answer() {
        let good = r#"{"decision":"ALLOW","explanation":"only reads"}"#;
        assert_eq!(opinion(good.as_bytes()).unwrap().answer, Answer::Allow);
        let table = [
            "",
            "ALLOW",
            "null",
            "[]",
            "true",
            r#""ALLOW""#,
            r#"{"decision":"ALLOW"}"#,
            r#"{"decision":"ALLOW","explanation":" "}"#,
            r#"{"decision":"ALLOW","explanation":"\u200b\u2060 "}"#,
            r#"{"decision":"allow","explanation":"x"}"#,
            r#"{"decision":"YES","explanation":"x"}"#,
            r#"{"decision":true,"explanation":"x"}"#,
            r#"{"decision":["ALLOW"],"explanation":"x"}"#,
            r#"{"decision":"DENY","decision":"ALLOW","explanation":"x"}"#,
            r#"{"decision":"ALLOW","explanation":"x","confidence":1}"#,
            r#"{"decision":"ALLOW","explanation":"x"} trailing"#,
            r#"{"decision":"ALLOW","explanation":"x"}{"decision":"DENY","explanation":"x"}"#,
            r#"```json {"decision":"ALLOW","explanation":"x"} ```"#,
            r#"{"decision":"ALLOW","explanation":"x""#,
        ];
        for bad in table {
            assert!(opinion(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
