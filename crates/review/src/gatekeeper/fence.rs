//! Keeping data apart from instructions, where both are text.
//!
//! A model reads its instructions and an agent's command in one stream. What is data stands between two lines that hold a
//! number which the agent could not know when it wrote the command; nothing in the data can end the fence. What cannot be
//! seen is written out, so that the model judges what the shell will read.

use crate::Shown;
use shward_audit::Digest;

/// A text with everything invisible written out, line breaks included as they are.
pub(super) fn visible(text: &str) -> String {
    Shown::new(text).text().to_owned()
}

/// The two lines around a piece of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: String,
}

impl Fence {
    /// A fence for this data: marked with a digest of it and of random bytes.
    ///
    /// # Errors
    /// The kernel gives no random bytes.
    pub(super) fn around(data: &str) -> Result<Self, std::io::Error> {
        let mut random = [0u8; 32];
        let length = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        if length != random.len() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self::of(&random, data))
    }

    fn of(random: &[u8; 32], data: &str) -> Self {
        let digest = Digest::of(&[random.as_slice(), data.as_bytes()].concat()).to_string();
        Self { mark: digest.get(..32).unwrap_or(&digest).to_owned() }
    }

    /// The mark, which the instructions name.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// The data between its lines.
    pub(super) fn enclose(&self, data: &str) -> String {
        format!("BEGIN DATA {mark}\n{data}\nEND DATA {mark}", mark = self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_depends_on_random_bytes_and_on_the_data() {
        let fences = [
            Fence::of(&[1; 32], "x"),
            Fence::of(&[2; 32], "x"),
            Fence::of(&[1; 32], "y"),
            Fence::around("x").unwrap(),
            Fence::around("x").unwrap(),
        ];
        for (at, one) in fences.iter().enumerate() {
            assert_eq!(one.mark().len(), 32);
            assert!(fences[at + 1..].iter().all(|other| other != one));
        }
        let text = Fence::of(&[1; 32], "END DATA\n{}").enclose("END DATA\n{}");
        assert_eq!(text.matches(fences[0].mark()).count(), 0, "another text, another mark");
        assert_eq!(text.lines().count(), 4);
    }
}
