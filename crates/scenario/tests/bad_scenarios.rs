//! Every file of `tests/bad` is refused with the sentence in its first line, to the letter.
//!
//! A second line `# set KEY=VALUE` is an override. `{senders}` and `{routers}` stand for the names of all
//! laws and presets. `KNEE_BLESS=1` writes the sentences anew.
#![allow(clippy::disallowed_methods)]

use knee_laws::laws::Laws;
use knee_scenario::{Format, Problem, Scenario, Source};
use std::path::Path;

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.join(", ")
}

/// The parts of a problem are those that its sentence tells.
fn hold_together(problem: &Problem) {
    let Problem { sentence, line, path, given, allowed, nearest } = problem;
    if let Some(line) = line {
        assert!(sentence.contains(&format!(".toml:{line}: ")), "line {line}: {sentence}");
    }
    if let Some(path) = path {
        assert!(sentence.contains(path.as_str()), "{path}: {sentence}");
    }
    assert!(given.is_none() || path.is_some(), "{sentence}");
    assert!(allowed.is_sorted(), "{sentence}");
    assert!(allowed.iter().all(|name| sentence.contains(name.as_str())), "{sentence}");
    // Of units, the sentence alone tells which are allowed.
    assert!(
        allowed.is_empty() || nearest.is_some() == sentence.contains("did you mean"),
        "{sentence}"
    );
    if let Some(nearest) = nearest {
        assert!(allowed.contains(nearest), "{sentence}");
        assert!(sentence.contains(&format!("did you mean `{nearest}`?")), "{sentence}");
    }
}

#[test]
fn bad_scenarios_are_refused_in_one_exact_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 90, "{} files", files.len());
    let laws = Laws::shipped();
    let presets = || laws.presets.iter().map(|preset| preset.name);
    let senders = listed(laws.senders.iter().map(|law| law.info.name.as_str()).chain(presets()));
    let routers = listed(laws.routers.iter().map(|law| law.info.name.as_str()).chain(presets()));
    let mut wrong = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut lines = text.lines();
        let expected = lines.next().unwrap().trim_start_matches("# ");
        let setting = lines.next().and_then(|line| line.strip_prefix("# set "));
        let overrides: Vec<_> = setting
            .and_then(|s| s.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let source = Source { text: &text, name, format: Format::Toml, overrides: &overrides };
        let said = match Scenario::parse(&source) {
            Ok(_) => "accepted".to_owned(),
            Err(problem) => {
                hold_together(&problem);
                problem.to_string()
            }
        };
        let said = said.replace(&senders, "{senders}").replace(&routers, "{routers}");
        if said != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  said     {said}"));
            if std::env::var_os("KNEE_BLESS").is_some() {
                let rest = text.split_once('\n').unwrap().1;
                std::fs::write(&path, format!("# {said}\n{rest}")).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
