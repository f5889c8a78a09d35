//! Hashes the sources that decide what a run yields, for `knee._core.__fingerprint__`. Laws have fingerprints of
//! their own, and fluid models are not kept, so that theirs do not count.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// What decides it, seen from the workspace's root.
const SOURCES: [&str; 6] = [
    "Cargo.lock",
    "crates/input/src",
    "crates/laws/src",
    "crates/path/src",
    "crates/scenario/src",
    "crates/sim/src",
];
/// What below does not: it counts for the runs of its law alone.
const LAWS: [&str; 2] = ["crates/laws/src/senders", "crates/laws/src/routers"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    let mut files = Vec::new();
    for source in SOURCES {
        let path = root.join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        collect(&path, &mut files)?;
    }
    files.retain(|file| !LAWS.iter().any(|laws| file.starts_with(root.join(laws))));
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("found under it").to_string_lossy();
        let text = fs::read(&file)?;
        hash.update(format!("{name} {}\n", text.len()));
        hash.update(text);
    }
    let hex: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=KNEE_FINGERPRINT={hex}");
    Ok(())
}

/// Adds `path`, or the files below it.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.exists() {
        files.push(path.to_path_buf());
    }
    Ok(())
}
