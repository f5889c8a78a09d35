//! Nothing that is read panics: random text, random changes of the shipped scenarios, random settings.
#![allow(clippy::disallowed_methods)]

use knee_scenario::{CompareOptions, Format, Interrupt, Laws, Scenario, Source, compare};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Names and texts of the shipped scenarios.
static SHIPPED: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.into_iter().map(read).collect()
});

fn parse(text: &str, name: &str, overrides: &[(String, String)]) -> Result<Scenario, String> {
    let source = Source { text, name, format: Format::Toml, overrides };
    Scenario::parse(&source).map_err(|problem| problem.to_string())
}

#[test]
fn shipped_scenarios_are_fine_and_survive_writing() {
    assert!(SHIPPED.len() >= 5);
    for (name, text) in SHIPPED.iter() {
        let scenario = parse(text, name, &[]).unwrap();
        assert_eq!(format!("{}.toml", scenario.name()), *name);
        assert!(!scenario.variants().is_empty() && !scenario.seeds().is_empty());
        let written = scenario.to_toml();
        let again = parse(&written, "again.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again.to_toml(), written);
        assert_eq!(again.variants(), scenario.variants());
        assert!(
            written.contains(&format!("knee = \"{}\"", env!("CARGO_PKG_VERSION"))),
            "{written}"
        );
    }
}

#[test]
fn json_says_the_same_as_toml() {
    for (name, text) in SHIPPED.iter() {
        let table: toml::Table = toml::from_str(text).unwrap();
        let json = serde_json::to_string(&table).unwrap();
        let source = Source { text: &json, name: "x.json", format: Format::Json, overrides: &[] };
        let scenario = Scenario::parse(&source).unwrap();
        assert_eq!(scenario.to_toml(), parse(text, name, &[]).unwrap().to_toml());
    }
}

#[test]
fn json_problems_name_the_key() {
    let source = |text| Source { text, name: "x.json", format: Format::Json, overrides: &[] };
    let said = |text| Scenario::parse(&source(text)).unwrap_err().to_string();
    assert_eq!(
        said(r#"{"duration": "10"}"#),
        "x.json: duration = \"10\": a time needs a unit (ns, us, ms, s, min, h), such as \"80 ms\""
    );
    assert_eq!(said("[1]"), "x.json: not valid JSON: a scenario is a table");
    assert_eq!(said("{\n]"), "x.json:2: not valid JSON: key must be a string");
}

#[test]
fn compare_builds_a_dumbbell_and_names_the_option_that_is_wrong() {
    let options = CompareOptions {
        protocols: vec!["vcp".to_owned(), "sack/red".to_owned()],
        rate: Some("10 Mbps".to_owned()),
        flows: Some("3".to_owned()),
        rtt_step: Some("2 ms".to_owned()),
        seeds: Some("[4, 7]".to_owned()),
        ..CompareOptions::default()
    };
    let scenario = compare(&options, Laws::shipped(), Interrupt::NEVER).unwrap();
    assert_eq!(scenario.variants(), ["vcp", "sack/red"]);
    assert_eq!(scenario.seeds(), [4, 7]);
    let wrong = |options: CompareOptions| {
        compare(&options, Laws::shipped(), Interrupt::NEVER).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(CompareOptions { rate: Some("10".to_owned()), ..options.clone() }),
        "--rate 10: a rate needs a unit (bps, kbps, Mbps, Gbps, Tbps), such as \"150 Mbps\""
    );
    let unknown = wrong(CompareOptions { protocols: vec!["vpc".to_owned()], ..options.clone() });
    assert!(unknown.starts_with("protocol vpc: there is no sender law `vpc`; there are "));
    assert!(unknown.ends_with("; did you mean `vcp`?"), "{unknown}");
    assert!(wrong(CompareOptions { protocols: vec![], ..options }).starts_with("name at least"));
}

#[test]
fn the_schema_is_json_and_has_every_top_key() {
    let schema: serde_json::Value = serde_json::from_str(&knee_scenario::schema()).unwrap();
    let keys = schema["properties"].as_object().unwrap();
    for key in ["duration", "seeds", "dumbbell", "parking_lot", "variant", "link", "flows", "probe"]
    {
        assert!(keys.contains_key(key), "{key}");
    }
}

#[test]
fn the_catalogue_lists_laws_with_ranges() {
    let catalogue = knee_scenario::catalogue(Laws::shipped());
    let vcp =
        catalogue["senders"].as_array().unwrap().iter().find(|law| law["name"] == "vcp").unwrap();
    let t_rho = vcp["params"].as_array().unwrap().iter().find(|p| p["name"] == "t_rho").unwrap();
    assert_eq!(t_rho["default"], "200 ms");
    assert_eq!(t_rho["range"], "1 ms to 100 s");
}

/// Words that make changes likelier to reach deep checks.
const WORDS: [&str; 24] = [
    "-1",
    "0",
    "1e308",
    "nan",
    "\"\"",
    "\"1 BDP\"",
    "\"0 s\"",
    "\"1 s\"",
    "\"1e5 s\"",
    "[]",
    "{}",
    "true",
    "\"unlimited\"",
    "9223372036854775807",
    "\"1e12 B\"",
    "\"100 Tbps\"",
    "\"1 bps\"",
    "[[1]]",
    "\"vcp\"",
    "\"xcp\"",
    "\"droptail\"",
    "{ law = \"red\" }",
    "\"1000000 BDP\"",
    "\"ü\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_text_never_panics(text in "\\PC*") {
        let _ = parse(&text, "random.toml", &[]);
        let source = Source { text: &text, name: "x.json", format: Format::Json, overrides: &[] };
        let _ = Scenario::parse(&source);
    }

    #[test]
    fn random_settings_never_panic(
        file in 0..SHIPPED.len(), key in "[a-z0-9_.]{0,20}", value in "\\PC{0,20}",
    ) {
        let (name, text) = &SHIPPED[file];
        let _ = parse(text, name, &[(key, value)]);
    }

    #[test]
    fn changed_scenarios_never_panic(
        file in 0..SHIPPED.len(), line in 0_usize..60, word in 0..WORDS.len(), cut in 0_usize..40, how in 0..4,
    ) {
        let (name, text) = &SHIPPED[file];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = line % lines.len();
        match how {
            0 => { lines.remove(line); }
            1 => { let twice = lines[line].clone(); lines.insert(line, twice); }
            2 => {
                let kept: String = lines[line].chars().take(cut).collect();
                lines[line] = kept;
            }
            _ => if let Some((key, _)) = lines[line].clone().split_once('=') {
                lines[line] = format!("{key}= {}", WORDS[word]);
            },
        }
        let said = parse(&lines.join("\n"), name, &[]);
        if let Err(problem) = said {
            prop_assert!(problem.starts_with(name), "{problem}");
            prop_assert!(!problem.contains('\n'), "{problem}");
        }
    }
}
