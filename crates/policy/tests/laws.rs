//! Laws that hold for every plan.

use proptest::prelude::*;
use proptest::sample::select;
use shward_analysis::{
    Certainty, Covers, Effect, EffectKind, Endpoint, Origins, Plan, Rest, Scope, Target, Unknown, WriteMode,
};
use shward_policy::{Context, Decision, Policy, Profile, Verdict, decide};
use shward_syntax::Span;

const PATHS: [&str; 9] = [
    "",
    "/",
    "/home/u",
    "/home/u/proj",
    "/home/u/proj/x",
    "/etc/shadow",
    "/dev/sda",
    "/proc/sys/x",
    "/tmp/x",
];

fn targets() -> impl Strategy<Value = Target<'static>> {
    let scopes = select(vec![
        Scope::Harmless,
        Scope::Product,
        Scope::Workspace,
        Scope::Temp,
        Scope::Repository,
        Scope::Elsewhere,
        Scope::Home,
        Scope::System,
        Scope::Unknown,
        Scope::Persistence,
        Scope::Environment,
        Scope::Device,
        Scope::Secret,
        Scope::Own,
    ]);
    let rests = select(vec![Rest::Exact, Rest::Glob, Rest::Below, Rest::Unknown]);
    (select(PATHS.to_vec()), rests, scopes, any::<bool>(), any::<[bool; 10]>()).prop_map(
        |(path, rest, scope, tree, c)| {
            let [root, home, workspace, repository, system, secrets, processes, own, obeyed, guarded] = c;
            let covers = Covers {
                root,
                home,
                workspace,
                repository,
                system,
                secrets,
                processes,
                own,
                obeyed,
                guarded,
            };
            Target { path: path.as_bytes(), rest, scope, tree, covers }
        },
    )
}

fn origins() -> impl Strategy<Value = Origins> {
    let all =
        ["literal", "file", "secret", "environment", "network", "decoded", "terminal", "written", "unknown"];
    proptest::collection::vec(select(all.to_vec()), 0..3).prop_map(|names| {
        names.into_iter().filter_map(Origins::from_name).fold(Origins::NONE, Origins::union)
    })
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    select(words.to_vec())
}

fn kinds() -> impl Strategy<Value = EffectKind<'static>> {
    let modes = select(vec![WriteMode::Replace, WriteMode::Append, WriteMode::Truncate, WriteMode::Below]);
    let host =
        prop_oneof![Just(None), word(&["example.com", "169.254.169.254"]).prop_map(|h| Some(h.as_bytes()))];
    let endpoint =
        (host, any::<bool>()).prop_map(|(host, loopback)| Endpoint { host, loopback, ..Endpoint::UNKNOWN });
    let reasons = select(vec![
        Unknown::Program,
        Unknown::Option(b"-x"),
        Unknown::Argument,
        Unknown::Variable(b"LD_PRELOAD"),
        Unknown::Budget("time"),
        Unknown::Exhausted("time"),
        Unknown::Syntax,
    ]);
    prop_oneof![
        targets().prop_map(|target| EffectKind::Read { target }),
        targets().prop_map(|target| EffectKind::List { target }),
        (targets(), modes, origins()).prop_map(|(target, mode, content)| EffectKind::Write {
            target,
            mode,
            content
        }),
        targets().prop_map(|target| EffectKind::Delete { target, kept: false }),
        (targets(), word(&["mode", "owner", "setuid", "world-writable"]))
            .prop_map(|(target, what)| EffectKind::Metadata { target, what }),
        (targets(), origins()).prop_map(|(target, origin)| EffectKind::Execute { target, origin }),
        (word(&["shell", "project", "terminal", "python"]), origins())
            .prop_map(|(language, origin)| EffectKind::Code { language, text: None, origin, source: None }),
        (endpoint.clone(), origins()).prop_map(|(endpoint, sends)| EffectKind::Connect {
            endpoint,
            sends,
            source: None
        }),
        endpoint.prop_map(|endpoint| EffectKind::Listen { endpoint }),
        word(&["own", "process", "name", "all"]).prop_map(|what| EffectKind::Signal { what }),
        word(&["sudo", "capability", "account", "new"]).prop_map(|what| EffectKind::Privilege { what }),
        word(&["cron", "new"]).prop_map(|what| EffectKind::Persist { what }),
        word(&["disk", "limits", "new"]).prop_map(|what| EffectKind::System { what }),
        word(&["install", "publish", "new"]).prop_map(|action| EffectKind::Package { action }),
        word(&["commit", "push", "discard", "rewrite"]).prop_map(|action| EffectKind::Vcs { action }),
        word(&["read", "change", "destroy"]).prop_map(|action| EffectKind::Remote { action, service: "aws" }),
        reasons.prop_map(|reason| EffectKind::Unknown { reason }),
    ]
}

fn effects() -> impl Strategy<Value = Vec<Effect<'static>>> {
    let one = (kinds(), 0u32..40)
        .prop_map(|(kind, at)| Effect::new(kind, Certainty::Possible, Span::new(at, at + 1), None));
    proptest::collection::vec(one, 0..6)
}

fn verdict(profile: Profile, effects: &[Effect<'_>], contained: bool) -> Verdict {
    let plan = Plan { invocations: &[], effects, refused: None, notes: &[], led: &[] };
    let context = Context { contained, cwd: b"/home/u/proj", workspace: b"/home/u/proj", home: b"/home/u" };
    decide(&Policy::new(profile), &plan, &context)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Law 2: an effect more never relaxes.
    #[test]
    fn adding_an_effect_never_relaxes(effects in effects(), more in effects(), contained: bool, at in 0usize..6) {
        for profile in Profile::ALL {
            let before = verdict(*profile, &effects, contained);
            let mut all = effects.clone();
            let at = at.min(all.len());
            all.splice(at..at, more.iter().copied());
            let after = verdict(*profile, &all, contained);
            prop_assert!(after.decision() >= before.decision());
            prop_assert!(after.tier() >= before.tier());
        }
    }

    /// Law 3: the strictest counts, whatever the order.
    #[test]
    fn the_strictest_effect_decides(effects in effects(), contained: bool) {
        for profile in Profile::ALL {
            let whole = verdict(*profile, &effects, contained);
            let single: Vec<Verdict> =
                effects.iter().map(|effect| verdict(*profile, std::slice::from_ref(effect), contained)).collect();
            let strictest = single.iter().map(Verdict::decision).max().unwrap_or(Decision::Allow);
            prop_assert_eq!(whole.decision(), strictest);
            let mut backwards = effects.clone();
            backwards.reverse();
            prop_assert_eq!(verdict(*profile, &backwards, contained).decision(), strictest);
        }
    }

    /// Law 5: containment earns freedom, and never takes it.
    #[test]
    fn containment_never_makes_stricter(effects in effects()) {
        for profile in Profile::ALL {
            let alone = verdict(*profile, &effects, false);
            let contained = verdict(*profile, &effects, true);
            prop_assert!(contained.decision() <= alone.decision());
            prop_assert_eq!(contained.tier(), alone.tier());
        }
    }

    /// A verdict that lets something run has a grant and says why it asks; one that denies has none.
    #[test]
    fn decisions_findings_and_grants_agree(effects in effects(), contained: bool) {
        let verdict = verdict(Profile::Workspace, &effects, contained);
        prop_assert_eq!(verdict.grant().is_some(), verdict.decision() != Decision::Deny);
        prop_assert_eq!(verdict.findings().is_empty(), verdict.decision() == Decision::Allow);
        prop_assert!(verdict.findings().is_sorted_by(|a, b| a.decision >= b.decision));
    }
}
