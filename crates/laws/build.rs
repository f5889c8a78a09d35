//! Hashes the sources of each law, with those of other laws that it builds on, for `Laws`' fingerprints.

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where laws are, seen from this folder.
const ROOTS: [&str; 2] = ["senders", "routers"];

fn main() -> io::Result<()> {
    let source = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("src");
    let mut modules = BTreeMap::new();
    for root in ROOTS {
        println!("cargo::rerun-if-changed={}", source.join(root).display());
        collect(&source.join(root), root, &mut modules)?;
    }
    let table: String = modules
        .keys()
        .map(|module| format!("    (\"{module}\", \"{}\"),\n", fingerprint(module, &modules)))
        .collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo")).join("sources.rs");
    fs::write(out, format!("const SOURCES: &[(&str, &str)] = &[\n{table}];\n"))
}

/// Adds the modules below a folder, each by its path (`senders::vcp`) with its text; a module that is a
/// folder comes with all that is in it. The root's `mod.rs`, the list of laws, belongs to no law.
fn collect(folder: &Path, path: &str, modules: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let module = format!("{path}::{stem}");
        if file.is_dir() {
            collect(&file, &module, modules)?;
        } else if stem != "mod" {
            modules.entry(module).or_default().push_str(&fs::read_to_string(&file)?);
        } else if !ROOTS.contains(&path) {
            modules.entry(path.to_owned()).or_default().push_str(&fs::read_to_string(&file)?);
        }
    }
    Ok(())
}

/// The hash of a module, its parents, and every module whose name they mention, and so on.
fn fingerprint(module: &str, modules: &BTreeMap<String, String>) -> String {
    let mut reached = BTreeSet::new();
    let mut open = vec![module.to_owned()];
    while let Some(module) = open.pop() {
        let Some(text) = modules.get(&module) else { continue };
        if !reached.insert(module.clone()) {
            continue;
        }
        open.extend(module.rsplit_once("::").map(|(parent, _)| parent.to_owned()));
        let inside = format!("{module}::");
        let named = |other: &&String| other.starts_with(&inside) || mentions(text, other);
        open.extend(modules.keys().filter(named).cloned());
    }
    let mut hash = Sha256::new();
    for module in reached {
        let text = &modules[&module];
        hash.update(format!("{module} {}\n{text}", text.len()));
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Does a text speak of a module, as `name::` or `super::name`?
fn mentions(text: &str, module: &str) -> bool {
    let name = module.rsplit("::").next().unwrap_or(module);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_word)
            && !after.starts_with(is_word)
            && (after.starts_with("::") || before.ends_with("super::"))
    })
}
