//! `doctor`: what this machine gives, what the sandbox therefore promises, and what mends each lack.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{JSON, SELF_TEST};
use crate::terminal::{self, Fail};
use crate::{setup, shown};
use shward::{Diagnosis, Firewall};
use std::fmt::Write as _;

/// Carries out the verb.
///
/// # Errors
/// The options are wrong, or the policy cannot be used.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    if let Some(word) = args.operands.first() {
        return Err(Fail::usage(format!("unexpected {word:?}; doctor takes options only")));
    }
    let workspace = Directories::from(args)?.workspace;
    let diagnosis = Firewall::new(setup::policy(args, &workspace)?).diagnose(args.has(&SELF_TEST));
    let notes = setup::untrusted(args, &workspace)?;
    if args.has(&JSON) {
        let mut object = serde_json::to_value(&diagnosis).map_err(|e| Fail::io(e.to_string()))?;
        if let Some(fields) = object.as_object_mut() {
            fields.insert("notes".to_owned(), notes.into());
        }
        terminal::line(&object.to_string())?;
    } else {
        terminal::line(&text(&diagnosis, &notes))?;
    }
    Ok(if diagnosis.is_sound() { Exit::Allow } else { Exit::Found })
}

/// `notes` is what is to be known of the policy.
fn text(diagnosis: &Diagnosis, notes: &[String]) -> String {
    let user = if diagnosis.root { "root" } else { "an ordinary user" };
    let distribution = diagnosis.distribution.as_deref().unwrap_or("an unknown distribution");
    let mut out = format!("Linux {}, {distribution}, as {user}\n\naccount\n", diagnosis.kernel);
    let account = &diagnosis.account;
    for (what, place) in [("policy", &account.policy), ("state", &account.state), ("log", &account.log)] {
        let place = place.as_ref().map_or("none".to_owned(), |p| shown::one_line(&p.display().to_string()));
        let _ = writeln!(out, "  {what:<12}{place}");
    }
    for note in &account.notes {
        let _ = writeln!(out, "      {}", shown::one_line(note));
    }
    for note in notes {
        let _ = writeln!(out, "      {note}");
    }
    out.push_str("\nguarantees\n");
    let widest = diagnosis.guarantees.iter().map(|guarantee| guarantee.name.len()).max().unwrap_or(0);
    for guarantee in &diagnosis.guarantees {
        let _ = writeln!(out, "  {:<widest$}  {}", guarantee.name, guarantee.state);
        for (what, value) in [
            ("because", guarantee.why.as_deref()),
            ("mend", guarantee.fix.as_deref()),
            ("lost", guarantee.loss),
        ] {
            if let Some(value) = value {
                let _ = writeln!(out, "      {what}: {value}");
            }
        }
    }
    out.push_str("\nalso\n");
    for feature in &diagnosis.features {
        let _ = writeln!(out, "  {:<14}{}\n      {}", feature.name, feature.state, feature.meaning);
    }
    out.push_str("\nsettings\n");
    for (name, value) in &diagnosis.settings {
        let _ = writeln!(out, "  {name} = {value}");
    }
    out.push_str("\ncontainments\n");
    for containment in &diagnosis.containments {
        let without = match containment.without.as_slice() {
            [] => String::new(),
            names => format!(", without {}", names.join(" ")),
        };
        let _ = writeln!(out, "  {:<17}{}{without}", containment.name, containment.state);
        for attack in containment.self_test.iter().flatten() {
            let _ = writeln!(
                out,
                "      {:<9}{}",
                if attack.stopped { "stopped" } else { "WORKED" },
                attack.name
            );
        }
        if let Some(error) = &containment.self_test_error {
            let _ = writeln!(out, "      {error}");
        }
    }
    out
}
