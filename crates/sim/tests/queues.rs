//! Several queues at a link: shares and delays that the law promises.

mod support;

use knee_laws::codecs::Codec;
use knee_laws::quantities::{Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::Opening;
use knee_sim::Simulation;
use knee_sim::config::*;
use knee_sim::report::Report;
use support::Dumbbell;

const SECONDS: u64 = 60;

/// Two flows with different laws and initial windows over 10 Mbps, and a third whose receiver allows one packet a round
/// trip.
fn mixed(router: &'static str, buffer: Buffer) -> Report {
    let dumbbell = Dumbbell {
        router,
        mbps: 10.0,
        forward: 3,
        reverse: 0,
        buffer,
        seconds: SECONDS,
        ..Dumbbell::default()
    };
    let mut config = dumbbell.config(1);
    let opening = Opening::new(40.0, 1000);
    config.flows[1].law = Sender::build("cubic", &[], &opening).expect("a law");
    let sparse = Transport { max_window: 1.0, ..config.groups[0].transport };
    config.groups.push(Group { name: "sparse".to_owned(), transport: sparse });
    config.flows[2].group = GroupId(1);
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(SECONDS)).expect("no law fails");
    simulation.report()
}

fn jain(x: f64, y: f64) -> f64 {
    (x + y) * (x + y) / (2.0 * (x * x + y * y))
}

#[test]
fn fq_codel_gives_equal_shares_and_sparse_flows_no_delay() {
    let report = mixed("fq-codel", Buffer::Packets(10_240));
    let flows = &report.flows;
    let fairness = jain(flows[0].goodput_mbps, flows[1].goodput_mbps);
    assert!(fairness > 0.98, "{fairness}");
    // 80 ms, and as the link is busy up to a quantum's turn of each other flow: two packets of 0.8 ms.
    let base = 80.0 + 0.8 + 0.3;
    assert!((base - 0.3..base + 2.0 * 1.6).contains(&flows[2].rtt_mean_ms), "{flows:?}");
    assert!((0.9..=1.0).contains(&report.links[0].utilisation));
    assert!(report.links[0].dropped > 0);
    // Without it the same flow waits behind the others.
    let fifo = mixed("droptail", Buffer::Packets(200));
    assert!(fifo.flows[2].rtt_mean_ms > base + 30.0);
}

/// A buffer that is too small for CoDel to act: the longest queue loses packets, and all drops are counted.
#[test]
fn fq_codel_drops_from_the_longest_queue() {
    let report = mixed("fq-codel", Buffer::Packets(20));
    assert_eq!(report.flows[2].retransmissions, 0);
    let lost: u64 = report.flows.iter().map(|flow| flow.retransmissions).sum();
    assert!(report.links[0].dropped > 0 && lost > 0);
    assert!(report.links[0].queue_max_packets <= 20.0);
}

/// Prague and CUBIC flows side by side over DualPI2: the waits of each, from the RTTs that they see.
#[test]
fn dualpi2_keeps_l4s_near_a_millisecond_and_classic_at_its_target() {
    let dumbbell = Dumbbell {
        sender: "prague",
        router: "dualpi2",
        mbps: 40.0,
        forward: 4,
        reverse: 0,
        buffer: Buffer::Packets(2000),
        seconds: SECONDS,
        warmup: 20,
        ..Dumbbell::default()
    };
    let mut config = dumbbell.config(1);
    let opening = Opening::new(10.0, 1000);
    config.groups[0].transport.codec = Codec::L4s;
    let transport = Transport { codec: Codec::Ecn, ..config.groups[0].transport };
    config.groups.push(Group { name: "classic".to_owned(), transport });
    for flow in &mut config.flows[2..] {
        flow.law = Sender::build("cubic", &[], &opening).expect("a law");
        flow.group = GroupId(1);
    }
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(SECONDS)).expect("no law fails");
    let report = simulation.report();
    let base = 80.0 + 0.2 + 0.03;
    let waits = report.flows.iter().map(|flow| flow.rtt_mean_ms - base);
    for (flow, wait) in waits.enumerate() {
        let (least, most) = if flow < 2 { (0.0, 2.0) } else { (8.0, 22.0) };
        assert!((least..most).contains(&wait), "flow {flow} waits {wait} ms");
    }
    assert!((0.9..=1.0).contains(&report.links[0].utilisation), "{:?}", report.links[0]);
    assert!(report.links[0].marked > 0);
}
