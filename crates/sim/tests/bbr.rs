//! BBR on a path whose rate and delay are known.

mod support;

use knee_sim::config::Buffer;
use knee_sim::report::Report;
use support::Dumbbell;

/// 20 Mbps and 80 ms hold 200 packets; so does the buffer.
fn run(sender: &'static str, flows: u32) -> Report {
    let dumbbell = Dumbbell {
        sender,
        mbps: 20.0,
        forward: flows,
        reverse: 0,
        buffer: Buffer::Packets(200),
        seconds: 60,
        warmup: 10,
        ..Dumbbell::default()
    };
    dumbbell.run(1)
}

/// ProbeRTT takes some 0.4 of each 10 s. Otherwise the link is full; while the gain is 5/4, there is a queue of at most a
/// quarter of a BDP.
#[test]
fn one_flow_fills_the_link_and_keeps_the_queue_short() {
    let report = run("bbr", 1);
    let (link, flow) = (&report.links[0], &report.flows[0]);
    assert!((0.90..=1.0).contains(&link.utilisation), "{}", link.utilisation);
    assert!((80.0..1.6 * 80.0).contains(&flow.rtt_mean_ms), "{}", flow.rtt_mean_ms);
    assert!((link.queue_mean_packets) < 100.0, "{}", link.queue_mean_packets);
    let sack = run("sack", 1);
    assert!(flow.rtt_mean_ms < sack.flows[0].rtt_mean_ms, "{}", sack.flows[0].rtt_mean_ms);
}

#[test]
fn two_flows_share_the_link() {
    let report = run("bbr", 2);
    let rates: Vec<f64> = report.flows.iter().map(|flow| flow.goodput_mbps).collect();
    let (sum, squares) = (rates[0] + rates[1], rates[0] * rates[0] + rates[1] * rates[1]);
    assert!((18.0..=20.0).contains(&sum), "{rates:?}");
    assert!((0.8..=1.0 + 1e-9).contains(&(sum * sum / (2.0 * squares))), "{rates:?}");
    // Two BDPs in flight each at most.
    let rtt = report.flows[0].rtt_mean_ms;
    assert!((80.0..=2.1 * 80.0).contains(&rtt), "{rtt}");
}

/// Headroom and frequent ProbeRTT cost it some rate; its answer to losses keeps the buffer from overflowing.
#[test]
fn v3_fills_the_link_and_loses_less_where_flows_share_it() {
    let alone = run("bbr3", 1);
    assert!((0.90..=1.0).contains(&alone.links[0].utilisation), "{}", alone.links[0].utilisation);
    let rtt = alone.flows[0].rtt_mean_ms;
    assert!((80.0..1.6 * 80.0).contains(&rtt), "{rtt}");
    let (three, one) = (run("bbr3", 2), run("bbr", 2));
    assert!((0.90..=1.0).contains(&three.links[0].utilisation), "{}", three.links[0].utilisation);
    assert!(2 * three.links[0].dropped < one.links[0].dropped, "{}", three.links[0].dropped);
    assert!(three.links[0].dropped as f64 / three.links[0].offered as f64 <= 0.02);
}
