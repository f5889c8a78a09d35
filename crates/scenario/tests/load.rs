//! MLCP and BMCC in packets, against what their author reports (Qazi, PhD dissertation, 2010).
#![allow(clippy::disallowed_methods)]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use knee_scenario::{Control, Format, Results, Scenario, Source, run};

fn results(text: &str) -> Results {
    let source = Source { text, name: "test.toml", format: Format::Toml, overrides: &[] };
    let scenario = Scenario::parse(&source).unwrap_or_else(|problem| panic!("{problem}"));
    run(&scenario, &Control { threads: Some(1), ..Control::default() }).unwrap()
}

/// Of the forward bottleneck, or with `row` 1 of the one back.
fn number(results: &Results, name: &str, row: usize) -> f64 {
    results.summary.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(row)
}

fn dumbbell(rate: &str, variant: &str, reverse: u32) -> String {
    format!(
        "duration = \"40 s\"\nwarmup = \"5 s\"\nprobes = \"none\"\n\
         [dumbbell]\nrtt = \"80 ms\"\nflows = 5\nreverse = {reverse}\n\
         [bottleneck]\nrate = \"{rate}\"\n[[variant]]\nname = \"it\"\n{variant}\n"
    )
}

/// 3.5.1 and 4.6: five flows each way; at least 90 % used, queues near zero, no loss.
#[test]
fn base_settings_are_full_with_empty_queues() {
    for (protocol, rate) in [("mlcp", "200 Mbps"), ("bmcc", "155 Mbps")] {
        let results = results(&dumbbell(rate, &format!("protocol = \"{protocol}\""), 5));
        for way in [0, 1] {
            let utilisation = number(&results, "utilisation", way);
            assert!((0.9..=1.0).contains(&utilisation), "{protocol}: {utilisation}");
            let queue = number(&results, "queue_mean_percent", way);
            assert!((0.0..1.0).contains(&queue), "{protocol}: {queue} % of the buffer");
            assert_eq!(number(&results, "drop_rate", way), 0.0, "{protocol}");
            let rtt = number(&results, "rtt_mean_ms", way);
            assert!((80.0..81.0).contains(&rtt), "{protocol}: {rtt} ms");
        }
    }
}

/// 4.5, Table 5: some 13 % of ACKs bring the estimate. What the link back carries are ACKs alone.
#[test]
fn estimates_are_on_few_acks() {
    let text = dumbbell("100 Mbps", "protocol = \"bmcc\"", 0).replace("5 s", "0 s");
    let results = results(&text);
    let data = results.summary.column_by_name("data_packets").unwrap();
    let acks = data.as_primitive::<UInt64Type>().value(0) as f64;
    let bytes = number(&results, "utilisation", 1) * 100e6 / 8.0 * 40.0;
    // Packets on their way at the end have no ACK yet: at most a window of all flows.
    let options = (bytes / acks - 40.0) / 4.0;
    assert!((0.05..0.2).contains(&options), "{options}");
}

/// 4.5: an estimate is told again and again, so that three of ten ACKs may be lost on their way.
#[test]
fn lost_acks_do_not_lose_the_estimate() {
    let link = |name: &str, from: &str, to: &str, loss: f64| {
        format!(
            "[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nloss = {loss}\n\
             rate = \"45 Mbps\"\ndelay = \"40 ms\"\n"
        )
    };
    let text = format!(
        "duration = \"40 s\"\nwarmup = \"10 s\"\nprobes = \"none\"\n{}{}\
         [[flows]]\nname = \"bmcc\"\nfrom = \"a\"\nto = \"b\"\ncount = 5\n\
         [[variant]]\nprotocol = \"bmcc\"\n",
        link("forth", "a", "b", 0.0),
        link("back", "b", "a", 0.3)
    );
    let results = results(&text);
    assert!((0.9..=1.0).contains(&number(&results, "utilisation", 0)));
    assert!((0.0..5.0).contains(&number(&results, "queue_mean_percent", 0)));
    assert_eq!(number(&results, "drop_rate", 0), 0.0);
}

/// 5.3.1 and 5.4.3: over DropTail BMCC is MIMD with many losses; falling back it loses like SACK.
#[test]
fn falling_back_spares_a_drop_tail_link() {
    let drops = |sender: &str| {
        let variant = format!("sender = {sender}\nrouter = \"droptail\"\nmismatch = \"allow\"");
        number(&results(&dumbbell("45 Mbps", &variant, 0)), "drop_rate", 0)
    };
    let (plain, fallback) = (drops("\"bmcc\""), drops("{ law = \"bmcc\", fallback = true }"));
    let sack = drops("\"sack\"");
    assert!(plain > 0.05, "{plain}");
    assert!(fallback < 3.0 * sack && sack < 0.01, "{fallback}, {sack}");
}

/// 5.3.2 and 5.4.2: TCPs with and without ECN share a link with BMCC as they are.
#[test]
fn mixes_need_no_permission() {
    for (router, ecn) in [("bmcc", true), ("bmcc", false), ("bmcc-ared", true)] {
        let text = format!(
            "{}[[flows]]\nname = \"tcp\"\npath = \"forward\"\ncount = 2\nsender = \"sack\"\n\
             transport = {{ ecn = {ecn} }}\n",
            dumbbell("20 Mbps", &format!("sender = \"bmcc\"\nrouter = \"{router}\""), 0)
                .replace("40 s", "10 s")
        );
        let utilisation = number(&results(&text), "utilisation", 0);
        assert!((0.5..=1.0).contains(&utilisation), "{router}: {utilisation}");
    }
}
