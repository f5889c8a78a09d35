//! What fuzzing has found, and what the repository holds of each kind.

use std::path::{Path, PathBuf};

/// Gives the target every file of these folders.
fn replay(target: fn(&[u8]), folders: &[&str]) {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for folder in folders {
        let listed = std::fs::read_dir(root.join(folder)).expect("a folder");
        let mut files: Vec<PathBuf> = listed.map(|entry| entry.expect("a file").path()).collect();
        files.retain(|path| path.is_file());
        files.sort();
        assert!(!files.is_empty(), "{folder} is empty");
        for file in files {
            println!("{}", Path::new(&file).display()); // shown if it panics
            target(&std::fs::read(&file).expect("a readable file"));
        }
    }
}

#[test]
fn scenarios() {
    let folders = ["crates/fuzz/corpus/scenario", "scenarios", "crates/scenario/tests/bad"];
    replay(knee_fuzz::scenario, &folders);
}

#[test]
fn vectors() {
    replay(knee_fuzz::vectors, &["crates/fuzz/corpus/vectors", "vectors", "vectors/senders"]);
}

#[test]
fn packets() {
    replay(knee_fuzz::packets, &["crates/fuzz/corpus/packets"]);
}
