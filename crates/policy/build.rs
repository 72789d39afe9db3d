//! Names this build of what reads policy files and judges their examples, so that nothing kept by another build is believed.

// What a build script prints is read by cargo.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Whatever has a part in it, where it is at hand; a packaged crate has its dependencies elsewhere, and a version that never
/// changes its meaning.
const PARTS: [&str; 7] = [
    "src",
    "profiles",
    "../analysis/src",
    "../analysis/build",
    "../analysis/knowledge",
    "../syntax/src",
    "../../Cargo.lock",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    hash.add(env::var("CARGO_PKG_VERSION")?.as_bytes());
    hash.add(env::var("CARGO_FEATURE_UNRESTRICTED").unwrap_or_default().as_bytes());
    println!("cargo::rerun-if-changed=build.rs");
    for part in PARTS {
        let path = root.join(part);
        if path.exists() {
            println!("cargo::rerun-if-changed={part}");
            add(&path, part, &mut hash)?;
        }
    }
    println!("cargo::rustc-env=SHWARD_POLICY_BUILD={}-{:016x}", env::var("CARGO_PKG_VERSION")?, hash.0);
    Ok(())
}

/// FNV-1a (Fowler, Noll and Vo): two builds are told apart, nobody is kept out.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn add(path: &Path, name: &str, hash: &mut Hash) -> Result<(), Box<dyn Error>> {
    if !path.is_dir() {
        hash.add(name.as_bytes());
        hash.add(&fs::read(path)?);
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        add(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), hash)?;
    }
    Ok(())
}
