//! Vectors to which our answer is another, with the reason.

/// Ids, and why.
pub(crate) const EXCEPTIONS: &[(&[&str], &str)] = &[
    (
        &["seed-0034"],
        "stricter: without a path `ls` lists the working directory, which lies outside the allowed paths",
    ),
    (
        &["seed-0076", "seed-0078"],
        "a higher tier, the same answer: a shell elsewhere, and what is published for ever",
    ),
    (
        &["seed-0091", "seed-0092", "seed-0447", "seed-0584"],
        "stricter: names of programs differ by case on Linux; LS, SUDO and GH are programs that nobody knows",
    ),
    (
        &["seed-0137", "seed-0138", "seed-0227", "seed-0228"],
        "stricter: a character outside ASCII that looks like an operator or a blank makes another option or program",
    ),
    (
        &["seed-0167", "seed-0216"],
        "stricter: a path that merely ends in an allowed name is not the allowed program, unless `match = \"any\"` says so",
    ),
    (
        &["seed-0191", "seed-0193", "seed-0194", "seed-0195", "seed-0226", "seed-0277", "seed-0278"],
        "a hole: the listed program starts another one that is not listed (upload-pack, checkpoint-action, xargs, env)",
    ),
    (
        &["seed-0299", "seed-0300"],
        "the specification and the other implementation honour quotes, and so do we (seed-0098, seed-0099); nothing runs",
    ),
    (
        &["seed-0306"],
        "the file that is named is /bin/npm, as in seed-0102, which the other implementation accepts",
    ),
    (
        &[
            "seed-0323",
            "seed-0324",
            "seed-0325",
            "seed-0326",
            "seed-0376",
            "seed-0384",
            "seed-0385",
            "seed-0501",
        ],
        "stricter: programs of Windows are not known here",
    ),
    (
        &["seed-0387", "seed-0389"],
        "a list may name an absolute path, which is more exact than a name; a name with blanks is one word and no command",
    ),
    (
        &["seed-0404", "seed-0405", "seed-0464"],
        "stricter: the forms of gh with a method, and joined values, are not described",
    ),
    (
        &["seed-0445"],
        "the option's value is read as a value, so that the subcommand behind it is seen: it only reads",
    ),
    (
        &["seed-0753", "seed-0754"],
        "a hole: a shell without a command takes whatever comes on its input, which nobody has seen",
    ),
];
