//! Closed forms: windows over delays, Little's law, the M/D/1 queue, conservation of packets.

mod support;

use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::Opening;
use knee_sim::Simulation;
use knee_sim::config::*;
use support::Dumbbell;

/// One flow with a window that its receiver caps: rate = window / RTT, RTT = propagation + transmission.
#[test]
fn a_capped_window_gives_window_over_rtt() {
    let dumbbell =
        Dumbbell { forward: 1, reverse: 0, seconds: 20, warmup: 5, ..Dumbbell::default() };
    let mut config = dumbbell.config(1);
    config.groups[0].transport.max_window = 100.0;
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(20)).expect("no law fails");
    let report = simulation.report();
    // 80 ms, a kilobyte at 1.5 Gbps, 150 Mbps, 1.5 Gbps and 40 bytes at the same: in ms.
    let rtt = 80.0 + (8.0 / 1500.0 + 8.0 / 150.0 + 8.0 / 1500.0) * 1.04;
    let flow = &report.flows[0];
    // The bottleneck spaces the packets of a window, and their ACKs keep the spacing: there is no queue.
    assert!((flow.rtt_mean_ms - rtt).abs() < 1e-3, "{} against {rtt}", flow.rtt_mean_ms);
    let expected = 100.0 * 8.0 / rtt;
    // The window is one train of packets: 15 s hold 187 of them, give or take one.
    let tolerance = 1.0 / 187.0;
    assert!((flow.goodput_mbps / expected - 1.0).abs() < tolerance, "{}", flow.goodput_mbps);
    assert!((report.links[0].utilisation * 150.0 / expected - 1.0).abs() < tolerance);
    assert_eq!(report.links[0].dropped, 0);
    assert!(report.links[0].queue_mean_packets < 0.01);
}

/// Little's law: the mean queue is the throughput times the mean wait.
#[test]
fn the_mean_queue_is_throughput_times_wait() {
    let report = Dumbbell { reverse: 0, ..Dumbbell::default() }.run(1);
    let base = 80.0 + (8.0 / 1500.0 + 8.0 / 150.0 + 8.0 / 1500.0) * 1.04;
    let samples: u64 = report.flows.iter().map(|flow| flow.rtt_samples).sum();
    let rtt =
        report.flows.iter().map(|flow| flow.rtt_mean_ms * flow.rtt_samples as f64).sum::<f64>()
            / samples as f64;
    let packets_per_ms = report.links[0].utilisation * 150e6 / 8e3 / 1e3;
    let expected = packets_per_ms * (rtt - base);
    let queue = report.links[0].queue_mean_packets;
    assert!((queue / expected - 1.0).abs() < 0.01, "{queue} against {expected}");
    assert!((report.links[0].queue_mean_bytes / queue - 1000.0).abs() < 1.0);
}

/// Poisson arrivals of flows of one packet: M/D/1, whose mean queue is rho^2 / (2 (1 - rho)).
#[test]
fn poisson_packets_queue_as_m_d_1() {
    for load in [0.3, 0.6, 0.8] {
        let dumbbell = Dumbbell {
            forward: 1,
            reverse: 0,
            seconds: 400,
            warmup: 10,
            mbps: 10.0,
            ..Dumbbell::default()
        };
        let mut config = dumbbell.config(7);
        config.links[0].buffer = Buffer::Unlimited;
        let flow = config.flows.pop().expect("one");
        // Packets come straight from their flows: an access link would space them.
        let route = Route { forward: flow.route.forward[1..].to_vec(), ..flow.route };
        config.sources.push(SourceConfig {
            group: GroupId(0),
            name: "poisson".to_owned(),
            law: Box::new(|| Sender::build("sack", &[], &Opening::new(2.0, 1000)).expect("a law")),
            routes: vec![route],
            arrivals_per_second: load * 10e6 / 8e3,
            size: SizeDistribution::Fixed(1.0),
            start: Time::ZERO,
            stop: Time::NEVER,
        });
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(400)).expect("no law fails");
        let report = simulation.report();
        let queue = report.links[0].queue_mean_packets;
        let expected = load * load / (2.0 * (1.0 - load));
        // 390 s hold 150,000 to 390,000 packets; correlation grows as 1 / (1 - load)^2.
        assert!((queue / expected - 1.0).abs() < 0.05, "load {load}: {queue} against {expected}");
        assert!(
            (report.links[0].utilisation - load).abs() < 0.01,
            "{}",
            report.links[0].utilisation
        );
        let done = report.flows.iter().filter(|flow| flow.completion_s > 0.0).count();
        assert!(done as f64 > 0.99 * report.flows.len() as f64);
    }
}

/// The rate changes while packets wait: throughput follows the rate.
#[test]
fn utilisation_follows_a_changing_rate() {
    let dumbbell = Dumbbell {
        forward: 5,
        reverse: 0,
        seconds: 60,
        warmup: 20,
        mbps: 20.0,
        buffer: Buffer::Packets(200),
        ..Dumbbell::default()
    };
    let mut config = dumbbell.config(1);
    let change =
        |s, mbps| (Time::ZERO + Span::from_secs(s), LinkChange::Rate(BitRate::from_mbps(mbps)));
    config.links[0].changes = vec![change(30, 10.0), change(40, 20.0)];
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(60)).expect("no law fails");
    let report = simulation.report();
    assert!((0.97..=1.0).contains(&report.links[0].utilisation), "{}", report.links[0].utilisation);
    let goodput: f64 = report.flows.iter().map(|flow| flow.goodput_mbps).sum();
    let mean_rate = (30.0 * 20.0 + 10.0 * 10.0) / 40.0;
    assert!((goodput / mean_rate - report.links[0].utilisation).abs() < 0.01, "{goodput}");
}

/// What was sent has arrived, was dropped, or is on its way.
#[test]
fn packets_are_conserved() {
    for sender in ["reno", "newreno", "sack"] {
        let dumbbell = Dumbbell {
            sender,
            reverse: 5,
            forward: 5,
            mbps: 5.0,
            buffer: Buffer::Packets(20),
            seconds: 60,
            warmup: 0,
            packets: Some(3000),
            ..Dumbbell::default()
        };
        let report = dumbbell.run(3);
        for flow in &report.flows {
            assert_eq!(flow.data_packets, 3000 + flow.retransmissions, "{sender}");
            assert!(flow.completion_s > 3000.0 * 8e3 / 5e6 && flow.completion_s < 60.0);
        }
        // Every retransmission repairs a drop of data, except for the few needless ones of a timeout.
        let dropped: u64 = report.links.iter().map(|link| link.dropped).sum();
        assert!(dropped > 0 && report.flows.iter().map(|f| f.retransmissions).sum::<u64>() > 0);
    }
}

/// A window of one packet, half of them late by up to 20 ms: the mean RTT is 5 ms longer.
#[test]
fn late_packets_take_half_of_their_longest_delay_on_average() {
    let alone = Dumbbell { forward: 1, reverse: 0, ..Dumbbell::default() };
    let mean = |reorder| {
        let mut config = alone.config(1);
        config.groups[0].transport.max_window = 1.0;
        config.links[0].reorder = reorder;
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(60)).expect("no law fails");
        let flow = simulation.report().flows[0].clone();
        assert_eq!(flow.retransmissions, 0);
        (flow.rtt_mean_ms, flow.rtt_samples)
    };
    let (base, _) = mean(None);
    let reorder = Reorder { probability: 0.5, delay: Span::from_millis(20) };
    let (late, samples) = mean(Some(reorder));
    // Variance of the delay: 20^2 / 6 - 5^2.
    let error = (41.7 / samples as f64).sqrt();
    assert!((late - base - 5.0).abs() < 4.0 * error, "{late} after {base}");
}

/// Packets that overtake others on the bottleneck cross the plain links behind it in the new order; none is lost.
#[test]
fn reordered_packets_all_arrive() {
    let crowd = Dumbbell { forward: 5, reverse: 5, packets: Some(3000), ..Dumbbell::default() };
    let mut config = crowd.config(1);
    for link in &mut config.links[..2] {
        link.reorder = Some(Reorder { probability: 0.3, delay: Span::from_millis(10) });
    }
    let mut simulation = Simulation::new(config);
    simulation.run_until(Time::ZERO + Span::from_secs(60)).expect("no law fails");
    let report = simulation.report();
    for flow in &report.flows {
        assert!(flow.completion_s.is_finite() && flow.timeouts == 0, "{flow:?}");
        assert_eq!(flow.data_packets, 3000 + flow.retransmissions);
        // Retransmissions are needless: RFC 6675 counts overtaken packets as lost.
        assert!((1..3000).contains(&flow.retransmissions), "{flow:?}");
    }
    assert!(report.links.iter().all(|link| link.dropped == 0 && link.lost == 0));
}
