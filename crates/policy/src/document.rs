//! One policy file that was read: its settings, and its rules ready to be matched.
//!
//! Reading a long file takes longer than judging a command, and a hook is a process for each command. What was found of a
//! file can therefore be kept as bytes and taken up again ([`Document::kept`]). Those bytes hold the text of the file, and count
//! only for a file of that very text, so that whatever changes in the file, however its times and sizes look, is read anew.
//! That nobody else has written them is for the caller to see to.

use crate::compiled::Compiled;
use crate::examples;
use crate::file::{self, BadPolicy, Source};
use crate::settings::{Layer, Settings};
use crate::spec::RuleSpec;
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use std::sync::Arc;

/// A policy file that was read.
#[derive(Debug, Clone)]
pub struct Document {
    source: Source,
    pub(crate) settings: Settings,
    rules: Option<Arc<Compiled>>,
    rule_text: Vec<Range<usize>>,
    digest: [u8; 32],
}

impl Document {
    /// Reads a file and tries its rules on their examples.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(source: Source) -> Result<Self, BadPolicy> {
        let read = file::parse(&source)?;
        let rules = compile(&read.rules, &source)?;
        let file::Read { settings, rule_text, .. } = read;
        let digest = Sha256::digest(source.text.as_bytes()).into();
        Ok(Self { settings, rules, rule_text, digest, source })
    }

    /// The file.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = &Arc<Compiled>> {
        self.rules.iter()
    }

    /// SHA-256 of the text.
    pub(crate) const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// What was found of the file, as bytes; `None` when it has no rules, so that reading it again is as quick.
    #[must_use]
    pub fn keep(&self) -> Option<Vec<u8>> {
        let rules = self.rules.as_ref()?;
        let mut body = self.digest.to_vec();
        let mut word = |n: usize| body.extend_from_slice(&(n as u64).to_le_bytes());
        for n in [layer_number(self.source.layer), self.source.text.len(), self.rule_text.len()] {
            word(n);
        }
        for range in &self.rule_text {
            word(range.start);
            word(range.end);
        }
        body.extend_from_slice(rules.image());
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&checksum(&body).to_le_bytes());
        out.extend_from_slice(&(body.len() as u64).to_le_bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(self.source.text.as_bytes());
        Some(out)
    }

    /// The document of a file of which this was [kept](Self::keep).
    ///
    /// # Errors
    /// The file itself, to be read: these bytes are about another text, name or layer, were made by another build of this
    /// program, or are damaged.
    pub fn kept(source: Source, bytes: Vec<u8>) -> Result<Self, Source> {
        match of_kept(&source, bytes) {
            Some((settings, rules, rule_text, digest)) => {
                Ok(Self { source, settings, rules: Some(Arc::new(rules)), rule_text, digest })
            }
            None => Err(source),
        }
    }
}

/// Which program makes and reads the bytes: any change of what reads files or judges examples is another one.
const MAGIC: &[u8] = concat!("shward policy ", env!("SHWARD_POLICY_BUILD"), "\n").as_bytes();

/// Bytes of the digest and the three numbers before the ranges.
const HEAD: usize = 32 + 3 * 8;

type Kept = (Settings, Compiled, Vec<Range<usize>>, [u8; 32]);

fn of_kept(source: &Source, bytes: Vec<u8>) -> Option<Kept> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, rest) = number(rest)?;
    let (length, rest) = number(rest)?;
    let (body, text) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    if text != source.text.as_bytes() || checksum(body) != sum {
        return None;
    }
    let (digest, mut rest) = body.split_first_chunk::<32>()?;
    let mut next = || {
        let (n, after) = number(rest)?;
        rest = after;
        usize::try_from(n).ok()
    };
    let [layer, length, ranges] = [next()?, next()?, next()?];
    if layer != layer_number(source.layer) || length != text.len() || ranges > body.len() / 16 {
        return None;
    }
    let rule_text: Vec<Range<usize>> = (0..ranges).map(|_| Some(next()?..next()?)).collect::<Option<_>>()?;
    let digest = *digest;
    let start = MAGIC.len() + 16 + HEAD + 16 * ranges;
    let end = MAGIC.len() + 16 + body.len();
    let rules = Compiled::of_image(bytes, start..end, source.layer)?;
    if rules.file() != source.name {
        return None;
    }
    let settings = file::settings(source, &rule_text).ok()?;
    Some((settings, rules, rule_text, digest))
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*number), rest))
}

const fn layer_number(layer: Layer) -> usize {
    layer as usize
}

/// Tells damage apart from what was written. It is no defence: whoever can write the bytes can write the sum.
fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(ODD).rotate_left(29);
    let mut lanes = [bytes.len() as u64, 1, 2, 3];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    let rest = rest.iter().fold(0, |sum, byte| mix(sum, u64::from(*byte)));
    lanes.into_iter().fold(rest, mix)
}

fn compile(rules: &[RuleSpec<'_>], source: &Source) -> Result<Option<Arc<Compiled>>, BadPolicy> {
    if rules.is_empty() {
        return Ok(None);
    }
    let compiled = Compiled::new(rules, source.layer, &source.name);
    // Those of the profiles are tested with the program.
    if source.layer != Layer::BuiltIn {
        let problems = examples::check(rules, &compiled);
        if !problems.is_empty() {
            return Err(BadPolicy::new(&source.name, &source.text, problems));
        }
    }
    Ok(Some(Arc::new(compiled)))
}
