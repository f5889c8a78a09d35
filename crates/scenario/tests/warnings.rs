//! What is accepted with a warning: likely not meant, but no reason to refuse a run.

use knee_scenario::{Format, Scenario, Source};

const TEXT: &str = r#"duration = "10 s"
protocol = "sack"
[dumbbell]
rtt = "80 ms"
flows = 2
[bottleneck]
rate = "10 Mbps"
"#;

fn warnings(text: &str, set: &[(&str, &str)]) -> Vec<String> {
    let set: Vec<(String, String)> =
        set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let source = Source { text, name: "mine.toml", format: Format::Toml, overrides: &set };
    let scenario = Scenario::parse(&source).unwrap_or_else(|problem| panic!("{problem}"));
    scenario.warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn a_usual_scenario_has_none() {
    assert_eq!(warnings(TEXT, &[]), [""; 0]);
}

#[test]
fn each_doubt_is_told_with_its_place() {
    let flows = "[[flows]]\nname = \"late\"\npath = \"forward\"\n";
    let changes = "rate_changes = [{ at = \"5 s\", rate = \"1 Mbps\" }, { at = \"10 s\", rate = \"2 Mbps\" }]\n";
    let probe = "[[probe]]\nquantity = \"queue\"\ninterval = \"20 s\"\n";
    for (more, set, said) in [
        (
            "",
            vec![("duration", "80 ms"), ("dumbbell.start", "0 s")],
            vec![
                "--set duration=80 ms: the run ends before the first ACK can return: the shortest RTT is 80 ms",
            ],
        ),
        (
            "",
            vec![("warmup", "9.95 s")],
            vec![
                "--set warmup=9.95 s: it leaves 50 ms to measure, less than the shortest RTT, 80 ms",
            ],
        ),
        (
            probe,
            vec![],
            vec![
                "mine.toml:10: probe.0.interval = \"20 s\": the run ends at 10 s, before the first sample",
            ],
        ),
        (
            changes,
            vec![],
            vec![
                "mine.toml:8: bottleneck.rate_changes.1.at = \"10 s\": the run ends at 10 s; the rate never \
                 changes so",
            ],
        ),
        ("loss = 1\n", vec![], vec!["mine.toml:8: bottleneck.loss = 1: every packet is lost"]),
        (
            &format!("{flows}start = \"10 s\"\n"),
            vec![],
            vec![
                "mine.toml:11: flows.late.start = \"10 s\": the run ends at 10 s, before its flows begin",
            ],
        ),
        (
            &format!("{flows}count = 3\nstart = {{ step = {{ from = \"0 s\", by = \"6 s\" }} }}\n"),
            vec![],
            vec![
                "mine.toml:12: flows.late.start: the run ends at 10 s, before the last of its flows begins",
            ],
        ),
        (
            &format!("{flows}stop = \"11 s\"\n"),
            vec![],
            vec![
                "mine.toml:11: flows.late.stop = \"11 s\": the run ends at 10 s, before its flows stop",
            ],
        ),
        (
            "[transport]\ninitial_window = 20\nmax_window = 10\n",
            vec![],
            vec![
                "mine.toml:9: transport.initial_window = 20: flows `forward` begin with 20 packets, but \
                 max_window allows only 10",
            ],
        ),
    ] {
        let text = format!("{TEXT}{more}");
        assert_eq!(warnings(&text, &set), said);
    }
}

/// A scenario as run says the same as the one that was written.
#[test]
fn a_run_cut_short_is_warned_of_and_not_refused() {
    let text = include_str!("../../../scenarios/quickstart.toml");
    let short = warnings(text, &[("duration", "300 ms")]);
    assert!(
        short.iter().all(|said| said.contains("before the last of its flows begins")),
        "{short:?}"
    );
    assert!(!short.is_empty());
}
