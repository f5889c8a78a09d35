//! Runs end to end: columns, repeatability, cancellation.
#![allow(clippy::disallowed_methods)]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use knee_scenario::{Control, Format, Interrupt, Results, Scenario, Source, Stopped, run};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const TEXT: &str = r#"
duration = "5 s"
seeds = 2
[dumbbell]
rtt = "40 ms"
flows = 3
reverse = 1
[bottleneck]
rate = "10 Mbps"
[[variant]]
protocol = "vcp"
[[variant]]
protocol = "sack/droptail"
[[flows]]
name = "web"
path = "forward"
count = 4
arrivals = { per_second = 5, size = { exponential = "10 packets" } }
"#;

fn scenario(text: &str) -> Scenario {
    let source = Source { text, name: "test.toml", format: Format::Toml, overrides: &[] };
    Scenario::parse(&source).unwrap()
}

fn results(text: &str, threads: usize) -> Results {
    let control = Control { threads: Some(threads), ..Control::default() };
    run(&scenario(text), &control).unwrap()
}

fn names(batch: &RecordBatch) -> Vec<String> {
    batch.schema().fields().iter().map(|field| field.name().clone()).collect()
}

fn number(batch: &RecordBatch, name: &str, row: usize) -> f64 {
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(row)
}

#[test]
fn columns_have_their_names_and_rows_their_order() {
    let results = results(TEXT, 2);
    let summary = &results.summary;
    assert_eq!(
        names(summary).join(", "),
        "protocol, seed, link, utilisation, queue_mean_packets, queue_mean_percent, \
         queue_p90_packets, queue_p90_percent, queue_max_packets, queue_max_percent, drop_rate, \
         mark_rate, lost, jain, goodput_mbps, rtt_mean_ms, data_packets, packets, events, cpu_seconds"
    );
    assert_eq!(
        names(&results.flows).join(", "),
        "protocol, seed, flow, group, start_s, stop_s, goodput_mbps, data_packets, \
         retransmissions, timeouts, rtt_mean_ms, completion_s"
    );
    assert_eq!(
        names(&results.series).join(", "),
        "protocol, seed, time_s, quantity, entity, value"
    );
    assert_eq!(summary.num_rows(), 2 * 2 * 2);
    let text = |column: &str, row| {
        summary.column_by_name(column).unwrap().as_string::<i32>().value(row).to_owned()
    };
    assert_eq!((text("protocol", 0), text("link", 0)), ("vcp".into(), "bottleneck".into()));
    assert_eq!(text("link", 1), "bottleneck-reverse");
    assert_eq!(text("protocol", 7), "sack");
    for row in 0..summary.num_rows() {
        let utilisation = number(summary, "utilisation", row);
        assert!(utilisation > 0.01 && utilisation <= 1.0, "row {row}: {utilisation}");
        let rtt = number(summary, "rtt_mean_ms", row);
        assert!((40.0..200.0).contains(&rtt), "row {row}: {rtt}");
    }
    let flow = results.flows.column_by_name("flow").unwrap().as_string::<i32>();
    assert_eq!((flow.value(0), flow.value(3), flow.value(4)), ("forward/0", "reverse/0", "web/0"));
    let completion = results.flows.column_by_name("completion_s").unwrap();
    assert!(completion.is_null(0) && completion.is_valid(4));
    let entity = results.series.column_by_name("entity").unwrap();
    let entities = entity.as_dictionary::<Int32Type>().values().as_string::<i32>().clone();
    assert!(entities.iter().flatten().any(|name| name == "forward/2"));
}

/// Without warm-up, `data_packets` are all that the forward link transmits: 1 % of them are lost.
#[test]
fn packets_lost_on_a_link_are_counted_apart_from_drops() {
    let text = r#"
        duration = "20 s"
        warmup = "0 s"
        protocol = "sack"
        bottleneck = { rate = "10 Mbps", loss = 0.01 }
        dumbbell = { rtt = "40 ms", flows = 5 }
    "#;
    let results = results(text, 1);
    let count = |name| {
        let column = results.summary.column_by_name(name).unwrap();
        column.as_primitive::<UInt64Type>().value(0) as f64
    };
    let (lost, sent) = (count("lost"), count("data_packets"));
    let error = (sent * 0.01 * 0.99).sqrt();
    assert!(sent > 10_000.0 && (lost - 0.01 * sent).abs() < 4.0 * error, "{lost} of {sent}");
}

#[test]
fn the_number_of_threads_changes_nothing_but_the_cpu_time() {
    let (one, two) = (results(TEXT, 1), results(TEXT, 2));
    let all_but_cpu: Vec<usize> = (0..one.summary.num_columns() - 1).collect();
    assert_eq!(
        one.summary.project(&all_but_cpu).unwrap(),
        two.summary.project(&all_but_cpu).unwrap()
    );
    assert_eq!(one.flows, two.flows);
    assert_eq!(one.series, two.series);
}

#[test]
fn probes_can_be_switched_off() {
    let text = format!("probes = \"none\"\n{TEXT}");
    assert_eq!(results(&text, 2).series.num_rows(), 0);
}

#[test]
fn progress_ends_at_one_and_a_cancelled_run_yields_nothing() {
    let seen = Mutex::new(Vec::new());
    let progress = |part: f64| seen.lock().unwrap().push(part);
    run(&scenario(TEXT), &Control { progress: &progress, ..Control::default() }).unwrap();
    let most = seen.lock().unwrap().iter().copied().fold(0.0, f64::max);
    assert_eq!(most, 1.0);
    let stop = AtomicBool::new(false);
    let progress = |_| stop.store(true, Ordering::Relaxed);
    let wanted = || stop.load(Ordering::Relaxed);
    let control =
        Control { progress: &progress, interrupt: Interrupt::new(&wanted), ..Control::default() };
    assert_eq!(run(&scenario(TEXT), &control).unwrap_err(), Stopped::Interrupted);
}

#[test]
fn every_shipped_topology_runs_briefly() {
    for text in [
        include_str!("../../../scenarios/parking-lot.toml"),
        include_str!("../../../scenarios/graph.toml"),
        include_str!("../../../scenarios/vcp-island.toml"),
        include_str!("../../../scenarios/web.toml"),
    ] {
        let overrides = [("duration".to_owned(), "2 s".to_owned())];
        let source = Source { text, name: "x.toml", format: Format::Toml, overrides: &overrides };
        let scenario = Scenario::parse(&source).unwrap();
        let results = run(&scenario, &Control::default()).unwrap();
        assert!(results.summary.num_rows() > 0 && results.series.num_rows() > 0);
    }
}

/// Two flows over 10 Mbps: goodput of the one that has been promised `committed`, and of the other.
fn goodputs(router: &str, committed: &str) -> (f64, f64) {
    let text = format!(
        r#"
duration = "100 s"
protocol = "sack/{router}"
probes = "none"
[[link]]
name = "core"
from = "a"
to = "b"
rate = "10 Mbps"
delay = "15 ms"
duplex = true
[[flows]]
name = "promised"
path = ["core"]
rtt = "80 ms"
transport = {{ committed_rate = "{committed}" }}
[[flows]]
name = "other"
path = ["core"]
rtt = "40 ms"
"#
    );
    let flows = results(&text, 1).flows;
    (number(&flows, "goodput_mbps", 0), number(&flows, "goodput_mbps", 1))
}

#[test]
fn rio_keeps_promises_that_red_does_not_know_of() {
    let (promised, other) = goodputs("rio", "6 Mbps");
    // All that is promised, but for the sawtooth below it, although its RTT is twice the other's.
    assert!((5.4..=6.6).contains(&promised), "{promised}");
    assert!((7.5..=10.0).contains(&(promised + other)));
    // Without the router's help shares go with 1/RTT (2 to 1), or, in step, with its square.
    let (promised, other) = goodputs("red", "6 Mbps");
    assert!((0.2..=0.8).contains(&(promised / other)), "{promised} {other}");
}

/// A figure of the forward bottleneck, of the first seed.
fn forward(results: &Results, name: &str) -> f64 {
    number(&results.summary, name, 0)
}

/// ns-2 with the authors' code gives 0.960 and 8.6 packets over five seeds (reference/ns2-capacity.csv), and
/// drops nothing; the paper's text stays near 0.93 there.
#[test]
fn the_authors_vcp_does_what_it_does_in_ns_2() {
    let text = "duration = \"120 s\"\nwarmup = \"24 s\"\nprobes = \"none\"\nprotocol = \"vcp-authors\"\n\
        [dumbbell]\nrtt = \"80 ms\"\nflows = 30\nreverse = 30\n[bottleneck]\nrate = \"50 Mbps\"\n";
    let results = results(text, 1);
    let [utilisation, queue] = ["utilisation", "queue_mean_packets"].map(|c| forward(&results, c));
    assert!((0.954..0.966).contains(&utilisation), "{utilisation}");
    assert!((7.1..10.1).contains(&queue), "{queue}");
    assert_eq!(forward(&results, "drop_rate"), 0.0);
}

/// VI-C: beside friendly VCP, TCP gets what it gets beside TCP.
#[test]
fn friendly_vcp_leaves_tcp_its_share() {
    let of_tcp = |sender: &str| {
        let text = format!(
            "duration = \"60 s\"\nprobes = \"none\"\nprotocol = \"{sender}/vcp-friendly\"\n\
             [dumbbell]\nrtt = \"80 ms\"\nflows = 5\n[bottleneck]\nrate = \"10 Mbps\"\n\
             [[flows]]\nname = \"tcp\"\ncount = 5\npath = \"forward\"\nrtt = \"80 ms\"\nsender = \"sack\"\n"
        );
        let results = results(&text, 1);
        assert!(forward(&results, "mark_rate") > 1e-4, "marks, not drops");
        assert!(forward(&results, "drop_rate") < 1e-3);
        let flows = &results.flows;
        (5..10).map(|row| number(flows, "goodput_mbps", row)).sum::<f64>()
    };
    let (beside_vcp, beside_tcp) = (of_tcp("vcp-friendly"), of_tcp("sack"));
    assert!((0.85..1.2).contains(&(beside_vcp / beside_tcp)), "{beside_vcp} and {beside_tcp}");
}

#[test]
fn an_island_keeps_its_queue_at_its_borders() {
    let text = include_str!("../../../scenarios/vcp-island.toml")
        .replace("duration = \"120 s\"", "duration = \"80 s\"");
    let results = results(&text, 2);
    let row = |batch: &RecordBatch, key: &str, protocol: &str, name: &str| {
        let text = |column: &str| batch.column_by_name(column).unwrap().as_string::<i32>().clone();
        let (protocols, names) = (text("protocol"), text(key));
        let found = |row: &usize| protocols.value(*row) == protocol && names.value(*row) == name;
        (0..batch.num_rows()).find(found).unwrap()
    };
    let link = |protocol: &str, name: &str, column: &str| {
        let summary = &results.summary;
        number(summary, column, row(summary, "link", protocol, name))
    };
    let goodput = |protocol: &str, flow: &str| {
        let flows = &results.flows;
        number(flows, "goodput_mbps", row(flows, "flow", protocol, flow))
    };
    // High utilisation, low queue, minimal loss [VCP VI-D]; a cut to 0.875 leaves 0.86 at least.
    assert!((0.86..=0.98).contains(&link("island", "core", "utilisation")));
    assert!(link("island", "core", "queue_mean_packets") < 2.0);
    assert_eq!(link("island", "core", "drop_rate"), 0.0);
    assert!(link("island", "north", "queue_mean_packets") > 100.0);
    // Four VCP flows: two native ones, two aggregates.
    for flow in ["native/0", "native/1", "north/0", "south/0"] {
        assert!((18.0..=28.0).contains(&goodput("island", flow)), "{flow}");
    }
    // Micro-flows get what their aggregate does, but for what is out of order at the end.
    let few: f64 = (0..5).map(|flow| goodput("island", &format!("few/{flow}"))).sum();
    assert!((0.97..=1.01).contains(&(few / goodput("island", "north/0"))), "{few}");
    // The same routers without aggregates: TCP fills the queue and VCP gives way.
    assert!(link("vcp, no island", "core", "queue_mean_packets") > 300.0);
    assert!(goodput("vcp, no island", "native/0") < 2.0);
    // 24 ms each way inside; what is outside is not the aggregate's.
    assert!((48.0..=50.0).contains(&number(
        &results.flows,
        "rtt_mean_ms",
        row(&results.flows, "flow", "island", "north/0")
    )));
}

/// Paganini et al. 2003 on two links, a long flow over both: U'(x) = q, prices add, and both links carry 95 %.
/// K log x gives the long flow half of what the others have, 1 : 2; minimum potential delay 1 : sqrt 2.
#[test]
fn scalable_laws_share_by_their_utility_as_prices_add_up() {
    for (fairness, ratio) in [(1.0, 2.0), (2.0, 2.0_f64.sqrt())] {
        let text = format!(
            "duration = \"90 s\"\nwarmup = \"45 s\"\nprobes = \"none\"\n\
             [parking_lot]\nlinks = 2\nrtt = \"100 ms\"\nflows = 1\ncross = 1\n\
             [bottleneck]\nrate = \"10 Mbps\"\nbuffer = \"5000 packets\"\n\
             [[variant]]\nprotocol = \"scalable-price\"\nsender = {{ fairness = {fairness} }}\n"
        );
        let results = results(&text, 1);
        let [long, one, two] = [0, 1, 2].map(|row| number(&results.flows, "goodput_mbps", row));
        for other in [one, two] {
            assert!((other / long / ratio - 1.0).abs() < 0.08, "{long} {other}");
            assert!((0.945..0.955).contains(&((long + other) / 10.0)), "{long} {other}");
        }
        let queue = forward(&results, "queue_mean_packets");
        assert!(queue < 30.0 && forward(&results, "drop_rate") == 0.0, "{queue}");
        assert!(forward(&results, "mark_rate") > 0.05);
    }
}
